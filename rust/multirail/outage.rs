//! When the wires of an aggregation tree carry, and how fast.

use super::config::{RailFailure, RailFailureKind};
use crate::units::{BitRate, Bytes, Fraction, Time};

/// The wires of a tree: those of hosts by number, and those below its root.
#[derive(Debug)]
pub(super) struct Wires {
    rate: BitRate,
    failures: Vec<RailFailure>,
}

/// What is left of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    All,
    Part(Fraction),
    Nothing,
}

impl Wires {
    /// Any wire between the root and a switch.
    pub const ROOT: u32 = u32::MAX;

    /// Wires of that rate with those failures.
    pub fn new(rate: BitRate, failures: &[RailFailure]) -> Self {
        Self { rate, failures: failures.to_vec() }
    }

    /// When the last bit leaves of what is to start at `start` on a wire (`None`: one that never
    /// fails), if it ever does. What an outage takes is sent again from its beginning once the
    /// wire is back; what starts on a slow wire goes at its pace to the end.
    pub fn end(&self, wire: Option<u32>, start: Time, bytes: Bytes) -> Option<Time> {
        let mut start = start;
        loop {
            let mut rate = self.rate;
            let mut back = None;
            for (failure, left) in self.of(wire) {
                let RailFailure { at, until, .. } = *failure;
                match left {
                    Left::Part(part) if at <= start && start < until => rate = rate.scaled(part),
                    _ => {}
                }
            }
            let rate = rate.max(BitRate::from_bps(1));
            let end = start.saturating_add(rate.time_for(bytes));
            for (failure, left) in self.of(wire) {
                if left == Left::Nothing && failure.at < end && start < failure.until {
                    back = back.max(Some(failure.until));
                }
            }
            match back {
                None => return Some(end),
                Some(Time::NEVER) => return None,
                Some(until) => start = until,
            }
        }
    }

    fn of(&self, wire: Option<u32>) -> impl Iterator<Item = (&RailFailure, Left)> {
        self.failures.iter().map(move |failure| (failure, left(failure.kind, wire)))
    }
}

fn left(kind: RailFailureKind, wire: Option<u32>) -> Left {
    match kind {
        RailFailureKind::Link { host } | RailFailureKind::Error { host } if wire == Some(host) => {
            Left::Nothing
        }
        // A dead switch takes all its links with it; which tier it is of makes no difference.
        RailFailureKind::Switch if wire.is_some() => Left::Nothing,
        RailFailureKind::Crawl { host, left } if wire == Some(host) => {
            Fraction::new(u32::from(left.max(1)), 1 << 16).map_or(Left::Nothing, Left::Part)
        }
        _ => Left::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn at(ns: u64) -> Time {
        Time::ZERO + Span::from_ns(ns)
    }

    fn failure(kind: RailFailureKind, from: u64, until: Time) -> RailFailure {
        RailFailure { rail: 0, kind, at: at(from), until }
    }

    #[test]
    fn an_outage_takes_what_it_meets_and_the_wire_sends_it_again() {
        let down = failure(RailFailureKind::Link { host: 1 }, 150, at(400));
        let wires = Wires::new(BitRate::from_gbps(8), &[down]);
        let end = |wire, start| wires.end(wire, at(start), Bytes::new(100));
        assert_eq!(end(Some(1), 50), Some(at(150)), "its last bit is out");
        assert_eq!(end(Some(1), 60), Some(at(500)));
        assert_eq!(end(Some(1), 300), Some(at(500)));
        assert_eq!(end(Some(0), 300), Some(at(400)), "another wire");
        assert_eq!(end(None, 300), Some(at(400)));
    }

    #[test]
    fn for_ever_is_for_ever_and_slow_is_slow() {
        let down = failure(RailFailureKind::Switch, 100, Time::NEVER);
        let slow = failure(RailFailureKind::Crawl { host: 0, left: 1 << 14 }, 0, at(50));
        let wires = Wires::new(BitRate::from_gbps(8), &[slow, down]);
        let end = |wire, start| wires.end(wire, at(start), Bytes::new(10));
        assert_eq!(end(Some(0), 40), Some(at(80)), "a quarter of the rate");
        assert_eq!(end(Some(0), 50), Some(at(60)));
        assert_eq!(end(Some(Wires::ROOT), 95), None);
    }
}
