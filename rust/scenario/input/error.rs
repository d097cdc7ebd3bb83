//! The faults of a scenario and their positions.

use thiserror::Error;

use super::position::Position;
use crate::chakra::ChakraError;
use crate::collective::CollectiveError;
use crate::connection_matrix::MatrixError;
use crate::goal::GoalError;
use crate::hpcc::flows::FlowFileError;
use crate::hpcc::topology::HpccTopologyError;
use crate::infragraph::InfragraphError;
use crate::pattern::PatternError;
use crate::simccl::SimcclError;
use crate::topology::TopologyError;
use crate::training::TrainingError;

/// A fault and its position. Prints as `file:line:column: fault` and the line with a caret.
#[derive(Debug, Error)]
#[error("{}{fault}{}", prefix(position, fault), position.excerpt())]
pub struct ScenarioError {
    /// The position of the fault in the scenario or its overrides.
    pub position: Box<Position>,
    /// The fault, with what is expected.
    #[source]
    pub fault: Box<Fault>,
}

impl ScenarioError {
    pub(crate) fn new(position: Position, fault: Fault) -> Self {
        Self { position: Box::new(position), fault: Box::new(fault) }
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(file: String, reason: std::io::Error) -> Self {
        let position = Position::File { file: file.clone() };
        Self::new(position, Fault::Unreadable { path: file, reason })
    }
}

/// The position before a fault; nothing where the fault names the file itself.
fn prefix(position: &Position, fault: &Fault) -> String {
    match (position, fault) {
        (Position::File { file }, Fault::Unreadable { path, .. }) if file == path => String::new(),
        _ => format!("{position}: "),
    }
}

/// A fault of a scenario. Keys are written with their section: `topology.leaves`.
#[derive(Debug, Error)]
pub enum Fault {
    /// The file, or one that it names, cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// Path of the file that could not be read.
        path: String,
        /// The reason that the operating system gives.
        reason: std::io::Error,
    },
    /// The text is not TOML.
    #[error("invalid TOML: {reason}")]
    Syntax {
        /// What the parser expected.
        reason: String,
    },
    /// A key or section that does not exist.
    #[error("{section} has no key '{key}'{} {}", did_you_mean(nearest), expected(known))]
    UnknownKey {
        /// The section of the key.
        section: String,
        /// The unknown key, as written.
        key: String,
        /// The most similar known name, if any is similar.
        nearest: Option<String>,
        /// The known keys; empty without any.
        known: String,
    },
    /// A value of the wrong type, without its unit, or beyond its type.
    #[error("{key}: {reason}")]
    BadValue {
        /// Path of the key whose value cannot be read.
        key: String,
        /// The value that was given, and what is expected.
        reason: String,
    },
    /// A name that is not among those that the key allows.
    #[error("{key}: unknown {what} '{name}'{} {}", did_you_mean(nearest), expected(known))]
    UnknownName {
        /// Path of the key that holds the name.
        key: String,
        /// What the name should stand for.
        what: &'static str,
        /// The unknown name, as written.
        name: String,
        /// The most similar known name, if any is similar.
        nearest: Option<String>,
        /// The known names, separated by commas.
        known: String,
    },
    /// A value of the right type that is invalid here.
    #[error("{key} = {value} is invalid: {expected}")]
    Invalid {
        /// Path of the key with the invalid value.
        key: String,
        /// The value, as written.
        value: String,
        /// What is expected in its place.
        expected: String,
    },
    /// A key that does not apply.
    #[error("{key} does not apply: {because}")]
    Misplaced {
        /// Path of the key that does not apply.
        key: String,
        /// The reason: what it applies to.
        because: String,
    },
    /// A key that is needed here and has no default.
    #[error("{key} is missing: {because}; write for example {example}")]
    Missing {
        /// Path of the missing key.
        key: String,
        /// Why it is needed.
        because: String,
        /// A valid line with the missing key.
        example: String,
    },
    /// A feature of the format that this version does not have.
    #[error("{key} = {value} is not supported in this version, which supports {supported}")]
    Unsupported {
        /// Path of the key with the unsupported value.
        key: String,
        /// The value, as written.
        value: String,
        /// What is supported in its place.
        supported: String,
    },
    /// An amount that exceeds memory or the range of time.
    #[error("{key} = {value} is too large: {amount}; the limit is {limit}")]
    TooLarge {
        /// The key that determines the amount.
        key: String,
        /// The value, as written.
        value: String,
        /// What it amounts to.
        amount: String,
        /// The largest amount that is supported.
        limit: String,
    },
    /// A topology that cannot be built.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A collective that cannot be built.
    #[error("{key}: {error}")]
    Collective {
        /// The key that it is about.
        key: String,
        /// The reason why it cannot be built.
        error: CollectiveError,
    },
    /// An invalid traffic pattern.
    #[error("{key}: {error}")]
    Workload {
        /// The key that it is about.
        key: String,
        /// The reason why it cannot be built.
        error: PatternError,
    },
    /// A training whose model, degrees or sizes are invalid.
    #[error("{key}: {error}")]
    Training {
        /// The key that it is about.
        key: String,
        /// The reason why it cannot be built.
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
    /// A flow file of SimCCL, which has a place of its own.
    #[error(transparent)]
    Simccl(#[from] SimcclError),
    /// A topology file, which has a place of its own.
    #[error(transparent)]
    TopologyFile(#[from] HpccTopologyError),
    /// A description of InfraGraph, which has places of its own.
    #[error(transparent)]
    Infragraph(#[from] InfragraphError),
}

impl Fault {
    /// The key that the fault is about, with its section; `None` if it is about the text or another
    /// file.
    pub fn key(&self) -> Option<String> {
        match self {
            Self::UnknownKey { section, key, .. } => {
                // `[switch]`, or `[job[0]] with kind = flows`.
                let inside = section.strip_prefix('[').and_then(|rest| rest.split(' ').next());
                let name = inside.and_then(|name| name.strip_suffix(']'));
                Some(name.map_or_else(|| key.clone(), |name| format!("{name}.{key}")))
            }
            Self::BadValue { key, .. }
            | Self::UnknownName { key, .. }
            | Self::Invalid { key, .. }
            | Self::Misplaced { key, .. }
            | Self::Missing { key, .. }
            | Self::Unsupported { key, .. }
            | Self::TooLarge { key, .. }
            | Self::Collective { key, .. }
            | Self::Workload { key, .. }
            | Self::Training { key, .. } => Some(key.clone()),
            Self::Unreadable { .. }
            | Self::Syntax { .. }
            | Self::Topology(_)
            | Self::FlowFile(_)
            | Self::Chakra(_)
            | Self::Goal(_)
            | Self::ConnectionMatrix(_)
            | Self::Simccl(_)
            | Self::TopologyFile(_)
            | Self::Infragraph(_) => None,
        }
    }
}

/// What is expected in place of an unknown name.
fn expected(known: &str) -> String {
    match known {
        "" => "Expected none".to_owned(),
        several if several.contains(", ") => format!("Expected one of {several}"),
        one => format!("Expected {one}"),
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(|| ".".into(), |name| format!("; did you mean '{name}'?"))
}

/// The name of `known` that is most similar to `name`.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    // At most a third of the letters may differ; names beyond that are not similar.
    let most = (name.chars().count() / 3).max(2);
    known
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate.to_owned())
}
