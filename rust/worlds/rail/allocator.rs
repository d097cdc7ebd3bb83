//! A reconstruction: the interface of the allocator. Operations and costs go in, divisions come
//! out.
//!
//! Source: \[inferred\], with what Nezha's abstract (arXiv 2405.17870 v2, 2026) names: feedback of
//! cost, states, rails that fail and return. All allocators measure in the same way; they differ in
//! how they weight the rails ([`Weigh`]).

use thiserror::Error;

use super::{Concurrency, CostLine, Costs, Division, RailSet, SizeClass, Weigh, Weigher};
use crate::ids::RailId;
use crate::units::{BitRate, Bytes, Span};

/// An operation to be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RailOperation {
    /// Length of the operation.
    pub bytes: Bytes,
    /// Length of an element, which is never split; zero counts as one byte.
    pub element: Bytes,
}

/// The time that one rail took for its share of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RailCost {
    /// Id of the rail.
    pub rail: RailId,
    /// Length of its share.
    pub bytes: Bytes,
    /// Time from the start of the operation until the share was complete.
    pub duration: Span,
}

/// The information on which an allocator bases its weights.
#[derive(Debug)]
pub struct AllocationContext<'a> {
    /// Length of the operation.
    pub bytes: Bytes,
    /// Size class of the operation.
    pub class: SizeClass,
    /// The rails that are up, at least one.
    pub up: RailSet,
    /// The nominal rate of each rail.
    pub nominal: &'a [BitRate],
    /// The measured costs of each rail.
    pub costs: &'a Costs,
}

impl AllocationContext<'_> {
    /// Returns the cost lines of the rails that are up and have been measured; `None` for the
    /// others.
    pub fn lines(&self) -> Vec<Option<CostLine>> {
        self.rails()
            .map(|rail| self.up.contains(rail).then(|| self.costs.line(rail, self.class))?)
            .collect()
    }

    /// Returns all rails, up or not, in the order of their ids.
    pub fn rails(&self) -> impl Iterator<Item = RailId> + use<> {
        (0..).map(RailId).take(self.nominal.len())
    }
}

/// A cost with its prior expectation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The measured cost: the rail, its bytes, and how long they took.
    pub cost: RailCost,
    /// Whether other rails carried a part of the operation.
    pub concurrency: Concurrency,
    /// The duration according to the rail's line for this concurrency before this sample, in
    /// picoseconds; `None` without an earlier sample of the class.
    pub expected_ps: Option<f64>,
}

impl Sample {
    /// Returns the duration in picoseconds.
    pub fn ps(&self) -> f64 {
        self.cost.duration.as_ps() as f64
    }
}

/// Whether an allocator keeps the measurements so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// The measurements are still valid.
    Keep,
    /// The measurements are outdated and are discarded.
    Discard,
}

/// The reason why an operation cannot be divided or an allocator cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum AllocateError {
    /// No rail is up.
    #[error("no rail is up: operations wait until one returns")]
    NoRail,
    /// There are no rails, or more than a set holds.
    #[error("{rails} rails are out of range: expected 1 to {}", RailSet::CAPACITY)]
    Rails {
        /// The number of rails.
        rails: usize,
    },
}

/// Divides operations over rails, and adapts to their costs.
#[derive(Debug, Clone)]
pub struct Allocator {
    pub(super) weigher: Weigher,
    up: RailSet,
    nominal: Vec<BitRate>,
    costs: Costs,
}

impl Allocator {
    pub(super) fn new(
        weigher: Weigher,
        memory: f64,
        nominal: &[BitRate],
    ) -> Result<Self, AllocateError> {
        let rails = nominal.len();
        if !(1..=RailSet::CAPACITY).contains(&rails) {
            return Err(AllocateError::Rails { rails });
        }
        Ok(Self {
            weigher,
            up: RailSet::first(rails),
            nominal: nominal.to_vec(),
            costs: Costs::new(rails, memory),
        })
    }

    /// Divides an operation over the rails that are up.
    ///
    /// # Errors
    /// No rail is up.
    pub fn allocate(&mut self, operation: &RailOperation) -> Result<Division, AllocateError> {
        if self.up.is_empty() {
            return Err(AllocateError::NoRail);
        }
        let context = context(operation, self.up, &self.nominal, &self.costs);
        let mut weights = self.weigher.weigh(&context);
        weights.resize(self.nominal.len(), 0.0);
        for (rail, weight) in (0..).map(RailId).zip(&mut weights) {
            if !self.up.contains(rail) {
                *weight = 0.0;
            }
        }
        // If all weights are 0, the first rail that is up gets everything; a rail that is down gets
        // nothing.
        if weights.iter().all(|&weight| weight.is_nan() || weight <= 0.0)
            && let Some(first) = self.up.iter().next()
        {
            weights[first.index()] = 1.0;
        }
        Ok(Division::by_weights(operation.bytes, operation.element, &weights))
    }

    /// Processes the costs of an operation: one cost for each rail that completed its share.
    ///
    /// Callers do not report operations with repeated chunks, whose durations are not
    /// representative.
    pub fn handle_costs(&mut self, operation: &RailOperation, costs: &[RailCost]) {
        let class = SizeClass::of(operation.bytes);
        let parts = costs.iter().filter(|cost| cost.bytes > Bytes::ZERO).count();
        let concurrency = if parts > 1 { Concurrency::Shared } else { Concurrency::Alone };
        let known = |cost: &&RailCost| self.up.contains(cost.rail) && cost.bytes > Bytes::ZERO;
        let samples: Vec<Sample> = costs
            .iter()
            .filter(known)
            .map(|cost| {
                let measured = self.costs.count(cost.rail, class) > 0;
                let line = measured.then(|| self.costs.line_in(concurrency, cost.rail, class));
                let expected_ps = line.flatten().map(|line| line.at(cost.bytes.get() as f64));
                Sample { cost: *cost, concurrency, expected_ps }
            })
            .collect();
        for sample in &samples {
            if self.weigher.accepts(class, sample) {
                self.costs.add(class, concurrency, &sample.cost);
            }
        }
        let context = context(operation, self.up, &self.nominal, &self.costs);
        if self.weigher.handle_costs(&context, &samples) == Retention::Discard {
            self.costs.clear();
        }
    }

    /// Sets the rails that are up. If they change, all measurements are discarded: the rails of a
    /// host share its processor and memory, so the cost of one depends on the others.
    pub fn handle_rails(&mut self, up: RailSet) {
        let up = up.and(RailSet::first(self.nominal.len()));
        if up != self.up {
            self.up = up;
            self.costs.clear();
            self.weigher.handle_rails(up);
        }
    }

    /// Returns the rails that are up.
    pub const fn up(&self) -> RailSet {
        self.up
    }

    /// Returns the expected time of `rail` for `bytes` of an operation; `None` before its first
    /// sample.
    pub fn expected(&self, operation: &RailOperation, rail: RailId, bytes: Bytes) -> Option<Span> {
        let class = SizeClass::of(operation.bytes);
        let whole = bytes == operation.bytes;
        let alone = whole.then(|| self.costs.alone_ps(rail, class, bytes)).flatten();
        let ps = alone.or_else(|| Some(self.costs.line(rail, class)?.at(bytes.get() as f64)))?;
        // The cast saturates.
        Some(Span::from_ps(ps as u64))
    }

    /// Returns the rate of `rail` for operations of this size without its start-up, or its nominal
    /// rate before its first sample. Missing chunks are divided in proportion to it.
    pub fn rate(&self, operation: &RailOperation, rail: RailId) -> BitRate {
        let line = self.costs.line(rail, SizeClass::of(operation.bytes));
        let nominal = self.nominal.get(rail.index()).copied().unwrap_or_default();
        line.map_or(nominal, |line| BitRate::from_bps((8e12 / line.ps_per_byte) as u64))
    }
}

fn context<'a>(
    operation: &RailOperation,
    up: RailSet,
    nominal: &'a [BitRate],
    costs: &'a Costs,
) -> AllocationContext<'a> {
    let class = SizeClass::of(operation.bytes);
    AllocationContext { bytes: operation.bytes, class, up, nominal, costs }
}

#[cfg(test)]
mod tests;
