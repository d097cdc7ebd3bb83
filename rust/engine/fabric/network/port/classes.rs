//! Class queues of a port, which replace its single data queue.
//!
//! They are stored outside the port. The port has the sum of their bytes, and one bit that tells
//! whether any of them has a packet that may start. Packets with priority use the same queue as at
//! any port, and go first.

use super::{DATA, PRIORITY, Port, Queued, Ring};
use crate::fabric::network::pool::SlotId;
use crate::ids::ClassId;
use crate::sharing::{ClassSet, Discipline, MOST_CLASSES, Turns};

/// Queues of a port, by class.
#[derive(Debug)]
pub(in crate::fabric::network) struct ClassQueues {
    turns: Turns,
    /// Classes with a queued packet.
    waiting: ClassSet,
    /// Classes that the far end does not pause.
    open: ClassSet,
    bytes: [u32; MOST_CLASSES],
    packets: [Ring; MOST_CLASSES],
}

impl Default for ClassQueues {
    fn default() -> Self {
        Self {
            turns: Turns::default(),
            waiting: ClassSet::NONE,
            open: ClassSet::ALL,
            bytes: [0; MOST_CLASSES],
            packets: std::array::from_fn(|_| Ring::default()),
        }
    }
}

impl ClassQueues {
    /// Returns the queued bytes of a class.
    pub(in crate::fabric::network) fn bytes(&self, class: ClassId) -> u32 {
        self.bytes[class.index()]
    }

    /// True if the far end does not pause this class.
    pub(in crate::fabric::network) fn is_open(&self, class: ClassId) -> bool {
        self.open.has(class.index())
    }

    /// Iterates over the queued packets of all classes, in no particular order.
    pub(in crate::fabric::network) fn slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.packets.iter().flat_map(Ring::iter).map(Queued::slot)
    }

    /// Returns the number of queued packets.
    pub(in crate::fabric::network) fn len(&self) -> usize {
        self.packets.iter().map(Ring::len).sum()
    }

    /// Charges a class for a packet that starts without being queued, as if it had been.
    pub(in crate::fabric::network) fn charge_bypass(
        &mut self,
        discipline: &Discipline,
        class: ClassId,
        bytes: u16,
    ) {
        let class = class.index();
        discipline.choose(&mut self.turns, ClassSet::NONE.with(class));
        discipline.charge(&mut self.turns, class, bytes, false);
    }

    /// Iterates over the queued packets of paused classes.
    pub(in crate::fabric::network) fn held_slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        let held = (0..MOST_CLASSES).filter(|&class| !self.open.has(class));
        held.flat_map(|class| self.packets[class].iter()).map(Queued::slot)
    }

    /// True if a queued packet may start.
    fn may_start(&self) -> bool {
        !self.waiting.and(self.open).is_empty()
    }
}

impl Port {
    /// Appends a packet to the queue of its class.
    pub(in crate::fabric::network) fn enqueue_in_class(
        &mut self,
        queues: &mut ClassQueues,
        class: ClassId,
        queued: Queued,
    ) {
        let (class, bytes) = (class.index(), u32::from(queued.bytes()));
        queues.packets[class].push_back(queued);
        queues.bytes[class] += bytes;
        queues.waiting = queues.waiting.with(class);
        self.waiting_bytes[1] += bytes;
        self.waiting_max = self.waiting_max.max(self.all_waiting());
        self.update_class_bit(queues);
    }

    /// Dequeues the next packet: one with priority, or one of the class that is scheduled next.
    pub(in crate::fabric::network) fn dequeue_by_class(
        &mut self,
        queues: &mut ClassQueues,
        discipline: &Discipline,
    ) -> Option<Queued> {
        // Packets with priority precede every class.
        if self.queued & PRIORITY != 0 {
            return self.dequeue();
        }
        let may_start = queues.waiting.and(queues.open);
        let class = discipline.choose(&mut queues.turns, may_start)?;
        let first = queues.packets[class].pop_front()?;
        let is_last = queues.packets[class].is_empty();
        if is_last {
            queues.waiting = queues.waiting.without(class);
        }
        discipline.charge(&mut queues.turns, class, first.bytes(), !is_last);
        queues.bytes[class] -= u32::from(first.bytes());
        self.waiting_bytes[1] -= u32::from(first.bytes());
        self.update_class_bit(queues);
        Some(first)
    }

    /// Pauses a class, or resumes it.
    pub(in crate::fabric::network) fn pause_class(
        &mut self,
        queues: &mut ClassQueues,
        class: ClassId,
        is_paused: bool,
    ) {
        queues.open = match is_paused {
            true => queues.open.without(class.index()),
            false => queues.open.with(class.index()),
        };
        self.update_class_bit(queues);
    }

    /// Updates the bit that tells whether a packet of any class may start.
    fn update_class_bit(&mut self, queues: &ClassQueues) {
        match queues.may_start() {
            true => self.queued |= DATA,
            false => self.queued &= !DATA,
        }
    }
}
