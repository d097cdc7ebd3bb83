//! Links that go down: lost packets, timeouts, and runs that cannot complete.

use super::*;

#[test]
fn a_failure_loses_packets_on_the_wire_but_not_in_a_switch() {
    let dropped = |at_ns| {
        let topology = leaf_spine(2, 1, 1, 400);
        let link = topology.link_named("leaf0-spine0").unwrap();
        let mut setup = setup(topology, "ecmp", messages(&[(0, 1)], PAYLOAD));
        setup.fabric.forwarding_delay = Span::from_ns(1_000);
        let at = Time::ZERO + Span::from_ns(at_ns);
        let until = at + Span::from_ns(10);
        setup.fabric.failures = vec![Failure { at, ..failure(link, until, Span::MAX) }];
        complete(&setup).counters.dropped
    };
    // The packet is on the wire from 1583.16 to 2166.32 ns, and in the spine until 3166.32 ns.
    assert_eq!([1_500, 1_600, 2_100, 2_200, 3_000].map(dropped), [0, 1, 1, 0, 0]);
}

#[test]
fn after_a_failure_ethereal_waits_one_timeout_and_others_wait_for_routing() {
    let outcome = |policy: &str, convergence| {
        let topology = leaf_spine(4, 4, 4, 400);
        let link = topology.link_named("leaf1-spine0").unwrap();
        // All hosts of rack 0 send to rack 1, whose link to spine 0 fails.
        let pairs: Vec<(u32, u32)> = (0..4).map(|host| (host, 4 + host)).collect();
        let mut setup = setup(topology, policy, messages(&pairs, 4_000_000));
        setup.fabric.failures = vec![failure(link, Time::NEVER, convergence)];
        complete(&setup)
    };
    let us = |outcome: &Outcome| outcome.cct.unwrap().as_ps() / 1_000_000;
    let ethereal = outcome("ethereal", Span::from_ms(20));
    assert!((1_000..1_400).contains(&us(&ethereal)), "{} us", us(&ethereal));
    // Spraying continues to lose a quarter of its packets, with a timeout for each loss.
    let spray = outcome("spray", Span::from_ms(20));
    assert!(spray.counters.dropped > ethereal.counters.dropped && us(&spray) > 3_000);
    // A host that rotates over four paths loses every fourth packet until it is notified. A packet
    // takes 83 ns, four hosts send, and 40 us hold 480 packets.
    let host_dr = outcome("host-dr", Span::from_us(40));
    assert!((440..=480).contains(&host_dr.counters.dropped), "{:?}", host_dr.counters);
    // Immediate detection avoids all losses.
    for policy in ["ecmp", "spray", "ethereal", "line-cut", "host-dr"] {
        assert!(us(&outcome(policy, Span::ZERO)) < 1_400, "{policy}");
    }
}

#[test]
fn a_link_that_recovers_carries_packets_again() {
    let topology = leaf_spine(2, 1, 1, 400);
    let link = topology.link_named("leaf0-spine0").unwrap();
    let mut setup = setup(topology, "ecmp", messages(&[(0, 1)], 1_000_000));
    let until = Time::ZERO + Span::from_us(300);
    setup.fabric.failures = vec![failure(link, until, Span::MAX)];
    let outcome = complete(&setup);
    assert!(outcome.counters.dropped > 200, "everything sent in its absence");
    let ms = outcome.cct.unwrap().as_ps() / 1_000_000_000;
    assert_eq!(ms, 1, "one retransmission timeout");
}

#[test]
fn a_partitioned_fabric_reaches_its_time_limit_without_a_panic() {
    let topology = leaf_spine(2, 1, 1, 400);
    let link = topology.link_named("leaf0-spine0").unwrap();
    for convergence in [Span::ZERO, Span::MAX] {
        for policy in ["ecmp", "spray", "ethereal"] {
            let mut setup = setup(topology.clone(), policy, messages(&[(0, 1)], 100_000));
            setup.fabric.failures = vec![failure(link, Time::NEVER, convergence)];
            setup.time_limit = Time::ZERO + Span::from_ms(20);
            assert_eq!(run(&setup, &mut |_| {}).verdict, Verdict::TimeLimit, "{policy}");
        }
    }
}

/// Packets that crossed a link before its permanent failure have 10 ms to arrive. That holds for
/// messages of the workload and for posted ones.
#[test]
fn a_hopeless_run_ends_10_ms_after_the_last_failure() {
    let topology = leaf_spine(2, 1, 2, 400);
    let link = topology.link_named("leaf0-spine0").unwrap();
    let mut setup = setup(topology, "ecmp", Vec::new());
    setup.fabric.failures = vec![failure(link, Time::NEVER, Span::ZERO)];
    let since = setup.fabric.failures[0].at + Span::from_ms(10);
    let given_up = |pairs: &[(u32, u32)], is_posted: bool, at: Time| {
        let list = messages(pairs, 100_000);
        let planned = if is_posted { Vec::new() } else { list.clone() };
        let workload = Arc::new(Workload::independent(planned));
        let mut world = World::new(&Setup { workload, ..setup.clone() });
        for message in list.into_iter().filter(|_| is_posted) {
            world.post(Time::ZERO, message);
        }
        world.stop(at);
        world.only_unreachable_remain()
    };
    let before = Time::from_ps(since.as_ps() - 1);
    // Hosts 0 and 1 are at the leaf that is cut off.
    let (across, within) = ((0, 2), (0, 1));
    for is_posted in [false, true] {
        for pairs in [&[across][..], &[across, (3, 1)]] {
            assert_eq!([before, since].map(|at| given_up(pairs, is_posted, at)), [false, true]);
        }
        for pairs in [&[][..], &[within], &[within, across], &[across, within]] {
            assert!(!given_up(pairs, is_posted, since), "{pairs:?}: nothing waits in vain alone");
        }
    }
}

#[test]
fn failures_of_one_link_may_overlap() {
    let topology = leaf_spine(2, 2, 1, 400);
    let link = topology.link_named("leaf0-spine0").unwrap();
    let ms = |ms| Time::ZERO + Span::from_ms(ms);
    let mut setup = setup(topology, "spray", messages(&[(0, 1)], 200_000_000));
    // Two overlapping failures, from 1 us to 3 ms and from 1 us to 1 ms: the link is up from 3 ms
    // on.
    setup.fabric.failures =
        vec![failure(link, ms(3), Span::ZERO), failure(link, ms(1), Span::ZERO)];
    let outcome = complete(&setup);
    let port = |name| setup.topology.link_named(name).unwrap().index() * 2;
    let carried = |name| {
        let port = port(name);
        outcome.link_bytes[port].get().max(outcome.link_bytes[port + 1].get())
    };
    // The run takes 4.1 ms: both links carry data for a quarter of it.
    let share = carried("leaf0-spine0") as f64 / carried("leaf0-spine1") as f64;
    assert!((0.1..0.25).contains(&share), "{share}");
    assert!(outcome.counters.dropped < 20, "only what was on the wire: {:?}", outcome.counters);
}

/// The receiver of a message continues once it is delivered. Its sender needs the acknowledgement,
/// which may have no path any more.
#[test]
fn dependents_of_an_undeliverable_message_never_start() {
    use crate::ids::MessageId;
    // The packet is on the failing link from 583 to 1,166 ns, and at its host after 2,333 ns.
    let (lost, delivered) = (Span::from_ns(1_000), Span::from_ns(2_400));
    for (at, next, is_in_vain) in [
        (lost, (2, 3), true),
        (lost, (0, 1), true),
        (delivered, (2, 3), false),
        (delivered, (0, 1), true),
    ] {
        let topology = leaf_spine(2, 1, 2, 400);
        let link = topology.link_named("leaf0-spine0").unwrap();
        let mut list = messages(&[(0, 2), next], 1_000_000);
        list[0].bytes = Bytes::new(PAYLOAD);
        let mut setup = setup(topology, "ecmp", Vec::new());
        let waits = [(MessageId(0), MessageId(1))];
        setup.workload = Arc::new(Workload::with_dependencies(list, &waits));
        let at = Time::ZERO + at;
        setup.fabric.failures = vec![Failure { at, ..failure(link, Time::NEVER, Span::ZERO) }];
        let mut world = World::new(&setup);
        while world.next_time().is_some_and(|next| next < Time::ZERO + Span::from_us(5)) {
            world.step();
        }
        world.stop(at + Span::from_ms(10));
        assert_eq!(world.only_unreachable_remain(), is_in_vain, "{at}, {next:?}");
    }
}
