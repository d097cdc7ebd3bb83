//! Packets in the network at the end of a run, found in queues and on wires, independent of the
//! counters.

use super::Network;
use crate::ids::PortId;
use crate::packet::Packet;

/// Bytes queued at a port and on its wire. Flow-control frames, which the ends of a link exchange,
/// are separate from packets of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::fabric) struct PortRemainder {
    pub(in crate::fabric) waiting: u64,
    pub(in crate::fabric) on_wire: u64,
    pub(in crate::fabric) frames_waiting: u64,
    pub(in crate::fabric) frames_on_wire: u64,
    /// Queued bytes as the port counts them.
    pub(in crate::fabric) counted: u64,
}

/// Packets in the network at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::fabric) struct Remainder {
    /// Packets in the pool.
    pub(in crate::fabric) in_pool: u64,
    /// Packets in queues and on wires.
    pub(in crate::fabric) found: u64,
    /// Data packets among them.
    pub(in crate::fabric) data: u64,
    /// Control packets of hosts among them.
    pub(in crate::fabric) control: u64,
    /// Bytes at each port, by port id.
    pub(in crate::fabric) ports: Vec<PortRemainder>,
    /// Bytes in the memory account of each switch, by switch id.
    pub(in crate::fabric) accounted: Vec<u64>,
}

impl Network {
    /// Collects the packets in this network. Its ports must be settled.
    pub(in crate::fabric) fn remainder(&self) -> Remainder {
        let mut rest = Remainder {
            in_pool: self.packets().count() as u64,
            ports: vec![PortRemainder::default(); self.ports.len()],
            accounted: self.shared.switching.buffered().to_vec(),
            ..Remainder::default()
        };
        for (id, slot) in self.shared.queue.arrivals() {
            rest.add_on_wire(id, &self.shared.pool.get(slot).packet);
        }
        for (id, port) in (0u32..).map(PortId).zip(&self.ports) {
            rest.ports[id.index()].counted = port.all_waiting().into();
            for slot in port.all_slots().chain(self.class_slots(id)) {
                rest.add_waiting(id, &self.shared.pool.get(slot).packet);
            }
        }
        rest
    }
}

impl Remainder {
    fn add_on_wire(&mut self, id: PortId, packet: &Packet) {
        let port = &mut self.ports[id.index()];
        let bytes = match packet.is_link_frame() {
            true => &mut port.frames_on_wire,
            false => &mut port.on_wire,
        };
        *bytes += u64::from(packet.wire_bytes);
        self.count(packet);
    }

    fn add_waiting(&mut self, id: PortId, packet: &Packet) {
        let port = &mut self.ports[id.index()];
        let bytes = match packet.is_link_frame() {
            true => &mut port.frames_waiting,
            false => &mut port.waiting,
        };
        *bytes += u64::from(packet.wire_bytes);
        self.count(packet);
    }

    fn count(&mut self, packet: &Packet) {
        self.found += 1;
        self.data += u64::from(!packet.is_control());
        self.control += u64::from(packet.is_control() && !packet.is_link_frame());
    }

    /// Adds the packets of another partition of a parallel run. Each packet is in one of them.
    pub(in crate::fabric) fn absorb(&mut self, other: &Self) {
        self.in_pool += other.in_pool;
        self.found += other.found;
        self.data += other.data;
        self.control += other.control;
        for (ours, theirs) in self.ports.iter_mut().zip(&other.ports) {
            ours.waiting += theirs.waiting;
            ours.on_wire += theirs.on_wire;
            ours.frames_waiting += theirs.frames_waiting;
            ours.frames_on_wire += theirs.frames_on_wire;
            ours.counted += theirs.counted;
        }
        for (ours, theirs) in self.accounted.iter_mut().zip(&other.accounted) {
            *ours += theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_of_partitions_add_up() {
        let port = |waiting, on_wire, frames_waiting, frames_on_wire, counted| PortRemainder {
            waiting,
            on_wire,
            frames_waiting,
            frames_on_wire,
            counted,
        };
        let of = |[in_pool, found, data, control]: [u64; 4], ports, accounted: &[u64]| {
            let accounted = accounted.to_vec();
            Remainder { in_pool, found, data, control, ports, accounted }
        };
        let mut one = of([3, 5, 7, 9], vec![port(2, 3, 4, 5, 6), port(7, 8, 9, 10, 11)], &[4, 6]);
        let other = of([4, 6, 9, 11], vec![port(3, 5, 7, 9, 11), port(4, 6, 8, 10, 12)], &[5, 9]);
        one.absorb(&other);
        let ports = vec![port(5, 8, 11, 14, 17), port(11, 14, 17, 20, 23)];
        assert_eq!(one, of([7, 11, 16, 20], ports, &[9, 15]));
    }
}
