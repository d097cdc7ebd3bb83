//! Parallel runs: every policy, and the runs that stay on one thread.

use super::*;
use crate::balance::presets;
use crate::extent;
use crate::fabric::parallel::{Cut, Partitioning, Sequential, run_parallel};
use crate::ids::SwitchId;
use crate::nic::congestion::{dcqcn, hpcc};
use crate::switching::PfcConfig;
use crate::topology::{Link, MultiPlane, Node, Switch};
use crate::workload::Delay;

pub(super) const CUTS: [(u16, Cut); 3] =
    [(2, Cut::Contiguous), (4, Cut::Contiguous), (3, Cut::Drawn(7))];

pub(super) fn parallel(setup: &Setup, partitions: u16, cut: Cut) -> Outcome {
    let partitioning = Partitioning::new(setup, partitions, cut).unwrap().with_quiet_events(5);
    run_parallel(setup, &partitioning, &mut |_| {}).0
}

/// 16 hosts with three peers each, with queues, marks, a link that is down for a while, and one
/// that loses packets.
pub(super) fn busy(policy: &str) -> Setup {
    let pairs: Vec<(u32, u32)> =
        (0..16).flat_map(|host| [5, 8, 15].map(|by| (host, (host + by) % 16))).collect();
    let mut setup = setup(leaf_spine(4, 4, 4, 400), policy, messages(&pairs, 200_000));
    setup.fabric.switch.ecn = Ecn::Step(Bytes::new(40_000));
    setup.nic.congestion = CongestionControl::Dcqcn(dcqcn::Config::default());
    setup.nic.retransmit_timeout = Span::from_us(50);
    let link = |name: &str| setup.topology.link_named(name).unwrap();
    let down = failure(link("leaf1-spine0"), Time::ZERO + Span::from_us(5), Span::from_us(2));
    let lossy = Failure {
        link: link("leaf2-spine1"),
        kind: FailureKind::Loss { rate: Fraction::new(1, 50).unwrap() },
        ..down
    };
    setup.fabric.failures = vec![Failure { until: Time::ZERO + Span::from_us(40), ..down }, lossy];
    setup.probes = [3, 9, 30].map(|us| Time::ZERO + Span::from_us(us)).to_vec();
    setup
}

#[test]
fn every_policy_has_the_same_outcome_in_parallel() {
    let every_second = |&(index, _): &(usize, _)| index % 2 == 0;
    let all = presets().enumerate().collect();
    for (index, preset) in extent::cases("fabric::parallel", all, every_second) {
        let setup = busy(preset.name);
        let whole = complete(&setup);
        // By default each policy is tested with one of the partitionings.
        let cuts = if extent::is_long() { &CUTS[..] } else { &CUTS[index % 3..][..1] };
        for &(partitions, cut) in cuts {
            assert!(
                whole == parallel(&setup, partitions, cut),
                "{}, {partitions} {cut:?}",
                preset.name
            );
        }
    }
}

#[test]
fn flow_control_has_the_same_pauses_in_parallel() {
    let incast: Vec<(u32, u32)> = (1..16).map(|src| (src, 0)).collect();
    let mut setup = setup(leaf_spine(4, 4, 4, 400), "spray", messages(&incast, 400_000));
    setup.fabric.switch.pfc = Some(PfcConfig::HPCC);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(2_000_000));
    let whole = complete(&setup);
    assert!(whole.pauses.len() > 20, "{} pauses", whole.pauses.len());
    for (partitions, cut) in CUTS {
        assert!(whole == parallel(&setup, partitions, cut), "{partitions} {cut:?}");
    }
}

#[test]
fn pauses_that_expire_are_the_same_in_parallel() {
    let incast: Vec<(u32, u32)> = (1..16).map(|src| (src, 0)).collect();
    let mut setup = setup(leaf_spine(4, 4, 4, 400), "spray", messages(&incast, 400_000));
    let pfc = PfcConfig { pause_time: Some(Span::from_ns(300)), ..PfcConfig::HPCC };
    setup.fabric.switch.pfc = Some(pfc);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(2_000_000));
    let whole = complete(&setup);
    assert!(whole.pauses.len() > 20, "{} pauses", whole.pauses.len());
    for (partitions, cut) in CUTS {
        assert!(whole == parallel(&setup, partitions, cut), "{partitions} {cut:?}");
    }
}

#[test]
fn a_parallel_run_ends_at_its_time_limit() {
    let mut setup = busy("spray");
    for us in [1, 7, 12] {
        setup.time_limit = Time::ZERO + Span::from_us(us);
        let whole = run(&setup, &mut |_| {});
        assert_eq!(whole.verdict, Verdict::TimeLimit);
        for (partitions, cut) in CUTS {
            assert!(whole == parallel(&setup, partitions, cut), "{us} us, {partitions} {cut:?}");
        }
    }
}

#[test]
fn pods_stay_together_and_every_partition_has_hosts() {
    let setup = setup(fat_tree(8, 400), "spray", messages(&shift(128), 1_000));
    let partitioning = Partitioning::new(&setup, 4, Cut::Contiguous).unwrap();
    let mut hosts = [0; 4];
    (0..128).for_each(|host| hosts[partitioning.partition_of(Node::Host(HostId(host)))] += 1);
    assert_eq!(hosts, [32; 4]);
    // Three of four links between the cores and the 8 x 4 x 4 ports below them are cut.
    let boundaries: usize = (0..4).map(|partition| partitioning.boundaries(partition).len()).sum();
    assert_eq!(boundaries, 2 * 128 * 3 / 4);
}

/// If neighbours tie, the partition with fewer switches above the edge gets the switch.
#[test]
fn a_switch_above_the_edge_joins_the_partition_of_most_neighbours_below() {
    let partitions = |leaves, cut| {
        let setup = setup(leaf_spine(leaves, 2, 1, 400), "spray", messages(&[(0, 1)], 1_000));
        let partitioning = Partitioning::new(&setup, 2, cut).unwrap();
        let switches = (0..leaves + 2).map(|id| Node::Switch(SwitchId(id)));
        switches.map(|switch| partitioning.partition_of(switch)).collect::<Vec<usize>>()
    };
    // Leaves, then spines.
    assert_eq!(partitions(4, Cut::Contiguous), [0, 0, 1, 1, 0, 1]);
    assert_eq!(partitions(4, Cut::Interleaved), [0, 1, 0, 1, 0, 1]);
    assert_eq!(partitions(3, Cut::Contiguous), [0, 0, 1, 0, 0]);
    assert_eq!(partitions(3, Cut::Interleaved), [0, 1, 0, 0, 0]);
}

#[test]
fn a_sequential_run_says_why() {
    let of = |setup: &Setup| Partitioning::new(setup, 2, Cut::Contiguous).map(drop).unwrap_err();
    let plain = setup(leaf_spine(2, 2, 1, 400), "spray", messages(&[(0, 1)], 1_000));
    assert!(Partitioning::new(&plain, 9, Cut::Contiguous).is_ok_and(|it| it.count() == 2));
    let one = setup(leaf_spine(1, 1, 2, 400), "spray", messages(&[(0, 1)], 1_000));
    assert_eq!(of(&one), Sequential::OnePartition);
    let mut separate = plain.clone();
    let cut = |name| failure(plain.topology.link_named(name).unwrap(), Time::ZERO, Span::ZERO);
    let never = |failure| Failure { until: Time::NEVER, ..failure };
    separate.fabric.failures = vec![never(cut("leaf0-spine0"))];
    assert!(Partitioning::new(&separate, 2, Cut::Contiguous).is_ok(), "the other spine is left");
    separate.fabric.failures.push(never(cut("leaf0-spine1")));
    assert_eq!(of(&separate), Sequential::Separated);
    let mut delayed = plain.clone();
    let delays = vec![Delay { host: HostId(1), span: Span::ZERO }];
    let tasks = [(crate::ids::TaskId(1), crate::ids::TaskId(0))];
    delayed.workload = Arc::new(Workload::with_delays(messages(&[(0, 1)], 1_000), delays, &tasks));
    assert_eq!(of(&delayed), Sequential::Delays);
}

#[test]
fn features_without_partitions_run_on_one_thread() {
    let of = |setup: &Setup| Partitioning::new(setup, 2, Cut::Contiguous).map(drop).unwrap_err();
    let on = |topology| setup(topology, "ecmp", messages(&[(0, 1)], 1_000));
    let plain = on(leaf_spine(2, 2, 1, 400));
    let rate = BitRate::from_gbps(400);
    let plane = LeafSpine { host_rate: rate, fabric_rate: rate, ..fixtures::leaf_spine(2, 2, 1) };
    let planes = MultiPlane { planes: 2, rails: 1, plane }.build().unwrap();
    assert_eq!(of(&setup(planes, "plane-jsq", messages(&[(0, 1)], 1_000))), Sequential::Planes);
    let without_delay = LeafSpine { delay: Span::ZERO, ..plane }.build().unwrap();
    assert_eq!(of(&on(without_delay)), Sequential::NoLength);
    let servers = super::scale_up::rails(super::scale_up::scale_up(4));
    assert_eq!(of(&on(servers)), Sequential::ScaleUp);

    let link = |ends| Link { ends, rate, delay: Span::from_ns(500) };
    let host = |id| Node::Host(HostId(id));
    let names = ["a", "b"].map(str::to_owned).to_vec();
    let wired = Topology::new(names, Vec::new(), vec![link([host(0), host(1)])]).unwrap();
    assert_eq!(of(&on(wired)), Sequential::NoSwitch);

    let mut telemetry = plain.clone();
    telemetry.nic.congestion = CongestionControl::Hpcc(hpcc::Config::default());
    assert_eq!(of(&telemetry), Sequential::Telemetry);
    let mut retry = plain.clone();
    retry.fabric.llr = Some(super::retry::LLR);
    assert_eq!(of(&retry), Sequential::Retry);
    let mut credit = plain;
    super::credit::credit(&mut credit, 100_000);
    assert_eq!(of(&credit), Sequential::LinkCredit);
}

/// During the forwarding delay of the receiving switch, a packet has not reached its partition yet.
#[test]
fn the_forwarding_delay_makes_windows_longer() {
    let window = |delay: u64, host_delay: u64| {
        let link = |ends, ns| Link { ends, rate: BitRate::MAX, delay: Span::from_ns(ns) };
        let [left, right] = [0, 1].map(|id| Node::Switch(SwitchId(id)));
        let host = |id| Node::Host(HostId(id));
        let links = vec![
            link([host(0), left], host_delay),
            link([host(1), right], 2_000),
            link([left, right], delay),
        ];
        let switch = |name: &str| Switch { name: name.to_owned(), tier: 0 };
        let hosts = ["a", "b"].map(str::to_owned).to_vec();
        let topology = Topology::new(hosts, vec![switch("l"), switch("r")], links).unwrap();
        let mut setup = setup(topology, "ecmp", messages(&[(0, 1)], 1_000));
        setup.fabric.forwarding_delay = Span::from_ns(70);
        Partitioning::new(&setup, 2, Cut::Contiguous).unwrap().lookahead()
    };
    assert_eq!(window(500, 2_000), Span::from_ns(500 + 70));
    // Two hosts at one switch: to the switch and away from it.
    assert_eq!(window(500, 150), Span::from_ns(150 + 70 + 150));
}

#[test]
fn probes_and_link_changes_are_counted_once() {
    let mut setup = setup(leaf_spine(2, 2, 1, 400), "ecmp", messages(&[(0, 1)], 3 * PAYLOAD));
    let events = complete(&setup).counters.events;
    setup.probes = [1, 2, 3].map(|us| Time::ZERO + Span::from_us(us)).to_vec();
    let whole = complete(&setup);
    assert_eq!(whole.counters.events, events + 3);
    assert!(whole == parallel(&setup, 2, Cut::Contiguous));
    // An unused link of it fails and recovers.
    let link = setup.topology.link_named("leaf0-spine0").unwrap();
    let carried = |port: PortId| whole.link_bytes[port.index()] > Bytes::ZERO;
    let name = if link.ports().into_iter().any(carried) { "leaf0-spine1" } else { "leaf0-spine0" };
    let link = setup.topology.link_named(name).unwrap();
    let until = Time::ZERO + Span::from_us(2);
    setup.fabric.failures = vec![failure(link, until, Span::from_ms(1))];
    let whole = complete(&setup);
    assert!(whole.counters.events > events + 3);
    assert!(whole == parallel(&setup, 2, Cut::Contiguous));
}

/// Counts do not depend on the thread that runs a window.
#[test]
fn windows_on_one_thread_are_counted_like_others() {
    let setup = busy("spray");
    let counts = |quiet_events| {
        let partitioning = Partitioning::new(&setup, 3, Cut::Contiguous).unwrap();
        let partitioning = partitioning.with_quiet_events(quiet_events);
        run_parallel(&setup, &partitioning, &mut |_| {}).1
    };
    let separate = counts(0);
    assert!(separate.windows > 40, "{separate:?}");
    assert!(
        separate.critical_events < separate.events
            && separate.events < 3 * separate.critical_events
    );
    for quiet_events in [5, 1 << 32] {
        assert_eq!(counts(quiet_events), separate, "{quiet_events}");
    }
}

/// The second message is one window behind the first. Each event of its acknowledgement is at the
/// very end of a window that begins with an event of the other.
#[test]
fn an_event_at_the_end_of_a_window_belongs_to_the_next() {
    let mut pairs = messages(&[(0, 2), (1, 3)], PAYLOAD);
    pairs[1].start = Time::ZERO + Span::from_ns(500);
    let setup = setup(leaf_spine(2, 2, 2, 400), "ecmp", pairs);
    let partitioning = Partitioning::new(&setup, 2, Cut::Contiguous).unwrap();
    assert_eq!(partitioning.lookahead(), Span::from_ns(500));
    let whole = complete(&setup);
    assert_eq!(whole.message_fct, [whole.message_fct[0]; 2], "neither waits for the other");
    assert!(whole == parallel(&setup, 2, Cut::Contiguous));
}

/// After 16 quiet windows one thread continues alone, until a message of many packets.
#[test]
fn quiet_and_busy_windows_have_the_same_outcome() {
    let mut pairs = messages(&[(0, 1), (0, 1), (1, 0)], PAYLOAD);
    for (message, us) in pairs.iter_mut().zip([0, 5, 10]) {
        message.start = Time::ZERO + Span::from_us(us);
    }
    pairs[2].bytes = Bytes::new(10 * PAYLOAD);
    let setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", pairs);
    assert!(complete(&setup) == parallel(&setup, 2, Cut::Contiguous));
}

#[test]
fn reasons_for_one_thread_have_a_message() {
    for (why, says) in [
        (Sequential::OnePartition, "fewer than two switches"),
        (Sequential::NoSwitch, "another host"),
        (Sequential::Planes, "several planes"),
        (Sequential::Delays, "immediately"),
        (Sequential::Separated, "stay down"),
        (Sequential::NoLength, "no delay"),
        (Sequential::Telemetry, "telemetry"),
        (Sequential::Retry, "llr"),
        (Sequential::ScaleUp, "scale-up"),
        (Sequential::LinkCredit, "cbfc"),
    ] {
        assert!(why.to_string().contains(says), "{why}");
    }
}
