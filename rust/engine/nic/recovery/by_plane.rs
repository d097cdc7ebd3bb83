//! Packets in flight and packets arrived, counted by plane.

use std::collections::VecDeque;

use super::PlaneUse;
use crate::units::Time;

/// A packet in the window.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    entropy: u16,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was sent once.
    InFlight,
    /// It was sent more than once. The copy that will arrive is unknown, so it gives no round trip.
    Retransmitted,
    /// It waits for retransmission.
    Lost,
    /// It has arrived, but an earlier packet has not.
    Arrived,
}

/// The packets of one queue pair, by the plane of their entropy values.
#[derive(Debug, Clone)]
pub(super) struct ByPlane {
    planes: Vec<PlaneUse>,
    /// Number of `sent[0]`.
    first: u64,
    /// Packets from `first` on.
    sent: VecDeque<Sent>,
}

impl ByPlane {
    /// Creates counters for `planes` planes, before anything is sent.
    pub(super) fn new(planes: u32) -> Self {
        let planes = vec![PlaneUse::default(); planes as usize];
        Self { planes, first: 0, sent: VecDeque::new() }
    }

    pub(super) fn of(&self, plane: u32) -> PlaneUse {
        self.planes.get(plane as usize).copied().unwrap_or_default()
    }

    fn plane_of(&mut self, entropy: u16) -> &mut PlaneUse {
        let planes = self.planes.len();
        &mut self.planes[usize::from(entropy) % planes]
    }

    /// Counts a sent packet: the next new one, or a retransmission.
    pub(super) fn send(&mut self, now: Time, sequence: u64, entropy: u16) {
        // An entry that exists means a retransmission; it may leave by another plane.
        let at = now;
        match self.sent.get_mut((sequence - self.first) as usize) {
            Some(again) => *again = Sent { at, entropy, state: State::Retransmitted },
            None => self.sent.push_back(Sent { at, entropy, state: State::InFlight }),
        }
        self.plane_of(entropy).in_flight += 1;
    }

    /// Marks a packet as lost.
    pub(super) fn lose(&mut self, sequence: u64) {
        let sent = &mut self.sent[(sequence - self.first) as usize];
        let was = std::mem::replace(&mut sent.state, State::Lost);
        let entropy = sent.entropy;
        // A packet can be given up twice; it left the plane the first time.
        self.plane_of(entropy).in_flight -= u64::from(was != State::Lost);
    }

    /// Resets the arrivals before an acknowledgement is read.
    pub(super) fn begin(&mut self) {
        self.planes.iter_mut().for_each(|plane| (plane.arrived, plane.rtt) = (0, None));
    }

    /// Counts the first report of a packet's arrival.
    pub(super) fn arrive(&mut self, now: Time, sequence: u64) {
        let sent = &mut self.sent[(sequence - self.first) as usize];
        let Sent { at, entropy, state } =
            std::mem::replace(sent, Sent { state: State::Arrived, ..*sent });
        let plane = self.plane_of(entropy);
        // A lost packet that arrives late was already subtracted.
        plane.in_flight -= u64::from(state != State::Lost);
        plane.arrived += 1;
        // Karn's rule: an acknowledgement of a retransmitted packet is ambiguous.
        if state == State::InFlight {
            plane.rtt = Some(now.since(at));
        }
    }

    /// Forgets the packets before `first`; all have arrived.
    pub(super) fn advance_to(&mut self, first: u64) {
        self.sent.drain(..(first - self.first) as usize);
        self.first = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_before_the_first_missing_one_are_forgotten() {
        let mut planes = ByPlane::new(2);
        (0..6).for_each(|packet| planes.send(Time::ZERO, packet, packet as u16));
        [0, 1, 2, 4].into_iter().for_each(|packet| planes.arrive(Time::ZERO, packet));
        planes.advance_to(3);
        assert_eq!((planes.first, planes.sent.len()), (3, 3));
        planes.lose(5);
        assert_eq!([0, 1].map(|plane| planes.of(plane).in_flight), [0, 1], "packet 3");
    }
}
