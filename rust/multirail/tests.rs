//! Whole runs: exact sums first, closed forms next.

use super::*;
use crate::balance::Parameters;
use crate::nic::congestion::{CongestionControl, line_rate};
use crate::nic::{NicConfig, Recovery};
use crate::rail;
use crate::units::{BitRate, Bytes, Span, Time};

const FREE: Software = Software {
    send_message: Span::ZERO,
    receive_message: Span::ZERO,
    send_rate: None,
    receive_rate: None,
    slice: Bytes::new(1 << 20),
};

fn rdma(name: &str, gbps: u64) -> RailConfig {
    let nic = NicConfig {
        congestion: CongestionControl::LineRate(line_rate::Config::default()),
        recovery: Recovery::GoBackN,
        ..NicConfig::default()
    };
    let (buffer, gap) = (Bytes::new(16_000_000), Bytes::new(20));
    RailConfig {
        name: name.to_owned(),
        rate: BitRate::from_gbps(gbps),
        delay: Span::from_ns(500),
        kind: RailKind::Rdma(Transport { nic, software: FREE, buffer, gap }),
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

fn setup(ranks: u32, rails: Vec<RailConfig>, operations: &[u64]) -> Setup {
    Setup {
        ranks,
        rails,
        host: HostCosts::default(),
        chunks: ChunkConfig::default(),
        operations: operations.iter().map(|&bytes| Bytes::new(bytes)).collect(),
        failures: Vec::new(),
        seed: 1,
        time_limit: Time::ZERO + Span::from_ms(1_000),
    }
}

fn complete(setup: &Setup, policy: &str) -> Outcome {
    let config = rail::configured(policy, &Parameters::new()).unwrap();
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
fn a_tree_takes_what_its_closed_form_says() {
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
