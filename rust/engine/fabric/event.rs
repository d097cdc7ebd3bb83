//! Events, and their order.
//!
//! Events at the same time have a designed order: failures and routing first, then probes, then
//! ends of pauses and starts by the port, then arrivals in an order of ports that is drawn for each
//! time (`Ties` of the queue), then hosts by
//! their id. The order does not depend on the order in which events were scheduled. No event is
//! cancelled: an event that is early has no effect. Each port has at most one event of a kind at a
//! time, so the order is total where it matters.
//!
//! In the calendar an event is one word ([`Word`]), and words are compared as numbers: from the top
//! the time within its bucket, the kind, the id, and the slot of the packet that arrives. The parts
//! stand at fixed places, since each event is made and read once. A pair of time and event takes
//! twice the memory, which costs more than the shifts do: a bucket is written once, sorted when its
//! turn comes, and read once.

use super::network::SlotId;
use crate::ids::{HostId, PortId};
use crate::switching::Ties;
use crate::topology::MAX_LINKS;

/// What is due at a port, at a host or in the fabric as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A change of links or routing: a step of the failure plan, by its index.
    Control(u32),
    /// A measurement of the queues: a probe of the setup, by its index.
    Probe(u32),
    /// The pause of this port expires, unless a later frame has put that off.
    PauseEnd(PortId),
    /// The wire of this port is free for the next packet in its queues (with PFC or CBFC only).
    Start(PortId),
    /// The credit of packets lost on the wire of this port is given back (with CBFC only).
    Correction(PortId),
    /// A packet arrives at the end of the wire of this port.
    Arrival(PortId, SlotId),
    /// A packet arrives at the end of the wire of this port, in another partition: the arrival
    /// is an event there, and this port learns that its wire has one packet less.
    Handoff(PortId),
    /// The wire of this port is free, and no packet is on it.
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
/// The lowest bits of a time in picoseconds that a word has room for.
pub(super) const TIME_BITS: u32 = u64::BITS - KIND_BITS - ID_BITS - SLOT_BITS;

/// The bits of an id that have room beside time and kind in 32 bits.
const SHORT_ID_BITS: u32 = u32::BITS - TIME_BITS - KIND_BITS;

/// The slot of an event without a packet.
const NO_SLOT: u64 = (1 << SLOT_BITS) - 1;
/// The slot of an event without a packet: of one that has been handed off, or of a
/// correction of credit.
const HANDED_OFF: u64 = NO_SLOT - 1;
/// The slot of the end of a pause, which shares its kind with starts and precedes them; the least
/// that is no packet's.
const PAUSE_END: u64 = HANDED_OFF - 1;
/// Set in the ids of probes, which share their kind with failures.
const PROBE: u32 = 1 << (ID_BITS - 1);

const CONTROL: u64 = 0;
const START: u64 = 1;
/// Of arrivals, and of wires that are free.
const PORT: u64 = 2;
const HOST: u64 = 3;

/// The greatest number of ports: those of the largest topology.
const MOST_PORTS: u32 = 1 << ID_BITS;
const _: () = assert!(2 * MAX_LINKS <= MOST_PORTS as u64, "every port has an id in a word");
/// The greatest number of packets in the fabric; they take 8.6 GB.
pub(super) const MOST_PACKETS: u32 = PAUSE_END as u32;

impl Word {
    #[inline(always)]
    const fn new(kind: u64, id: u32, slot: u64) -> Self {
        Self((kind << ID_BITS | id as u64) << SLOT_BITS | slot)
    }

    /// The word of an event, without its time.
    pub(super) const fn of(event: Event) -> Self {
        match event {
            Event::Control(index) => Self::new(CONTROL, index, NO_SLOT),
            Event::Probe(index) => Self::new(CONTROL, PROBE | index, NO_SLOT),
            Event::PauseEnd(port) => Self::new(START, port.0, PAUSE_END),
            Event::Start(port) => Self::new(START, port.0, NO_SLOT),
            Event::Correction(port) => Self::new(START, port.0, HANDED_OFF),
            Event::Arrival(port, slot) => Self::of_arrival(port, slot),
            Event::Handoff(port) => Self::new(PORT, port.0, HANDED_OFF),
            Event::Free(port) => Self::new(PORT, port.0, NO_SLOT),
            Event::Host(host) => Self::new(HOST, host.0, NO_SLOT),
        }
    }

    /// The word of an arrival, without its time.
    #[inline(always)]
    pub(super) const fn of_arrival(port: PortId, slot: SlotId) -> Self {
        Self::new(PORT, port.0, slot.0 as u64)
    }

    /// A word without a time, with the low bits of one.
    #[inline(always)]
    pub(super) const fn at(self, time: u64) -> Self {
        Self(time << (u64::BITS - TIME_BITS) | self.0)
    }

    /// The low bits of its time.
    #[inline(always)]
    pub(super) const fn low_time(self) -> u64 {
        self.0 >> (u64::BITS - TIME_BITS)
    }

    /// The port and the packet of an arrival, as nearly all events are: nothing else has a slot.
    #[inline(always)]
    pub(super) const fn arrival(self) -> Option<(PortId, SlotId)> {
        let slot = self.0 & NO_SLOT;
        if slot >= PAUSE_END { None } else { Some((PortId(self.id()), SlotId(slot as u32))) }
    }

    /// The port of a start: most of what is no arrival, with flow control.
    #[inline(always)]
    pub(super) const fn start(self) -> Option<PortId> {
        const MASK: u64 = ((1 << KIND_BITS) - 1) << (SLOT_BITS + ID_BITS) | NO_SLOT;
        let is_start = self.0 & MASK == START << (SLOT_BITS + ID_BITS) | NO_SLOT;
        if is_start { Some(PortId(self.id())) } else { None }
    }

    /// The host of a timeout.
    #[inline(always)]
    pub(super) const fn timeout(self) -> Option<HostId> {
        let kind = self.0 >> (SLOT_BITS + ID_BITS) & ((1 << KIND_BITS) - 1);
        if kind == HOST { Some(HostId(self.id())) } else { None }
    }

    /// Its event, whatever the time.
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

    /// The low bits of the time, the kind and the lowest bits of the id as a number: it orders
    /// events that differ in them, if all have a short key. The id must be the place in the order.
    #[inline(always)]
    pub(super) const fn short_key(self) -> i32 {
        const ID: u64 = (1 << SHORT_ID_BITS) - 1;
        let top = self.0 >> (ID_BITS + SLOT_BITS) << SHORT_ID_BITS;
        let key = top | self.0 >> SLOT_BITS & ID;
        (key as u32 ^ 1 << (u32::BITS - 1)) as i32
    }

    /// Whether its id has more bits than a short key has room for.
    #[inline(always)]
    pub(super) const fn has_long_key(self) -> bool {
        self.id() >> SHORT_ID_BITS != 0
    }

    /// Whether events of its kind at one time have a drawn order.
    #[inline(always)]
    const fn is_of_port(self) -> bool {
        self.0 >> (SLOT_BITS + ID_BITS) & ((1 << KIND_BITS) - 1) == PORT
    }

    /// Replaces the id.
    #[inline(always)]
    const fn with_id(self, id: u32) -> Self {
        const IDS: u64 = (MOST_PORTS as u64 - 1) << SLOT_BITS;
        Self(self.0 & !IDS | (id as u64) << SLOT_BITS)
    }

    /// Replaces the id of an arrival by its place in the order, so that words are compared as
    /// numbers.
    #[inline(always)]
    pub(super) const fn placed(self, time: u64, ties: Ties) -> Self {
        if self.is_of_port() { self.with_id(ties.place_of(time, self.id())) } else { self }
    }

    /// The word that has been given this place.
    #[inline(always)]
    pub(super) const fn restored(self, time: u64, ties: Ties) -> Self {
        if self.is_of_port() { self.with_id(ties.port_at(time, self.id())) } else { self }
    }

    /// What orders events of the same time: the kind and the id.
    #[inline]
    pub(super) const fn rank(self) -> u32 {
        (self.0 >> SLOT_BITS) as u32 & ((1 << (KIND_BITS + ID_BITS)) - 1)
    }

    #[inline(always)]
    const fn id(self) -> u32 {
        (self.0 >> SLOT_BITS) as u32 & (MOST_PORTS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives_its_word() {
        let port = PortId(MOST_PORTS - 1);
        for event in [
            Event::Control(3),
            Event::Probe(1),
            Event::PauseEnd(port),
            Event::Start(port),
            Event::Correction(port),
            Event::Arrival(port, SlotId(MOST_PACKETS - 1)),
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
