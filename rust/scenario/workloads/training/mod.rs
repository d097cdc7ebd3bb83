//! Training iterations of a transformer: the model, its parallelism and the number of hosts.

pub(crate) mod model;

use std::collections::BTreeMap;

use super::{
    Bytes, ORDER, Requirement, ResolvedWorkload, ScenarioError, Work, WorkloadInputs, algorithms,
    section,
};
use crate::input::context::{Context, LONGEST_SPAN};
use crate::input::error::Fault;
use crate::input::located::Key;
use crate::input::section::{Section, named};
use crate::training::{
    self, Attention, Degrees, Model, Sharding, TensorTraffic, Training, TrainingError, Widths,
};
use crate::units::Flops;
use crate::workload::StepAfter;
use model::{ModelChoice, ModelSection, model};

/// Model of a training workload that names none.
const DEFAULT_MODEL: &str = "gpt-1.3b";

/// Default compute rate: two fifths of the specified 16-bit rate of a current accelerator.
/// \[inferred\]
const DEFAULT_FLOPS: Flops = Flops::from_tera(400);

/// Default size of a number on the wire: 16 bits.
const DEFAULT_WIDTH: Bytes = Bytes::new(2);

section! {
    /// `kind = "training"`.
    pub struct TrainingSection {
        /// Model name, or a table of dimensions.
        model: ModelChoice = ModelChoice::Name(DEFAULT_MODEL.to_owned()),
        /// Simulated layers, without embedding and output.
        layers?: u32 = "all, with embedding and output",
        /// Tokens per sequence.
        sequence?: u32 = "the model's",
        /// Sequences per microbatch.
        microbatch: u32 = 1,
        /// Microbatches per iteration and pipeline.
        microbatches?: u32 = "as many as `pipeline`",
        /// Number of iterations.
        iterations: u32 = 1,
        /// Number of ranks (the first of `hosts`).
        ranks?: u32 = "`tensor` times `pipeline` times `data`",
        /// Hosts that share each layer's matrices.
        tensor: u32 = 1,
        /// Pipeline stages.
        pipeline: u32 = 1,
        /// Replicas of the model.
        data?: u32 = "all hosts, divided by `tensor` times `pipeline`",
        /// Replicas that share the experts.
        expert: u32 = 1,
        /// State divided among replicas: none, the optimizer's (ZeRO stage 1) or all (ZeRO stage 3,
        /// FSDP).
        sharding: Sharding = Sharding::default(),
        /// Exchange in `tensor` groups: sums of activations, or parts of sequences.
        tensor_traffic: TensorTraffic = TensorTraffic::default(),
        /// Size at which gradients are sent. Not with `sharding = "full"`.
        bucket?: Bytes = "0 B: each layer's at once",
        /// Parameter size on the wire.
        parameter_bytes: Bytes = DEFAULT_WIDTH,
        /// Gradient size on the wire.
        gradient_bytes: Bytes = DEFAULT_WIDTH,
        /// Activation size on the wire.
        activation_bytes: Bytes = DEFAULT_WIDTH,
        /// Compute rate of a host \[inferred\].
        flops: Flops = DEFAULT_FLOPS,
        /// Algorithm per operation: `{ all-reduce = "ring" }`.
        algorithms?: BTreeMap<String, String> = "the first algorithm of each operation",
        /// Channels that share each operation, each with its own queue pairs.
        channels: u32 = 1,
        /// Hierarchical algorithms: consecutive ranks per machine.
        group?: u32 = "topology.scale_up.gpus, or 8",
        /// Continues a waiting rank on `delivery`, or on the last `acknowledgement` at the sender.
        step_after: StepAfter = StepAfter::default(),
    }
}

named! { Sharding, TensorTraffic }

impl Work for TrainingSection {
    const NAME: &'static str = "training";
    const SUMMARY: &'static str =
        "Iterations of a transformer: tensor, pipeline, data and expert parallelism";
    const SOURCE: &'static str =
        "Narayanan et al., Efficient Large-Scale Language Model Training, 2021";

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        resolve(inputs, self)
    }

    fn requirements(&self, is_ordered: bool) -> Vec<Requirement<'_>> {
        let shares = Requirement {
            key: self.tensor_traffic.key(),
            is_met: *self.tensor > 1,
            words: "hosts that share matrices (tensor above 1)",
        };
        let step = Requirement { key: self.step_after.key(), is_met: is_ordered, words: ORDER };
        vec![shares, step]
    }
}

/// Resolves the iterations of a section.
fn resolve(
    inputs: &WorkloadInputs<'_>,
    section: &mut TrainingSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let context = &inputs.context;
    let model = model(context, &section.model)?;
    let degrees = degrees(inputs, section)?;
    check_heads(context, section, &model, degrees.tensor)?;
    let sharding = *section.sharding;
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
        tensor_traffic: *section.tensor_traffic,
        bucket,
        widths: Widths {
            parameter: *section.parameter_bytes,
            gradient: *section.gradient_bytes,
            activation: *section.activation_bytes,
        },
        flops: *section.flops,
        algorithms: algorithms::resolve(context, &section.algorithms, training::algorithms())?,
        group: section.group.unwrap_or_else(|| {
            inputs.shared.topology.scale_up().map_or(training::GROUP, |scale_up| scale_up.gpus)
        }),
        channels: *section.channels,
    };
    let workload = training.build().map_err(|error| fault_of(inputs, section, error))?;
    if workload.delays.iter().any(|delay| delay.span > LONGEST_SPAN) {
        let expected = "a computation would take more than 100,000 s; use a rate such as 400Tflops";
        return Err(context.invalid(&section.flops, expected));
    }
    Ok(section.step_after.apply(workload).into())
}

/// Rejects a degree of tensor parallelism that would split heads.
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

/// Returns the degrees of parallelism. Their product must be the number of ranks.
fn degrees(
    inputs: &WorkloadInputs<'_>,
    section: &mut TrainingSection,
) -> Result<Degrees, ScenarioError> {
    let (context, hosts) = (&inputs.context, inputs.count());
    let ranks = section.ranks.with(section.ranks.unwrap_or(hosts));
    if !(1..=hosts).contains(&*ranks) {
        let expected = format!("it must be from 1 to the number of hosts, {hosts}");
        return Err(context.invalid(&ranks, expected));
    }
    let (tensor, pipeline, expert) = (*section.tensor, *section.pipeline, *section.expert);
    let model_ranks = u64::from(tensor) * u64::from(pipeline);
    let fits = model_ranks > 0 && u64::from(*ranks).is_multiple_of(model_ranks);
    if section.data.is_none() && !fits {
        let degree = match context.as_written(section.tensor.key()) {
            Some(_) => &section.tensor,
            None => &section.pipeline,
        };
        let expected = format!(
            "tensor = {tensor} times pipeline = {pipeline} must divide the {ranks} participating \
             hosts (ranks, hosts)"
        );
        return Err(context.invalid(degree, expected));
    }
    let data = match section.data.given() {
        Some(data) => data,
        None => section.data.fill((u64::from(*ranks) / model_ranks) as u32),
    };
    let product = u128::from(model_ranks) * u128::from(*data);
    let exact = section.ranks.is_some() || inputs.common.hosts.is_some();
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

/// Returns the fault of a training workload that cannot be built.
fn fault_of(
    inputs: &WorkloadInputs<'_>,
    section: &TrainingSection,
    error: TrainingError,
) -> ScenarioError {
    let context = &inputs.context;
    let of_model = |pick: fn(&ModelSection) -> &Key| match &*section.model {
        ModelChoice::Dimensions(model) => pick(model),
        ModelChoice::Name(_) => section.model.key(),
    };
    let key = match error {
        TrainingError::Zero { what } => {
            return context.invalid_as(&key_named(section, what), "0", "it must be at least 1");
        }
        // The head dimension has no key of its own.
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
        TrainingError::TooManyMessages | TrainingError::TooManyBytes => inputs.kind.key(),
    };
    context.fault(key, Fault::Training { key: key.to_string(), error })
}

/// Returns the key of a parameter. Those of the model are below `model`.
fn key_named(section: &TrainingSection, what: &str) -> Key {
    let key = match (what.strip_prefix("model."), &*section.model) {
        (Some(name), ModelChoice::Dimensions(model)) => model.key_named(name),
        (Some(_), ModelChoice::Name(_)) => None,
        (None, _) => section.key_named(what),
    };
    key.unwrap_or_else(|| section.model.key().clone())
}
