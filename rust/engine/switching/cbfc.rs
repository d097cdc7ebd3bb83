//! Credit-based flow control (CBFC): a port sends only what its far end has memory for.
//!
//! Source: Ultra Ethernet Specification 1.0.1, section 5.2, by public notes on it: credits of 32
//! to 2,048 B, the cost of a packet rounded up, the counters CC (consumed) and CF (freed), and the
//! rule that a sender has at most a limit of credits in use. It stands in place of priority flow
//! control and protects the same class: what has no priority.
//!
//! The notes leave open, and here is \[inferred\]: one virtual channel for data and one for
//! priority, which needs no credit; the limit is the memory that the far end keeps for the link,
//! without thresholds, headroom or pauses; CF goes back in an ordered set of 8 B when a packet
//! leaves that memory, and a later one replaces one that still waits for the wire; a port starts a
//! packet while it has credit for the longest one; a host takes what comes at once, so that links
//! to hosts need no credit. Corrupted packets consume credit, which the next CC of the sender
//! gives back: one `correction` after the loss.

use super::config::CbfcConfig;
use crate::ids::PortId;
use crate::topology::{Node, Topology};
use crate::units::Span;

/// Length of an update of the freed credits on the wire: an ordered set.
pub const CREDIT_FRAME_BYTES: u16 = 8;

/// Counters have 15 bits: no more credits than this may be in use.
pub const MOST_CREDITS: u64 = (1 << 15) - 1;

/// The credits of one link, numbered by the port that sends over it.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    /// CC: costs of all packets sent.
    consumed: u64,
    /// CF at the far end: costs of all packets that have left its memory or were corrupted.
    freed: u64,
    /// CF as the sender knows it.
    known: u64,
    /// Costs of packets lost on the wire that were not given back yet.
    lost: u64,
    /// Whether the far end is a switch.
    needs_credit: bool,
}

/// The credits of every link, for a world.
#[derive(Debug)]
pub struct LinkCredits<'a>(pub(super) &'a mut Cbfc);

impl LinkCredits<'_> {
    /// Whether packets without priority that this port sends need credit.
    pub fn needs_credit(&self, port: PortId) -> bool {
        self.0.links[port.index()].needs_credit
    }

    /// A packet without priority starts at a port that needs credit.
    pub fn consume(&mut self, port: PortId, bytes: u16) -> Credit {
        self.0.links[port.index()].consumed += self.0.config.cost(bytes);
        self.0.state(port)
    }

    /// The number that the far end of `port` sends back: all the credit that it has freed.
    pub fn freed(&self, port: PortId) -> u64 {
        self.0.links[port.index()].freed
    }

    /// That number reaches `port`.
    pub fn update(&mut self, port: PortId, freed: u64) -> Credit {
        let link = &mut self.0.links[port.index()];
        link.known = link.known.max(freed);
        self.0.state(port)
    }

    /// A packet that `port` sent is lost on the wire: how long after that the sender's count of
    /// consumed credit gives its credit back ([`Self::correct`]).
    pub fn lose(&mut self, port: PortId, bytes: u16) -> Span {
        self.0.links[port.index()].lost += self.0.config.cost(bytes);
        self.0.config.correction
    }

    /// Gives back the credit of what was lost on the wire of `port`.
    pub fn correct(&mut self, port: PortId) -> Credit {
        let link = &mut self.0.links[port.index()];
        link.freed += std::mem::take(&mut link.lost);
        let freed = link.freed;
        self.update(port, freed)
    }
}

/// The credits of every link.
#[derive(Debug)]
pub(super) struct Cbfc {
    config: CbfcConfig,
    limit: u64,
    /// The cost of the longest packet.
    longest: u64,
    links: Vec<Link>,
}

/// Whether a port may start another packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credit {
    /// It has credit for the longest packet.
    Left,
    /// It waits for an update.
    Exhausted,
}

impl CbfcConfig {
    /// The credits that a packet takes.
    pub fn cost(&self, bytes: u16) -> u64 {
        let with_overhead = u64::from(bytes).saturating_add_signed(self.overhead.into());
        with_overhead.div_ceil(u64::from(self.credit))
    }

    /// The credits that one link may have in use.
    pub fn limit(&self) -> u64 {
        self.memory.get() / u64::from(self.credit)
    }
}

impl Cbfc {
    pub(super) fn new(config: CbfcConfig, topology: &Topology) -> Self {
        let ports = (0..2 * topology.links().len()).map(|id| PortId(id as u32));
        let link = |port| {
            let needs_credit = matches!(topology.ends_of(port).1, Node::Switch(_));
            Link { needs_credit, ..Link::default() }
        };
        let (limit, longest) = (config.limit(), config.cost(config.packet));
        Self { config, limit, longest, links: ports.map(link).collect() }
    }

    fn state(&self, port: PortId) -> Credit {
        let Link { consumed, known, .. } = self.links[port.index()];
        if consumed - known + self.longest <= self.limit { Credit::Left } else { Credit::Exhausted }
    }

    /// A packet that came from `port` has left the memory of its far end.
    pub(super) fn free(&mut self, port: PortId, bytes: u64) {
        let bytes = u16::try_from(bytes).expect("packets are shorter than 64 KiB");
        self.links[port.index()].freed += self.config.cost(bytes);
    }
}

#[cfg(test)]
impl LinkCredits<'_> {
    /// The credits that are in use (CC - CF), over all links, as their senders know them.
    pub(crate) fn in_use(&self) -> u64 {
        self.0.links.iter().map(|link| link.consumed - link.known).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;
    use crate::topology::fixtures::leaf_spine;
    use crate::units::Bytes;

    fn config(memory: u64, credit: u16, overhead: i8) -> CbfcConfig {
        let correction = Span::from_us(10);
        CbfcConfig { memory: Bytes::new(memory), credit, overhead, packet: 1_000, correction }
    }

    #[test]
    fn a_packet_costs_its_length_and_overhead_in_whole_credits() {
        let costs = [(256, 0), (256, 20), (256, -16), (32, 0), (2_048, 127)]
            .map(|(credit, overhead)| config(1 << 20, credit, overhead).cost(1_024));
        assert_eq!(costs, [4, 5, 4, 32, 1]);
        assert_eq!(config(1 << 20, 64, -16).cost(8), 0);
        assert_eq!(config(10_000, 256, 0).limit(), 39);
    }

    #[test]
    fn a_port_stops_without_credit_for_the_longest_packet_until_an_update() {
        let topology = leaf_spine(1, 1, 2).build().unwrap();
        let up = topology.host_port(HostId(0));
        let mut cbfc = Cbfc::new(config(3_072, 256, 0), &topology);
        let mut credits = LinkCredits(&mut cbfc);
        assert!(credits.needs_credit(up) && !credits.needs_credit(up.reverse()));
        // 12 credits, and 4 a packet.
        assert_eq!(credits.consume(up, 1_000), Credit::Left);
        assert_eq!(credits.consume(up, 1_000), Credit::Left);
        assert_eq!(credits.consume(up, 1_000), Credit::Exhausted);
        credits.0.free(up, 1_000);
        assert_eq!((credits.freed(up), credits.update(up, 4)), (4, Credit::Left));
        assert_eq!(credits.consume(up, 200), Credit::Exhausted);
        // An update that is late changes nothing.
        assert_eq!(credits.update(up, 3), Credit::Exhausted);
        // The third packet is lost on the wire: its credit comes back with the next count.
        assert_eq!(credits.lose(up, 1_000), Span::from_us(10));
        assert_eq!(credits.freed(up), 4);
        assert_eq!(credits.correct(up), Credit::Left);
        credits.0.free(up, 1_000);
        credits.0.free(up, 200);
        assert_eq!(credits.update(up, 13), Credit::Left);
        let link = cbfc.links[up.index()];
        assert_eq!((link.consumed, link.known), (13, 13), "nothing is in use at the end");
    }
}
