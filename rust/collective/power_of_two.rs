//! How algorithms for a power of two of ranks take any number of them.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//! MPICH", International Journal of High Performance Computing Applications 19(1), 2005, section
//! 4.5: of the ranks beyond the power of two each gives its vector to its neighbour before, and
//! gets the result after.

use super::schedule::{How, Schedule, Send};

/// The ranks that take part in the middle, a power of two of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fold {
    /// How many ranks there are beyond the power of two.
    beyond: usize,
    /// The power of two.
    pub size: usize,
    /// Its logarithm.
    pub steps: u32,
}

impl Fold {
    pub fn of(ranks: usize) -> Self {
        let steps = ranks.ilog2();
        Self { beyond: ranks - (1 << steps), size: 1 << steps, steps }
    }

    /// The rank of the middle's number `index`.
    pub fn rank(self, index: usize) -> usize {
        if index < self.beyond { 2 * index + 1 } else { index + self.beyond }
    }

    /// The first step of the middle.
    pub fn first_step(self) -> u32 {
        u32::from(self.beyond > 0)
    }

    /// Even ranks among the first give what they have to their right neighbours.
    pub fn before(self, schedule: &mut Schedule<'_>, blocks: usize) {
        for index in 0..self.beyond {
            let send = Send { step: 0, from: 2 * index, to: 2 * index + 1, how: How::Add };
            schedule.send(&send, 0..blocks);
        }
    }

    /// They get the result back in `step`.
    pub fn after(self, schedule: &mut Schedule<'_>, step: u32, blocks: usize) {
        for index in 0..self.beyond {
            let send = Send { step, from: 2 * index + 1, to: 2 * index, how: How::Keep };
            schedule.send(&send, 0..blocks);
        }
    }

    /// Messages of before and after together.
    pub fn messages(self) -> u128 {
        2 * self.beyond as u128
    }
}
