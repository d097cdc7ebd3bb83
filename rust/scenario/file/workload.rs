//! `[workload]` and `[[job]]` as they were typed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::scenario::file::replay::{ComputeName, StreamingName};
use crate::scenario::resolve::training::{ModelChoice, ShardingName, TensorTrafficName};
use crate::units::{Bytes, Flops, Span};

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

/// `[workload]` or one of `[[job]]`: what is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadSection {
    /// A collective's name, or `permutation`, `shift`, `incast`, `flows`, `chakra`, `goal`,
    /// `connection-matrix`, `training`: `all-to-all`.
    pub kind: String,
    /// Jobs: what reports and `after` call it: `job0` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who takes part, rank by rank: `"0..16"`, `"0,4,8"`, `"0..64/8"`: all. Not for flow files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<String>,
    /// When it begins, or how long after the end of `after`: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Span>,
    /// Jobs: the name of another, after whose end it begins: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
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
    /// Chakra and training: the algorithm of each operation; those left out have the first that
    /// there is.
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
    /// Training: a model's name, or its dimensions as a table: `gpt-1.3b`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChoice>,
    /// Training: so many layers alone, without embedding and output: all, with both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<u32>,
    /// Training: tokens of a sequence: the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u32>,
    /// Training: sequences that go through the model at once: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microbatch: Option<u32>,
    /// Training: microbatches of an iteration, in each pipeline: as many as stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microbatches: Option<u32>,
    /// Training: iterations: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Training: hosts that share each layer's matrices: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<u32>,
    /// Training: stages of the pipeline: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<u32>,
    /// Training: replicas: all hosts over `tensor` times `pipeline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<u32>,
    /// Training: replicas among which experts are spread: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert: Option<u32>,
    /// Training: what replicas do not keep whole: `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharding: Option<ShardingName>,
    /// Training: what hosts that share matrices exchange: `all-reduce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor_traffic: Option<TensorTrafficName>,
    /// Training: gradients are sent once so many are there: 0 B, each layer's at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<Bytes>,
    /// Training: of a parameter on the wire: 2 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter_bytes: Option<Bytes>,
    /// Training: of a gradient on the wire: 2 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_bytes: Option<Bytes>,
    /// Training: of an activation on the wire: 2 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_bytes: Option<Bytes>,
    /// Training: how fast a host computes: 400 Tflops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flops: Option<Flops>,
}

impl Default for WorkloadSection {
    fn default() -> Self {
        Self {
            kind: "all-to-all".into(),
            name: None,
            hosts: None,
            start: None,
            after: None,
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
            model: None,
            layers: None,
            sequence: None,
            microbatch: None,
            microbatches: None,
            iterations: None,
            tensor: None,
            pipeline: None,
            data: None,
            expert: None,
            sharding: None,
            tensor_traffic: None,
            bucket: None,
            parameter_bytes: None,
            gradient_bytes: None,
            activation_bytes: None,
            flops: None,
        }
    }
}
