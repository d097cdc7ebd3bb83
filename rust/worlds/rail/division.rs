//! A reconstruction: the division of an operation's bytes over rails, in whole elements.
//!
//! Source: \[inferred\], largest remainders (Hamilton's method of apportionment). No rail is more
//! than an element away from its exact share, and equal weights give equal shares if possible.

use std::ops::Range;

use crate::ids::RailId;
use crate::units::Bytes;

/// The share of each rail in an operation; the shares add up to the operation's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division {
    shares: Vec<Bytes>,
}

/// A rail's share of an operation: one range of its buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RailRange {
    /// Id of the rail.
    pub rail: RailId,
    /// Byte range of the operation's buffer; not empty.
    pub range: Range<u64>,
}

impl RailRange {
    /// Returns the length of the range.
    pub const fn bytes(&self) -> Bytes {
        Bytes::new(self.range.end - self.range.start)
    }
}

impl Division {
    /// Creates a division with the shares of the rails in the order of their ids.
    pub fn new(shares: Vec<Bytes>) -> Self {
        Self { shares }
    }

    /// Divides `bytes` in proportion to `weights`, in whole elements. A remainder of less than an
    /// element at the end of the buffer belongs to the last share. Negative, infinite and NaN
    /// weights count as zero; if all weights are zero, the first rail gets everything.
    pub(super) fn by_weights(bytes: Bytes, element: Bytes, weights: &[f64]) -> Self {
        let element = element.get().max(1);
        let elements = bytes.get() / element;
        let weights: Vec<f64> = weights.iter().map(|&weight| finite_or_zero(weight)).collect();
        let total: f64 = weights.iter().sum();
        let mut counts = vec![0u64; weights.len()];
        if total > 0.0 {
            let exact = |rail: usize| elements as f64 * (weights[rail] / total);
            for (rail, count) in counts.iter_mut().enumerate() {
                *count = exact(rail) as u64;
            }
            apportion(elements, &mut counts, &weights, exact);
        } else if let Some(first) = counts.first_mut() {
            *first = elements;
        }
        let mut shares: Vec<Bytes> =
            counts.into_iter().map(|count| Bytes::new(count * element)).collect();
        let rest = Bytes::new(bytes.get() % element);
        let heaviest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]));
        // If the buffer is shorter than an element, the remainder is all there is.
        let last = shares.iter().rposition(|&share| share > Bytes::ZERO).or(heaviest);
        if let Some(last) = last {
            shares[last] += rest;
        }
        Self { shares }
    }

    /// Returns the share of `rail`; zero for an unknown rail.
    pub fn of(&self, rail: RailId) -> Bytes {
        self.shares.get(rail.index()).copied().unwrap_or(Bytes::ZERO)
    }

    /// Returns the sum of all shares.
    pub fn total(&self) -> Bytes {
        self.shares.iter().fold(Bytes::ZERO, |sum, &share| sum + share)
    }

    /// Returns the shares of all rails in the order of their ids.
    pub fn shares(&self) -> &[Bytes] {
        &self.shares
    }

    /// Returns the consecutive ranges of the rails with a share above zero.
    pub fn ranges(&self) -> impl Iterator<Item = RailRange> + '_ {
        let mut start = 0;
        (0..).map(RailId).zip(&self.shares).filter(|(_, share)| **share > Bytes::ZERO).map(
            move |(rail, share)| {
                let range = start..start + share.get();
                start = range.end;
                RailRange { rail, range }
            },
        )
    }
}

fn finite_or_zero(weight: f64) -> f64 {
    if weight.is_finite() && weight > 0.0 { weight } else { 0.0 }
}

/// Raises integer counts until they add up to `elements`. Those with the largest remainder come
/// first, the lower rail in a tie.
fn apportion(elements: u64, counts: &mut [u64], weights: &[f64], exact: impl Fn(usize) -> f64) {
    let mut order: Vec<usize> = (0..counts.len()).filter(|&rail| weights[rail] > 0.0).collect();
    let remainders: Vec<f64> =
        (0..counts.len()).map(|rail| exact(rail) - counts[rail] as f64).collect();
    order.sort_by(|&a, &b| remainders[b].total_cmp(&remainders[a]).then(a.cmp(&b)));
    let sum: u128 = counts.iter().map(|&count| u128::from(count)).sum();
    // Beyond 2^53 elements the sum may also be too large because of rounding.
    if let Some(mut excess) = sum.checked_sub(elements.into()).filter(|&excess| excess > 0) {
        for &rail in order.iter().rev() {
            let less = excess.min(counts[rail].into());
            counts[rail] -= less as u64;
            excess -= less;
        }
        return;
    }
    let missing = elements - sum as u64;
    let (each, ahead) = (missing / order.len() as u64, missing % order.len() as u64);
    for (index, &rail) in (0..).zip(&order) {
        counts[rail] += each + u64::from(index < ahead);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(bytes: u64, element: u64, weights: &[f64]) -> Vec<u64> {
        let division = Division::by_weights(Bytes::new(bytes), Bytes::new(element), weights);
        assert_eq!(division.total().get(), bytes);
        division.shares().iter().map(|share| share.get()).collect()
    }

    #[test]
    fn shares_are_whole_elements_and_add_up() {
        assert_eq!(shares(100, 4, &[1.0, 1.0]), [52, 48]);
        assert_eq!(shares(1000, 8, &[10.0, 1.0, 0.0]), [912, 88, 0]);
        assert_eq!(shares(12, 4, &[1.0, 1.0, 1.0, 1.0]), [4, 4, 4, 0]);
        assert_eq!(shares(0, 4, &[1.0, 1.0]), [0, 0]);
    }

    #[test]
    fn a_remainder_of_less_than_an_element_belongs_to_the_last_share() {
        assert_eq!(shares(103, 4, &[1.0, 1.0, 0.0]), [52, 51, 0]);
        assert_eq!(shares(3, 4, &[1.0, 2.0, 1.0]), [0, 3, 0]);
    }

    #[test]
    fn invalid_weights_count_as_zero() {
        assert_eq!(shares(8, 4, &[f64::NAN, -1.0, 1.0]), [0, 0, 8]);
        assert_eq!(shares(8, 4, &[f64::INFINITY, 0.0]), [8, 0]);
        assert_eq!(shares(8, 0, &[1.0, 1.0]), [4, 4]);
        assert_eq!(shares(u64::MAX, 1, &[1.0, 1.0, 1.0]).len(), 3);
    }

    #[test]
    fn ranges_are_consecutive() {
        let division = Division::new([8, 0, 4].map(Bytes::new).to_vec());
        let ranges: Vec<_> = division.ranges().map(|it| (it.rail.0, it.range)).collect();
        assert_eq!(ranges, [(0, 0..8), (2, 8..12)]);
        assert_eq!(division.of(RailId(7)), Bytes::ZERO);
    }

    #[test]
    fn the_maximum_number_of_bytes_is_divided() {
        for weights in [[1.0, 1e-3], [1.0, 1.0], [1e-9, 1.0]] {
            shares(u64::MAX, 1, &weights);
        }
    }

    #[test]
    fn a_rail_without_weight_gets_nothing_of_the_maximum_number_of_bytes() {
        for weights in [[1.0, 0.0, 1.0, 1.0], [0.3, 0.0, 0.1, 0.1], [1.0, 0.0, 1e-3, 7.0]] {
            for bytes in [u64::MAX, u64::MAX / 3, u64::MAX / 7, (1 << 60) + 12_345] {
                assert_eq!(shares(bytes, 1, &weights)[1], 0, "{bytes}, {weights:?}");
            }
        }
    }
}
