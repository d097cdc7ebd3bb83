//! Packets in the fabric, one cache line each, and lists of them.
//!
//! A packet stays in one slot from its NIC to its host; ports hold linked lists of slots. A port is
//! therefore small, no packet is copied on its path, and memory is proportional to the maximum
//! number of packets in flight.

use crate::ids::PortId;
use crate::packet::Packet;
use crate::units::Time;

/// The end of a list, and the head and tail of an empty one.
const NONE: u32 = u32::MAX;

/// The index of a slot of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotId(u32);

/// The state of a packet that is not in its headers, in four bytes: the ingress of a queued packet,
/// or the rate of a packet on a wire. No packet has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Aside(u32);

/// Set for a rate, not set for an ingress. Port ids are less than this: they have 30 bits.
const RATE: u32 = 1 << 31;

impl Aside {
    /// The port by which the packet arrived, if PFC counts it there.
    #[inline]
    pub(super) fn from_ingress(ingress: Option<PortId>) -> Self {
        Self(ingress.map_or(0, |port| port.0 + 1))
    }

    /// The index of the rate that the packet was sent at, among those that its port has had.
    #[inline]
    pub(super) fn from_rate_index(index: u32) -> Self {
        Self(RATE | index)
    }

    /// The port that PFC counts the packet at; `None` if it is not counted.
    #[inline]
    pub(super) fn ingress(self) -> Option<PortId> {
        if self.0 & RATE == 0 { self.0.checked_sub(1).map(PortId) } else { None }
    }

    /// The index of the rate that the packet was sent at; 0 if its port has had only one.
    pub(super) fn rate_index(self) -> usize {
        if self.0 & RATE == 0 { 0 } else { (self.0 & !RATE) as usize }
    }
}

/// A packet and its state in the network.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Slot {
    pub(super) packet: Packet,
    /// The time of its arrival at the end of the wire.
    pub(super) arrives: Time,
    next: u32,
    /// Its ingress or its rate.
    pub(super) aside: Aside,
}

/// All packets in the fabric.
#[derive(Debug, Default)]
pub(super) struct Pool {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

/// A queue of packets, first in, first out.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl List {
    #[inline]
    pub(super) const fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// The first packet, if any.
    #[inline]
    pub(super) const fn first(self) -> Option<SlotId> {
        if self.head == NONE { None } else { Some(SlotId(self.head)) }
    }

    /// The last packet, if any.
    #[inline]
    pub(super) const fn last(self) -> Option<SlotId> {
        if self.head == NONE { None } else { Some(SlotId(self.tail)) }
    }
}

impl Pool {
    #[inline]
    pub(super) fn insert(&mut self, packet: Packet) -> SlotId {
        let slot = Slot { packet, arrives: Time::ZERO, next: NONE, aside: Aside::default() };
        // The slot freed last is the one most likely to be in the cache still.
        if let Some(free) = self.free.pop() {
            self.slots[free as usize] = slot;
            return SlotId(free);
        }
        let id = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets in flight");
        self.slots.push(slot);
        SlotId(id)
    }

    /// Takes a packet out of the fabric.
    #[inline]
    pub(super) fn remove(&mut self, id: SlotId) -> Packet {
        self.free.push(id.0);
        self.slots[id.0 as usize].packet
    }

    #[inline]
    pub(super) fn get(&self, id: SlotId) -> &Slot {
        &self.slots[id.0 as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.slots[id.0 as usize]
    }

    #[inline]
    pub(super) fn push_back(&mut self, list: &mut List, id: SlotId) {
        self.slots[id.0 as usize].next = NONE;
        if list.head == NONE {
            list.head = id.0;
        } else {
            self.slots[list.tail as usize].next = id.0;
        }
        list.tail = id.0;
    }

    pub(super) fn push_front(&mut self, list: &mut List, id: SlotId) {
        self.slots[id.0 as usize].next = list.head;
        if list.head == NONE {
            list.tail = id.0;
        }
        list.head = id.0;
    }

    #[inline]
    pub(super) fn pop_front(&self, list: &mut List) -> Option<SlotId> {
        let first = list.first()?;
        // The tail of an emptied list is stale: only its head shows that it is empty.
        list.head = self.slots[first.0 as usize].next;
        Some(first)
    }

    /// The second packet of a list, if any.
    #[inline]
    pub(super) fn second(&self, list: List) -> Option<SlotId> {
        // `NONE` is beyond the end of `slots`, so that an empty list needs no case of its own.
        let next = self.slots.get(list.head as usize)?.next;
        (list.head != list.tail).then_some(SlotId(next))
    }

    /// The packets of a list, first to last.
    pub(super) fn iter(&self, list: List) -> impl Iterator<Item = &Slot> {
        let follow = |slot: &&Slot| self.slots.get(slot.next as usize);
        std::iter::successors(self.slots.get(list.head as usize), follow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::QpId;

    #[test]
    fn a_slot_is_one_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }

    #[test]
    fn an_aside_is_an_ingress_or_a_rate() {
        let ingress = Aside::from_ingress(Some(PortId(7)));
        assert_eq!((ingress.ingress(), ingress.rate_index()), (Some(PortId(7)), 0));
        let rate = Aside::from_rate_index(3);
        assert_eq!((rate.ingress(), rate.rate_index()), (None, 3));
        assert_eq!(Aside::from_ingress(None), Aside::default());
    }

    #[test]
    fn lists_keep_their_order_and_slots_are_used_again() {
        let mut pool = Pool::default();
        let (mut first, mut second) = (List::default(), List::default());
        let mut insert = |n| pool.insert(Packet { qp: QpId(n), ..Packet::default() });
        let slots: Vec<SlotId> = (0..6).map(&mut insert).collect();
        for (index, &id) in slots.iter().enumerate() {
            let list = if index % 2 == 0 { &mut first } else { &mut second };
            pool.push_back(list, id);
        }
        let insert_front = pool.insert(Packet { qp: QpId(6), ..Packet::default() });
        let held = |list| pool.iter(list).map(|slot| slot.packet.qp.0).collect::<Vec<_>>();
        assert_eq!((held(first), held(second)), (vec![0, 2, 4], vec![1, 3, 5]));
        pool.push_front(&mut first, insert_front);
        assert_eq!(pool.iter(first).map(|slot| slot.packet.qp.0).collect::<Vec<_>>(), [6, 0, 2, 4]);
        assert_eq!(pool.pop_front(&mut first), Some(insert_front));
        pool.remove(insert_front);
        let taken = pool.pop_front(&mut first).unwrap();
        assert_eq!(pool.remove(taken).qp, QpId(0));
        assert_eq!(pool.insert(Packet::default()), taken);
        assert!(std::iter::from_fn(|| pool.pop_front(&mut second)).count() == 3);
        assert!(second.is_empty());
    }
}
