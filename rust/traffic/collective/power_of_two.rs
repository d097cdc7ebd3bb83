//! Extends algorithms for a power-of-two number of ranks to any number of ranks.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//! MPICH", International Journal of High Performance Computing Applications 19(1), 2005, section
//! 4.5. Each rank in excess of the power of two sends its vector to its neighbour before the
//! algorithm. It receives the result from that neighbour afterwards.

use super::schedule::{OnArrival, ScheduleBuilder, Send};

/// The ranks that take part in the algorithm itself; their number is a power of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct PowerOfTwo {
    /// Number of ranks beyond the power of two.
    excess: usize,
    /// Number of participants, a power of two.
    pub size: usize,
    /// The binary logarithm of `size`.
    pub steps: u32,
}

impl PowerOfTwo {
    /// Returns the largest power of two up to `ranks`; 1 for no ranks.
    pub(super) fn below(ranks: usize) -> Self {
        let ranks = ranks.max(1);
        let steps = ranks.ilog2();
        Self { excess: ranks - (1 << steps), size: 1 << steps, steps }
    }

    /// Returns the rank of participant `index`.
    pub(super) fn rank(self, index: usize) -> usize {
        // In the first pairs, the odd ranks take part on behalf of their left neighbours. All ranks
        // after the pairs take part.
        if index < self.excess { 2 * index + 1 } else { index + self.excess }
    }

    /// Returns the first step of the algorithm itself.
    pub(super) fn first_step(self) -> u32 {
        u32::from(self.excess > 0)
    }

    /// Adds the sends before the algorithm: excess ranks, the even ones among the first, send their
    /// vectors to their right neighbours.
    pub(super) fn reduce_excess(self, schedule: &mut ScheduleBuilder<'_>, blocks: usize) {
        for index in 0..self.excess {
            let send =
                Send { step: 0, from: 2 * index, to: 2 * index + 1, on_arrival: OnArrival::Reduce };
            schedule.send(&send, &[0..blocks]);
        }
    }

    /// Adds the sends in `step`, after the algorithm: excess ranks receive the result.
    pub(super) fn return_to_excess(
        self,
        schedule: &mut ScheduleBuilder<'_>,
        step: u32,
        blocks: usize,
    ) {
        for index in 0..self.excess {
            let send = Send {
                step,
                from: 2 * index + 1,
                to: 2 * index,
                on_arrival: OnArrival::ReplaceFinal,
            };
            schedule.send(&send, &[0..blocks]);
        }
    }

    /// Returns the number of messages from and to excess ranks.
    pub(super) fn excess_messages(self) -> u128 {
        2 * self.excess as u128
    }
}
