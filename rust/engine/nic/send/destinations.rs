//! Windows that all queue pairs of a NIC to the same host share: `scope = "destination"`, or
//! `"destination-plane"` for one per plane.
//!
//! Between events the windows are stored here, with the packets in flight of all queue pairs that
//! share them. A requester borrows them while it acts ([`Nic::with_windows`]), so what it sends and
//! learns counts for all. When they open, the requester that has not sent for longest goes first,
//! so none starves.
//!
//! The windows of a host outlive the last queue pair to it: they describe the host.

use std::collections::{BTreeMap, VecDeque};

use crate::ids::HostId;
use crate::nic::Nic;
use crate::nic::qp::Slot;
use crate::nic::send::requester::{PlaneWindows, Requester, SendState};
use crate::nic::send::requesters::Requesters;

/// The windows of all hosts that the NIC sends to.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct Destinations(BTreeMap<HostId, Destination>);

#[derive(Debug, Clone)]
struct Destination {
    windows: Box<PlaneWindows>,
    /// The requesters that share them, the one that sent last at the end.
    turns: VecDeque<Slot>,
}

impl Destination {
    fn count_sharers(&mut self) {
        Requester::set_sharers(&mut self.windows, self.turns.len());
    }
}

impl Destinations {
    fn of(&mut self, requester: &Requester) -> Option<&mut Destination> {
        self.0.get_mut(&requester.peer())
    }
}

impl Requesters {
    /// Lends the requester its shared windows, if any.
    #[inline(always)]
    pub(in crate::nic) fn borrow_windows(&mut self, slot: Slot) {
        if self.destinations.is_some() {
            self.move_windows(slot, Requester::borrow_windows);
        }
    }

    /// Takes the shared windows back.
    #[inline(always)]
    pub(in crate::nic) fn return_windows(&mut self, slot: Slot) {
        if self.destinations.is_some() {
            self.move_windows(slot, Requester::return_windows);
        }
    }

    // Cold, like the other functions for sharers: without sharing, a packet costs one comparison.
    #[cold]
    fn move_windows(&mut self, slot: Slot, by: fn(&mut Requester, &mut Box<PlaneWindows>)) {
        let requester = &mut self.list[slot.index()];
        let destination = self.destinations.as_mut().and_then(|it| it.of(requester));
        if let Some(destination) = destination {
            by(requester, &mut destination.windows);
        }
    }

    /// Adds a new requester, which has nothing in flight, to the sharers of its destination's
    /// windows.
    pub(in crate::nic) fn join_destination(&mut self, slot: Slot) {
        let Some(destinations) = &mut self.destinations else { return };
        let requester = &self.list[slot.index()];
        let Some(windows) = requester.own_windows() else { return };
        let of_peer = destinations.0.entry(requester.peer());
        let destination =
            of_peer.or_insert_with(|| Destination { windows, turns: VecDeque::new() });
        // A queue pair that was reset joins again and is already there.
        if !destination.turns.contains(&slot) {
            destination.turns.push_back(slot);
        }
        destination.count_sharers();
    }

    /// Removes the requester's packets in flight from its shared windows.
    pub(in crate::nic) fn forget_in_flight(&mut self, slot: Slot) {
        let Some(requester) = self.list.get(slot.index()) else { return };
        if let Some(destination) = self.destinations.as_mut().and_then(|it| it.of(requester)) {
            requester.leave_windows(&mut destination.windows);
        }
    }

    /// Removes a requester from the sharers of its destination's windows.
    pub(in crate::nic) fn leave_destination(&mut self, slot: Slot) {
        // Otherwise its packets in flight would occupy the window permanently.
        self.forget_in_flight(slot);
        let Some(requester) = self.list.get(slot.index()) else { return };
        if let Some(destination) = self.destinations.as_mut().and_then(|it| it.of(requester)) {
            destination.turns.retain(|&other| other != slot);
            destination.count_sharers();
        }
    }

    /// Moves a requester that has sent a packet behind the others that share its windows.
    #[inline(always)]
    pub(in crate::nic) fn end_turn(&mut self, slot: Slot) {
        if self.destinations.is_some() {
            self.end_turn_among_sharers(slot);
        }
    }

    #[cold]
    fn end_turn_among_sharers(&mut self, slot: Slot) {
        let Some(destinations) = &mut self.destinations else { return };
        let Some(destination) = destinations.of(&self.list[slot.index()]) else { return };
        if let Some(index) = destination.turns.iter().position(|&other| other == slot) {
            destination.turns.remove(index);
            destination.turns.push_back(slot);
        }
    }

    /// Returns the requesters that share windows with the one in `slot`, itself included, in
    /// round-robin order; `None` if its windows are its own.
    #[cold]
    fn sharers(&mut self, slot: Slot) -> Option<VecDeque<Slot>> {
        let destinations = self.destinations.as_mut()?;
        Some(destinations.of(&self.list[slot.index()])?.turns.clone())
    }

    /// Returns the bytes on the wire that congestion control permits a requester in flight.
    pub(in crate::nic) fn window_of(&self, slot: Slot) -> u64 {
        let requester = &self.list[slot.index()];
        let shared = self.destinations.as_ref().and_then(|it| it.0.get(&requester.peer()));
        shared.map_or_else(|| requester.window(), |it| it.windows.window())
    }

    /// Returns the windows that queue pairs to a host share.
    #[cfg(test)]
    pub(in crate::nic) fn windows_to(&self, host: HostId) -> &PlaneWindows {
        &self.destinations.as_ref().expect("destinations share windows").0[&host].windows
    }
}

impl Nic {
    /// Calls `work` while the requester holds its shared windows, if any.
    #[inline(always)]
    pub(in crate::nic) fn with_windows<R>(
        &mut self,
        slot: Slot,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.requesters.borrow_windows(slot);
        let result = work(self);
        self.requesters.return_windows(slot);
        result
    }

    /// Schedules a requester that may have something to send, and those that wait for the same
    /// windows.
    #[inline(always)]
    pub(in crate::nic) fn make_sharers_ready(&mut self, slot: Slot) {
        match self.requesters.destinations {
            None => self.make_ready(slot),
            Some(_) => self.make_all_sharers_ready(slot),
        }
    }

    #[cold]
    fn make_all_sharers_ready(&mut self, slot: Slot) {
        // A copy of the list: scheduling a requester borrows the windows.
        let Some(sharers) = self.requesters.sharers(slot) else { return self.make_ready(slot) };
        for slot in sharers {
            // The others are already scheduled.
            if self.requesters[slot].send_state == SendState::Idle {
                self.make_ready(slot);
            }
        }
    }
}
