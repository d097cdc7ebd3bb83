//! Halving and doubling: a reduce-scatter by halves, then an all-gather that mirrors it.
//!
//! Source: Rabenseifner, "Optimization of Collective Reduction Operations" (ICCS 2004); the order
//! of distances, 1, 2, 4, ... with sizes M/2, M/4, M/8, ..., as in ASTRA-SIM's HalvingDoubling,
//! which Ethereal (arXiv 2407.00550) is evaluated with: the large messages stay near, and the
//! small ones cross racks.

use super::power_of_two::Fold;
use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line.
pub(super) const HALVING_DOUBLING_ALL_REDUCE: Collective = Collective {
    name: "halving-doubling-all-reduce",
    operation: Operation::AllReduce,
    summary: "all-reduce in 2 log2(P) steps: halves at distance 1, quarters at 2, ..., and back",
    source: "Rabenseifner, Optimization of Collective Reduction Operations (ICCS 2004)",
    cost,
    steps,
};

fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    if ranks == 0 {
        return Cost { messages: 0, bytes: 0, chain: Vec::new(), turns: 0 };
    }
    let fold = Fold::of(plan.ranks.len());
    let size = fold.size as u128;
    let fold_step = (fold.first_step() > 0).then_some(bytes as u64);
    let down = (1..=fold.steps).map(|step| (bytes >> step) as u64);
    let up = (1..=fold.steps).rev().map(|step| (bytes >> step) as u64);
    Cost {
        messages: fold.messages() + 2 * u128::from(fold.steps) * size,
        bytes: (fold.messages() + 2 * (size - 1)) * bytes,
        chain: fold_step.into_iter().chain(down).chain(up).chain(fold_step).collect(),
        turns: 0,
    }
}

fn steps(schedule: &mut Schedule<'_>) {
    let fold = Fold::of(schedule.ranks());
    let blocks = fold.size;
    schedule.cut(blocks);
    fold.before(schedule, blocks);
    let first = fold.first_step();
    for step in 0..fold.steps {
        for index in 0..blocks {
            let partner = index ^ (1 << step);
            // It keeps its half and gives the partner's away.
            let send = exchange(fold, first + step, (index, partner), How::Add);
            schedule.send(&send, kept(partner, step + 1, blocks));
        }
    }
    for (number, step) in (fold.steps + first..).zip((0..fold.steps).rev()) {
        for index in 0..blocks {
            let send = exchange(fold, number, (index, index ^ (1 << step)), How::Store);
            schedule.send(&send, kept(index, step + 1, blocks));
        }
    }
    fold.after(schedule, first + 2 * fold.steps, blocks);
}

fn exchange(fold: Fold, step: u32, (from, to): (usize, usize), how: How) -> Send {
    Send { step, from: fold.rank(from), to: fold.rank(to), how }
}

/// What `index` holds after so many steps: bit s of its number says which half it kept in step s,
/// the lower one if it is 0.
fn kept(index: usize, steps: u32, blocks: usize) -> std::ops::Range<usize> {
    let halves = (0..steps).map(|step| (index >> step & 1) * (blocks >> (step + 1)));
    let start: usize = halves.sum();
    start..start + (blocks >> steps)
}
