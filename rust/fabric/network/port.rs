//! An output port and the wire behind it.
//!
//! A port decides lazily. A packet that cannot start at once waits in a list. Which packet starts
//! next is settled by the first access to the port at or after the time of the start: a new packet,
//! an arrival at the far end, a read of the queue. All packets that could have started at that time
//! are in the list by then, so the result is the same as with an event at the start, and a packet
//! costs only one event per hop: its arrival.

use super::pool::{Aside, List, Pool, SlotId};
use super::prefetch::Lines;
use crate::ids::{HostId, SwitchId};
use crate::packet::{Flags, Packet};
use crate::switching::{Rounding, Waiting};
use crate::topology::Node;
use crate::units::{BitRate, Bytes, Span, Time};

/// The end of a wire, in four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End(u32);

const HOST: u32 = 1 << 31;

impl End {
    pub(super) fn node(self) -> Node {
        if self.0 & HOST == 0 {
            Node::Switch(SwitchId(self.0))
        } else {
            Node::Host(HostId(self.0 & !HOST))
        }
    }
}

impl From<Node> for End {
    fn from(node: Node) -> Self {
        match node {
            Node::Switch(switch) => Self(switch.0),
            Node::Host(host) => Self(host.0 | HOST),
        }
    }
}

/// An output port. The fields that every event needs are in the first cache line, in this order.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port {
    /// The time from which on the wire is free.
    pub(super) free: Time,
    /// Packets on the wire, in order of arrival.
    pub(super) wire: List,
    /// Queued packets: those with priority, and the others.
    waiting: [List; 2],
    /// Queued bytes of both.
    waiting_bytes: [u32; 2],
    /// The node at which packets start.
    pub(super) start: End,
    /// The node where they arrive: a switch or a host.
    pub(super) end: End,
    /// Picoseconds a byte, where that is a whole number; else 0.
    ps_per_byte: u32,
    /// True while an event of this port is pending.
    pub(super) armed: bool,
    /// True if the link ever fails.
    pub(super) faulty: bool,
    /// True while the far end pauses packets without priority (PFC).
    pub(super) paused: bool,
    /// The ends of its link at which packets are traced.
    pub(super) traced: Traced,
    /// The time from last bit out to last bit in, including the forwarding delay of a switch at the
    /// end.
    delay: Span,
    // The second cache line begins here (`second_line`).
    rounding: Rounding,
    /// Bytes of packets that have started on the wire, gaps not included.
    pub(super) carried: u64,
    /// Extra time the wire is busy after each packet.
    gap: Span,
    gap_bytes: u32,
    rate: BitRate,
    /// Index of this rate among those that the port has had.
    rate_index: u32,
    /// The maximum of queued bytes.
    pub(super) waiting_max: u32,
    /// True while a start event is pending (with PFC).
    pub(super) start_armed: bool,
}

/// The ends of a port's link at which packets are traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Traced(u8);

impl Traced {
    pub(super) const START: Self = Self(1);
    pub(super) const END: Self = Self(2);

    #[inline]
    pub(super) const fn at(self, end: Self) -> bool {
        self.0 & end.0 != 0
    }

    pub(super) const fn also_at(self, end: Self) -> Self {
        Self(self.0 | end.0)
    }
}

impl Lines for Port {
    fn second_line(&self) -> &u64 {
        &self.carried
    }
}

/// The parameters of a port.
pub(super) struct PortParts {
    pub(super) start: Node,
    pub(super) end: Node,
    pub(super) rate: BitRate,
    pub(super) delay: Span,
    pub(super) gap: Bytes,
    pub(super) rounding: Rounding,
}

const PS_BITS: u64 = 8_000_000_000_000;

impl Port {
    pub(super) fn new(parts: &PortParts) -> Self {
        let mut port = Self {
            free: Time::ZERO,
            wire: List::default(),
            waiting: [List::default(); 2],
            waiting_bytes: [0; 2],
            ps_per_byte: whole_ps_per_byte(parts.rate, parts.rounding),
            end: parts.end.into(),
            start: parts.start.into(),
            armed: false,
            faulty: false,
            paused: false,
            traced: Traced::default(),
            rounding: parts.rounding,
            delay: parts.delay,
            gap: Span::ZERO,
            gap_bytes: u32::try_from(parts.gap.get()).expect("a gap is short"),
            rate: parts.rate,
            rate_index: 0,
            carried: 0,
            waiting_max: 0,
            start_armed: false,
        };
        // Computed once and not for each packet; it is rounded as a packet of that length would be.
        port.gap = port.time_for(port.gap_bytes);
        port
    }

    /// Sets the rate of packets that start from now on: `rate`, the port's rate of that index.
    pub(super) fn set_rate(&mut self, rate: BitRate, index: u32) {
        self.rate = rate;
        self.rate_index = index;
        self.ps_per_byte = whole_ps_per_byte(rate, self.rounding);
        self.gap = self.time_for(self.gap_bytes);
    }

    /// The transmission time of `bytes`.
    #[inline]
    pub(super) fn time_for(&self, bytes: u32) -> Span {
        // The usual rates spare a division of 128 bits for each packet and hop.
        if self.ps_per_byte != 0 {
            return Span::from_ps(u64::from(bytes) * u64::from(self.ps_per_byte));
        }
        self.time_at(self.rate, bytes)
    }

    fn time_at(&self, rate: BitRate, bytes: u32) -> Span {
        match self.rounding {
            Rounding::Exact => rate.time_for(Bytes::new(u64::from(bytes))),
            Rounding::TruncateNs => {
                let ps = u64::from(bytes) * PS_BITS / rate.as_bps();
                Span::from_ns(ps / 1_000)
            }
        }
    }

    /// The time from the start of a packet's first bit to its arrival, at `rate`.
    pub(super) fn flight_at(&self, rate: BitRate, bytes: u32) -> Span {
        self.time_at(rate, bytes) + self.delay
    }

    /// The time from the start of a packet's first bit to its arrival.
    pub(super) fn flight(&self, bytes: u32) -> Span {
        self.time_for(bytes) + self.delay
    }

    pub(super) fn rate(&self) -> BitRate {
        self.rate
    }

    /// Queued bytes of packets without priority, without the packet on the wire.
    #[inline]
    pub(super) fn data_waiting(&self) -> u32 {
        self.waiting_bytes[1]
    }

    /// Queued bytes of all packets.
    #[inline]
    pub(super) fn all_waiting(&self) -> u32 {
        self.waiting_bytes[0] + self.waiting_bytes[1]
    }

    /// Queued bytes and the packet on the wire at `now`; the port must have been settled at `now`.
    #[inline]
    pub(super) fn load(&self, now: Time, pool: &Pool) -> u32 {
        // Packets are on the wire in the order of their starts: the last one keeps it busy.
        let on_wire = if self.free > now { self.wire.last() } else { None };
        let bytes = on_wire.map_or(0, |id| pool.get(id).packet.wire_bytes);
        self.all_waiting() + u32::from(bytes)
    }

    /// Queued bytes of the queue that a packet with `flags` joins.
    #[inline]
    pub(super) fn bytes_waiting(&self, flags: Flags) -> u32 {
        self.waiting_bytes[class(flags)]
    }

    /// Queued bytes of each queue.
    #[inline]
    pub(super) fn waiting(&self) -> Waiting {
        let [priority, data] = self.waiting_bytes;
        Waiting { priority, data }
    }

    /// The next packets: on the wire, and in both queues.
    #[inline]
    pub(super) fn heads(&self) -> [Option<SlotId>; 3] {
        [self.wire.first(), self.waiting[0].first(), self.waiting[1].first()]
    }

    /// True if a queued packet may start once the wire is free.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        !(self.waiting[0].is_empty() && (self.waiting[1].is_empty() || self.paused))
    }

    /// True if a packet with these flags starts at once: no packet precedes it, and the port is not
    /// paused.
    #[inline]
    pub(super) fn is_clear(&self, now: Time, flags: Flags) -> bool {
        self.free <= now && !self.has_waiting() && !(self.paused && class(flags) == 1)
    }

    /// Puts a packet on the wire at `start`.
    #[inline]
    pub(super) fn transmit(&mut self, pool: &mut Pool, id: SlotId, start: Time) {
        let slot = pool.get_mut(id);
        let bytes = u32::from(slot.packet.wire_bytes);
        let sent = start + self.time_for(bytes);
        slot.arrives = sent + self.delay;
        if self.faulty {
            // The ingress was counted off before the start, so that its place is free for the rate.
            slot.aside = Aside::from_rate_index(self.rate_index);
        }
        // The gap keeps the wire busy, but the packet arrives without it.
        self.free = sent + self.gap;
        self.carried += u64::from(bytes);
        pool.push_back(&mut self.wire, id);
    }

    /// Appends a packet to its queue.
    #[inline]
    pub(super) fn enqueue(&mut self, pool: &mut Pool, id: SlotId) {
        let packet = &pool.get(id).packet;
        let (class, bytes) = (class(packet.flags), u32::from(packet.wire_bytes));
        pool.push_back(&mut self.waiting[class], id);
        self.waiting_bytes[class] += bytes;
        self.waiting_max = self.waiting_max.max(self.all_waiting());
    }

    /// Inserts a PFC frame before all queued packets.
    pub(super) fn enqueue_first(&mut self, pool: &mut Pool, id: SlotId) {
        self.waiting_bytes[0] += u32::from(pool.get(id).packet.wire_bytes);
        pool.push_front(&mut self.waiting[0], id);
    }

    /// The first queued packet with priority, if any.
    pub(super) fn first_with_priority(&self) -> Option<SlotId> {
        self.waiting[0].first()
    }

    /// Dequeues the next packet.
    #[inline]
    pub(super) fn dequeue(&mut self, pool: &Pool) -> Option<SlotId> {
        // Strict priority: class 1 goes only while class 0 is empty, and a pause holds class 1
        // alone.
        let class = usize::from(self.waiting[0].is_empty());
        if class == 1 && self.paused {
            return None;
        }
        let id = pool.pop_front(&mut self.waiting[class])?;
        self.waiting_bytes[class] -= u32::from(pool.get(id).packet.wire_bytes);
        Some(id)
    }

    /// The number of packets whose bytes [`Self::load`] counts.
    pub(super) fn packets_loaded(&self, now: Time, pool: &Pool) -> usize {
        let waiting: usize = self.waiting.iter().map(|&list| pool.iter(list).count()).sum();
        waiting + usize::from(self.free > now && !self.wire.is_empty())
    }

    /// Every packet in a queue or on the wire.
    pub(super) fn packets<'a>(&self, pool: &'a Pool) -> impl Iterator<Item = &'a Packet> {
        let [first, second] = self.waiting;
        [self.wire, first, second]
            .into_iter()
            .flat_map(|list| pool.iter(list))
            .map(|slot| &slot.packet)
    }
}

/// Picoseconds a byte, where that is a whole number; else 0.
fn whole_ps_per_byte(rate: BitRate, rounding: Rounding) -> u32 {
    let bps = rate.as_bps();
    let whole = PS_BITS.is_multiple_of(bps) && rounding == Rounding::Exact;
    if whole { u32::try_from(PS_BITS / bps).unwrap_or(0) } else { 0 }
}

/// The queue that a packet joins: 0 with priority, 1 without.
#[inline]
fn class(flags: Flags) -> usize {
    usize::from(!flags.has(Flags::PRIORITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(gbps: u64, rounding: Rounding) -> Port {
        Port::new(&PortParts {
            start: Node::Host(HostId(0)),
            end: Node::Switch(SwitchId(0)),
            rate: BitRate::from_gbps(gbps),
            delay: Span::from_ns(500),
            gap: Bytes::new(20),
            rounding,
        })
    }

    #[test]
    fn a_packet_is_on_the_wire_for_its_bytes_and_the_wire_busy_for_the_gap_too() {
        let (mut pool, mut port) = (Pool::default(), port(400, Rounding::Exact));
        let id = pool.insert(Packet { wire_bytes: 4_158, ..Packet::default() });
        port.transmit(&mut pool, id, Time::from_ps(7));
        assert_eq!(pool.get(id).arrives, Time::from_ps(7 + 4_158 * 20 + 500_000));
        assert_eq!(port.free, Time::from_ps(7 + 4_178 * 20));
    }

    #[test]
    fn truncation_is_to_the_nanosecond_below() {
        assert_eq!(port(100, Rounding::TruncateNs).time_for(1_048), Span::from_ns(83));
        assert_eq!(port(100, Rounding::Exact).time_for(1_048), Span::from_ps(83_840));
        assert_eq!(port(3, Rounding::Exact).time_for(1), Span::from_ps(2_667));
    }

    #[test]
    fn priority_goes_first() {
        let (mut pool, mut port) = (Pool::default(), port(400, Rounding::Exact));
        for (bytes, flags) in [(100, Flags::NONE), (64, Flags::PRIORITY), (200, Flags::NONE)] {
            let id = pool.insert(Packet { wire_bytes: bytes, flags, ..Packet::default() });
            port.enqueue(&mut pool, id);
        }
        assert_eq!((port.data_waiting(), port.waiting_max), (300, 364));
        let order: Vec<u16> = std::iter::from_fn(|| port.dequeue(&pool))
            .map(|id| pool.get(id).packet.wire_bytes)
            .collect();
        assert_eq!(order, [64, 100, 200]);
        assert!(!port.has_waiting());
    }

    #[test]
    fn a_paused_port_holds_what_has_no_priority() {
        let (mut pool, mut port) = (Pool::default(), port(400, Rounding::Exact));
        let mut packet = |flags| pool.insert(Packet { flags, ..Packet::default() });
        let (data, control) = (packet(Flags::NONE), packet(Flags::PRIORITY));
        port.paused = true;
        port.enqueue(&mut pool, data);
        assert!(!port.has_waiting() && port.dequeue(&pool).is_none());
        assert!(port.is_clear(Time::ZERO, Flags::PRIORITY));
        assert!(!port.is_clear(Time::ZERO, Flags::NONE));
        port.enqueue(&mut pool, control);
        assert_eq!(port.dequeue(&pool), Some(control));
        port.paused = false;
        assert_eq!(port.dequeue(&pool), Some(data));
    }
}
