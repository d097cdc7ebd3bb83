//! Failures that routing weighs, that come and go, and that nobody may learn of too early.

use super::*;
use crate::balance::{Weights, presets};
use crate::ids::MessageId;

fn link(setup: &Setup, name: &str) -> LinkId {
    setup.topology.link_named(name).unwrap()
}

/// `kind` from the start on; `detection` and `convergence` are at once.
fn at_once(link: LinkId, kind: FailureKind) -> Failure {
    let (at, until) = (Time::ZERO, Time::NEVER);
    Failure { link, kind, at, until, detection: Span::ZERO, convergence: Span::ZERO }
}

fn quarter() -> FailureKind {
    FailureKind::Degrade { factor: Fraction::new(1, 4).unwrap() }
}

/// Two leaves of eight hosts under four spines, each host of the first sending to the second.
fn one_way(policy: &str, packets: u64) -> Setup {
    let pairs: Vec<(u32, u32)> = (0..8).map(|host| (host, 8 + host)).collect();
    setup(leaf_spine(2, 4, 8, 400), policy, messages(&pairs, packets * PAYLOAD))
}

/// The ports by which leaf 0 sends to each spine.
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
fn sprayed_packets_follow_the_capacity_that_is_left() {
    // Of thirteen packets four go by each whole link and one by the slow one.
    for (weights, exact) in [(Weights::Equal, [1, 1, 1, 1]), (Weights::Capacity, [4, 1, 4, 4])] {
        for slow in ["leaf0-spine1", "leaf1-spine1"] {
            let mut setup = one_way("spray", 1_000);
            setup.scheme.weights = weights;
            setup.fabric.failures = vec![at_once(link(&setup, slow), quarter())];
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
fn weights_hold_from_convergence_to_convergence() {
    let of = |at, until, convergence| {
        let mut setup = one_way("spray", 1_000);
        setup.scheme.weights = Weights::Capacity;
        let failure = at_once(link(&setup, "leaf1-spine1"), quarter());
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
    let early = of(us(0), us(1), Span::from_us(30));
    assert!((0.9..1.1).contains(&early), "told of and taken back: {early}");
}

#[test]
fn a_switch_that_knows_a_port_dead_keeps_the_shares_of_the_others() {
    let mut setup = one_way("spray", 1_000);
    setup.scheme.weights = Weights::Capacity;
    let slow = at_once(link(&setup, "leaf1-spine1"), quarter());
    let down = at_once(link(&setup, "leaf0-spine2"), FailureKind::Down);
    setup.fabric.failures = vec![slow, Failure { convergence: Span::MAX, ..down }];
    let [a, b, c, d] = uplinks(&setup, &complete(&setup)).map(|bytes| bytes as f64);
    assert_eq!(c, 0.0);
    let mean = (a + d) / 2.0;
    assert!((a / mean - 1.0).abs() < 0.05 && (b / mean - 0.25).abs() < 0.03, "{a} {b} {d}");
}

#[test]
fn what_is_known_from_the_start_costs_nobody_a_packet() {
    for preset in presets() {
        let mut setup = one_way(preset.name, 50);
        let down = at_once(link(&setup, "leaf1-spine1"), FailureKind::Down);
        setup.fabric.failures = vec![down];
        let outcome = complete(&setup);
        assert_eq!((outcome.counters.dropped, outcome.counters.control_dropped), (0, 0), "{}", {
            preset.name
        });
        assert_eq!(uplinks(&setup, &outcome)[1], 0, "{}", preset.name);
    }
}

#[test]
fn a_link_that_flaps_loses_while_it_is_down_and_carries_in_between() {
    let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", messages(&[(0, 1)], 1_000 * PAYLOAD));
    let down = at_once(link(&setup, "leaf0-spine0"), FailureKind::Down);
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
    // 2 us of a wire that carries a packet each 83.56 ns, and what was on it: the outage takes
    // what the wire of 500 ns holds too.
    let least = 2_000_000 / ((PAYLOAD + HEADER + GAP) * 20);
    assert!((least..least + 10).contains(&once.counters.dropped), "{}", once.counters.dropped);
    assert!(often.counters.dropped > 3 * least, "{}", often.counters.dropped);
}

#[test]
fn hosts_whose_leaf_is_dead_do_not_hear_and_the_run_says_so() {
    for convergence in [Span::ZERO, Span::MAX] {
        let mut setup = one_way("ecmp", 50);
        setup.time_limit = Time::ZERO + Span::from_ms(5);
        let leaf = setup.topology.switch_named("leaf1").unwrap();
        let links: Vec<LinkId> = setup.topology.links_of(leaf).collect();
        setup.fabric.failures = links
            .into_iter()
            .map(|link| Failure { convergence, ..at_once(link, FailureKind::Down) })
            .collect();
        let outcome = run(&setup, &mut |_| {});
        assert_eq!((outcome.verdict, outcome.cct), (Verdict::TimeLimit, None));
        assert_eq!((outcome.counters.delivered, outcome.in_flight), (0, 0));
    }
}

/// The ring of a collective stops where a host is cut off, and whoever waits for it waits in vain;
/// a link that comes back is worth waiting for.
#[test]
fn a_run_that_can_never_complete_ends_before_its_limit() {
    let mut setup = one_way("spray", 1);
    let all: Vec<Message> = messages(&[(8, 1), (1, 2), (2, 3), (4, 5)], 100 * PAYLOAD);
    let chain = [(MessageId(0), MessageId(1)), (MessageId(1), MessageId(2))];
    setup.workload = Arc::new(Workload::with_dependencies(all, &chain));
    setup.nic.retransmit_timeout = Span::from_us(10);
    setup.time_limit = Time::ZERO + Span::from_ms(4_000);
    let host = setup.topology.host_port(HostId(8)).link();
    setup.fabric.failures = vec![at_once(host, FailureKind::Down)];
    let outcome = run(&setup, &mut |_| {});
    assert_eq!((outcome.verdict, outcome.message_fct.len()), (Verdict::Stalled, 1));
    assert!(outcome.ended < Time::ZERO + Span::from_ms(50), "{}", outcome.ended);
    setup.fabric.failures[0].until = Time::ZERO + Span::from_ms(60);
    assert_eq!(run(&setup, &mut |_| {}).verdict, Verdict::Completed);
}

/// Wires of 20 us: a fabric in which much happens before anything can be known.
fn slow_fabric(policy: &str) -> Setup {
    let shape = LeafSpine { delay: Span::from_us(20), ..fixtures::leaf_spine(3, 4, 4) };
    let pairs: Vec<(u32, u32)> =
        (0..4).flat_map(|host| [(host, 4 + host), (host, 8 + (host + 1) % 4)]).collect();
    setup(shape.build().unwrap(), policy, messages(&pairs, 10_000 * PAYLOAD))
}

/// Bytes that each port has put on its wire by `until`, with one uplink dead from the start and
/// the switches at its ends knowing after `detection`, or with nothing dead.
fn carried(policy: &str, until: Time, detection: Option<Span>) -> Vec<Bytes> {
    let mut setup = slow_fabric(policy);
    setup.time_limit = until;
    if let Some(detection) = detection {
        let down = at_once(link(&setup, "leaf0-spine1"), FailureKind::Down);
        setup.fabric.failures = vec![Failure { detection, convergence: Span::MAX, ..down }];
    }
    let outcome = run(&setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::TimeLimit, "{policy}");
    outcome.link_bytes
}

/// Nothing can be known before what is lost fails to arrive: 40 us at the next switch, and four
/// wires further a round-trip of eight at the sender. Every port of the fabric, and after that
/// those of the sending leaf and its hosts, carry to the byte what they carry without the failure.
#[test]
fn nobody_learns_of_a_failure_by_any_other_way_than_the_wires() {
    let us = |us: u64| Time::ZERO + Span::from_us(us);
    for preset in presets() {
        let name = preset.name;
        let dead = |until| carried(name, until, Some(Span::MAX));
        let whole = |until| carried(name, until, None);
        assert_eq!(dead(us(40)), whole(us(40)), "{name}: somebody knew before anything was missed");
        let (dead, whole) = (dead(us(160)), whole(us(160)));
        let setup = slow_fabric(name);
        let uplinks = uplinks_of_leaf_0(&setup);
        let hosts = (0..4).map(|host| setup.topology.host_port(HostId(host)));
        for port in uplinks.iter().copied().chain(hosts).map(PortId::index) {
            assert_eq!(dead[port], whole[port], "{name}: port {port} knew before an answer");
        }
        assert_ne!(dead, whole, "{name}: nothing was lost");
        let told = carried(name, us(160), Some(Span::ZERO));
        assert_eq!(told[uplinks[1].index()], Bytes::ZERO, "{name}: it was told");
    }
}
