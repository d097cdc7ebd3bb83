//! Training: whole iterations of transformers, both dense models and mixtures of experts.
//!
//! A model ([`Model`]) and its degrees of parallelism ([`Degrees`]) determine the computation and
//! messages of each host:
//!
//! - *tensor*: ranks that share each layer's matrices exchange activations in every layer, twice
//!   forward and twice backward (Shoeybi et al., "Megatron-LM", 2019, section 3). They use
//!   all-reduce or, if sequences are divided too, all-gather and reduce-scatter (Korthikanti et
//!   al., "Reducing Activation Recomputation in Large Transformer Models", 2022, section 4.2);
//! - *pipeline*: for each microbatch, stages send activations to the next stage and gradients to
//!   the previous one, in 1F1B order (Narayanan et al., "Efficient Large-Scale Language Model
//!   Training on GPU Clusters Using Megatron-LM", 2021, section 2.2);
//! - *expert*: an all-to-all sends tokens to their experts and back in every layer with experts
//!   (Lepikhin et al., "GShard", 2020, section 3.2); all experts get the same number \[inferred\];
//! - *data*: replicas all-reduce gradients during the last backward pass (Li et al., "PyTorch
//!   Distributed", 2020, section 3.2), or each keeps one shard ([`Sharding`]; Rajbhandari et al.,
//!   "ZeRO", 2020, section 5; Zhao et al., "PyTorch FSDP", 2023, section 3).
//!
//! Not modelled: the optimizer's computation, the exchange of tied embeddings between the first and
//! the last stage, activation recomputation, and dropped tokens. \[inferred: they send little or
//! nothing\]

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

/// Default number of ranks per machine, for hierarchical algorithms.
pub const GROUP: u32 = 8;

/// Returns the default algorithms of the operations that a training uses.
pub fn algorithms() -> Algorithms {
    Algorithms::new(&[
        CollectiveKind::AllReduce,
        CollectiveKind::AllGather,
        CollectiveKind::ReduceScatter,
        CollectiveKind::AllToAll,
    ])
}

/// State that is divided among replicas instead of replicated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharding {
    /// Nothing is divided: gradients are all-reduced.
    #[default]
    None,
    /// The optimizer state: gradients are reduce-scattered, then the updated parameters are
    /// gathered (ZeRO stage 1, Megatron-LM's distributed optimizer).
    Optimizer,
    /// All state: a layer's parameters are gathered before each pass over it, and its gradients are
    /// reduce-scattered after each backward pass (ZeRO stage 3, FSDP).
    Full,
}

/// Exchange of activations among tensor-parallel ranks.
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

/// Sizes of numbers on the wire, 1 to 16 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// Size of a parameter.
    pub parameter: Bytes,
    /// Size of a gradient.
    pub gradient: Bytes,
    /// Size of an activation, or of its gradient.
    pub activation: Bytes,
}

/// Training iterations, on the hosts with ids below `degrees.ranks()`.
#[derive(Debug, Clone)]
pub struct Training {
    /// The trained model.
    pub model: Model,
    /// Number of layers to simulate: the last ones of the model, without embedding and output.
    /// `None` simulates the whole model.
    pub layers: Option<u32>,
    /// Tokens per sequence.
    pub sequence: u32,
    /// Sequences per microbatch.
    pub microbatch: u32,
    /// Microbatches per iteration and pipeline.
    pub microbatches: u32,
    /// Number of consecutive iterations.
    pub iterations: u32,
    /// The degrees of parallelism.
    pub degrees: Degrees,
    /// State that is divided among replicas.
    pub sharding: Sharding,
    /// Exchange of activations among tensor-parallel ranks.
    pub tensor_traffic: TensorTraffic,
    /// A host sends gradients once it has accumulated at least this many bytes, and the rest at the
    /// end. Does not apply to [`Sharding::Full`], which sends the gradients of each layer.
    pub bucket: Bytes,
    /// Sizes of numbers on the wire.
    pub widths: Widths,
    /// Sustained (not peak) computing speed of a host.
    pub flops: Flops,
    /// Collective algorithms for the operations of [`algorithms`].
    pub algorithms: Algorithms,
    /// Ranks per machine, for hierarchical algorithms.
    pub group: u32,
    /// Number of channels over which every collective's vector is divided. Each has its own queue
    /// pairs.
    pub channels: u32,
}

impl Training {
    /// Returns the computation and messages of all hosts. A stream combines a [`TrafficClass`] and
    /// a channel, so groups of different kinds share no queue pairs.
    ///
    /// # Errors
    /// Fails if parameters are out of range or inconsistent, and for more than 2^25 messages.
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

    /// Returns the number of tokens of a microbatch.
    fn tokens(&self) -> u64 {
        u64::from(self.microbatch) * u64::from(self.sequence)
    }
}

#[cfg(test)]
mod tests;
