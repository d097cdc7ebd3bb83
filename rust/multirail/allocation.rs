//! Who divides operations among rails, as the world of several rails asks.

use super::numbers::ELEMENT;
use crate::units::{Bytes, Span};

/// Divides operations and learns what they took.
pub trait Allocation {
    /// The bytes of each rail, in whole elements, that add up to `bytes`.
    fn divide(&mut self, bytes: Bytes) -> Vec<Bytes>;

    /// An operation of so many bytes is over: what each rail had of it, and how long it took.
    fn handle_times(&mut self, bytes: Bytes, times: &[(Bytes, Option<Span>)]);

    /// A rail takes part no more, or again.
    fn handle_rail(&mut self, rail: u32, state: RailState);
}

/// Whether a rail takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RailState {
    /// It does.
    Up,
    /// It does not.
    Down,
}

/// Fixed parts, whatever anything takes.
#[derive(Debug, Clone)]
pub struct Fixed {
    weights: Vec<u64>,
    up: Vec<RailState>,
}

impl Fixed {
    /// Parts in proportion to `weights`, of which one at least is more than 0.
    pub fn new(weights: Vec<u64>) -> Self {
        let up = vec![RailState::Up; weights.len()];
        Self { weights, up }
    }
}

impl Allocation for Fixed {
    fn divide(&mut self, bytes: Bytes) -> Vec<Bytes> {
        let up = self.weights.iter().zip(&self.up);
        let weights: Vec<u64> = up
            .map(|(&weight, &state)| if state == RailState::Up { weight } else { 0 })
            .collect();
        in_proportion(bytes, &weights)
    }

    fn handle_times(&mut self, _bytes: Bytes, _times: &[(Bytes, Option<Span>)]) {}

    fn handle_rail(&mut self, rail: u32, state: RailState) {
        self.up[rail as usize] = state;
    }
}

/// `bytes` in proportion to `weights`, in whole elements; what is left over goes to the heaviest.
pub(super) fn in_proportion(bytes: Bytes, weights: &[u64]) -> Vec<Bytes> {
    let elements = bytes.get() / ELEMENT.get();
    let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum::<u128>().max(1);
    let part = |&weight: &u64| (u128::from(elements) * u128::from(weight) / total) as u64;
    let mut parts: Vec<u64> = weights.iter().map(part).collect();
    let left = elements - parts.iter().sum::<u64>();
    let heaviest = (0..weights.len()).rev().max_by_key(|&rail| weights[rail]);
    if let Some(heaviest) = heaviest {
        parts[heaviest] += left;
    }
    parts.into_iter().map(|count| ELEMENT * count).collect()
}
