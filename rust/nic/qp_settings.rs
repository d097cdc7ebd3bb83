//! Queue pairs that differ from what their NIC is configured with.

use super::recovery::Recovery;
use crate::packet::Flags;

/// What one queue pair has in place of what its NIC is configured with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QpSettings {
    /// How lost packets are found and sent again.
    pub recovery: Recovery,
    /// Flags of every packet that it sends, and so of the answers: `HASHED` or none.
    pub flags: Flags,
}
