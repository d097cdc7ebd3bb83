//! A second world, without the fabric: hosts, switches, and wires that never drop a packet.

use std::{collections::BTreeMap, sync::Arc};

use evenkeel::balance::{Parameters, build_scheme, sender::Trimming};
use evenkeel::endpoint::{Endpoints, Site, base_rtt};
use evenkeel::ids::{HostId, PortId};
use evenkeel::nic::NicConfig;
use evenkeel::packet::Packet;
use evenkeel::pattern::Permutation;
use evenkeel::switching::{Buffer, Ecn, EcnPoint, FabricConfig, PortLoads, Switching};
use evenkeel::topology::{LeafSpine, Node, Topology};
use evenkeel::units::{BitRate, Bytes, Span, Time};

/// All wires, each with the time at which it is `free`, and the events of nodes: packets, timeouts.
struct Wires {
    topology: Arc<Topology>,
    free: Vec<Time>,
    events: BTreeMap<(Time, usize), (Node, Option<Packet>)>,
    now: Time,
}

impl PortLoads for Wires {
    fn bytes(&self, port: PortId, _index: u32) -> u64 {
        let busy = self.free[port.index()].max(self.now).since(self.now);
        self.topology.link(port.link()).rate.bytes_in(busy).get()
    }
}

impl Wires {
    fn transmit(&mut self, port: PortId, packet: Packet) {
        let (link, index) = (self.topology.link(port.link()), port.index());
        let time = link.rate.time_for(Bytes::new(packet.wire_bytes.into()));
        self.free[index] = self.free[index].max(self.now) + time;
        let to = self.topology.ends_of(port).1;
        self.events.insert((self.free[index] + link.delay, index), (to, Some(packet)));
    }

    /// Handles a host after an input: sends its packets and schedules its timeout.
    fn follow_up(&mut self, id: HostId, endpoints: &mut Endpoints) {
        endpoints.follow_up(self.now, id);
        let (now, host) = (self.now, endpoints.host_mut(id));
        while self.free[host.port.index()] <= now
            && let Some(packet) = host.nic.poll_transmit(now)
        {
            self.transmit(host.port, packet);
        }
        let free = self.free[host.port.index()];
        let more = (host.nic.has_packets() && free > now).then_some(free);
        for wake in more.into_iter().chain(host.next_wake(now, free)) {
            self.events.insert((wake, self.free.len() + id.index()), (Node::Host(id), None));
        }
    }
}

fn main() {
    let (leaves, spines, hosts_per_leaf, parallel_links) = (4, 4, 4, 1);
    let ([host_rate, fabric_rate], delay) = ([BitRate::from_gbps(400); 2], Span::from_ns(500));
    let shape =
        LeafSpine { leaves, spines, hosts_per_leaf, host_rate, fabric_rate, delay, parallel_links };
    let topology = Arc::new(shape.build().unwrap());
    let mut fabric = FabricConfig::plain(Buffer::Shared(Bytes::new(u64::MAX)));
    fabric.switch.ecn = Ecn::Step(Bytes::new(100_000));
    let scheme = build_scheme("adaptive", &Parameters::new()).unwrap();
    let mut switching = Switching::new(&topology, &fabric, &scheme, 1);
    let (nic, routes) = (Arc::new(NicConfig::default()), switching.intact_routes().clone());
    let workload = Permutation { hosts: 16, bytes: Bytes::new(1 << 20), seed: 1 }.build().unwrap();
    let base_rtt = base_rtt(&topology, &routes, &nic, Span::ZERO, &workload);
    let trimming = Trimming::Off;
    let (free, events) = (vec![Time::ZERO; 2 * topology.links().len()], BTreeMap::new());
    let mut wires = Wires { topology: topology.clone(), free, events, now: Time::ZERO };
    let (workload, seed) = (Arc::new(workload), 1);
    let (job_policies, own_nics) = (Vec::new(), BTreeMap::new());
    let site = Site {
        topology,
        routes,
        nic,
        own_nics,
        scheme,
        job_policies,
        classes: None,
        job_classes: Vec::new(),
        workload,
        seed,
        base_rtt,
        forwarding_delay: Span::ZERO,
        trimming,
    };
    let mut endpoints = Endpoints::new(site);
    (0..16).for_each(|id| wires.follow_up(HostId(id), &mut endpoints));
    while let Some(((now, _), (node, packet))) = wires.events.pop_first() {
        wires.now = now;
        match node {
            Node::Host(id) => {
                packet.iter().for_each(|packet| endpoints.handle_packet(now, id, packet));
                endpoints.handle_timeout(now, id);
                wires.follow_up(id, &mut endpoints);
            }
            Node::Switch(switch) => {
                let mut packet = packet.expect("switches have no timeouts");
                let port = switching.route(now, switch, &mut packet, &wires).expect("a path");
                let waiting = wires.bytes(port, 0) as u32;
                switching.mark(EcnPoint::Enqueue, port, waiting, &mut packet);
                wires.transmit(port, packet);
            }
        }
    }
    let (done, end) = (endpoints.ledger().completed, endpoints.ledger().last_completion);
    println!("{done} messages of 1 MiB completed after {} ns", end.as_ps() / 1_000);
    assert_eq!((done, endpoints.ledger().open), (16, 0));
}

#[test]
fn every_message_completes() {
    main();
}
