//! Which packets a switch takes into its memory, and what becomes of the others.

use super::config::Buffer;
use super::network::Network;
use super::pool::Place;
use crate::ids::{PortId, SwitchId};
use crate::packet::Flags;
use crate::topology::Node;
use crate::units::Time;

impl Network {
    /// Whether there is room for a packet that must wait at `id`.
    pub(super) fn admits(&mut self, now: Time, switch: SwitchId, id: PortId, place: Place) -> bool {
        let slot = self.pool.get(place);
        let (bytes, flags) = (u64::from(slot.packet.wire_bytes), slot.packet.flags);
        if flags.has(Flags::PRIORITY) && self.trim.is_some() {
            return self.has_header_room(id, bytes);
        }
        if let Some(pfc) = &self.pfc {
            // What has no priority came over a link and is counted there.
            let link = slot.aside.ingress();
            return flags.has(Flags::PRIORITY) || link.is_none_or(|link| pfc.admits(link, bytes));
        }
        match self.buffer {
            Buffer::PerPort(limit) => {
                let waiting = self.ports[id.index()].bytes_waiting(flags);
                u64::from(waiting) + bytes <= limit.get()
            }
            Buffer::Shared(limit) => {
                // The count may lag behind packets that have left; only near the limit is it
                // worth a look at every port.
                if self.switches[switch.index()].buffered + bytes > limit.get() {
                    self.settle_switch(now, switch);
                }
                self.switches[switch.index()].buffered + bytes <= limit.get()
            }
        }
    }

    /// Cuts a data packet for which there is no room to its header, if that may be and the header
    /// has room; false if the packet is to be dropped.
    pub(super) fn trims(&mut self, id: PortId, place: Place) -> bool {
        let Some(trim) = self.trim else { return false };
        let packet = self.pool.get(place).packet;
        if packet.is_control() || packet.flags.has(Flags::TRIMMED) {
            return false;
        }
        let size = trim.size.get().min(u64::from(packet.wire_bytes));
        if !self.has_header_room(id, size) {
            return false;
        }
        let last_hop = matches!(self.ports[id.index()].end.node(), Node::Host(_));
        let packet = &mut self.pool.get_mut(place).packet;
        packet.wire_bytes = u16::try_from(size).expect("not more than it was");
        packet.flags = packet
            .flags
            .with(Flags::TRIMMED)
            .with(Flags::PRIORITY)
            .with(Flags::LAST_HOP.when(last_hop));
        self.counters.trimmed += 1;
        true
    }

    fn has_header_room(&self, id: PortId, bytes: u64) -> bool {
        let waiting = self.ports[id.index()].bytes_waiting(Flags::PRIORITY);
        self.trim.is_some_and(|trim| u64::from(waiting) + bytes <= trim.limit.get())
    }

    /// A packet is lost.
    pub fn drop_packet(&mut self, place: Place) {
        let packet = self.pool.remove(place);
        if packet.is_control() {
            self.counters.control_dropped += 1;
        } else {
            self.counters.data_dropped += 1;
        }
    }

    /// Settles every port of a switch.
    pub(super) fn settle_switch(&mut self, now: Time, switch: SwitchId) {
        for index in 0..self.switches[switch.index()].ports.len() {
            let id = self.switches[switch.index()].ports[index];
            self.settle(now, id);
            self.arm(id, || false);
        }
    }

    /// True if the packet that arrives now over `id` is lost on the way.
    pub fn lost_on_the_way(&mut self, id: PortId, place: Place) -> bool {
        self.faults.loses(id, &self.ports[id.index()], self.pool.get(place))
    }
}
