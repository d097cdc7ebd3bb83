//! Boundary cases: time limits, progress reports, windows of parallel runs, paused hosts.

use super::lossless::lossless;
use super::*;
use crate::fabric::parallel::{Cut, Partitioning, run_parallel};
use crate::ids::SwitchId;
use crate::topology::{Link, Node, Switch};

/// The event that completes a run may happen at its limit, but not later.
#[test]
fn a_run_may_complete_exactly_at_its_time_limit() {
    let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", messages(&[(0, 1)], 50 * PAYLOAD));
    let whole = complete(&setup);
    let cct = whole.cct.unwrap();
    setup.time_limit = Time::ZERO + cct;
    assert!(run(&setup, &mut |_| {}) == whole);
    setup.time_limit = Time::from_ps(cct.as_ps() - 1);
    assert_eq!(run(&setup, &mut |_| {}).verdict, Verdict::TimeLimit);
}

/// 150,000 packets over two links, and as many acknowledgements: 600,000 arrivals.
#[test]
fn progress_is_reported_every_2_18_events_and_at_the_end() {
    let setup = setup(leaf_spine(1, 1, 2, 400), "ecmp", messages(&[(0, 1)], 150_000 * PAYLOAD));
    let mut hops = Vec::new();
    let outcome = run(&setup, &mut |progress| hops.push(progress.packet_hops));
    assert_eq!(outcome.counters.packet_hops, 600_000);
    assert_eq!(hops.len(), 3, "{hops:?}");
    assert!(hops.is_sorted() && hops[0] <= 1 << 18 && hops[1] <= 1 << 19, "{hops:?}");
}

#[test]
fn a_parallel_run_reports_progress_every_256_windows_and_at_the_end() {
    let pairs: Vec<(u32, u32)> = (0..4).map(|host| (host, (host + 2) % 4)).collect();
    let setup = setup(leaf_spine(2, 2, 2, 400), "spray", messages(&pairs, 2_000 * PAYLOAD));
    let partitioning = Partitioning::new(&setup, 2, Cut::Contiguous).unwrap().with_quiet_events(0);
    let mut reports = 0;
    let (_, counts) = run_parallel(&setup, &partitioning, &mut |_| reports += 1);
    assert!(counts.windows > 300, "{}", counts.windows);
    // The first report follows the first window.
    assert_eq!(reports, counts.windows.div_ceil(256) + 1);
}

/// The lookahead is the shortest link between two partitions. A link within a partition may be
/// shorter.
#[test]
fn windows_are_as_long_as_the_shortest_link_between_partitions() {
    let rate = BitRate::from_gbps(400);
    let link = |ends, ns| Link { ends, rate, delay: Span::from_ns(ns) };
    let [left, right, spine] = [0, 1, 2].map(|id| Node::Switch(SwitchId(id)));
    let host = |id| Node::Host(HostId(id));
    let named = |name: &str, tier| Switch { name: name.to_owned(), tier };
    let switches = || vec![named("left", 0), named("right", 0), named("spine", 1)];
    for (to_left, to_right) in [(200, 900), (900, 200), (300, 300)] {
        let links = vec![
            link([host(0), left], 5_000),
            link([host(1), right], 5_000),
            link([left, spine], to_left),
            link([right, spine], to_right),
        ];
        let hosts = ["a", "b"].map(str::to_owned).to_vec();
        let topology = Topology::new(hosts, switches(), links).unwrap();
        let setup = setup(topology, "ecmp", messages(&[(0, 1)], PAYLOAD));
        let partitioning = Partitioning::new(&setup, 2, Cut::Contiguous).unwrap();
        let crosses = |leaf| partitioning.partition_of(leaf) != partitioning.partition_of(spine);
        let expected = match (crosses(left), crosses(right)) {
            (true, false) => to_left,
            (false, true) => to_right,
            both => panic!("one link lies between the partitions: {both:?}"),
        };
        assert_eq!(partitioning.lookahead(), Span::from_ns(expected));
    }
}

/// A run with pauses may stop anywhere with consistent counters: a frame may be queued behind a
/// packet, or be on a wire next to one.
#[test]
fn a_run_with_pauses_may_be_stopped_at_any_time() {
    // Packets to host 0 are half a packet behind those that it sends.
    let mut pairs = messages(&[(0, 2), (1, 2), (3, 0)], 1_000 * PAYLOAD);
    pairs[2].start = Time::from_ps(40_000);
    let mut setup = setup(leaf_spine(1, 1, 4, 400), "ecmp", pairs);
    lossless(&mut setup, Headroom::Hpcc, 100_000);
    // The wire to host 0 is busy, and a frame takes 501 ns over it.
    let port = setup.topology.host_port(HostId(0));
    let pauses = complete(&setup).pauses;
    let paused = pauses.iter().find(|it| it.port == port).unwrap().at;
    let (mut waiting, mut both) = (0, 0);
    for ns in 400..600 {
        setup.time_limit = Time::from_ps(paused.as_ps() - 1_000 * ns);
        let unchecked = super::final_checks::unchecked(&setup);
        assert_eq!(unchecked.failed_checks(&setup), [""; 0], "{}", setup.time_limit);
        let ports = &unchecked.remainder.ports;
        waiting += u32::from(ports.iter().any(|it| it.frames_waiting > 0));
        both += u32::from(ports.iter().any(|it| it.frames_on_wire > 0 && it.on_wire > 0));
    }
    assert!(waiting > 0 && both > 0, "{waiting}, {both}");
}

/// Start and end of the first host's longest pause.
fn longest_pause_of_the_first_host(setup: &Setup) -> [Time; 2] {
    let port = setup.topology.host_port(HostId(0));
    let pauses = complete(setup).pauses;
    let of_host: Vec<&PauseRecord> = pauses.iter().filter(|it| it.port == port).collect();
    let longest = of_host.chunks_exact(2).max_by_key(|pair| pair[1].at.since(pair[0].at)).unwrap();
    [longest[0].at, longest[1].at]
}

/// Acknowledgements with priority leave a paused host, at most one packet late: the one on its
/// wire.
#[test]
fn a_paused_host_acknowledges_what_it_receives() {
    let incast = messages(&[(0, 2), (1, 2)], 1_000 * PAYLOAD);
    let mut setup = setup(leaf_spine(1, 1, 4, 400), "ecmp", incast.clone());
    lossless(&mut setup, Headroom::Hpcc, 1_600_000);
    let [paused, resumed] = longest_pause_of_the_first_host(&setup);

    // A packet to the paused host that arrives 100 ns after the pause.
    let way = |bytes: u64| 2 * (bytes * 20 + 500_000);
    let arrives = paused.as_ps() + 100_000;
    assert!(resumed.as_ps() > arrives + 200_000, "{paused} to {resumed}");
    let start = Time::from_ps(arrives - way(PAYLOAD + HEADER));
    let mut other = messages(&[(3, 0)], PAYLOAD);
    (other[0].start, other[0].stream) = (start, 2);
    setup.workload = Arc::new(Workload::independent([incast, other].concat()));
    let flow = *complete(&setup).flows.last().unwrap();
    assert_eq!(flow.delivered, Time::from_ps(arrives));
    let answer = flow.completed.since(flow.delivered).as_ps();
    let on_wire = (PAYLOAD + HEADER + GAP) * 20;
    assert!((way(ACK)..=way(ACK) + on_wire).contains(&answer), "{answer}");
}

/// Without priority, acknowledgements wait with the data.
#[test]
fn a_paused_host_holds_back_acknowledgements_without_priority() {
    let incast = messages(&[(0, 2), (1, 2)], 1_000 * PAYLOAD);
    let mut setup = setup(leaf_spine(1, 1, 4, 400), "ecmp", incast.clone());
    setup.nic.ack.priority = false;
    lossless(&mut setup, Headroom::Hpcc, 1_600_000);
    let [paused, resumed] = longest_pause_of_the_first_host(&setup);

    let way = |bytes: u64| 2 * (bytes * 20 + 500_000);
    let arrives = Time::from_ps(paused.as_ps() + 100_000);
    assert!(resumed > arrives + Span::from_ns(200), "{paused} to {resumed}");
    let mut other = messages(&[(3, 0)], PAYLOAD);
    (other[0].start, other[0].stream) = (Time::from_ps(arrives.as_ps() - way(PAYLOAD + HEADER)), 2);
    setup.workload = Arc::new(Workload::independent([incast, other].concat()));
    let flow = *complete(&setup).flows.last().unwrap();
    assert_eq!(flow.delivered, arrives);
    let left = flow.completed.as_ps() - way(ACK);
    assert!(left >= resumed.as_ps(), "{left} in a pause until {resumed}");
}

/// On wires without length, no arrival is left at the end of the gap behind a packet. The
/// acknowledgement leaves a paused host at that time, without waiting for the end of the pause.
#[test]
fn a_paused_host_acknowledges_after_the_gap_behind_its_last_packet() {
    let incast = messages(&[(0, 2), (1, 2)], 1_000 * PAYLOAD);
    let topology = LeafSpine { delay: Span::ZERO, ..fixtures::leaf_spine(1, 1, 4) };
    let mut setup = setup(topology.build().unwrap(), "ecmp", incast.clone());
    lossless(&mut setup, Headroom::Fixed(Bytes::new(100_000)), 1_600_000);
    let [paused, resumed] = longest_pause_of_the_first_host(&setup);
    // The host's last packet is sent and its gap ends within the next 84 ns.
    let on_wire = (PAYLOAD + HEADER + GAP) * 20;
    assert!(resumed.as_ps() > paused.as_ps() + 3 * on_wire, "{paused} to {resumed}");
    for ns in (1..80).step_by(6) {
        let way = |bytes: u64| 2 * bytes * 20;
        let arrives = paused.as_ps() + 1_000 * ns;
        let mut other = messages(&[(3, 0)], PAYLOAD);
        (other[0].start, other[0].stream) = (Time::from_ps(arrives - way(PAYLOAD + HEADER)), 2);
        setup.workload = Arc::new(Workload::independent([incast.clone(), other].concat()));
        let flow = *complete(&setup).flows.last().unwrap();
        assert_eq!(flow.delivered, Time::from_ps(arrives));
        let answer = flow.completed.since(flow.delivered).as_ps();
        assert!(answer <= way(ACK) + on_wire, "{ns} ns: {answer}");
    }
}

/// Two hosts send ten packets each to a third one, at the rate of its wire. Each packet counts
/// entirely from its start, one slot after the previous one.
#[test]
fn links_count_packets_that_started_by_the_end_of_a_run() {
    let slot = (PAYLOAD + HEADER + GAP) * 20;
    let first = (PAYLOAD + HEADER) * 20 + 500_000;
    let pairs = messages(&[(1, 0), (2, 0)], 10 * PAYLOAD);
    let mut setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", pairs);
    let ports =
        [setup.topology.host_port(HostId(1)), setup.topology.host_port(HostId(0)).reverse()];
    for (limit, packets) in [
        (0, [1, 0]),
        (7 * slot / 2, [4, 0]),
        (first, [7, 1]),
        (first + 25 * slot / 2, [10, 13]),
        (first + 13 * slot - 1, [10, 13]),
        (first + 13 * slot, [10, 14]),
    ] {
        setup.time_limit = Time::from_ps(limit);
        let outcome = run(&setup, &mut |_| {});
        let carried = ports.map(|port| outcome.link_bytes[port.index()].get());
        assert_eq!(carried, packets.map(|packets| packets * (PAYLOAD + HEADER)), "{limit} ps");
    }
}

#[test]
fn a_world_can_be_stepped_event_by_event() {
    let setup = setup(leaf_spine(2, 2, 2, 400), "spray", messages(&shift(4), 5 * PAYLOAD));
    let outcome = complete(&setup);
    let mut world = World::new(&setup);
    for event in 1..=outcome.counters.events {
        assert!(!world.is_idle(), "before event {event}");
        world.step();
        assert_eq!(world.events(), event);
    }
    assert!(world.is_idle());
    assert_eq!(world.outcome(Verdict::Completed), outcome);
}
