//! Failures of the wires of an aggregation tree.

use super::config::{RailFailure, RailFailureKind};
use crate::units::{BitRate, Bytes, Fraction, Time};

/// The wires of a tree: those of hosts by index, and those below its root.
#[derive(Debug)]
pub(super) struct Wires {
    rate: BitRate,
    failures: Vec<RailFailure>,
}

impl Wires {
    /// The index of every wire between the root and a switch.
    pub(super) const ROOT: u32 = u32::MAX;

    /// Creates wires of one rate with these failures.
    pub(super) const fn new(rate: BitRate, failures: Vec<RailFailure>) -> Self {
        Self { rate, failures }
    }

    /// Returns the end of a transmission that is due at `start`, or `None` if it never ends. `wire`
    /// is `None` for a wire that never fails. A transmission that an outage interrupts is repeated
    /// from its beginning after the outage. One that starts on a degraded wire keeps that rate.
    pub(super) fn end(&self, wire: Option<u32>, start: Time, bytes: Bytes) -> Option<Time> {
        let mut start = start;
        loop {
            let active = |failure: &&RailFailure| failure.at <= start && start < failure.until;
            let left = self.failures.iter().filter(active).filter_map(|it| left(it.kind, wire));
            let rate = left.fold(self.rate, BitRate::scaled).max(BitRate::from_bps(1));
            let end = start.saturating_add(rate.time_for(bytes));
            // An outage at any time during the transmission destroys it.
            let cut =
                |it: &&RailFailure| it.at < end && start < it.until && interrupts(it.kind, wire);
            let back = self.failures.iter().filter(cut).map(|failure| failure.until).max();
            match back {
                None => return Some(end),
                Some(Time::NEVER) => return None,
                Some(until) => start = until,
            }
        }
    }
}

/// Returns true if a failure stops a wire. A failed switch stops all its links, whichever tier it
/// is in.
fn interrupts(kind: RailFailureKind, wire: Option<u32>) -> bool {
    match kind {
        RailFailureKind::Link { host } | RailFailureKind::Error { host } => wire == Some(host),
        RailFailureKind::Switch => wire.is_some(),
        RailFailureKind::Degraded { .. } => false,
    }
}

/// Returns the fraction of a wire's rate that a failure leaves, if it slows the wire down.
fn left(kind: RailFailureKind, wire: Option<u32>) -> Option<Fraction> {
    match kind {
        RailFailureKind::Degraded { host, remaining } if wire == Some(host) => {
            Fraction::new(u32::from(remaining.max(1)), 1 << 16)
        }
        _ => None,
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
        let wires = Wires::new(BitRate::from_gbps(8), vec![down]);
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
        let slow = failure(RailFailureKind::Degraded { host: 0, remaining: 1 << 14 }, 0, at(50));
        let wires = Wires::new(BitRate::from_gbps(8), vec![slow, down]);
        let end = |wire, start| wires.end(wire, at(start), Bytes::new(10));
        assert_eq!(end(Some(0), 40), Some(at(80)), "a quarter of the rate");
        assert_eq!(end(Some(0), 50), Some(at(60)));
        assert_eq!(end(Some(Wires::ROOT), 95), None);
    }
}
