//! Packet events at the nodes of `TRACE_FILE`, in the family's binary format.
//!
//! Source: `GetTraceFromPacket` and `EnableTracingDevice` of HPCC's `qbb-helper.cc`, and their
//! callers in `qbb-net-device.cc`. A packet is received when its last bit has arrived. It is
//! enqueued when it joins the queue of an output port; the record gives the bytes already in the
//! queue. It is dequeued when its first bit is transmitted; the record gives the bytes that remain.
//! A host has no data queue, so its data packets are only dequeued.
//!
//! The format is the family's, but the simulated network differs:
//! - the family does not record packets that a switch drops because its buffer is full, or that a
//!   link loses by its error rate; here every loss is a record;
//! - the data queue has the priority group of the first flow in the file, also for flows of other
//!   groups, because switches have one queue without priority;
//! - the pieces of a flow that a policy splits share its ports, and each counts its bytes from 0;
//! - a pause frame has 64 bytes, and a newer frame replaces one that has not been transmitted.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::interface::Interface;
use super::trace_format::{Answer, Body, InterfaceRate, Record, write_header};
use crate::balance::switch::murmur::address;
use crate::endpoint::label_of;
use crate::fabric::{PacketEvent, PacketRecord};
use crate::hpcc::{Experiment, ports, round_trips, wire};
use crate::ids::HostId;
use crate::nic::reverse_label;
use crate::packet::{Flags, Packet, PauseOrder, Psn, View};
use crate::topology::Topology;

/// Maximum number of queue pairs that a splitter uses for one flow: paths are 16-bit numbers.
const MAX_SLOTS: u32 = 1 << 16;

/// The sender and the receiver of a flow or of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HostPair {
    src: HostId,
    dst: HostId,
}

/// Identifies the queue pair of a packet: its hosts and its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PacketKey {
    hosts: HostPair,
    label: u32,
}

/// A flow with the family's ports.
#[derive(Debug, Clone, Copy)]
struct TracedFlow {
    hosts: HostPair,
    /// Source and destination ports.
    ports: [u16; 2],
    bytes: u64,
    stream: u32,
}

impl TracedFlow {
    /// Returns the label of the flow's packets on the queue pair with index `slot`.
    fn label(&self, slot: u32) -> u32 {
        label_of(self.hosts.src, self.hosts.dst, self.stream, slot)
    }
}

/// Converts packet events into records.
#[derive(Debug)]
pub(super) struct Trace {
    interfaces: Vec<Interface>,
    /// The address of each host, by id.
    addresses: Vec<u32>,
    /// Address of each interface by port id; it is the source of PFC frames.
    link_addresses: Vec<u32>,
    /// Flows in the order of their hosts.
    flows: Vec<TracedFlow>,
    /// Cached index in `flows` per queue pair; `None` for packets of no flow.
    by_label: BTreeMap<PacketKey, Option<usize>>,
    group: u8,
    payload: u64,
    pause_time: u32,
}

impl Trace {
    pub(super) fn new(experiment: &Experiment, interfaces: &[Interface]) -> Self {
        let messages = experiment.setup.workload.messages.iter();
        let ports = ports::of(&experiment.flows);
        let mut flows: Vec<TracedFlow> = messages
            .zip(ports)
            .map(|(message, ports)| TracedFlow {
                hosts: HostPair { src: message.src, dst: message.dst },
                // Truncated to 16 bits, as the family does.
                ports: [ports.source, ports.destination as u16],
                bytes: message.bytes.get(),
                stream: message.stream,
            })
            .collect();
        flows.sort_by_key(|flow| flow.hosts);
        let first_slots = flows.iter().enumerate().map(|(index, flow)| {
            (PacketKey { hosts: flow.hosts, label: flow.label(0) }, Some(index))
        });
        let by_label = first_slots.collect();
        let first = experiment.flows.flows.first();
        let topology = &experiment.setup.topology;
        Self {
            addresses: experiment.host_numbers().iter().copied().map(address).collect(),
            link_addresses: link_addresses(topology, interfaces),
            interfaces: interfaces.to_vec(),
            flows,
            by_label,
            // Truncated to 8 bits, as the family does.
            group: first.map_or(0, |flow| flow.priority as u8),
            payload: experiment.setup.nic.payload.get(),
            pause_time: experiment.config.pause_time_us as u32,
        }
    }

    /// Writes the header of the file.
    pub(super) fn write_header(
        &self,
        experiment: &Experiment,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let topology = &experiment.setup.topology;
        let rate = |it: &Interface| InterfaceRate {
            node: it.node as u16,
            interface: it.number as u8,
            rate: topology.link(it.port.link()).rate.as_bps(),
        };
        let mut rates: Vec<InterfaceRate> = self.interfaces.iter().map(rate).collect();
        rates.sort_unstable();
        let largest = round_trips::largest(topology, experiment.setup.nic.payload);
        write_header(to, &rates, largest.product.get() as u32)
    }

    /// Writes the record of a packet event.
    pub(super) fn write(&mut self, event: &PacketRecord, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.record(event).to_bytes())
    }

    fn record(&mut self, event: &PacketRecord) -> Record {
        let interface = self.interfaces[event.port.index()];
        let packet = &event.packet;
        let [src_address, dst_address] = match packet.is_link_frame() {
            true => [self.sender_of_frame(event), u32::MAX],
            false => [packet.src, packet.dst].map(|host| self.addresses[host.index()]),
        };
        let queue = match (event.event, packet.flags.has(Flags::PRIORITY)) {
            (PacketEvent::Received, _) | (_, true) => 0,
            // A host has no data queue that an acknowledgement could join.
            _ if packet.is_control() && interface.owner.switch().is_none() => 0,
            _ => self.group,
        };
        let is_marked_data = !packet.is_control() && packet.flags.has(Flags::MARKED);
        Record {
            time_ns: event.at.as_ps() / 1_000,
            node: interface.node as u16,
            interface: interface.number as u8,
            queue,
            queue_bytes: event.waiting,
            src_address,
            dst_address,
            size: packet.wire_bytes,
            event: match event.event {
                PacketEvent::Received => 0,
                PacketEvent::Enqueued => 1,
                PacketEvent::Dequeued => 2,
                PacketEvent::Dropped => 3,
            },
            // The family sends packets as not ECN-capable (0) and marks them all the same.
            ecn: if is_marked_data { 3 } else { 0 },
            node_type: u8::from(interface.owner.switch().is_some()),
            body: self.body(packet),
        }
    }

    /// Returns the address of the interface that sent a PFC frame. A received frame comes from the
    /// other end of the link.
    fn sender_of_frame(&self, event: &PacketRecord) -> u32 {
        let port = match event.event {
            PacketEvent::Received => event.port.reverse(),
            _ => event.port,
        };
        self.link_addresses[port.index()]
    }

    fn body(&mut self, packet: &Packet) -> Body {
        let group = u16::from(self.group);
        match packet.view() {
            View::Data(data) => {
                let flow = self.flow(packet);
                let payload = u64::from(packet.wire_bytes).saturating_sub(wire::HEADER.get());
                Body::Data {
                    ports: flow.map_or([0; 2], |flow| flow.ports),
                    seq: (u64::from(data.psn().get()) * self.payload) as u32,
                    stamp: 0,
                    group,
                    payload: payload as u16,
                }
            }
            View::Ack(ack) => self.answer(packet, Answer::Ack, ack.cumulative()),
            View::Nack(nack) => self.answer(packet, Answer::Nack, nack.as_ack().cumulative()),
            View::Refusal(_) => self.answer(packet, Answer::Nack, Psn::default()),
            View::Cnp => {
                let flow = self.answered(packet).map_or(0, |flow| flow.ports[0]);
                Body::Notification { flow, queue: self.group, ecn: 3, marked: 1, total: 1 }
            }
            View::Endpoint(_) | View::Credit(_) | View::LinkCredit(_) => {
                unreachable!("hosts of this family have one port, and no credit")
            }
            View::Pause(frame) => Body::Pfc {
                time: if frame.order == PauseOrder::Pause { self.pause_time } else { 0 },
                queue_bytes: frame.waiting as u32,
                queue: self.group,
            },
        }
    }

    /// Builds the body of an ACK or NACK, whose sender has received everything before `next`.
    fn answer(&mut self, packet: &Packet, protocol: Answer, next: Psn) -> Body {
        let flow = self.answered(packet);
        let [src_port, dst_port] = flow.map_or([0; 2], |flow| flow.ports);
        let next = u64::from(next.get()) * self.payload;
        Body::Answer {
            protocol,
            ports: [dst_port, src_port],
            flags: u16::from(packet.flags.has(Flags::MARKED)),
            group: u16::from(self.group),
            seq: flow.map_or(next, |flow| next.min(flow.bytes)) as u32,
            stamp: 0,
        }
    }

    /// Returns the flow that an acknowledgement or notification belongs to.
    fn answered(&mut self, packet: &Packet) -> Option<TracedFlow> {
        let hosts = HostPair { src: packet.src, dst: packet.dst };
        let key = PacketKey { hosts, label: packet.label };
        let flow_hosts = HostPair { src: packet.dst, dst: packet.src };
        self.cached(key, flow_hosts, &|label| reverse_label(label) == key.label)
    }

    /// Returns the flow of a data packet.
    fn flow(&mut self, packet: &Packet) -> Option<TracedFlow> {
        let hosts = HostPair { src: packet.src, dst: packet.dst };
        let key = PacketKey { hosts, label: packet.label };
        self.cached(key, hosts, &|label| label == key.label)
    }

    /// Returns the flow for `key`; searches once for all packets of its queue pair.
    fn cached(
        &mut self,
        key: PacketKey,
        flow_hosts: HostPair,
        has_label: &dyn Fn(u32) -> bool,
    ) -> Option<TracedFlow> {
        let index = match self.by_label.get(&key) {
            Some(&index) => index,
            None => {
                let index = self.search(flow_hosts, has_label);
                self.by_label.insert(key, index);
                index
            }
        };
        index.map(|index| self.flows[index])
    }

    /// Returns the index of the flow between two hosts that has a queue pair with a matching label.
    /// Few flows have many queue pairs, so the first queue pair of every flow is tried before the
    /// second of any.
    fn search(&self, hosts: HostPair, has_label: &dyn Fn(u32) -> bool) -> Option<usize> {
        let first = self.flows.partition_point(|flow| flow.hosts < hosts);
        let end = self.flows.partition_point(|flow| flow.hosts <= hosts);
        (0..MAX_SLOTS)
            .find_map(|slot| (first..end).find(|&index| has_label(self.flows[index].label(slot))))
    }
}

/// Returns the address of each interface, by port id. The family also numbers links. Both ends of
/// link i are in the network 10.a.b.0 with a = i / 254 + 1 and b = i % 254 + 1, the first end as
/// host 1 and the second as host 2.
fn link_addresses(topology: &Topology, interfaces: &[Interface]) -> Vec<u32> {
    let address = |it: &Interface| {
        let link = it.port.link().0;
        let end = if topology.link(it.port.link()).ends[0] == it.owner { 1 } else { 2 };
        0x0a00_0000_u32
            .wrapping_add((link / 254 + 1).wrapping_shl(16))
            .wrapping_add((link % 254 + 1) << 8)
            .wrapping_add(end)
    };
    interfaces.iter().map(address).collect()
}
