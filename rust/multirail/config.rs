//! What hosts with several rails are made of.

use crate::nic::NicConfig;
use crate::rail::handler;
use crate::units::{BitRate, Bytes, Span, Time};

/// A run: the rails of every host, what is added up over them, and what fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// How many hosts there are, one rank each: 2 or more.
    pub ranks: u32,
    /// The rails, each a plane of its own: 1 or more.
    pub rails: Vec<RailConfig>,
    /// What the hosts themselves take time for.
    pub host: HostCosts,
    /// Chunks of a rail that are under way at a time, at least 1: 2 \[inferred\], so that one goes
    /// through its last steps while the next goes through its first.
    pub window: u32,
    /// How failures are noticed and made good; also how long chunks are.
    pub handler: handler::Config,
    /// The length of each operation, one after the other.
    pub operations: Vec<Bytes>,
    /// What fails.
    pub failures: Vec<RailFailure>,
    /// Where every random draw comes from.
    pub seed: u64,
    /// A run past it did not complete.
    pub time_limit: Time,
}

/// A rail.
#[derive(Debug, Clone, PartialEq)]
pub struct RailConfig {
    /// Its name, as results spell it.
    pub name: String,
    /// Rate of its links.
    pub rate: BitRate,
    /// One-way propagation delay of its links.
    pub delay: Span,
    /// How it adds up.
    pub kind: RailKind,
}

/// Kinds of rails.
#[derive(Debug, Clone, PartialEq)]
pub enum RailKind {
    /// A ring of the hosts over a kernel's transport.
    Tcp(Transport),
    /// A ring of the hosts over the NIC of this project.
    Rdma(Transport),
    /// Switches that add up.
    InNetwork(TreeConfig),
}

impl RailKind {
    /// As scenarios spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "tcp",
            Self::Rdma(_) => "rdma",
            Self::InNetwork(_) => "in-network",
        }
    }
}

/// How the hosts of a ring send.
#[derive(Debug, Clone, PartialEq)]
pub struct Transport {
    /// Links of each host; with more than one a message is one ordered stream over all of them.
    pub links: u32,
    /// Packets, window and recovery.
    pub nic: NicConfig,
    /// What it costs the processor.
    pub software: Software,
    /// Packet memory of the rail's switch.
    pub buffer: Bytes,
    /// Headers and gaps between packets, on the wire.
    pub gap: Bytes,
}

/// What sending and receiving cost the processor of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Software {
    /// For each message sent.
    pub send_message: Span,
    /// For each message received.
    pub receive_message: Span,
    /// How fast the processor alone would send; `None` if it does not touch the bytes.
    pub send_rate: Option<BitRate>,
    /// How fast the processor alone would receive; `None` if it does not touch the bytes.
    pub receive_rate: Option<BitRate>,
    /// How fast the processor alone would check sums of a stream's bytes, on both sides; `None` if
    /// adapters do that.
    pub checksum_rate: Option<BitRate>,
    /// What is sent, or received, in one go.
    pub slice: Bytes,
}

/// An aggregation tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeConfig {
    /// Children of a switch, at least 2.
    pub radix: u32,
    /// Payload of a segment: a multiple of an element.
    pub segment: Bytes,
    /// Headers of a segment on the wire.
    pub header: Bytes,
    /// Segments that a switch has room for at a time: its credits to each child.
    pub slots: u32,
    /// From the last bit of the last child's segment to the first bit of the sum.
    pub switch_latency: Span,
    /// What each chunk costs the processor of each host, before its first segment.
    pub chunk_overhead: Span,
}

/// What the hosts themselves take time for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostCosts {
    /// How fast the processor adds one vector to another; `None` if that costs nothing (a GPU).
    pub add_rate: Option<BitRate>,
}

/// A failure of a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RailFailure {
    /// Which rail, from 0.
    pub rail: u32,
    /// What happens to it.
    pub kind: RailFailureKind,
    /// When it starts.
    pub at: Time,
    /// When it ends; `Time::NEVER` if it does not.
    pub until: Time,
}

/// What happens to a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RailFailureKind {
    /// The link of a host carries nothing.
    Link {
        /// Which host.
        host: u32,
    },
    /// The switch next to the hosts carries nothing; of a tree, the root.
    Switch,
    /// The link of a host crawls.
    Crawl {
        /// Which host.
        host: u32,
        /// What is left of its rate, in parts of 65,536.
        left: u16,
    },
    /// The link of a host carries nothing, and its adapter says so at once.
    Error {
        /// Which host.
        host: u32,
    },
}
