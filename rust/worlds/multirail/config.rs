//! The parameters of hosts with several rails.

use crate::nic::NicConfig;
use crate::rail::handler;
use crate::units::{BitRate, Bytes, Span, Time};

/// A run: the rails of every host, the operations and the failures.
#[derive(Debug, Clone, PartialEq)]
pub struct RailSetup {
    /// Number of hosts, one rank each, at least 2.
    pub ranks: u32,
    /// The rails, at least one; each is a plane of its own.
    pub rails: Vec<RailConfig>,
    /// The rate at which the processor of a host adds vectors; `None` if it costs no time (a GPU).
    pub add_rate: Option<BitRate>,
    /// The number of chunks of a rail in progress at a time, at least 1. Default 2 \[inferred\], so
    /// that the last steps of one chunk overlap with the first steps of the next.
    pub window: u32,
    /// The parameters of failure handling, which include the chunk length.
    pub handler: handler::Config,
    /// The lengths of the operations, which run one after the other.
    pub operations: Vec<Bytes>,
    /// The failures of rails that happen during the run.
    pub failures: Vec<RailFailure>,
    /// Seed of all random streams.
    pub seed: u64,
    /// The time after which a run counts as stalled.
    pub time_limit: Time,
}

impl RailSetup {
    /// The failures of one rail.
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
    /// The name of the kind in scenarios.
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
    /// Packet memory of the rail's switch.
    pub buffer: Bytes,
    /// Headers and gaps between packets, on the wire.
    pub gap: Bytes,
}

/// The costs of sending and receiving for the processor of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Software {
    /// The time per message sent.
    pub send_message: Span,
    /// The time per message received.
    pub receive_message: Span,
    /// The rate at which the processor alone could send; `None` if it does not touch the bytes.
    pub send_rate: Option<BitRate>,
    /// The rate at which the processor alone could receive; `None` if it does not touch the bytes.
    pub receive_rate: Option<BitRate>,
    /// The rate at which the processor alone could compute checksums, on both sides; `None` if the
    /// adapters do that.
    pub checksum_rate: Option<BitRate>,
    /// The unit in which data is handed to the processor, in sending and receiving.
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
    /// Number of segments that a switch can hold: its credits to each child.
    pub slots: u32,
    /// From the last bit of the last child's segment to the first bit of the sum.
    pub switch_latency: Span,
    /// The processor time of each host per chunk, before its first segment.
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
    Crawl {
        /// Index of the host.
        host: u32,
        /// The remaining rate, in parts of 65,536.
        left: u16,
    },
    /// The link of a host carries nothing, and its adapter reports it at once.
    Error {
        /// Index of the host.
        host: u32,
    },
}
