//! Errors of InfraGraph's descriptions.

use thiserror::Error;

use crate::topology::TopologyError;

/// An error in a description, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {place}{}{fault}", if place.is_empty() { "" } else { ": " })]
pub struct InfragraphError {
    /// Name of the file.
    pub file: String,
    /// The position: a line, or an element such as `edges[3].ep1`; empty for the whole file.
    pub place: String,
    /// The error, and what is expected instead.
    pub fault: InfragraphFault,
}

/// An error in a description, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InfragraphFault {
    /// The file is not an infrastructure in YAML or JSON.
    #[error(
        "not an InfraGraph Infrastructure (devices, links, instances and edges) in YAML or JSON: \
         {0}"
    )]
    Yaml(String),
    /// The infrastructure is wrapped in something else.
    #[error(
        "the key 'infrastructure' comes from a response of InfraGraph's service; save only its \
         value (annotations such as ranks are not read: hosts are in file order)"
    )]
    Response,
    /// A part is missing.
    #[error("there are no {0}; expected an InfraGraph Infrastructure with at least one")]
    Nothing(&'static str),
    /// A name is not defined.
    #[error("unknown {what} '{name}'")]
    Unknown {
        /// The kind of thing.
        what: &'static str,
        /// The name as given.
        name: String,
    },
    /// An endpoint is not a name with an optional slice, or exceeds the count.
    #[error(
        "'{text}' is not NAME, NAME[i], NAME[a:b] or NAME[a:b:c] within its {count} items, \
         counted from 0"
    )]
    Slice {
        /// The endpoint as given.
        text: String,
        /// Number of elements that exist.
        count: u32,
    },
    /// A component path continues within a component that is not a device.
    #[error("component '{0}' is not a device (choice), so it has no components")]
    NoDevice(String),
    /// A scheme is not available.
    #[error("scheme '{0}' is not available; expected one2one or many2many")]
    Scheme(String),
    /// Two edges connect the same ends by links with different rates or delays.
    #[error(
        "{} and {} are already connected by a link with a different rate or delay",
        .0[0], .0[1]
    )]
    Twice([String; 2]),
    /// A link has no rate.
    #[error("it has no bandwidth; give it one, or write rate = \"400Gbps\" in [topology]")]
    NoRate,
    /// A link has no delay.
    #[error("it has no latency; give it one, or write delay = \"500ns\" in [topology]")]
    NoDelay,
    /// A unit is not available.
    #[error(
        "unit {0} is not available; expected gigabits_per_second or gigabytes_per_second for a \
         bandwidth, ms, us or ns for a latency"
    )]
    Unit(String),
    /// The unit of a value differs from the one that `choice` names.
    #[error("choice is {chosen}, but the value is in {found}; write the same unit in both")]
    Choice {
        /// The unit that `choice` names.
        chosen: String,
        /// The unit of the value.
        found: String,
    },
    /// A value is not a number.
    #[error("{0} is not followed by a number")]
    NoNumber(String),
    /// A value is out of range.
    #[error(
        "{0} is out of range; expected a rate above 0 in whole bits per second, or a latency of at \
         most 100,000 s in whole picoseconds"
    )]
    Value(String),
    /// A limit is exceeded.
    #[error("more than {1} {0}")]
    TooMany(&'static str, u64),
    /// The graph is not valid.
    #[error(transparent)]
    Graph(Box<TopologyError>),
}
