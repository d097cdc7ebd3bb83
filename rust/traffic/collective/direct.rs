//! Direct algorithms: every rank exchanges blocks with all other ranks simultaneously.
//!
//! Source: Rashidi et al., "ASTRA-SIM: Enabling SW/HW Co-Design Exploration for Distributed DL
//! Training Platforms" (ISPASS 2020), section IV, "direct": the algorithm for NVSwitch-like
//! fabrics, used in the evaluation of Ethereal. One all-to-all of blocks reduces, another gathers.

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Registry entry of the all-reduce.
pub(super) const ALL_REDUCE: Collective = Collective {
    name: "direct-all-reduce",
    operation: CollectiveKind::AllReduce,
    summary: "all-reduce in 2 steps: each block to its rank, then its sum to all",
    source: "Rashidi et al., ASTRA-SIM (ISPASS 2020), section IV",
    cost: |plan| cost(plan, 2),
    chain: None,
    steps: |schedule| {
        schedule.divide(schedule.ranks());
        exchange(schedule, 0, BlockExchange::Scatter);
        exchange(schedule, 1, BlockExchange::Gather);
    },
};

/// Registry entry of the all-gather.
pub(super) const ALL_GATHER: Collective = Collective {
    name: "direct-all-gather",
    operation: CollectiveKind::AllGather,
    summary: "all-gather in 1 step: each rank sends its block to all others",
    source: "Rashidi et al., ASTRA-SIM (ISPASS 2020), section IV",
    cost: |plan| cost(plan, 1),
    chain: None,
    steps: |schedule| {
        schedule.divide(schedule.ranks());
        exchange(schedule, 0, BlockExchange::Gather);
    },
};

/// Registry entry of the reduce-scatter.
pub(super) const REDUCE_SCATTER: Collective = Collective {
    name: "direct-reduce-scatter",
    operation: CollectiveKind::ReduceScatter,
    summary: "reduce-scatter in 1 step: each block to its rank",
    source: "Rashidi et al., ASTRA-SIM (ISPASS 2020), section IV",
    cost: |plan| cost(plan, 1),
    chain: None,
    steps: |schedule| {
        schedule.divide(schedule.ranks());
        exchange(schedule, 0, BlockExchange::Scatter);
    },
};

fn cost(plan: &Plan, steps: u128) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let others = ranks.saturating_sub(1);
    let chain = vec![(bytes / ranks.max(1) * others) as u64; steps as usize];
    CostModel::new(steps * ranks * others, steps * others * bytes, chain)
}

/// The block that a rank sends to another.
#[derive(Clone, Copy)]
enum BlockExchange {
    /// The receiver's block, which the receiver reduces.
    Scatter,
    /// The sender's block, which the receiver keeps.
    Gather,
}

/// Adds one message from each rank to every other, starting with its right neighbour.
fn exchange(schedule: &mut ScheduleBuilder<'_>, step: u32, kind: BlockExchange) {
    let ranks = schedule.ranks();
    for from in 0..ranks {
        for ahead in 1..ranks {
            // Each rank starts with a different receiver, which avoids an incast at rank 0.
            let to = (from + ahead) % ranks;
            let (block, on_arrival) = match kind {
                BlockExchange::Scatter => (to, OnArrival::Reduce),
                BlockExchange::Gather => (from, OnArrival::ReplaceFinal),
            };
            schedule.send(&Send { step, from, to, on_arrival }, &[block..block + 1]);
        }
    }
}
