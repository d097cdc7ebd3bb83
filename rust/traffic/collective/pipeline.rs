//! A pipeline: each rank sends to the next, like the stages of pipeline parallelism.
//!
//! Source: Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline
//! Parallelism" (NeurIPS 2019), section 2; chunks correspond to its micro-batches.

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};
use crate::workload::ChainShape;

/// Name, source and cost of the algorithm.
pub(super) const PIPELINE: Collective = Collective {
    name: "pipeline",
    operation: CollectiveKind::Pipeline,
    summary: "from each rank to the next, chunk after chunk",
    source: "Huang et al., GPipe (NeurIPS 2019), section 2",
    cost,
    chain: Some(ChainShape::Line),
    steps,
};

fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let messages = ranks.saturating_sub(1);
    CostModel::new(messages, messages * bytes, vec![bytes as u64; messages as usize])
}

fn steps(schedule: &mut ScheduleBuilder<'_>) {
    schedule.divide(1);
    for from in 0..schedule.ranks() - 1 {
        let step = u32::try_from(from).expect("2^28 messages at most");
        schedule.send(&Send { step, from, to: from + 1, on_arrival: OnArrival::Replace }, &[0..1]);
    }
}
