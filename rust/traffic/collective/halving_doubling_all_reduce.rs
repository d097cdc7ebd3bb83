//! Halving and doubling: a reduce-scatter by halves, then the mirrored all-gather.
//!
//! Source: Rabenseifner, "Optimization of Collective Reduction Operations" (ICCS 2004). Distances
//! 1, 2, 4, ... with sizes M/2, M/4, M/8, ... follow the order of ASTRA-SIM's HalvingDoubling,
//! which the evaluation of Ethereal (arXiv 2407.00550) uses. Large messages go to near ranks, and
//! small ones cross racks.

use super::power_of_two::PowerOfTwo;
use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Name, source and cost of the algorithm.
pub(super) const HALVING_DOUBLING_ALL_REDUCE: Collective = Collective {
    name: "halving-doubling-all-reduce",
    operation: CollectiveKind::AllReduce,
    summary: "all-reduce in 2 log2(P) steps: halves at distance 1, quarters at 2, ..., mirrored",
    source: "Rabenseifner, Optimization of Collective Reduction Operations (ICCS 2004)",
    cost,
    chain: None,
    steps,
};

fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let core = PowerOfTwo::below(ranks as usize);
    let size = core.size as u128;
    let excess = (core.first_step() > 0).then_some(bytes as u64);
    let halving = (1..=core.steps).map(|step| (bytes >> step) as u64);
    let doubling = (1..=core.steps).rev().map(|step| (bytes >> step) as u64);
    CostModel::new(
        core.excess_messages() + 2 * u128::from(core.steps) * size,
        (core.excess_messages() + 2 * (size - 1)) * bytes,
        excess.into_iter().chain(halving).chain(doubling).chain(excess).collect(),
    )
}

fn steps(schedule: &mut ScheduleBuilder<'_>) {
    let core = PowerOfTwo::below(schedule.ranks());
    let blocks = core.size;
    schedule.divide(blocks);
    core.reduce_excess(schedule, blocks);
    let first = core.first_step();
    for step in 0..core.steps {
        for index in 0..blocks {
            let partner = index ^ (1 << step);
            let (from, to) = (core.rank(index), core.rank(partner));
            let send = Send { step: first + step, from, to, on_arrival: OnArrival::Reduce };
            // The sender keeps its own half and sends the partner's.
            schedule.send(&send, &[kept(partner, step + 1, blocks)]);
        }
    }
    for (step, bit) in (core.steps + first..).zip((0..core.steps).rev()) {
        for index in 0..blocks {
            // Mirrors the first half: the small messages cross the far distances first.
            let (from, to) = (core.rank(index), core.rank(index ^ (1 << bit)));
            let send = Send { step, from, to, on_arrival: OnArrival::Replace };
            schedule.send(&send, &[kept(index, bit + 1, blocks)]);
        }
    }
    core.return_to_excess(schedule, first + 2 * core.steps, blocks);
}

/// Returns the blocks that `index` holds after `steps` steps. Bit s of `index` selects the half
/// kept in step s: the lower one for 0.
fn kept(index: usize, steps: u32, blocks: usize) -> std::ops::Range<usize> {
    let halves = (0..steps).map(|step| (index >> step & 1) * (blocks >> (step + 1)));
    let start: usize = halves.sum();
    start..start + (blocks >> steps)
}
