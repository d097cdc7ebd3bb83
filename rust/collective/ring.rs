//! Rings: reduce-scatter, all-gather, and all-reduce as the one followed by the other.
//!
//! Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
//! Workstations", Journal of Parallel and Distributed Computing 69(2), 2009.

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// The registry line of the all-reduce.
pub(super) const ALL_REDUCE: Collective = Collective {
    name: "ring-all-reduce",
    operation: CollectiveKind::AllReduce,
    summary: "all-reduce in 2(P-1) steps round a ring: reduce-scatter, then all-gather",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 2),
    steps: |schedule| {
        let ranks = schedule.ranks();
        schedule.divide(ranks);
        round(schedule, Round { first: 0, begin: 0, on_arrival: OnArrival::Reduce });
        // After the first round rank r holds the sum of block r + 1: it sends that one first.
        round(schedule, Round { first: ranks - 1, begin: 1, on_arrival: OnArrival::Replace });
    },
};

/// The registry line of the all-gather.
pub(super) const ALL_GATHER: Collective = Collective {
    name: "ring-all-gather",
    operation: CollectiveKind::AllGather,
    summary: "all-gather in P-1 steps round a ring",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 1),
    steps: |schedule| {
        schedule.divide(schedule.ranks());
        round(schedule, Round { first: 0, begin: 0, on_arrival: OnArrival::Replace });
    },
};

/// The registry line of the reduce-scatter.
pub(super) const REDUCE_SCATTER: Collective = Collective {
    name: "ring-reduce-scatter",
    operation: CollectiveKind::ReduceScatter,
    summary: "reduce-scatter in P-1 steps round a ring",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 1),
    steps: |schedule| {
        let ranks = schedule.ranks();
        schedule.divide(ranks);
        // It begins one block to the left, so that rank r ends with block r.
        round(schedule, Round { first: 0, begin: ranks - 1, on_arrival: OnArrival::Reduce });
    },
};

fn cost(plan: &Plan, rounds: u128) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let steps = ranks.saturating_sub(1) * rounds;
    let chain = vec![(bytes / ranks.max(1)) as u64; steps as usize];
    CostModel::new(steps * ranks, steps * bytes, chain)
}

/// One round of the ring.
struct Round {
    /// The index of its first step.
    first: usize,
    /// Rank r first sends block r + `begin`, and then the block that it received last.
    begin: usize,
    on_arrival: OnArrival,
}

/// Adds the messages, step by step and within a step rank by rank, each to the right neighbour.
fn round(schedule: &mut ScheduleBuilder<'_>, round: Round) {
    let ranks = schedule.ranks();
    for step in 0..ranks - 1 {
        for rank in 0..ranks {
            // The block that the left neighbour sent in the step before. `ranks` keeps the
            // difference from going below zero.
            let block = (rank + round.begin + ranks - step) % ranks;
            let number = u32::try_from(round.first + step).expect("2^28 messages at most");
            let send = Send {
                step: number,
                from: rank,
                to: (rank + 1) % ranks,
                on_arrival: round.on_arrival,
            };
            schedule.send(&send, std::iter::once(block));
        }
    }
}
