//! Two-level all-reduce: reduce-scatter within the machine, all-reduce along each rail, all-gather
//! within the machine.
//!
//! Source: Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision" (2018),
//! section 3.3 (hierarchical all-reduce). The second level uses rails as in rail-optimised
//! clusters: rank i of each machine exchanges data only with rank i of the others. The exchange is
//! direct within a machine and a ring along the rails.

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Name, source and cost of the algorithm.
pub(super) const HIERARCHICAL_ALL_REDUCE: Collective = Collective {
    name: "hierarchical-all-reduce",
    operation: CollectiveKind::AllReduce,
    summary: "reduce-scatter in groups, all-reduce in a ring along each rail, all-gather in groups",
    source: "Jia et al., Highly Scalable Deep Learning Training System (2018), section 3.3",
    cost,
    chain: None,
    steps,
};

fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let group = u128::from(plan.group).max(1);
    let groups = (ranks / group).max(1);
    let (inside, between) = (group - 1, groups - 1);
    let mut chain = vec![(bytes / group * inside) as u64];
    chain.extend(vec![(bytes / group / groups) as u64; 2 * between as usize]);
    chain.push((bytes / group * inside) as u64);
    CostModel::new(
        2 * ranks * inside + 2 * between * ranks,
        2 * inside * bytes * groups + 2 * between * bytes,
        chain,
    )
}

fn steps(schedule: &mut ScheduleBuilder<'_>) {
    let ranks = schedule.ranks();
    let (group, groups) = schedule.plan().groups().expect("checked");
    schedule.divide(ranks);
    // Rank j of each group is responsible for `groups` blocks, starting at j * groups.
    let share = |local: usize| local * groups..(local + 1) * groups;
    let last = u32::try_from(2 * groups - 1).expect("2^28 messages at most");
    within(schedule, group, |from, to| {
        (Send { step: 0, from, to, on_arrival: OnArrival::Reduce }, share(to % group))
    });
    for step in 0..2 * (groups - 1) {
        for from in 0..ranks {
            let (own_group, local) = (from / group, from % group);
            let on_arrival = if step < groups - 1 { OnArrival::Reduce } else { OnArrival::Replace };
            // The ring of `collective::ring`, once per local rank, over the blocks of its share.
            // Adding twice `groups` avoids underflow in both rounds.
            let block = local * groups + (own_group + 2 * groups - step) % groups;
            let to = (own_group + 1) % groups * group + local;
            let step = u32::try_from(step + 1).expect("2^28 messages at most");
            schedule.send(&Send { step, from, to, on_arrival }, &[block..block + 1]);
        }
    }
    within(schedule, group, |from, to| {
        (Send { step: last, from, to, on_arrival: OnArrival::ReplaceFinal }, share(from % group))
    });
}

/// Adds a message from every rank to every other rank of its group.
fn within(
    schedule: &mut ScheduleBuilder<'_>,
    group: usize,
    what: impl Fn(usize, usize) -> (Send, std::ops::Range<usize>),
) {
    for from in 0..schedule.ranks() {
        for ahead in 1..group {
            let to = from / group * group + (from + ahead) % group;
            let (send, blocks) = what(from, to);
            schedule.send(&send, &[blocks]);
        }
    }
}
