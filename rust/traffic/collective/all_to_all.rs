//! Direct all-to-all: every rank sends every other rank its block.
//!
//! Source: Message Passing Interface Forum, "MPI: A Message-Passing Interface Standard", version
//! 4.1, 2023, section 6.8 (`MPI_ALLTOALL`); the staggered send order follows Thakur, Rabenseifner,
//! Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};
use crate::workload::ChainShape;

/// Name, source and cost of the algorithm.
pub(super) const ALL_TO_ALL: Collective = Collective {
    name: "all-to-all",
    operation: CollectiveKind::AllToAll,
    summary: "each rank sends a share to every other rank, right neighbour first, all at once",
    source: "MPI standard 4.1 (2023), section 6.8; Thakur et al. (2005)",
    cost,
    chain: Some(ChainShape::Exchange),
    steps,
};

/// Returns the closed forms: each rank sends all blocks except its own, in one step.
fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let chain = bytes - bytes / ranks.max(1);
    let others = ranks.saturating_sub(1);
    CostModel::new(ranks * others, bytes * others, vec![chain as u64])
}

/// Adds the messages, rank by rank. Each rank sends to its right neighbour, then to the next rank,
/// and so on, so that the n-th sends of all ranks go to different ranks. All start at 0 unless
/// [`Plan::outstanding`] is set.
///
/// A rank's bytes are divided into one block per rank, and it keeps its own. If the bytes do not
/// divide evenly, the first blocks are one byte longer. An empty block is not sent.
fn steps(schedule: &mut ScheduleBuilder<'_>) {
    let ranks = schedule.ranks();
    schedule.divide(ranks);
    schedule.repeat_blocks(ranks);
    for rank in 0..ranks {
        for ahead in 1..ranks {
            let to = (rank + ahead) % ranks;
            let send = Send { step: 0, from: rank, to, on_arrival: OnArrival::ReplaceFinal };
            let block = rank * ranks + to;
            schedule.send_windowed(&send, &[block..block + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;
    use crate::units::Bytes;
    use crate::workload::{Message, Workload};

    fn run(ranks: u32, bytes: u64) -> Workload {
        let ranks = (0..ranks).map(|rank| HostId(10 + rank)).collect();
        ALL_TO_ALL.build(&Plan::new(ranks, Bytes::new(bytes))).unwrap()
    }

    #[test]
    fn each_rank_exchanges_one_block_with_every_other_rank() {
        for (ranks, bytes) in [(2u64, 16), (3, 10), (16, 1 << 20), (33, 1_000_003)] {
            let workload = run(ranks as u32, bytes);
            for rank in 0..ranks {
                let host = HostId(10 + rank as u32);
                let block = bytes / ranks + u64::from(rank < bytes % ranks);
                let sum = |keep: &dyn Fn(&&Message) -> bool| -> u64 {
                    workload.messages.iter().filter(keep).map(|m| m.bytes.get()).sum()
                };
                assert_eq!(sum(&|m| m.src == host), bytes - block, "{ranks} ranks, {host} sends");
                assert_eq!(sum(&|m| m.dst == host), (ranks - 1) * block, "{ranks} ranks, {host}");
            }
            assert_eq!(workload.messages.len() as u64, ranks * (ranks - 1));
        }
    }

    #[test]
    fn the_order_starts_at_the_right_neighbour() {
        let order: Vec<(u32, u32)> =
            run(4, 4096).messages.iter().map(|m| (m.src.0 - 10, m.dst.0 - 10)).collect();
        let expected = [
            [(0, 1), (0, 2), (0, 3)],
            [(1, 2), (1, 3), (1, 0)],
            [(2, 3), (2, 0), (2, 1)],
            [(3, 0), (3, 1), (3, 2)],
        ];
        assert_eq!(order, expected.concat());
    }

    #[test]
    fn fewer_bytes_than_ranks_are_sent_to_the_first_ranks() {
        let to: Vec<u32> = run(4, 1).messages.iter().map(|m| m.dst.0 - 10).collect();
        assert_eq!(to, [0, 0, 0]);
    }
}
