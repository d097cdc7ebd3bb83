//! Why a training is none.

use thiserror::Error;

use crate::collective::CollectiveError;

/// Why a training is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TrainingError {
    /// Nothing where at least one is needed.
    #[error("0 {what}: it must be at least 1")]
    Zero {
        /// Of what, as scenarios call it.
        what: &'static str,
    },
    /// A dimension beyond what anybody builds.
    #[error("{what} = {value}: at most {most} can be counted here")]
    TooLarge {
        /// Of what, as scenarios call it.
        what: &'static str,
        /// What was given.
        value: u32,
        /// What would still do.
        most: u32,
    },
    /// Heads that cannot share keys and values.
    #[error("{heads} heads with {kv_heads} for keys and values: these must divide the heads")]
    Heads {
        /// Heads of queries.
        heads: u32,
        /// Heads of keys and values.
        kv_heads: u32,
    },
    /// More experts for a token than there are.
    #[error("top_k = {top_k} of {experts} experts: a token goes to 1 to {experts} of them")]
    TopK {
        /// What was given.
        top_k: u32,
        /// How many there are.
        experts: u32,
    },
    /// Experts that cannot be spread evenly.
    #[error("expert = {expert} does not divide the model's {experts} experts")]
    Experts {
        /// Over how many they are to be spread.
        expert: u32,
        /// How many there are.
        experts: u32,
    },
    /// A model without experts.
    #[error("expert = {expert}: the model has no experts that could be spread; write expert = 1")]
    NoExperts {
        /// What was given.
        expert: u32,
    },
    /// Experts are spread over replicas.
    #[error(
        "expert = {expert} does not divide data = {data}: experts are spread over replicas; take a \
         divisor of {data}"
    )]
    ExpertsOfReplicas {
        /// Over how many they are to be spread.
        expert: u32,
        /// How many replicas there are.
        data: u32,
    },
    /// More of them than the model has.
    #[error("{layers} layers of a model that has {model}")]
    TooManyLayers {
        /// What was given.
        layers: u32,
        /// How many the model has.
        model: u32,
    },
    /// A stage without any.
    #[error("{layers} layers in {stages} stages of a pipeline: each stage needs one at least")]
    TooFewLayers {
        /// How many there are.
        layers: u32,
        /// How many stages.
        stages: u32,
    },
    /// A number on the wire that nobody uses.
    #[error("a parameter, a gradient and an activation have 1B to 16B each")]
    Width,
    /// More messages or delays than can be held.
    #[error(
        "more than 2^25 messages or delays; simulate fewer layers (layers), microbatches or \
         iterations, or take an algorithm with fewer messages"
    )]
    TooManyMessages,
    /// More bytes than can be counted.
    #[error("more than 2^64 bytes in all")]
    TooManyBytes,
    /// A collective that cannot be.
    #[error("{class}: {error}")]
    Collective {
        /// Among whom.
        class: &'static str,
        /// Why.
        error: CollectiveError,
    },
}
