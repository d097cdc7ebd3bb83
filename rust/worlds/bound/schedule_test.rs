//! Tests the bounds against simulated packets. The small event loop with random spraying shares
//! only the packet sizes with the fabric.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::fixtures::{OFAN, fat_tree, flow, flows, leaf_spine};
use super::{Wire, bound};
use crate::ids::{HostId, PortId};
use crate::rng::{Purpose, Stream};
use crate::topology::{Node, Routes, Topology};
use crate::units::{BitRate, Bytes};
use crate::workload::Workload;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    message: usize,
    bytes: Bytes,
    is_ack: bool,
    /// Whether it acknowledges the packet that completed its message.
    completes: bool,
    dst: HostId,
}

/// An event at a port: its packet arrives at the other end, or the port becomes idle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive(PortId, Packet),
    Free(PortId),
}

struct Loop<'a> {
    topology: &'a Topology,
    routes: &'a Routes,
    wire: &'a Wire,
    draws: Stream,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    busy: Vec<bool>,
    /// By port: the queue of acknowledgements, then the queue of data.
    queues: Vec<[VecDeque<Packet>; 2]>,
}

impl Loop<'_> {
    fn enqueue(&mut self, now: u64, port: PortId, packet: Packet) {
        let class = usize::from(!packet.is_ack && self.wire.ack_priority);
        self.queues[port.index()][class].push_back(packet);
        self.send(now, port);
    }

    fn send(&mut self, now: u64, port: PortId) {
        if self.busy[port.index()] {
            return;
        }
        let [first, second] = &mut self.queues[port.index()];
        let Some(packet) = first.pop_front().or_else(|| second.pop_front()) else { return };
        self.busy[port.index()] = true;
        let link = self.topology.link(port.link());
        let arrives = now + (link.rate.time_for(packet.bytes) + link.delay).as_ps();
        let free = now + link.rate.time_for(packet.bytes + self.wire.gap).as_ps();
        self.events.push(Reverse((arrives, Event::Arrive(port, packet))));
        self.events.push(Reverse((free, Event::Free(port))));
    }

    /// Forwards the packet at a switch; returns it at its destination host.
    fn arrive(&mut self, now: u64, port: PortId, packet: Packet) -> Option<Packet> {
        let Node::Switch(switch) = self.topology.ends_of(port).1 else { return Some(packet) };
        let candidates = self.routes.next_hops(switch, packet.dst);
        let pick = self.draws.below(candidates.len() as u32) as usize;
        self.enqueue(now, candidates[pick], packet);
        None
    }
}

/// Returns the time of the last completion, in picoseconds.
fn completion(topology: &Topology, workload: &Workload, wire: &Wire, seed: u64) -> u64 {
    let routes = Routes::new(topology, &|_| true);
    let ports = 2 * topology.links().len();
    let mut world = Loop {
        topology,
        routes: &routes,
        wire,
        draws: Stream::new(seed, Purpose::Test, 2),
        events: BinaryHeap::new(),
        busy: vec![false; ports],
        queues: vec![Default::default(); ports],
    };
    let packets = |bytes: u64| bytes.div_ceil(wire.payload.get()).max(1);
    let mut missing: Vec<u64> = workload.messages.iter().map(|m| packets(m.bytes.get())).collect();
    for (id, message) in workload.messages.iter().enumerate() {
        for packet in 0..missing[id] {
            let left = message.bytes.get() - packet * wire.payload.get();
            let bytes = Bytes::new(left.min(wire.payload.get())) + wire.header;
            let packet =
                Packet { message: id, bytes, is_ack: false, completes: false, dst: message.dst };
            world.enqueue(0, topology.host_port(message.src), packet);
        }
    }
    let mut end = 0;
    while let Some(Reverse((now, event))) = world.events.pop() {
        match event {
            Event::Free(port) => {
                world.busy[port.index()] = false;
                world.send(now, port);
            }
            Event::Arrive(port, packet) => {
                let Some(packet) = world.arrive(now, port, packet) else { continue };
                let message = &workload.messages[packet.message];
                if packet.is_ack {
                    end = if packet.completes { now } else { end };
                    continue;
                }
                let left = &mut missing[packet.message];
                *left -= 1;
                if left.is_multiple_of(u64::from(wire.ack_every)) {
                    let completes = *left == 0;
                    let ack = Packet {
                        bytes: wire.ack,
                        is_ack: true,
                        completes,
                        dst: message.src,
                        ..packet
                    };
                    world.enqueue(now, topology.host_port(message.dst), ack);
                }
            }
        }
    }
    end
}

fn random_flows(draws: &mut Stream, hosts: u32) -> Workload {
    let sizes = [0, 1, 4_096, 4_100, 20_000, 500_000];
    let mut to: Vec<u32> = (0..hosts).collect();
    draws.shuffle(&mut to);
    let one_size = sizes[draws.below(6) as usize];
    match draws.below(3) {
        0 => {
            let pairs = (0..hosts).zip(to).filter(|(src, dst)| src != dst);
            flows(pairs.map(|(src, dst)| flow(src, dst, one_size)))
        }
        1 => flows((1..hosts).map(|src| flow(src, 0, one_size))),
        _ => {
            let mut some = Vec::new();
            for _ in 0..1 + draws.below(2 * hosts) {
                let (src, by) = (draws.below(hosts), 1 + draws.below(hosts - 1));
                some.push(flow(src, (src + by) % hosts, sizes[draws.below(6) as usize]));
            }
            flows(some.into_iter())
        }
    }
}

#[test]
fn no_schedule_of_packets_beats_the_bound() {
    let rate = BitRate::from_gbps(800);
    let fabrics = [
        leaf_spine(1, 1, 6, rate),
        leaf_spine(4, 2, 4, rate),
        leaf_spine(3, 4, 2, rate),
        fat_tree(4, rate),
    ];
    // Tolerance: the gap that the paper's permutation bound counts beyond its proof.
    let paper_gap = rate.time_for(OFAN.gap).as_ps();
    for seed in 0..400 {
        let mut draws = Stream::new(seed, Purpose::Test, 1);
        let topology = &fabrics[draws.below(4) as usize];
        let workload = random_flows(&mut draws, topology.host_count());
        let wire =
            Wire { ack_every: 1 + 3 * draws.below(2), ack_priority: draws.below(4) > 0, ..OFAN };
        let bound = bound(topology, &Routes::new(topology, &|_| true), &workload, &wire);
        let end = completion(topology, &workload, &wire, seed);
        let slack = if bound.binding == "permutation" { paper_gap } else { 0 };
        assert!(bound.time.as_ps() <= end + slack, "seed {seed}: {bound:?} > {end}");
        // A short last packet may overtake the one before it or follow it.
        let whole = |bytes: Bytes| bytes.get().is_multiple_of(wire.payload.get());
        if matches!(workload.messages.as_slice(), [only] if whole(only.bytes)) {
            assert_eq!(bound.time.as_ps(), end, "seed {seed}: a message alone meets it");
        }
    }
}
