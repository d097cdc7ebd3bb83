//! Configuration of the traffic classes of data packets.
//!
//! Each output port has one queue per class in addition to the priority queue. The classes share
//! the wire by a [`Discipline`](crate::nic::Discipline). ECN looks at the queue of a packet's own
//! class. Memory is common to all classes: a shared buffer is one pool, and a port's buffer serves
//! all its classes. Packets of one class may therefore leave no room for another, even a strict one
//! \[a choice\].

use super::config::FabricConfig;
use crate::ids::ClassId;
pub use crate::sharing::{MOST_CLASSES, Scheduling};

/// A traffic class of data packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassConfig {
    /// Name in reports.
    pub name: String,
    /// When its packets start relative to those of other classes.
    pub scheduling: Scheduling,
    /// Whether PFC protects the class, if switches have PFC. A protected class has a reserve and a
    /// headroom per link, and is paused. Packets of an unprotected class are dropped when the pool
    /// has no room.
    pub pfc: bool,
}

impl FabricConfig {
    /// Returns true if data packets have traffic classes.
    pub fn has_classes(&self) -> bool {
        !self.classes.is_empty()
    }

    /// Returns the number of data classes; 1 if none are configured.
    pub fn class_count(&self) -> usize {
        self.classes.len().max(1)
    }

    /// Returns true if PFC protects a class wherever switches have PFC.
    pub fn is_protected(&self, class: ClassId) -> bool {
        self.classes.get(class.index()).is_none_or(|class| class.pfc)
    }

    /// Returns the number of classes that PFC protects.
    pub(super) fn protected_classes(&self) -> u64 {
        (0..self.class_count() as u32).filter(|&it| self.is_protected(ClassId(it))).count() as u64
    }

    /// Returns true if no data packet of a class can be lost. Flow control must protect the class,
    /// with worst-case headroom or by credit, and no link may fail.
    pub fn is_lossless(&self, class: ClassId) -> bool {
        self.protects_data() && self.is_protected(class)
    }

    /// Returns true if no data packet can be lost. Flow control must protect every class, with
    /// worst-case headroom or by credit, and no link may fail.
    pub(crate) fn is_lossless_for_all(&self) -> bool {
        self.protected_classes() == self.class_count() as u64 && self.protects_data()
    }
}
