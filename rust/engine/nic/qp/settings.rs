//! Queue pairs that differ from what their NIC is configured with.

use crate::ids::ClassId;
use crate::nic::recovery::Recovery;
use crate::packet::Flags;

/// What one queue pair has in place of what its NIC is configured with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QpSettings {
    /// How lost packets are found and sent again.
    pub recovery: Recovery,
    /// Flags of every packet that it sends, and so of the answers: `HASHED` or none.
    pub flags: Flags,
    /// The traffic class of its data, where the NIC has several ([`crate::nic::Nic::set_classes`]).
    pub class: ClassId,
}

impl QpSettings {
    /// The settings, unless they are those of a NIC with this recovery.
    pub(crate) fn differs_from(self, recovery: Recovery) -> Option<Self> {
        let common = Self { recovery, flags: Flags::NONE, class: ClassId::default() };
        (self != common).then_some(self)
    }
}
