//! Whole runs: closed forms first, then failures and comparisons with the packet fabric.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::balance::{Parameters, build_scheme};
use crate::endpoint::JobPolicy;
use crate::fabric::{Buffer, Direction, FabricConfig, Failure, FailureKind, FlowRecord};
use crate::ids::HostId;
use crate::nic::NicConfig;
use crate::nic::congestion::{CongestionControl, line_rate};
use crate::topology::{LeafSpine, fixtures};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};
use crate::workload::{Job, Message, Workload};

/// Transmission time of 4,096 bytes with headers and gap at 400 Gbps, in picoseconds; `GAP` is that
/// of the gap.
const PACKET: u64 = 4_178 * 20;
const GAP: u64 = 20 * 20;

/// A leaf-spine at 400 Gbps with `line-rate` senders.
fn fabric(leaves: u32, spines: u32, hosts_per_leaf: u32, policy: &str) -> Setup {
    let rate = BitRate::from_gbps(400);
    let shape = fixtures::leaf_spine(leaves, spines, hosts_per_leaf);
    let topology = LeafSpine { host_rate: rate, fabric_rate: rate, ..shape }.build().unwrap();
    let scheme = build_scheme(policy, &Parameters::new()).unwrap();
    let buffer = Buffer::Shared(Bytes::new(64_000_000));
    Setup {
        topology: Arc::new(topology),
        fabric: FabricConfig { gap: Bytes::new(20), ..FabricConfig::plain(buffer) },
        nic: NicConfig {
            congestion: CongestionControl::LineRate(line_rate::Config::default()),
            recovery: scheme.recovery,
            ..NicConfig::default()
        },
        scheme,
        own_nics: BTreeMap::new(),
        job_policies: Vec::new(),
        job_classes: Vec::new(),
        workload: Arc::new(Workload::default()),
        seed: 1,
        time_limit: Time::ZERO + Span::from_ms(1_000),
        probes: Vec::new(),
    }
}

/// Two leaves, four spines and four hosts per leaf.
fn leaf_spine(policy: &str) -> Setup {
    fabric(2, 4, 4, policy)
}

/// Returns a failure of a link from 10 us on that routing never detects.
fn failure(setup: &Setup, link: &str, kind: FailureKind) -> Failure {
    Failure {
        link: setup.topology.link_named(link).unwrap(),
        direction: Direction::Both,
        kind,
        at: Time::ZERO + Span::from_us(10),
        until: Time::NEVER,
        detection: Span::ZERO,
        convergence: Span::MAX,
    }
}

/// Every host sends to every other one.
fn all_to_all(hosts: u32, bytes: u64) -> Vec<(u32, u32, u64)> {
    let from = move |src| (1..hosts).map(move |by| (src, (src + by) % hosts, bytes));
    (0..hosts).flat_map(from).collect()
}

fn complete(setup: &Setup) -> Outcome {
    let Estimate { outcome, .. } = run(setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed);
    outcome
}

fn took(flow: &FlowRecord) -> u64 {
    flow.completed.since(flow.start).as_ps()
}

/// `n·(D + gap)/R − gap/R + (H−1)·D/R + H·p + H·A/R + H·p`, in picoseconds.
fn idle_ps(packets: u64, hops: u64) -> u64 {
    let (data, ack) = (4_158 * 20, 64 * 20);
    packets * PACKET - GAP + (hops - 1) * data + hops * ack + 2 * hops * 500_000
}

/// Adds messages with these senders, receivers and bytes, all starting at time zero.
fn with_messages(mut setup: Setup, messages: &[(u32, u32, u64)]) -> Setup {
    let message = |(stream, &(src, dst, bytes)): (u32, &(u32, u32, u64))| Message {
        src: HostId(src),
        dst: HostId(dst),
        bytes: Bytes::new(bytes),
        stream,
        start: Time::ZERO,
    };
    let messages = (0u32..).zip(messages).map(message).collect();
    setup.workload = Arc::new(Workload::independent(messages));
    setup
}

#[test]
fn a_flow_without_competition_matches_the_closed_form() {
    for policy in ["ecmp", "spray", "ofan", "adaptive"] {
        for packets in [1, 2, 100, 4_096] {
            let bytes = packets * 4_096;
            let setup = with_messages(leaf_spine(policy), &[(0, 4, bytes), (1, 2, bytes)]);
            let outcome = complete(&setup);
            assert_eq!(took(&outcome.flows[0]), idle_ps(packets, 4), "{policy}, {packets}");
            assert_eq!(took(&outcome.flows[1]), idle_ps(packets, 2), "{policy}, {packets}");
        }
    }
}

#[test]
fn an_incast_matches_the_lower_bound() {
    let setup =
        with_messages(leaf_spine("spray"), &[(0, 4, 409_600), (1, 4, 409_600), (2, 4, 409_600)]);
    let outcome = complete(&setup);
    assert_eq!(outcome.cct.map(Span::as_ps), Some(idle_ps(300, 4)));
    assert!(outcome.flows.iter().all(|flow| took(flow) == idle_ps(300, 4)));
}

#[test]
fn a_flow_takes_over_the_slot_of_its_predecessor_on_the_queue_pair() {
    // There are enough flows to defer rates. A flow that follows another one gets its rate
    // immediately.
    let pairs = |stream: u32| (0..256u32).map(move |src| (src, (src + 16) % 256, stream));
    let messages: Vec<Message> = (0..6)
        .flat_map(pairs)
        .map(|(src, dst, stream)| Message {
            src: HostId(src),
            dst: HostId(dst),
            bytes: Bytes::new(409_600),
            stream: stream % 5,
            start: Time::ZERO,
        })
        .collect();
    let mut setup = fabric(16, 16, 16, "spray");
    setup.workload = Arc::new(Workload::independent(messages));
    // 1,280 flows at the same time, and another 256 after one flow of each host.
    let outcome = complete(&setup);
    let last = outcome.flows.iter().map(took).max().unwrap();
    let work = 600 * (PACKET + 84 * 20);
    let exact = work + idle_ps(1, 4) - PACKET;
    assert!(last.abs_diff(exact) < exact / 100, "{last} {exact}");
}

#[test]
fn a_long_flow_gets_the_bandwidth_of_a_completed_short_flow() {
    let setup = with_messages(leaf_spine("spray"), &[(0, 4, 409_600), (1, 4, 4_096_000)]);
    let [short, long] = complete(&setup).flows[..] else { panic!("two flows") };
    // Half of the rate until the short flow has been sent, which is after 100 packets of each.
    assert_eq!(took(&short), idle_ps(200, 4));
    assert_eq!(took(&long), idle_ps(1_100, 4));
}

#[test]
fn flows_of_a_queue_pair_follow_each_other() {
    let mut setup = with_messages(leaf_spine("ecmp"), &[(0, 4, 409_600), (0, 4, 409_600)]);
    let workload = std::sync::Arc::make_mut(&mut setup.workload);
    workload.messages[1].stream = 0;
    let [first, second] = complete(&setup).flows[..] else { panic!("two flows") };
    assert_eq!((took(&first), took(&second)), (idle_ps(100, 4), idle_ps(200, 4)));
}

#[test]
fn acknowledgements_share_links_with_data() {
    let bytes = 4_096_000;
    let setup = with_messages(leaf_spine("spray"), &[(0, 4, bytes), (4, 0, bytes)]);
    let both = took(&complete(&setup).flows[0]);
    let work = 1_000 * (PACKET + 84 * 20);
    assert_eq!(both, work + idle_ps(1, 4) - PACKET);
}

#[test]
fn every_port_of_a_group_carries_its_share() {
    let setup = with_messages(leaf_spine("spray"), &[(0, 4, 409_600)]);
    let outcome = complete(&setup);
    let carried: Vec<u64> = outcome.link_bytes.iter().map(|bytes| bytes.get()).collect();
    let count = |bytes: u64| carried.iter().filter(|it| **it == bytes).count();
    // The hosts' links, and a quarter on four uplinks and four downlinks. 64 B per packet return.
    assert_eq!((count(415_800), count(103_950), count(6_400), count(1_600)), (2, 8, 2, 8));
}

#[test]
fn results_do_not_depend_on_grouping() {
    let setup = with_messages(leaf_spine("spray"), &all_to_all(8, 200_000));
    let [grouped, apart] = [Grouping::Allowed, Grouping::Off]
        .map(|grouping| run_grouped(&setup, grouping, &mut |_| {}).unwrap().outcome);
    assert_eq!(grouped.flows, apart.flows);
    assert_eq!(grouped.link_bytes, apart.link_bytes);
}

#[test]
fn a_flow_on_part_of_a_group_disables_grouping() {
    let mut setup = with_messages(leaf_spine("adaptive"), &all_to_all(8, 200_000));
    let scheme = build_scheme("ecmp", &Parameters::new()).unwrap();
    let own = JobPolicy { job: 1, streams: 28..56, recovery: scheme.recovery, scheme };
    setup.job_policies = vec![own];
    Arc::make_mut(&mut setup.workload).jobs = vec![Job::for_test(); 2];
    let refused = run_grouped(&setup, Grouping::Allowed, &mut |_| {});
    assert_eq!(refused.map(|it| it.outcome.verdict), Err(Ungrouped));
    complete(&setup);
}

#[test]
fn a_degraded_link_has_a_lower_rate_until_it_is_restored() {
    let mut setup = with_messages(fabric(2, 1, 1, "ecmp"), &[(0, 1, 4_096_000)]);
    let factor = Fraction::new(1, 4).unwrap();
    let degraded = failure(&setup, "leaf0-spine0", FailureKind::Degrade { factor });
    let until = Time::ZERO + Span::from_us(30);
    setup.fabric.failures = vec![Failure { until, ..degraded }];
    // 20 us at a quarter of the rate cost 15 us; the last packet is sent at the full rate.
    assert_eq!(took(&complete(&setup).flows[0]), idle_ps(1_000, 4) + 15_000_000);
}

#[test]
fn a_hashed_flow_stalls_until_routing_moves_it() {
    let took_with = |us: u64| {
        let mut setup = with_messages(fabric(2, 2, 1, "ecmp"), &[(0, 1, 4_096_000)]);
        let spines = ["leaf1-spine0", "leaf1-spine1"];
        // One of the two runs loses the link of the flow.
        let both = spines.map(|link| {
            let down = failure(&setup, link, FailureKind::Down);
            setup.fabric.failures = vec![Failure { convergence: Span::from_us(us), ..down }];
            took(&complete(&setup).flows[0])
        });
        both[0].max(both[1])
    };
    assert_eq!(took_with(0), idle_ps(1_000, 4));
    assert_eq!(took_with(50), idle_ps(1_000, 4) + 50_000_000);
}

#[test]
fn a_link_may_fail_while_the_fabric_is_idle() {
    let mut setup = with_messages(fabric(2, 2, 1, "spray"), &[(0, 1, 4_096_000)]);
    let start = Time::ZERO + Span::from_us(20);
    Arc::make_mut(&mut setup.workload).messages[0].start = start;
    let down = failure(&setup, "leaf1-spine0", FailureKind::Down);
    setup.fabric.failures = vec![Failure { convergence: Span::from_us(1), ..down }];
    assert_eq!(took(&complete(&setup).flows[0]), idle_ps(1_000, 4));
}

#[test]
fn a_sender_with_several_paths_moves_a_stalled_flow() {
    let mut setup = with_messages(fabric(2, 2, 1, "ethereal"), &[(0, 1, 40_960_000)]);
    setup.fabric.failures = vec![failure(&setup, "leaf1-spine0", FailureKind::Down)];
    let outcome = complete(&setup);
    let [stays, moves] = outcome.flows[..] else { panic!("two pieces") };
    let [first, second] = [took(&stays), took(&moves)];
    // The timeout of 1 ms, and then both pieces on one path.
    assert!(first.max(second) > 1_000_000_000, "{first} {second}");
    assert!(first.max(second) < 1_000_000_000 + idle_ps(10_000, 4), "{first} {second}");
}

#[test]
fn a_spread_flow_resends_losses_over_its_other_links() {
    let mut setup = with_messages(fabric(2, 2, 1, "spray"), &[(0, 1, 4_096_000)]);
    setup.fabric.failures = vec![failure(&setup, "leaf1-spine0", FailureKind::Down)];
    let fate = run(&setup, &mut |_| {});
    let flow = took(&fate.outcome.flows[0]);
    // After 10 us, half of the packets arrive.
    let twice = 2 * (idle_ps(1_000, 4) - 10_000_000);
    assert!(flow > twice && flow < twice + 10_000_000, "{flow}");
    assert!(fate.warnings[0].contains("lost on failing links"), "{:?}", fate.warnings);
}

#[test]
fn unmodelled_effects_give_warnings() {
    let warnings = |policy: &str, messages: &[(u32, u32, u64)], buffer: u64| {
        let mut setup = with_messages(leaf_spine(policy), messages);
        setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(buffer));
        run(&setup, &mut |_| {}).warnings
    };
    let long = [(0, 4, 4_096_000), (1, 4, 4_096_000)];
    assert!(warnings("ofan", &long, 64_000_000).is_empty());
    // Half of 8 MB in packets queues at leaf 1.
    let lost = warnings("ofan", &long, 4_000_000);
    assert!(lost[0].contains("would queue at leaf1 for the link to host4"), "{lost:?}");
    assert!(warnings("spray", &long, 64_000_000)[0].contains("hashed to paths one by one"));
    assert!(warnings("flowlet", &long, 64_000_000)[0].contains("flowlet moves flows"));
    let short = warnings("ofan", &[(0, 4, 4_096)], 64_000_000);
    assert!(short[0].starts_with("1 of 1 flows have fewer than 8 packets"), "{short:?}");
}

#[test]
fn the_outcome_depends_on_the_setup_and_the_seed_only() {
    for policy in ["ecmp", "ethereal", "subflow-4"] {
        let mut setup = with_messages(leaf_spine(policy), &all_to_all(8, 200_000));
        let first = run(&setup, &mut |_| {});
        assert_eq!(first, run(&setup, &mut |_| {}), "{policy}");
        setup.seed = 2;
        assert_ne!(first.outcome.flows, run(&setup, &mut |_| {}).outcome.flows, "{policy}");
    }
}
