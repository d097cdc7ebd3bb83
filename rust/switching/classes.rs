//! Traffic classes of data packets, as switches and links are configured with them.
//!
//! Each output port has a queue for each class, beside the one with priority, and the classes take
//! turns at its wire ([`Discipline`](crate::nic::Discipline)). ECN looks at the queue of a packet's
//! own class. Memory is common to all classes: a shared buffer is one pool, and the buffer of a
//! port one memory for all of its classes, so that packets of one class may leave no room for those
//! of another, strict ones included \[a choice\].

use super::config::FabricConfig;
use crate::sharing::Scheduling;

/// A traffic class of data packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassConfig {
    /// Its name in reports.
    pub name: String,
    /// When its packets start, relative to those of other classes.
    pub scheduling: Scheduling,
}

impl FabricConfig {
    /// Whether data packets have traffic classes.
    pub fn has_classes(&self) -> bool {
        !self.classes.is_empty()
    }
}
