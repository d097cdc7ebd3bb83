//! A pipeline: from each rank to the next, as between the stages of pipeline parallelism.
//!
//! Source: Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline
//! Parallelism" (NeurIPS 2019), section 2: the chunks are its micro-batches.

use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line.
pub(super) const PIPELINE: Collective = Collective {
    name: "pipeline",
    operation: Operation::Pipeline,
    summary: "from each rank to the next; the chunks follow each other",
    source: "Huang et al., GPipe (NeurIPS 2019), section 2",
    cost,
    steps,
};

fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    let messages = ranks.saturating_sub(1);
    Cost {
        messages,
        bytes: messages * bytes,
        chain: vec![bytes as u64; messages as usize],
        turns: 0,
    }
}

fn steps(schedule: &mut Schedule<'_>) {
    schedule.cut(1);
    for from in 0..schedule.ranks() - 1 {
        let step = u32::try_from(from).expect("2^28 messages at most");
        schedule.send(&Send { step, from, to: from + 1, how: How::Store }, 0..1);
    }
}
