//! Recursive doubling: whole vectors are exchanged at distance 1, 2, 4, ...
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//! MPICH" (2005), section 4.5.

use super::power_of_two::Fold;
use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line.
pub(super) const RECURSIVE_DOUBLING_ALL_REDUCE: Collective = Collective {
    name: "recursive-doubling-all-reduce",
    operation: Operation::AllReduce,
    summary: "all-reduce in log2(P) steps: whole vectors at distance 1, 2, 4, ...",
    source: "Thakur et al., Optimization of Collective Communication in MPICH (2005), 4.5",
    cost,
    steps,
};

fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    if ranks == 0 {
        return Cost { messages: 0, bytes: 0, chain: Vec::new(), turns: 0 };
    }
    let fold = Fold::of(plan.ranks.len());
    let messages = fold.messages() + u128::from(fold.steps) * fold.size as u128;
    let steps = fold.steps + 2 * fold.first_step();
    Cost { messages, bytes: messages * bytes, chain: vec![bytes as u64; steps as usize], turns: 0 }
}

fn steps(schedule: &mut Schedule<'_>) {
    let fold = Fold::of(schedule.ranks());
    schedule.cut(1);
    fold.before(schedule, 1);
    for step in 0..fold.steps {
        for index in 0..fold.size {
            let send = Send {
                step: fold.first_step() + step,
                from: fold.rank(index),
                to: fold.rank(index ^ (1 << step)),
                how: How::Add,
            };
            schedule.send(&send, 0..1);
        }
    }
    fold.after(schedule, fold.first_step() + fold.steps, 1);
}
