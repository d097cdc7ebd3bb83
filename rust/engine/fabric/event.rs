//! Events and their order.
//!
//! Events at the same time have a defined order: first failures and routing, then probes, then ends
//! of pauses and starts by port, then arrivals, then hosts by id. Arrivals are in an order of ports
//! that is drawn for each time (`Ties` of the queue). The order does not depend on when events were
//! scheduled. Events are never cancelled: an event that is early has no effect. Each port has at
//! most one event of a kind at a time, so the order is total where it matters.
//!
//! In the calendar an event is one word ([`Word`]), and words compare as numbers. From the top they
//! hold the time within the bucket, the kind, the id, and the slot of an arriving packet. The
//! fields are at fixed positions, since each event is encoded and decoded once. A pair of time and
//! event would take twice the memory, which costs more than the shifts: a bucket is written once,
//! sorted when it becomes current, and read once.

use super::network::SlotId;
use crate::ids::{HostId, PortId};
use crate::switching::Ties;
use crate::topology::MAX_LINKS;

/// An event at a port, at a host or in the whole fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Link or routing change: a step of the failure plan, by index.
    Control(u32),
    /// Measurement of the queues: a probe of the setup, by index.
    Probe(u32),
    /// The pause of this port expires, unless a later frame has extended it.
    PauseEnd(PortId),
    /// The wire of this port is free for the next packet in its queues (with PFC or CBFC only).
    Start(PortId),
    /// The credit of packets lost on this port's wire is returned (with CBFC only).
    Correction(PortId),
    /// A packet arrives at the end of the wire of this port.
    Arrival(PortId, SlotId),
    /// A packet reaches the end of this port's wire in another partition, which has the arrival
    /// event. Here the wire then has one packet less.
    Handoff(PortId),
    /// The wire of this port is free, and carries no packet whose arrival would settle the port.
    Free(PortId),
    /// A timeout of this host.
    Host(HostId),
}

/// An event in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Word(u64);

const SLOT_BITS: u32 = 27;
const ID_BITS: u32 = 25;
const KIND_BITS: u32 = 2;
/// Number of low bits of a time, in picoseconds, that fit into a word.
pub(super) const TIME_BITS: u32 = u64::BITS - KIND_BITS - ID_BITS - SLOT_BITS;

/// Number of id bits that fit into 32 bits together with time and kind.
const SHORT_ID_BITS: u32 = u32::BITS - TIME_BITS - KIND_BITS;

/// Slot of an event without a packet.
const NO_SLOT: u64 = (1 << SLOT_BITS) - 1;
/// Slot that marks handoffs and corrections of credit, which share their kind with other events.
const HANDED_OFF: u64 = NO_SLOT - 1;
/// Slot of the end of a pause. Pause ends share their kind with starts and precede them, so this is
/// the smallest slot that is not a packet's.
const PAUSE_END: u64 = HANDED_OFF - 1;
/// Flag in the ids of probes, which share their kind with failures.
const PROBE: u32 = 1 << (ID_BITS - 1);

// The kinds are numbered in the order of events at the same time.
const CONTROL: u64 = 0;
const START: u64 = 1;
/// Kind of arrivals, handoffs and free wires.
const PORT: u64 = 2;
const HOST: u64 = 3;

/// Maximum number of ports: those of the largest topology.
const MAX_PORTS: u32 = 1 << ID_BITS;
const _: () = assert!(2 * MAX_LINKS <= MAX_PORTS as u64, "every port id fits an event word");
/// Maximum number of packets in the fabric. They would take 8.6 GB.
pub(super) const MAX_PACKETS: u32 = PAUSE_END as u32;

impl Word {
    #[inline(always)]
    const fn new(kind: u64, id: u32, slot: u64) -> Self {
        Self((kind << ID_BITS | id as u64) << SLOT_BITS | slot)
    }

    /// Encodes an event, without its time.
    pub(super) const fn of(event: Event) -> Self {
        match event {
            Event::Control(index) => Self::new(CONTROL, index, NO_SLOT),
            Event::Probe(index) => Self::new(CONTROL, PROBE | index, NO_SLOT),
            Event::PauseEnd(port) => Self::new(START, port.0, PAUSE_END),
            Event::Start(port) => Self::new(START, port.0, NO_SLOT),
            // The slot distinguishes events of one kind.
            Event::Correction(port) => Self::new(START, port.0, HANDED_OFF),
            Event::Arrival(port, slot) => Self::of_arrival(port, slot),
            Event::Handoff(port) => Self::new(PORT, port.0, HANDED_OFF),
            Event::Free(port) => Self::new(PORT, port.0, NO_SLOT),
            Event::Host(host) => Self::new(HOST, host.0, NO_SLOT),
        }
    }

    /// Encodes an arrival, without its time.
    #[inline(always)]
    pub(super) const fn of_arrival(port: PortId, slot: SlotId) -> Self {
        Self::new(PORT, port.0, slot.0 as u64)
    }

    /// Adds the low bits of a time to a word without one.
    #[inline(always)]
    pub(super) const fn at(self, time: u64) -> Self {
        Self(time << (u64::BITS - TIME_BITS) | self.0)
    }

    /// Returns the low bits of the time.
    #[inline(always)]
    pub(super) const fn low_time(self) -> u64 {
        self.0 >> (u64::BITS - TIME_BITS)
    }

    /// Returns port and packet of an arrival. Nearly all events are arrivals, and only they have a
    /// packet's slot.
    #[inline(always)]
    pub(super) const fn arrival(self) -> Option<(PortId, SlotId)> {
        let slot = self.0 & NO_SLOT;
        // One comparison identifies arrivals: the special slots are the largest ones.
        if slot >= PAUSE_END { None } else { Some((PortId(self.id()), SlotId(slot as u32))) }
    }

    /// Returns the port of a start. With flow control, most events other than arrivals are starts.
    #[inline(always)]
    pub(super) const fn start(self) -> Option<PortId> {
        // Compares kind and slot at once.
        const MASK: u64 = ((1 << KIND_BITS) - 1) << (SLOT_BITS + ID_BITS) | NO_SLOT;
        let is_start = self.0 & MASK == START << (SLOT_BITS + ID_BITS) | NO_SLOT;
        if is_start { Some(PortId(self.id())) } else { None }
    }

    /// Returns the host of a timeout.
    #[inline(always)]
    pub(super) const fn timeout(self) -> Option<HostId> {
        let kind = self.0 >> (SLOT_BITS + ID_BITS) & ((1 << KIND_BITS) - 1);
        if kind == HOST { Some(HostId(self.id())) } else { None }
    }

    /// Decodes the event, regardless of the time.
    pub(super) const fn event(self) -> Event {
        if let Some((port, slot)) = self.arrival() {
            return Event::Arrival(port, slot);
        }
        let id = self.id();
        match self.0 >> (SLOT_BITS + ID_BITS) & ((1 << KIND_BITS) - 1) {
            PORT if self.0 & NO_SLOT == HANDED_OFF => Event::Handoff(PortId(id)),
            PORT => Event::Free(PortId(id)),
            HOST => Event::Host(HostId(id)),
            START if self.0 & NO_SLOT == HANDED_OFF => Event::Correction(PortId(id)),
            START if self.0 & NO_SLOT == PAUSE_END => Event::PauseEnd(PortId(id)),
            START => Event::Start(PortId(id)),
            _ if id & PROBE != 0 => Event::Probe(id & !PROBE),
            _ => Event::Control(id),
        }
    }

    /// Returns the low bits of the time, the kind and the lowest bits of the id as one number. It
    /// orders events that differ in them, if all have a short key. The id must be the place in the
    /// tie order.
    #[inline(always)]
    pub(super) const fn short_key(self) -> i32 {
        const ID: u64 = (1 << SHORT_ID_BITS) - 1;
        let top = self.0 >> (ID_BITS + SLOT_BITS) << SHORT_ID_BITS;
        let key = top | self.0 >> SLOT_BITS & ID;
        // Flips the sign bit: signed comparisons then give the unsigned order, and vectorize
        // better.
        (key as u32 ^ 1 << (u32::BITS - 1)) as i32
    }

    /// True if the id has more bits than fit into a short key.
    #[inline(always)]
    pub(super) const fn has_long_key(self) -> bool {
        self.id() >> SHORT_ID_BITS != 0
    }

    /// True if events of this kind are in a drawn order at equal times.
    #[inline(always)]
    const fn is_of_port(self) -> bool {
        self.0 >> (SLOT_BITS + ID_BITS) & ((1 << KIND_BITS) - 1) == PORT
    }

    /// Replaces the id.
    #[inline(always)]
    const fn with_id(self, id: u32) -> Self {
        const IDS: u64 = (MAX_PORTS as u64 - 1) << SLOT_BITS;
        Self(self.0 & !IDS | (id as u64) << SLOT_BITS)
    }

    /// Replaces the id of an arrival by its place in the tie order, so that words compare as
    /// numbers.
    #[inline(always)]
    pub(super) const fn with_tie_rank(self, time: u64, ties: Ties) -> Self {
        // Only port events are in a drawn order. All others are ordered by id.
        if self.is_of_port() { self.with_id(ties.rank_of(time, self.id())) } else { self }
    }

    /// Reverses [`Self::with_tie_rank`].
    #[inline(always)]
    pub(super) const fn with_port(self, time: u64, ties: Ties) -> Self {
        if self.is_of_port() { self.with_id(ties.port_of_rank(time, self.id())) } else { self }
    }

    /// Returns the kind and the id, which order events of the same time.
    #[inline]
    pub(super) const fn rank(self) -> u32 {
        (self.0 >> SLOT_BITS) as u32 & ((1 << (KIND_BITS + ID_BITS)) - 1)
    }

    #[inline(always)]
    const fn id(self) -> u32 {
        (self.0 >> SLOT_BITS) as u32 & (MAX_PORTS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives_encoding() {
        let port = PortId(MAX_PORTS - 1);
        for event in [
            Event::Control(3),
            Event::Probe(1),
            Event::PauseEnd(port),
            Event::Start(port),
            Event::Correction(port),
            Event::Arrival(port, SlotId(MAX_PACKETS - 1)),
            Event::Handoff(port),
            Event::Free(port),
            Event::Host(HostId(9_999)),
        ] {
            let word = Word::of(event).at(1_023);
            assert_eq!((word.event(), word.low_time()), (event, 1_023));
            assert_eq!(word.start().map(Event::Start) == Some(event), event == Event::Start(port));
            let is_timeout = event == Event::Host(HostId(9_999));
            assert_eq!(word.timeout().map(Event::Host) == Some(event), is_timeout);
        }
    }
}
