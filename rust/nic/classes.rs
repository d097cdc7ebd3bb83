//! Traffic classes at a NIC: sending halves that may send, by the class of their packets.
//!
//! Classes take turns as at the ports of switches ([`Discipline`]), and the sending halves of a
//! class among themselves, a packet each. Answers go before all classes. A NIC without classes has
//! one line of sending halves ([`Nic::poll_transmit`]).

use std::collections::VecDeque;

use super::Nic;
use super::qp::Slot;
use crate::ids::ClassId;
use crate::packet::Packet;
use crate::sharing::{ClassSet, Discipline, MOST_CLASSES, Turns};
use crate::units::Time;

/// The lines of sending halves of a NIC with several classes.
#[derive(Debug, Clone)]
pub(super) struct ClassLines {
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

    /// The sending half whose turn it is, taken out of its line, and its class.
    fn pop_front(&mut self) -> Option<(usize, Slot)> {
        let class = self.discipline.choose(&mut self.turns, self.waiting.and(self.open))?;
        let slot = self.ready[class].pop_front()?;
        if self.ready[class].is_empty() {
            self.waiting = self.waiting.without(class);
        }
        Some((class, slot))
    }

    fn remove(&mut self, slot: Slot) {
        for (class, line) in self.ready.iter_mut().enumerate() {
            line.retain(|&other| other != slot);
            if line.is_empty() {
                self.waiting = self.waiting.without(class);
            }
        }
    }
}

impl Nic {
    /// Divides what it sends into traffic classes, which take turns by `discipline`. Queue pairs
    /// are of the first class unless their settings name another ([`super::QpSettings::class`]).
    ///
    /// # Panics
    /// If it has several ports.
    pub fn set_classes(&mut self, discipline: Discipline) {
        assert!(self.planes.is_none(), "a NIC with several ports has one class");
        self.classes = Some(Box::new(ClassLines::new(discipline)));
    }

    /// The far end of the wire pauses a class, or resumes it (PFC).
    pub fn pause_class(&mut self, class: ClassId, is_paused: bool) {
        if let Some(classes) = &mut self.classes {
            classes.open = match is_paused {
                true => classes.open.without(class.index()),
                false => classes.open.with(class.index()),
            };
        }
    }

    /// A sending half stands behind those of its class that wait for their turn.
    #[inline(always)]
    pub(super) fn stand_in_line(&mut self, slot: Slot) {
        match &mut self.classes {
            None => self.ready.push_back(slot),
            Some(classes) => {
                classes.push_back(self.requesters[slot.index()].class, slot);
            }
        }
    }

    /// Takes a sending half out of its line.
    pub(super) fn leave_line(&mut self, slot: Slot) {
        self.ready.retain(|&other| other != slot);
        if let Some(classes) = &mut self.classes {
            classes.remove(slot);
        }
    }

    /// The number of sending halves that wait for their turn, of all classes.
    pub(super) fn in_line(&self) -> usize {
        let classes = self.classes.iter().flat_map(|classes| &classes.ready);
        self.ready.len() + classes.map(VecDeque::len).sum::<usize>()
    }

    /// Whether a sending half of a class that is not paused waits for its turn, where there are
    /// several classes.
    #[inline]
    pub(super) fn has_class_in_line(&self) -> bool {
        let has_any = |classes: &ClassLines| !classes.waiting.and(classes.open).is_empty();
        self.classes.as_deref().is_some_and(has_any)
    }

    /// The packet that starts at `now` without an answer, where there are several classes.
    #[inline(never)]
    pub(super) fn poll_transmit_by_class(&mut self, now: Time) -> Option<Packet> {
        while let Some((class, slot)) = self.classes.as_mut()?.pop_front() {
            self.borrow_windows(slot);
            let packet = self.poll_transmit_of(now, slot);
            self.return_windows(slot);
            if let Some(mut packet) = packet {
                packet.set_class(ClassId(class as u32));
                self.end_turn(slot);
                let classes = self.classes.as_mut()?;
                let waits = classes.waiting.has(class);
                classes.discipline.charge(&mut classes.turns, class, packet.wire_bytes, waits);
                return Some(packet);
            }
        }
        None
    }
}
