//! Errors of experiments.

use evenkeel_engine::nic::Mismatch;
use evenkeel_engine::topology::TopologyError;
use evenkeel_engine::units::{Bytes, Span, Time};
use evenkeel_scenario::ScenarioError;

use crate::world::mismatch::mismatch_text;

/// An unknown value of an enumeration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} {value} is unknown: it must be from {least} to {most}")]
pub(crate) struct UnknownValue {
    /// The enumeration, as named in the message.
    pub(crate) what: &'static str,
    pub(crate) value: u8,
    pub(crate) least: u8,
    pub(crate) most: u8,
}

/// Why an experiment cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExperimentError {
    /// The text of a scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A text that is in no file is invalid; the message names the text.
    #[error("{0}")]
    Text(String),
    /// A graph is not a fabric.
    #[error("the graph: {0}")]
    Graph(#[from] TopologyError),
    /// A value of an enumeration is unknown.
    #[error(transparent)]
    Unknown(#[from] UnknownValue),
    /// The links of hosts do not form planes.
    #[error(
        "the graph: {error} (link {link}); each link of a host is its port in one plane, in \
         order, and planes share no switch"
    )]
    Planes {
        /// The error, boxed so that the results of the contract stay small.
        error: Box<TopologyError>,
        /// The name of the link.
        link: String,
    },
    /// Servers have scale-up networks.
    #[error(
        "topology.scale_up: scale-up networks are supported only by evenkeel's fabric and its \
         fluid mode; remove scale_up, or use `evenkeel run`"
    )]
    ScaleUp,
    /// Packets take routes that are not minimal.
    #[error(
        "policy.name = '{name}' sends packets through other switch groups, based on queues that \
         ns-3 does not report; use `evenkeel run`, or choose a policy with minimal routes"
    )]
    Detours {
        /// The name of the policy.
        name: &'static str,
    },
    /// A link fails in one direction only.
    #[error(
        "link {link} fails in one direction only (`from`), which is supported only by evenkeel's \
         fabric; remove `from`, or use `evenkeel run`"
    )]
    OneDirection {
        /// The name of the link.
        link: String,
    },
    /// The congestion control asks switches for telemetry.
    #[error(
        "congestion_control = '{name}' asks switches for telemetry (INT), which is supported only \
         by evenkeel's fabric; use `evenkeel run` or `evenkeel hpcc`, or choose another \
         congestion control (CC_MODE 1, 7 or 8)"
    )]
    Telemetry {
        /// The name of the congestion control.
        name: &'static str,
    },
    /// Receivers grant credit.
    #[error(
        "congestion_control = '{name}': receiver credit is supported only by evenkeel's fabric; \
         use `evenkeel run`, or choose another congestion control"
    )]
    Credit {
        /// The name of the congestion control.
        name: &'static str,
    },
    /// Links have credit-based flow control.
    #[error(
        "switch.cbfc: credit-based flow control is supported only by evenkeel's fabric; use \
         `pfc = true` instead, or use `evenkeel run`"
    )]
    LinkCredit,
    /// A NIC sends acknowledgements as data, where that has traffic classes.
    #[error(
        "the NIC of host {host} has ack_priority = false, but traffic classes require priority \
         for acknowledgements: set it to true (AckPriority)"
    )]
    Acknowledgements {
        /// Number of the host.
        host: u32,
    },
    /// A workload uses streams of programs, although these streams determine the traffic class.
    #[error(
        "the workload uses message stream {stream}, but with traffic classes streams must be \
         below {most}: remove [[class]], or use fewer queue pairs"
    )]
    Streams {
        /// The highest stream of the workload.
        stream: u32,
        /// The first stream of programs.
        most: u32,
    },
    /// A link's delay is too long: sums of such delays would exceed the range of times.
    #[error("link {link} of the graph has a delay of {delay}: it must be at most {most}")]
    Delay {
        /// The number of the link.
        link: usize,
        /// Its delay.
        delay: Span,
        /// The longest delay.
        most: Span,
    },
    /// Links retry frames.
    #[error(
        "topology.llr: link-level retry is supported only by evenkeel's fabric; remove `llr`, or \
         use `evenkeel run`"
    )]
    Retry,
    /// A queued packet may be trimmed for an arriving one.
    #[error(
        "switch.trim.victim: values other than `arriving` are supported only by evenkeel's fabric; \
         remove it, or use `evenkeel run`"
    )]
    TrimVictim,
    /// NICs that exchange messages cannot have a queue pair.
    #[error("{}", mismatch_text(*.src, *.dst, .mismatch))]
    Mismatch {
        /// Number of the sending host.
        src: u32,
        /// Number of the receiving host.
        dst: u32,
        /// The difference.
        mismatch: Mismatch,
    },
    /// A message is longer than its sender's loss recovery can number.
    #[error(
        "host {host}: a message of {bytes} exceeds the maximum of {most} with recovery \
         {recovery}; choose another recovery, or shorter messages"
    )]
    TooLong {
        /// Number of the sending host.
        host: u32,
        /// The name of the recovery.
        recovery: &'static str,
        /// The longest message that it can number.
        most: Bytes,
        /// The length of the message.
        bytes: Bytes,
    },
    /// A NIC is configured for a host that does not exist.
    #[error("cannot configure the NIC of host {host}: there are {hosts} hosts, numbered from 0")]
    NoHost {
        /// Number of the host.
        host: u32,
        /// The number of hosts.
        hosts: u32,
    },
    /// A failure that is added or ended during a run has a time in the past.
    #[error("{at} is in the past (now {now})")]
    Past {
        /// The time that has passed.
        at: Time,
        /// The current time of the run.
        now: Time,
    },
    /// There is no failure to end.
    #[error(
        "no failure of {what} is in progress at {at}; use a time between its start and its end"
    )]
    NothingFails {
        /// The link or links, as the program named them.
        what: String,
        /// When the failure was to end.
        at: Time,
    },
}
