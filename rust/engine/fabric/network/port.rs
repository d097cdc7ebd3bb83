//! An output port and its wire.
//!
//! A port decides lazily. A packet that cannot start immediately is queued. The next start is
//! settled by the first access to the port at or after its time: a new packet, an arrival at the
//! far end, or a read of the queue. Every packet that could have started at that time is queued by
//! then, so the result is the same as with an event per start. A packet costs only one event per
//! hop: its arrival.
//!
//! A port has two cache lines: the fields that every packet touches, and the queues with the rest.
//! A queue entry is enough to start its packet, so queued packets are not touched.

mod classes;
mod features;
mod queued;
mod ring;

pub(super) use classes::ClassQueues;
pub(super) use features::PortFeatures;
pub(super) use queued::Queued;

use ring::Ring;

use super::pool::SlotId;
use crate::ids::{HostId, SwitchId};
use crate::packet::Flags;
use crate::prefetch::prefetch;
use crate::switching::{Rounding, Waiting};
use crate::topology::Node;
use crate::units::{BitRate, Bytes, Span, Time};

/// A node at the end of a wire, in four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End(u32);

// Flag that marks a host.
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

/// An output port. The first cache line has the fields that every event needs, in this order.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port {
    /// Time from which the wire is free.
    pub(super) free: Time,
    /// Time from last bit out to last bit in, including the forwarding delay of a switch at the
    /// end.
    delay: Span,
    /// Bytes of packets that have started on the wire, without gaps.
    pub(super) carried: u64,
    /// Queued bytes of packets with priority, and of all others.
    waiting_bytes: [u32; 2],
    /// Node at which packets start.
    pub(super) start: End,
    /// Node at which packets arrive.
    pub(super) end: End,
    /// Picoseconds per byte if that is a whole number; otherwise 0.
    ps_per_byte: u32,
    gap_bytes: u32,
    /// Number of packets on the wire.
    on_wire: u32,
    /// Peak of the queued bytes.
    pub(super) waiting_max: u32,
    /// Length of the packet that started last.
    last_bytes: u16,
    /// Features that only some ports have. Set before the run.
    pub(super) features: PortFeatures,
    /// Nonempty queues: bit 0 for packets with priority, bit 1 for all others. Bit 2 is set if
    /// every packet must be queued.
    queued: u8,
    /// True while the event of a free wire is pending.
    pub(super) armed: bool,
    /// Queues that may start. Data is excluded while the far end pauses it (PFC) or while it has no
    /// credit (CBFC).
    open: u8,
    /// True while a start event is pending (with flow control).
    pub(super) start_armed: bool,
    // The second cache line begins here (see `prefetch`).
    /// Queued packets: those with priority, and all others.
    waiting: [Ring; 2],
    rate: BitRate,
    /// Index of this rate among those that the port has had.
    rate_index: u32,
    rounding: Rounding,
}

// Every event touches the first cache line. Only queues touch the second.
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

// Bits times picoseconds per second: divided by bit/s, this gives picoseconds per byte.
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
            features: PortFeatures::default(),
            open: PRIORITY | DATA,
            start_armed: false,
            rounding: parts.rounding,
            waiting: [Ring::default(), Ring::default()],
            rate: parts.rate,
            rate_index: 0,
        }
    }

    /// Sets the rate of packets that start from now on, and its index among the port's rates.
    pub(super) fn set_rate(&mut self, rate: BitRate, index: u32) {
        self.rate = rate;
        self.rate_index = index;
        self.ps_per_byte = whole_ps_per_byte(rate, self.rounding);
    }

    /// Returns the transmission time of `bytes`.
    #[inline(always)]
    pub(super) fn time_for(&self, bytes: u32) -> Span {
        // For common rates this avoids a 128-bit division per packet and hop.
        if self.ps_per_byte != 0 {
            return Span::from_ps(u64::from(bytes) * u64::from(self.ps_per_byte));
        }
        self.time_at(self.rate, bytes)
    }

    // Out of line, which keeps the division out of the callers' fast path.
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

    /// Returns the time from the start of a packet's first bit to its arrival, at `rate`.
    pub(super) fn flight_at(&self, rate: BitRate, bytes: u32) -> Span {
        self.time_at(rate, bytes) + self.delay
    }

    /// Prefetches both cache lines of the port.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(self);
        prefetch(&self.waiting);
    }

    /// Prefetches the queue entry that starts next.
    #[inline]
    pub(super) fn prefetch_first(&self) {
        self.waiting[usize::from(self.queued & PRIORITY == 0)].prefetch_first();
    }

    /// Prefetches the queue head and the slot that the next packet with `flags` will take.
    #[inline]
    pub(super) fn prefetch_ends(&self, flags: Flags) {
        self.prefetch_first();
        self.waiting[class(flags)].prefetch_next_slot();
    }

    /// Returns the time from the start of a packet's first bit to its arrival.
    pub(super) fn flight(&self, bytes: u32) -> Span {
        self.time_for(bytes) + self.delay
    }

    pub(super) fn rate(&self) -> BitRate {
        self.rate
    }

    /// Returns the queued bytes without priority, excluding the packet on the wire.
    #[inline(always)]
    pub(super) fn data_waiting(&self) -> u32 {
        self.waiting_bytes[1]
    }

    /// Returns the queued bytes of all packets.
    #[inline(always)]
    pub(super) fn all_waiting(&self) -> u32 {
        self.waiting_bytes[0] + self.waiting_bytes[1]
    }

    /// Returns queued bytes plus the packet on the wire at `now`. The port must be settled at
    /// `now`.
    #[inline(always)]
    pub(super) fn load(&self, now: Time) -> u32 {
        // Packets start in order, so the last one keeps the wire busy.
        let is_busy = self.free > now && self.on_wire > 0;
        self.all_waiting() + if is_busy { u32::from(self.last_bytes) } else { 0 }
    }

    /// Returns the queued bytes of the queue that a packet with `flags` joins.
    #[inline]
    pub(super) fn bytes_waiting(&self, flags: Flags) -> u32 {
        self.waiting_bytes[class(flags)]
    }

    /// Returns the queued bytes of each queue.
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

    /// True if a queued packet starts by `now`, or if one is queued and no arrival is left to
    /// settle the port.
    #[inline(always)]
    pub(super) fn needs_settling(&self, now: Time) -> bool {
        self.queued != 0 && (self.free <= now || self.on_wire == 0)
    }

    /// True if a packet is on the wire. Its arrival will be an event of this port.
    #[inline(always)]
    pub(super) fn has_on_wire(&self) -> bool {
        self.on_wire > 0
    }

    /// Returns the index of the current rate among those that the port has had.
    pub(super) fn rate_index(&self) -> u32 {
        self.rate_index
    }

    /// True if a queued packet may start once the wire is free.
    #[inline(always)]
    pub(super) fn has_waiting(&self) -> bool {
        self.queued & self.open != 0
    }

    /// True while packets without priority are paused (PFC) or lack credit (CBFC).
    #[inline(always)]
    pub(super) fn is_paused(&self) -> bool {
        self.open & DATA == 0
    }

    /// Pauses packets without priority, or resumes them.
    pub(super) fn pause(&mut self, is_paused: bool) {
        self.open = if is_paused { PRIORITY } else { PRIORITY | DATA };
    }

    /// True if a packet with these flags can start immediately: no packet precedes it, and its
    /// queue is not paused.
    #[inline(always)]
    pub(super) fn is_clear(&self, now: Time, flags: Flags) -> bool {
        // A paused queue may hold packets: they do not precede those of the other one.
        self.free <= now
            && self.queued & (self.open | QUEUE_ALL) == 0
            && self.open & 1 << class(flags) != 0
    }

    /// Makes [`Self::is_clear`] false for every packet. Each is then queued and counted, even if it
    /// starts immediately, or follows the order of its class.
    pub(super) fn queue_all(&mut self) {
        self.queued |= QUEUE_ALL;
    }

    /// Puts a packet on the wire at `start`, and returns its arrival time.
    #[inline(always)]
    pub(super) fn transmit(&mut self, bytes: u16, start: Time) -> Time {
        let length = u32::from(bytes);
        let (time, gap) = match self.ps_per_byte {
            // The gap is rounded like a packet of its length.
            0 => (self.time_at(self.rate, length), self.time_at(self.rate, self.gap_bytes)),
            ps => {
                let time_for = |bytes| Span::from_ps(u64::from(bytes) * u64::from(ps));
                (time_for(length), time_for(self.gap_bytes))
            }
        };
        // The gap keeps the wire busy, but does not delay the arrival.
        let sent = start + time;
        self.free = sent + gap;
        self.carried += u64::from(length);
        self.last_bytes = bytes;
        self.on_wire += 1;
        sent + self.delay
    }

    /// Counts a packet on the wire that started in another partition of a parallel run.
    pub(super) fn handle_handoff(&mut self) {
        self.on_wire += 1;
    }

    /// Counts a packet that has left the wire at its end.
    #[inline(always)]
    pub(super) fn handle_arrival(&mut self) {
        self.on_wire -= 1;
    }

    /// Appends a packet to its queue.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, queued: Queued) {
        let class = class(queued.flags());
        self.waiting[class].push_back(queued);
        // Kept as bits, so that one test covers both queues.
        self.queued |= 1 << class;
        self.waiting_bytes[class] += u32::from(queued.bytes());
        self.waiting_max = self.waiting_max.max(self.all_waiting());
    }

    /// Inserts a PFC frame behind the first `frames` queued packets, which are frames too.
    pub(super) fn enqueue_frame(&mut self, frame: Queued, frames: usize) {
        self.waiting_bytes[0] += u32::from(frame.bytes());
        self.queued |= PRIORITY;
        let queue = &mut self.waiting[0];
        // Rarely more than one frame is queued, so the detour through a vector is cheap.
        let before: Vec<Queued> = (0..frames).map_while(|_| queue.pop_front()).collect();
        queue.push_front(frame);
        before.into_iter().rev().for_each(|earlier| queue.push_front(earlier));
    }

    /// Iterates over the queued packets without priority, next one first.
    pub(super) fn data_slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.waiting[1].iter().map(|queued| queued.slot())
    }

    /// Iterates over the queued packets with priority, next one first.
    pub(super) fn slots_with_priority(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.waiting[0].iter().map(Queued::slot)
    }

    /// Returns the packet that will be dequeued next.
    #[inline(always)]
    pub(super) fn first_waiting(&self) -> Option<Queued> {
        self.waiting[usize::from(self.queued & PRIORITY == 0)].first()
    }

    /// Dequeues the next packet.
    #[inline(always)]
    pub(super) fn dequeue(&mut self) -> Option<Queued> {
        // Strict priority: queue 1 is served only while queue 0 is empty. A pause affects only
        // queue 1.
        if !self.has_waiting() {
            return None;
        }
        let class = usize::from(self.queued & PRIORITY == 0);
        let first = self.waiting[class].pop_front()?;
        // Branchless: the bit is set, and is cleared if that was the last packet.
        self.queued ^= u8::from(self.waiting[class].is_empty()) << class;
        self.waiting_bytes[class] -= u32::from(first.bytes());
        Some(first)
    }

    /// Returns the number of packets whose bytes [`Self::load`] counts.
    pub(super) fn packets_loaded(&self, now: Time) -> usize {
        let waiting: usize = self.waiting.iter().map(Ring::len).sum();
        waiting + usize::from(self.free > now && self.on_wire > 0)
    }
}

/// Bits of the nonempty queues.
const PRIORITY: u8 = 1;
const DATA: u8 = 2;
/// Additional bit: every packet is queued.
const QUEUE_ALL: u8 = 4;

/// Returns the picoseconds per byte if that is a whole number; otherwise 0.
fn whole_ps_per_byte(rate: BitRate, rounding: Rounding) -> u32 {
    let bps = rate.as_bps();
    // Truncation to nanoseconds needs the general path even at such rates.
    let whole = PS_BITS.is_multiple_of(bps) && rounding == Rounding::Exact;
    if whole { u32::try_from(PS_BITS / bps).unwrap_or(0) } else { 0 }
}

/// Returns the queue that a packet joins: 0 with priority, 1 without.
#[inline]
fn class(flags: Flags) -> usize {
    usize::from(!flags.has(Flags::PRIORITY))
}

#[cfg(test)]
mod tests;
