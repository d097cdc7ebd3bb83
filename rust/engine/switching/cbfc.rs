//! Credit-based flow control (CBFC): a port sends only packets that its far end has memory for.
//!
//! Source: Ultra Ethernet Specification 1.0.1, section 5.2, according to public notes. Credits are
//! 32 to 2,048 B, and the cost of a packet is rounded up. Counters track consumed (CC) and freed
//! (CF) credits. A sender has at most a limit of credits in use. CBFC replaces priority flow
//! control and protects the same packets: those without priority.
//!
//! The notes leave the following open \[inferred\]:
//!
//! - Data uses one virtual channel. Priority uses another, which needs no credit.
//! - The limit is the memory that the far end reserves for the link, without thresholds, headroom
//!   or pauses.
//! - CF goes back in an ordered set of 8 B when a packet leaves that memory. A later one replaces
//!   one that still waits for the wire.
//! - A port starts a packet while it has credit for the longest packet.
//! - A host consumes packets immediately, so links to hosts need no credit.
//! - Corrupted packets consume credit. The sender's next CC returns it, one `correction` after the
//!   loss.

use super::config::CbfcConfig;
use crate::ids::PortId;
use crate::topology::{Node, Topology};
use crate::units::Span;

/// Length on the wire of an update of freed credits: an ordered set.
pub const CREDIT_FRAME_BYTES: u16 = 8;

/// Maximum number of credits in use: counters have 15 bits.
pub const MAX_CREDITS: u64 = (1 << 15) - 1;

/// The credits of one link, indexed by the sending port.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    /// CC: total cost of all packets sent.
    consumed: u64,
    /// CF at the far end: total cost of all packets that left its memory or were corrupted.
    freed: u64,
    /// CF as the sender knows it.
    known: u64,
    /// Cost of packets lost on the wire whose credit was not returned yet.
    lost: u64,
    /// Whether the far end is a switch.
    needs_credit: bool,
}

/// The credits of every link, for a driver.
#[derive(Debug)]
pub struct LinkCredits<'a>(pub(super) &'a mut Cbfc);

impl LinkCredits<'_> {
    /// Returns true if packets without priority need credit at this port.
    pub fn needs_credit(&self, port: PortId) -> bool {
        self.0.links[port.index()].needs_credit
    }

    /// Charges a packet without priority that starts at a port that needs credit.
    pub fn consume(&mut self, port: PortId, bytes: u16) -> Credit {
        self.0.links[port.index()].consumed += self.0.config.cost(bytes);
        self.0.state(port)
    }

    /// Returns the credits freed so far by the far end of `port`: the value of its updates.
    pub fn freed(&self, port: PortId) -> u64 {
        self.0.links[port.index()].freed
    }

    /// Handles an update of the freed credits that arrives at `port`.
    pub fn update(&mut self, port: PortId, freed: u64) -> Credit {
        let link = &mut self.0.links[port.index()];
        // The maximum ignores updates that arrive out of order.
        link.known = link.known.max(freed);
        self.0.state(port)
    }

    /// Records that a packet sent by `port` is lost on the wire. Returns the delay until the
    /// sender's count of consumed credit restores its credit ([`Self::correct`]).
    pub fn lose(&mut self, port: PortId, bytes: u16) -> Span {
        self.0.links[port.index()].lost += self.0.config.cost(bytes);
        self.0.config.correction
    }

    /// Returns the credit of packets lost on the wire of `port`.
    pub fn correct(&mut self, port: PortId) -> Credit {
        let link = &mut self.0.links[port.index()];
        // The sender counted the lost packets as consumed, so the far end counts them as freed.
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
    /// Cost of the longest packet.
    longest: u64,
    links: Vec<Link>,
}

/// Whether a port may start another packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credit {
    /// The port has credit for the longest packet.
    Left,
    /// The port must wait for an update.
    Exhausted,
}

impl CbfcConfig {
    /// Returns the cost of a packet in credits.
    pub fn cost(&self, bytes: u16) -> u64 {
        let with_overhead = u64::from(bytes).saturating_add_signed(self.overhead.into());
        with_overhead.div_ceil(u64::from(self.credit))
    }

    /// Returns the number of credits that one link may have in use.
    pub fn limit(&self) -> u64 {
        self.memory.get() / u64::from(self.credit)
    }
}

impl Cbfc {
    pub(super) fn new(config: CbfcConfig, topology: &Topology) -> Self {
        let ports = (0..2 * topology.links().len()).map(|id| PortId(id as u32));
        let link = |port| {
            // Hosts consume packets immediately and need no credit.
            let needs_credit = matches!(topology.ends_of(port).1, Node::Switch(_));
            Link { needs_credit, ..Link::default() }
        };
        let (limit, longest) = (config.limit(), config.cost(config.packet));
        Self { config, limit, longest, links: ports.map(link).collect() }
    }

    fn state(&self, port: PortId) -> Credit {
        let Link { consumed, known, .. } = self.links[port.index()];
        // Room for the longest packet: the next one to be sent is not known yet.
        if consumed - known + self.longest <= self.limit { Credit::Left } else { Credit::Exhausted }
    }

    /// Frees the credit of a packet from `port` that left the memory of the far end.
    pub(super) fn free(&mut self, port: PortId, bytes: u64) {
        let bytes = u16::try_from(bytes).expect("packets are shorter than 64 KiB");
        self.links[port.index()].freed += self.config.cost(bytes);
    }
}

#[cfg(test)]
impl LinkCredits<'_> {
    /// Returns the credits in use (CC - CF) over all links, as known to the senders.
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
        // 12 credits, 4 per packet.
        assert_eq!(credits.consume(up, 1_000), Credit::Left);
        assert_eq!(credits.consume(up, 1_000), Credit::Left);
        assert_eq!(credits.consume(up, 1_000), Credit::Exhausted);
        credits.0.free(up, 1_000);
        assert_eq!((credits.freed(up), credits.update(up, 4)), (4, Credit::Left));
        assert_eq!(credits.consume(up, 200), Credit::Exhausted);
        // A late update changes nothing.
        assert_eq!(credits.update(up, 3), Credit::Exhausted);
        // The third packet is lost on the wire; its credit returns with the next count.
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
