//! Packets in the fabric, one cache line each, and lists of them.
//!
//! A packet stays where it is from its NIC to its host; ports hold lists of places. So a port is
//! small, nothing is copied on the way, and memory is what is in flight at most.

use crate::ids::PortId;
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
    pub aside: Aside,
}

/// What a slot remembers of its packet, depending on where the packet is. Packed into 32 bits, so
/// that a slot stays one cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Aside(u32);

impl Aside {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Set where the other bits are the index of a rate; otherwise they are a port, plus 1.
    const RATE: u32 = 1 << 31;

    /// In a queue, with priority flow control (PFC): the packet came in by `port` and is counted
    /// there.
    #[inline]
    pub const fn counted_at(port: PortId) -> Self {
        Self(port.0 + 1)
    }

    /// On a wire that is ever degraded: the packet is sent at the port's rate of this index.
    #[inline]
    pub const fn sent_at_rate(index: u32) -> Self {
        Self(Self::RATE | index)
    }

    /// The port that the packet is counted at; `None` if it is not counted.
    #[inline]
    pub const fn ingress(self) -> Option<PortId> {
        match self.0 {
            0 | Self::RATE..=u32::MAX => None,
            port => Some(PortId(port - 1)),
        }
    }

    /// The index of the rate that the packet is sent at.
    ///
    /// # Panics
    /// If the packet is not on a wire that is ever degraded.
    pub const fn rate_index(self) -> usize {
        assert!(self.0 >= Self::RATE, "a packet on a faulty wire has the index of its rate");
        (self.0 & !Self::RATE) as usize
    }
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
        let slot = Slot { packet, arrives: Time::ZERO, next: NONE, aside: Aside::NONE };
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
    fn an_aside_is_a_port_or_the_index_of_a_rate() {
        assert_eq!(Aside::counted_at(PortId(0)).ingress(), Some(PortId(0)));
        assert_eq!(Aside::sent_at_rate(3).rate_index(), 3);
        assert_eq!([Aside::NONE, Aside::sent_at_rate(3)].map(Aside::ingress), [None, None]);
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
