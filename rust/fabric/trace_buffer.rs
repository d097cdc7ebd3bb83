//! What happened to packets at chosen nodes, in order of time.
//!
//! A port decides late what started when (see [`super::port`]), so that events are noted out of
//! order, though never later than a packet is on its way. The tape keeps what is younger than
//! that, and gives away the rest sorted: by time; of one instant arrivals first, then by port,
//! and what happened at one port in its order. Two worlds that agree on what happens so agree on
//! the order in which it is told.

use crate::ids::PortId;
use crate::packet::Packet;
use crate::topology::Topology;
use crate::units::{Bytes, Span, Time};

use super::FabricConfig;

/// What can happen to a packet at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketEvent {
    /// Its last bit has arrived here.
    Received,
    /// It joins the queue of this port, if only to leave it at once.
    Enqueued,
    /// It leaves the queue: its first bit starts on the wire.
    Dequeued,
    /// It is lost: there is no room for it at this port, or it did not survive the wire to it.
    Dropped,
}

/// Something that happened to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketRecord {
    /// When.
    pub at: Time,
    /// Where: the output port at the node in question, also for what arrives over its link.
    pub port: PortId,
    /// What.
    pub event: PacketEvent,
    /// Bytes that wait in the queue that it joins or left, without it; of what is received, those
    /// that wait with priority. Hosts have no queues: 0.
    pub waiting: u32,
    /// The packet.
    pub packet: Packet,
}

/// Records that are on their way to who wants them.
#[derive(Debug)]
pub(crate) struct Tape {
    records: Vec<PacketRecord>,
    /// How long after an event it can be noted.
    lag: Span,
    /// From how many records on it is worth giving some away.
    many: usize,
}

/// As many records as are sorted at a time, at least.
const MANY: usize = 1 << 15;

/// No packet is longer: its length has 16 bits.
const LONGEST: Bytes = Bytes::new(1 << 16);

impl Tape {
    pub fn new(topology: &Topology, config: &FabricConfig) -> Self {
        let flight = |link: &crate::topology::Link| {
            link.rate.time_for(LONGEST + config.gap) + link.delay + config.forwarding_delay
        };
        let longest = topology.links().iter().map(flight).max().unwrap_or(Span::ZERO);
        Self { records: Vec::new(), lag: longest + longest, many: MANY }
    }

    pub fn note(&mut self, record: PacketRecord) {
        self.records.push(record);
    }

    pub fn has_many(&self) -> bool {
        self.records.len() >= self.many
    }

    /// Gives away what nothing can come before any more, in order; everything at `Time::NEVER`.
    pub fn take(&mut self, now: Time) -> Vec<PacketRecord> {
        let arrival = |record: &PacketRecord| record.event == PacketEvent::Received;
        self.records.sort_by_key(|record| (record.at, !arrival(record), record.port));
        let settled = match now {
            Time::NEVER => self.records.len(),
            _ => {
                let before = now.as_ps().saturating_sub(self.lag.as_ps());
                self.records.partition_point(|record| record.at.as_ps() < before)
            }
        };
        let young = self.records.split_off(settled);
        // Sorting the same young ones again and again would cost more than they are worth.
        self.many = MANY.max(2 * young.len());
        std::mem::replace(&mut self.records, young)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Buffer, Ecn, EcnPoint, Rounding, SwitchConfig};
    use super::*;
    use crate::ids::{HostId, SwitchId};
    use crate::topology::{Link, Node, Switch};
    use crate::units::BitRate;

    fn tape() -> Tape {
        let link = |host| Link {
            ends: [Node::Host(HostId(host)), Node::Switch(SwitchId(0))],
            rate: BitRate::from_gbps(100),
            delay: Span::from_us(1),
        };
        let switch = Switch { name: "s".to_owned(), tier: 0 };
        let hosts = vec!["a".to_owned(), "b".to_owned()];
        let topology = Topology::new(hosts, vec![switch], vec![link(0), link(1)]).unwrap();
        let config = FabricConfig {
            switch: SwitchConfig {
                buffer: Buffer::Shared(Bytes::new(1)),
                ecn: Ecn::Off,
                ecn_point: EcnPoint::Enqueue,
                pfc: None,
                trim: None,
            },
            ecn_by_rate: Vec::new(),
            gap: Bytes::ZERO,
            forwarding_delay: Span::ZERO,
            rounding: Rounding::Exact,
            failures: Vec::new(),
        };
        Tape::new(&topology, &config)
    }

    #[test]
    fn what_is_old_enough_is_told_in_order() {
        use PacketEvent::{Dequeued, Enqueued, Received};
        let mut tape = tape();
        // 65,536 bytes at 100 Gbps and 1 us, twice.
        assert_eq!(tape.lag, Span::from_ps(2 * (65_536 * 80 + 1_000_000)));
        let note = |tape: &mut Tape, us: u64, port, event| {
            let at = Time::ZERO + Span::from_us(us);
            tape.note(PacketRecord {
                at,
                port: PortId(port),
                event,
                waiting: 0,
                packet: Packet::default(),
            });
        };
        for (us, port, event) in [
            (2, 1, Enqueued),
            (2, 1, Dequeued),
            (1, 3, Dequeued),
            (2, 3, Received),
            (20, 0, Dequeued),
        ] {
            note(&mut tape, us, port, event);
        }
        let said = |records: Vec<PacketRecord>| -> Vec<_> {
            let said = |it: &PacketRecord| (it.at.as_ps() / 1_000_000, it.port.0, it.event);
            records.iter().map(said).collect()
        };
        let first = said(tape.take(Time::ZERO + Span::from_us(30)));
        assert_eq!(first, [(1, 3, Dequeued), (2, 3, Received), (2, 1, Enqueued), (2, 1, Dequeued)]);
        note(&mut tape, 19, 1, Enqueued);
        assert_eq!(said(tape.take(Time::NEVER)), [(19, 1, Enqueued), (20, 0, Dequeued)]);
    }
}
