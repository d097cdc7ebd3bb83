//! Small handmade results for the tests of the formats.

use std::time::Duration;

use super::{Cost, Identity, Summary};
use crate::balance::switch::StateSize;
use crate::fabric::{Counters, FlowRecord, Outcome, QpCounts, Verdict};
use crate::ids::{HostId, MessageId};
use crate::nic::{CacheCounters, QpAccount};
use crate::reproduce::{ClaimOutcome, ClaimVerdict, Origin, Reproduction, ResultTable};
use crate::topology::{LeafSpine, Topology};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::workload::{Message, Workload};
use crate::{Planned, RunNumbers, Statistics};

/// Compares `text` with a file in the top-level `snapshots/`. The program's version is replaced, so
/// that a new version alone does not change the snapshot.
pub(super) fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let text = text.replace(super::VERSION, "VERSION");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Returns a study with a claim of each verdict.
pub(super) fn reproduction() -> Reproduction {
    let claim = |text: &str, cell: &str, verdict, why: &str| ClaimOutcome {
        text: text.to_owned(),
        cell: cell.to_owned(),
        origin: Origin::Artifact,
        target: None,
        source: "table 2".to_owned(),
        published: "53.41 us".to_owned(),
        ours: "53.98 us".to_owned(),
        error: "+1.1 %".to_owned(),
        seeds: 10,
        verdict,
        why: why.to_owned(),
    };
    let all_reduce = "completion time of a direct all-reduce";
    let because = "the switches of the artifact use a dead link until routing converges";
    Reproduction {
        study: "sample".to_owned(),
        title: "Collectives without failures".to_owned(),
        work: "A Work (arXiv 0000.00000)".to_owned(),
        about:
            "All-reduces of 64 GPUs in the setting of the authors' artifact, which is described \
                here in a sentence that takes two lines."
                .to_owned(),
        scale: "paper".to_owned(),
        version: super::VERSION.to_owned(),
        runs: 24,
        wall_s: 12.5,
        peak_rss_bytes: Some(98_000_000),
        claims: vec![
            claim(all_reduce, "ethereal, 1MB", ClaimVerdict::Holds, ""),
            claim(all_reduce, "spray, 1MB", ClaimVerdict::DoesNotHold, because),
            claim(
                "spraying is slower",
                "",
                ClaimVerdict::CannotBeJudged,
                "the source has no value",
            ),
            claim("routing helps", "", ClaimVerdict::NotAtThisScale, ""),
        ],
        tables: vec![ResultTable {
            title: "Completion time, us".to_owned(),
            corner: "policy".to_owned(),
            columns: vec!["1MB".to_owned(), "4MB".to_owned()],
            rows: vec![("ecmp".to_owned(), vec!["55.00".to_owned(), "195.2".to_owned()])],
        }],
        learned: vec!["Splitting costs nothing where there are enough flows.".to_owned()],
        alternatives: None,
    }
}

pub(super) fn identity() -> Identity {
    Identity { scenario: "sample".to_owned(), policy: "ecmp".to_owned(), seed: 1 }
}

/// Returns a topology of two leaves, one spine and four hosts.
pub(super) fn topology() -> Topology {
    LeafSpine {
        leaves: 2,
        spines: 1,
        hosts_per_leaf: 2,
        host_rate: BitRate::from_gbps(400),
        fabric_rate: BitRate::from_gbps(400),
        delay: Span::from_ns(500),
        parallel_links: 1,
    }
    .build()
    .expect("it is sound")
}

/// Returns a workload of three messages; the last waits for the second.
pub(super) fn workload() -> Workload {
    let message = |src, dst, bytes| Message {
        src: HostId(src),
        dst: HostId(dst),
        bytes: Bytes::new(bytes),
        stream: 0,
        start: Time::ZERO,
    };
    Workload::with_dependencies(
        vec![message(0, 3, 4096), message(1, 2, 8192), message(2, 3, 4096)],
        &[(MessageId(1), MessageId(2))],
    )
}

/// Returns a message of one flow, and a message of several flows, one of them lost.
fn flows() -> Vec<FlowRecord> {
    let flow = |message, piece, (src, dst), delivered, completed| FlowRecord {
        message: MessageId(message),
        piece,
        src: HostId(src),
        dst: HostId(dst),
        bytes: Bytes::new(4096),
        start: Time::ZERO,
        delivered,
        completed,
        source_port: 49_152 + u16::try_from(piece).expect("pieces are few"),
    };
    let (at, never) = (Time::from_ps, Time::NEVER);
    let mut flows = vec![
        flow(0, 0, (0, 3), at(1_234_567), at(2_345_001)),
        flow(1, 0, (1, 2), at(1_300_000), at(2_400_000)),
        flow(1, 1, (1, 2), never, never),
    ];
    let fourth = FlowRecord { delivered: at(1_500_000), ..flow(1, 2, (1, 2), never, never) };
    flows.push(fourth);
    flows
}

/// Returns an outcome in which one piece of the second message does not arrive.
pub(super) fn stalled() -> Outcome {
    Outcome {
        verdict: Verdict::Stalled,
        ended: Time::from_ps(2_400_000),
        messages: 3,
        discarded: None,
        message_fct: vec![Span::from_ps(2_345_001)],
        cct: None,
        flows: flows(),
        counters: Counters { sent: 4, delivered: 3, dropped: 1, ..Counters::default() },
        qps: QpCounts {
            per_nic_max: 3,
            total: 4,
            extra_per_nic_max: 2,
            extra_total: 2,
            in_use_per_nic_max: 2,
            in_use_per_peer_max: 1,
        },
        qp_accounts: vec![QpAccount {
            opened: 3,
            live: 3,
            peak: 3,
            sending: 3,
            extra: 2,
            peers: 1,
            per_peer_max: 3,
            context_bytes: Bytes::new(1_125),
            cache: CacheCounters { hits: 8, send_misses: 2, receive_misses: 0 },
            hardware: None,
        }],
        scale_up: None,
        queue_bytes_max: Bytes::new(4_158),
        queue_bytes_mean: 12.5,
        link_bytes_max: Bytes::new(12_474),
        link_bytes: (0..12).map(|port| Bytes::new(port * 1_000)).collect(),
        probes: Vec::new(),
        queue_bytes_max_by_port: Vec::new(),
        switch_states: [(0, 0), (12, 36), (3, 48)]
            .map(|(entries, bits)| StateSize { entries, bits })
            .to_vec(),
        sender_bits_per_qp_max: 16,
        in_flight: 0,
        pauses: Vec::new(),
        marked_by_port: Vec::new(),
        deadlock: Vec::new(),
        dropped_by_class: Vec::new(),
        delay_ends: Vec::new(),
    }
}

/// Returns an outcome of the same run without losses.
pub(super) fn completed() -> Outcome {
    let mut outcome = stalled();
    outcome.verdict = Verdict::Completed;
    let mut last = outcome.flows[0];
    (last.message, last.src) = (MessageId(2), HostId(2));
    outcome.flows.push(last);
    for flow in &mut outcome.flows {
        flow.delivered = Time::from_ps(1_500_000);
        flow.completed = Time::from_ps(2_600_123);
    }
    outcome.message_fct =
        vec![Span::from_ps(2_345_001), Span::from_ps(2_600_123), Span::from_us(1)];
    outcome.cct = Some(Span::from_ps(2_600_123));
    outcome.counters = Counters {
        sent: 5,
        delivered: 5,
        marked: 1,
        control_sent: 5,
        control_delivered: 5,
        packet_hops: 40,
        events: 123,
        ..Counters::default()
    };
    outcome
}

fn summary_of(outcome: &Outcome) -> Summary {
    let cost = Cost { wall: Duration::from_micros(1_250), peak_rss_bytes: Some(12_345_678) };
    Summary::new(&identity(), &topology(), outcome, Span::from_ns(900), cost)
}

pub(crate) fn summary() -> Summary {
    summary_of(&completed())
}

pub(super) fn stalled_summary() -> Summary {
    summary_of(&stalled())
}

/// Returns the statistics of summaries whose results depend on the seed.
pub(super) fn statistics(runs: &[Summary]) -> Statistics {
    let numbers = RunNumbers::of_summaries(runs, RunNumbers::FABRIC_METRICS);
    Statistics::of(RunNumbers::FABRIC_METRICS, &numbers, None, &Planned::of(&numbers, true))
}

/// Returns summaries of three policies under `seeds` seeds, with numbers that need wide columns.
/// The last run does not complete.
pub(super) fn comparison(seeds: u64) -> Vec<Summary> {
    let mut runs = Vec::new();
    for (index, policy) in ["ecmp", "switch-rr-shuffled", "ethereal"].into_iter().enumerate() {
        for seed in 1..=seeds {
            let mut run = summary();
            run.policy = policy.to_owned();
            run.seed = seed;
            run.cct_ns = Some(817_123.456 + seed as f64 * 1_000.0);
            run.slowdown = Some(12.345 + seed as f64 / 100.0);
            run.fct_ns.p99 = Some(816_999.0 - seed as f64 * 10.0);
            run.queue_bytes_max = Some(123_456 * seed);
            if let Some(packets) = &mut run.packets {
                packets.retransmitted = 12_345_678;
                packets.dropped = 12_345;
                packets.out_of_order = 999_999;
            }
            run.qps.extra_per_nic_max = 1_234;
            run.wall_s = 123.4;
            if index == 2 && seed == seeds {
                (run.cct_ns, run.slowdown) = (None, None);
            }
            runs.push(run);
        }
    }
    runs
}
