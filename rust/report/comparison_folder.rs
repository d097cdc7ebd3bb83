//! The folder of a comparison: its statistics and its runs.

use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::cost::write_without_costs;
use super::own_files::COST;
use super::{comparison_csv, replace_file};
use crate::study::Statistics;

/// The statistics, as `evenkeel compare --format csv` prints them.
pub const STATISTICS: &str = "comparison.csv";

/// The runs, as `evenkeel compare --json` prints them, without what they cost.
const RUNS: &str = "runs.json";

/// The object that `evenkeel compare --json` prints; `T` is a list of summaries.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AllRuns<T> {
    /// The objects of `evenkeel run --json`, policy by policy and seed by seed.
    pub runs: T,
}

/// What a run cost, and which it is: an item of `cost.json`.
#[derive(Debug, Serialize, Deserialize)]
struct RunCost {
    policy: String,
    seed: u64,
    wall_s: f64,
    peak_rss_bytes: Option<u64>,
}

/// A folder for the results of a comparison; other files in it are left alone.
#[derive(Debug)]
pub struct ComparisonFolder {
    path: PathBuf,
}

/// Why a comparison cannot be kept.
#[derive(Debug, Error)]
#[error("--out {folder}: cannot {action}: {reason}")]
pub struct ComparisonFolderError {
    folder: String,
    action: String,
    reason: io::Error,
}

impl ComparisonFolder {
    /// Creates the folder if it does not exist, before the runs.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(path: &Path) -> Result<Self, ComparisonFolderError> {
        let folder = Self { path: path.to_owned() };
        std::fs::create_dir_all(path).map_err(|reason| folder.failed("create it", reason))?;
        Ok(folder)
    }

    /// Writes the statistics and the runs in place of earlier ones.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn keep(
        &self,
        statistics: &Statistics,
        runs: &AllRuns<impl Serialize>,
    ) -> Result<(), ComparisonFolderError> {
        let write = |name: &str, text: io::Result<String>| {
            let written =
                text.and_then(|text| replace_file(&self.path.join(name), text.as_bytes()));
            written.map_err(|reason| self.failed(&format!("write {name}"), reason))
        };
        write(RUNS, without_costs(runs))?;
        write(COST, costs(runs).map_err(io::Error::other))?;
        write(STATISTICS, comparison_csv(statistics))
    }

    fn failed(&self, action: &str, reason: io::Error) -> ComparisonFolderError {
        let (folder, action) = (self.path.display().to_string(), action.to_owned());
        ComparisonFolderError { folder, action, reason }
    }
}

fn without_costs(runs: &impl Serialize) -> io::Result<String> {
    let mut text = Vec::new();
    write_without_costs(&mut text, runs)?;
    String::from_utf8(text).map_err(io::Error::other)
}

fn costs(runs: &impl Serialize) -> serde_json::Result<String> {
    let costs: AllRuns<Vec<RunCost>> = serde_json::from_value(serde_json::to_value(runs)?)?;
    Ok(serde_json::to_string_pretty(&costs)? + "\n")
}
