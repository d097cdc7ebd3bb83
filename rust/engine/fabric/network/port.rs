//! An output port and the wire behind it.
//!
//! A port decides lazily. A packet that cannot start at once waits in a queue. Which packet starts
//! next is settled by the first access to the port at or after the time of the start: a new packet,
//! an arrival at the far end, a read of the queue. All packets that could have started at that time
//! are in the queue by then, so the result is the same as with an event at the start, and a packet
//! costs only one event per hop: its arrival.
//!
//! A port has two cache lines: what every packet touches, and its queues with the rest. What a
//! queue holds of a packet is enough to start it; the packet itself is not touched while it waits.

mod classes;
mod flags;
mod queued;
mod ring;

pub(super) use classes::ClassQueues;
pub(super) use flags::Special;
pub(super) use queued::Queued;

use ring::Ring;

use super::pool::SlotId;
use crate::ids::{HostId, SwitchId};
use crate::packet::Flags;
use crate::prefetch::prefetch;
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
    /// The time from last bit out to last bit in, including the forwarding delay of a switch at the
    /// end.
    delay: Span,
    /// Bytes of packets that have started on the wire, gaps not included.
    pub(super) carried: u64,
    /// Queued bytes of packets with priority, and of the others.
    waiting_bytes: [u32; 2],
    /// The node at which packets start.
    pub(super) start: End,
    /// The node where they arrive: a switch or a host.
    pub(super) end: End,
    /// Picoseconds a byte, where that is a whole number; else 0.
    ps_per_byte: u32,
    gap_bytes: u32,
    /// The number of packets on the wire.
    on_wire: u32,
    /// The maximum of queued bytes.
    pub(super) waiting_max: u32,
    /// Length of the packet that started last.
    last_bytes: u16,
    /// What sets it apart from nearly all others, decided before the run.
    pub(super) special: Special,
    /// The queues that are not empty: bit 0 for packets with priority, bit 1 for the others; bit 2
    /// if every packet is queued.
    queued: u8,
    /// True while the event of a free wire is pending.
    pub(super) armed: bool,
    /// The queues that may start: without that of data while the far end pauses it (PFC), or while
    /// it has no credit (CBFC).
    open: u8,
    /// True while a start event is pending (with PFC).
    pub(super) start_armed: bool,
    // The second cache line begins here (`prefetch`).
    /// Queued packets: those with priority, and the others.
    waiting: [Ring; 2],
    rate: BitRate,
    /// Index of this rate among those that the port has had.
    rate_index: u32,
    rounding: Rounding,
}

// Every event touches the first cache line; only queues touch the second.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::offset_of!(Port, waiting) == 64 && size_of::<Port>() == 128);

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
        Self {
            free: Time::ZERO,
            delay: parts.delay,
            carried: 0,
            waiting_bytes: [0; 2],
            start: parts.start.into(),
            end: parts.end.into(),
            ps_per_byte: whole_ps_per_byte(parts.rate, parts.rounding),
            gap_bytes: u32::try_from(parts.gap.get()).expect("a gap is short"),
            on_wire: 0,
            waiting_max: 0,
            last_bytes: 0,
            queued: 0,
            armed: false,
            special: Special::default(),
            open: PRIORITY | DATA,
            start_armed: false,
            rounding: parts.rounding,
            waiting: [Ring::default(), Ring::default()],
            rate: parts.rate,
            rate_index: 0,
        }
    }

    /// Sets the rate of packets that start from now on: `rate`, the port's rate of that index.
    pub(super) fn set_rate(&mut self, rate: BitRate, index: u32) {
        self.rate = rate;
        self.rate_index = index;
        self.ps_per_byte = whole_ps_per_byte(rate, self.rounding);
    }

    /// The transmission time of `bytes`.
    #[inline(always)]
    pub(super) fn time_for(&self, bytes: u32) -> Span {
        // The usual rates spare a division of 128 bits for each packet and hop.
        if self.ps_per_byte != 0 {
            return Span::from_ps(u64::from(bytes) * u64::from(self.ps_per_byte));
        }
        self.time_at(self.rate, bytes)
    }

    #[inline(never)]
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

    /// Prefetches its first two cache lines.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(self);
        prefetch(&self.waiting);
    }

    /// The same for the queued packet that starts next.
    #[inline]
    pub(super) fn prefetch_first(&self) {
        self.waiting[usize::from(self.queued & PRIORITY == 0)].prefetch_first();
    }

    /// The same for that packet and for the place that one with these flags takes.
    #[inline]
    pub(super) fn prefetch_ends(&self, flags: Flags) {
        self.prefetch_first();
        self.waiting[class(flags)].prefetch_behind();
    }

    /// The time from the start of a packet's first bit to its arrival.
    pub(super) fn flight(&self, bytes: u32) -> Span {
        self.time_for(bytes) + self.delay
    }

    pub(super) fn rate(&self) -> BitRate {
        self.rate
    }

    /// Queued bytes of packets without priority, without the packet on the wire.
    #[inline(always)]
    pub(super) fn data_waiting(&self) -> u32 {
        self.waiting_bytes[1]
    }

    /// Queued bytes of all packets.
    #[inline(always)]
    pub(super) fn all_waiting(&self) -> u32 {
        self.waiting_bytes[0] + self.waiting_bytes[1]
    }

    /// Queued bytes and the packet on the wire at `now`; the port must have been settled at `now`.
    #[inline(always)]
    pub(super) fn load(&self, now: Time) -> u32 {
        // Packets are on the wire in the order of their starts: the last one keeps it busy.
        let is_busy = self.free > now && self.on_wire > 0;
        self.all_waiting() + if is_busy { u32::from(self.last_bytes) } else { 0 }
    }

    /// Queued bytes of the queue that a packet with `flags` joins.
    #[inline]
    pub(super) fn bytes_waiting(&self, flags: Flags) -> u32 {
        self.waiting_bytes[class(flags)]
    }

    /// Queued bytes of each queue.
    #[inline(always)]
    pub(super) fn waiting(&self) -> Waiting {
        let [priority, data] = self.waiting_bytes;
        Waiting { priority, data }
    }

    /// True if a queued packet starts at or before `now`.
    #[inline(always)]
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.free <= now && self.has_waiting()
    }

    /// True if a queued packet starts by `now`, or if one waits for the wire and no arrival is left
    /// to look after it.
    #[inline(always)]
    pub(super) fn needs_settling(&self, now: Time) -> bool {
        self.queued != 0 && (self.free <= now || self.on_wire == 0)
    }

    /// True if a packet is on the wire, whose arrival is an event of this port.
    #[inline(always)]
    pub(super) fn has_on_wire(&self) -> bool {
        self.on_wire > 0
    }

    /// The index of the current rate among those that the port has had.
    pub(super) fn rate_index(&self) -> u32 {
        self.rate_index
    }

    /// True if a queued packet may start once the wire is free.
    #[inline(always)]
    pub(super) fn has_waiting(&self) -> bool {
        self.queued & self.open != 0
    }

    /// True while the far end pauses packets without priority (PFC).
    #[inline(always)]
    pub(super) fn is_paused(&self) -> bool {
        self.open & DATA == 0
    }

    /// The far end pauses packets without priority, or resumes them.
    pub(super) fn pause(&mut self, is_paused: bool) {
        self.open = if is_paused { PRIORITY } else { PRIORITY | DATA };
    }

    /// True if a packet with these flags starts at once: no packet precedes it, and the port is not
    /// paused.
    #[inline(always)]
    pub(super) fn is_clear(&self, now: Time, flags: Flags) -> bool {
        self.free <= now
            && self.queued & (self.open | COUNTED) == 0
            && self.open & 1 << class(flags) != 0
    }

    /// From now on no packet passes by [`Self::is_clear`]: each is queued and counted, even if it
    /// starts at once, or goes by the order of its class.
    pub(super) fn count_all(&mut self) {
        self.queued |= COUNTED;
    }

    /// Puts a packet on the wire at `start`; returns when it arrives.
    #[inline(always)]
    pub(super) fn transmit(&mut self, bytes: u16, start: Time) -> Time {
        let length = u32::from(bytes);
        let (time, gap) = match self.ps_per_byte {
            // The gap is rounded as a packet of that length would be.
            0 => (self.time_at(self.rate, length), self.time_at(self.rate, self.gap_bytes)),
            ps => {
                let time_for = |bytes| Span::from_ps(u64::from(bytes) * u64::from(ps));
                (time_for(length), time_for(self.gap_bytes))
            }
        };
        // The gap keeps the wire busy, but the packet arrives without it.
        let sent = start + time;
        self.free = sent + gap;
        self.carried += u64::from(length);
        self.last_bytes = bytes;
        self.on_wire += 1;
        sent + self.delay
    }

    /// A packet is on the wire that started in another partition of a parallel run.
    pub(super) fn handle_handoff(&mut self) {
        self.on_wire += 1;
    }

    /// A packet has left the wire at its end.
    #[inline(always)]
    pub(super) fn handle_arrival(&mut self) {
        self.on_wire -= 1;
    }

    /// Appends a packet to its queue.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, queued: Queued) {
        let class = class(queued.flags());
        self.waiting[class].push_back(queued);
        self.queued |= 1 << class;
        self.waiting_bytes[class] += u32::from(queued.bytes());
        self.waiting_max = self.waiting_max.max(self.all_waiting());
    }

    /// Inserts a PFC frame before all queued packets but the first `frames`, which are frames too.
    pub(super) fn enqueue_frame(&mut self, frame: Queued, frames: usize) {
        self.waiting_bytes[0] += u32::from(frame.bytes());
        self.queued |= PRIORITY;
        let queue = &mut self.waiting[0];
        let before: Vec<Queued> = (0..frames).map_while(|_| queue.pop_front()).collect();
        queue.push_front(frame);
        before.into_iter().rev().for_each(|earlier| queue.push_front(earlier));
    }

    /// Queued packets without priority, the next one first.
    pub(super) fn data_slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.waiting[1].iter().map(|queued| queued.slot())
    }

    /// Queued packets with priority, the next one first.
    pub(super) fn slots_with_priority(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.waiting[0].iter().map(Queued::slot)
    }

    /// The packet that is dequeued next.
    #[inline(always)]
    pub(super) fn first_waiting(&self) -> Option<Queued> {
        self.waiting[usize::from(self.queued & PRIORITY == 0)].first()
    }

    /// Dequeues the next packet.
    #[inline(always)]
    pub(super) fn dequeue(&mut self) -> Option<Queued> {
        // Strict priority: class 1 goes only while class 0 is empty, and a pause holds class 1
        // alone.
        if !self.has_waiting() {
            return None;
        }
        let class = usize::from(self.queued & PRIORITY == 0);
        let first = self.waiting[class].pop_front()?;
        self.queued ^= u8::from(self.waiting[class].is_empty()) << class;
        self.waiting_bytes[class] -= u32::from(first.bytes());
        Some(first)
    }

    /// The number of packets whose bytes [`Self::load`] counts.
    pub(super) fn packets_loaded(&self, now: Time) -> usize {
        let waiting: usize = self.waiting.iter().map(Ring::len).sum();
        waiting + usize::from(self.free > now && self.on_wire > 0)
    }
}

/// The bits of the queues that are not empty.
const PRIORITY: u8 = 1;
const DATA: u8 = 2;
/// Beside them: every packet is queued.
const COUNTED: u8 = 4;

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
mod tests;
