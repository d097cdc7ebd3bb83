//! Failures of the wires of an aggregation tree.

use super::config::{RailFailure, RailFailureKind};
use crate::units::{BitRate, Bytes, Fraction, Time};

/// The wires of a tree: those of hosts by index, and those below its root.
#[derive(Debug)]
pub(super) struct Wires {
    rate: BitRate,
    failures: Vec<RailFailure>,
}

/// The effect of a failure on a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WireEffect {
    None,
    Degraded(Fraction),
    Down,
}

impl Wires {
    /// The index that stands for any wire between the root and a switch.
    pub(super) const ROOT: u32 = u32::MAX;

    /// Wires of one rate with these failures.
    pub(super) fn new(rate: BitRate, failures: &[RailFailure]) -> Self {
        Self { rate, failures: failures.to_vec() }
    }

    /// The end of a transmission that is due at `start` on a wire (`None` for a wire that never
    /// fails); `None` if it never ends. A transmission that an outage interrupts is repeated from
    /// its beginning after the outage; one that starts on a degraded wire keeps that rate.
    pub(super) fn end(&self, wire: Option<u32>, start: Time, bytes: Bytes) -> Option<Time> {
        let mut start = start;
        loop {
            let mut rate = self.rate;
            let mut back = None;
            for (failure, effect) in self.effects(wire) {
                let RailFailure { at, until, .. } = *failure;
                match effect {
                    WireEffect::Degraded(part) if at <= start && start < until => {
                        rate = rate.scaled(part);
                    }
                    _ => {}
                }
            }
            let rate = rate.max(BitRate::from_bps(1));
            let end = start.saturating_add(rate.time_for(bytes));
            for (failure, effect) in self.effects(wire) {
                if effect == WireEffect::Down && failure.at < end && start < failure.until {
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

    fn effects(&self, wire: Option<u32>) -> impl Iterator<Item = (&RailFailure, WireEffect)> {
        self.failures.iter().map(move |failure| (failure, effect(failure.kind, wire)))
    }
}

/// The effect of a kind of failure on a wire.
fn effect(kind: RailFailureKind, wire: Option<u32>) -> WireEffect {
    match kind {
        RailFailureKind::Link { host } | RailFailureKind::Error { host } if wire == Some(host) => {
            WireEffect::Down
        }
        // A switch fails with all its links, whichever tier it is in.
        RailFailureKind::Switch if wire.is_some() => WireEffect::Down,
        RailFailureKind::Crawl { host, left } if wire == Some(host) => {
            Fraction::new(u32::from(left.max(1)), 1 << 16)
                .map_or(WireEffect::Down, WireEffect::Degraded)
        }
        _ => WireEffect::None,
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
    fn an_interrupted_transmission_is_repeated_after_the_outage() {
        let down = failure(RailFailureKind::Link { host: 1 }, 150, at(400));
        let wires = Wires::new(BitRate::from_gbps(8), &[down]);
        let end = |wire, start| wires.end(wire, at(start), Bytes::new(100));
        assert_eq!(end(Some(1), 50), Some(at(150)), "its last bit has left");
        assert_eq!(end(Some(1), 60), Some(at(500)));
        assert_eq!(end(Some(1), 300), Some(at(500)));
        assert_eq!(end(Some(0), 300), Some(at(400)), "another wire");
        assert_eq!(end(None, 300), Some(at(400)));
    }

    #[test]
    fn a_permanent_outage_never_ends_and_a_degraded_wire_is_slower() {
        let down = failure(RailFailureKind::Switch, 100, Time::NEVER);
        let slow = failure(RailFailureKind::Crawl { host: 0, left: 1 << 14 }, 0, at(50));
        let wires = Wires::new(BitRate::from_gbps(8), &[slow, down]);
        let end = |wire, start| wires.end(wire, at(start), Bytes::new(10));
        assert_eq!(end(Some(0), 40), Some(at(80)), "a quarter of the rate");
        assert_eq!(end(Some(0), 50), Some(at(60)));
        assert_eq!(end(Some(Wires::ROOT), 95), None);
    }
}
