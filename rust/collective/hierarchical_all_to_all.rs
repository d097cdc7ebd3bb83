//! All-to-all in two levels, for rail-optimised clusters: first within the group, then along the
//! rails.
//!
//! Source: NVIDIA, "Doubling all2all Performance with NVIDIA Collective Communication Library
//! 2.12" (2022): data for GPU i of other machines is handed to the own machine's GPU i (PXN),
//! which sends it on its rail, in one message a machine.

use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line.
pub(super) const HIERARCHICAL_ALL_TO_ALL: Collective = Collective {
    name: "hierarchical-all-to-all",
    operation: Operation::AllToAll,
    summary: "all-to-all within groups, then one message a group along each rail",
    source: "NVIDIA, Doubling all2all Performance with NCCL 2.12 (2022)",
    cost,
    steps,
};

fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    let group = u128::from(plan.group).max(1);
    let (inside, groups) = (group - 1, ranks / group);
    let (first, second) =
        (bytes / group * inside, bytes / groups.max(1) * groups.saturating_sub(1));
    Cost {
        messages: ranks * (inside + groups.saturating_sub(1)),
        bytes: bytes * inside * groups + bytes * groups.saturating_sub(1) * group,
        chain: vec![first as u64, second as u64],
        turns: 0,
    }
}

/// Block `s * ranks + d` is what rank s has for rank d. In the first step rank (g, i) hands rank
/// (g, j) what it has for the j-th of every group; in the second that one sends each group's
/// j-th what its group has for it.
fn steps(schedule: &mut Schedule<'_>) {
    let ranks = schedule.ranks();
    let (group, groups) = schedule.plan().groups().expect("checked");
    schedule.cut(ranks);
    schedule.repeat(ranks);
    for rank in 0..ranks {
        let (mine, place) = (rank / group, rank % group);
        for ahead in 1..group {
            let other = (place + ahead) % group;
            let send = Send { step: 0, from: rank, to: mine * group + other, how: How::Store };
            schedule.send(&send, (0..groups).map(|to| rank * ranks + to * group + other));
        }
    }
    for rank in 0..ranks {
        let (mine, place) = (rank / group, rank % group);
        for ahead in 1..groups {
            let to = (mine + ahead) % groups * group + place;
            let send = Send { step: 1, from: rank, to, how: How::Keep };
            let senders = mine * group..(mine + 1) * group;
            schedule.send(&send, senders.map(|sender| sender * ranks + to));
        }
    }
}
