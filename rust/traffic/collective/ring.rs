//! Rings: reduce-scatter, all-gather, and all-reduce as a sequence of both.
//!
//! Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
//! Workstations", Journal of Parallel and Distributed Computing 69(2), 2009.

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};
use crate::workload::{ChainShape, ring_block};

/// Registry entry of the all-reduce.
pub(super) const ALL_REDUCE: Collective = Collective {
    name: "ring-all-reduce",
    operation: CollectiveKind::AllReduce,
    summary: "all-reduce in 2(P-1) steps around a ring: reduce-scatter, then all-gather",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 2),
    chain: Some(ChainShape::Ring(ALL_REDUCE_BEGINS)),
    steps: |schedule| {
        steps(schedule, ALL_REDUCE_BEGINS, &[OnArrival::Reduce, OnArrival::Replace]);
    },
};

/// The block, relative to its own, that each rank sends first in each round. After the first round,
/// rank r holds the sum of block r + 1 and sends that one first.
const ALL_REDUCE_BEGINS: &[isize] = &[0, 1];

/// Registry entry of the all-gather.
pub(super) const ALL_GATHER: Collective = Collective {
    name: "ring-all-gather",
    operation: CollectiveKind::AllGather,
    summary: "all-gather in P-1 steps around a ring",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 1),
    chain: Some(ChainShape::Ring(ALL_GATHER_BEGINS)),
    steps: |schedule| steps(schedule, ALL_GATHER_BEGINS, &[OnArrival::Replace]),
};

const ALL_GATHER_BEGINS: &[isize] = &[0];

/// Registry entry of the reduce-scatter.
pub(super) const REDUCE_SCATTER: Collective = Collective {
    name: "ring-reduce-scatter",
    operation: CollectiveKind::ReduceScatter,
    summary: "reduce-scatter in P-1 steps around a ring",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 1),
    chain: Some(ChainShape::Ring(REDUCE_SCATTER_BEGINS)),
    steps: |schedule| steps(schedule, REDUCE_SCATTER_BEGINS, &[OnArrival::Reduce]),
};

/// Starts one block to the left, so that rank r ends with block r.
const REDUCE_SCATTER_BEGINS: &[isize] = &[-1];

fn cost(plan: &Plan, rounds: u128) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let steps = ranks.saturating_sub(1) * rounds;
    let chain = vec![(bytes / ranks.max(1)) as u64; steps as usize];
    CostModel::new(steps * ranks, steps * bytes, chain)
}

/// Adds the messages by step, then by rank, each to the right neighbour.
fn steps(schedule: &mut ScheduleBuilder<'_>, begins: &[isize], on_arrival: &[OnArrival]) {
    let ranks = schedule.ranks();
    schedule.divide(ranks);
    for (index, (&begin, &on_arrival)) in begins.iter().zip(on_arrival).enumerate() {
        for step in 0..ranks - 1 {
            for rank in 0..ranks {
                let block = ring_block(begin, ranks, step, rank);
                let number = u32::try_from(index * (ranks - 1) + step);
                let send = Send {
                    step: number.expect("2^28 messages at most"),
                    from: rank,
                    to: (rank + 1) % ranks,
                    on_arrival,
                };
                schedule.send(&send, &[block..block + 1]);
            }
        }
    }
}
