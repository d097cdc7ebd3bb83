//! Binomial trees: broadcast from rank 0 and reduce to it.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//! MPICH" (2005), sections 4.3 and 4.4. In a broadcast a rank's sends take turns, the one to the
//! farthest rank first: who is reached early has more to pass on.

use super::schedule::{How, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line of the broadcast.
pub(super) const BROADCAST: Collective = Collective {
    name: "binomial-broadcast",
    operation: Operation::Broadcast,
    summary: "broadcast from the first rank in ceil(log2(P)) steps, each doubling who has it",
    source: "Thakur et al., Optimization of Collective Communication in MPICH (2005), 4.3",
    cost: |plan| {
        let cost = cost(plan);
        // The first rank sends in every step, and waits for each acknowledgement but the last.
        Cost { turns: cost.chain.len().saturating_sub(1), ..cost }
    },
    steps: |schedule| {
        let ranks = schedule.ranks();
        schedule.cut(1);
        let steps = depth(ranks);
        for step in 0..steps {
            let distance = 1usize << (steps - 1 - step);
            for from in (0..ranks).step_by(2 * distance).filter(|from| from + distance < ranks) {
                let send = Send { step, from, to: from + distance, how: How::Store };
                schedule.send_in_turn(&send, 0..1);
            }
        }
    },
};

/// The registry line of the reduction.
pub(super) const REDUCE: Collective = Collective {
    name: "binomial-reduce",
    operation: Operation::Reduce,
    summary: "reduction to the first rank in ceil(log2(P)) steps, each halving who still has some",
    source: "Thakur et al., Optimization of Collective Communication in MPICH (2005), 4.4",
    cost,
    steps: |schedule| {
        let ranks = schedule.ranks();
        schedule.cut(1);
        for step in 0..depth(ranks) {
            let distance = 1usize << step;
            for to in (0..ranks).step_by(2 * distance).filter(|to| to + distance < ranks) {
                schedule.send(&Send { step, from: to + distance, to, how: How::Add }, 0..1);
            }
        }
    },
};

fn depth(ranks: usize) -> u32 {
    ranks.next_power_of_two().ilog2()
}

fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    let messages = ranks.saturating_sub(1);
    let steps = depth(plan.ranks.len().max(1)) as usize;
    Cost { messages, bytes: messages * bytes, chain: vec![bytes as u64; steps], turns: 0 }
}
