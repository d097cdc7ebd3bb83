//! Packet records at traced nodes, in order of time.
//!
//! Ports are settled lazily, so events are recorded out of order, but late by a packet's flight
//! time at most. The buffer holds back recent records and returns the others sorted by time. At the
//! same time, arrivals come first, then records are ordered by port, and at a port by occurrence.
//! Two worlds with the same events therefore return the same records in the same order.

use crate::ids::PortId;
use crate::packet::Packet;
use crate::switching::FabricConfig;
use crate::topology::Topology;
use crate::units::{Bytes, Span, Time};

/// An event of a packet at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketEvent {
    /// The last bit has arrived here.
    Received,
    /// The packet joins the queue of this port, and may leave it immediately.
    Enqueued,
    /// The packet leaves the queue: its first bit starts on the wire.
    Dequeued,
    /// The packet is lost: the buffer of this port is full, or it is lost on the wire to it.
    Dropped,
}

/// A recorded event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketRecord {
    /// Time of the event. Records are returned in this order.
    pub at: Time,
    /// Output port at the node, even for a packet that arrives over its link.
    pub port: PortId,
    /// Kind of the event.
    pub event: PacketEvent,
    /// Bytes in the queue that the packet joined or left, without the packet. For a received
    /// packet, those in the queue with priority. 0 at hosts, which have no queues here.
    pub waiting: u32,
    /// The packet at that time, including marks and trimming.
    pub packet: Packet,
}

/// Records that have not been returned.
#[derive(Debug)]
pub struct TraceBuffer {
    records: Vec<PacketRecord>,
    /// Maximum time between an event and its record.
    lag: Span,
    /// Number of records from which they are sorted.
    min_records: usize,
}

/// The minimum number of records to sort.
const MIN_RECORDS: usize = 1 << 15;

/// Length of the longest packet. Lengths have 16 bits.
const LONGEST_PACKET: Bytes = Bytes::new(1 << 16);

impl TraceBuffer {
    /// Creates an empty buffer for a fabric.
    pub fn new(topology: &Topology, config: &FabricConfig) -> Self {
        let flight = |link: &crate::topology::Link| {
            link.rate.time_for(LONGEST_PACKET + config.gap) + link.delay + config.forwarding_delay
        };
        let longest = topology.links().iter().map(flight).max().unwrap_or(Span::ZERO);
        Self { records: Vec::new(), lag: longest + longest, min_records: MIN_RECORDS }
    }

    /// Adds a record.
    pub fn record(&mut self, record: PacketRecord) {
        self.records.push(record);
    }

    /// True if there are enough records to sort.
    pub fn has_enough(&self) -> bool {
        self.records.len() >= self.min_records
    }

    /// Takes the records that no future record can precede, in order; every record at
    /// `Time::NEVER`.
    pub fn take(&mut self, now: Time) -> Vec<PacketRecord> {
        let arrival = |record: &PacketRecord| record.event == PacketEvent::Received;
        // A stable sort: records of one port and time stay in the order in which they were made,
        // such as the two of a packet that passes through. An arrival precedes its effects.
        self.records.sort_by_key(|record| (record.at, !arrival(record), record.port));
        let settled = match now {
            Time::NEVER => self.records.len(),
            _ => {
                // Late settling records starts of the past, but at most `lag` ago.
                let before = now.as_ps().saturating_sub(self.lag.as_ps());
                self.records.partition_point(|record| record.at.as_ps() < before)
            }
        };
        let recent = self.records.split_off(settled);
        // Otherwise the same recent records would be sorted over and over.
        self.min_records = MIN_RECORDS.max(2 * recent.len());
        std::mem::replace(&mut self.records, recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, SwitchId};
    use crate::switching::Buffer;
    use crate::topology::{Link, Node, Switch};
    use crate::units::BitRate;

    fn buffer() -> TraceBuffer {
        with(Bytes::ZERO, Span::ZERO)
    }

    fn with(gap: Bytes, forwarding_delay: Span) -> TraceBuffer {
        let link = |host| Link {
            ends: [Node::Host(HostId(host)), Node::Switch(SwitchId(0))],
            rate: BitRate::from_gbps(100),
            delay: Span::from_us(1),
        };
        let switch = Switch { name: "s".to_owned(), tier: 0 };
        let hosts = vec!["a".to_owned(), "b".to_owned()];
        let topology = Topology::new(hosts, vec![switch], vec![link(0), link(1)]).unwrap();
        let config = FabricConfig {
            gap,
            forwarding_delay,
            ..FabricConfig::plain(Buffer::Shared(Bytes::new(1)))
        };
        TraceBuffer::new(&topology, &config)
    }

    /// The longest packet with its gap, the wire, and the switch at its end, twice: a port may be
    /// settled as late as the previous packet's arrival.
    #[test]
    fn records_are_at_most_two_flights_late() {
        let buffer = with(Bytes::new(20), Span::from_ns(300));
        let flight = (65_536 + 20) * 80 + 1_000_000 + 300_000;
        assert_eq!(buffer.lag, Span::from_ps(2 * flight));
    }

    #[test]
    fn settled_records_are_taken_in_order() {
        use PacketEvent::{Dequeued, Enqueued, Received};
        let mut buffer = buffer();
        // 65,536 bytes at 100 Gbps and 1 us, twice.
        assert_eq!(buffer.lag, Span::from_ps(2 * (65_536 * 80 + 1_000_000)));
        let add = |buffer: &mut TraceBuffer, us: u64, port, event| {
            let at = Time::ZERO + Span::from_us(us);
            buffer.record(PacketRecord {
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
            add(&mut buffer, us, port, event);
        }
        let summary = |records: Vec<PacketRecord>| -> Vec<_> {
            let summary = |it: &PacketRecord| (it.at.as_ps() / 1_000_000, it.port.0, it.event);
            records.iter().map(summary).collect()
        };
        let first = summary(buffer.take(Time::ZERO + Span::from_us(30)));
        assert_eq!(first, [(1, 3, Dequeued), (2, 3, Received), (2, 1, Enqueued), (2, 1, Dequeued)]);
        let lag = buffer.lag;
        let left = buffer.take(Time::ZERO + Span::from_us(20) + lag);
        assert!(left.is_empty(), "another record of that time may follow: {left:?}");
        add(&mut buffer, 19, 1, Enqueued);
        assert_eq!(summary(buffer.take(Time::NEVER)), [(19, 1, Enqueued), (20, 0, Dequeued)]);
    }
}
