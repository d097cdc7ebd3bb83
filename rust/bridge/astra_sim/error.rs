//! Errors of networks.

use evenkeel_scenario::ScenarioError;
use evenkeel_study::report::FolderError;

/// Why a network cannot be made or run.
#[derive(Debug, thiserror::Error)]
pub(super) enum NetworkError {
    /// The scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The seed is not a number.
    #[error("--seed={0}: it must be a whole number from 0 to {max}", max = i64::MAX)]
    Seed(String),
    /// The results folder cannot be used.
    #[error("--results-folder: {0}")]
    Folder(#[from] FolderError),
    /// `flows.csv` or the connection matrix cannot be written.
    #[error("--results-folder: cannot write flows.csv or workload.cm: {0}")]
    Flows(#[from] std::io::Error),
    /// There are more ranks than hosts.
    #[error("{ranks} ranks exceed the {hosts} hosts of {scenario}: each rank needs a host")]
    TooManyRanks {
        /// The number of ranks.
        ranks: u32,
        /// The number of hosts.
        hosts: u32,
        /// The path of the scenario.
        scenario: String,
    },
}
