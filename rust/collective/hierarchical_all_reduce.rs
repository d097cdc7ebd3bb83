//! All-reduce in two levels: reduce-scatter in the machine, all-reduce along each rail,
//! all-gather in the machine.
//!
//! Source: Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision"
//! (2018), section 3.3 (hierarchical all-reduce); over rails as in rail-optimised clusters: rank i
//! of each machine talks to the i-th ranks of the others alone. Inside a machine the exchange is
//! direct, along the rails it is a ring.

use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line.
pub(super) const HIERARCHICAL_ALL_REDUCE: Collective = Collective {
    name: "hierarchical-all-reduce",
    operation: Operation::AllReduce,
    summary: "all-reduce in groups first and last, in a ring along each rail between",
    source: "Jia et al., Highly Scalable Deep Learning Training System (2018), section 3.3",
    cost,
    steps,
};

fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    let group = u128::from(plan.group).max(1);
    let groups = (ranks / group).max(1);
    let (inside, between) = (group - 1, groups - 1);
    let mut chain = vec![(bytes / group * inside) as u64];
    chain.extend(vec![(bytes / group / groups) as u64; 2 * between as usize]);
    chain.push((bytes / group * inside) as u64);
    Cost {
        messages: 2 * ranks * inside + 2 * between * ranks,
        bytes: 2 * inside * bytes * groups + 2 * between * bytes,
        chain,
        turns: 0,
    }
}

fn steps(schedule: &mut Schedule<'_>) {
    let ranks = schedule.ranks();
    let (group, groups) = schedule.plan().groups().expect("checked");
    schedule.cut(ranks);
    // The j-th of each group answers for blocks j * groups and the next ones.
    let share = |place: usize| place * groups..(place + 1) * groups;
    let last = u32::try_from(2 * groups - 1).expect("2^28 messages at most");
    within(schedule, group, |from, to| {
        (Send { step: 0, from, to, how: How::Add }, share(to % group))
    });
    for step in 0..2 * (groups - 1) {
        for from in 0..ranks {
            let (mine, place) = (from / group, from % group);
            let how = if step < groups - 1 { How::Add } else { How::Store };
            let block = place * groups + (mine + 2 * groups - step) % groups;
            let to = (mine + 1) % groups * group + place;
            let step = u32::try_from(step + 1).expect("2^28 messages at most");
            schedule.send(&Send { step, from, to, how }, block..block + 1);
        }
    }
    within(schedule, group, |from, to| {
        (Send { step: last, from, to, how: How::Keep }, share(from % group))
    });
}

/// Every rank to every other of its group.
fn within(
    schedule: &mut Schedule<'_>,
    group: usize,
    what: impl Fn(usize, usize) -> (Send, std::ops::Range<usize>),
) {
    for from in 0..schedule.ranks() {
        for ahead in 1..group {
            let to = from / group * group + (from + ahead) % group;
            let (send, blocks) = what(from, to);
            schedule.send(&send, blocks);
        }
    }
}
