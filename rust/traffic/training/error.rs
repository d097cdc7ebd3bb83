//! Errors of building a training.

use thiserror::Error;

use crate::collective::CollectiveError;

/// Reason why a training cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TrainingError {
    /// A parameter is zero.
    #[error("{what} = 0 is too small; expected at least 1")]
    Zero {
        /// Name of the parameter as in scenarios; model parameters start with `model.`.
        what: &'static str,
    },
    /// A parameter is too large.
    #[error("{what} = {value} is too large; expected at most {max}")]
    TooLarge {
        /// Name of the parameter as in scenarios; model parameters start with `model.`.
        what: &'static str,
        /// The given value.
        value: u32,
        /// The largest allowed value.
        max: u32,
    },
    /// The number of key-value heads does not divide that of query heads.
    #[error("{kv_heads} key-value heads do not divide {heads} query heads")]
    Heads {
        /// Number of query heads.
        heads: u32,
        /// Number of key-value heads.
        kv_heads: u32,
    },
    /// The number of experts per token is out of range.
    #[error("top_k = {top_k} is out of range; with {experts} experts expected 1 to {experts}")]
    TopK {
        /// Number of experts per token.
        top_k: u32,
        /// Number of experts per layer.
        experts: u32,
    },
    /// The experts do not divide evenly among the expert-parallel ranks.
    #[error("expert = {expert} does not divide the model's {experts} experts")]
    Experts {
        /// The degree of expert parallelism.
        expert: u32,
        /// Number of experts per layer.
        experts: u32,
    },
    /// Expert parallelism was requested for a model without experts.
    #[error("expert = {expert}, but the model has no experts; write expert = 1")]
    NoExperts {
        /// The degree of expert parallelism.
        expert: u32,
    },
    /// The replicas do not divide evenly into expert-parallel groups.
    #[error(
        "expert = {expert} does not divide data = {data}; experts are spread over replicas, so \
         write a divisor of {data}"
    )]
    ExpertsOfReplicas {
        /// The degree of expert parallelism.
        expert: u32,
        /// Number of replicas: the degree of data parallelism.
        data: u32,
    },
    /// There are more layers than the model has.
    #[error("{layers} layers are too many; the model has {model}")]
    TooManyLayers {
        /// The given number.
        layers: u32,
        /// Layers of the model.
        model: u32,
    },
    /// There are fewer layers than pipeline stages.
    #[error("{layers} layers are too few for {stages} pipeline stages; each needs at least 1")]
    TooFewLayers {
        /// Number of layers to simulate.
        layers: u32,
        /// Number of pipeline stages: the degree of pipeline parallelism.
        stages: u32,
    },
    /// The size of a number is out of range.
    #[error("sizes of parameters, gradients and activations are out of range; expected 1B to 16B")]
    Width,
    /// There are more than 2^25 messages or delays.
    #[error(
        "more than 2^25 messages or delays; simulate fewer layers (layers), microbatches or \
         iterations, or select an algorithm with fewer messages"
    )]
    TooManyMessages,
    /// The total number of bytes exceeds 64 bits.
    #[error("more than 2^64 bytes in total")]
    TooManyBytes,
    /// A collective cannot be built.
    #[error("{class}: {error}")]
    Collective {
        /// The ranks of the collective.
        class: &'static str,
        /// The reason why the collective cannot be built.
        error: CollectiveError,
    },
}
