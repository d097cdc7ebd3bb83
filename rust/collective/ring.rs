//! Rings: reduce-scatter, all-gather, and the two in turn, an all-reduce.
//!
//! Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
//! Workstations", Journal of Parallel and Distributed Computing 69(2), 2009.

use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line of the all-reduce.
pub(super) const ALL_REDUCE: Collective = Collective {
    name: "ring-all-reduce",
    operation: Operation::AllReduce,
    summary: "all-reduce in 2(P-1) steps round a ring: reduce-scatter, then all-gather",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 2),
    steps: |schedule| {
        let ranks = schedule.ranks();
        schedule.cut(ranks);
        round(schedule, Round { first: 0, begin: 0, how: How::Add });
        round(schedule, Round { first: ranks - 1, begin: 1, how: How::Store });
    },
};

/// The registry line of the all-gather.
pub(super) const ALL_GATHER: Collective = Collective {
    name: "ring-all-gather",
    operation: Operation::AllGather,
    summary: "all-gather in P-1 steps round a ring",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 1),
    steps: |schedule| {
        schedule.cut(schedule.ranks());
        round(schedule, Round { first: 0, begin: 0, how: How::Store });
    },
};

/// The registry line of the reduce-scatter.
pub(super) const REDUCE_SCATTER: Collective = Collective {
    name: "ring-reduce-scatter",
    operation: Operation::ReduceScatter,
    summary: "reduce-scatter in P-1 steps round a ring",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    cost: |plan| cost(plan, 1),
    steps: |schedule| {
        let ranks = schedule.ranks();
        schedule.cut(ranks);
        round(schedule, Round { first: 0, begin: ranks - 1, how: How::Add });
    },
};

fn cost(plan: &Plan, rounds: u128) -> Cost {
    let (ranks, bytes) = wide(plan);
    let steps = ranks.saturating_sub(1) * rounds;
    Cost {
        messages: steps * ranks,
        bytes: steps * bytes,
        chain: vec![(bytes / ranks.max(1)) as u64; steps as usize],
        turns: 0,
    }
}

/// Once round the ring.
struct Round {
    /// The number of its first step.
    first: usize,
    /// Rank r sends block r + `begin` first, and from then on what it got last.
    begin: usize,
    how: How,
}

/// The messages, step by step and within a step rank by rank, each to its right neighbour.
fn round(schedule: &mut Schedule<'_>, round: Round) {
    let ranks = schedule.ranks();
    for step in 0..ranks - 1 {
        for rank in 0..ranks {
            let block = (rank + round.begin + ranks - step) % ranks;
            let number = u32::try_from(round.first + step).expect("2^28 messages at most");
            let send = Send { step: number, from: rank, to: (rank + 1) % ranks, how: round.how };
            schedule.send(&send, std::iter::once(block));
        }
    }
}
