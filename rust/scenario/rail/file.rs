//! A scenario of hosts with several rails as it was typed: a file with `[[rail]]` sections.
//!
//! A key that exists for some kinds only (`slots` of an in-network rail) is an `Option`: in a file
//! as typed it is what the file says, in a file as resolved it is `Some` exactly where it applies.

use serde::{Deserialize, Serialize};

use crate::balance::Parameters;
use crate::rail::handler;
use crate::scenario::file::sections::SpanOrNever;
use crate::scenario::file::{PolicySection, SCHEMA_VERSION};
use crate::units::{BitRate, Bytes, Fraction, Span};

/// A whole file. Every key has a default but those of `[[rail]]` itself; an unknown one is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RailFile {
    /// Version of the format: 1.
    pub schema_version: u32,
    /// Where every random draw comes from: 1.
    pub seed: u64,
    /// Simulated time after which a run did not complete: 10 s.
    pub time_limit: Span,
    /// The hosts.
    pub hosts: HostsSection,
    /// The rails of every host, in order.
    pub rail: Vec<RailSection>,
    /// Who divides operations among rails: `nezha`.
    #[serde(default = "default_policy")]
    pub policy: PolicySection,
    /// What is added up.
    pub workload: RailWorkloadSection,
    /// How failures are noticed, and how long chunks are: see
    /// [`handler::Config`](crate::rail::handler::Config).
    pub handler: handler::Config,
    /// What fails: nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<RailFailureSection>,
}

impl Default for RailFile {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            seed: 1,
            time_limit: Span::from_ms(10_000),
            hosts: HostsSection::default(),
            rail: Vec::new(),
            policy: default_policy(),
            workload: RailWorkloadSection::default(),
            handler: handler::Config::default(),
            failure: Vec::new(),
        }
    }
}

fn default_policy() -> PolicySection {
    PolicySection { name: "nezha".to_owned(), parameters: Parameters::new() }
}

/// `[hosts]`: who takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostsSection {
    /// How many: 6, as many as Nezha's first cluster had.
    pub count: u32,
    /// How fast a host's processor adds one vector to another: 80 Gbps \[inferred\], two streams
    /// read and one written at what a core gets of a memory channel.
    pub add_rate: BitRate,
}

impl Default for HostsSection {
    fn default() -> Self {
        Self { count: 6, add_rate: BitRate::from_gbps(80) }
    }
}

/// Kinds of rails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RailKindName {
    /// A ring of the hosts over a kernel's transport.
    #[default]
    Tcp,
    /// A ring of the hosts over the NIC of this project.
    Rdma,
    /// Switches that add up.
    InNetwork,
}

/// `[[rail]]`: a plane of links and switches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RailSection {
    /// What results and failures call it: `rail0`, by its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How it adds up: `tcp`.
    pub kind: RailKindName,
    /// Rate of its links: 10 Gbps for `tcp`, 100 Gbps otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// One-way propagation delay of its links: 500 ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// `tcp`: links of each host: 1. With more, each message is one ordered stream over all of
    /// them, as with MPTCP: what rails are compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
    /// `tcp` with several links: how fast the processor alone would check sums: 64 Gbps, one pass
    /// over memory \[inferred\]. No adapter knows how to make MPTCP's (RFC 8684, section 3.3.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum_rate: Option<BitRate>,
    /// `tcp`, `rdma`: payload of a full packet: 8948 B and 4096 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Bytes>,
    /// Headers on the wire, of a packet or an in-network segment: 70 B, 62 B and 64 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Bytes>,
    /// `tcp`, `rdma`: packet memory of the switch: 16 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// `tcp`, `rdma`: the processor's time for each message sent: 6 us and 1 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_message: Option<Span>,
    /// `tcp`, `rdma`: the processor's time for each message received: 12 us and 1 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_message: Option<Span>,
    /// `tcp`: how fast the processor alone would send: 89 Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_rate: Option<BitRate>,
    /// `tcp`: how fast the processor alone would receive: 42 Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_rate: Option<BitRate>,
    /// `tcp`, `rdma`: what the processor handles in one go: 64 KiB and 1 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Bytes>,
    /// `tcp`, `rdma`: how long a sender waits for an acknowledgement: 200 ms and 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmit_timeout: Option<Span>,
    /// `in-network`: children of a switch: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radix: Option<u32>,
    /// `in-network`: payload of a segment: 4096 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// `in-network`: segments that a switch has room for at a time: 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// `in-network`: from the last child's segment to the sum: 300 ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_latency: Option<Span>,
    /// `in-network`: the processor's time for each chunk: 2 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_overhead: Option<Span>,
}

/// A size, or several that operations take in turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sizes {
    /// All alike.
    One(Bytes),
    /// One after the other, and from the first again.
    Several(Vec<Bytes>),
}

/// `[workload]`: what is added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RailWorkloadSection {
    /// `all-reduce` alone.
    pub kind: String,
    /// How many operations there are, one after the other: 20.
    pub operations: u32,
    /// The length of each rank's vector, in whole elements of 8 B: 16 MB. Several sizes are taken
    /// in turn.
    pub bytes: Sizes,
    /// Chunks under way on a rail at a time: 2.
    pub window: u32,
}

impl Default for RailWorkloadSection {
    fn default() -> Self {
        Self {
            kind: "all-reduce".to_owned(),
            operations: 20,
            bytes: Sizes::One(Bytes::new(16_000_000)),
            window: 2,
        }
    }
}

/// Ways of failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RailFailureName {
    /// The link of a host carries nothing.
    #[default]
    Link,
    /// The switch carries nothing.
    Switch,
    /// The link of a host is slow.
    Crawl,
    /// The link of a host carries nothing, and its adapter says so at once.
    Error,
}

/// `[[failure]]`: what happens to a rail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RailFailureSection {
    /// The rail's name.
    pub rail: String,
    /// What happens to it: `link`.
    #[serde(default)]
    pub kind: RailFailureName,
    /// Whose link, but for `switch`: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<u32>,
    /// When: at the start.
    #[serde(default)]
    pub at: Span,
    /// Until when: never.
    #[serde(default = "never")]
    pub until: SpanOrNever,
    /// `crawl`: what is left of the rate: 1/1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Fraction>,
}

const fn never() -> SpanOrNever {
    SpanOrNever::Never
}
