//! A distribution of spans in bounded memory: exact up to a million, binned above.

use crate::units::Span;

/// Number of spans kept exactly: 2^20.
const EXACT: usize = 1 << 20;

/// Base-2 logarithm of the bins per power of two. Quantiles are at most 0.1 % too large.
const BINS: u32 = 10;

/// A distribution of spans: exact while there are few, in logarithmic bins from then on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spans {
    count: u64,
    sum: u128,
    shortest: Option<Span>,
    longest: Option<Span>,
    /// Every span, in order of arrival; empty once bins are used.
    exact: Vec<Span>,
    /// Number of spans per bin; empty while spans are kept exactly.
    bins: Vec<u64>,
}

impl Spans {
    /// Adds a span.
    pub fn add(&mut self, span: Span) {
        self.count += 1;
        self.sum += u128::from(span.as_ps());
        self.shortest = Some(self.shortest.map_or(span, |shortest| shortest.min(span)));
        self.longest = Some(self.longest.map_or(span, |longest| longest.max(span)));
        if self.bins.is_empty() && self.exact.len() < EXACT {
            self.exact.push(span);
            return;
        }
        if self.bins.is_empty() {
            self.bins = vec![0; bin(u64::MAX) + 1];
            for span in std::mem::take(&mut self.exact) {
                self.bins[bin(span.as_ps())] += 1;
            }
        }
        self.bins[bin(span.as_ps())] += 1;
    }

    /// Returns the number of spans.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the shortest span; `None` without one.
    pub fn shortest(&self) -> Option<Span> {
        self.shortest
    }

    /// Returns the longest span; `None` without one.
    pub fn longest(&self) -> Option<Span> {
        self.longest
    }

    /// Returns the arithmetic mean, to the nearest picosecond; `None` without spans.
    pub fn mean(&self) -> Option<Span> {
        let count = u128::from(self.count);
        // Adding half of the divisor rounds to nearest.
        let nearest = (self.sum + count / 2).checked_div(count)?;
        Some(Span::from_ps(u64::try_from(nearest).expect("a mean is no larger than the largest")))
    }

    /// Returns the smallest span that at least `percent` % of the spans do not exceed. With more
    /// than 2^20 spans the result is at most 0.1 % larger.
    pub fn percentile(&self, percent: u64) -> Option<Span> {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100).max(1);
        if self.bins.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable();
            return sorted.get(rank as usize - 1).copied();
        }
        let mut below = 0u128;
        let found = self.bins.iter().position(|&count| {
            below += u128::from(count);
            below >= rank
        });
        // The upper end of the last bin may exceed the longest span.
        found.map(upper_end).map(Span::from_ps).min(self.longest)
    }
}

/// Returns the bin of a length.
fn bin(ps: u64) -> usize {
    let power = ps.max(1).ilog2();
    // Below 2^10 ps every length has its own bin.
    if power < BINS {
        return ps as usize;
    }
    // The bits below the leading one, which `power` stands for.
    let within = (ps >> (power - BINS)) & ((1 << BINS) - 1);
    (((power - BINS + 1) << BINS) as u64 | within) as usize
}

/// Returns the longest length in a bin.
fn upper_end(bin: usize) -> u64 {
    let (group, within) = (bin as u64 >> BINS, bin as u64 & ((1 << BINS) - 1));
    if group == 0 {
        return within;
    }
    let shift = group - 1;
    let first = (1 << BINS | within) << shift;
    first | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_no_gaps() {
        let mut ends = Vec::new();
        for ps in (0..5_000).chain([u64::MAX >> 20, u64::MAX >> 1, u64::MAX]) {
            let end = upper_end(bin(ps));
            assert!(end >= ps && (end - ps) * 1_000 <= ps, "{ps} in a bin up to {end}");
            ends.push(end);
        }
        assert!(ends.is_sorted());
        for index in 1..bin(u64::MAX) {
            assert_eq!(bin(upper_end(index - 1) + 1), index);
        }
    }

    #[test]
    fn percentiles_are_exact_for_few_spans_and_close_for_many() {
        let mut spans = Spans::default();
        assert_eq!((spans.mean(), spans.percentile(50)), (None, None));
        for ns in (1..=200).rev() {
            spans.add(Span::from_ns(ns));
        }
        assert_eq!(spans.percentile(50), Some(Span::from_ns(100)));
        assert_eq!(spans.percentile(99), Some(Span::from_ns(198)));
        assert_eq!(spans.mean(), Some(Span::from_ps(100_500)));
        let count = EXACT as u64 + 1_000;
        let mut spans = Spans::default();
        for index in 0..count {
            // In scrambled order.
            spans.add(Span::from_ps(1 + index.wrapping_mul(7_919) % count));
        }
        assert_eq!((spans.shortest(), spans.count()), (Some(Span::from_ps(1)), count));
        assert_eq!(spans.percentile(100), spans.longest());
        for percent in [1, 50, 99] {
            let (got, exact) = (spans.percentile(percent).unwrap(), count * percent / 100);
            assert!(got.as_ps() >= exact && got.as_ps() <= exact + exact / 1_000 + 1, "{got}");
        }
    }
}
