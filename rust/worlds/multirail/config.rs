//! The parameters of hosts with several rails.

use crate::nic::NicConfig;
use crate::rail::handler;
use crate::units::{BitRate, Bytes, Span, Time};

/// A run: the rails of every host, the operations and the failures.
#[derive(Debug, Clone, PartialEq)]
pub struct RailSetup {
    /// Number of hosts, one rank each, at least 2.
    pub ranks: u32,
    /// The rails, at least one; each is a separate plane.
    pub rails: Vec<RailConfig>,
    /// Rate at which a host's processor adds vectors; `None` if adding takes no time (a GPU).
    pub add_rate: Option<BitRate>,
    /// Number of chunks in progress per rail, at least 1. Default 2 \[inferred\], so that the last
    /// steps of one chunk overlap with the first steps of the next.
    pub window: u32,
    /// The parameters of failure handling, which include the chunk length.
    pub handler: handler::Config,
    /// Lengths of the operations, which run one after the other.
    pub operations: Vec<Bytes>,
    /// Failures of rails during the run.
    pub failures: Vec<RailFailure>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Time limit; a run that has not completed by then is stopped.
    pub time_limit: Time,
}

impl RailSetup {
    /// Returns the failures of one rail.
    pub(super) fn failures_of(&self, rail: u32) -> impl Iterator<Item = &RailFailure> {
        self.failures.iter().filter(move |failure| failure.rail == rail)
    }
}

/// The parameters of a rail.
#[derive(Debug, Clone, PartialEq)]
pub struct RailConfig {
    /// Name of the rail in results.
    pub name: String,
    /// Rate of its links.
    pub rate: BitRate,
    /// One-way propagation delay of its links.
    pub delay: Span,
    /// Technology of the rail.
    pub kind: RailKind,
}

/// The technology of a rail.
#[derive(Debug, Clone, PartialEq)]
pub enum RailKind {
    /// A ring of the hosts over a kernel's transport.
    Tcp(Transport),
    /// A ring of the hosts over this project's NIC.
    Rdma(Transport),
    /// A tree of switches that add the vectors of the hosts.
    InNetwork(TreeConfig),
}

impl RailKind {
    /// Returns the name of the kind in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "tcp",
            Self::Rdma(_) => "rdma",
            Self::InNetwork(_) => "in-network",
        }
    }
}

/// The transport of a ring.
#[derive(Debug, Clone, PartialEq)]
pub struct Transport {
    /// Links per host; with more than one, a message is one ordered stream over all of them.
    pub links: u32,
    /// Packets, window and recovery.
    pub nic: NicConfig,
    /// The costs of the processor.
    pub software: Software,
    /// Packet buffer of the rail's switch.
    pub buffer: Bytes,
    /// Gap after each packet on the wire, in bytes: preamble and inter-frame gap.
    pub gap: Bytes,
}

/// Processor time that a host spends on sending and receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Software {
    /// Time per message sent.
    pub send_message: Span,
    /// Time per message received.
    pub receive_message: Span,
    /// Rate at which the processor alone could send; `None` if it does not touch the bytes.
    pub send_rate: Option<BitRate>,
    /// Rate at which the processor alone could receive; `None` if it does not touch the bytes.
    pub receive_rate: Option<BitRate>,
    /// Rate at which the processor alone could compute checksums, on both sides; `None` if the
    /// adapters compute them.
    pub checksum_rate: Option<BitRate>,
    /// Unit in which the processor handles data, when sending and receiving.
    pub slice: Bytes,
}

/// The parameters of an aggregation tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeConfig {
    /// Children per switch, at least 2.
    pub radix: u32,
    /// Payload of a segment, a multiple of an element.
    pub segment: Bytes,
    /// Headers of a segment on the wire.
    pub header: Bytes,
    /// Number of segments that a switch can hold; each child has that many credits.
    pub slots: u32,
    /// Time from the last bit of the last child's segment to the first bit of the sum.
    pub switch_latency: Span,
    /// Processor time of each host per chunk, before its first segment.
    pub chunk_overhead: Span,
}

/// A failure of a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RailFailure {
    /// Index of the rail.
    pub rail: u32,
    /// The kind of failure.
    pub kind: RailFailureKind,
    /// Start of the failure.
    pub at: Time,
    /// End of the failure; `Time::NEVER` if it is permanent.
    pub until: Time,
}

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RailFailureKind {
    /// The link of a host carries nothing.
    Link {
        /// Index of the host.
        host: u32,
    },
    /// The switch next to the hosts carries nothing; in a tree, the root.
    Switch,
    /// The link of a host is slow.
    Degraded {
        /// Index of the host.
        host: u32,
        /// Remaining rate in units of 1/65,536.
        remaining: u16,
    },
    /// The link of a host carries nothing, and its adapter reports that immediately.
    Error {
        /// Index of the host.
        host: u32,
    },
}
