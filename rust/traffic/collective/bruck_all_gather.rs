//! Bruck's all-gather: each step sends twice as many blocks over twice the distance.
//!
//! Source: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient Algorithms for All-to-All
//! Communications in Multiport Message-Passing Systems" (IEEE TPDS 8(11), 1997), section 4.

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Name, source and cost of the algorithm.
pub(super) const BRUCK_ALL_GATHER: Collective = Collective {
    name: "bruck-all-gather",
    operation: CollectiveKind::AllGather,
    summary: "all-gather in ceil(log2(P)) steps, each doubling the blocks and the distance",
    source: "Bruck et al., Efficient Algorithms for All-to-All Communications (1997)",
    cost,
    chain: None,
    steps,
};

/// Returns the distance of each step and the number of blocks that each rank sends in it.
fn portions(ranks: usize) -> impl Iterator<Item = (usize, usize)> {
    let distances = std::iter::successors(Some(1usize), |distance| Some(2 * distance));
    distances
        .take_while(move |&distance| distance < ranks)
        // A rank holds `distance` blocks starting with its own; the last step sends only the
        // missing ones.
        .map(move |distance| (distance, distance.min(ranks - distance)))
}

fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let each = bytes / ranks.max(1);
    let chain = portions(plan.ranks.len()).map(|(_, blocks)| each as u64 * blocks as u64);
    let chain: Vec<u64> = chain.collect();
    CostModel::new(ranks * chain.len() as u128, bytes * ranks.saturating_sub(1), chain)
}

fn steps(schedule: &mut ScheduleBuilder<'_>) {
    let ranks = schedule.ranks();
    schedule.divide(ranks);
    for (step, (distance, blocks)) in (0u32..).zip(portions(ranks)) {
        for from in 0..ranks {
            let to = (from + ranks - distance) % ranks;
            let behind = (from + blocks).saturating_sub(ranks);
            let mine = [from..from + blocks - behind, 0..behind];
            schedule.send(&Send { step, from, to, on_arrival: OnArrival::Replace }, &mine);
        }
    }
}
