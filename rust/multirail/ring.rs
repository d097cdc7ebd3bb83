//! The ring all-reduce, block by block.
//!
//! Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
//! Workstations" (2009), section 3.
//!
//! A piece is cut into a block for each rank. Block b starts at rank b and walks round the ring
//! for 2(N − 1) hops: in the first N − 1 each rank adds what it brings, and whoever added last has
//! the sum; in the others each rank keeps what comes. What a hop sends waits for nothing but the
//! hop before, so a block is all the state that there is.

use super::numbers::{Inputs, Range};
use super::piece::Piece;

/// A ring of so many ranks, at least 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ring(pub u32);

/// A block on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub piece: Piece,
    pub range: Range,
    /// Who has it, and sends it on.
    pub at: u32,
    /// Hops that it has made.
    pub hops: u32,
    pub numbers: Vec<i64>,
}

/// What a rank does with a block that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It adds what it brings.
    Adds,
    /// It keeps what came.
    Keeps,
}

impl Ring {
    /// The block that starts at `rank`; none if it would be empty.
    pub fn start(self, inputs: Inputs, piece: Piece, rank: u32) -> Option<Block> {
        let range = piece.range.part(u64::from(rank), u64::from(self.0));
        let numbers = inputs.of(rank, range).collect();
        (range.count > 0).then_some(Block { piece, range, at: rank, hops: 0, numbers })
    }

    /// Who is next in the ring.
    pub fn after(self, rank: u32) -> u32 {
        (rank + 1) % self.0
    }

    /// What the next rank will do with the block.
    pub fn arrival(self, block: &Block) -> Arrival {
        if block.hops < self.0 - 1 { Arrival::Adds } else { Arrival::Keeps }
    }

    /// The block is at the next rank, and that rank has done its part.
    pub fn hop(self, inputs: Inputs, block: &mut Block) {
        let adds = self.arrival(block) == Arrival::Adds;
        block.at = self.after(block.at);
        block.hops += 1;
        if adds {
            inputs.add(block.at, block.range, &mut block.numbers);
        }
    }

    /// True if the rank that has the block has the sums by it.
    pub fn is_final(self, block: &Block) -> bool {
        block.hops >= self.0 - 1
    }

    /// True if it goes no further.
    pub fn is_over(self, block: &Block) -> bool {
        block.hops == 2 * (self.0 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::piece::PieceId;
    use super::*;

    #[test]
    fn every_rank_gets_every_block_summed_once_in_2n_minus_2_hops() {
        let inputs = Inputs::new(1, 0);
        let id = PieceId { operation: 0, chunk: 0, epoch: 0 };
        for ranks in 2..8u32 {
            let piece = Piece { id, range: Range { first: 3, count: 17 } };
            let ring = Ring(ranks);
            let mut had = vec![Vec::new(); ranks as usize];
            for rank in 0..ranks {
                let mut block = ring.start(inputs, piece, rank).unwrap();
                while !ring.is_over(&block) {
                    ring.hop(inputs, &mut block);
                    if ring.is_final(&block) {
                        assert_eq!(block.numbers, inputs.sum(ranks, block.range));
                        had[block.at as usize].push(block.range.count);
                    }
                }
                assert_eq!(block.hops, 2 * (ranks - 1));
            }
            assert!(had.iter().all(|counts| counts.iter().sum::<u64>() == 17), "{had:?}");
        }
    }

    #[test]
    fn a_piece_of_fewer_elements_than_ranks_has_fewer_blocks() {
        let id = PieceId { operation: 0, chunk: 0, epoch: 0 };
        let piece = Piece { id, range: Range { first: 0, count: 2 } };
        let blocks = (0..4).filter_map(|rank| Ring(4).start(Inputs::new(1, 0), piece, rank));
        assert_eq!(blocks.count(), 2);
    }
}
