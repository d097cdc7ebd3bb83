//! Two-level all-to-all for rail-optimised clusters: first within the group, then along the rails.
//!
//! Source: NVIDIA, "Doubling all2all Performance with NVIDIA Collective Communication Library 2.12"
//! (2022). Data for GPU i of other machines first goes to GPU i of the sender's machine (PXN). That
//! GPU forwards it along its rail, in one message per machine.

use std::ops::Range;

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Name, source and cost of the algorithm.
pub(super) const HIERARCHICAL_ALL_TO_ALL: Collective = Collective {
    name: "hierarchical-all-to-all",
    operation: CollectiveKind::AllToAll,
    summary: "all-to-all within groups, then one message per group along each rail",
    source: "NVIDIA, Doubling all2all Performance with NCCL 2.12 (2022)",
    cost,
    chain: None,
    steps,
};

fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let group = u128::from(plan.group).max(1);
    let (inside, groups) = (group - 1, ranks / group);
    let (first, second) =
        (bytes / group * inside, bytes / groups.max(1) * groups.saturating_sub(1));
    CostModel::new(
        ranks * (inside + groups.saturating_sub(1)),
        bytes * inside * groups + bytes * groups.saturating_sub(1) * group,
        vec![first as u64, second as u64],
    )
}

/// Adds the sends. Block `s * ranks + d` is the data of rank s for rank d. In the first step, rank
/// i of a group sends rank j of its group the data for rank j of every group. In the second step,
/// rank j sends rank j of every other group the data of its whole group.
fn steps(schedule: &mut ScheduleBuilder<'_>) {
    let ranks = schedule.ranks();
    let (group, groups) = schedule.plan().groups().expect("checked");
    schedule.divide(ranks);
    schedule.repeat_blocks(ranks);
    for rank in 0..ranks {
        let (own_group, local) = (rank / group, rank % group);
        for ahead in 1..group {
            let other = (local + ahead) % group;
            let to = own_group * group + other;
            let send = Send { step: 0, from: rank, to, on_arrival: OnArrival::Replace };
            let blocks = (0..groups).map(|to| rank * ranks + to * group + other);
            schedule.send(&send, &single(blocks));
        }
    }
    for rank in 0..ranks {
        let (own_group, local) = (rank / group, rank % group);
        for ahead in 1..groups {
            let to = (own_group + ahead) % groups * group + local;
            let send = Send { step: 1, from: rank, to, on_arrival: OnArrival::ReplaceFinal };
            let senders = own_group * group..(own_group + 1) * group;
            schedule.send(&send, &single(senders.map(|sender| sender * ranks + to)));
        }
    }
}

/// Returns non-consecutive blocks as ranges of one block each.
fn single(blocks: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    blocks.map(|block| block..block + 1).collect()
}
