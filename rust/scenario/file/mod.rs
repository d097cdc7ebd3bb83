//! A scenario as it was typed: sections, keys and their defaults, nothing checked against
//! anything else.
//!
//! A key that exists for some kinds only (`leaves` of a leaf-spine, `shift` of a shift) is an
//! `Option`: in a file as typed it is what the file says, in a file as resolved it is `Some`
//! exactly where it applies.

pub(super) mod replay;
pub(super) mod sections;
pub(super) mod workload;

use serde::{Deserialize, Serialize};

use crate::balance::Parameters;
use crate::scenario::file::sections::{FailureSection, SwitchSection, TransportSection};
use crate::units::{BitRate, Bytes, Fraction, Span};
use workload::WorkloadSection;

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
    /// What is sent; none where `job` says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadSection>,
    /// Several pieces of work, in place of `workload`: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub job: Vec<WorkloadSection>,
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
            workload: Some(WorkloadSection::default()),
            job: Vec::new(),
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
    /// Two tiers, the GPUs of a server each at another leaf.
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
    /// Leaf-spine and rail-optimized: spine switches: 16, and 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spines: Option<u32>,
    /// Leaf-spine: hosts at each leaf: 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_per_leaf: Option<u32>,
    /// Rail-optimized: GPUs of a server, each at a leaf of its own: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rails: Option<u32>,
    /// Rail-optimized: servers whose GPUs share leaves: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<u32>,
    /// Rail-optimized: so many groups of such servers: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<u32>,
    /// Fat-tree: ports of a switch: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u32>,
    /// Fat-tree: tiers of switches, 2 or 3: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tiers: Option<u8>,
    /// Fat-tree: the hosts' capacity to the uplinks' capacity at an edge switch: 1/1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oversubscription: Option<Fraction>,
    /// All but file: rate of a host's link: 400 Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_rate: Option<BitRate>,
    /// All but file: rate of links between switches: 400 Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric_rate: Option<BitRate>,
    /// All but file: one-way propagation delay of each link: 500 ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// All but file: links between two neighbouring switches: 1.
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
