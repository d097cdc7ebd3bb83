//! Queue entries of packets, and access to the last one, which another packet may displace.

use super::{DATA, Port, Ring};
use crate::fabric::network::pool::SlotId;
use crate::packet::{Flags, Packet, PacketKind};

/// A queued packet in one word. From the top: kind, flags, length on the wire, slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fabric::network) struct Queued(u64);

// Positions of the fields.
const BYTES: u32 = 32;
const FLAGS: u32 = 48;
const KIND: u32 = 56;

impl Queued {
    /// Creates the queue entry of a packet.
    #[inline(always)]
    pub(in crate::fabric::network) fn of(slot: SlotId, packet: &Packet) -> Self {
        let &Packet { wire_bytes, flags, kind, .. } = packet;
        let (kind, flags) = (kind as u64, u64::from(flags.bits()));
        Self(kind << KIND | flags << FLAGS | u64::from(wire_bytes) << BYTES | u64::from(slot.0))
    }

    #[inline(always)]
    pub(in crate::fabric::network) const fn slot(self) -> SlotId {
        SlotId(self.0 as u32)
    }

    /// Returns the length on the wire.
    #[inline(always)]
    pub(in crate::fabric::network) const fn bytes(self) -> u16 {
        (self.0 >> BYTES) as u16
    }

    #[inline(always)]
    pub(in crate::fabric::network) const fn flags(self) -> Flags {
        Flags::from_bits((self.0 >> FLAGS) as u8)
    }

    /// True for a data packet.
    #[inline(always)]
    pub(in crate::fabric::network) const fn is_data(self) -> bool {
        self.0 >> KIND == PacketKind::Data as u64
    }
}

impl Port {
    /// Iterates over all queued packets, in no particular order.
    pub(in crate::fabric::network) fn all_slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.waiting.iter().flat_map(Ring::iter).map(Queued::slot)
    }

    /// Returns the last queued packet without priority, if it is a data packet.
    pub(in crate::fabric::network) fn last_data(&self) -> Option<Queued> {
        self.waiting[1].last().filter(|last| last.is_data())
    }

    /// Removes the last queued packet without priority.
    pub(in crate::fabric::network) fn remove_last_data(&mut self) {
        let Some(last) = self.waiting[1].pop_back() else { return };
        self.waiting_bytes[1] -= u32::from(last.bytes());
        if self.waiting[1].is_empty() {
            self.queued &= !DATA;
        }
    }
}
