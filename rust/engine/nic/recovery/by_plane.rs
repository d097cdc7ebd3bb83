//! What is in flight, and what has arrived, in each plane of several.

use std::collections::VecDeque;

use super::PlaneUse;
use crate::units::Time;

/// A packet of which an arrival is not known.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    entropy: u16,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was sent once.
    Flying,
    /// It was sent again: of its copies it is not known which one arrives.
    FlyingAgain,
    /// It waits to be sent again.
    Lost,
    /// It has arrived, and packets before it have not.
    Arrived,
}

/// The packets of one queue pair, by the plane of their entropy values.
#[derive(Debug, Clone)]
pub(super) struct ByPlane {
    planes: Vec<PlaneUse>,
    /// The oldest packet that is remembered.
    first: u64,
    /// From that packet on.
    sent: VecDeque<Sent>,
}

impl ByPlane {
    /// Counts for so many planes, before anything is sent.
    pub(super) fn new(planes: u32) -> Self {
        let planes = vec![PlaneUse::default(); planes as usize];
        Self { planes, first: 0, sent: VecDeque::new() }
    }

    pub(super) fn of(&self, plane: u32) -> PlaneUse {
        self.planes.get(plane as usize).copied().unwrap_or_default()
    }

    fn with_value(&mut self, entropy: u16) -> &mut PlaneUse {
        let planes = self.planes.len();
        &mut self.planes[usize::from(entropy) % planes]
    }

    /// Packet `sequence` goes out: the next one that was never sent, or one that was lost.
    pub(super) fn send(&mut self, now: Time, sequence: u64, entropy: u16) {
        let at = now;
        match self.sent.get_mut((sequence - self.first) as usize) {
            Some(again) => *again = Sent { at, entropy, state: State::FlyingAgain },
            None => self.sent.push_back(Sent { at, entropy, state: State::Flying }),
        }
        self.with_value(entropy).in_flight += 1;
    }

    /// A packet is lost, and sent again.
    pub(super) fn lose(&mut self, sequence: u64) {
        let sent = &mut self.sent[(sequence - self.first) as usize];
        let was = std::mem::replace(&mut sent.state, State::Lost);
        let entropy = sent.entropy;
        self.with_value(entropy).in_flight -= u64::from(was != State::Lost);
    }

    /// Nothing has arrived since the acknowledgement at hand.
    pub(super) fn begin(&mut self) {
        self.planes.iter_mut().for_each(|plane| (plane.arrived, plane.rtt) = (0, None));
    }

    /// A packet has arrived that was not known to.
    pub(super) fn arrive(&mut self, now: Time, sequence: u64) {
        let sent = &mut self.sent[(sequence - self.first) as usize];
        let Sent { at, entropy, state } =
            std::mem::replace(sent, Sent { state: State::Arrived, ..*sent });
        let plane = self.with_value(entropy);
        plane.in_flight -= u64::from(state != State::Lost);
        plane.arrived += 1;
        if state == State::Flying {
            plane.rtt = Some(now.since(at));
        }
    }

    /// Every packet before `first` has arrived.
    pub(super) fn advance_to(&mut self, first: u64) {
        self.sent.drain(..(first - self.first) as usize);
        self.first = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_before_the_first_that_is_missing_are_forgotten() {
        let mut planes = ByPlane::new(2);
        (0..6).for_each(|packet| planes.send(Time::ZERO, packet, packet as u16));
        [0, 1, 2, 4].into_iter().for_each(|packet| planes.arrive(Time::ZERO, packet));
        planes.advance_to(3);
        assert_eq!((planes.first, planes.sent.len()), (3, 3));
        planes.lose(5);
        assert_eq!([0, 1].map(|plane| planes.of(plane).in_flight), [0, 1], "packet 3");
    }
}
