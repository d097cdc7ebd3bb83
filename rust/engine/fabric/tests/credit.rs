//! Credit-based flow control: no loss under any load, the rate that credit permits, deadlocks, and
//! the return of credit.

use super::lossless::ring_of_switches;
use super::*;

/// Sets credits of 256 B for `memory` bytes at the far end of each link.
pub(super) fn credit(setup: &mut Setup, memory: u64) {
    setup.fabric.switch.cbfc = Some(CbfcConfig {
        memory: Bytes::new(memory),
        credit: 256,
        overhead: 0,
        packet: u16::try_from(setup.nic.payload.get() + HEADER).unwrap(),
        correction: Span::from_us(10),
    });
}

/// Credit of a full packet in bytes: 17 units of 256 B.
const FULL: u64 = 17 * 256;

#[test]
fn a_flow_has_the_rate_of_its_credit_per_round_trip() {
    // A packet's credit returns once the packet has arrived, has started on the next wire, and a
    // frame of 8 B has come back: 4,158 B, 500 ns, 8 B, 500 ns.
    let round_trip = (PAYLOAD + HEADER + 8) * 20 + 1_000_000;
    for packets in [1, 2, 5, 12, 13, 40] {
        let count = 2_000;
        let pairs = messages(&[(0, 1)], count * PAYLOAD);
        let mut setup = setup(leaf_spine(1, 1, 2, 400), "ecmp", pairs);
        credit(&mut setup, packets * FULL + 255);
        let took = complete(&setup).cct.unwrap().as_ps();
        let at_line_rate = (PAYLOAD + HEADER + GAP) * 20;
        let each = at_line_rate.max(round_trip / packets);
        let off = took as f64 / (count * each) as f64 - 1.0;
        // A frame may wait for an acknowledgement on its wire: 1.7 ns of at least 83.6 ns.
        assert!((0.0..0.02).contains(&off), "{packets} packets of credit: {off}");
    }
}

#[test]
fn incasts_lose_nothing_and_buffers_stay_within_their_credit() {
    let incast: Vec<(u32, u32)> = (1..16).map(|src| (src, 0)).collect();
    for policy in ["ecmp", "spray"] {
        for memory in [FULL, 10_000, 100_000, 1_000_000] {
            let pairs = messages(&incast, 300_000);
            let mut setup = setup(leaf_spine(4, 2, 4, 400), policy, pairs);
            // The memory belongs to links: switches have no other.
            setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(PAYLOAD + HEADER));
            credit(&mut setup, memory);
            let outcome = complete(&setup);
            let counters = &outcome.counters;
            let lost = counters.dropped + counters.trimmed + counters.control_dropped;
            assert_eq!((lost, counters.pfc_pauses), (0, 0), "{policy}, {memory}");
            if policy == "ecmp" {
                assert_eq!(counters.retransmitted, 0, "{memory}");
            }
            // At most three hosts and two spines send data to one switch port, in addition to
            // acknowledgements.
            let most = outcome.queue_bytes_max.get();
            assert!(most <= 5 * memory + 15 * 64 * 64, "{policy}, {memory}: {most}");
            assert!(outcome.pauses.is_empty() && outcome.in_flight == 0);
        }
    }
}

#[test]
fn acknowledgements_without_priority_need_credit_too_and_are_not_lost() {
    let pairs = [(0, 2), (1, 2), (2, 0), (2, 1)];
    for priority in [true, false] {
        let mut setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", messages(&pairs, 1_000_000));
        setup.nic.ack.priority = priority;
        credit(&mut setup, 2 * FULL);
        let counters = complete(&setup).counters;
        assert_eq!(counters.dropped + counters.control_dropped, 0, "{priority}");
        assert_eq!(counters.retransmitted, 0, "{priority}");
    }
}

#[test]
fn ports_that_wait_for_each_others_credit_are_named() {
    let pairs: Vec<_> = (0..10).map(|host| (host, (host + 4) % 10)).collect();
    let run_with = |memory: u64| {
        let mut setup = setup(ring_of_switches(), "ecmp", messages(&pairs, 2_000 * PAYLOAD));
        credit(&mut setup, memory);
        setup.time_limit = Time::ZERO + Span::from_ms(5);
        run(&setup, &mut |_| {})
    };
    let outcome = run_with(4 * FULL);
    assert_eq!(outcome.counters.dropped, 0);
    assert_ne!(outcome.verdict, Verdict::Completed);
    let clockwise: Vec<PortId> = (10..15).map(|link| PortId(2 * link)).collect();
    assert_eq!(outcome.deadlock, clockwise);
    // With memory for all data there is no such ring.
    let outcome = run_with(100_000_000);
    assert_eq!((outcome.verdict, outcome.deadlock), (Verdict::Completed, vec![]));
}

#[test]
fn credit_of_packets_lost_on_a_link_returns() {
    // Credit for two packets: without corrections, two losses would stop a link permanently.
    for kind in [FailureKind::Loss { rate: Fraction::new(1, 5).unwrap() }, FailureKind::Down] {
        let pairs = messages(&[(0, 2), (1, 3), (2, 0)], 400_000);
        let mut setup = setup(leaf_spine(2, 1, 2, 400), "ecmp", pairs);
        setup.nic.retransmit_timeout = Span::from_us(50);
        let link = setup.topology.host_port(HostId(0)).link();
        let fabric = (0..).map(LinkId).find(|&it| setup.topology.is_fabric_link(it)).unwrap();
        setup.fabric.failures = [link, fabric]
            .map(|link| Failure {
                kind,
                ..failure(link, Time::ZERO + Span::from_us(60), Span::MAX)
            })
            .to_vec();
        credit(&mut setup, 2 * FULL);
        let outcome = complete(&setup);
        assert!(outcome.counters.dropped > 2, "{kind:?}: {}", outcome.counters.dropped);
        assert_eq!(outcome.in_flight, 0);
        // A repeated run is bit-identical.
        assert_eq!(outcome, complete(&setup));
    }
}

/// Card of Ultra Ethernet, section 5.4, form 8: credit in use returns, including that of packets
/// that are lost on a wire, dropped by a buffer, or dropped for lack of a route.
#[test]
fn no_credit_is_in_use_once_nothing_is_in_flight() {
    let tenth = FailureKind::Loss { rate: Fraction::new(1, 10).unwrap() };
    for kind in [None, Some(tenth), Some(FailureKind::Down)] {
        for (priority, overhead) in [(true, 0), (false, -16), (false, 127)] {
            let pairs = messages(&[(0, 2), (1, 2), (3, 2), (2, 0)], 200_000);
            let mut setup = setup(leaf_spine(2, 1, 2, 400), "ecmp", pairs);
            setup.nic.ack.priority = priority;
            setup.nic.retransmit_timeout = Span::from_us(50);
            let [host, other] = [0, 2].map(|host| setup.topology.host_port(HostId(host)).link());
            let fabric = (0..).map(LinkId).find(|&it| setup.topology.is_fabric_link(it)).unwrap();
            let until = Time::ZERO + Span::from_us(40);
            let of = |kind| [host, other, fabric].map(|link| (kind, link));
            setup.fabric.failures = kind
                .map_or_else(Vec::new, |kind| of(kind).to_vec())
                .into_iter()
                .map(|(kind, link)| Failure { kind, ..failure(link, until, Span::from_us(5)) })
                .collect();
            credit(&mut setup, 2 * FULL);
            let cbfc = setup.fabric.switch.cbfc.as_mut().unwrap();
            (cbfc.overhead, cbfc.memory) = (overhead, Bytes::new(3 * FULL));
            let mut world = World::new(&setup);
            let mut most = 0;
            while world.next_time().is_some() {
                world.step();
                most = most.max(world.credit_in_use());
            }
            let case = format!("{kind:?}, {priority}, {overhead}");
            assert!(world.is_idle() && most > 0, "{case}");
            assert_eq!(world.credit_in_use(), 0, "{case}");
        }
    }
}

#[test]
fn ample_credit_costs_only_the_bandwidth_of_its_frames() {
    let pairs = messages(&shift(16), 1_000_000);
    let mut setup = setup(leaf_spine(4, 4, 4, 400), "ethereal", pairs);
    let without = complete(&setup);
    credit(&mut setup, 2_000_000);
    let with = complete(&setup);
    let later = with.cct.unwrap().as_ps() as f64 / without.cct.unwrap().as_ps() as f64 - 1.0;
    // A frame of 8 B and a gap for each packet of 4,158 B and a gap: 0.67 %.
    assert!((0.0..0.008).contains(&later), "{later}");
    assert_eq!(with.counters.sent, without.counters.sent);
}
