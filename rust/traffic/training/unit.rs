//! The units of a pipeline stage: layers, embedding and output, with parameters and computation.

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

/// A number of parameters, by the set of ranks that hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ParameterCount {
    /// Parameters held by all replicas.
    pub common: u64,
    /// Parameters of experts, held only by replicas with the same experts.
    pub experts: u64,
}

/// A unit; every rank of its stage has an equal share of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub kind: UnitKind,
    /// Parameters per rank.
    pub parameters: ParameterCount,
    /// Operations per rank for the attention of a microbatch in a forward pass.
    pub attention: u128,
    /// Operations per rank for the rest of the unit.
    pub block: u128,
}

/// Returns the units of a stage in forward order.
pub(super) fn of_stage(training: &Training, stage: u32) -> Vec<Unit> {
    let model = &training.model;
    let stages = training.degrees.pipeline;
    let count = training.layers.unwrap_or(model.layers);
    // If layers do not divide evenly, the first stages have one more.
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

/// Returns the attention's operations per token: two per parameter, plus scores and weighted
/// values.
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

/// Returns the number of parameters after the attention that a token is multiplied with. Only the
/// token's own experts count.
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
