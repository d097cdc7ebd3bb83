//! Switches: queue lengths, policy state, and probes of queues.

use super::*;
use crate::balance::switch::StateSize;
use crate::fabric::network::Network;
use crate::ids::{PortId, SwitchId};
use crate::packet::Packet;
use crate::switching::PortLoads;

/// Transmission times of a packet at 400 Gbps, with and without its gap.
const STEP: u64 = (PAYLOAD + HEADER + GAP) * 20;
const FIRST_ARRIVAL: u64 = (PAYLOAD + HEADER) * 20 + 500_000;

#[test]
fn probes_show_the_queue_of_two_senders_grow_by_a_packet_per_step() {
    let pairs = [(0, 2), (1, 2)];
    let mut setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", messages(&pairs, 50 * PAYLOAD));
    let undisturbed = complete(&setup);
    // After n steps 2n packets have arrived, n - 1 have left, and the gap of one ends at that time.
    let steps = [1, 2, 10, 49, 50];
    setup.probes = steps.map(|n| Time::from_ps(FIRST_ARRIVAL + n * STEP)).to_vec();
    setup.probes.extend([Time::ZERO, Time::ZERO + Span::from_ms(500)]);
    let mut outcome = complete(&setup);
    let probes = std::mem::take(&mut outcome.probes);
    let port = setup.topology.host_port(HostId(2)).reverse();
    assert_eq!(probes.len(), 1 + steps.len(), "none after the end");
    assert!(probes[0].queues.iter().all(|queue| *queue == Queue::default()));
    for (n, probe) in steps.iter().zip(&probes[1..]) {
        let packets = u32::try_from(n + 1).unwrap();
        let bytes = Bytes::new((n + 1) * (PAYLOAD + HEADER));
        assert_eq!(probe.queues[port.index()], Queue { packets, bytes }, "after {n} steps");
        let elsewhere = probe.queues.iter().map(|queue| queue.packets).sum::<u32>() - packets;
        assert!(elsewhere <= 2, "acknowledgements alone: {elsewhere}");
    }
    let most = outcome.queue_bytes_max_by_port[port.index()];
    assert_eq!(most, Bytes::new(50 * (PAYLOAD + HEADER)), "all but those that have begun to leave");
    assert_eq!(most, outcome.queue_bytes_max);
    // Probes change only the event count.
    outcome.counters.events = undisturbed.counters.events;
    assert_eq!(outcome, undisturbed);
}

#[test]
fn a_queue_length_includes_the_packet_that_is_being_sent() {
    // Two packets arrive at the same time. The second must not follow the first, whose wire is busy
    // from that time on.
    let pairs = [(0, 2), (1, 3)];
    for policy in ["jsq", "switch-rr"] {
        let setup = setup(leaf_spine(2, 2, 2, 400), policy, messages(&pairs, 50 * PAYLOAD));
        let outcome = complete(&setup);
        let idle = Span::from_ps(idle_path_ps(50, PAYLOAD, 4, 20, 500_000));
        assert_eq!(outcome.message_fct, [idle; 2], "{policy}");
    }
}

#[test]
fn ofan_keeps_a_pointer_for_each_other_edge_switch_and_each_other_pod() {
    let k = 4;
    let topology = fat_tree(k, 400);
    let hosts = 0..topology.host_count();
    let pairs = hosts.clone().flat_map(|src| hosts.clone().map(move |dst| (src, dst)));
    let pairs: Vec<(u32, u32)> = pairs.filter(|(src, dst)| src != dst).collect();
    let setup = setup(topology, "ofan", messages(&pairs, PAYLOAD));
    let states = complete(&setup).switch_states;
    // Data and acknowledgements: an order of two uplinks and a position in it take three bits.
    let state = |pointers| StateSize { entries: 2 * pointers, bits: 2 * pointers * 3 };
    let [edge, aggregation] = [k * k / 2 - 1, k - 1].map(|pointers| state(u64::from(pointers)));
    for (switch, actual) in setup.topology.switches().iter().zip(states) {
        let expected = [edge, aggregation, state(0)][usize::from(switch.tier)];
        assert_eq!(actual, expected, "{}", switch.name);
    }
}

/// A long flow fills one spine's link to the second leaf. Another host sends there intermittently
/// from a leaf that knows of the flow only through the second leaf's feedback.
#[test]
fn conga_avoids_a_busy_link_behind_a_spine() {
    let short = 20 * PAYLOAD;
    let start = |round: u64| Time::ZERO + Span::from_us(150) * round;
    let mut all = messages(&[(8, 5)], 40_000_000);
    all.extend((1..6).map(|round| Message {
        start: start(round),
        stream: 1,
        ..messages(&[(0, 4)], short)[0]
    }));
    let idle = Span::from_ps(idle_path_ps(20, PAYLOAD, 4, 20, 500_000));
    let late = |policy, seed| {
        let mut setup = setup(leaf_spine(3, 2, 4, 400), policy, all.clone());
        setup.seed = seed;
        let times = complete(&setup).message_fct;
        times[1..].iter().map(|time| *time > idle).collect::<Vec<bool>>()
    };
    let mut collisions = [0; 2];
    for seed in 0..6 {
        // A hash collides always or never; CONGA at most once.
        let ecmp = late("ecmp", seed);
        assert!(ecmp == [ecmp[0]; 5], "{ecmp:?}");
        let conga = late("conga", seed);
        assert_eq!(conga[1..], [false; 4], "seed {seed}");
        collisions[0] += u32::from(ecmp[0]);
        collisions[1] += u32::from(conga[0]);
    }
    assert!(collisions.iter().all(|&seeds| (1..6).contains(&seeds)), "{collisions:?}");
}

/// Card of MRC, G20: every hop marks except the last.
#[test]
fn marks_can_be_limited_to_links_between_switches() {
    // Three senders share one uplink. Their packets share the port of a host with a fourth sender.
    let mut setup = setup(
        leaf_spine(2, 1, 4, 400),
        "ecmp",
        messages(&[(0, 4), (1, 4), (2, 4), (5, 4)], 60 * PAYLOAD),
    );
    setup.fabric.switch.ecn = Ecn::Step(Bytes::new(PAYLOAD));
    let everywhere = complete(&setup);
    setup.fabric.ecn_at_hosts = false;
    let inside = complete(&setup);
    let last = setup.topology.host_port(HostId(4)).reverse();
    assert!(everywhere.marked_by_port[last.index()] > 0);
    assert_eq!(inside.marked_by_port[last.index()], 0);
    let total = |outcome: &Outcome| outcome.marked_by_port.iter().sum::<u64>();
    assert_eq!(total(&everywhere) - everywhere.marked_by_port[last.index()], total(&inside));
    assert!(inside.counters.marked > 0 && inside.counters.marked < everywhere.counters.marked);
}

/// One uplink gets packets of 2,500 B and 2,600 B, the other one meanwhile five of 1,000 B. When
/// the last of these is on its wire, the first uplink still has 2,600 B. No event has come between:
/// all packets are on their wires for 500 ns.
#[test]
fn queue_comparison_excludes_packets_that_have_left() {
    let setup = setup(leaf_spine(2, 2, 2, 400), "jsq", Vec::new());
    let mut network = Network::new(&setup);
    let mut forward = |ns, bytes| {
        let packet = Packet { dst: HostId(3), wire_bytes: bytes, ..Packet::default() };
        network.forward_for_test(Time::ZERO + Span::from_ns(ns), SwitchId(0), packet);
    };
    for bytes in [2_500, 1_000, 1_000, 1_000, 2_600, 1_000, 1_000] {
        forward(0, bytes);
    }
    // Those take 103 ns. The fifth packet of 1,000 B begins after 81.6 ns.
    forward(90, 777);
    network.settle_switches(Time::ZERO + Span::from_us(1));
    let carried = network.link_bytes();
    let mut uplinks: Vec<u64> = setup
        .topology
        .ports_of(SwitchId(0))
        .iter()
        .map(|port| carried[port.index()].get())
        .collect();
    uplinks.sort_unstable();
    assert_eq!(uplinks, [0, 0, 5_100, 5_777]);
}

/// Each class has half of the wire to the host, and one queue length includes both.
#[test]
fn probes_count_the_packets_of_all_classes() {
    let halves = [Scheduling::Weighted(1); 2];
    let pairs = messages(&[(0, 2), (1, 2)], 50 * PAYLOAD);
    let one = setup(leaf_spine(1, 1, 3, 400), "ecmp", pairs);
    let mut two = super::classes::with(one.clone(), &halves, &[0, 1]);
    two.probes = [1, 10, 49].map(|n| Time::from_ps(FIRST_ARRIVAL + n * STEP)).to_vec();
    let probes = complete(&two).probes;
    let port = two.topology.host_port(HostId(2)).reverse();
    for (n, probe) in [1, 10, 49].into_iter().zip(probes) {
        let bytes = Bytes::new((n + 1) * (PAYLOAD + HEADER));
        let queue = Queue { packets: u32::try_from(n + 1).unwrap(), bytes };
        assert_eq!(probe.queues[port.index()], queue, "after {n} steps");
    }
}

/// After n steps, one of two packets finds n - 1 others behind the one on the wire, and the other
/// finds n. The first two find none.
#[test]
fn the_mean_queue_is_sampled_by_data_packets() {
    let pairs = messages(&[(0, 2), (1, 2)], 50 * PAYLOAD);
    let outcome = complete(&setup(leaf_spine(1, 1, 3, 400), "ecmp", pairs));
    let found: u64 = (1..50).map(|n| n - 1 + n).sum();
    assert_eq!(outcome.queue_bytes_mean, (found * (PAYLOAD + HEADER)) as f64 / 100.0);
}

#[test]
fn a_probe_is_an_event() {
    let mut setup = setup(leaf_spine(1, 1, 2, 400), "ecmp", messages(&[(0, 1)], PAYLOAD));
    let without = complete(&setup).counters.events;
    setup.probes = [0, 1, 2].map(Time::from_ps).to_vec();
    assert_eq!(complete(&setup).counters.events, without + 3);
}

struct Idle;

impl PortLoads for Idle {
    fn bytes(&self, _port: PortId, _index: u32) -> u64 {
        0
    }
}

/// A wrong prediction would change no result, but cost time.
#[test]
fn the_prefetched_port_is_the_one_that_a_packet_takes() {
    for policy in ["ecmp", "spray", "ethereal", "drill"] {
        let setup = setup(fat_tree(4, 400), policy, messages(&[(0, 1)], 1));
        let mut switching = setup.switching();
        let mut ports = 0;
        for (src, dst, entropy) in (0..16 * 16 * 8).map(|n| (n % 16, n / 16 % 16, n / 256)) {
            let mut packet = Packet {
                src: HostId(src),
                dst: HostId(dst),
                label: src << 8 | dst,
                entropy: entropy as u16,
                route: entropy as u16,
                ..Packet::default()
            };
            let mut at = setup.topology.edge_of(HostId(src)).filter(|_| src != dst);
            while let Some(switch) = at {
                let likely = switching.likely_port(switch, &packet);
                let port = switching.route(Time::ZERO, switch, &mut packet, &Idle);
                // There the policy compares queues, so nothing can be predicted.
                let expected = port.filter(|_| policy != "drill");
                assert_eq!(likely, expected, "{policy}: {packet:?} at {switch:?}");
                at = port.and_then(|port| setup.topology.ends_of(port).1.switch());
                ports += 1;
            }
        }
        assert!(ports > 8_000, "{policy}: {ports}");
    }
}
