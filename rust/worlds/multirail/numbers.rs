//! The numbers of an all-reduce, and their exact sums.
//!
//! Elements are 64-bit integers with wrapping addition, so that the sum does not depend on the
//! order of additions and can be compared bit by bit. The input of a rank is a function of
//! operation, rank and index. It stands for the buffer of inputs that a real library must keep
//! until an operation is complete everywhere, because a chunk is repeated from its inputs, never
//! from a buffer with partial sums.

use crate::rail::handler::OperationId;
use crate::rng::mix64;
use crate::units::Bytes;

/// Length of an element.
pub const ELEMENT: Bytes = Bytes::new(8);

/// The inputs of all ranks to one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inputs {
    seed: u64,
    operation: OperationId,
}

/// A range of elements of an operation's vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Range {
    /// Index of the first element in the vector.
    pub(super) first: u64,
    /// The number of elements.
    pub(super) count: u64,
}

impl Range {
    /// Its length in bytes.
    pub(super) fn bytes(self) -> Bytes {
        ELEMENT * self.count
    }

    /// Divides the range into `parts` whose lengths differ by at most one, longer ones first, and
    /// returns the one at `index`.
    pub(super) fn part(self, index: u64, parts: u64) -> Self {
        let (each, left) = (self.count / parts, self.count % parts);
        let first = self.first + index * each + index.min(left);
        Self { first, count: each + u64::from(index < left) }
    }

    /// Divides the range into consecutive ranges of at most `most` elements.
    pub(super) fn cut(self, most: u64) -> impl Iterator<Item = Self> {
        let most = most.max(1);
        (0..self.count.div_ceil(most)).map(move |index| Self {
            first: self.first + index * most,
            count: most.min(self.count - index * most),
        })
    }
}

impl Inputs {
    /// The inputs of an operation of the run with that seed.
    pub(super) fn new(seed: u64, operation: OperationId) -> Self {
        Self { seed, operation }
    }

    fn key(self, rank: u32) -> u64 {
        mix64(mix64(self.seed ^ self.operation.0) ^ u64::from(rank))
    }

    /// Returns the input of `rank`.
    pub(super) fn of(self, rank: u32, range: Range) -> Vec<i64> {
        let mut numbers = vec![0; range.count as usize];
        self.add(rank, range, &mut numbers);
        numbers
    }

    /// Adds the input of `rank` to `sums`, which covers that range.
    pub(super) fn add(self, rank: u32, range: Range, sums: &mut [i64]) {
        debug_assert_eq!(sums.len() as u64, range.count);
        let key = self.key(rank);
        // A loop over indices: unoptimised, as in tests, an iterator takes several times as long.
        let mut place = 0;
        while place < sums.len() {
            // An odd factor is invertible, so distinct indices stay distinct; it spreads low bits.
            let index = range.first + place as u64;
            let number = (key ^ index).wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64;
            sums[place] = sums[place].wrapping_add(number);
            place += 1;
        }
    }

    /// The sum over `ranks` ranks.
    pub(super) fn sum(self, ranks: u32, range: Range) -> Vec<i64> {
        let mut sums = vec![0; range.count as usize];
        (0..ranks).for_each(|rank| self.add(rank, range, &mut sums));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_cuts_cover_the_range_in_order() {
        let whole = Range { first: 7, count: 23 };
        for parts in [1, 2, 5, 23, 40] {
            let mut next = whole.first;
            for part in (0..parts).map(|index| whole.part(index, parts)) {
                assert_eq!(part.first, next);
                next += part.count;
            }
            assert_eq!(next, 30, "{parts}");
        }
        let lengths: Vec<u64> = whole.cut(10).map(|range| range.count).collect();
        assert_eq!(lengths, [10, 10, 3]);
        assert_eq!(Range { first: 0, count: 0 }.cut(4).count(), 0);
    }

    #[test]
    fn sums_cover_all_ranks_and_differ_by_index_and_operation() {
        let range = Range { first: 100, count: 4 };
        let inputs = Inputs::new(1, OperationId(0));
        let by_hand: Vec<i64> = (0..4)
            .map(|place| {
                let of = |rank| inputs.of(rank, range)[place];
                of(0).wrapping_add(of(1)).wrapping_add(of(2))
            })
            .collect();
        assert_eq!(inputs.sum(3, range), by_hand);
        assert_ne!(inputs.sum(3, range), Inputs::new(1, OperationId(1)).sum(3, range));
        assert_ne!(by_hand[0], by_hand[1]);
    }
}
