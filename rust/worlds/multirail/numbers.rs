//! The numbers of an all-reduce, and their exact sums.
//!
//! Each rank contributes one 64-bit integer to each range of elements that is transferred as a
//! unit. The number represents the elements of the range. A sum is exact if it includes the number
//! of every rank once. Addition wraps, so its order does not matter.
//!
//! The number is a function of operation, rank and range. It models the input buffer that a real
//! library must keep until an operation is complete everywhere, because a chunk is repeated from
//! its inputs and never from partial sums.

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
    /// Number of elements.
    pub(super) count: u64,
}

impl Range {
    /// Returns the length in bytes.
    pub(super) fn bytes(self) -> Bytes {
        ELEMENT * self.count
    }

    /// Divides the range into `parts` whose lengths differ by at most one, longer ones first.
    /// Returns the one at `index`.
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
    /// Creates the inputs of an operation in a run with this seed.
    pub(super) fn new(seed: u64, operation: OperationId) -> Self {
        Self { seed, operation }
    }

    /// Returns the number of `rank` for a range.
    pub(super) fn of(self, rank: u32, range: Range) -> i64 {
        let key = mix64(mix64(self.seed ^ self.operation.0) ^ u64::from(rank));
        mix64(key ^ range.first) as i64
    }

    /// Returns the sum over `ranks` ranks.
    pub(super) fn sum(self, ranks: u32, range: Range) -> i64 {
        (0..ranks).fold(0, |sum: i64, rank| sum.wrapping_add(self.of(rank, range)))
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
    fn sums_cover_all_ranks_and_differ_by_range_and_operation() {
        let range = Range { first: 100, count: 4 };
        let inputs = Inputs::new(1, OperationId(0));
        let of = |rank| inputs.of(rank, range);
        assert_eq!(inputs.sum(3, range), of(0).wrapping_add(of(1)).wrapping_add(of(2)));
        assert_ne!(inputs.sum(3, range), Inputs::new(1, OperationId(1)).sum(3, range));
        assert_ne!(inputs.sum(3, range), inputs.sum(3, Range { first: 104, count: 4 }));
    }
}
