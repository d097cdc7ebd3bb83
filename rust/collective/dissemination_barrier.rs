//! The dissemination barrier: tell one at distance 1, 2, 4, ...; after the last step everybody
//! has heard of all.
//!
//! Source: Hensgen, Finkel, Manber, "Two Algorithms for Barrier Synchronization" (International
//! Journal of Parallel Programming 17(1), 1988).

use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line.
pub(super) const BARRIER: Collective = Collective {
    name: "barrier",
    operation: Operation::Barrier,
    summary: "each rank tells one at distance 1, 2, 4, ..., in ceil(log2(P)) steps",
    source: "Hensgen, Finkel, Manber, Two Algorithms for Barrier Synchronization (1988)",
    cost,
    steps,
};

fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    let steps = plan.ranks.len().max(1).next_power_of_two().ilog2() as usize;
    let messages = ranks * steps as u128;
    Cost { messages, bytes: messages * bytes, chain: vec![bytes as u64; steps], turns: 0 }
}

fn steps(schedule: &mut Schedule<'_>) {
    let ranks = schedule.ranks();
    schedule.cut(1);
    for step in 0..ranks.next_power_of_two().ilog2() {
        for from in 0..ranks {
            let send = Send { step, from, to: (from + (1 << step)) % ranks, how: How::Add };
            schedule.send(&send, 0..1);
        }
    }
}
