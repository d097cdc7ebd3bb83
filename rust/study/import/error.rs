//! Reasons why a file cannot be imported.

use thiserror::Error;

use crate::connection_matrix::MatrixError;
use crate::goal::GoalError;
use crate::hpcc::HpccError;
use crate::hpcc::flows::FlowFileError;
use crate::scenario::ScenarioError;
use crate::simccl::SimcclError;

/// Reason why a file cannot be imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{file} cannot be read: {reason}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// Error of the operating system.
        reason: std::io::Error,
    },
    /// No trace was found.
    #[error("{0}: no Chakra traces; expected the file of a rank, NAME.RANK.et, or the prefix NAME")]
    NoTraces(String),
    /// A scenario cannot express a part of the experiment.
    #[error(
        "a scenario cannot express everything in this experiment: {0}; run it with `evenkeel hpcc`"
    )]
    Unsupported(String),
    /// A topology was given for a configuration, which names its own.
    #[error(
        "{0}: a configuration names its topology file; omit --topology, or import the flow file"
    )]
    TopologyGiven(String),
    /// A setting is not a key of a section.
    #[error("--set {0}: expected a key of a section, such as topology.delay=500ns")]
    Setting(String),
    /// A flow file is invalid.
    #[error(transparent)]
    Flows(#[from] FlowFileError),
    /// A schedule is invalid.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A connection matrix is invalid.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// A file of SimCCL is invalid.
    #[error(transparent)]
    Simccl(#[from] SimcclError),
    /// An experiment is invalid.
    #[error(transparent)]
    Experiment(#[from] HpccError),
    /// The scenario, or the file that it names, is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The scenario cannot be written.
    #[error("the scenario cannot be written: {0}")]
    Toml(#[from] toml::ser::Error),
}
