//! Standings of single runs: policies at each scenario.

use std::collections::BTreeSet;

use super::{Ranked, Standings, distinct, rank};
use crate::RunNumbers;
use crate::metrics::Metric;
use crate::results::RunFolder;

impl Standings {
    /// Ranks the policies of some runs in each scenario; `None` without runs. Runs that differ only
    /// in their seed are one policy. Runs with equal policies and seeds differ in their settings,
    /// so their folders distinguish them.
    pub fn of_runs(runs: &[&RunFolder], metric: &str) -> Option<Self> {
        let first = runs.first()?;
        let scenarios = distinct(runs.iter().map(|run| run.scenario()));
        let is_single = scenarios.len() == 1;
        let identities = runs.iter().map(|run| (run.scenario(), run.policy(), run.seed()));
        let is_unique = identities.collect::<BTreeSet<_>>().len() == runs.len();
        let name = |run: &RunFolder| match run.path().file_name().filter(|_| !is_unique) {
            Some(folder) => format!("{} ({})", run.policy(), folder.to_string_lossy()),
            None => run.policy().to_owned(),
        };
        let others = RunNumbers::FABRIC_METRICS.iter().copied();
        let others = others.filter(|name| is_single && !["cct_ns", metric].contains(name));
        let others: Vec<&'static Metric> = others.filter_map(Metric::find).collect();
        let ranked = |run: &&RunFolder| Ranked {
            policy: name(run),
            seed: run.seed(),
            // An incomplete run measures the messages that did complete, which are the quick ones.
            value: run.metric(metric).filter(|_| run.metric("cct_ns").is_some()),
            others: others.iter().map(|it| run.metric(it.name)).collect(),
        };
        let point = |scenario: &&str| {
            let own = runs.iter().filter(|run| run.scenario() == *scenario);
            let labels = if is_single { Vec::new() } else { vec![(*scenario).to_owned()] };
            rank(labels, &own.map(ranked).collect::<Vec<_>>(), metric, &others)
        };
        Some(Self {
            subject: if is_single { first.scenario().to_owned() } else { "runs".to_owned() },
            compared: "policy".to_owned(),
            keys: if is_single { Vec::new() } else { vec!["scenario".to_owned()] },
            points: scenarios.iter().map(point).collect(),
            reasons: Vec::new(),
        })
    }
}
