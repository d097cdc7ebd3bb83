//! Tests of the contract, with a small simulator that uses it: a heap of arrivals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use evenkeel_engine::fabric::NetworkCounters;
use evenkeel_engine::fabric::{self, Outcome};
use evenkeel_engine::packet::{Flags, KindFields, Packet, PacketKind, RawFields};

use super::contract::{Graph, Measured, Overrides, Verdict};
use super::convert::TryConvert as _;
use super::core::{Core, NONE, PostError};
use super::enumerations::{FabricMessageEventKind, FabricPacketKind};
use super::experiment::{
    Experiment, ExperimentError, experiment_of_text, experiment_on_graph, graph_of,
};
use super::records::{
    FabricCompletion, FabricCounters, FabricEnd, FabricLink, FabricMessageEvent, FabricPacket,
};

mod classes;
mod failing;
mod hostile;
mod layout;
mod nics;
mod queues;
mod verbs;

const SPREAD: &str = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\ndelay = \"517ns\"\n\
                      [transport]\nack_priority = false\nretransmit_timeout = \"50us\"\n";

fn experiment(text: &str) -> Box<Experiment> {
    experiment_of_text(text, "", &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_packet_is_the_same_on_both_sides() {
    let packet = Packet {
        src: evenkeel_engine::ids::HostId(1),
        dst: evenkeel_engine::ids::HostId(2),
        qp: evenkeel_engine::ids::QpId(3),
        label: 4,
        fields: KindFields::of_raw(RawFields {
            sack: 1 << 40,
            psn: 5,
            ack: 6,
            marked: 8,
            stamp: 9,
        }),
        wire_bytes: 10,
        entropy: 11,
        route: 12,
        kind: PacketKind::Refusal,
        flags: Flags::LAST.with(Flags::MARKED),
    };
    let mut packet = packet;
    packet.set_class(evenkeel_engine::ids::ClassId(5));
    let wire = FabricPacket::from(&packet);
    assert_eq!((wire.psn, wire.stamp, wire.flags), (5, 9, 3));
    assert_eq!((wire.kind, wire.ack), (FabricPacketKind::REFUSAL, 5 << 24 | 6));
    assert_eq!(Packet::from(&wire), packet);
}

#[test]
fn known_packet_kinds_convert_and_unknown_ones_are_errors() {
    for value in 0..=12 {
        let kind: PacketKind = FabricPacketKind { repr: value }.try_convert().unwrap();
        assert_eq!(FabricPacketKind::from(kind).repr, value);
    }
    let unknown: Result<PacketKind, _> = FabricPacketKind { repr: 13 }.try_convert();
    let error = unknown.unwrap_err();
    assert_eq!(error.to_string(), "packet kind 13 is unknown: it must be from 0 to 12");
}

#[test]
#[should_panic(expected = "packet kind 13 is unknown: it must be from 0 to 12")]
fn a_packet_of_an_unknown_kind_panics() {
    let wire = FabricPacket { kind: FabricPacketKind { repr: 13 }, ..FabricPacket::default() };
    let _ = Packet::from(&wire);
}

/// A simulator with plain links and switches: each port is a FIFO queue that starts packets as
/// early as possible.
struct Plain<'a> {
    core: &'a mut Core,
    links: &'a [FabricLink],
    gap: u64,
    free: Vec<u64>,
    /// The time to wake each host, by host; the largest number without one.
    wakes: Vec<u64>,
    /// The time, the port that sent a packet (or the host to wake), and the index of the packet.
    events: BinaryHeap<Reverse<(u64, u32, u32)>>,
    in_flight: Vec<Option<FabricPacket>>,
    carried: Vec<u64>,
    completed: Vec<FabricCompletion>,
}

/// Offset of the host of a wake-up, so that wake-ups follow all arrivals at their time.
const WAKE: u32 = 1 << 20;

impl<'a> Plain<'a> {
    fn new(core: &'a mut Core, graph: &'a Graph, gap_bytes: u32) -> Self {
        let ports = 2 * graph.links.len();
        Self {
            core,
            links: &graph.links,
            gap: gap_bytes.into(),
            free: vec![0; ports],
            wakes: vec![u64::MAX; graph.hosts.len()],
            events: BinaryHeap::new(),
            in_flight: Vec::new(),
            carried: vec![0; ports],
            completed: Vec::new(),
        }
    }

    fn time_for(&self, port: u32, bytes: u64) -> u64 {
        let rate = u128::from(self.links[port as usize / 2].rate_bps);
        (u128::from(bytes) * 8_000_000_000_000).div_ceil(rate) as u64
    }

    fn send(&mut self, port: u32, start: u64, packet: FabricPacket) {
        let sent = start + self.time_for(port, packet.wire_bytes.into());
        self.free[port as usize] = sent + self.time_for(port, self.gap);
        self.carried[port as usize] += u64::from(packet.wire_bytes);
        let number = self.in_flight.len() as u32;
        self.in_flight.push(Some(packet));
        let arrives = sent + self.links[port as usize / 2].delay_ps;
        self.events.push(Reverse((arrives, port, number)));
    }

    fn port_of_host(&self, host: u32) -> u32 {
        let is_its = |link: &FabricLink| link.a.is_host && link.a.number == host;
        2 * self.links.iter().position(is_its).expect("a host has a link") as u32
    }

    /// Sends all packets that a host can send by now.
    fn pump(&mut self, host: u32, now: u64) {
        let port = self.port_of_host(host);
        let mut packet = FabricPacket::default();
        let mut free = self.free[port as usize];
        while self.core.poll_transmit(host, now, &mut free, &mut packet) {
            self.send(port, free, packet);
            free = self.free[port as usize];
        }
        self.free[port as usize] = free;
    }

    /// Schedules the wake-up that a host requests, or an earlier one when its wire becomes free.
    fn keep_wake(&mut self, host: u32, now: u64) {
        let free = self.free[self.port_of_host(host) as usize];
        let mut wake = self.core.next_wake(host, now, free);
        if self.core.has_packets(host) && free > now {
            wake = wake.min(free);
        }
        if wake < self.wakes[host as usize] {
            self.wakes[host as usize] = wake;
            self.events.push(Reverse((wake, WAKE + host, 0)));
        }
    }

    /// Sends packets and schedules the wake-up of a host after it handled an event.
    fn follow_up(&mut self, host: u32, now: u64) {
        let port = self.port_of_host(host) as usize;
        self.free[port] = self.free[port].max(now);
        self.pump(host, now);
        self.keep_wake(host, now);
    }

    fn run(&mut self, hosts: u32) -> u64 {
        (0..hosts).for_each(|host| self.keep_wake(host, 0));
        loop {
            let now = self.step().expect("events ran out");
            if self.core.is_finished() {
                return now;
            }
        }
    }

    /// Handles the next event and returns its time.
    fn step(&mut self) -> Option<u64> {
        let Reverse((now, place, number)) = self.events.pop()?;
        if let Some(host) = place.checked_sub(WAKE) {
            if self.wakes[host as usize] != now {
                return Some(now);
            }
            self.wakes[host as usize] = u64::MAX;
            self.pump(host, now);
            self.core.handle_timeout(host, now);
            self.follow_up(host, now);
        } else {
            self.arrive(place, now, number);
        }
        let mut completion = FabricCompletion::default();
        while self.core.poll_completion(&mut completion) {
            self.completed.push(completion);
        }
        loop {
            let touched = self.core.poll_touched();
            if touched == NONE {
                return Some(now);
            }
            self.keep_wake(touched, now);
        }
    }

    fn arrive(&mut self, port: u32, now: u64, number: u32) {
        let mut packet = self.in_flight[number as usize].take().unwrap();
        let link = self.links[port as usize / 2];
        let FabricEnd { number: node, is_host } =
            if port.is_multiple_of(2) { link.b } else { link.a };
        if is_host {
            self.pump(node, now);
            self.core.handle_packet(node, now, &packet);
            self.follow_up(node, now);
            return;
        }
        let chosen = self.core.route(node, now, &mut packet, &[]);
        let out = self.port_of(node, chosen);
        assert!(matches!(self.core.only_port(node, packet.dst), NONE) || chosen != NONE);
        let start = self.free[out as usize].max(now);
        self.send(out, start, packet);
    }

    /// Returns the port of a switch with this index, in the order of links.
    fn port_of(&self, switch: u32, index: u32) -> u32 {
        let is_it = |end: FabricEnd| !end.is_host && end.number == switch;
        let mut ports = (0u32..).zip(self.links).filter_map(|(id, link)| {
            is_it(link.a).then_some(2 * id).or(is_it(link.b).then_some(2 * id + 1))
        });
        ports.nth(index as usize).expect("the index is that of a port of the switch")
    }
}

/// Runs an experiment in the plain simulator. Returns completion times by flow, and bytes by port.
fn plainly(experiment: &Experiment) -> (Vec<(u32, u32, u64)>, Vec<u64>) {
    let graph = experiment.core().graph();
    let mut core = experiment.core();
    let mut world = Plain::new(&mut core, &graph, experiment.core().settings().gap_bytes);
    world.run(graph.hosts.len() as u32);
    let carried = world.carried;
    let flows = core.flows();
    (flows.iter().map(|flow| (flow.message, flow.piece, flow.completed_ps)).collect(), carried)
}

fn in_the_fabric(experiment: &Experiment) -> (Vec<(u32, u32, u64)>, Vec<u64>) {
    let Outcome { flows, link_bytes, .. } = fabric::run(&experiment.setup, &mut |_| {});
    let times = flows.iter().map(|flow| (flow.message.0, flow.piece, flow.completed.as_ps()));
    (times.collect(), link_bytes.iter().map(|bytes| bytes.get()).collect())
}

/// A simulator that follows the contract agrees with the fabric, even without ns-3.
#[test]
fn a_small_simulator_agrees_with_the_fabric_to_the_picosecond() {
    let idle = "[workload]\nkind = \"incast\"\nfan_in = 1\nbytes = \"100KB\"\n";
    let ring = "[workload]\nkind = \"shift\"\nshift = 2\nbytes = \"100KB\"\n";
    for (policy, workload) in [
        ("ecmp", idle),
        ("ethereal", idle),
        ("spray-rr", idle),
        ("ethereal", ring),
        ("host-dr", idle),
        ("whack-a-mole", idle),
    ] {
        let text = format!("{SPREAD}[policy]\nname = \"{policy}\"\n{workload}");
        let experiment = experiment(&text);
        assert_eq!(plainly(&experiment), in_the_fabric(&experiment), "{policy}, {workload}");
    }
}

#[test]
fn errors_are_those_of_the_command_line() {
    let rejected = |text: &str| {
        experiment_of_text(text, "", &Overrides::default()).err().map(|error| error.to_string())
    };
    let said = rejected("[policy]\nname = \"sprey\"").unwrap();
    assert!(said.contains("unknown policy 'sprey'; did you mean 'spray'?"), "{said}");
    let overrides = Overrides { policy: "spray".into(), has_seed: true, seed: 7 };
    let experiment = experiment_of_text(SPREAD, "", &overrides).unwrap();
    assert_eq!((experiment.policy().as_str(), experiment.setup.seed), ("spray", 7));
    let said = graph_of("kind = \"mesh\"", "").unwrap_err().to_string();
    assert!(said.contains("mesh"), "{said}");
    let said = rejected("[topology.scale_up]\ngpus = 8").unwrap();
    assert!(said.contains("scale_up"), "{said}");
    let said = rejected("[switch]\ntrim = { victim = \"arriving-or-last\" }").unwrap();
    assert!(said.contains("switch.trim.victim"), "{said}");
    let said = rejected("[topology]\nkind = \"dragonfly\"\n[policy]\nname = \"ugal\"").unwrap();
    assert!(said.contains("'ugal'"), "{said}");
}

/// A script without a scenario file must not get messages that name one.
#[test]
fn errors_in_a_text_name_the_text_instead_of_a_file() {
    let start = |error: ExperimentError| error.to_string().lines().next().unwrap().to_owned();
    let overrides = Overrides::default();
    let settings = experiment_on_graph(&two_hosts(), "[policy]\nname = 7", ".", &overrides);
    assert_eq!(
        start(settings.unwrap_err()),
        "the settings of the fabric:2:8: policy.name: invalid \
         type: integer 7, expected a quoted string; `evenkeel list policies` lists them"
    );
    let text = experiment_of_text("[topology]\nleaves = 0", "there", &overrides);
    let said = start(text.unwrap_err());
    assert!(said.starts_with("the text of the scenario:2:10: topology.leaves"), "{said}");
    let said = start(graph_of("leaves = 0", ".").unwrap_err());
    assert!(said.starts_with("[topology]:2:10: topology.leaves"), "{said}");
}

fn two_hosts() -> Graph {
    let link = |host| FabricLink {
        a: FabricEnd { number: host, is_host: true },
        rate_bps: 100_000_000_000,
        delay_ps: 500_000,
        ..FabricLink::default()
    };
    Graph {
        hosts: vec!["left".into(), "right".into()],
        switches: vec!["middle".into()],
        links: vec![link(0), link(1)],
        joined_ports: false,
    }
}

#[test]
fn a_graph_has_no_messages_until_they_are_posted() {
    let experiment =
        experiment_on_graph(&two_hosts(), "[policy]\nname = \"ecmp\"", "", &Overrides::default());
    let experiment = experiment.unwrap();
    assert_eq!(experiment.core().graph(), two_hosts());
    let mut core = experiment.core();
    assert!(core.is_finished());
    assert_eq!(core.post(0, 0, 1, 0, 0, 0).unwrap_err(), PostError::ToItself(0));
    assert!(core.post(0, 2, 1, 0, 0, 0).unwrap_err().to_string().contains("there are 2 hosts"));
    assert_eq!(core.post(0, 1, 0, 0, 0, 0).unwrap_err(), PostError::Empty);
    assert_eq!(core.post(0, 1, 1_000, 0, 5, 0), Ok(0));
    assert!(!core.is_finished());
    assert_eq!((core.poll_touched(), core.poll_touched()), (0, NONE));
    assert_eq!(core.next_wake(0, 0, 0), 5);
    core.handle_timeout(0, 5);
    let (mut packet, mut free) = (FabricPacket::default(), 5);
    assert!(core.poll_transmit(0, 5, &mut free, &mut packet));
    assert_eq!((packet.src, packet.dst, packet.wire_bytes), (0, 1, 1_062));
    assert!(!core.poll_transmit(0, 5, &mut free, &mut packet));
    assert_eq!((core.route(0, 90, &mut packet, &[]), core.only_port(0, 1)), (1, 1));
    assert!(core.handle_packet(1, 700, &packet));
    let mut event = FabricMessageEvent::default();
    assert!(core.poll_message_event(&mut event));
    assert_eq!(event.kind, FabricMessageEventKind::DELIVERED);
    assert_eq!((event.message, event.start_ps, event.at_ps), (0, 5, 700));
}

#[test]
fn graph_errors_name_the_nodes() {
    let mut graph = two_hosts();
    graph.links.pop();
    let said = experiment_on_graph(&graph, "", "", &Overrides::default()).unwrap_err().to_string();
    assert_eq!(said, "the graph: right has no link; expected exactly 1");
    let unfit = "[topology]\nleaves = 4";
    let said = experiment_on_graph(&two_hosts(), unfit, "", &Overrides::default());
    assert!(said.unwrap_err().to_string().contains("leaves"));
}

/// Builds two hosts, each with links to the given switches.
fn with_ports(switches_of_hosts: [&[u32]; 2]) -> Graph {
    let link = |host, switch| FabricLink {
        a: FabricEnd { number: host, is_host: true },
        b: FabricEnd { number: switch, is_host: false },
        rate_bps: 100_000_000_000,
        delay_ps: 500_000,
    };
    let of_host = |(host, switches): (u32, &[u32])| {
        switches.iter().map(|&switch| link(host, switch)).collect::<Vec<_>>()
    };
    Graph {
        hosts: vec!["left".into(), "right".into()],
        switches: ["a", "b"].map(String::from).into(),
        links: (0..).zip(switches_of_hosts).flat_map(of_host).collect(),
        joined_ports: false,
    }
}

#[test]
fn links_of_a_multi_port_host_are_ports_in_planes() {
    let made = |graph: &Graph| {
        let settings = "[policy]\nname = \"plane-jsq\"";
        experiment_on_graph(graph, settings, "", &Overrides::default())
    };
    let graph = with_ports([&[0, 1], &[0, 1]]);
    let experiment = made(&graph).unwrap();
    assert_eq!((experiment.setup.topology.planes().count(), experiment.core().graph()), (2, graph));
    let mut core = experiment.core();
    core.post(0, 1, 10_000, 0, 0, 0).unwrap();
    core.handle_timeout(0, 0);
    core.poll_anew(0, 0);
    let (mut start, mut plane, mut packet) = (0, 7, FabricPacket::default());
    let mut next = |free: [u64; 2], paused| {
        let found = core.poll_transmit_on(0, 9, &free, paused, &mut start, &mut plane, &mut packet);
        found.then_some((start, plane))
    };
    assert_eq!(next([0, 0], 1), Some((0, 1)), "the other port is paused");
    assert_eq!(next([8, 9], 0), Some((8, 0)));
    assert_eq!(next([20, 12], 0), None);
    assert!(core.next_wake(0, 9, 12) > 12);
    for (ports, reason) in [
        ([&[0, 1][..], &[0][..]], "right has 1 links; expected 2, one in each plane"),
        ([&[0, 1][..], &[1, 0][..]], "right: its port in plane 0 is not attached to that plane"),
        ([&[0, 0][..], &[0, 1][..]], "left: its port in plane 1 is not attached to that plane"),
    ] {
        let said = made(&with_ports(ports)).unwrap_err().to_string();
        assert!(said.starts_with(&format!("the graph: {reason}")), "{said}");
        let link = said.contains("(link right-b)") || said.contains("(link left-a)");
        assert_eq!(link, reason.contains("attached"), "{said}");
    }
}

#[test]
fn measurements_are_in_the_outcome() {
    let mut core = experiment(SPREAD).core();
    let counters = FabricCounters(NetworkCounters { trimmed: 3, ..NetworkCounters::default() });
    core.record(&Measured { counters, verdict: Verdict::TimeLimit, ..Measured::default() });
    assert_eq!(core.outcome().counters.trimmed, 3);
}
