//! What happens to packets at the nodes of `TRACE_FILE`, in the family's binary form.
//!
//! Source: `GetTraceFromPacket` and `EnableTracingDevice` of HPCC's `qbb-helper.cc`, and where its
//! devices call them (`qbb-net-device.cc`): a packet is received when its last bit has arrived,
//! enqueued when it joins the queue of an output port (with the bytes that are there before it),
//! dequeued when its first bit starts (with the bytes that are left). A host has no queue of
//! data: it is dequeued only.
//!
//! What differs from that simulator, because worlds differ and not the form:
//! - it does not note what a switch drops for want of room or a link by its error rate; here every
//!   loss is a record;
//! - the queue of data is the priority group of the file's first flow, whatever the groups of the
//!   others are: switches have one queue without priority;
//! - pieces of a flow that a policy has split share its ports, and each counts its bytes from 0;
//! - a pause frame has 64 bytes, and while one waits a newer one takes its place.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::interface::Interface;
use super::trace_format::{Answer, Body, InterfaceRate, Record, write_header};
use crate::balance::switch::murmur::address;
use crate::endpoint::label_of;
use crate::fabric::{PacketEvent, PacketRecord};
use crate::hpcc::{Experiment, fct, ports, wire};
use crate::ids::HostId;
use crate::nic::answer_label;
use crate::packet::{Flags, Packet, PauseOrder, Psn, View};
use crate::topology::Topology;

/// Queue pairs that a flow may be split on: a path is a number of 16 bits.
const SLOTS: u32 = 1 << 16;

/// A flow by the family's names.
#[derive(Debug, Clone, Copy)]
struct Named {
    src: HostId,
    dst: HostId,
    ports: [u16; 2],
    bytes: u64,
    stream: u32,
}

/// Writes records.
#[derive(Debug)]
pub(super) struct Trace {
    interfaces: Vec<Interface>,
    /// Address of each host.
    addresses: Vec<u32>,
    /// The address of each interface, which is what frames of flow control are from.
    link_addresses: Vec<u32>,
    /// Flows in order of their hosts.
    flows: Vec<Named>,
    /// Which flow packets of these hosts and this label are of.
    by_label: BTreeMap<(HostId, HostId, u32), Option<usize>>,
    group: u8,
    payload: u64,
    pause_time: u32,
}

impl Trace {
    pub fn new(experiment: &Experiment, interfaces: &[Interface]) -> Self {
        let messages = experiment.setup.workload.messages.iter();
        let ports = ports::of(&experiment.flows);
        let mut flows: Vec<Named> = messages
            .zip(ports)
            .map(|(message, (src_port, dst_port))| Named {
                src: message.src,
                dst: message.dst,
                // Written into 16 bits, as the family does.
                ports: [src_port, dst_port as u16],
                bytes: message.bytes.get(),
                stream: message.stream,
            })
            .collect();
        flows.sort_by_key(|flow| (flow.src, flow.dst));
        let mut by_label = BTreeMap::new();
        for (place, flow) in flows.iter().enumerate() {
            by_label.insert(
                (flow.src, flow.dst, label_of((flow.src, flow.dst), flow.stream, 0)),
                Some(place),
            );
        }
        let first = experiment.flows.flows.first();
        let topology = &experiment.setup.topology;
        Self {
            addresses: experiment.host_numbers().iter().copied().map(address).collect(),
            link_addresses: link_addresses(topology, interfaces),
            interfaces: interfaces.to_vec(),
            flows,
            by_label,
            // Cut to 8 bits, as the family does.
            group: first.map_or(0, |flow| flow.priority as u8),
            payload: experiment.setup.nic.payload.get(),
            pause_time: experiment.config.pause_time_us as u32,
        }
    }

    /// Writes what comes before the records.
    pub fn begin(&self, experiment: &Experiment, to: &mut dyn Write) -> io::Result<()> {
        let topology = &experiment.setup.topology;
        let rate = |it: &Interface| InterfaceRate {
            node: it.node as u16,
            interface: it.number as u8,
            rate: topology.link(it.port.link()).rate.as_bps(),
        };
        let mut rates: Vec<InterfaceRate> = self.interfaces.iter().map(rate).collect();
        rates.sort_unstable();
        write_header(to, &rates, fct::largest_bdp(&experiment.setup) as u32)
    }

    /// Writes a record.
    pub fn write(&mut self, record: &PacketRecord, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.record(record).to_bytes())
    }

    fn record(&mut self, said: &PacketRecord) -> Record {
        let interface = self.interfaces[said.port.index()];
        let packet = &said.packet;
        let [src_address, dst_address] = match packet.is_pause_frame() {
            true => [self.sender_of_frame(said), u32::MAX],
            false => [packet.src, packet.dst].map(|host| self.addresses[host.index()]),
        };
        let queue = match (said.event, packet.flags.has(Flags::PRIORITY)) {
            (PacketEvent::Received, _) | (_, true) => 0,
            // At its host an answer is never in a queue of data.
            _ if packet.is_control() && interface.owner.switch().is_none() => 0,
            _ => self.group,
        };
        let is_marked_data = !packet.is_control() && packet.flags.has(Flags::MARKED);
        Record {
            time_ns: said.at.as_ps() / 1_000,
            node: interface.node as u16,
            interface: interface.number as u8,
            queue,
            queue_bytes: said.waiting,
            src_address,
            dst_address,
            size: packet.wire_bytes,
            event: match said.event {
                PacketEvent::Received => 0,
                PacketEvent::Enqueued => 1,
                PacketEvent::Dequeued => 2,
                PacketEvent::Dropped => 3,
            },
            // Packets are sent with 0 for "not capable", and marked all the same.
            ecn: if is_marked_data { 3 } else { 0 },
            node_type: u8::from(interface.owner.switch().is_some()),
            body: self.body(packet),
        }
    }

    /// A frame that is received was sent by the other end of the link.
    fn sender_of_frame(&self, said: &PacketRecord) -> u32 {
        let port = match said.event {
            PacketEvent::Received => said.port.reverse(),
            _ => said.port,
        };
        self.link_addresses[port.index()]
    }

    fn body(&mut self, packet: &Packet) -> Body {
        let group = u16::from(self.group);
        match packet.view() {
            View::Data(data) => {
                let flow = self.flow(packet.src, packet.dst, packet.label);
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
            View::Pause(frame) => Body::FlowControl {
                time: if frame.order == PauseOrder::Pause { self.pause_time } else { 0 },
                queue_bytes: frame.waiting as u32,
                queue: self.group,
            },
        }
    }

    /// The body of an acknowledgement or NACK whose sender has everything before `next`.
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

    /// The flow that an answer is to.
    fn answered(&mut self, packet: &Packet) -> Option<Named> {
        let key = (packet.src, packet.dst, packet.label);
        let pair = (packet.dst, packet.src);
        self.remembered(key, pair, &|label| answer_label(label) == key.2)
    }

    /// The flow that data are of.
    fn flow(&mut self, src: HostId, dst: HostId, label: u32) -> Option<Named> {
        let key = (src, dst, label);
        self.remembered(key, (src, dst), &|other| other == label)
    }

    /// The flow that a search finds, once for all packets of its.
    fn remembered(
        &mut self,
        key: (HostId, HostId, u32),
        pair: (HostId, HostId),
        is_it: &dyn Fn(u32) -> bool,
    ) -> Option<Named> {
        let place = match self.by_label.get(&key) {
            Some(&place) => place,
            None => {
                let place = self.search(pair, is_it);
                self.by_label.insert(key, place);
                place
            }
        };
        place.map(|place| self.flows[place])
    }

    /// The flow of two hosts that has a queue pair of such a label: few have many, so that the
    /// first of each are tried before the second of any.
    fn search(&self, pair: (HostId, HostId), is_it: &dyn Fn(u32) -> bool) -> Option<usize> {
        let first = self.flows.partition_point(|flow| (flow.src, flow.dst) < pair);
        let end = self.flows.partition_point(|flow| (flow.src, flow.dst) <= pair);
        let is_of = |place: usize, slot| is_it(label_of(pair, self.flows[place].stream, slot));
        (0..SLOTS).find_map(|slot| (first..end).find(|&place| is_of(place, slot)))
    }
}

/// The family numbers links too: both ends of link i are in the network 10.a.b.0 with
/// a = i / 254 + 1 and b = i % 254 + 1, the first end being host 1 and the second 2.
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
