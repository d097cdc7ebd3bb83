//! Direct algorithms: everybody to everybody at once.
//!
//! Source: Rashidi et al., "ASTRA-SIM: Enabling SW/HW Co-Design Exploration for Distributed DL
//! Training Platforms" (ISPASS 2020), section IV, "direct": what NVSwitch-like fabrics suggest, and
//! what Ethereal is evaluated with; an all-to-all of blocks reduces, another gathers.

use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line of the all-reduce.
pub(super) const ALL_REDUCE: Collective = Collective {
    name: "direct-all-reduce",
    operation: Operation::AllReduce,
    summary: "all-reduce in 2 steps: each block to its rank, then its sum to all",
    source: "Rashidi et al., ASTRA-SIM (ISPASS 2020), section IV",
    cost: |plan| cost(plan, 2),
    steps: |schedule| {
        schedule.cut(schedule.ranks());
        exchange(schedule, 0, Way::Scatter);
        exchange(schedule, 1, Way::Gather);
    },
};

/// The registry line of the all-gather.
pub(super) const ALL_GATHER: Collective = Collective {
    name: "direct-all-gather",
    operation: Operation::AllGather,
    summary: "all-gather in 1 step: each rank sends its block to all",
    source: "Rashidi et al., ASTRA-SIM (ISPASS 2020), section IV",
    cost: |plan| cost(plan, 1),
    steps: |schedule| {
        schedule.cut(schedule.ranks());
        exchange(schedule, 0, Way::Gather);
    },
};

/// The registry line of the reduce-scatter.
pub(super) const REDUCE_SCATTER: Collective = Collective {
    name: "direct-reduce-scatter",
    operation: Operation::ReduceScatter,
    summary: "reduce-scatter in 1 step: each block to its rank",
    source: "Rashidi et al., ASTRA-SIM (ISPASS 2020), section IV",
    cost: |plan| cost(plan, 1),
    steps: |schedule| {
        schedule.cut(schedule.ranks());
        exchange(schedule, 0, Way::Scatter);
    },
};

fn cost(plan: &Plan, steps: u128) -> Cost {
    let (ranks, bytes) = wide(plan);
    let others = ranks.saturating_sub(1);
    Cost {
        messages: steps * ranks * others,
        bytes: steps * others * bytes,
        chain: vec![(bytes / ranks.max(1) * others) as u64; steps as usize],
        turns: 0,
    }
}

/// Whose block goes from rank to rank.
#[derive(Clone, Copy)]
enum Way {
    /// The receiver's.
    Scatter,
    /// The sender's.
    Gather,
}

/// Each rank to its right neighbour first, and so on round.
fn exchange(schedule: &mut Schedule<'_>, step: u32, way: Way) {
    let ranks = schedule.ranks();
    for from in 0..ranks {
        for ahead in 1..ranks {
            let to = (from + ahead) % ranks;
            let (block, how) = match way {
                Way::Scatter => (to, How::Add),
                Way::Gather => (from, How::Keep),
            };
            schedule.send(&Send { step, from, to, how }, std::iter::once(block));
        }
    }
}
