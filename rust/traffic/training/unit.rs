//! The units of a pipeline stage, with their parameters and computation.

use super::Training;

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitKind {
    Embedding,
    /// A layer with an ordinary feed-forward block.
    Dense,
    /// A layer with experts.
    Mixture,
    Output,
}

/// A number of parameters, divided by the ranks that have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ParameterCount {
    /// Parameters that all replicas have.
    pub common: u64,
    /// Parameters of experts, which only the replicas with the same experts have.
    pub experts: u64,
}

/// A unit; all ranks of its stage have an equal share of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub kind: UnitKind,
    /// Parameters on each rank.
    pub parameters: ParameterCount,
    /// Operations of each rank for the attention of a microbatch in a forward pass.
    pub attention: u128,
    /// Operations of each rank for the rest of the unit.
    pub block: u128,
}

/// The units of a stage in the order of a forward pass.
pub(super) fn of_stage(training: &Training, stage: u32) -> Vec<Unit> {
    let model = &training.model;
    let stages = training.degrees.pipeline;
    let count = training.layers.unwrap_or(model.layers);
    // The first stages have one layer more if layers do not divide evenly.
    let start = |stage: u32| stage * (count / stages) + stage.min(count % stages);
    let skipped = model.layers - count;
    let whole = training.layers.is_none();
    let mut units = Vec::new();
    if whole && stage == 0 && model.vocabulary > 0 {
        units.push(unit(training, UnitKind::Embedding));
    }
    for layer in start(stage)..start(stage + 1) {
        let has_experts = model.has_experts(skipped + layer);
        let kind = if has_experts { UnitKind::Mixture } else { UnitKind::Dense };
        units.push(unit(training, kind));
    }
    if whole && stage == stages - 1 && model.vocabulary > 0 {
        units.push(unit(training, UnitKind::Output));
    }
    units
}

fn unit(training: &Training, kind: UnitKind) -> Unit {
    let (model, degrees) = (&training.model, training.degrees);
    let attention = model.attention_parameters();
    let (common, experts) = match kind {
        UnitKind::Embedding => (model.embedding_parameters(), 0),
        UnitKind::Dense => (attention + model.block_parameters(), 0),
        UnitKind::Mixture => {
            let own = model.experts.map_or(0, |it| u64::from(it.count / degrees.expert));
            (attention + model.common_parameters(), own * model.expert_parameters())
        }
        UnitKind::Output => (model.output_parameters(), 0),
    };
    let share = |parameters: u64| parameters.div_ceil(degrees.tensor.into());
    let parameters = ParameterCount { common: share(common), experts: share(experts) };
    let operations = |per_token: u128| {
        (per_token * u128::from(training.tokens())).div_ceil(degrees.tensor.into())
    };
    Unit {
        kind,
        parameters,
        attention: operations(attention_per_token(training, kind)),
        block: operations(2 * u128::from(block_parameters(training, kind))),
    }
}

/// Operations of the attention per token: two for each parameter, and those of the scores and
/// weighted values.
fn attention_per_token(training: &Training, kind: UnitKind) -> u128 {
    let model = &training.model;
    match kind {
        UnitKind::Embedding | UnitKind::Output => 0,
        UnitKind::Dense | UnitKind::Mixture => {
            let parameters = u128::from(model.attention_parameters());
            2 * parameters + model.attention_operations(training.sequence)
        }
    }
}

/// Parameters after the attention that a token is multiplied with, of the experts only those that
/// it is sent to.
fn block_parameters(training: &Training, kind: UnitKind) -> u64 {
    let model = &training.model;
    match kind {
        UnitKind::Embedding => 0,
        UnitKind::Dense => model.block_parameters(),
        UnitKind::Mixture => {
            let chosen = model.experts.map_or(0, |it| u64::from(it.top_k));
            model.common_parameters() + chosen * model.expert_parameters()
        }
        UnitKind::Output => u64::from(model.vocabulary) * u64::from(model.hidden),
    }
}
