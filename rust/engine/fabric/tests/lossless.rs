//! Priority flow control: no loss with headroom, spreading pauses, and links that resume.

use super::*;
use crate::fabric::network::{LinkOrder, Network};
use crate::ids::{ClassId, SwitchId};
use crate::packet::{Flags, Packet};
use crate::topology::{Link, Node};

/// Enables HPCC's flow control, with a buffer that leaves a shared pool of `pool` bytes at switch
/// 0.
pub(super) fn lossless(setup: &mut Setup, headroom: Headroom, pool: u64) {
    let pfc = PfcConfig { headroom, ..PfcConfig::HPCC };
    let switch = crate::ids::SwitchId(0);
    let private = pfc.reserved_bytes(&setup.fabric, &setup.topology, switch);
    setup.fabric.switch.buffer = Buffer::Shared(private + Bytes::new(pool));
    setup.fabric.switch.pfc = Some(pfc);
}

/// Two hosts send to a third one at the same switch.
fn two_to_one(packets: u64) -> Setup {
    let pairs = messages(&[(0, 2), (1, 2)], packets * PAYLOAD);
    setup(leaf_spine(1, 1, 3, 400), "ecmp", pairs)
}

#[test]
fn an_incast_loses_packets_only_without_headroom() {
    let packet = Bytes::new(PAYLOAD + HEADER);
    for headroom in [Headroom::Hpcc, Headroom::ConWeave { packet }] {
        for pool in [0, 100_000, 1_000_000, 1_600_000] {
            let mut setup = two_to_one(1_000);
            lossless(&mut setup, headroom, pool);
            let outcome = complete(&setup);
            let counters = &outcome.counters;
            assert_eq!(counters.dropped, 0, "{headroom:?}, {pool}");
            assert!(counters.pfc_pauses > 0, "{headroom:?}, {pool}");
            assert_eq!((counters.sent, counters.retransmitted), (2_000, 0));
        }
    }
    for pool in [100_000, 1_000_000] {
        let mut setup = two_to_one(1_000);
        lossless(&mut setup, Headroom::Fixed(Bytes::ZERO), pool);
        assert!(complete(&setup).counters.dropped > 0, "{pool}");
    }
}

#[test]
fn the_last_wire_is_never_idle_if_the_pool_covers_a_pause() {
    // With a pool of 1.6 MB each link may fill 160 KB, far more than the 50 KB of a round trip. So
    // 2n packets take as long as if all of them were in the switch from the start: one wire to it,
    // 2n packets over the next, and the last acknowledgement back.
    let packets = 1_000;
    let mut setup = two_to_one(packets);
    lossless(&mut setup, Headroom::Hpcc, 1_600_000);
    let (data, ps) = (PAYLOAD + HEADER, 20);
    let all = (data + 2 * packets * (data + GAP) - GAP + 2 * ACK) * ps + 4 * 500_000;
    let outcome = complete(&setup);
    assert!(outcome.counters.pfc_pauses > 10, "{}", outcome.counters.pfc_pauses);
    assert_eq!(outcome.cct, Some(Span::from_ps(all)));
}

#[test]
fn pauses_take_time_to_arrive_and_each_is_followed_by_a_resume() {
    let mut setup = two_to_one(1_000);
    lossless(&mut setup, Headroom::Hpcc, 1_600_000);
    let outcome = complete(&setup);
    for host in [0, 1].map(HostId) {
        let port = setup.topology.host_port(host);
        let orders: Vec<&PauseRecord> =
            outcome.pauses.iter().filter(|record| record.port == port).collect();
        assert!(orders.len() > 4);
        for (index, record) in orders.iter().enumerate() {
            let expected = [PauseOrder::Pause, PauseOrder::Resume][index % 2];
            assert_eq!(record.order, expected, "{host:?}, {index}");
        }
        assert!(orders.is_sorted_by(|a, b| a.at < b.at));
    }
    let pauses = outcome.pauses.iter().filter(|record| record.order == PauseOrder::Pause);
    assert_eq!(pauses.count() as u64, outcome.counters.pfc_pauses);
    // The switch fills at 400 Gbps: 160 KB of pool and 4 KB of reserve per link, and 50 KB more
    // until the pause has arrived and the wire has drained.
    let queue = outcome.queue_bytes_max.get();
    assert!((2 * 160_000..2 * 240_000).contains(&queue), "{queue}");
}

#[test]
fn the_headroom_of_hpcc_suffices_only_for_small_packets_and_long_links() {
    // Three times rate times delay is 18,750 B here. The switch needs twice rate times delay for
    // the packets in flight, and two packets of 4,158 B: one that delays the frame, and one that
    // the paused sender has started. HPCC's own runs have packets of 1,048 B and links of 1 us.
    let dropped = |headroom, payload| {
        let incast: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
        let pairs = messages(&incast, 1_000_000);
        let mut setup = setup(leaf_spine(1, 1, 8, 100), "ecmp", pairs);
        setup.nic.payload = Bytes::new(payload);
        lossless(&mut setup, headroom, 300_000);
        complete(&setup).counters.dropped
    };
    assert!(dropped(Headroom::Hpcc, PAYLOAD) > 0);
    assert_eq!(dropped(Headroom::Hpcc, 1_000), 0);
    let packet = Bytes::new(PAYLOAD + HEADER);
    assert_eq!(dropped(Headroom::ConWeave { packet }, PAYLOAD), 0);
}

#[test]
fn worst_case_headroom_suffices_for_any_packet_and_rate() {
    let incast: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
    let mut short = 0;
    for gbps in [10, 100, 400, 1_600] {
        for payload in [256, 1_024, 4_096, 9_000] {
            for forwarding in [0, 300] {
                let pairs = messages(&incast, 100 * payload);
                let mut setup = setup(leaf_spine(2, 2, 4, gbps), "spray", pairs);
                setup.nic.payload = Bytes::new(payload);
                setup.fabric.forwarding_delay = Span::from_ns(forwarding);
                let packet = Bytes::new(payload + HEADER);
                lossless(&mut setup, Headroom::WorstCase { packet }, 50_000);
                let outcome = complete(&setup);
                let case = format!("{gbps} Gbps, {payload} B, {forwarding} ns");
                assert_eq!(outcome.counters.dropped, 0, "{case}");
                assert!(outcome.counters.pfc_pauses > 0, "{case}");
                // ConWeave's rule omits the packet that crosses the threshold, and the frame.
                lossless(&mut setup, Headroom::ConWeave { packet }, 50_000);
                for seed in 1..=4 {
                    setup.seed = seed;
                    short += u32::from(complete(&setup).counters.dropped > 0);
                }
            }
        }
    }
    assert!(short > 0, "ConWeave's is enough here");
}

/// Four hosts fill one at leaf 1. A victim flow goes from leaf 0 to another host at leaf 1.
fn victim(pfc: bool) -> Span {
    let mut pairs = messages(&[(0, 4), (5, 4), (6, 4), (7, 4)], 4_000_000);
    pairs.extend(messages(&[(1, 8)], 1_000_000));
    let (host_rate, fabric_rate) = (BitRate::from_gbps(100), BitRate::from_gbps(200));
    let topology = LeafSpine { host_rate, fabric_rate, ..fixtures::leaf_spine(2, 1, 5) };
    // Hosts 0 to 4 are at leaf 0, 5 to 9 at leaf 1.
    let rename = |host: HostId| HostId(if host.0 < 4 { host.0 } else { host.0 + 1 });
    for message in &mut pairs {
        (message.src, message.dst) = (rename(message.src), rename(message.dst));
    }
    let mut setup = setup(topology.build().unwrap(), "ecmp", pairs);
    if pfc {
        let packet = Bytes::new(PAYLOAD + HEADER);
        lossless(&mut setup, Headroom::ConWeave { packet }, 300_000);
    }
    let outcome = complete(&setup);
    assert_eq!(outcome.counters.dropped, 0);
    assert_eq!(outcome.counters.pfc_pauses > 0, pfc);
    let flow = outcome.flows.last().unwrap();
    flow.completed.since(flow.start)
}

#[test]
fn pauses_spread_and_block_a_flow_whose_path_is_idle() {
    let (free, blocked) = (victim(false), victim(true));
    // On an idle path at 100 Gbps it takes about 80 us. Behind paused wires it gets only the rate
    // that the incast leaves to the shared wire.
    assert!(free < Span::from_us(100), "{free}");
    assert!(blocked.as_ps() > 2 * free.as_ps(), "{blocked} against {free}");
}

#[test]
fn flow_control_without_pauses_changes_no_result() {
    let incast: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
    for (policy, pairs) in [("ecmp", incast), ("spray", shift(16)), ("ethereal", shift(16))] {
        let mut setup = setup(leaf_spine(4, 4, 4, 400), policy, messages(&pairs, 300_000));
        setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(1 << 40));
        setup.fabric.switch.ecn = Ecn::Step(Bytes::new(50_000));
        let mut without = complete(&setup);
        setup.fabric.switch.pfc = Some(PfcConfig::HPCC);
        let with = complete(&setup);
        assert!(with.counters.events >= without.counters.events);
        assert!(with.counters.events <= 3 * without.counters.packet_hops);
        without.counters.events = with.counters.events;
        assert_eq!(with, without, "{policy}");
    }
}

#[test]
fn acknowledgements_with_priority_pass_a_paused_port_and_others_wait() {
    // Both directions are busy: a paused host acknowledges the packets that it receives.
    let pairs = [(0, 2), (1, 2), (2, 0), (2, 1)];
    for priority in [true, false] {
        let mut setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", messages(&pairs, 4_000_000));
        setup.nic.ack.priority = priority;
        lossless(&mut setup, Headroom::Hpcc, 400_000);
        let outcome = complete(&setup);
        assert!(outcome.counters.pfc_pauses > 0);
        assert_eq!(outcome.counters.dropped + outcome.counters.control_dropped, 0, "{priority}");
    }
}

#[test]
fn sprayed_and_paced_traffic_survives_pauses_on_a_fat_tree_with_failures() {
    use crate::nic::congestion::dctcp_rate;
    let pairs: Vec<(u32, u32)> = (1..16).map(|src| (src, 0)).chain(shift(16)).collect();
    for policy in ["ecmp", "spray", "ethereal"] {
        let topology = fat_tree(4, 100);
        let mut links = (0..topology.links().len() as u32).map(LinkId);
        let link = links.find(|&link| topology.is_fabric_link(link)).unwrap();
        let mut setup = setup(topology, policy, messages(&pairs, 500_000));
        setup.nic.congestion = CongestionControl::DctcpRate(dctcp_rate::Config::default());
        setup.fabric.switch.ecn = Ecn::Step(Bytes::new(30_000));
        let degrade = FailureKind::Degrade { factor: Fraction::new(1, 3).unwrap() };
        let until = Time::ZERO + Span::from_us(200);
        let down = failure(link, until, Span::from_us(20));
        setup.fabric.failures = vec![down, Failure { kind: degrade, ..down }];
        lossless(&mut setup, Headroom::Hpcc, 200_000);
        let outcome = complete(&setup);
        assert!(outcome.counters.pfc_pauses > 0, "{policy}");
        assert_eq!(outcome, complete(&setup), "{policy}");
    }
}

/// Five switches in a ring, two hosts at each.
pub(super) fn ring_of_switches() -> Topology {
    let rate = BitRate::from_gbps(400);
    let link = |ends| Link { ends, rate, delay: Span::from_ns(500) };
    let switch = |id: u32| Node::Switch(crate::ids::SwitchId(id % 5));
    let to_host = |host: u32| link([Node::Host(HostId(host)), switch(host / 2)]);
    let to_next = |id: u32| link([switch(id), switch(id + 1)]);
    let links = (0..10).map(to_host).chain((0..5).map(to_next)).collect();
    let hosts = (0..10).map(|host| format!("h{host}")).collect();
    let named = |id| crate::topology::Switch { name: format!("s{id}"), tier: 0 };
    Topology::new(hosts, (0..5).map(named).collect(), links).unwrap()
}

/// Each host sends to the switch after the next. Every link of the ring is full, and the packets
/// queued behind it arrived over the previous link.
#[test]
fn ports_that_wait_for_each_other_in_a_ring_are_named() {
    let pairs: Vec<_> = (0..10).map(|host| (host, (host + 4) % 10)).collect();
    let run_with = |headroom: Headroom| {
        let pairs = messages(&pairs, 2_000 * PAYLOAD);
        let mut setup = setup(ring_of_switches(), "ecmp", pairs);
        lossless(&mut setup, headroom, 20_000);
        setup.time_limit = Time::ZERO + Span::from_ms(5);
        run(&setup, &mut |_| {})
    };
    let outcome = run_with(Headroom::Hpcc);
    assert_eq!((outcome.verdict, outcome.counters.dropped), (Verdict::Stalled, 0));
    let clockwise: Vec<PortId> = (10..15).map(|link| PortId(2 * link)).collect();
    assert_eq!(outcome.deadlock, clockwise);
    // Lost packets make room for others.
    assert_eq!(run_with(Headroom::Fixed(Bytes::ZERO)).deadlock, []);
}

#[test]
fn a_pause_expires_after_its_time_unless_another_frame_comes() {
    for (name, admission) in [
        ("hpcc", PfcAdmission::Hpcc),
        ("conweave", PfcAdmission::ConWeave { packet: Bytes::new(PAYLOAD + HEADER) }),
    ] {
        let mut setup = two_to_one(1_000);
        lossless(&mut setup, Headroom::Hpcc, 400_000);
        let lasting = complete(&setup);
        let pfc = setup.fabric.switch.pfc.as_mut().expect("it is on");
        (pfc.pause_time, pfc.admission) = (Some(Span::from_us(1)), admission);
        let outcome = complete(&setup);
        assert_eq!(outcome.counters.dropped, 0, "{name}");
        // A frame for each packet that finds the link still paused.
        assert!(outcome.counters.pfc_pauses > lasting.counters.pfc_pauses, "{name}");
        for host in [0, 1].map(HostId) {
            let port = setup.topology.host_port(host);
            let mut paused: Option<Time> = None;
            for record in outcome.pauses.iter().filter(|record| record.port == port) {
                if let Some(since) = paused {
                    assert!(record.at.since(since) <= Span::from_us(1), "{name}: {record:?}");
                }
                paused = (record.order == PauseOrder::Pause).then_some(record.at);
            }
            assert_eq!(paused, None, "{name}: the last pause has ended");
        }
    }
}

#[test]
fn conweaves_small_headroom_is_lossless_while_the_pool_has_room() {
    let incast = [(1, 0), (2, 0), (3, 0)];
    let packet = Bytes::new(PAYLOAD + HEADER);
    let dropped = |admission| {
        let pairs = messages(&incast, 1_000_000);
        let mut setup = setup(leaf_spine(1, 1, 4, 100), "ecmp", pairs);
        lossless(&mut setup, Headroom::Fixed(packet), 2_000_000);
        let pfc = setup.fabric.switch.pfc.as_mut().expect("it is on");
        (pfc.pause_time, pfc.admission) = (Some(Span::from_us(5)), admission);
        complete(&setup).counters.dropped
    };
    assert!(dropped(PfcAdmission::Hpcc) > 0, "the headroom alone holds what is in flight");
    assert_eq!(dropped(PfcAdmission::ConWeave { packet }), 0);
}

/// A packet dropped for lack of a path was not counted against any link.
#[test]
fn packets_without_a_path_are_dropped_despite_flow_control() {
    let pairs = messages(&[(0, 2), (1, 0), (3, 0)], 100 * PAYLOAD);
    let mut setup = setup(leaf_spine(2, 1, 2, 400), "ecmp", pairs);
    let link = setup.topology.link_named("leaf0-spine0").unwrap();
    setup.fabric.failures = vec![failure(link, Time::NEVER, Span::ZERO)];
    setup.time_limit = Time::ZERO + Span::from_us(100);
    let packet = Bytes::new(PAYLOAD + HEADER);
    lossless(&mut setup, Headroom::WorstCase { packet }, 0);
    let outcome = run(&setup, &mut |_| {});
    assert!(outcome.counters.dropped > 50, "{:?}", outcome.counters);
    let pauses = |order| outcome.pauses.iter().filter(|it| it.order == order).count();
    assert_eq!(pauses(PauseOrder::Resume), pauses(PauseOrder::Pause));
}

/// Each host has sent its three packets before the first pause arrives. The pause uses a pool slot
/// that no packet of a host has used.
#[test]
fn frames_reach_hosts_whose_other_packets_carry_telemetry() {
    use crate::nic::congestion::hpcc;
    let incast: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
    let mut setup = setup(leaf_spine(1, 1, 8, 400), "ecmp", messages(&incast, 3 * PAYLOAD));
    setup.nic.congestion = CongestionControl::Hpcc(hpcc::Config::default());
    let packet = Bytes::new(PAYLOAD + HEADER);
    lossless(&mut setup, Headroom::WorstCase { packet }, 0);
    let outcome = complete(&setup);
    assert!(outcome.counters.pfc_pauses > 0 && outcome.counters.dropped == 0);
}

/// A packet that was already trimmed has priority, and passes data that a pause holds. It is marked
/// like that data, at either point.
#[test]
fn a_trimmed_packet_that_passes_paused_data_is_marked() {
    for (ecn_point, waiting, marked) in [
        (EcnPoint::Enqueue, 2, 0),
        (EcnPoint::Enqueue, 3, 1),
        (EcnPoint::Dequeue, 2, 0),
        (EcnPoint::Dequeue, 3, 1),
    ] {
        let mut setup = two_to_one(1);
        lossless(&mut setup, Headroom::Hpcc, 1_000_000);
        (setup.fabric.switch.ecn, setup.fabric.switch.ecn_point) =
            (Ecn::Step(Bytes::new(10_000)), ecn_point);
        let mut network = Network::new(&setup);
        let port = setup.topology.host_port(HostId(2)).reverse();
        network.apply_pause(
            Time::ZERO,
            port,
            LinkOrder::Pause(PauseOrder::Pause, ClassId::default()),
        );
        let mut forward = |wire_bytes, flags| {
            let packet = Packet { dst: HostId(2), wire_bytes, flags, ..Packet::default() };
            network.forward_for_test(Time::ZERO, SwitchId(0), packet);
        };
        (0..waiting).for_each(|_| forward(4_158, Flags::NONE));
        forward(64, Flags::PRIORITY.with(Flags::TRIMMED));
        let header = network.packets().find(|it| it.wire_bytes == 64).unwrap();
        let case = format!("{ecn_point:?}, {waiting}");
        assert_eq!(header.flags.has(Flags::MARKED), marked == 1, "{case}");
        assert_eq!(network.switching().marked()[port.index()], marked, "{case}");
    }
}
