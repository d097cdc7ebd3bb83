//! Numbers of the runs that a comparison is made of.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::reproduce::reading::Reading;

/// Numbers of a run. The first is the completion time.
#[derive(Debug, Clone, PartialEq)]
pub struct RunNumbers {
    /// Name of the policy.
    pub policy: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// A number for each metric; `None` where the run has no value.
    pub numbers: Vec<Option<f64>>,
}

impl RunNumbers {
    /// Metrics of a comparison on a fabric.
    pub const FABRIC_METRICS: &'static [&'static str] = &[
        "cct_ns",
        "slowdown",
        "fct_ns.p99",
        "queue_bytes_max",
        "packets.retransmitted",
        "packets.dropped",
        "packets.out_of_order",
        "qps.extra_per_nic_max",
        "busbw_bytes_per_s",
        "breakdown.exposed_ns",
        "breakdown.idle_ns",
    ];
    /// Metrics that statistics leave out if no run has a value.
    pub(super) const OPTIONAL_METRICS: [&'static str; 3] =
        ["busbw_bytes_per_s", "breakdown.exposed_ns", "breakdown.idle_ns"];
    /// Metrics of a comparison on several rails.
    pub const RAIL_METRICS: &'static [&'static str] = &[
        "cct_ns",
        "bytes_per_s",
        "operation_ns.first",
        "operation_ns.last",
        "operation_ns.max",
        "cpu_busy_ns_max",
    ];

    /// Reads the numbers of `metrics` from the JSON object of a run.
    pub fn of(run: &Value, metrics: &[&'static str]) -> Self {
        let number = |name: &&str| {
            let metric = Reading::named(name).expect("the names are constants");
            metric.of(run).filter(|number| number.is_finite())
        };
        Self {
            policy: run["policy"].as_str().unwrap_or_default().to_owned(),
            seed: run["seed"].as_u64().unwrap_or_default(),
            numbers: metrics.iter().map(number).collect(),
        }
    }

    /// Reads the numbers of `metrics` from the summaries of runs.
    pub fn of_summaries(runs: &[impl Serialize], metrics: &[&'static str]) -> Vec<Self> {
        let numbers = runs.iter().map(|run| {
            let run = serde_json::to_value(run).expect("a summary is a JSON object");
            Self::of(&run, metrics)
        });
        numbers.collect()
    }

    /// Returns true if the run has a completion time.
    pub(super) fn is_complete(&self) -> bool {
        self.numbers.first().is_some_and(Option::is_some)
    }
}

/// Planned runs of a comparison: every policy under every seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Policies, in their order.
    pub policies: Vec<String>,
    /// Number of seeds.
    pub seeds: usize,
    /// True if results depend on the seed.
    pub is_random: bool,
}

impl Planned {
    /// Returns the plan of a comparison that was not interrupted.
    pub fn of(runs: &[RunNumbers], is_random: bool) -> Self {
        let mut policies: Vec<String> = Vec::new();
        for run in runs {
            if !policies.contains(&run.policy) {
                policies.push(run.policy.clone());
            }
        }
        let seeds: BTreeSet<u64> = runs.iter().map(|run| run.seed).collect();
        Self { policies, seeds: seeds.len(), is_random }
    }
}
