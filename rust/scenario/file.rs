//! A scenario as it was typed: sections, keys and their defaults, nothing checked against
//! anything else.
//!
//! A key that exists for some kinds only (`leaves` of a leaf-spine, `shift` of a shift) is an
//! `Option`: in a file as typed it is what the file says, in a file as resolved it is `Some`
//! exactly where it applies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::replay::{ComputeName, StreamingName};
use super::sections::{FailureSection, SwitchSection, TransportSection};
use crate::balance::Parameters;
use crate::units::{BitRate, Bytes, Fraction, Span};

/// The version of the format that this program reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A whole scenario file. Every key has a default; an unknown one is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioFile {
    /// Version of the format: 1.
    pub schema_version: u32,
    /// Where every random draw comes from: 1.
    pub seed: u64,
    /// Simulated time after which a run did not complete: 10 s.
    pub time_limit: Span,
    /// The graph and its links.
    pub topology: TopologySection,
    /// Every switch.
    pub switch: SwitchSection,
    /// Every NIC.
    pub transport: TransportSection,
    /// How load is balanced.
    pub policy: PolicySection,
    /// What is sent.
    pub workload: WorkloadSection,
    /// What fails: nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<FailureSection>,
}

impl Default for ScenarioFile {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            seed: 1,
            time_limit: Span::from_ms(10_000),
            topology: TopologySection::default(),
            switch: SwitchSection::default(),
            transport: TransportSection::default(),
            policy: PolicySection::default(),
            workload: WorkloadSection::default(),
            failure: Vec::new(),
        }
    }
}

/// Families of fabrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyKind {
    /// Two tiers, every leaf wired to every spine.
    #[default]
    LeafSpine,
    /// A k-ary fat-tree of two or three tiers.
    FatTree,
    /// Rails of leaf switches, one a GPU of a server.
    RailOptimized,
    /// Read from a file.
    File,
}

/// Formats of topology files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyFormat {
    /// That of the HPCC family of ns-3 simulators.
    #[default]
    Hpcc,
    /// That of htsim.
    Htsim,
}

/// `[topology]`: switches, hosts and links.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopologySection {
    /// Which family: `leaf-spine`.
    pub kind: TopologyKind,
    /// Leaf-spine: leaf switches: 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<u32>,
    /// Leaf-spine: spine switches: 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spines: Option<u32>,
    /// Leaf-spine: hosts at each leaf: 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_per_leaf: Option<u32>,
    /// Fat-tree: ports of a switch: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u32>,
    /// Fat-tree: tiers of switches, 2 or 3: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tiers: Option<u8>,
    /// Fat-tree: the hosts' capacity to the uplinks' capacity at an edge switch: 1/1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oversubscription: Option<Fraction>,
    /// Leaf-spine and fat-tree: rate of a host's link: 400 Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_rate: Option<BitRate>,
    /// Leaf-spine and fat-tree: rate of links between switches: 400 Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric_rate: Option<BitRate>,
    /// Leaf-spine and fat-tree: one-way propagation delay of each link: 500 ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Leaf-spine and fat-tree: links between two neighbouring switches: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_links: Option<u32>,
    /// File: where it is, relative to the scenario's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// File: its format: `hpcc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TopologyFormat>,
    /// Preamble and inter-frame gap on every link: 20 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Bytes>,
    /// From a packet's last bit in to when it can leave, in each switch: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarding_delay: Option<Span>,
}

/// `[policy]`: a preset and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicySection {
    /// The preset: `ethereal`.
    #[serde(default = "default_policy")]
    pub name: String,
    /// Every other key.
    #[serde(flatten)]
    pub parameters: Parameters,
}

impl Default for PolicySection {
    fn default() -> Self {
        Self { name: default_policy(), parameters: Parameters::new() }
    }
}

fn default_policy() -> String {
    "ethereal".into()
}

/// Which dependencies of Chakra traces count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependenciesName {
    /// Control and data dependencies.
    #[default]
    All,
    /// Data dependencies alone.
    Data,
}

/// `[workload]`: what is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadSection {
    /// A collective's name, or `permutation`, `shift`, `incast`, `flows`, `chakra`, `goal`,
    /// `connection-matrix`: `all-to-all`.
    pub kind: String,
    /// Payload a rank for a collective, a flow otherwise: 16 MB. Not for flow files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Collectives with several algorithms: which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// Collectives and chakra: the first so many hosts take part: all; for chakra, those that
    /// have traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Collectives: the vector is divided over so many channels with queue pairs of their own: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<u32>,
    /// Collectives: so many chunks of each channel follow each other: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// Hierarchical collectives: so many ranks next to each other are a machine: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Collectives: what a rank computes between what it got and what it sends for it: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Span>,
    /// Shift: host i sends to host i + shift: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<u32>,
    /// Incast: how many send to one: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_in: Option<u32>,
    /// Each message starts up to so much later: 0. Not for flow files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_jitter: Option<Span>,
    /// Flows, goal, connection-matrix: the file, relative to the scenario's file. Chakra: what
    /// stands before `.RANK.et` (or `.RANK.et.gz`), or one file that every rank replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Chakra: which dependencies count: `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<DependenciesName>,
    /// Chakra: the algorithm of each operation; those left out have the first that there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithms: Option<BTreeMap<String, String>>,
    /// Chakra and goal: whether what computes at a host takes turns: `serial`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute: Option<ComputeName>,
    /// Chakra: sizes of the dimensions that `involved_dim` is about, the one first that varies
    /// fastest from rank to rank: unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Vec<u32>>,
    /// Chakra: whether traces are read while the run goes on: `auto`, if they are 1 GiB or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streaming: Option<StreamingName>,
    /// Chakra that is read while the run goes on: nodes of each rank that are held: 8,192.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
}

impl Default for WorkloadSection {
    fn default() -> Self {
        Self {
            kind: "all-to-all".into(),
            bytes: None,
            algorithm: None,
            ranks: None,
            channels: None,
            chunks: None,
            group: None,
            gap: None,
            shift: None,
            fan_in: None,
            start_jitter: None,
            file: None,
            dependencies: None,
            algorithms: None,
            compute: None,
            dimensions: None,
            streaming: None,
            window: None,
        }
    }
}
