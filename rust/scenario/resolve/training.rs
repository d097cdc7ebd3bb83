//! `[workload] kind = "training"`: a model, how it is spread, and on how many hosts.

use serde::{Deserialize, Serialize};

use crate::collective::Algorithms;
use crate::scenario::file::workload::WorkloadSection;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::resolve::workload::{Place, Sent, only, plain, unknown};
use crate::units::{Bytes, Flops};
use crate::workload::training::{
    self, Attention, Degrees, Experts, Model, ModelFamily, Sharding, TensorTraffic, Training,
    TrainingError, Widths,
};

/// What scenarios call it.
pub(in crate::scenario) const KIND: &str = "training";

/// The model where the section does not say.
const DEFAULT_MODEL: &str = "gpt-1.3b";

/// What a host computes in a second, where the section does not say: two fifths of what the maker
/// of a current accelerator promises for 16-bit numbers. \[inferred\]
const DEFAULT_FLOPS: Flops = Flops::from_tera(400);

/// A number on the wire, where the section does not say: 16 bits.
const DEFAULT_WIDTH: Bytes = Bytes::new(2);

/// A model by name, or its dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a model's name, or a table of its dimensions (layers, hidden, ffn, \
                               heads, kv_heads, vocabulary, sequence, family, experts, top_k, \
                               expert_ffn, shared_experts, dense_layers)"
)]
pub enum ModelChoice {
    /// A name that `evenkeel list models` knows.
    Name(String),
    /// Dimensions.
    Dimensions(Box<ModelSection>),
}

/// `model = { ... }`: the dimensions of a transformer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSection {
    /// Layers.
    pub layers: u32,
    /// Dimensions of a token between layers.
    pub hidden: u32,
    /// Inner dimensions of a feed-forward block: 4 times `hidden`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ffn: Option<u32>,
    /// Heads of queries, which divide `hidden`: one for each 128 of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heads: Option<u32>,
    /// Heads of keys and values: as many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv_heads: Option<u32>,
    /// Words: 0, no embedding and no output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<u32>,
    /// Tokens of a sequence: 2,048.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u32>,
    /// What it does as others do: `gpt` (two matrices in a block, biases) or `llama` (three,
    /// none): `gpt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<FamilyName>,
    /// Experts of a layer: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experts: Option<u32>,
    /// Experts that a token goes to: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Inner dimensions of an expert: `ffn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_ffn: Option<u32>,
    /// Experts that every token goes to besides: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_experts: Option<u32>,
    /// The first so many layers have no experts: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense_layers: Option<u32>,
}

/// Families of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FamilyName {
    /// As GPT-2 and GPT-3.
    Gpt,
    /// As Llama.
    Llama,
}

/// What replicas do not keep whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShardingName {
    /// They keep everything.
    #[default]
    None,
    /// The optimizer's state (ZeRO stage 1).
    Optimizer,
    /// Everything (ZeRO stage 3, FSDP).
    Full,
}

/// What hosts that share matrices exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TensorTrafficName {
    /// Sums of activations, by all-reduce.
    #[default]
    AllReduce,
    /// Parts of sequences, by all-gather and reduce-scatter.
    Sequence,
}

/// Keys of the kind.
const KEYS: [&str; 21] = [
    "model",
    "layers",
    "sequence",
    "microbatch",
    "microbatches",
    "iterations",
    "ranks",
    "tensor",
    "pipeline",
    "data",
    "expert",
    "sharding",
    "tensor_traffic",
    "bucket",
    "parameter_bytes",
    "gradient_bytes",
    "activation_bytes",
    "flops",
    "algorithms",
    "channels",
    "group",
];

/// The iterations of a section.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    only(context, typed, place, &KEYS)?;
    let model = model(context, typed, place)?;
    let degrees = degrees(context, typed, place)?;
    let sharding = typed.sharding.unwrap_or_default();
    if let (ShardingName::Full, Some(_)) = (sharding, typed.bucket) {
        let key = place.key("bucket");
        let because = "with sharding = \"full\" each layer's gradients are sent at once".to_owned();
        return Err(context.fault(&key.clone(), Fault::Misplaced { key, because }));
    }
    let width = |typed: Option<Bytes>| typed.unwrap_or(DEFAULT_WIDTH);
    let training = Training {
        layers: typed.layers,
        sequence: typed.sequence.unwrap_or(model.sequence),
        model,
        microbatch: typed.microbatch.unwrap_or(1),
        microbatches: typed.microbatches.unwrap_or(degrees.pipeline),
        iterations: typed.iterations.unwrap_or(1),
        degrees,
        sharding: match sharding {
            ShardingName::None => Sharding::None,
            ShardingName::Optimizer => Sharding::Optimizer,
            ShardingName::Full => Sharding::Full,
        },
        tensor_traffic: match typed.tensor_traffic.unwrap_or_default() {
            TensorTrafficName::AllReduce => TensorTraffic::AllReduce,
            TensorTrafficName::Sequence => TensorTraffic::Sequence,
        },
        bucket: typed.bucket.unwrap_or(Bytes::ZERO),
        widths: Widths {
            parameter: width(typed.parameter_bytes),
            gradient: width(typed.gradient_bytes),
            activation: width(typed.activation_bytes),
        },
        flops: typed.flops.unwrap_or(DEFAULT_FLOPS),
        algorithms: algorithms(context, typed, place)?,
        group: typed.group.unwrap_or(training::GROUP),
        channels: typed.channels.unwrap_or(1),
    };
    let workload = training.build().map_err(|error| {
        let key = place.key(key_of(&error));
        context.fault(&key.clone(), Fault::Training { key, error })
    })?;
    let section = section(typed, &training);
    Ok(Sent { section, workload, warnings: Vec::new() })
}

/// The section with its defaults.
fn section(typed: &WorkloadSection, training: &Training) -> WorkloadSection {
    let Degrees { tensor, pipeline, data, expert } = training.degrees;
    let full = training.sharding == Sharding::Full;
    WorkloadSection {
        model: Some(typed.model.clone().unwrap_or(ModelChoice::Name(DEFAULT_MODEL.to_owned()))),
        layers: typed.layers,
        sequence: Some(training.sequence),
        microbatch: Some(training.microbatch),
        microbatches: Some(training.microbatches),
        iterations: Some(training.iterations),
        tensor: Some(tensor),
        pipeline: Some(pipeline),
        data: Some(data),
        expert: Some(expert),
        sharding: Some(typed.sharding.unwrap_or_default()),
        tensor_traffic: Some(typed.tensor_traffic.unwrap_or_default()),
        bucket: (!full).then_some(training.bucket),
        parameter_bytes: Some(training.widths.parameter),
        gradient_bytes: Some(training.widths.gradient),
        activation_bytes: Some(training.widths.activation),
        flops: Some(training.flops),
        algorithms: typed.algorithms.clone(),
        channels: Some(training.channels),
        group: typed.group,
        ..plain(typed)
    }
}

fn model(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Model, ScenarioError> {
    let section = match &typed.model {
        Some(ModelChoice::Dimensions(section)) => section,
        choice => {
            let name = match choice {
                Some(ModelChoice::Name(name)) => name,
                _ => DEFAULT_MODEL,
            };
            let known = || training::MODELS.iter().map(|it| it.name).collect::<Vec<_>>();
            return training::find(name).map(|preset| preset.model).ok_or_else(|| {
                unknown(context, &place.key("model"), ("model", name), known().join(", "))
            });
        }
    };
    let heads = section.heads.unwrap_or((section.hidden / 128).max(1));
    if heads == 0 || section.hidden % heads != 0 {
        let right = format!("heads must divide hidden = {}", section.hidden);
        return Err(context.senseless(&place.key("model.heads"), heads, right));
    }
    let ffn = section.ffn.unwrap_or(section.hidden.saturating_mul(4));
    let of_experts = [
        ("top_k", section.top_k),
        ("expert_ffn", section.expert_ffn),
        ("shared_experts", section.shared_experts),
        ("dense_layers", section.dense_layers),
    ];
    if let (None, Some((key, _))) =
        (section.experts, of_experts.iter().find(|(_, value)| value.is_some()))
    {
        let key = place.key(&format!("model.{key}"));
        let because = "the model has no experts; give it some with experts = 8".to_owned();
        return Err(context.fault(&key.clone(), Fault::Misplaced { key, because }));
    }
    Ok(Model {
        family: match section.family.unwrap_or(FamilyName::Gpt) {
            FamilyName::Gpt => ModelFamily::Gpt,
            FamilyName::Llama => ModelFamily::Llama,
        },
        layers: section.layers,
        hidden: section.hidden,
        ffn,
        attention: Attention::Grouped {
            heads,
            kv_heads: section.kv_heads.unwrap_or(heads),
            head: section.hidden / heads,
        },
        vocabulary: section.vocabulary.unwrap_or(0),
        sequence: section.sequence.unwrap_or(2_048),
        experts: section.experts.map(|count| Experts {
            count,
            top_k: section.top_k.unwrap_or(2),
            ffn: section.expert_ffn.unwrap_or(ffn),
            shared: section.shared_experts.unwrap_or(0),
            dense_layers: section.dense_layers.unwrap_or(0),
        }),
    })
}

/// The degrees, which must come to the ranks.
fn degrees(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Degrees, ScenarioError> {
    let hosts = place.count();
    let ranks = typed.ranks.unwrap_or(hosts);
    if ranks == 0 || ranks > hosts {
        let right = format!("it must be from 1 to the number of hosts, {hosts}");
        return Err(context.senseless(&place.key("ranks"), ranks, right));
    }
    let [tensor, pipeline, expert] =
        [typed.tensor, typed.pipeline, typed.expert].map(|degree| degree.unwrap_or(1));
    let model_ranks = u64::from(tensor) * u64::from(pipeline);
    let fits = model_ranks > 0 && u64::from(ranks).is_multiple_of(model_ranks);
    let data = match typed.data {
        Some(data) => data,
        None if fits => (u64::from(ranks) / model_ranks) as u32,
        None => {
            let (key, value) = match typed.tensor {
                Some(tensor) => ("tensor", tensor),
                None => ("pipeline", pipeline),
            };
            let right = format!(
                "tensor = {tensor} times pipeline = {pipeline} must divide the {ranks} hosts that \
                 take part (ranks, hosts)"
            );
            return Err(context.senseless(&place.key(key), value, right));
        }
    };
    let product = u128::from(model_ranks) * u128::from(data);
    let exact = typed.ranks.is_some() || typed.hosts.is_some();
    if product > ranks.into() || exact && product != ranks.into() {
        let right = format!(
            "tensor = {tensor} times pipeline = {pipeline} times data = {data} is {product}; it \
             must be {}{ranks}",
            if exact { "" } else { "at most " }
        );
        return Err(context.senseless(&place.key("data"), data, right));
    }
    Ok(Degrees { tensor, pipeline, data, expert })
}

fn algorithms(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Algorithms, ScenarioError> {
    let mut algorithms = training::algorithms();
    for (operation, algorithm) in typed.algorithms.iter().flatten() {
        let key = place.key(&format!("algorithms.{operation}"));
        let known = algorithms.names(operation);
        if known.is_empty() {
            let known = algorithms.operations().collect::<Vec<_>>().join(", ");
            return Err(unknown(context, &key, ("operation", operation), known));
        }
        if !algorithms.choose(operation, algorithm) {
            return Err(unknown(context, &key, ("algorithm", algorithm), known.join(", ")));
        }
    }
    Ok(algorithms)
}

/// The key that an error is about.
fn key_of(error: &TrainingError) -> &'static str {
    match error {
        TrainingError::Zero { what } | TrainingError::TooLarge { what, .. } => match *what {
            "hidden" | "ffn" | "heads" | "kv_heads" | "head" | "vocabulary" | "experts"
            | "expert_ffn" | "shared_experts" => "model",
            key => key,
        },
        TrainingError::Heads { .. } | TrainingError::TopK { .. } => "model",
        TrainingError::Experts { .. }
        | TrainingError::NoExperts { .. }
        | TrainingError::ExpertsOfReplicas { .. } => "expert",
        TrainingError::TooManyLayers { .. } => "layers",
        TrainingError::TooFewLayers { .. } => "pipeline",
        TrainingError::Width => "parameter_bytes",
        TrainingError::Collective { .. } => "algorithms",
        TrainingError::TooManyMessages | TrainingError::TooManyBytes => "kind",
    }
}
