//! What can be wrong with a scenario, and where.

use thiserror::Error;

use crate::balance::SchemeError;
use crate::collective::CollectiveError;
use crate::topology::{HpccTopologyError, TopologyError};
use crate::workload::WorkloadError;
use crate::workload::chakra::ChakraError;
use crate::workload::connection_matrix::MatrixError;
use crate::workload::goal::GoalError;
use crate::workload::hpcc_flows::FlowFileError;
use crate::workload::training::TrainingError;

/// A fault and its place. Prints as `file:line:column: fault` and the line with a caret.
#[derive(Debug, Error)]
#[error("{place}: {fault}{}", place.excerpt())]
pub struct ScenarioError {
    /// Where.
    pub place: Box<Place>,
    /// What, and what would be right.
    #[source]
    pub fault: Box<Fault>,
}

/// Where a fault is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a line of the scenario.
    Line {
        /// The scenario's file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1, in characters.
        column: usize,
        /// How many characters of the line are meant.
        width: usize,
        /// The line itself.
        text: String,
    },
    /// In the scenario as a whole: what is wrong is a default, or is missing.
    File {
        /// The scenario's file.
        file: String,
    },
    /// In what overrides the scenario.
    CommandLine,
}

impl Place {
    /// The line with a caret below what is meant; empty where no line is meant.
    fn excerpt(&self) -> String {
        let Self::Line { line, column, width, text, .. } = self else {
            return String::new();
        };
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs stay tabs, so that the caret stands where the eye expects it.
        let indent: String =
            text.chars().take(column - 1).map(|c| if c == '\t' { c } else { ' ' }).collect();
        let carets = "^".repeat((*width).max(1));
        format!("\n{margin} |\n{number} | {text}\n{margin} | {indent}{carets}")
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line { file, line, column, .. } => write!(f, "{file}:{line}:{column}"),
            Self::File { file } => f.write_str(file),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}

/// What is wrong with a scenario. Keys are spelled with their section: `topology.leaves`.
#[derive(Debug, Error)]
pub enum Fault {
    /// The file, or one that it names, cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// Which file.
        path: String,
        /// Why, as the system says it.
        reason: std::io::Error,
    },
    /// The text is not TOML.
    #[error("not TOML: {reason}")]
    Syntax {
        /// What the parser expected.
        reason: String,
    },
    /// A key or section that does not exist.
    #[error("{section} has no key '{key}'{} It has {known}", did_you_mean(nearest))]
    UnknownKey {
        /// Where the key stands.
        section: String,
        /// What was given.
        key: String,
        /// The closest that exists, if one is close.
        nearest: Option<String>,
        /// Those that exist.
        known: String,
    },
    /// A value of the wrong type, without its unit, or beyond its type.
    #[error("{key}: {reason}")]
    BadValue {
        /// Which key.
        key: String,
        /// What was given and what would be right.
        reason: String,
    },
    /// A name that stands for nothing.
    #[error("{key}: there is no {what} '{name}'{} There are {known}", did_you_mean(nearest))]
    UnknownName {
        /// Which key.
        key: String,
        /// What the name should stand for.
        what: &'static str,
        /// What was given.
        name: String,
        /// The closest that exists, if one is close.
        nearest: Option<String>,
        /// Those that exist.
        known: String,
    },
    /// A value of the right type that makes no sense here.
    #[error("{key} = {value} makes no sense: {right}")]
    Senseless {
        /// Which key.
        key: String,
        /// Its value.
        value: String,
        /// What would be right.
        right: String,
    },
    /// A key that does not apply.
    #[error("{key} does not apply: {because}")]
    Misplaced {
        /// Which key.
        key: String,
        /// What it would apply to.
        because: String,
    },
    /// A key that is needed here and has no default.
    #[error("{key} is missing: {because}; write for example {example}")]
    Missing {
        /// Which key.
        key: String,
        /// Why it is needed.
        because: String,
        /// A line that would be right.
        example: String,
    },
    /// A feature of the format that this version does not have.
    #[error("{key} = {value} is not available yet in this version; available: {available}")]
    Unavailable {
        /// Which key.
        key: String,
        /// Its value.
        value: String,
        /// What there is in its place.
        available: String,
    },
    /// More than a machine can hold or a clock can count.
    #[error("{key} = {value} is too much: {amount}; the limit is {limit}")]
    TooLarge {
        /// The key that makes it large.
        key: String,
        /// Its value.
        value: String,
        /// What it comes to.
        amount: String,
        /// What would still do.
        limit: String,
    },
    /// A policy's parameters.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// A graph that is no fabric.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A collective that cannot be.
    #[error("{key}: {error}")]
    Collective {
        /// The key that it is about.
        key: String,
        /// What is wrong.
        error: CollectiveError,
    },
    /// A traffic pattern that cannot be.
    #[error("{key}: {error}")]
    Workload {
        /// The key that it is about.
        key: String,
        /// What is wrong.
        error: WorkloadError,
    },
    /// A training that cannot be.
    #[error("{key}: {error}")]
    Training {
        /// The key that it is about.
        key: String,
        /// What is wrong.
        error: TrainingError,
    },
    /// A flow file, which has a place of its own.
    #[error(transparent)]
    FlowFile(#[from] FlowFileError),
    /// Traces, which have places of their own.
    #[error(transparent)]
    Chakra(#[from] ChakraError),
    /// A GOAL schedule, which has a place of its own.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A connection matrix, which has a place of its own.
    #[error(transparent)]
    ConnectionMatrix(#[from] MatrixError),
    /// A topology file, which has a place of its own.
    #[error(transparent)]
    TopologyFile(#[from] HpccTopologyError),
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(|| ".".into(), |name| format!("; did you mean '{name}'?"))
}

/// The name of `known` that `name` was probably meant to be.
pub(in crate::scenario) fn nearest<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Option<String> {
    // A third of the letters may be wrong: more, and the guess is no help.
    let most = (name.chars().count() / 3).max(2);
    known
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate.to_owned())
}
