//! Packets in the fabric, one cache line each, and lists of them.
//!
//! A packet stays where it is from its NIC to its host; ports hold lists of places. So a port is
//! small, nothing is copied on the way, and memory is what is in flight at most.

use crate::packet::Packet;
use crate::units::Time;

/// No place.
const NONE: u32 = u32::MAX;

/// A place in the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u32);

/// A packet and its bookkeeping.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Slot {
    pub packet: Packet,
    /// When it arrives at the end of the wire it is on.
    pub arrives: Time,
    next: u32,
    /// In line, with flow control: the port that it came by and is counted at, plus 1; 0 where it
    /// is not counted. On a wire that was ever degraded: which of the port's rates it is sent at.
    pub aside: u32,
}

/// All packets in the fabric.
#[derive(Debug, Default)]
pub(super) struct Pool {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

/// Packets in order, first in, first out.
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
    pub const fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// The first, if there is one.
    #[inline]
    pub const fn first(self) -> Option<Place> {
        if self.head == NONE { None } else { Some(Place(self.head)) }
    }

    /// The last, if there is one.
    #[inline]
    pub const fn last(self) -> Option<Place> {
        if self.head == NONE { None } else { Some(Place(self.tail)) }
    }
}

impl Pool {
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> Place {
        let slot = Slot { packet, arrives: Time::ZERO, next: NONE, aside: 0 };
        if let Some(place) = self.free.pop() {
            self.slots[place as usize] = slot;
            return Place(place);
        }
        let place = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets in flight");
        self.slots.push(slot);
        Place(place)
    }

    /// Takes a packet out of the fabric.
    #[inline]
    pub fn remove(&mut self, place: Place) -> Packet {
        self.free.push(place.0);
        self.slots[place.0 as usize].packet
    }

    #[inline]
    pub fn get(&self, place: Place) -> &Slot {
        &self.slots[place.0 as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, place: Place) -> &mut Slot {
        &mut self.slots[place.0 as usize]
    }

    #[inline]
    pub fn push_back(&mut self, list: &mut List, place: Place) {
        self.slots[place.0 as usize].next = NONE;
        if list.head == NONE {
            list.head = place.0;
        } else {
            self.slots[list.tail as usize].next = place.0;
        }
        list.tail = place.0;
    }

    pub fn push_front(&mut self, list: &mut List, place: Place) {
        self.slots[place.0 as usize].next = list.head;
        if list.head == NONE {
            list.tail = place.0;
        }
        list.head = place.0;
    }

    #[inline]
    pub fn pop_front(&self, list: &mut List) -> Option<Place> {
        let first = list.first()?;
        list.head = self.slots[first.0 as usize].next;
        Some(first)
    }

    /// The second of a list, if there is one.
    #[inline]
    pub fn second(&self, list: List) -> Option<Place> {
        let next = self.slots.get(list.head as usize)?.next;
        (list.head != list.tail).then_some(Place(next))
    }

    /// The packets of a list, first to last.
    pub fn iter(&self, list: List) -> impl Iterator<Item = &Slot> {
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
    fn lists_keep_their_order_and_places_are_used_again() {
        let mut pool = Pool::default();
        let (mut first, mut second) = (List::default(), List::default());
        let mut insert = |n| pool.insert(Packet { qp: QpId(n), ..Packet::default() });
        let places: Vec<Place> = (0..6).map(&mut insert).collect();
        for (index, &place) in places.iter().enumerate() {
            let list = if index % 2 == 0 { &mut first } else { &mut second };
            pool.push_back(list, place);
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
