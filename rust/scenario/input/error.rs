//! Faults of a scenario, with their positions.

use thiserror::Error;

use super::position::Position;
use crate::chakra::ChakraError;
use crate::collective::CollectiveError;
use crate::connection_matrix::MatrixError;
use crate::goal::GoalError;
use crate::hpcc::flows::FlowFileError;
use crate::hpcc::topology::HpccTopologyError;
use crate::infragraph::InfragraphError;
use crate::nccl::NcclError;
use crate::pattern::PatternError;
use crate::simccl::SimcclError;
use crate::topology::TopologyError;
use crate::training::TrainingError;

/// A fault and its position. Displays as `file:line:column: fault`, followed by the line with a
/// caret.
#[derive(Debug, Error)]
#[error("{}{fault}{}", prefix(position, fault), position.excerpt())]
pub struct ScenarioError {
    /// Position of the fault in the scenario or its overrides.
    pub position: Box<Position>,
    /// The fault, including what is expected.
    #[source]
    pub fault: Box<Fault>,
}

impl ScenarioError {
    pub(crate) fn new(position: Position, fault: Fault) -> Self {
        Self { position: Box::new(position), fault: Box::new(fault) }
    }

    /// Returns the error of an unreadable file.
    pub(crate) fn unreadable(file: String, reason: std::io::Error) -> Self {
        let position = Position::File { file: file.clone() };
        Self::new(position, Fault::Unreadable { path: file, reason })
    }
}

/// Returns the position prefix of a message; empty if the fault already names the file.
fn prefix(position: &Position, fault: &Fault) -> String {
    match (position, fault) {
        (Position::File { file }, Fault::Unreadable { path, .. }) if file == path => String::new(),
        _ => format!("{position}: "),
    }
}

/// A fault of a scenario. Keys include their section: `topology.leaves`.
#[derive(Debug, Error)]
pub enum Fault {
    /// The file, or one that it names, cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// Path of the unreadable file.
        path: String,
        /// Reason given by the operating system.
        reason: std::io::Error,
    },
    /// The text is not TOML.
    #[error("invalid TOML: {reason}")]
    Syntax {
        /// Message of the parser.
        reason: String,
    },
    /// A key or section that does not exist.
    #[error("{section} has no key '{key}'{} {}", did_you_mean(nearest), expected(known))]
    UnknownKey {
        /// Section of the key.
        section: String,
        /// The unknown key, as written.
        key: String,
        /// Most similar known name, if any.
        nearest: Option<String>,
        /// Known keys; empty if there are none.
        known: String,
    },
    /// A value that has the wrong type, lacks its unit or exceeds its range.
    #[error("{key}: {reason}")]
    BadValue {
        /// Path of the key with the unreadable value.
        key: String,
        /// The given value, and what is expected.
        reason: String,
    },
    /// A name that the key does not accept.
    #[error("{key}: unknown {what} '{name}'{} {}", did_you_mean(nearest), expected(known))]
    UnknownName {
        /// Path of the key with the name.
        key: String,
        /// Kind of thing that the name refers to.
        what: &'static str,
        /// The unknown name, as written.
        name: String,
        /// Most similar known name, if any.
        nearest: Option<String>,
        /// Known names, separated by commas.
        known: String,
    },
    /// A value of the right type that is not valid here.
    #[error("{key} = {value} is invalid: {expected}")]
    Invalid {
        /// Path of the key with the invalid value.
        key: String,
        /// The value, as written.
        value: String,
        /// Expected value.
        expected: String,
    },
    /// A key that does not apply.
    #[error("{key} does not apply: {because}")]
    Misplaced {
        /// Path of the key that does not apply.
        key: String,
        /// Reason, such as what the key applies to.
        because: String,
    },
    /// A missing key that has no default.
    #[error("{key} is missing: {because}; write for example {example}")]
    Missing {
        /// Path of the missing key.
        key: String,
        /// Reason why it is required.
        because: String,
        /// Valid example line with the missing key.
        example: String,
    },
    /// A feature of the format that this version does not support.
    #[error("{key} = {value} is not supported; this version supports {supported}")]
    Unsupported {
        /// Path of the key with the unsupported value.
        key: String,
        /// The value, as written.
        value: String,
        /// Supported alternatives.
        supported: String,
    },
    /// An amount that exceeds memory or the range of time.
    #[error("{key} = {value} is too large: {amount}; the limit is {limit}")]
    TooLarge {
        /// Key that determines the amount.
        key: String,
        /// The value, as written.
        value: String,
        /// Resulting amount.
        amount: String,
        /// Largest supported amount.
        limit: String,
    },
    /// A topology that cannot be built.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A collective that cannot be built.
    #[error("{key}: {error}")]
    Collective {
        /// Key at fault.
        key: String,
        /// Reason why it cannot be built.
        error: CollectiveError,
    },
    /// A run of NCCL that cannot be built.
    #[error("{key}: {error}")]
    Nccl {
        /// Key at fault.
        key: String,
        /// Reason why it cannot be built.
        error: NcclError,
    },
    /// An invalid traffic pattern.
    #[error("{key}: {error}")]
    Workload {
        /// Key at fault.
        key: String,
        /// Reason why it is invalid.
        error: PatternError,
    },
    /// A training workload with invalid model, degrees or sizes.
    #[error("{key}: {error}")]
    Training {
        /// Key at fault.
        key: String,
        /// Reason why it cannot be built.
        error: TrainingError,
    },
    /// A flow file; the error has its own position.
    #[error(transparent)]
    FlowFile(#[from] FlowFileError),
    /// Traces; the errors have their own positions.
    #[error(transparent)]
    Chakra(#[from] ChakraError),
    /// A GOAL schedule; the error has its own position.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A connection matrix; the error has its own position.
    #[error(transparent)]
    ConnectionMatrix(#[from] MatrixError),
    /// A SimCCL flow file; the error has its own position.
    #[error(transparent)]
    Simccl(#[from] SimcclError),
    /// A topology file; the error has its own position.
    #[error(transparent)]
    TopologyFile(#[from] HpccTopologyError),
    /// An InfraGraph description; the errors have their own positions.
    #[error(transparent)]
    Infragraph(#[from] InfragraphError),
}

impl Fault {
    /// Returns the key at fault, with its section; `None` if the fault is in the text or in another
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
            | Self::Nccl { key, .. }
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

/// Parts of a fault, for programs.
impl Fault {
    /// Returns the invalid value, as written; `None` if the fault is not about a value.
    pub fn value(&self) -> Option<String> {
        match self {
            Self::UnknownName { name, .. } => Some(name.clone()),
            Self::Invalid { value, .. }
            | Self::Unsupported { value, .. }
            | Self::TooLarge { value, .. } => Some(value.clone()),
            _ => None,
        }
    }

    /// Returns what would be right; `None` if the message has no separate part that says so.
    pub fn expected(&self) -> Option<String> {
        match self {
            Self::UnknownKey { known, .. } | Self::UnknownName { known, .. } => {
                Some(known.clone()).filter(|known| !known.is_empty())
            }
            Self::BadValue { reason, .. } => Some(reason.split_once("expected ")?.1.to_owned()),
            Self::Invalid { expected, .. } => Some(expected.clone()),
            Self::Missing { example, .. } => Some(example.clone()),
            Self::Unsupported { supported, .. } => Some(supported.clone()),
            Self::TooLarge { limit, .. } => Some(limit.clone()),
            _ => None,
        }
    }

    /// Returns the file at fault that the scenario reads, and the line in it, from 1, if they are
    /// known.
    pub fn input(&self) -> Option<(&str, Option<usize>)> {
        match self {
            Self::Unreadable { path, .. } => Some((path, None)),
            Self::FlowFile(error) => Some((&error.file, Some(error.line))),
            Self::Goal(error) => Some((&error.file, Some(error.line))),
            Self::ConnectionMatrix(error) => Some((&error.file, Some(error.line))),
            Self::Simccl(error) => Some((&error.file, Some(error.line))),
            Self::TopologyFile(error) => Some((&error.file, error.line)),
            Self::Chakra(error) => Some((&error.file, None)),
            Self::Infragraph(error) => Some((&error.file, None)),
            _ => None,
        }
    }

    /// Returns the known name that is most similar to an unknown one.
    pub fn nearest(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { nearest, .. } | Self::UnknownName { nearest, .. } => {
                nearest.as_deref()
            }
            _ => None,
        }
    }
}

/// Formats the expected names in the message about an unknown one.
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

/// Returns the name in `known` that is most similar to `name`.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    // At most a third of the letters may differ.
    let most = (name.chars().count() / 3).max(2);
    known
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate.to_owned())
}
