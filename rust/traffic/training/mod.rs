//! Training: whole iterations of transformers, dense models and mixtures of experts.
//!
//! A model ([`Model`]) and its degrees of parallelism ([`Degrees`]) become the computation and the
//! messages of each host:
//!
//! - *tensor*: ranks that share each layer's matrices exchange activations in every layer, twice
//!   forward and twice backward (Shoeybi et al., "Megatron-LM", 2019, section 3): by all-reduce or,
//!   where sequences are divided too, by all-gather and reduce-scatter (Korthikanti et al.,
//!   "Reducing Activation Recomputation in Large Transformer Models", 2022, section 4.2);
//! - *pipeline*: stages send activations to the next stage and gradients to the previous one, for
//!   each microbatch, in the order 1F1B (Narayanan et al., "Efficient Large-Scale Language Model
//!   Training on GPU Clusters Using Megatron-LM", 2021, section 2.2);
//! - *expert*: tokens are sent to their experts and back by all-to-all in every layer with experts
//!   (Lepikhin et al., "GShard", 2020, section 3.2); all experts get the same number \[inferred\];
//! - *data*: replicas all-reduce gradients during the last backward pass (Li et al., "PyTorch
//!   Distributed", 2020, section 3.2), or each keeps one shard ([`Sharding`]; Rajbhandari et al.,
//!   "ZeRO", 2020, section 5; Zhao et al., "PyTorch FSDP", 2023, section 3).
//!
//! Not modelled: the optimizer's computation, the exchange of tied embeddings between the first
//! and the last stage, recomputation of activations, and dropped tokens. \[inferred: they send
//! nothing, or little\]

mod error;
mod iteration;
mod layout;
mod model;
mod passes;
mod presets;
mod program;
mod unit;

pub use error::TrainingError;
pub use layout::Degrees;
pub use model::{Attention, Experts, Model, ModelFamily};
pub use presets::{MODELS, ModelPreset, find};
pub use program::TrafficClass;

use serde::{Deserialize, Serialize};

use crate::collective::{Algorithms, CollectiveKind};
use crate::units::{Bytes, Flops};
use crate::workload::Workload;
use iteration::IterationBuilder;

/// The default number of ranks per machine, for hierarchical algorithms.
pub const GROUP: u32 = 8;

/// The default algorithms of the operations that a training uses.
pub fn algorithms() -> Algorithms {
    Algorithms::new(&[
        CollectiveKind::AllReduce,
        CollectiveKind::AllGather,
        CollectiveKind::ReduceScatter,
        CollectiveKind::AllToAll,
    ])
}

/// The state that is divided among replicas instead of replicated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharding {
    /// None: gradients are all-reduced.
    #[default]
    None,
    /// The optimizer's state: gradients are reduce-scattered, and after all of them the updated
    /// parameters are gathered (ZeRO stage 1, Megatron-LM's distributed optimizer).
    Optimizer,
    /// All of it: the parameters of a layer are gathered before each pass over it, and its
    /// gradients are reduce-scattered after each backward pass (ZeRO stage 3, FSDP).
    Full,
}

/// How tensor-parallel ranks exchange activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TensorTraffic {
    /// By all-reduce: every rank keeps all activations.
    #[default]
    AllReduce,
    /// By all-gather before and reduce-scatter after a block: every rank keeps the activations of
    /// its share of the sequence.
    Sequence,
}

/// The sizes of numbers on the wire, 1 to 16 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// Size of a parameter.
    pub parameter: Bytes,
    /// Size of a gradient.
    pub gradient: Bytes,
    /// Size of an activation, or of its gradient.
    pub activation: Bytes,
}

/// Iterations of a training, on the hosts with ids below `degrees.ranks()`.
#[derive(Debug, Clone)]
pub struct Training {
    /// The model that is trained.
    pub model: Model,
    /// Number of layers to simulate: the last ones of the model, without embedding and output.
    /// `None` simulates the whole model.
    pub layers: Option<u32>,
    /// Number of tokens of each sequence.
    pub sequence: u32,
    /// Number of sequences of each microbatch.
    pub microbatch: u32,
    /// Microbatches per iteration and pipeline.
    pub microbatches: u32,
    /// Number of iterations, one after the other.
    pub iterations: u32,
    /// The degrees of parallelism.
    pub degrees: Degrees,
    /// The state that is divided among replicas.
    pub sharding: Sharding,
    /// How tensor-parallel ranks exchange activations.
    pub tensor_traffic: TensorTraffic,
    /// A host sends gradients when it has accumulated at least this many bytes, and the rest at
    /// the end. It does not apply to [`Sharding::Full`], which sends those of each layer.
    pub bucket: Bytes,
    /// The sizes of numbers on the wire.
    pub widths: Widths,
    /// Sustained computing speed of a host, not its peak.
    pub flops: Flops,
    /// The algorithms of collectives, of the operations of [`algorithms`].
    pub algorithms: Algorithms,
    /// Ranks per machine, for hierarchical algorithms.
    pub group: u32,
    /// Number of channels that the vector of every collective is divided over. Each has its own
    /// queue pairs.
    pub channels: u32,
}

impl Training {
    /// The computation and the messages of all hosts. A stream is a [`TrafficClass`] and a
    /// channel, so that groups of different kinds share no queue pairs.
    ///
    /// # Errors
    /// Fails if parameters are out of range or do not fit each other, and for more than 2^25
    /// messages.
    pub fn build(&self) -> Result<Workload, TrainingError> {
        self.check()?;
        IterationBuilder::new(self)?.run()
    }

    fn check(&self) -> Result<(), TrainingError> {
        self.model.check()?;
        self.degrees.check(&self.model)?;
        let layers = self.layers.unwrap_or(self.model.layers);
        let counts = [
            ("layers", layers),
            ("sequence", self.sequence),
            ("microbatch", self.microbatch),
            ("microbatches", self.microbatches),
            ("iterations", self.iterations),
            ("channels", self.channels),
        ];
        for (what, count) in counts {
            if count == 0 {
                return Err(TrainingError::Zero { what });
            }
        }
        if layers > self.model.layers {
            return Err(TrainingError::TooManyLayers { layers, model: self.model.layers });
        }
        if layers < self.degrees.pipeline {
            return Err(TrainingError::TooFewLayers { layers, stages: self.degrees.pipeline });
        }
        let widths = [self.widths.parameter, self.widths.gradient, self.widths.activation];
        match widths.iter().all(|width| (1..=16).contains(&width.get())) {
            true => Ok(()),
            false => Err(TrainingError::Width),
        }
    }

    /// Number of tokens of a microbatch.
    fn tokens(&self) -> u64 {
        u64::from(self.microbatch) * u64::from(self.sequence)
    }
}

#[cfg(test)]
mod tests;
