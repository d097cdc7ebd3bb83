//! Results folder of a comparison: its statistics and its runs.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cost::write_without_costs;
use super::own_files::{COST, Origin, RUNS, STATISTICS};
use super::{Folder, FolderError, Writer, comparison_csv};
use crate::text_file::read_results;
use crate::{AssertionOutcome, PolicyStatistics, Reason, Statistics};

/// The object that `evenkeel compare --json` prints; `T` is a list of summaries.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AllRuns<T> {
    /// Objects of `evenkeel run --json`, policy by policy and seed by seed.
    pub runs: T,
    /// Reasons for the differences between policies; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Verdicts on the assertions of `--assert`; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<AssertionOutcome>,
    /// Missing runs, if the comparison was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interrupted>,
}

impl<T> AllRuns<T> {
    /// Returns all runs of a comparison without reasons and assertions.
    pub fn of(runs: T) -> Self {
        Self { runs, reasons: Vec::new(), assertions: Vec::new(), interrupted: None }
    }
}

/// Missing runs of a comparison that SIGINT or SIGTERM ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupted {
    /// Number of planned runs.
    pub runs_planned: u64,
    /// Number of planned runs that are missing.
    pub runs_missing: u64,
    /// Policies with missing runs, which cannot be compared with others.
    pub policies: Vec<MissingRuns>,
}

/// Missing runs of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingRuns {
    /// Name of the policy.
    pub policy: String,
    /// Number of its runs that are missing.
    pub runs_missing: u64,
}

impl Interrupted {
    /// Returns the missing runs according to the statistics, or `None` if no run is missing.
    pub fn of(statistics: &Statistics) -> Option<Self> {
        let partial = statistics.policies.iter().filter(|policy| policy.missing > 0);
        let missing = |it: &PolicyStatistics| MissingRuns {
            policy: it.policy.clone(),
            runs_missing: it.missing as u64,
        };
        let policies: Vec<MissingRuns> = partial.map(missing).collect();
        let all: usize = statistics.policies.iter().map(|policy| policy.runs).sum();
        let runs_missing = policies.iter().map(|policy| policy.runs_missing).sum();
        (runs_missing > 0).then_some(Self { runs_planned: all as u64, runs_missing, policies })
    }
}

/// Identity and cost of a run: an item of `cost.json`.
#[derive(Debug, Serialize, Deserialize)]
struct RunCost {
    policy: String,
    seed: u64,
    wall_s: f64,
    peak_rss_bytes: Option<u64>,
}

/// A results folder of a comparison: new, or written by an earlier comparison. Other files next to
/// earlier results are kept.
#[derive(Debug)]
pub struct ComparisonFolder(Folder);

impl ComparisonFolder {
    /// Creates the folder if it does not exist, and locks it before the runs start.
    ///
    /// # Errors
    /// Fails in the same cases as [`Folder::open`], for earlier results of a comparison.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Folder::open_with_origin(Origin::Comparison, path, &[]).map(Self)
    }

    /// Returns the names of other files next to earlier results, which are kept.
    pub fn kept(&self) -> &[String] {
        self.0.kept()
    }

    /// Returns true if the folder holds a comparison that was not interrupted.
    pub fn has_complete_results(&self) -> bool {
        // The statistics are renamed into place last.
        if !self.0.path().join(STATISTICS).is_file() {
            return false;
        }
        let runs = read_results(&self.0.path().join(RUNS)).ok();
        let runs: Option<Value> = runs.and_then(|text| serde_json::from_str(&text).ok());
        runs.is_some_and(|runs| runs.get("runs").is_some() && runs["interrupted"].is_null())
    }

    /// Replaces earlier results with the statistics and the runs.
    ///
    /// # Errors
    /// Fails if a file system operation fails. The previous content is then unchanged, unless
    /// renaming failed.
    pub fn write_results(
        &self,
        statistics: &Statistics,
        runs: &AllRuns<impl Serialize>,
    ) -> Result<(), FolderError> {
        let all: Writer<'_> = &|to| write_without_costs(to, runs);
        let costs: Writer<'_> = &|to| to.write_all(costs(runs)?.as_bytes());
        self.0.replace(&[(RUNS, all), (COST, costs)], &|to| {
            to.write_all(comparison_csv(statistics)?.as_bytes())
        })
    }
}

fn costs(runs: &impl Serialize) -> serde_json::Result<String> {
    let costs: AllRuns<Vec<RunCost>> = serde_json::from_value(serde_json::to_value(runs)?)?;
    Ok(serde_json::to_string_pretty(&costs)? + "\n")
}
