//! A reconstruction: an operation's bytes in whole elements, rail by rail.
//!
//! Source: \[inferred\], largest remainders (Hamilton's method of apportionment): no rail is more
//! than an element away from its exact part, and equal weights give equal parts where they can.

use std::ops::Range;

use crate::ids::RailId;
use crate::units::Bytes;

/// How many bytes of an operation each rail gets. Together they are the operation's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division {
    shares: Vec<Bytes>,
}

/// A rail's part of an operation: one range of its buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which rail.
    pub rail: RailId,
    /// Which bytes of the operation's buffer; not empty.
    pub range: Range<u64>,
}

impl Part {
    /// How many bytes it is.
    pub const fn bytes(&self) -> Bytes {
        Bytes::new(self.range.end - self.range.start)
    }
}

impl Division {
    /// These bytes for the rails in the order of their ids.
    pub fn new(shares: Vec<Bytes>) -> Self {
        Self { shares }
    }

    /// Divides `bytes` in proportion to `weights`, in whole elements. What is left at the end of
    /// a buffer that is no whole number of elements goes with its last part. Weights that are
    /// negative or no numbers count as zero; with nothing but zeros the first rail gets all.
    pub(super) fn by_weights(bytes: Bytes, element: Bytes, weights: &[f64]) -> Self {
        let element = element.get().max(1);
        let elements = bytes.get() / element;
        let weights: Vec<f64> = weights.iter().map(|&weight| sane(weight)).collect();
        let total: f64 = weights.iter().sum();
        let mut parts = vec![0u64; weights.len()];
        if total > 0.0 {
            let exact = |rail: usize| elements as f64 * (weights[rail] / total);
            for (rail, part) in parts.iter_mut().enumerate() {
                *part = exact(rail) as u64;
            }
            apportion(elements, &mut parts, &weights, exact);
        } else if let Some(first) = parts.first_mut() {
            *first = elements;
        }
        let mut shares: Vec<Bytes> =
            parts.into_iter().map(|part| Bytes::new(part * element)).collect();
        let rest = Bytes::new(bytes.get() % element);
        let heaviest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]));
        // A buffer of less than an element is all rest.
        let last = shares.iter().rposition(|&share| share > Bytes::ZERO).or(heaviest);
        if let Some(last) = last {
            shares[last] += rest;
        }
        Self { shares }
    }

    /// What `rail` gets; nothing, if there is no such rail.
    pub fn of(&self, rail: RailId) -> Bytes {
        self.shares.get(rail.index()).copied().unwrap_or(Bytes::ZERO)
    }

    /// All of it.
    pub fn total(&self) -> Bytes {
        self.shares.iter().fold(Bytes::ZERO, |sum, &share| sum + share)
    }

    /// What each rail gets, in the order of their ids.
    pub fn shares(&self) -> &[Bytes] {
        &self.shares
    }

    /// The parts of the rails that get something, one behind the other.
    pub fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        let mut start = 0;
        (0..).map(RailId).zip(&self.shares).filter(|(_, share)| **share > Bytes::ZERO).map(
            move |(rail, share)| {
                let range = start..start + share.get();
                start = range.end;
                Part { rail, range }
            },
        )
    }
}

fn sane(weight: f64) -> f64 {
    if weight.is_finite() && weight > 0.0 { weight } else { 0.0 }
}

/// Brings whole parts to their sum: to those that lack most first, the lower rail of two.
fn apportion(elements: u64, parts: &mut [u64], weights: &[f64], exact: impl Fn(usize) -> f64) {
    let mut order: Vec<usize> = (0..parts.len()).filter(|&rail| weights[rail] > 0.0).collect();
    let lacks: Vec<f64> = (0..parts.len()).map(|rail| exact(rail) - parts[rail] as f64).collect();
    order.sort_by(|&a, &b| lacks[b].total_cmp(&lacks[a]).then(a.cmp(&b)));
    let sum: u64 = parts.iter().sum();
    // Beyond 2^53 elements rounding may also give too many.
    if sum > elements {
        let mut over = sum - elements;
        for &rail in order.iter().rev() {
            let less = over.min(parts[rail]);
            parts[rail] -= less;
            over -= less;
        }
        return;
    }
    let missing = elements - sum;
    let (each, ahead) = (missing / order.len() as u64, missing % order.len() as u64);
    for (place, &rail) in (0..).zip(&order) {
        parts[rail] += each + u64::from(place < ahead);
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
    fn parts_are_whole_elements_and_sum_up() {
        assert_eq!(shares(100, 4, &[1.0, 1.0]), [52, 48]);
        assert_eq!(shares(1000, 8, &[10.0, 1.0, 0.0]), [912, 88, 0]);
        assert_eq!(shares(12, 4, &[1.0, 1.0, 1.0, 1.0]), [4, 4, 4, 0]);
        assert_eq!(shares(0, 4, &[1.0, 1.0]), [0, 0]);
    }

    #[test]
    fn odd_bytes_go_with_the_last_part() {
        assert_eq!(shares(103, 4, &[1.0, 1.0, 0.0]), [52, 51, 0]);
        assert_eq!(shares(3, 4, &[1.0, 2.0, 1.0]), [0, 3, 0]);
    }

    #[test]
    fn bad_weights_are_no_weights() {
        assert_eq!(shares(8, 4, &[f64::NAN, -1.0, 1.0]), [0, 0, 8]);
        assert_eq!(shares(8, 4, &[f64::INFINITY, 0.0]), [8, 0]);
        assert_eq!(shares(8, 0, &[1.0, 1.0]), [4, 4]);
        assert_eq!(shares(u64::MAX, 1, &[1.0, 1.0, 1.0]).len(), 3);
    }

    #[test]
    fn parts_lie_one_behind_the_other() {
        let division = Division::new([8, 0, 4].map(Bytes::new).to_vec());
        let parts: Vec<_> = division.parts().map(|part| (part.rail.0, part.range)).collect();
        assert_eq!(parts, [(0, 0..8), (2, 8..12)]);
        assert_eq!(division.of(RailId(7)), Bytes::ZERO);
    }
}
