//! Packet losses on links that are down or lossy.

use std::collections::{BTreeMap, BTreeSet};

use super::config::{Failure, FailureKind};
use super::llr::{AfterProtection, LlrConfig, UNLIMITED_REPLAYS};
use crate::ids::PortId;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Time};

/// A packet's time on a wire, from its first bit out to its last bit in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flight {
    /// First bit out.
    pub start: Time,
    /// Last bit in, before any forwarding delay of the switch there.
    pub end: Time,
}

/// A period in which a link is down in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Outage {
    port: PortId,
    from: Time,
    until: Time,
}

/// A period in which a link is lossy in one direction.
#[derive(Debug, Clone, Copy)]
struct Lossy {
    port: PortId,
    from: Time,
    until: Time,
    rate: Fraction,
}

/// The losses of all links.
#[derive(Debug, Default)]
pub(super) struct Losses {
    seed: u64,
    /// Ordered by port and time; outages of one port do not overlap.
    outages: Vec<Outage>,
    /// Ordered by port; entries of one port are in configured order.
    lossy: Vec<Lossy>,
    /// A stream per port of a lossy link, so that its draws depend on no other link.
    streams: BTreeMap<PortId, Stream>,
    llr: Option<LlrConfig>,
    /// Ports whose protection by link-level retry has ended.
    unprotected: BTreeSet<PortId>,
}

impl Losses {
    pub(super) fn new(failures: &[Failure], llr: Option<LlrConfig>, seed: u64) -> Self {
        let mut losses = Self { seed, llr, ..Self::default() };
        losses.set(failures);
        losses
    }

    /// Replaces the failures of all links; the random streams continue.
    pub(super) fn set(&mut self, failures: &[Failure]) {
        self.outages.clear();
        self.lossy.clear();
        for failure in failures {
            let &Failure { kind, at: from, until, .. } = failure;
            for port in failure.ports() {
                match kind {
                    FailureKind::Down => self.outages.push(Outage { port, from, until }),
                    FailureKind::Loss { rate } => {
                        self.lossy.push(Lossy { port, from, until, rate });
                    }
                    FailureKind::Degrade { .. } => {}
                }
            }
        }
        // Merges overlapping outages of a port: `loses` only looks at the last outage that has
        // begun.
        self.outages.sort_unstable();
        self.outages.dedup_by(|next, kept| {
            let overlap = next.port == kept.port && next.from <= kept.until;
            if overlap {
                kept.until = kept.until.max(next.until);
            }
            overlap
        });
        self.lossy.sort_by_key(|lossy| lossy.port);
    }

    /// Returns true if a packet on the wire of `port` during `flight` is lost.
    pub(super) fn loses(&mut self, port: PortId, flight: Flight) -> bool {
        // Outages of a port do not overlap: the last that began before the end of the flight ends
        // last.
        let begun = self.outages.partition_point(|it| (it.port, it.from) < (port, flight.end));
        let last = begun.checked_sub(1).map(|index| self.outages[index]);
        if last.is_some_and(|outage| outage.port == port && outage.until > flight.start) {
            return true;
        }
        match self.llr {
            // Link-level retry repeated the frame until it got through.
            Some(_) if !self.unprotected.contains(&port) => false,
            Some(LlrConfig { afterwards: AfterProtection::Discard, .. }) => true,
            _ => self.corrupts(port, flight.start),
        }
    }

    /// Returns how often the frame that starts on a protected wire at `start` is corrupted before
    /// it gets through. Exceeding the replay limit ends the protection.
    pub(super) fn replays(&mut self, port: PortId, start: Time) -> u32 {
        let Some(llr) = self.llr else { return 0 };
        if self.unprotected.contains(&port) {
            return 0;
        }
        let most = llr.replays.unwrap_or(UNLIMITED_REPLAYS);
        let mut replays = 0;
        while self.corrupts(port, start) {
            if replays == most {
                self.unprotected.insert(port);
                break;
            }
            replays += 1;
        }
        replays
    }

    /// Draws whether a frame that starts at `start` is corrupted, once per cause.
    fn corrupts(&mut self, port: PortId, start: Time) -> bool {
        // Every cause draws, without short-circuiting: one cause must not shift the draws of
        // another.
        let mut lost = false;
        // Causes of one port draw in configured order: the sort is stable.
        let first = self.lossy.partition_point(|lossy| lossy.port < port);
        for index in first..self.lossy.len() {
            let lossy = self.lossy[index];
            if lossy.port != port {
                break;
            }
            // The start of the frame decides, not its end.
            if lossy.from <= start && start < lossy.until {
                lost |= self.draw(port, lossy.rate);
            }
        }
        lost
    }

    /// Draws whether the next packet of a lossy port is lost.
    fn draw(&mut self, port: PortId, rate: Fraction) -> bool {
        let new = || Stream::new(self.seed, Purpose::Loss, u64::from(port.0));
        let stream = self.streams.entry(port).or_insert_with(new);
        stream.chance(rate.numerator(), rate.denominator())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::LinkId;
    use crate::switching::Direction;
    use crate::units::Span;

    const PORT: PortId = PortId(1);

    fn failure(link: LinkId, kind: FailureKind, from: u64, until: Time) -> Failure {
        let (direction, at) = (Direction::Both, Time::from_ps(from));
        let (detection, convergence) = (Span::MAX, Span::MAX);
        Failure { link, direction, kind, at, until, detection, convergence }
    }

    fn flight(start: u64, end: u64) -> Flight {
        Flight { start: Time::from_ps(start), end: Time::from_ps(end) }
    }

    #[test]
    fn outages_lose_packets_on_the_wire_and_lossy_links_packets_that_start() {
        let flights =
            [flight(0, 520_000), flight(600_000, 1_120_000), flight(1_200_000, 1_720_000)];
        let lossy = FailureKind::Loss { rate: Fraction::ONE };
        let mut losses = Losses::new(
            &[
                failure(PORT.link(), FailureKind::Down, 519_999, Time::from_ps(600_001)),
                failure(PORT.link(), lossy, 1_200_000, Time::from_ps(1_200_001)),
            ],
            None,
            1,
        );
        assert_eq!(flights.map(|it| losses.loses(PORT, it)), [true, true, true]);
        assert!(!losses.loses(PORT, flight(1_200_001, 1_720_001)), "it starts after the loss");
        let mut others = Losses::new(
            &[
                failure(PORT.link(), lossy, 0, Time::from_ps(1_200_000)),
                failure(LinkId(5), FailureKind::Down, 0, Time::NEVER),
            ],
            None,
            1,
        );
        assert_eq!(flights.map(|it| others.loses(PORT, it)), [true, true, false]);
    }

    #[test]
    fn one_way_failures_leave_the_other_direction_intact() {
        let both = failure(PORT.link(), FailureKind::Down, 0, Time::NEVER);
        let one = Failure { direction: Direction::From(PORT), ..both };
        let mut losses = Losses::new(&[one], None, 1);
        assert!(losses.loses(PORT, flight(0, 1)) && !losses.loses(PORT.reverse(), flight(0, 1)));
        let mut losses = Losses::new(&[one, both], None, 1);
        assert!(losses.loses(PORT, flight(0, 1)) && losses.loses(PORT.reverse(), flight(0, 1)));
    }

    #[test]
    fn overlapping_outages_are_merged() {
        let down =
            |from, until| failure(PORT.link(), FailureKind::Down, from, Time::from_ps(until));
        let mut losses = Losses::new(&[down(0, 1_000), down(10, 20), down(500, 2_000)], None, 1);
        assert_eq!(losses.outages.len(), 2, "one a direction");
        assert!(losses.loses(PORT, flight(1_500, 1_600)));
        assert!(!losses.loses(PORT, flight(2_000, 2_100)));
    }
}
