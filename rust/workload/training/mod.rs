//! Training: whole iterations of transformers, dense ones and mixtures of experts.
//!
//! A model ([`Model`]) and how it is spread over hosts ([`Degrees`]) become what each host
//! computes, and what it sends meanwhile:
//!
//! - *tensor*: those that share each layer's matrices exchange activations in every layer, twice
//!   forward and twice backward (Shoeybi et al., "Megatron-LM", 2019, section 3), all-reduced or,
//!   with sequences divided too, gathered and reduce-scattered (Korthikanti et al., "Reducing
//!   Activation Recomputation in Large Transformer Models", 2022, section 4.2);
//! - *pipeline*: stages hand activations on and gradients back, microbatch by microbatch, in the
//!   order 1F1B (Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters
//!   Using Megatron-LM", 2021, section 2.2);
//! - *expert*: tokens go to their experts and back by all-to-all in every layer that has some
//!   (Lepikhin et al., "GShard", 2020, section 3.2); all experts get as many \[inferred\];
//! - *data*: replicas sum up gradients while the last backward pass still computes (Li et al.,
//!   "PyTorch Distributed", 2020, section 3.2), or keep a shard each of what there is
//!   ([`Sharding`]; Rajbhandari et al., "ZeRO", 2020, section 5; Zhao et al., "PyTorch FSDP",
//!   2023, section 3).
//!
//! What is left out: the optimizer's computation, the tied embeddings' exchange between first and
//! last stage, activations computed again, and dropped tokens. \[inferred: none is on the wire, or
//! it is small\]

mod algorithms;
mod error;
mod layout;
mod model;
mod passes;
mod presets;
mod program;
mod step;
mod unit;

pub use algorithms::Algorithms;
pub use error::TrainingError;
pub use layout::Degrees;
pub use model::{Attention, Experts, Family, Model};
pub use presets::{PRESETS, Preset, find};
pub use program::Class;

use crate::units::{Bytes, Flops};
use crate::workload::Workload;
use step::Step;

/// What replicas do not keep whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharding {
    /// Each has everything: gradients are all-reduced.
    #[default]
    None,
    /// The optimizer's state: gradients are reduce-scattered, and once all are there, updated
    /// parameters gathered (ZeRO stage 1, Megatron-LM's distributed optimizer).
    Optimizer,
    /// Everything: parameters of a layer are gathered before each pass over it, and its gradients
    /// reduce-scattered after each backward pass (ZeRO stage 3, FSDP).
    Full,
}

/// What those that share matrices exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TensorTraffic {
    /// Sums of activations, which all of them keep.
    #[default]
    AllReduce,
    /// Activations, of which each keeps its part of the sequence: gathered before, reduced and
    /// scattered after.
    Sequence,
}

/// How long numbers are on the wire, 1 to 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// A parameter.
    pub parameter: Bytes,
    /// A gradient.
    pub gradient: Bytes,
    /// An activation, or its gradient.
    pub activation: Bytes,
}

/// Iterations of a training, on hosts 0 to `degrees.ranks()`, excluded.
#[derive(Debug, Clone)]
pub struct Training {
    /// What is trained.
    pub model: Model,
    /// So many layers alone, the model's last, without embedding and output; all with both if
    /// none.
    pub layers: Option<u32>,
    /// Tokens of a sequence.
    pub sequence: u32,
    /// Sequences that go through the model at once.
    pub microbatch: u32,
    /// Microbatches of an iteration, in each pipeline.
    pub microbatches: u32,
    /// How many iterations follow each other.
    pub iterations: u32,
    /// How the model is spread.
    pub degrees: Degrees,
    /// What replicas do not keep whole.
    pub sharding: Sharding,
    /// What those that share matrices exchange.
    pub tensor_traffic: TensorTraffic,
    /// Gradients are sent once at least so many bytes of them have gathered on a host, and what
    /// is left at the end. Not with [`Sharding::Full`], which sends each layer's.
    pub bucket: Bytes,
    /// How long numbers are on the wire.
    pub widths: Widths,
    /// How fast a host computes, as it does: not what its maker says.
    pub flops: Flops,
    /// How collectives are done.
    pub algorithms: Algorithms,
    /// Every collective's vector is divided over so many channels with queue pairs of their own.
    pub channels: u32,
}

impl Training {
    /// Everything that hosts compute and send. Streams are numbered by [`Class`] and channel, so
    /// that groups of different kinds share no queue pairs.
    ///
    /// # Errors
    /// What does not fit together, or would be more than 2^25 messages.
    pub fn build(&self) -> Result<Workload, TrainingError> {
        self.check()?;
        Step::new(self)?.run()
    }

    fn check(&self) -> Result<(), TrainingError> {
        self.model.check()?;
        self.degrees.check(&self.model)?;
        let layers = self.layers.unwrap_or(self.model.layers);
        if layers > self.model.layers {
            return Err(TrainingError::TooManyLayers { layers, model: self.model.layers });
        }
        if layers < self.degrees.pipeline {
            return Err(TrainingError::TooFewLayers { layers, stages: self.degrees.pipeline });
        }
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
        let widths = [self.widths.parameter, self.widths.gradient, self.widths.activation];
        match widths.iter().all(|width| (1..=16).contains(&width.get())) {
            true => Ok(()),
            false => Err(TrainingError::Width),
        }
    }

    /// Tokens of a microbatch.
    fn tokens(&self) -> u64 {
        u64::from(self.microbatch) * u64::from(self.sequence)
    }
}

#[cfg(test)]
mod tests;
