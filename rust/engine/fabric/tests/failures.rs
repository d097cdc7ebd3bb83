//! Failures: routing weights, links that recover, and the earliest time of detection.

use super::*;
use crate::balance::{Weights, presets};
use crate::ids::MessageId;

fn link(setup: &Setup, name: &str) -> LinkId {
    setup.topology.link_named(name).unwrap()
}

/// A failure of this kind from the start, without detection and convergence delays.
fn immediate(link: LinkId, kind: FailureKind) -> Failure {
    let (direction, at, until) = (Direction::Both, Time::ZERO, Time::NEVER);
    let (detection, convergence) = (Span::ZERO, Span::ZERO);
    Failure { link, direction, kind, at, until, detection, convergence }
}

fn quarter() -> FailureKind {
    FailureKind::Degrade { factor: Fraction::new(1, 4).unwrap() }
}

/// Two leaves of eight hosts under four spines. Each host of the first leaf sends to the second.
fn one_way(policy: &str, packets: u64) -> Setup {
    let pairs: Vec<(u32, u32)> = (0..8).map(|host| (host, 8 + host)).collect();
    setup(leaf_spine(2, 4, 8, 400), policy, messages(&pairs, packets * PAYLOAD))
}

/// Ports of leaf 0 to the spines.
fn uplinks_of_leaf_0(setup: &Setup) -> Vec<PortId> {
    let leaf = setup.topology.switch_named("leaf0").unwrap();
    let ports = setup.topology.ports_of(leaf).iter().copied();
    ports.filter(|port| setup.topology.is_fabric_link(port.link())).collect()
}

/// Bytes that leaf 0 sent to each spine.
fn uplinks(setup: &Setup, outcome: &Outcome) -> [u64; 4] {
    let bytes = |port: PortId| outcome.link_bytes[port.index()].get();
    let all: Vec<u64> = uplinks_of_leaf_0(setup).into_iter().map(bytes).collect();
    all.try_into().unwrap()
}

#[test]
fn sprayed_packets_follow_the_remaining_capacity() {
    // Each unaffected link carries four of thirteen packets, and the slow one carries one.
    for (weights, exact) in [(Weights::Equal, [1, 1, 1, 1]), (Weights::Capacity, [4, 1, 4, 4])] {
        for slow in ["leaf0-spine1", "leaf1-spine1"] {
            let mut setup = one_way("spray", 1_000);
            setup.scheme.weights = weights;
            setup.fabric.failures = vec![immediate(link(&setup, slow), quarter())];
            let bytes = uplinks(&setup, &complete(&setup));
            let sum: u64 = bytes.iter().sum();
            for (bytes, share) in bytes.iter().zip(exact) {
                let expected = sum as f64 * f64::from(share) / f64::from(exact.iter().sum::<i32>());
                let off = (*bytes as f64 / expected - 1.0).abs();
                assert!(off < 0.1, "{slow} {weights:?}: {bytes} for {expected}");
            }
        }
    }
}

#[test]
fn weights_change_only_when_routing_converges() {
    let of = |at, until, convergence| {
        let mut setup = one_way("spray", 1_000);
        setup.scheme.weights = Weights::Capacity;
        let failure = immediate(link(&setup, "leaf1-spine1"), quarter());
        setup.fabric.failures = vec![Failure { at, until, convergence, ..failure }];
        let [_, slow, others @ ..] = uplinks(&setup, &complete(&setup));
        slow as f64 * 2.0 / others.iter().sum::<u64>() as f64
    };
    let us = |us: u64| Time::ZERO + Span::from_us(us);
    // The hosts send for 84 us.
    assert!((0.22..0.28).contains(&of(us(0), Time::NEVER, Span::ZERO)));
    assert!((0.9..1.1).contains(&of(us(0), Time::NEVER, Span::MAX)));
    let late = of(us(0), Time::NEVER, Span::from_us(30));
    assert!((0.42..0.55).contains(&late), "{late}");
    let short = of(us(0), us(1), Span::from_us(30));
    assert!((0.9..1.1).contains(&short), "{short}");
}

#[test]
fn a_switch_without_a_dead_port_keeps_the_shares_of_the_others() {
    let mut setup = one_way("spray", 1_000);
    setup.scheme.weights = Weights::Capacity;
    let slow = immediate(link(&setup, "leaf1-spine1"), quarter());
    let down = immediate(link(&setup, "leaf0-spine2"), FailureKind::Down);
    setup.fabric.failures = vec![slow, Failure { convergence: Span::MAX, ..down }];
    let [a, b, c, d] = uplinks(&setup, &complete(&setup)).map(|bytes| bytes as f64);
    assert_eq!(c, 0.0);
    let mean = (a + d) / 2.0;
    assert!((a / mean - 1.0).abs() < 0.05 && (b / mean - 0.25).abs() < 0.03, "{a} {b} {d}");
}

#[test]
fn a_failure_known_from_the_start_loses_no_packet() {
    for preset in presets() {
        let mut setup = one_way(preset.name, 50);
        let down = immediate(link(&setup, "leaf1-spine1"), FailureKind::Down);
        setup.fabric.failures = vec![down];
        let outcome = complete(&setup);
        assert_eq!((outcome.counters.dropped, outcome.counters.control_dropped), (0, 0), "{}", {
            preset.name
        });
        assert_eq!(uplinks(&setup, &outcome)[1], 0, "{}", preset.name);
    }
}

#[test]
fn a_flapping_link_loses_packets_only_while_it_is_down() {
    let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", messages(&[(0, 1)], 1_000 * PAYLOAD));
    let down = immediate(link(&setup, "leaf0-spine0"), FailureKind::Down);
    let us = |us: u64| Time::ZERO + Span::from_us(us);
    let outage = |n: u64| Failure {
        at: us(10 + 20 * n),
        until: us(12 + 20 * n),
        detection: Span::MAX,
        convergence: Span::MAX,
        ..down
    };
    setup.fabric.failures = vec![outage(0)];
    let once = complete(&setup);
    setup.fabric.failures = (0..4).map(outage).collect();
    let often = complete(&setup);
    // An outage of 2 us, with a packet every 83.56 ns; the packets on the wire of 500 ns are lost
    // too.
    let least = 2_000_000 / ((PAYLOAD + HEADER + GAP) * 20);
    assert!((least..least + 10).contains(&once.counters.dropped), "{}", once.counters.dropped);
    assert!(often.counters.dropped > 3 * least, "{}", often.counters.dropped);
}

#[test]
fn a_run_with_hosts_at_a_dead_leaf_reaches_its_time_limit() {
    for convergence in [Span::ZERO, Span::MAX] {
        let mut setup = one_way("ecmp", 50);
        setup.time_limit = Time::ZERO + Span::from_ms(5);
        let leaf = setup.topology.switch_named("leaf1").unwrap();
        let links: Vec<LinkId> = setup.topology.links_of(leaf).collect();
        setup.fabric.failures = links
            .into_iter()
            .map(|link| Failure { convergence, ..immediate(link, FailureKind::Down) })
            .collect();
        let outcome = run(&setup, &mut |_| {});
        assert_eq!((outcome.verdict, outcome.cct), (Verdict::TimeLimit, None));
        assert_eq!((outcome.counters.delivered, outcome.in_flight), (0, 0));
    }
}

/// The ring of a collective stops at an unreachable host, and its dependents never complete. With a
/// link that recovers, the run completes.
#[test]
fn a_run_that_cannot_complete_ends_before_its_time_limit() {
    let mut setup = one_way("spray", 1);
    let all: Vec<Message> = messages(&[(8, 1), (1, 2), (2, 3), (4, 5)], 100 * PAYLOAD);
    let chain = [(MessageId(0), MessageId(1)), (MessageId(1), MessageId(2))];
    setup.workload = Arc::new(Workload::with_dependencies(all, &chain));
    setup.nic.retransmit_timeout = Span::from_us(10);
    setup.time_limit = Time::ZERO + Span::from_ms(4_000);
    let host = setup.topology.host_port(HostId(8)).link();
    setup.fabric.failures = vec![immediate(host, FailureKind::Down)];
    let outcome = run(&setup, &mut |_| {});
    assert_eq!((outcome.verdict, outcome.message_fct.len()), (Verdict::Stalled, 1));
    assert!(outcome.ended < Time::ZERO + Span::from_ms(50), "{}", outcome.ended);
    setup.fabric.failures[0].until = Time::ZERO + Span::from_ms(60);
    assert_eq!(run(&setup, &mut |_| {}).verdict, Verdict::Completed);
}

/// A fabric with wires of 20 us, which hold many packets when a failure is detected.
fn slow_fabric(policy: &str) -> Setup {
    let shape = LeafSpine { delay: Span::from_us(20), ..fixtures::leaf_spine(3, 4, 4) };
    let pairs: Vec<(u32, u32)> =
        (0..4).flat_map(|host| [(host, 4 + host), (host, 8 + (host + 1) % 4)]).collect();
    setup(shape.build().unwrap(), policy, messages(&pairs, 10_000 * PAYLOAD))
}

/// Bytes sent by each port until `until`. One uplink is dead from the start, which the switches at
/// its ends detect after `detection`; without a failure if that is `None`.
fn carried(policy: &str, until: Time, detection: Option<Span>) -> Vec<Bytes> {
    let mut setup = slow_fabric(policy);
    setup.time_limit = until;
    if let Some(detection) = detection {
        let down = immediate(link(&setup, "leaf0-spine1"), FailureKind::Down);
        setup.fabric.failures = vec![Failure { detection, convergence: Span::MAX, ..down }];
    }
    let outcome = run(&setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::TimeLimit, "{policy}");
    outcome.link_bytes
}

/// A failure has no effect before the first lost packet fails to arrive: 40 us at the next switch,
/// and a round trip of eight wires at the sender. Until then every port carries exactly the bytes
/// that it carries without the failure. For the sending leaf and its hosts that holds even longer.
#[test]
fn a_failure_has_no_effect_before_lost_packets_fail_to_arrive() {
    let us = |us: u64| Time::ZERO + Span::from_us(us);
    for preset in presets() {
        let name = preset.name;
        let dead = |until| carried(name, until, Some(Span::MAX));
        let whole = |until| carried(name, until, None);
        assert_eq!(dead(us(40)), whole(us(40)), "{name}: an effect before the first missed packet");
        let (dead, whole) = (dead(us(160)), whole(us(160)));
        let setup = slow_fabric(name);
        let uplinks = uplinks_of_leaf_0(&setup);
        let hosts = (0..4).map(|host| setup.topology.host_port(HostId(host)));
        for port in uplinks.iter().copied().chain(hosts).map(PortId::index) {
            assert_eq!(dead[port], whole[port], "{name}: an effect at port {port} before a reply");
        }
        assert_ne!(dead, whole, "{name}: nothing was lost");
        let detected = carried(name, us(160), Some(Span::ZERO));
        assert_eq!(detected[uplinks[1].index()], Bytes::ZERO, "{name}: detected at once");
    }
}
