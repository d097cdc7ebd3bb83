//! Traffic classes of data packets, as switches and links are configured with them.
//!
//! Each output port has a queue for each class, beside the one with priority, and the classes take
//! turns at its wire ([`Discipline`](crate::nic::Discipline)). ECN looks at the queue of a packet's
//! own class. Memory is common to all classes: a shared buffer is one pool, and the buffer of a
//! port one memory for all of its classes, so that packets of one class may leave no room for those
//! of another, strict ones included \[a choice\].

use super::config::FabricConfig;
use crate::ids::ClassId;
pub use crate::sharing::{MOST_CLASSES, Scheduling};

/// A traffic class of data packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassConfig {
    /// Its name in reports.
    pub name: String,
    /// When its packets start, relative to those of other classes.
    pub scheduling: Scheduling,
    /// Whether priority flow control protects it, where switches have that: it has a reserve and a
    /// headroom of each link, and is paused. Without, its packets are dropped that find no room in
    /// the pool.
    pub pfc: bool,
}

impl FabricConfig {
    /// Whether data packets have traffic classes.
    pub fn has_classes(&self) -> bool {
        !self.classes.is_empty()
    }

    /// The number of classes of data: one if data has no classes.
    pub fn class_count(&self) -> usize {
        self.classes.len().max(1)
    }

    /// Whether priority flow control protects a class, where switches have that.
    pub fn is_protected(&self, class: ClassId) -> bool {
        self.classes.get(class.index()).is_none_or(|class| class.pfc)
    }

    /// The number of classes that priority flow control protects.
    pub(super) fn protected_classes(&self) -> u64 {
        (0..self.class_count() as u32).filter(|&it| self.is_protected(ClassId(it))).count() as u64
    }

    /// Whether no data packet of a class can be lost: flow control protects it, with headroom for
    /// the worst case or by credit, and no link fails.
    pub fn loses_none_of(&self, class: ClassId) -> bool {
        self.protects_data() && self.is_protected(class)
    }

    /// Whether no data packet can be lost: flow control with headroom for the worst case, or by
    /// credit, of every class, and no link that fails.
    pub(crate) fn loses_no_data(&self) -> bool {
        self.protected_classes() == self.class_count() as u64 && self.protects_data()
    }
}
