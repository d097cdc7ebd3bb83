//! Why an experiment cannot be run.

use std::path::PathBuf;

use thiserror::Error;

use super::{ConfigError, NodeListError};
use crate::balance::SchemeError;
use crate::topology::HpccTopologyError;
use crate::units::BitRate;
use crate::workload::hpcc_flows::FlowFileError;

/// Why an experiment cannot be run.
#[derive(Debug, Error)]
pub enum HpccError {
    /// A file that is nowhere.
    #[error("{what} '{path}' is not there; tried {}", list(tried))]
    NotFound {
        /// What it is for: a key of the configuration or an option.
        what: String,
        /// What was given.
        path: String,
        /// Every place where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// A file that cannot be read as text.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A configuration without a file that it needs.
    #[error("{file}: there is no {key}; add a line '{key} PATH', or use {option} PATH")]
    NoFile {
        /// The configuration.
        file: String,
        /// The key.
        key: &'static str,
        /// The option of the command line that does the same.
        option: &'static str,
    },
    /// A fault in the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A fault in the topology.
    #[error(transparent)]
    Topology(#[from] HpccTopologyError),
    /// A fault in the flow file.
    #[error(transparent)]
    Flows(#[from] FlowFileError),
    /// A fault in the list of nodes to trace.
    #[error(transparent)]
    Nodes(#[from] NodeListError),
    /// A policy that is none.
    #[error("{place}: {source}")]
    Scheme {
        /// Where it is named.
        place: String,
        /// Why it is none.
        source: SchemeError,
    },
    /// A way of balancing load that is not held.
    #[error(
        "{file}:{line}: LB_MODE {mode}{} is not held here, LB_MODE 0 (ECMP) is; name one of this \
         project's policies with --lb POLICY or a line 'LB_POLICY POLICY': {known}",
        name.map(|name| format!(" ({name})")).unwrap_or_default()
    )]
    LbMode {
        /// The configuration.
        file: String,
        /// The line.
        line: usize,
        /// The mode.
        mode: u32,
        /// What ConWeave calls it.
        name: Option<&'static str>,
        /// The policies that exist.
        known: String,
    },
    /// A switch port without a marking threshold.
    #[error(
        "{file}: {key} says nothing of {rate}, the rate of link {link}; add the pair '{} VALUE' to \
         it, or switch marking off with ENABLE_QCN 0",
        rate.as_bps()
    )]
    NoThreshold {
        /// The configuration.
        file: String,
        /// The key.
        key: &'static str,
        /// The rate.
        rate: BitRate,
        /// A link of that rate.
        link: String,
    },
    /// Marking that starts where it should be complete.
    #[error(
        "{file}: for {rate}, KMIN_MAP says {kmin} bytes and KMAX_MAP {kmax}; the first must not be \
         larger"
    )]
    ThresholdOrder {
        /// The configuration.
        file: String,
        /// The rate.
        rate: BitRate,
        /// What marking starts at.
        kmin: u64,
        /// What it is complete at.
        kmax: u64,
    },
    /// A link that is not there to go down.
    #[error(
        "{file}:{line}: LINK_DOWN: no link joins nodes {a} and {b}; name the two ends of a link \
         line of {topology}"
    )]
    NoSuchLink {
        /// The configuration.
        file: String,
        /// The line.
        line: usize,
        /// One node.
        a: u32,
        /// The other.
        b: u32,
        /// The topology file.
        topology: String,
    },
    /// A failure at no time that can be.
    #[error("{file}:{line}: LINK_DOWN: the time is beyond the 213 days that can be simulated")]
    LinkDownTooLate {
        /// The configuration.
        file: String,
        /// The line.
        line: usize,
    },
}

fn list(tried: &[PathBuf]) -> String {
    let tried: Vec<String> = tried.iter().map(|path| format!("'{}'", path.display())).collect();
    tried.join(", ")
}
