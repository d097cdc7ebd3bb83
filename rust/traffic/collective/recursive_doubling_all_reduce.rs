//! Recursive doubling: ranks exchange whole vectors at distance 1, 2, 4, ...
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//! MPICH" (2005), section 4.5.

use super::power_of_two::PowerOfTwo;
use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Name, source and cost of the algorithm.
pub(super) const RECURSIVE_DOUBLING_ALL_REDUCE: Collective = Collective {
    name: "recursive-doubling-all-reduce",
    operation: CollectiveKind::AllReduce,
    summary: "all-reduce in log2(P) steps: whole vectors at distance 1, 2, 4, ...",
    source: "Thakur et al., Optimization of Collective Communication in MPICH (2005), 4.5",
    cost,
    chain: None,
    steps,
};

fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let core = PowerOfTwo::below(ranks as usize);
    let messages = core.excess_messages() + u128::from(core.steps) * core.size as u128;
    let steps = core.steps + 2 * core.first_step();
    CostModel::new(messages, messages * bytes, vec![bytes as u64; steps as usize])
}

fn steps(schedule: &mut ScheduleBuilder<'_>) {
    let core = PowerOfTwo::below(schedule.ranks());
    schedule.divide(1);
    core.reduce_excess(schedule, 1);
    for step in 0..core.steps {
        for index in 0..core.size {
            let send = Send {
                step: core.first_step() + step,
                from: core.rank(index),
                to: core.rank(index ^ (1 << step)),
                on_arrival: OnArrival::Reduce,
            };
            schedule.send(&send, &[0..1]);
        }
    }
    core.return_to_excess(schedule, core.first_step() + core.steps, 1);
}
