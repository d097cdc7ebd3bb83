//! Median of the newest queueing delays of a queue pair.
//!
//! If few packets meet a congested path, the newest delay says little about the others. The median
//! of several is uncongested as long as a clear minority is delayed (arXiv 2509.07907, theorem 6:
//! less than a third).

use std::collections::VecDeque;

use crate::units::Span;

/// The most delays that are kept. A longer history costs memory and time per acknowledgement.
pub(super) const LONGEST: usize = 128;

/// The newest delays, in picoseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Median {
    newest: VecDeque<u64>,
}

impl Median {
    /// Adds a delay, and returns the median of the newest `count` in picoseconds: 1 to [`LONGEST`],
    /// or fewer if there are fewer. An even number has the mean of the middle two.
    pub(super) fn with(&mut self, delay: Span, count: usize) -> f64 {
        let count = count.clamp(1, LONGEST);
        self.newest.push_back(delay.as_ps());
        // A history that gets shorter keeps the newest delays.
        let surplus = self.newest.len().saturating_sub(count);
        self.newest.drain(..surplus);
        let mut sorted = [0; LONGEST];
        let length = self.newest.len();
        let sorted = &mut sorted[..length];
        sorted.iter_mut().zip(&self.newest).for_each(|(to, from)| *to = *from);
        let (below, middle, _) = sorted.select_nth_unstable(length / 2);
        let upper = *middle as f64;
        match below.iter().max() {
            Some(lower) if length.is_multiple_of(2) => f64::midpoint(*lower as f64, upper),
            _ => upper,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medians(count: usize, delays: &[u64]) -> Vec<f64> {
        let mut median = Median::default();
        delays.iter().map(|&ps| median.with(Span::from_ps(ps), count)).collect()
    }

    #[test]
    fn the_median_is_that_of_the_newest_delays() {
        assert_eq!(medians(1, &[5, 1, 9]), [5.0, 1.0, 9.0]);
        assert_eq!(medians(0, &[5, 1]), [5.0, 1.0], "at least the newest");
        assert_eq!(medians(3, &[5, 1, 9, 9, 2]), [5.0, 3.0, 5.0, 9.0, 9.0]);
        assert_eq!(medians(4, &[8, 8, 8, 0, 0]), [8.0, 8.0, 8.0, 8.0, 4.0]);
        let rising: Vec<u64> = (1..=1_000).collect();
        assert_eq!(medians(10_000, &rising)[999], 936.5, "873 to 1000");
        assert_eq!(medians(2, &[1 << 40, 1 << 40])[1], (1_u64 << 40) as f64, "1.1 s");
    }

    #[test]
    fn a_shorter_history_forgets_the_oldest_delays() {
        let mut median = Median::default();
        for ps in [9, 9, 9, 1] {
            median.with(Span::from_ps(ps), 8);
        }
        assert_eq!(median.with(Span::from_ps(2), 2), 1.5);
        assert_eq!(median.with(Span::from_ps(3), 8), 2.0);
    }
}
