//! What a queue holds of a packet, and the last one of it, which another one may displace.

use super::{DATA, Port};
use crate::fabric::network::pool::SlotId;
use crate::packet::{Flags, Packet, PacketKind};

/// A packet in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fabric::network) struct Queued {
    pub(in crate::fabric::network) slot: SlotId,
    /// Its length on the wire.
    pub(in crate::fabric::network) bytes: u16,
    pub(in crate::fabric::network) flags: Flags,
    pub(in crate::fabric::network) kind: PacketKind,
}

impl Queued {
    /// What a queue holds of a packet.
    #[inline(always)]
    pub(in crate::fabric::network) fn of(slot: SlotId, packet: &Packet) -> Self {
        let &Packet { wire_bytes, flags, kind, .. } = packet;
        Self { slot, bytes: wire_bytes, flags, kind }
    }
}

impl Port {
    /// The last queued packet without priority, if it is a data packet.
    pub(in crate::fabric::network) fn last_data(&self) -> Option<Queued> {
        self.waiting[1].back().copied().filter(|last| last.kind == PacketKind::Data)
    }

    /// Removes the last queued packet without priority.
    pub(in crate::fabric::network) fn remove_last_data(&mut self) {
        let Some(last) = self.waiting[1].pop_back() else { return };
        self.waiting_bytes[1] -= u32::from(last.bytes);
        if self.waiting[1].is_empty() {
            self.queued &= !DATA;
        }
    }
}
