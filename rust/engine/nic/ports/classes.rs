//! Traffic classes at a NIC: sending halves that may send, by the class of their packets.
//!
//! Classes take turns as at the ports of switches ([`Discipline`]), and the sending halves of a
//! class among themselves, a packet each. Answers go before all classes. A NIC without classes has
//! one line of sending halves ([`Nic::poll_transmit`]).
//!
//! Others than the NIC may have packets for its wire ([`Nic::poll_transmit_beside`]). Their classes
//! take turns with its own in one order, and within a class they and the NIC take turns, a packet
//! each, as the caller says.

use std::collections::VecDeque;

use crate::ids::ClassId;
use crate::nic::Nic;
use crate::nic::qp::Slot;
use crate::nic::send::schedule::Schedule;
use crate::packet::Packet;
use crate::sharing::{ClassSet, Discipline, MOST_CLASSES, Turns};
use crate::units::Time;

/// Classes in which others than the NIC have packets for its wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Others {
    /// Classes with such packets.
    pub waiting: ClassSet,
    /// Classes in which it is the turn of the others.
    pub first: ClassSet,
}

/// What starts next on a wire for which others than the NIC have packets too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A packet of the NIC.
    Own(Packet),
    /// A packet of others, of this class.
    Other(ClassId),
}

/// The lines of sending halves of a NIC with several classes.
#[derive(Debug, Clone)]
pub(in crate::nic) struct ClassLines {
    discipline: Discipline,
    turns: Turns,
    /// By class: those that may send, in turn.
    ready: [VecDeque<Slot>; MOST_CLASSES],
    /// Classes with such.
    waiting: ClassSet,
    /// Classes that the far end of the wire does not pause.
    open: ClassSet,
}

impl ClassLines {
    fn new(discipline: Discipline) -> Self {
        Self {
            discipline,
            turns: Turns::default(),
            ready: std::array::from_fn(|_| VecDeque::new()),
            waiting: ClassSet::NONE,
            open: ClassSet::ALL,
        }
    }

    fn push_back(&mut self, class: ClassId, slot: Slot) {
        self.ready[class.index()].push_back(slot);
        self.waiting = self.waiting.with(class.index());
    }

    /// The class whose turn it is, and its sending half, taken out of its line; no half if it is
    /// the turn of `others`.
    fn pop_front(&mut self, others: Others) -> Option<(usize, Option<Slot>)> {
        let may_start = self.waiting.or(others.waiting).and(self.open);
        let class = self.discipline.choose(&mut self.turns, may_start)?;
        let goes_first = others.first.has(class) || !self.waiting.has(class);
        if others.waiting.has(class) && goes_first {
            return Some((class, None));
        }
        let slot = self.ready[class].pop_front()?;
        if self.ready[class].is_empty() {
            self.waiting = self.waiting.without(class);
        }
        Some((class, Some(slot)))
    }

    pub(in crate::nic) fn remove(&mut self, slot: Slot) {
        for (class, line) in self.ready.iter_mut().enumerate() {
            line.retain(|&other| other != slot);
            if line.is_empty() {
                self.waiting = self.waiting.without(class);
            }
        }
    }
}

impl Schedule {
    /// Returns the number of requesters in the queues of all classes.
    pub(in crate::nic) fn waiting(&self) -> usize {
        let classes = self.classes.iter().flat_map(|classes| &classes.ready);
        self.ready.len() + classes.map(VecDeque::len).sum::<usize>()
    }

    /// True if, with several classes, a requester waits in a class that is not paused.
    #[inline]
    pub(in crate::nic) fn has_open_class(&self) -> bool {
        let has_any = |classes: &ClassLines| !classes.waiting.and(classes.open).is_empty();
        self.classes.as_deref().is_some_and(has_any)
    }
}

impl Nic {
    /// Divides what it sends into traffic classes, which take turns by `discipline`. Queue pairs
    /// are of the first class unless their settings name another
    /// ([`crate::nic::QpSettings::class`]).
    ///
    /// # Panics
    /// If it has several ports.
    pub fn set_classes(&mut self, discipline: Discipline) {
        assert!(self.planes.is_none(), "a NIC with several ports has one class");
        self.schedule.classes = Some(Box::new(ClassLines::new(discipline)));
    }

    /// The far end of the wire pauses a class, or resumes it (PFC).
    pub fn pause_class(&mut self, class: ClassId, is_paused: bool) {
        if let Some(classes) = &mut self.schedule.classes {
            classes.open = match is_paused {
                true => classes.open.without(class.index()),
                false => classes.open.with(class.index()),
            };
        }
    }

    /// Appends a requester to the queue of its class.
    #[inline(always)]
    pub(in crate::nic) fn enqueue(&mut self, slot: Slot) {
        match &mut self.schedule.classes {
            None => self.schedule.ready.push_back(slot),
            Some(classes) => classes.push_back(self.requesters[slot].class(), slot),
        }
    }

    /// The packet that starts at `now` without an answer, where there are several classes.
    #[cold]
    pub(in crate::nic) fn poll_transmit_by_class(&mut self, now: Time) -> Option<Packet> {
        match self.poll_classes(now, Others::default())? {
            Start::Own(packet) => Some(packet),
            Start::Other(_) => None,
        }
    }

    /// What starts at `now` on its wire, for which `others` have packets too: answers of the NIC
    /// first, then the class whose turn it is. What others start is reported by
    /// [`Self::charge_other`].
    pub fn poll_transmit_beside(&mut self, now: Time, others: Others) -> Option<Start> {
        if let Some(packet) = self.poll_transmit_control() {
            return Some(Start::Own(packet));
        }
        self.end_pauses(now);
        self.poll_classes(now, others)
    }

    /// A packet of others starts on its wire, of the class that was polled; `waits` says whether
    /// others of the class do still.
    pub fn charge_other(&mut self, class: ClassId, bytes: u16, waits: bool) {
        if let Some(classes) = &mut self.schedule.classes {
            let waits = waits || classes.waiting.has(class.index());
            classes.discipline.charge(&mut classes.turns, class.index(), bytes, waits);
        }
    }

    fn poll_classes(&mut self, now: Time, others: Others) -> Option<Start> {
        while let Some((class, slot)) = self.schedule.classes.as_mut()?.pop_front(others) {
            let Some(slot) = slot else { return Some(Start::Other(ClassId(class as u32))) };
            self.requesters.borrow_windows(slot);
            let mut packet = Packet::default();
            let has_sent = self.poll_transmit_of(now, slot, &mut packet);
            self.requesters.return_windows(slot);
            if has_sent {
                packet.set_class(ClassId(class as u32));
                self.requesters.end_turn(slot);
                let classes = self.schedule.classes.as_mut()?;
                let waits = classes.waiting.or(others.waiting).has(class);
                classes.discipline.charge(&mut classes.turns, class, packet.wire_bytes, waits);
                return Some(Start::Own(packet));
            }
        }
        None
    }
}
