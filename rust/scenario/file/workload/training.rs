//! `kind = "training"` as written in the file.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::generated::StepAfterName;
use crate::input::located::Key;
use crate::input::section::{Form, Section, Value, named, section};
use crate::units::{Bytes, Flops};

/// The model of a training without the key `model`.
const DEFAULT_MODEL: &str = "gpt-1.3b";

/// The default rate of computation: two fifths of the specified rate of a current accelerator for
/// 16-bit numbers. \[inferred\]
const DEFAULT_FLOPS: Flops = Flops::from_tera(400);

/// The default length of a number on the wire: 16 bits.
const DEFAULT_WIDTH: Bytes = Bytes::new(2);

section! {
    /// `kind = "training"`.
    pub struct TrainingSection {
        /// The model: its name, or a table of its dimensions.
        model: ModelChoice = ModelChoice::Name(DEFAULT_MODEL.to_owned()),
        /// The number of layers that are simulated, without embedding and output.
        layers?: u32 = "all, with embedding and output",
        /// Tokens of a sequence.
        sequence?: u32 = "the model's",
        /// Sequences of a microbatch.
        microbatch: u32 = 1,
        /// Microbatches of an iteration, in each pipeline.
        microbatches?: u32 = "as many as `pipeline`",
        /// Iterations.
        iterations: u32 = 1,
        /// The number of hosts: the first ones of `hosts`.
        ranks?: u32 = "`tensor` times `pipeline` times `data`",
        /// Hosts that share each layer's matrices.
        tensor: u32 = 1,
        /// Stages of the pipeline.
        pipeline: u32 = 1,
        /// Replicas of the model.
        data?: u32 = "all hosts, divided by `tensor` times `pipeline`",
        /// Replicas among which experts are spread.
        expert: u32 = 1,
        /// The state that is divided among replicas: nothing, the optimizer's state (ZeRO stage 1),
        /// or everything (ZeRO stage 3, FSDP).
        sharding: ShardingName = ShardingName::default(),
        /// The exchange among hosts that share matrices: sums of activations, or parts of
        /// sequences.
        tensor_traffic: TensorTrafficName = TensorTrafficName::default(),
        /// The size from which on gradients are sent. Not with `sharding = "full"`.
        bucket?: Bytes = "0 B: each layer's at once",
        /// A parameter on the wire.
        parameter_bytes: Bytes = DEFAULT_WIDTH,
        /// A gradient on the wire.
        gradient_bytes: Bytes = DEFAULT_WIDTH,
        /// An activation on the wire.
        activation_bytes: Bytes = DEFAULT_WIDTH,
        /// The rate at which a host computes \[inferred\].
        flops: Flops = DEFAULT_FLOPS,
        /// The algorithm of each operation: `{ all-reduce = "ring" }`.
        algorithms?: BTreeMap<String, String> = "the first algorithm of each operation",
        /// Channels among which each operation is divided, each with queue pairs of its own.
        channels: u32 = 1,
        /// Hierarchical algorithms: the number of neighbouring ranks in a machine.
        group?: u32 = "topology.scale_up.gpus, or 8",
        /// When a rank that waits for a message goes on: when it has all of the message, or when
        /// the sender has the last acknowledgement.
        step_after: StepAfterName = StepAfterName::default(),
    }
}

/// A model by name, or its dimensions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ModelChoice {
    /// A name that `evenkeel list models` shows.
    Name(String),
    /// Dimensions of a model that has no name here.
    Dimensions(Box<ModelSection>),
}

impl Value for ModelChoice {
    fn form() -> Form {
        let text = "name that `evenkeel list models` shows, or a table".to_owned();
        Form { text, keys: ModelSection::keys() }
    }

    fn locate(&mut self, key: &Key) {
        if let Self::Dimensions(section) = self {
            section.locate(key);
        }
    }
}

impl<'de> Deserialize<'de> for ModelChoice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = ModelChoice;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let keys = ModelSection::NAMES.join(", ");
                write!(f, "a model's name, or a table of its dimensions ({keys})")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<ModelChoice, E> {
                Ok(ModelChoice::Name(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ModelChoice, A::Error> {
                let section = ModelSection::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ModelChoice::Dimensions(Box::new(section)))
            }
        }
        from.deserialize_map(NameOrTable)
    }
}

section! {
    /// `model = { ... }`: the dimensions of a transformer.
    pub struct ModelSection {
        /// Layers.
        layers?: u32 = "required",
        /// Dimensions of a token between layers.
        hidden?: u32 = "required",
        /// Inner dimensions of a feed-forward block.
        ffn?: u32 = "4 times `hidden`",
        /// Heads of queries, which divide `hidden`.
        heads?: u32 = "one for each 128 of `hidden`",
        /// Heads of keys and values.
        kv_heads?: u32 = "as many as `heads`",
        /// Words of the vocabulary; 0 means no embedding and no output.
        vocabulary: u32 = 0,
        /// Tokens of a sequence.
        sequence: u32 = 2_048,
        /// The architecture: `gpt` has two matrices in a feed-forward block and biases, `llama`
        /// has three and none.
        family: FamilyName = FamilyName::Gpt,
        /// Experts of a layer.
        experts?: u32 = "none",
        /// Experts to which a token is sent.
        top_k?: u32 = "2",
        /// Inner dimensions of an expert.
        expert_ffn?: u32 = "`ffn`",
        /// Additional experts to which every token is sent.
        shared_experts?: u32 = "0",
        /// The number of first layers without experts.
        dense_layers?: u32 = "0",
    }
}

/// The architectures that a model can name as its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FamilyName {
    /// As GPT-2 and GPT-3.
    Gpt,
    /// The architecture of Llama: gated blocks and no biases.
    Llama,
}

/// The state that is divided among replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShardingName {
    /// Nothing: each replica has all state.
    #[default]
    None,
    /// The optimizer's state (ZeRO stage 1).
    Optimizer,
    /// Everything (ZeRO stage 3, FSDP).
    Full,
}

/// The exchange among hosts that share matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TensorTrafficName {
    /// Sums of activations, by all-reduce.
    #[default]
    AllReduce,
    /// Parts of sequences, by all-gather and reduce-scatter.
    Sequence,
}

named! { FamilyName, ShardingName, TensorTrafficName }
