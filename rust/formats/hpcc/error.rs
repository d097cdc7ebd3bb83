//! Errors of an experiment's files.

use std::path::PathBuf;

use thiserror::Error;

use super::config::{ConfigError, LB_MODES};
use super::node_list::NodeListError;
use crate::balance::SchemeError;
use crate::hpcc::flows::FlowFileError;
use crate::hpcc::topology::HpccTopologyError;
use crate::units::BitRate;

/// The reason why an experiment cannot be run.
#[derive(Debug, Error)]
pub enum HpccError {
    /// A file does not exist.
    #[error("{source_key}: {}", not_found(path, tried))]
    NotFound {
        /// The key of the configuration or the option that names the file.
        source_key: String,
        /// The path, as written.
        path: String,
        /// Every path that was tried.
        tried: Vec<PathBuf>,
    },
    /// A file cannot be read as text.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// Path of the file that could not be read.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The configuration does not name a required file.
    #[error("{file}: {key} is missing; add a line '{key} PATH', or use {option} PATH")]
    MissingKey {
        /// Name of the configuration file.
        file: String,
        /// The missing key: `TOPOLOGY_FILE` or `FLOW_FILE`.
        key: &'static str,
        /// The option of the command line with the same effect.
        option: &'static str,
    },
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The topology file is invalid.
    #[error(transparent)]
    Topology(#[from] HpccTopologyError),
    /// The flow file is invalid.
    #[error(transparent)]
    Flows(#[from] FlowFileError),
    /// The list of traced nodes is invalid.
    #[error(transparent)]
    Nodes(#[from] NodeListError),
    /// The policy is unknown or its parameters are invalid.
    #[error("{key}: {source}")]
    Scheme {
        /// The key or option that names the policy.
        key: String,
        /// The error of the policy.
        source: SchemeError,
    },
    /// `LB_MODE` names a policy that is not available under that number.
    #[error(
        "{file}:{line}: LB_MODE {mode}{} is not supported; expected {}, or a policy given with \
         --lb POLICY or a line 'LB_POLICY POLICY': {known}",
        name.map(|name| format!(" ({name})")).unwrap_or_default(),
        LB_MODES
    )]
    LbMode {
        /// Name of the configuration file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The number that `LB_MODE` gives.
        mode: u32,
        /// ConWeave's name for the mode.
        name: Option<&'static str>,
        /// The names of all policies.
        known: String,
    },
    /// `CC_MODE` names a congestion control that does not exist here.
    #[error(
        "{file}:{line}: CC_MODE {mode} is unknown; expected 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 \
         (DCTCP) or 10 (HPCC-PINT)"
    )]
    CcMode {
        /// Name of the configuration file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The number that `CC_MODE` gives.
        mode: u32,
    },
    /// The congestion control compares samples of one path, and the policy uses several.
    #[error(
        "{file}:{line}: CC_MODE {mode} ({name}) compares telemetry of the same ports over time, \
         but policy '{policy}' sends the packets of a flow over several paths; expected a policy \
         that keeps a flow on its path, such as ecmp or ethereal, or CC_MODE 1, 7 or 8"
    )]
    SeveralPaths {
        /// Name of the configuration file.
        file: String,
        /// The line of `CC_MODE`, counted from 1.
        line: usize,
        /// The number that `CC_MODE` gives.
        mode: u32,
        /// The name of the congestion control.
        name: &'static str,
        /// The name of the policy.
        policy: &'static str,
    },
    /// No marking threshold is given for the rate of a switch port.
    #[error(
        "{file}: {key} has no value for {rate}, the rate of link {link}; add the pair '{} VALUE', \
         or disable marking with ENABLE_QCN 0",
        rate.as_bps()
    )]
    MissingThreshold {
        /// Name of the configuration file.
        file: String,
        /// The map of thresholds that lacks the rate.
        key: &'static str,
        /// The line rate of the port.
        rate: BitRate,
        /// A link of that rate.
        link: String,
    },
    /// `KMIN_MAP` exceeds `KMAX_MAP` at the rate of a switch port.
    #[error(
        "{file}: for {rate}, KMIN_MAP is {kmin} bytes and KMAX_MAP {kmax}; expected KMIN_MAP to be \
         at most KMAX_MAP"
    )]
    ThresholdOrder {
        /// Name of the configuration file.
        file: String,
        /// The line rate with these thresholds.
        rate: BitRate,
        /// The threshold at which marking starts, bytes.
        kmin: u64,
        /// The threshold above which every packet is marked, bytes.
        kmax: u64,
    },
    /// `LINK_DOWN` names a link that does not exist.
    #[error(
        "{file}:{line}: LINK_DOWN: no link joins nodes {a} and {b}; expected the two ends of a \
         link of {topology}"
    )]
    UnknownLink {
        /// Name of the configuration file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The first node of the line, by its number in the topology file.
        a: u32,
        /// The second node of the line, by its number in the topology file.
        b: u32,
        /// Name of the topology file.
        topology: String,
    },
    /// The time of `LINK_DOWN` is out of range.
    #[error("{file}:{line}: LINK_DOWN: the time is out of range; expected at most 213 days")]
    LinkDownTooLate {
        /// Name of the configuration file.
        file: String,
        /// The line, counted from 1.
        line: usize,
    },
}

/// Explains what is wrong with a path, and lists the tried paths if there are several.
fn not_found(path: &str, tried: &[PathBuf]) -> String {
    match tried {
        [one] if one.is_dir() => format!("'{path}' is a folder; expected a file"),
        [one] if one.exists() => format!("'{path}' is not a regular file"),
        [_] => format!("file '{path}' does not exist"),
        several => format!("file '{path}' does not exist; tried {}", list(several)),
    }
}

fn list(tried: &[PathBuf]) -> String {
    let one = |path: &PathBuf| {
        let kind = if path.is_dir() { " (a folder)" } else { "" };
        format!("'{}'{kind}", path.display())
    };
    tried.iter().map(one).collect::<Vec<_>>().join(", ")
}
