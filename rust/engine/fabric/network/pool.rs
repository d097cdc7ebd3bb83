//! The packets in the fabric, one cache line each.
//!
//! A packet stays in one slot from its NIC to its host. Ports and events refer to it by slot
//! number. Packets are not copied on their path, and memory is proportional to the peak number of
//! packets in flight.

use crate::ids::PortId;
use crate::packet::Packet;

/// Index of a slot of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::fabric) struct SlotId(pub(in crate::fabric) u32);

/// Per-packet state outside the headers, in four bytes: the ingress of a queued packet, or the rate
/// of a packet on a wire. No packet needs both at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SlotState(u32);

/// Flag that marks a rate. Port ids have 30 bits, so they never have it set.
const RATE: u32 = 1 << 31;

impl SlotState {
    /// Stores the port by which the packet arrived, if PFC counts it there.
    #[inline]
    pub(super) fn from_ingress(ingress: Option<PortId>) -> Self {
        // Zero means neither, which is the default of a fresh slot.
        Self(ingress.map_or(0, |port| port.0 + 1))
    }

    /// Stores the rate of transmission, as an index into the rates that the port has had.
    #[inline]
    pub(super) fn from_rate_index(index: u32) -> Self {
        Self(RATE | index)
    }

    /// Returns the port at which PFC counts the packet; `None` if it is not counted.
    #[inline]
    pub(super) fn ingress(self) -> Option<PortId> {
        if self.0 & RATE == 0 { self.0.checked_sub(1).map(PortId) } else { None }
    }

    /// Returns the index of the rate of transmission; 0 if the port has had only one.
    pub(super) fn rate_index(self) -> usize {
        if self.0 & RATE == 0 { 0 } else { (self.0 & !RATE) as usize }
    }
}

/// A packet and its state in the network.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Slot {
    pub(super) packet: Packet,
    /// Ingress or rate.
    pub(super) state: SlotState,
}

// Every hop reads a slot: keep it within one cache line.
const _: () = assert!(size_of::<Slot>() == 64);

/// All packets in the fabric.
#[derive(Debug, Default)]
pub(super) struct Pool {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Maximum number of slots.
    limit: u32,
}

impl Pool {
    /// Creates a pool of at most `limit` packets.
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, ..Self::default() }
    }

    #[inline]
    pub(super) fn insert(&mut self, packet: Packet) -> SlotId {
        self.put(Slot { packet, state: SlotState::default() })
    }

    /// Inserts a packet with its state.
    #[inline]
    pub(super) fn put(&mut self, slot: Slot) -> SlotId {
        // Last in, first out: the slot freed last is most likely still cached.
        if let Some(free) = self.free.pop() {
            self.slots[free as usize] = slot;
            return SlotId(free);
        }
        self.grow(slot)
    }

    #[cold]
    fn grow(&mut self, slot: Slot) -> SlotId {
        let id = u32::try_from(self.slots.len()).expect("ids are 32 bits");
        // An event word has no room for a larger slot number.
        assert!(id < self.limit, "at most {} packets are in the fabric", self.limit);
        self.slots.push(slot);
        SlotId(id)
    }

    /// Reserves a slot into which a packet will be written directly, without a copy.
    #[inline(always)]
    pub(super) fn reserve(&mut self) -> SlotId {
        let Some(free) = self.free.pop() else {
            return self.grow(Slot { packet: Packet::default(), state: SlotState::default() });
        };
        // The packet is overwritten by the caller. Only the state of the previous one must go.
        self.slots[free as usize].state = SlotState::default();
        SlotId(free)
    }

    /// Releases a reserved slot.
    #[inline(always)]
    pub(super) fn release(&mut self, id: SlotId) {
        self.free.push(id.0);
    }

    /// Removes a packet and its state from the pool.
    #[inline]
    pub(super) fn take(&mut self, id: SlotId) -> Slot {
        // The slot keeps its contents until it is reused.
        self.free.push(id.0);
        self.slots[id.0 as usize]
    }

    /// Removes a packet from the fabric.
    #[inline]
    pub(super) fn remove(&mut self, id: SlotId) -> Packet {
        self.take(id).packet
    }

    #[inline]
    pub(super) fn get(&self, id: SlotId) -> &Slot {
        &self.slots[id.0 as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.slots[id.0 as usize]
    }

    /// Iterates over the packets in the fabric.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let mut used = vec![true; self.slots.len()];
        self.free.iter().for_each(|&id| used[id as usize] = false);
        self.slots.iter().zip(used).filter_map(|(slot, used)| used.then_some(&slot.packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::QpId;

    #[test]
    fn slot_state_is_an_ingress_or_a_rate() {
        let ingress = SlotState::from_ingress(Some(PortId(7)));
        assert_eq!((ingress.ingress(), ingress.rate_index()), (Some(PortId(7)), 0));
        let rate = SlotState::from_rate_index(3);
        assert_eq!((rate.ingress(), rate.rate_index()), (None, 3));
        assert_eq!(SlotState::from_ingress(None), SlotState::default());
    }

    #[test]
    fn freed_slots_are_reused() {
        let mut pool = Pool::new(3);
        let mut insert = |n| pool.insert(Packet { qp: QpId(n), ..Packet::default() });
        let [first, second, third] = [0, 1, 2].map(&mut insert);
        assert_eq!(pool.remove(second).qp, QpId(1));
        let left: Vec<u32> = pool.packets().map(|packet| packet.qp.0).collect();
        assert_eq!(left, [0, 2]);
        assert_eq!(pool.insert(Packet::default()), second);
        assert_ne!(first, third);
    }

    #[test]
    #[should_panic(expected = "at most 1 packets")]
    fn exceeding_the_slot_limit_panics() {
        let mut pool = Pool::new(1);
        pool.insert(Packet::default());
        pool.insert(Packet::default());
    }
}
