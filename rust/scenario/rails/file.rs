//! Scenario files of hosts with several rails: `[[rail]]` sections, with a struct per kind of rail.

use serde::{Deserialize, Serialize};

use crate::file::failure::SpanOrNever;
use crate::file::{GeneralSection, PolicySection};
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::input::overrides::Overrides;
use crate::input::reader::{Kind, SectionReader};
use crate::input::section::{Form, Group, Value, named, section};
use crate::input::source::Source;
use crate::rail::handler;
use crate::units::{BitRate, Bytes, Fraction, Span};

/// A whole file. Every section except `[[rail]]` is optional; an unknown one is an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RailFile {
    /// The keys above all sections.
    #[serde(flatten)]
    pub general: GeneralSection,
    /// Number of hosts, and their rate of addition.
    pub hosts: HostsSection,
    /// Rails of every host, in order.
    pub rail: Vec<RailSection>,
    /// Policy that divides operations among rails.
    pub policy: PolicySection,
    /// All-reduces, which the hosts run one after another.
    pub workload: RailWorkloadSection,
    /// Exception handler: timers and chunk size.
    pub handler: HandlerSection,
    /// Failures of rails, each a `[[failure]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<RailFailureSection>,
}

/// Policy of a file that names none.
pub(crate) const DEFAULT_POLICY: &str = "nezha";

section! {
    /// `[hosts]`: the hosts.
    pub struct HostsSection {
        /// Number of hosts; by default that of Nezha's first cluster.
        count: u32 = 6,
        /// Rate at which a host's CPU adds two vectors \[inferred\]: two reads and one write, at a
        /// core's share of a memory channel.
        add_rate: BitRate = BitRate::from_gbps(80),
    }
}

/// Kinds of rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RailKindName {
    /// Ring of hosts over a kernel transport.
    #[default]
    Tcp,
    /// Ring of hosts over this project's NIC.
    Rdma,
    /// Tree of switches that add the hosts' vectors.
    InNetwork,
}

/// `[[rail]]`: a plane of links and switches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RailSection {
    /// Keys of every kind.
    #[serde(flatten)]
    pub common: RailCommonSection,
    /// Kind of reduction.
    pub kind: Located<RailKindName>,
    /// Keys of the kind.
    #[serde(flatten)]
    pub keys: RailKeys,
}

section! {
    /// Keys of every kind of rail.
    pub struct RailCommonSection {
        /// Name in results and failures.
        name?: String = "`rail0` and so on",
    }
}

/// Rates at which one core sends and receives through Linux TCP with all offloads: 89 Gbps and 42
/// Gbps.
///
/// Source: Cai, Chaudhary, Vuppalapati, Hwang, Agarwal, "Understanding Host Network Stack
/// Overheads" (SIGCOMM 2021), section 3. Both figures are quoted from memory, unchecked against the
/// paper.
const CORE_SEND_RATE: BitRate = BitRate::from_gbps(89);
const CORE_RECEIVE_RATE: BitRate = BitRate::from_gbps(42);

// `tcp`: an IP packet of 9000 B has 52 B of IP and TCP headers (with timestamps), and 18 B of
// Ethernet around it. Message costs are those of a system call and a wake-up, of the order of
// Linux's [inferred]. A slice is Linux's largest segment for adapter segmentation (`GSO_MAX_SIZE`),
// and 200 ms is its minimum timeout (`TCP_RTO_MIN`).
section! {
    /// `kind = "tcp"`.
    pub struct TcpSection {
        /// Link rate.
        rate: BitRate = BitRate::from_gbps(10),
        /// One-way propagation delay.
        delay: Span = Span::from_ns(500),
        /// Headers per packet on the wire: IP, TCP with timestamps, Ethernet.
        header: Bytes = Bytes::new(70),
        /// Payload of a full packet: 9000 B of IP.
        payload: Bytes = Bytes::new(8_948),
        /// Packet memory of the switch.
        buffer: Bytes = Bytes::new(16_000_000),
        /// CPU time per message sent: a system call \[inferred\].
        send_message: Span = Span::from_us(6),
        /// CPU time per message received: a wake-up \[inferred\].
        receive_message: Span = Span::from_us(12),
        /// Send rate of a dedicated core (Cai et al., SIGCOMM 2021).
        send_rate: BitRate = CORE_SEND_RATE,
        /// Receive rate of a dedicated core (Cai et al., SIGCOMM 2021).
        receive_rate: BitRate = CORE_RECEIVE_RATE,
        /// Links per host. With several, each message is one ordered stream over all, as with
        /// MPTCP.
        links: u32 = 1,
        /// Several links: checksum rate of a dedicated core, one pass over memory \[inferred\]. No
        /// adapter computes MPTCP's (RFC 8684, section 3.3.1).
        checksum_rate?: BitRate = "64 Gbps",
        /// Bytes handled at a time: Linux's `GSO_MAX_SIZE`.
        slice: Bytes = Bytes::new(64 << 10),
        /// Retransmission timeout: Linux's `TCP_RTO_MIN`.
        retransmit_timeout: Span = Span::from_ms(200),
    }
}

section! {
    /// `kind = "rdma"`, with the defaults of `[transport]`.
    pub struct RdmaSection {
        /// Link rate.
        rate: BitRate = BitRate::from_gbps(100),
        /// One-way propagation delay.
        delay: Span = Span::from_ns(500),
        /// Headers per packet on the wire.
        header: Bytes = Bytes::new(62),
        /// Payload of a full packet.
        payload: Bytes = Bytes::new(4_096),
        /// Packet memory of the switch.
        buffer: Bytes = Bytes::new(16_000_000),
        /// CPU time per message sent: a doorbell \[inferred\].
        send_message: Span = Span::from_us(1),
        /// CPU time per message received: a poll \[inferred\].
        receive_message: Span = Span::from_us(1),
        /// Bytes that the CPU handles at a time.
        slice: Bytes = Bytes::new(1 << 20),
        /// Retransmission timeout.
        retransmit_timeout: Span = Span::from_ms(1),
    }
}

section! {
    /// `kind = "in-network"`.
    pub struct InNetworkSection {
        /// Link rate.
        rate: BitRate = BitRate::from_gbps(100),
        /// One-way propagation delay.
        delay: Span = Span::from_ns(500),
        /// Headers per segment on the wire.
        header: Bytes = Bytes::new(64),
        /// Children per switch.
        radix: u32 = 8,
        /// Payload of a segment.
        segment: Bytes = Bytes::new(4_096),
        /// Segments held by a switch at a time.
        slots: u32 = 64,
        /// Delay from the last child's segment to the sum.
        switch_latency: Span = Span::from_ns(300),
        /// CPU time per chunk.
        chunk_overhead: Span = Span::from_us(2),
    }
}

/// Keys of a kind of rail.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RailKeys {
    /// Ring over a kernel transport.
    Tcp(TcpSection),
    /// Ring over this project's NIC.
    Rdma(RdmaSection),
    /// Tree of switches that add the hosts' vectors.
    InNetwork(InNetworkSection),
}

/// Table of all kinds of rail.
pub(crate) const KINDS: &[Kind<RailKeys>] = &[
    Kind {
        name: "tcp",
        summary: "Ring of hosts over a kernel transport",
        groups: &[Group::of::<TcpSection>()],
        read: |reader| reader.take().map(RailKeys::Tcp),
    },
    Kind {
        name: "rdma",
        summary: "Ring of hosts over this project's NIC",
        groups: &[Group::of::<RdmaSection>()],
        read: |reader| reader.take().map(RailKeys::Rdma),
    },
    Kind {
        name: "in-network",
        summary: "Tree of switches that reduce",
        groups: &[Group::of::<InNetworkSection>()],
        read: |reader| reader.take().map(RailKeys::InNetwork),
    },
];

/// One size, or a list of sizes that operations cycle through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a size, such as \"64MB\", or a list of sizes")]
pub enum Sizes {
    /// Same size for all operations.
    One(Bytes),
    /// Used cyclically, in this order.
    Several(Vec<Bytes>),
}

impl Value for Sizes {
    fn form() -> Form {
        Form::of("size, such as `\"64MB\"`, or a list of sizes")
    }
}

section! {
    /// `[workload]`: the operations.
    pub struct RailWorkloadSection {
        /// Collective: only `all-reduce`.
        kind: String = "all-reduce".to_owned(),
        /// Number of consecutive operations.
        operations: u32 = 20,
        /// Vector length per rank, in whole 8 B elements; operations cycle through a list.
        bytes: Sizes = Sizes::One(Bytes::new(16_000_000)),
        /// Chunks in flight per rail.
        window: u32 = 2,
    }
}

section! {
    /// `[handler]`: timers and sizes of the exception handler; all defaults are \[inferred\].
    pub struct HandlerSection {
        /// Longest chunk, a multiple of the element: the unit of agreement and repetition.
        chunk: Bytes = handler::Config::default().chunk,
        /// Period of heartbeats to the next rank, per rail.
        heartbeat: Span = handler::Config::default().heartbeat,
        /// Missed heartbeats in a row that mark a rail as down, at least 1.
        misses: u32 = handler::Config::default().misses,
        /// Tolerated delay of a heartbeat.
        grace: Span = handler::Config::default().grace,
        /// Multiple of the expected time without a completion that makes a rail suspect.
        stall_factor: u32 = handler::Config::default().stall_factor,
        /// Minimum time until a rail is suspect.
        stall_least: Span = handler::Config::default().stall_least,
        /// Time for a suspect rail to answer or make progress.
        confirm: Span = handler::Config::default().confirm,
        /// Period of a rank's reports while answers are missing.
        retry: Span = handler::Config::default().retry,
        /// Probe period of a rail that is down.
        probe: Span = handler::Config::default().probe,
        /// Probe rounds in a row, answered by all ranks, that mark a rail as up, at least 1.
        good_probes: u32 = handler::Config::default().good_probes,
    }
}

/// Kinds of rail failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RailFailureName {
    /// A host's link transmits nothing.
    #[default]
    Link,
    /// The switch transmits nothing.
    Switch,
    /// A host's link keeps a share of its rate.
    Crawl,
    /// A host's link transmits nothing, and its adapter reports that immediately.
    Error,
}

named! { RailKindName, RailFailureName }

section! {
    /// `[[failure]]`: a failure of a rail.
    pub struct RailFailureSection {
        /// Name of the rail.
        rail?: String = "required",
        /// Kind of failure.
        kind: RailFailureName = RailFailureName::default(),
        /// Host of the link. Not for `switch`.
        host?: u32 = "0",
        /// Start of the failure.
        at: Span = Span::ZERO,
        /// End of the failure.
        until: SpanOrNever = SpanOrNever::Never,
        /// `crawl`: remaining share of the rate.
        left?: Fraction = "1/1000",
    }
}

impl RailFile {
    /// Reads the sections of a file.
    pub(super) fn read(source: &Source) -> Result<Self, ScenarioError> {
        reject_record(source)?;
        reject_single_network(source)?;
        let mut reader = SectionReader::new(source);
        let general = reader.take()?;
        let hosts = reader.section_or_empty("hosts")?.take_all()?;
        let rail = reader.sections("rail")?.into_iter().map(RailSection::read);
        let rail = rail.collect::<Result<_, _>>()?;
        let policy = PolicySection::read(reader.section_or_empty("policy")?, DEFAULT_POLICY)?;
        let workload = reader.section_or_empty("workload")?.take_all()?;
        let handler = reader.section_or_empty("handler")?.take_all()?;
        let failure = reader.sections("failure")?;
        let failure = failure.into_iter().map(SectionReader::take_all).collect::<Result<_, _>>()?;
        reader.finish()?;
        Ok(Self { general, hosts, rail, policy, workload, handler, failure })
    }

    /// Applies the overrides from the command line.
    pub(super) fn apply(&mut self, overrides: &Overrides) {
        if let Some(name) = &overrides.policy {
            // Allocators share no parameters.
            self.policy.override_with(name, &[]);
        }
        if let Some(seed) = overrides.seed {
            self.general.seed.override_with(seed);
        }
    }
}

/// Rejects `[record]`, which rail scenarios do not support.
fn reject_record(source: &Source) -> Result<(), ScenarioError> {
    let key = Key::ROOT.child("record");
    if !source.has(&key) {
        return Ok(());
    }
    let because = "hosts with several rails have no time series of ports and queue pairs; their \
                   results folder has operations.csv and timeline.csv";
    Err(Context::of(source).misplaced(&key, because))
}

/// Rejects sections of single-network scenarios.
fn reject_single_network(source: &Source) -> Result<(), ScenarioError> {
    let sections = ["topology", "switch", "transport", "class", "job"];
    let key = sections.iter().map(|name| Key::ROOT.child(name)).find(|key| source.has(key));
    let Some(key) = key else { return Ok(()) };
    let because = "each [[rail]] is a separate network, and all hosts run the all-reduces of \
                   [workload]; omit this section, or every [[rail]]";
    Err(Context::of(source).misplaced(&key, because))
}

impl RailSection {
    fn read(mut reader: SectionReader<'_>) -> Result<Self, ScenarioError> {
        let common = reader.take()?;
        let kind: Located<RailKindName> = reader.take_key("kind", RailKindName::default())?;
        let row = &KINDS[*kind as usize];
        let keys = (row.read)(&mut reader)?;
        reader.finish_kind(row.name, KINDS)?;
        Ok(Self { common, kind, keys })
    }
}
