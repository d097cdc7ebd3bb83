//! Settings of queue pairs that differ from their NIC's.

use crate::ids::ClassId;
use crate::nic::recovery::Recovery;
use crate::packet::Flags;

/// Settings of one queue pair, which replace those of its NIC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QpSettings {
    /// How lost packets are detected and retransmitted.
    pub recovery: Recovery,
    /// Flags of every packet that it sends, which answers repeat: `HASHED` or none.
    pub flags: Flags,
    /// Traffic class of its data, if the NIC has several ([`crate::nic::Nic::set_classes`]).
    pub class: ClassId,
}

impl QpSettings {
    /// Returns the settings, or `None` if they are those of a NIC with this recovery.
    pub(crate) fn differs_from(self, recovery: Recovery) -> Option<Self> {
        let common = Self { recovery, flags: Flags::NONE, class: ClassId::default() };
        (self != common).then_some(self)
    }
}
