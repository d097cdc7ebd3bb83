//! Complete runs: exact sums and closed forms.

use super::*;
use crate::balance::Parameters;
use crate::extent;
use crate::fabric::Verdict;
use crate::nic::congestion::{CongestionControl, line_rate, new_reno};
use crate::nic::recovery::sack;
use crate::nic::{NicConfig, Recovery};
use crate::rail::{self, handler};
use crate::units::{BitRate, Bytes, Span, Time};

const FREE: Software = Software {
    send_message: Span::ZERO,
    receive_message: Span::ZERO,
    send_rate: None,
    receive_rate: None,
    checksum_rate: None,
    slice: Bytes::new(1 << 20),
};

pub(super) fn rdma(name: &str, gbps: u64) -> RailConfig {
    let nic = NicConfig {
        congestion: CongestionControl::LineRate(line_rate::Config::default()),
        recovery: Recovery::GO_BACK_N,
        ..NicConfig::default()
    };
    let (buffer, gap) = (Bytes::new(16_000_000), Bytes::new(20));
    RailConfig {
        name: name.to_owned(),
        rate: BitRate::from_gbps(gbps),
        delay: Span::from_ns(500),
        kind: RailKind::Rdma(Transport { links: 1, nic, software: FREE, buffer, gap }),
    }
}

fn tree(name: &str, gbps: u64, radix: u32) -> RailConfig {
    RailConfig {
        name: name.to_owned(),
        rate: BitRate::from_gbps(gbps),
        delay: Span::from_ns(500),
        kind: RailKind::InNetwork(TreeConfig {
            radix,
            segment: Bytes::new(4_096),
            header: Bytes::new(64),
            slots: 64,
            switch_latency: Span::from_ns(300),
            chunk_overhead: Span::from_us(1),
        }),
    }
}

pub(super) fn setup(ranks: u32, rails: Vec<RailConfig>, operations: &[u64]) -> RailSetup {
    RailSetup {
        ranks,
        rails,
        add_rate: None,
        window: 2,
        handler: handler::Config::default(),
        operations: operations.iter().map(|&bytes| Bytes::new(bytes)).collect(),
        failures: Vec::new(),
        seed: 1,
        time_limit: Time::ZERO + Span::from_ms(1_000),
    }
}

fn complete(setup: &RailSetup, policy: &str) -> RailOutcome {
    let config = rail::allocator_config(policy, &Parameters::new()).unwrap();
    let rates: Vec<BitRate> = setup.rails.iter().map(|rail| rail.rate).collect();
    let outcome = run(setup, config.build(&rates).unwrap());
    assert_eq!(outcome.verdict, Verdict::Completed);
    assert!(outcome.operations.iter().all(|it| it.took.is_some() && it.wrong == 0), "{outcome:?}");
    outcome
}

#[test]
fn two_rdma_rails_halve_the_time_and_every_rank_has_the_sum() {
    let operations = [4_000_000, 8, 1_000_000];
    let one = complete(&setup(4, vec![rdma("a", 100)], &operations), "even");
    let both = setup(4, vec![rdma("a", 100), rdma("b", 100)], &operations);
    let both = complete(&both, "even");
    let gain = both.rate() / one.rate();
    assert!((1.8..2.0).contains(&gain), "{gain}");
    assert_eq!(both.operations[0].shares, [Bytes::new(2_000_000); 2]);
    assert!(both.operations[0].spread() < 0.001);
}

/// `overhead + 2h·(s/β + p) + (2h − 1)·l + (n − 1)·s/β`.
fn tree_time(rail: &RailConfig, height: u64, segments: u64) -> Span {
    let RailKind::InNetwork(tree) = &rail.kind else { panic!("not a tree") };
    let segment = rail.rate.time_for(tree.segment + tree.header);
    tree.chunk_overhead
        + (segment + rail.delay) * (2 * height)
        + tree.switch_latency * (2 * height - 1)
        + segment * (segments - 1)
}

#[test]
fn a_tree_takes_as_long_as_its_closed_form() {
    for (ranks, radix, height) in [(6, 8, 1), (6, 3, 2), (9, 2, 4), (2, 2, 1)] {
        let rail = tree("tree", 100, radix);
        for segments in [1, 2, 100] {
            let setup = setup(ranks, vec![rail.clone()], &[segments * 4_096]);
            let outcome = complete(&setup, "even");
            let expected = tree_time(&rail, height, segments);
            assert_eq!(outcome.operations[0].took, Some(expected), "{ranks} {radix} {segments}");
        }
    }
}

fn tcp(name: &str, gbps: u64) -> RailConfig {
    let mut rail = rdma(name, gbps);
    let RailKind::Rdma(transport) = &rail.kind else { panic!("it is") };
    let mut transport = transport.clone();
    transport.software = Software {
        send_message: Span::from_us(6),
        receive_message: Span::from_us(12),
        send_rate: Some(BitRate::from_gbps(89)),
        receive_rate: Some(BitRate::from_gbps(42)),
        checksum_rate: None,
        slice: Bytes::new(64 << 10),
    };
    transport.nic.congestion = CongestionControl::NewReno(new_reno::Config::default());
    transport.nic.recovery = Recovery::Sack(sack::Config {
        reordering: 3,
        flow_control: sack::Window::Off,
        rto_low: Span::from_ms(200),
        ..sack::Config::default()
    });
    transport.nic.retransmit_timeout = Span::from_ms(200);
    rail.kind = RailKind::Tcp(transport);
    rail
}

/// Nine operations of 1 MB over a rail that fails and a 10 Gbps rail that does not.
fn with_survivor(rail: RailConfig) -> RailSetup {
    let mut setup = setup(4, vec![rail, rdma("survivor", 10)], &[1_000_000; 9]);
    setup.handler.chunk = Bytes::new(64 << 10);
    setup
}

/// Returns the start and the duration of the fifth operation without failures. It is the first one
/// in which both rails end together.
fn fifth(setup: &RailSetup) -> (Time, Span) {
    let outcome = complete(setup, "nezha");
    let fifth = &outcome.operations[4];
    (fifth.started, fifth.took.unwrap())
}

/// Fails the rail at every tenth of the fifth operation, in one run each.
fn fail_at_each_tenth(rail: RailConfig, kind: RailFailureKind) {
    let without_failure = with_survivor(rail);
    let alone = setup(4, vec![rdma("survivor", 10)], &[1_000_000]);
    let alone = RailSetup { handler: without_failure.handler, ..alone };
    let alone = complete(&alone, "nezha").operations[0].took.unwrap();
    let (start, took) = fifth(&without_failure);
    let some = |tenth: &u64| *tenth == 5;
    for tenth in extent::cases("multirail::fail_at_each_tenth", (0..10).collect(), some) {
        // One nanosecond later, so that the operation has started in the first run too.
        let at = start + Span::from_ps(took.as_ps() / 10 * tenth) + Span::from_ns(1);
        let failure = RailFailure { rail: 0, kind, at, until: Time::NEVER };
        let setup = RailSetup { failures: vec![failure], ..without_failure.clone() };
        let outcome = complete(&setup, "nezha");
        let (again, resumed) =
            outcome.resumption().unwrap_or_else(|| panic!("{tenth}: {outcome:?}"));
        let most = Span::from_ms(200);
        assert!(again < most && resumed < most, "{kind:?} {tenth}/10: {:?}", outcome.timeline);
        let last = outcome.operations[8].took.unwrap();
        let ratio = last.as_ps() as f64 / alone.as_ps() as f64;
        assert!((0.95..1.05).contains(&ratio), "{kind:?} {tenth}/10: {ratio}");
        assert_eq!(outcome.operations[8].shares[0], Bytes::ZERO);
    }
}

const KINDS: [RailFailureKind; 4] = [
    RailFailureKind::Link { host: 1 },
    RailFailureKind::Switch,
    RailFailureKind::Degraded { host: 2, remaining: 66 },
    RailFailureKind::Error { host: 3 },
];

fn for_kinds(check: impl Fn(RailFailureKind)) {
    let kept = |kind: &RailFailureKind| *kind != RailFailureKind::Switch;
    extent::cases("multirail::kinds", KINDS.to_vec(), kept).into_iter().for_each(check);
}

#[test]
fn operations_resume_after_a_tcp_rail_fails_at_any_tenth() {
    for_kinds(|kind| fail_at_each_tenth(tcp("tcp", 10), kind));
}

#[test]
fn operations_resume_after_an_rdma_rail_fails_at_any_tenth() {
    for_kinds(|kind| fail_at_each_tenth(rdma("rdma", 10), kind));
}

#[test]
fn operations_resume_after_a_tree_fails_at_any_tenth() {
    for_kinds(|kind| fail_at_each_tenth(tree("tree", 10, 4), kind));
}

#[test]
fn operations_resume_on_a_tree_after_a_ring_fails() {
    let mut setup = setup(4, vec![tcp("tcp", 10), tree("tree", 10, 2)], &[1_000_000; 9]);
    setup.handler.chunk = Bytes::new(64 << 10);
    let (start, took) = fifth(&setup);
    let at = start + Span::from_ps(took.as_ps() / 2);
    setup.failures = vec![RailFailure { rail: 0, kind: KINDS[0], at, until: Time::NEVER }];
    let outcome = complete(&setup, "nezha");
    assert!(outcome.operations[4].reissued > 0);
    assert_eq!(outcome.operations[8].shares[0], Bytes::ZERO);
}

#[test]
fn a_repaired_rail_returns_cold_and_gets_its_share_again() {
    let all = vec![tcp("rail", 10), rdma("rail", 10), tree("rail", 10, 4)];
    for rail in
        extent::cases("multirail::repaired", all, |it| matches!(it.kind, RailKind::InNetwork(_)))
    {
        let mut setup = with_survivor(rail);
        setup.operations = vec![Bytes::new(1_000_000); 150];
        setup.handler.heartbeat = Span::from_ms(5);
        setup.handler.probe = Span::from_ms(10);
        let (at, until) = (Span::from_ms(4), Span::from_ms(30));
        let [at, until] = [at, until].map(|span| Time::ZERO + span);
        let kind = RailFailureKind::Link { host: 1 };
        setup.failures = vec![RailFailure { rail: 0, kind, at, until }];
        let outcome = complete(&setup, "nezha");
        let returned = outcome.timeline.iter().find(|it| it.event == RailEvent::Returned);
        let returned = returned.unwrap_or_else(|| panic!("{:?}", outcome.timeline)).at;
        assert!(until < returned);
        let last = outcome.operations.last().unwrap();
        assert!(last.shares[0].get() > 200_000, "{last:?}");
    }
}
