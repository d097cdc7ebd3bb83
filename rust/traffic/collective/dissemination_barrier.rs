//! The dissemination barrier: each rank notifies the ranks at distance 1, 2, 4, ... After the last
//! step, every rank has been notified by all others, directly or indirectly.
//!
//! Source: Hensgen, Finkel, Manber, "Two Algorithms for Barrier Synchronization" (International
//! Journal of Parallel Programming 17(1), 1988).

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Name, source and cost of the algorithm.
pub(super) const BARRIER: Collective = Collective {
    name: "barrier",
    operation: CollectiveKind::Barrier,
    summary: "each rank notifies those at distance 1, 2, 4, ..., in ceil(log2(P)) steps",
    source: "Hensgen, Finkel, Manber, Two Algorithms for Barrier Synchronization (1988)",
    cost,
    chain: None,
    steps,
};

fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let steps = plan.ranks.len().max(1).next_power_of_two().ilog2() as usize;
    let messages = ranks * steps as u128;
    CostModel::new(messages, messages * bytes, vec![bytes as u64; steps])
}

fn steps(schedule: &mut ScheduleBuilder<'_>) {
    let ranks = schedule.ranks();
    schedule.divide(1);
    for step in 0..ranks.next_power_of_two().ilog2() {
        for from in 0..ranks {
            // `Reduce` keeps earlier deliveries as dependencies: a notification implies all earlier
            // ones.
            let send = Send {
                step,
                from,
                to: (from + (1 << step)) % ranks,
                on_arrival: OnArrival::Reduce,
            };
            schedule.send(&send, &[0..1]);
        }
    }
}
