//! What a stage of a pipeline consists of: units, each with its parameters and computation.

use super::Training;

/// What a unit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words become numbers.
    Embedding,
    /// A layer with an ordinary feed-forward block.
    Dense,
    /// A layer with experts.
    Mixture,
    /// Numbers become words.
    Output,
}

/// A unit, as each rank of its stage has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub kind: Kind,
    /// Parameters that all replicas have alike.
    pub common: u64,
    /// Parameters of the experts that are on this rank.
    pub experts: u64,
    /// Operations that a microbatch takes forward: those of the attention, and those of what
    /// follows it.
    pub work: [u128; 2],
}

/// The units of a stage in the order of a forward pass.
pub(super) fn of_stage(training: &Training, stage: u32) -> Vec<Unit> {
    let model = &training.model;
    let stages = training.degrees.pipeline;
    let count = training.layers.unwrap_or(model.layers);
    // Layers that are left over go to the first stages.
    let start = |stage: u32| stage * (count / stages) + stage.min(count % stages);
    let skipped = model.layers - count;
    let whole = training.layers.is_none();
    let mut units = Vec::new();
    if whole && stage == 0 && model.vocabulary > 0 {
        units.push(unit(training, Kind::Embedding));
    }
    for layer in start(stage)..start(stage + 1) {
        let kind = if model.has_experts(skipped + layer) { Kind::Mixture } else { Kind::Dense };
        units.push(unit(training, kind));
    }
    if whole && stage == stages - 1 && model.vocabulary > 0 {
        units.push(unit(training, Kind::Output));
    }
    units
}

fn unit(training: &Training, kind: Kind) -> Unit {
    let (model, degrees) = (&training.model, training.degrees);
    let attention = model.attention_parameters();
    let (common, experts) = match kind {
        Kind::Embedding => (model.embedding_parameters(), 0),
        Kind::Dense => (attention + model.block_parameters(), 0),
        Kind::Mixture => {
            let own = model.experts.map_or(0, |it| u64::from(it.count / degrees.expert));
            (attention + model.common_parameters(), own * model.expert_parameters())
        }
        Kind::Output => (model.output_parameters(), 0),
    };
    let share = |parameters: u64| parameters.div_ceil(degrees.tensor.into());
    Unit { kind, common: share(common), experts: share(experts), work: work(training, kind) }
}

/// Two operations for each parameter that a token meets, and those of tokens that look at others.
fn work(training: &Training, kind: Kind) -> [u128; 2] {
    let model = &training.model;
    let attention = 2 * u128::from(model.attention_parameters()) + model.looks(training.sequence);
    let met = match kind {
        Kind::Embedding => 0,
        Kind::Dense => model.block_parameters(),
        Kind::Mixture => {
            let chosen = model.experts.map_or(0, |it| u64::from(it.top_k));
            model.common_parameters() + chosen * model.expert_parameters()
        }
        Kind::Output => u64::from(model.vocabulary) * u64::from(model.hidden),
    };
    let attends = matches!(kind, Kind::Dense | Kind::Mixture);
    let tokens = u128::from(training.tokens());
    let share = |each: u128| (each * tokens).div_ceil(training.degrees.tensor.into());
    [if attends { share(attention) } else { 0 }, share(2 * u128::from(met))]
}
