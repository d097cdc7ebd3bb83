//! Rates over the last part of a command, which predict its end better than those over all of it.

use std::collections::VecDeque;
use std::time::Duration;

use indicatif::HumanDuration;

/// Share of the elapsed time that rates cover.
const PART: f64 = 0.25;

/// Minimum of the time that rates cover, in seconds.
const LEAST: f64 = 10.0;

/// Number of samples in the last part.
const SAMPLES: f64 = 50.0;

/// Counters at some times.
#[derive(Debug)]
pub(super) struct Recent<const N: usize> {
    /// Seconds since the start, and the counters then.
    samples: VecDeque<(f64, [f64; N])>,
}

impl<const N: usize> Default for Recent<N> {
    fn default() -> Self {
        Self { samples: VecDeque::from([(0.0, [0.0; N])]) }
    }
}

impl<const N: usize> Recent<N> {
    /// Adds the counters after `seconds`. Returns their rates per second over the last part of the
    /// time.
    pub(super) fn rates(&mut self, seconds: f64, counters: [f64; N]) -> [f64; N] {
        let part = (seconds * PART).max(LEAST);
        // Keep one sample from before the part, so that the samples cover all of it.
        while self.samples.get(1).is_some_and(|(at, _)| seconds - at >= part) {
            self.samples.pop_front();
        }
        let (since, first) = self.samples.front().copied().unwrap_or((0.0, [0.0; N]));
        let is_due = |(at, _): &(f64, [f64; N])| seconds - at >= part / SAMPLES;
        if self.samples.back().is_none_or(is_due) {
            self.samples.push_back((seconds, counters));
        }
        let took = (seconds - since).max(1e-3);
        std::array::from_fn(|index| (counters[index] - first[index]) / took)
    }
}

/// Formats the time that `remaining` takes at a rate per second: `18m left`; `None` if nothing
/// moves.
pub(super) fn time_left(remaining: f64, rate: f64) -> Option<String> {
    let left = Duration::try_from_secs_f64((remaining / rate).max(0.0)).ok()?;
    (rate > 0.0).then(|| format!("{:#} left", HumanDuration(left)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_slows_down_has_the_rate_of_its_last_part() {
        let mut recent = Recent::<1>::default();
        let mut done = 0.0;
        let mut rate = 0.0;
        for second in 1..=1_000 {
            done += if second <= 700 { 1.0 } else { 0.01 };
            [rate] = recent.rates(f64::from(second), [done]);
        }
        assert!((rate - 0.01).abs() < 0.001, "{rate}, and {} over all", done / 1e3);
        assert!(recent.samples.len() < 60, "{}", recent.samples.len());
    }

    #[test]
    fn the_first_seconds_count_from_the_start() {
        let mut recent = Recent::<2>::default();
        assert_eq!(recent.rates(2.0, [10.0, 4.0]), [5.0, 2.0]);
        assert_eq!(recent.rates(4.0, [10.0, 8.0]), [2.5, 2.0]);
    }

    #[test]
    fn the_time_left_follows_from_the_rate() {
        assert_eq!(time_left(60.0, 2.0).as_deref(), Some("30s left"));
        assert_eq!(time_left(0.0, 2.0).as_deref(), Some("0s left"));
        assert_eq!(time_left(1.8e4, 1.0).as_deref(), Some("5h left"));
        assert_eq!(time_left(1.0, 0.0), None, "nothing moves");
        assert_eq!(time_left(1e300, 1e-300), None);
    }
}
