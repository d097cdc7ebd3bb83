//! Bruck's all-gather: in each step twice as many blocks, at twice the distance.
//!
//! Source: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient Algorithms for All-to-All
//! Communications in Multiport Message-Passing Systems" (IEEE TPDS 8(11), 1997), section 4.

use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line.
pub(super) const BRUCK_ALL_GATHER: Collective = Collective {
    name: "bruck-all-gather",
    operation: Operation::AllGather,
    summary: "all-gather in ceil(log2(P)) steps: twice the blocks, at twice the distance",
    source: "Bruck et al., Efficient Algorithms for All-to-All Communications (1997)",
    cost,
    steps,
};

/// The blocks that each rank sends in each step, for so many ranks.
fn portions(ranks: usize) -> impl Iterator<Item = (usize, usize)> {
    let distances = std::iter::successors(Some(1usize), |distance| Some(2 * distance));
    distances
        .take_while(move |&distance| distance < ranks)
        .map(move |distance| (distance, distance.min(ranks - distance)))
}

fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    let each = bytes / ranks.max(1);
    let chain = portions(plan.ranks.len()).map(|(_, blocks)| each as u64 * blocks as u64);
    let chain: Vec<u64> = chain.collect();
    Cost {
        messages: ranks * chain.len() as u128,
        bytes: bytes * ranks.saturating_sub(1),
        chain,
        turns: 0,
    }
}

fn steps(schedule: &mut Schedule<'_>) {
    let ranks = schedule.ranks();
    schedule.cut(ranks);
    for (step, (distance, blocks)) in (0u32..).zip(portions(ranks)) {
        for from in 0..ranks {
            let to = (from + ranks - distance) % ranks;
            let mine = (0..blocks).map(|block| (from + block) % ranks);
            schedule.send(&Send { step, from, to, how: How::Store }, mine);
        }
    }
}
