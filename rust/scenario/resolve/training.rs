//! `[workload] kind = "training"`: a model, its parallelism, and the number of hosts.

use super::algorithms;
use super::site::{ResolvedWorkload, Site};
use crate::file::workload::training::{
    FamilyName, ModelChoice, ModelSection, ShardingName, TensorTrafficName, TrainingSection,
};
use crate::input::context::{Context, LONGEST_SPAN, Lookup};
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::input::section::Section;
use crate::training::{
    self, Attention, Degrees, Experts, Model, ModelFamily, Sharding, TensorTraffic, Training,
    TrainingError, Widths,
};
use crate::units::Bytes;
use crate::workload::StepAfter;

/// The iterations of a section.
pub(super) fn resolve(
    site: &Site<'_>,
    section: &mut TrainingSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let context = &site.context;
    let model = model(context, &section.model)?;
    let degrees = degrees(site, section)?;
    check_heads(context, section, &model, degrees.tensor)?;
    let sharding = sharding(*section.sharding);
    if sharding == Sharding::Full && section.bucket.is_some() {
        let because = "with sharding = \"full\" each layer's gradients are sent at once";
        return Err(context.misplaced(section.bucket.key(), because));
    }
    let bucket = match sharding {
        Sharding::Full => Bytes::ZERO,
        _ => *section.bucket.fill(Bytes::ZERO),
    };
    let training = Training {
        layers: *section.layers,
        sequence: *section.sequence.fill(model.sequence),
        model,
        microbatch: *section.microbatch,
        microbatches: *section.microbatches.fill(degrees.pipeline),
        iterations: *section.iterations,
        degrees,
        sharding,
        tensor_traffic: match *section.tensor_traffic {
            TensorTrafficName::AllReduce => TensorTraffic::AllReduce,
            TensorTrafficName::Sequence => TensorTraffic::Sequence,
        },
        bucket,
        widths: Widths {
            parameter: *section.parameter_bytes,
            gradient: *section.gradient_bytes,
            activation: *section.activation_bytes,
        },
        flops: *section.flops,
        algorithms: algorithms::resolve(context, &section.algorithms, training::algorithms())?,
        group: section.group.unwrap_or_else(|| {
            site.ground.topology.scale_up().map_or(training::GROUP, |scale_up| scale_up.gpus)
        }),
        channels: *section.channels,
    };
    let workload = training.build().map_err(|error| refused(site, section, error))?;
    if workload.delays.iter().any(|delay| delay.span > LONGEST_SPAN) {
        let expected = "a computation would never end, or after more than 100,000 s; write a rate \
                        such as 400Tflops";
        return Err(context.invalid(&section.flops, expected));
    }
    Ok(StepAfter::from(*section.step_after).apply(workload).into())
}

/// Refuses a degree of tensor parallelism that cuts heads.
fn check_heads(
    context: &Context<'_>,
    section: &TrainingSection,
    model: &Model,
    tensor: u32,
) -> Result<(), ScenarioError> {
    let (Attention::Grouped { heads, .. } | Attention::Latent { heads, .. }) = model.attention;
    let has_heads = match &*section.model {
        ModelChoice::Dimensions(model) => model.heads.is_some(),
        ModelChoice::Name(_) => true,
    };
    if has_heads && tensor > 0 && heads % tensor != 0 {
        let expected = format!(
            "each rank of a tensor-parallel group computes whole heads; write a divisor of {heads}"
        );
        return Err(context.invalid(&section.tensor, expected));
    }
    Ok(())
}

const fn sharding(name: ShardingName) -> Sharding {
    match name {
        ShardingName::None => Sharding::None,
        ShardingName::Optimizer => Sharding::Optimizer,
        ShardingName::Full => Sharding::Full,
    }
}

fn model(context: &Context<'_>, choice: &Located<ModelChoice>) -> Result<Model, ScenarioError> {
    match &**choice {
        ModelChoice::Dimensions(section) => dimensions(context, section),
        ModelChoice::Name(name) => training::find(name).map(|it| it.model).ok_or_else(|| {
            let known: Vec<&str> = training::MODELS.iter().map(|preset| preset.name).collect();
            context.unknown(choice.key(), Lookup { what: "model", name, known: &known })
        }),
    }
}

/// The model of a table of dimensions.
fn dimensions(context: &Context<'_>, section: &ModelSection) -> Result<Model, ScenarioError> {
    let needed = |count: &Located<Option<u32>>, example: &str| {
        let because = "a model has layers and hidden dimensions";
        count.ok_or_else(|| context.missing(count.key(), because, example))
    };
    let layers = needed(&section.layers, "layers = 24")?;
    let hidden = needed(&section.hidden, "hidden = 2048")?;
    let heads = section.heads.with(section.heads.unwrap_or((hidden / 128).max(1)));
    if *heads == 0 || hidden % *heads != 0 {
        return Err(context.invalid(&heads, format!("heads must divide hidden = {hidden}")));
    }
    let ffn = section.ffn.unwrap_or(hidden.saturating_mul(4));
    Ok(Model {
        family: match *section.family {
            FamilyName::Gpt => ModelFamily::Gpt,
            FamilyName::Llama => ModelFamily::Llama,
        },
        layers,
        hidden,
        ffn,
        attention: Attention::Grouped {
            heads: *heads,
            kv_heads: section.kv_heads.unwrap_or(*heads),
            head: hidden / *heads,
        },
        vocabulary: *section.vocabulary,
        sequence: *section.sequence,
        experts: experts(context, section, ffn)?,
    })
}

/// The experts of a model, if it has any; `ffn` are the inner dimensions of its other blocks.
fn experts(
    context: &Context<'_>,
    section: &ModelSection,
    ffn: u32,
) -> Result<Option<Experts>, ScenarioError> {
    let Some(count) = *section.experts else {
        let of_experts =
            [&section.top_k, &section.expert_ffn, &section.shared_experts, &section.dense_layers];
        return match of_experts.into_iter().find(|key| key.is_some()) {
            None => Ok(None),
            Some(typed) => {
                let because = "the model has no experts; add them with experts = 8";
                Err(context.misplaced(typed.key(), because))
            }
        };
    };
    let layers = section.layers.unwrap_or(u32::MAX);
    if let Some(dense) = section.dense_layers.given().filter(|dense| **dense >= layers) {
        let expected = format!("with {layers} layers no layer has experts; write a lower number");
        return Err(context.invalid(&dense, expected));
    }
    Ok(Some(Experts {
        count,
        top_k: section.top_k.unwrap_or(2),
        ffn: section.expert_ffn.unwrap_or(ffn),
        shared: section.shared_experts.unwrap_or(0),
        dense_layers: section.dense_layers.unwrap_or(0),
    }))
}

/// The degrees of parallelism, whose product must be the number of ranks.
fn degrees(site: &Site<'_>, section: &mut TrainingSection) -> Result<Degrees, ScenarioError> {
    let (context, hosts) = (&site.context, site.count());
    let ranks = section.ranks.with(section.ranks.unwrap_or(hosts));
    if !(1..=hosts).contains(&*ranks) {
        let expected = format!("it must be from 1 to the number of hosts, {hosts}");
        return Err(context.invalid(&ranks, expected));
    }
    let (tensor, pipeline, expert) = (*section.tensor, *section.pipeline, *section.expert);
    let model_ranks = u64::from(tensor) * u64::from(pipeline);
    let fits = model_ranks > 0 && u64::from(*ranks).is_multiple_of(model_ranks);
    if section.data.is_none() && !fits {
        let degree = match context.typed(section.tensor.key()) {
            Some(_) => &section.tensor,
            None => &section.pipeline,
        };
        let expected = format!(
            "tensor = {tensor} times pipeline = {pipeline} must divide the {ranks} hosts that \
             take part (ranks, hosts)"
        );
        return Err(context.invalid(degree, expected));
    }
    let data = match section.data.given() {
        Some(data) => data,
        None => section.data.fill((u64::from(*ranks) / model_ranks) as u32),
    };
    let product = u128::from(model_ranks) * u128::from(*data);
    let exact = section.ranks.is_some() || site.common.hosts.is_some();
    if product > u128::from(*ranks) || exact && product != u128::from(*ranks) {
        let expected = format!(
            "tensor = {tensor} times pipeline = {pipeline} times data = {data} is {product}; it \
             must be {}{ranks}",
            if exact { "" } else { "at most " }
        );
        return Err(context.invalid(&data, expected));
    }
    Ok(Degrees { tensor, pipeline, data: *data, expert })
}

/// The fault of a training that cannot be built.
fn refused(site: &Site<'_>, section: &TrainingSection, error: TrainingError) -> ScenarioError {
    let context = &site.context;
    let of_model = |pick: fn(&ModelSection) -> &Key| match &*section.model {
        ModelChoice::Dimensions(model) => pick(model),
        ModelChoice::Name(_) => section.model.key(),
    };
    let key = match error {
        TrainingError::Zero { what } => {
            return context.invalid_as(&key_named(section, what), "0", "it must be at least 1");
        }
        // Heads have no key for their dimensions.
        TrainingError::TooLarge { what: "model.head", .. } => of_model(|it| it.heads.key()),
        TrainingError::TooLarge { what, value, max } => {
            let (key, expected) = (key_named(section, what), format!("it must be at most {max}"));
            return context.invalid_as(&key, value.to_string(), expected);
        }
        TrainingError::Heads { .. } => of_model(|it| it.kv_heads.key()),
        TrainingError::TopK { .. } => of_model(|it| it.top_k.key()),
        TrainingError::Experts { .. }
        | TrainingError::NoExperts { .. }
        | TrainingError::ExpertsOfReplicas { .. } => section.expert.key(),
        TrainingError::TooManyLayers { .. } => section.layers.key(),
        TrainingError::TooFewLayers { .. } => section.pipeline.key(),
        TrainingError::Width => section.parameter_bytes.key(),
        TrainingError::Collective { .. } => section.algorithms.key(),
        TrainingError::TooManyMessages | TrainingError::TooManyBytes => site.kind.key(),
    };
    context.fault(key, Fault::Training { key: key.to_string(), error })
}

/// The key of a parameter; those of the model are below `model`.
fn key_named(section: &TrainingSection, what: &str) -> Key {
    let key = match (what.strip_prefix("model."), &*section.model) {
        (Some(name), ModelChoice::Dimensions(model)) => model.key_named(name),
        (Some(_), ModelChoice::Name(_)) => None,
        (None, _) => section.key_named(what),
    };
    key.unwrap_or_else(|| section.model.key().clone())
}
