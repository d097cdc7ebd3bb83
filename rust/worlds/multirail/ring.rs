//! The ring all-reduce, block by block.
//!
//! Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
//! Workstations" (2009), section 3.
//!
//! A chunk is divided into one block per rank. Block b starts at rank b and makes 2(N − 1) hops
//! around the ring. In the first N − 1 hops each rank adds its input, and the last of them has the
//! sum. In the remaining hops each rank stores the sum. A hop depends only on the previous hop, so
//! the block is the whole state of the algorithm.

use super::numbers::{Inputs, Range};
use super::plane::Attempt;

/// A ring, by its number of ranks; at least 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ring(pub(super) u32);

/// A block in transit around the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) attempt: Attempt,
    pub(super) range: Range,
    /// The rank that holds the block and sends it next.
    pub(super) at: u32,
    /// Number of hops so far.
    pub(super) hops: u32,
    /// The sum of the numbers so far.
    pub(super) sum: i64,
}

impl Ring {
    /// Returns the block that starts at `rank`; `None` if it would be empty.
    pub(super) fn start(self, inputs: Inputs, attempt: Attempt, rank: u32) -> Option<Block> {
        let range = attempt.range.part(u64::from(rank), u64::from(self.0));
        let sum = inputs.of(rank, range);
        (range.count > 0).then_some(Block { attempt, range, at: rank, hops: 0, sum })
    }

    /// Returns the successor of a rank.
    pub(super) fn after(self, rank: u32) -> u32 {
        (rank + 1) % self.0
    }

    /// Returns true if the next rank adds its input to the block, false if it stores the sums.
    pub(super) fn adds(self, block: &Block) -> bool {
        block.hops < self.0 - 1
    }

    /// Moves the block to the next rank, which adds its input or stores the sums.
    pub(super) fn hop(self, inputs: Inputs, block: &mut Block) {
        let adds = self.adds(block);
        block.at = self.after(block.at);
        block.hops += 1;
        if adds {
            block.sum = block.sum.wrapping_add(inputs.of(block.at, block.range));
        }
    }

    /// Returns true if the block contains the final sums.
    pub(super) fn is_final(self, block: &Block) -> bool {
        !self.adds(block)
    }

    /// Returns true if the block has made its last hop.
    pub(super) fn has_ended(self, block: &Block) -> bool {
        block.hops == 2 * (self.0 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rail::handler::{ChunkKey, Epoch, OperationId};

    const KEY: ChunkKey = ChunkKey { operation: OperationId(0), chunk: 0, epoch: Epoch(0) };

    #[test]
    fn every_rank_gets_every_block_summed_once_in_2n_minus_2_hops() {
        let inputs = Inputs::new(1, OperationId(0));
        for ranks in 2..8u32 {
            let attempt = Attempt { key: KEY, range: Range { first: 3, count: 17 } };
            let ring = Ring(ranks);
            let mut had = vec![Vec::new(); ranks as usize];
            for rank in 0..ranks {
                let mut block = ring.start(inputs, attempt, rank).unwrap();
                while !ring.has_ended(&block) {
                    ring.hop(inputs, &mut block);
                    if ring.is_final(&block) {
                        assert_eq!(block.sum, inputs.sum(ranks, block.range));
                        had[block.at as usize].push(block.range.count);
                    }
                }
                assert_eq!(block.hops, 2 * (ranks - 1));
            }
            assert!(had.iter().all(|counts| counts.iter().sum::<u64>() == 17), "{had:?}");
        }
    }

    #[test]
    fn a_chunk_of_fewer_elements_than_ranks_has_fewer_blocks() {
        let attempt = Attempt { key: KEY, range: Range { first: 0, count: 2 } };
        let blocks =
            (0..4).filter_map(|rank| Ring(4).start(Inputs::new(1, OperationId(0)), attempt, rank));
        assert_eq!(blocks.count(), 2);
    }
}
