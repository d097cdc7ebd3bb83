//! Traffic classes at a NIC: one queue of ready requesters per class.
//!
//! Classes are scheduled as at switch ports ([`Discipline`]). The requesters of a class take turns
//! packet by packet. Control packets go before all classes. A NIC without classes has a single
//! queue of requesters ([`Nic::poll_transmit`]).
//!
//! Other sources may share the NIC's wire ([`Nic::poll_transmit_shared`]). Their classes are
//! scheduled together with the NIC's own. Within a class, the NIC and the other sources alternate
//! packet by packet; the caller says whose turn it is.

use std::collections::VecDeque;

use crate::ids::ClassId;
use crate::nic::Nic;
use crate::nic::qp::Slot;
use crate::nic::send::schedule::Schedule;
use crate::packet::Packet;
use crate::sharing::{ClassSet, Discipline, MOST_CLASSES, Turns};
use crate::units::Time;

/// Classes in which other sources have packets for the NIC's wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExternalTraffic {
    /// Classes with such packets.
    pub waiting: ClassSet,
    /// Classes in which the other sources go first.
    pub first: ClassSet,
}

/// The packet that starts next on a wire shared with other sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A packet of the NIC.
    Own(Packet),
    /// A packet of the other sources, of this class.
    External(ClassId),
}

/// The per-class queues of ready requesters.
#[derive(Debug, Clone)]
pub(in crate::nic) struct ClassQueues {
    discipline: Discipline,
    turns: Turns,
    /// By class: requesters that may send, in round-robin order.
    ready: [VecDeque<Slot>; MOST_CLASSES],
    /// Classes with a nonempty queue.
    waiting: ClassSet,
    /// Classes that the far end of the wire does not pause.
    open: ClassSet,
}

impl ClassQueues {
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

    /// Picks the next class and takes a requester from its queue; the requester is `None` if it is
    /// the turn of `external`.
    fn pop_front(&mut self, external: ExternalTraffic) -> Option<(usize, Option<Slot>)> {
        let may_start = self.waiting.or(external.waiting).and(self.open);
        let class = self.discipline.choose(&mut self.turns, may_start)?;
        // With an empty own queue the others need not wait for their turn.
        let goes_first = external.first.has(class) || !self.waiting.has(class);
        if external.waiting.has(class) && goes_first {
            return Some((class, None));
        }
        let slot = self.ready[class].pop_front()?;
        if self.ready[class].is_empty() {
            self.waiting = self.waiting.without(class);
        }
        Some((class, Some(slot)))
    }

    // Scans every class: only resets, errors and rejected packets remove a requester.
    pub(in crate::nic) fn remove(&mut self, slot: Slot) {
        for (class, queue) in self.ready.iter_mut().enumerate() {
            queue.retain(|&queued| queued != slot);
            if queue.is_empty() {
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
        let has_any = |classes: &ClassQueues| !classes.waiting.and(classes.open).is_empty();
        self.classes.as_deref().is_some_and(has_any)
    }
}

impl Nic {
    /// Divides the NIC's traffic into classes, scheduled by `discipline`. Queue pairs belong to the
    /// first class unless their settings name another ([`crate::nic::QpSettings::class`]).
    ///
    /// # Panics
    /// If the NIC has several ports.
    pub fn set_classes(&mut self, discipline: Discipline) {
        assert!(self.planes.is_none(), "a NIC with several ports has one class");
        self.schedule.classes = Some(Box::new(ClassQueues::new(discipline)));
    }

    /// Applies a pause frame (PFC) of the far end: pauses or resumes a class.
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

    /// Returns the data packet that starts at `now`; `None` without traffic classes.
    // Cold: keeps the class scheduler out of the hot path of NICs without classes.
    #[cold]
    pub(in crate::nic) fn poll_transmit_by_class(&mut self, now: Time) -> Option<Packet> {
        match self.poll_classes(now, ExternalTraffic::default())? {
            Start::Own(packet) => Some(packet),
            // Not reached: no other source was offered.
            Start::External(_) => None,
        }
    }

    /// Returns the packet that starts at `now` on a wire that `external` sources share.
    /// Control packets of the NIC go first, then the class whose turn it is. A caller that starts
    /// another source's packet reports it to [`Self::charge_external`].
    pub fn poll_transmit_shared(&mut self, now: Time, external: ExternalTraffic) -> Option<Start> {
        if let Some(packet) = self.poll_transmit_control() {
            return Some(Start::Own(packet));
        }
        self.end_pauses(now);
        self.poll_classes(now, external)
    }

    /// Charges a packet of another source to its class, which was polled before. `waits` is true if
    /// more packets of the other sources wait in the class.
    pub fn charge_external(&mut self, class: ClassId, bytes: u16, waits: bool) {
        if let Some(classes) = &mut self.schedule.classes {
            // A class keeps the rest of its turn while the NIC or the others have packets in it.
            let waits = waits || classes.waiting.has(class.index());
            classes.discipline.charge(&mut classes.turns, class.index(), bytes, waits);
        }
    }

    fn poll_classes(&mut self, now: Time, external: ExternalTraffic) -> Option<Start> {
        while let Some((class, slot)) = self.schedule.classes.as_mut()?.pop_front(external) {
            let Some(slot) = slot else { return Some(Start::External(ClassId(class as u32))) };
            // Windows that queue pairs share are lent to the requester for this one packet.
            self.requesters.borrow_windows(slot);
            let mut packet = Packet::default();
            let has_sent = self.poll_transmit_of(now, slot, &mut packet);
            self.requesters.return_windows(slot);
            if has_sent {
                packet.set_class(ClassId(class as u32));
                self.requesters.end_turn(slot);
                let classes = self.schedule.classes.as_mut()?;
                // Charged after the packet was built: only then is its length known.
                let waits = classes.waiting.or(external.waiting).has(class);
                classes.discipline.charge(&mut classes.turns, class, packet.wire_bytes, waits);
                return Some(Start::Own(packet));
            }
        }
        None
    }
}
