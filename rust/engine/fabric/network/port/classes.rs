//! The queues of a port's traffic classes, in place of its one queue of data.
//!
//! They are beside the port, which has the sum of their bytes, and one bit that says whether any of
//! them has a packet that may start. Packets with priority have the same queue as at any port, and
//! go first.

use super::{DATA, PRIORITY, Port, Queued, Ring};
use crate::fabric::network::pool::SlotId;
use crate::ids::ClassId;
use crate::sharing::{ClassSet, Discipline, MOST_CLASSES, Turns};

/// The queues of a port, by class.
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
    /// Queued bytes of a class.
    pub(in crate::fabric::network) fn bytes(&self, class: ClassId) -> u32 {
        self.bytes[class.index()]
    }

    /// Whether the far end does not pause this class.
    pub(in crate::fabric::network) fn is_open(&self, class: ClassId) -> bool {
        self.open.has(class.index())
    }

    /// Queued packets of all classes, in no order.
    pub(in crate::fabric::network) fn slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.packets.iter().flat_map(Ring::iter).map(Queued::slot)
    }

    /// The number of queued packets.
    pub(in crate::fabric::network) fn len(&self) -> usize {
        self.packets.iter().map(Ring::len).sum()
    }

    /// A packet of a class starts without being queued: its class has the turn as if it had been.
    pub(in crate::fabric::network) fn pass(
        &mut self,
        discipline: &Discipline,
        class: ClassId,
        bytes: u16,
    ) {
        let class = class.index();
        discipline.choose(&mut self.turns, ClassSet::NONE.with(class));
        discipline.charge(&mut self.turns, class, bytes, false);
    }

    /// Queued packets of classes that are paused.
    pub(in crate::fabric::network) fn held_slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        let held = (0..MOST_CLASSES).filter(|&class| !self.open.has(class));
        held.flat_map(|class| self.packets[class].iter()).map(Queued::slot)
    }

    /// Whether a queued packet may start.
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
        self.look_at_classes(queues);
    }

    /// Dequeues the next packet: one with priority, or of the class whose turn it is.
    pub(in crate::fabric::network) fn dequeue_by_class(
        &mut self,
        queues: &mut ClassQueues,
        discipline: &Discipline,
    ) -> Option<Queued> {
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
        self.look_at_classes(queues);
        Some(first)
    }

    /// The far end pauses a class, or resumes it.
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
        self.look_at_classes(queues);
    }

    /// Notes whether a packet of any class may start.
    fn look_at_classes(&mut self, queues: &ClassQueues) {
        match queues.may_start() {
            true => self.queued |= DATA,
            false => self.queued &= !DATA,
        }
    }
}
