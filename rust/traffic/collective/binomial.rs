//! Binomial trees: broadcast from rank 0 and reduce to it.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//! MPICH" (2005), sections 4.3 and 4.4. In a broadcast a rank sends its messages one at a time,
//! starting with the farthest rank: the ranks reached first have the most to forward.

use super::schedule::{OnArrival, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Registry entry of the broadcast.
pub(super) const BROADCAST: Collective = Collective {
    name: "binomial-broadcast",
    operation: CollectiveKind::Broadcast,
    summary: "broadcast from the first rank in ceil(log2(P)) steps, each doubling the receivers",
    source: "Thakur et al., Optimization of Collective Communication in MPICH (2005), 4.3",
    cost: |plan| {
        let cost = cost(plan);
        // The first rank sends in every step and waits for all acknowledgements except the last.
        CostModel { acknowledged_steps: cost.chain.len().saturating_sub(1), ..cost }
    },
    chain: None,
    steps: |schedule| {
        let ranks = schedule.ranks();
        schedule.divide(1);
        let steps = depth(ranks);
        for step in 0..steps {
            let distance = 1usize << (steps - 1 - step);
            for from in (0..ranks).step_by(2 * distance).filter(|from| from + distance < ranks) {
                let send = Send { step, from, to: from + distance, on_arrival: OnArrival::Replace };
                schedule.send_after_last(&send, &[0..1]);
            }
        }
    },
};

/// Registry entry of the reduction.
pub(super) const REDUCE: Collective = Collective {
    name: "binomial-reduce",
    operation: CollectiveKind::Reduce,
    summary: "reduction to the first rank in ceil(log2(P)) steps, each halving the senders",
    source: "Thakur et al., Optimization of Collective Communication in MPICH (2005), 4.4",
    cost,
    chain: None,
    steps: |schedule| {
        let ranks = schedule.ranks();
        schedule.divide(1);
        for step in 0..depth(ranks) {
            let distance = 1usize << step;
            for to in (0..ranks).step_by(2 * distance).filter(|to| to + distance < ranks) {
                schedule.send(
                    &Send { step, from: to + distance, to, on_arrival: OnArrival::Reduce },
                    &[0..1],
                );
            }
        }
    },
};

/// Returns the depth of the tree, in steps.
fn depth(ranks: usize) -> u32 {
    ranks.next_power_of_two().ilog2()
}

fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let messages = ranks.saturating_sub(1);
    let steps = depth(plan.ranks.len().max(1)) as usize;
    CostModel::new(messages, messages * bytes, vec![bytes as u64; steps])
}
