//! A reconstruction: the interface of the allocator: operations in, divisions out, costs in.
//!
//! Source: \[inferred\], with what Nezha's abstract (arXiv 2405.17870 v2, 2026) names: feedback of
//! cost, states, rails that fail and return. All allocators measure in the same way; they differ
//! in how they weight the rails ([`Weigh`]).

use thiserror::Error;

use super::{Concurrency, CostLine, Costs, Division, Phase, RailSet, SizeClass, Weigh, Weigher};
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
    /// From the start of the operation until the share was complete.
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
    /// The cost lines of the rails that are up and have been measured; `None` for the others.
    pub fn lines(&self) -> Vec<Option<CostLine>> {
        self.rails()
            .map(|rail| self.up.contains(rail).then(|| self.costs.line(rail, self.class))?)
            .collect()
    }

    /// All rails, up or not, in the order of their ids.
    pub fn rails(&self) -> impl Iterator<Item = RailId> + use<> {
        (0..).map(RailId).take(self.nominal.len())
    }
}

/// A cost with the expectation that preceded it.
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
    /// The duration in picoseconds.
    pub fn ps(&self) -> f64 {
        self.cost.duration.as_ps() as f64
    }
}

/// The costs of one operation on the rails that took part.
#[derive(Debug)]
pub struct OperationCosts<'a> {
    /// A sample for each rail that had a share, in the order of the reports.
    pub samples: &'a [Sample],
}

impl OperationCosts<'_> {
    /// The imbalance of the rails' ends: (longest − shortest) / longest; 0 for fewer than two
    /// rails.
    pub fn spread(&self) -> f64 {
        let longest = self.samples.iter().map(Sample::ps).fold(0.0, f64::max);
        let shortest = self.samples.iter().map(Sample::ps).fold(f64::INFINITY, f64::min);
        if self.samples.len() < 2 || longest <= 0.0 { 0.0 } else { (longest - shortest) / longest }
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
    #[error("no rail is up: an operation waits until one returns")]
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
    weigher: Weigher,
    up: RailSet,
    nominal: Vec<BitRate>,
    costs: Costs,
    /// The last division of each class, for reports.
    last: Vec<Option<Division>>,
}

/// The state of an allocator for operations of one size class, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassStatus {
    /// The class of sizes that the status applies to.
    pub class: SizeClass,
    /// How the allocator currently divides such operations.
    pub phase: Phase,
    /// The rails in the order of their ids.
    pub rails: Vec<RailStatus>,
}

/// The measurements of one rail in one size class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RailStatus {
    /// The line fitted to its costs; `None` before the first sample.
    pub line: Option<CostLine>,
    /// Number of samples of this class since the measurements were last discarded.
    pub samples: u32,
    /// Its share of the last operation of this class.
    pub bytes: Bytes,
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
            last: vec![None; SizeClass::all().count()],
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
        let class = SizeClass::of(operation.bytes);
        let context = context(operation, self.up, &self.nominal, &self.costs);
        let mut weights = self.weigher.weigh(&context);
        weights.resize(self.nominal.len(), 0.0);
        for (rail, weight) in (0..).map(RailId).zip(&mut weights) {
            if !self.up.contains(rail) {
                *weight = 0.0;
            }
        }
        // All weights may be 0; a rail that is down still gets nothing.
        if weights.iter().all(|&weight| weight.is_nan() || weight <= 0.0)
            && let Some(first) = self.up.iter().next()
        {
            weights[first.index()] = 1.0;
        }
        let division = Division::by_weights(operation.bytes, operation.element, &weights);
        self.last[class.index()] = Some(division.clone());
        Ok(division)
    }

    /// Processes the costs of an operation: one cost for each rail that completed its share.
    ///
    /// An operation of which chunks were repeated is not representative: callers do not report it.
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
        let operation_costs = OperationCosts { samples: &samples };
        if self.weigher.handle_costs(&context, &operation_costs) == Retention::Discard {
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

    /// The rails that are up.
    pub const fn up(&self) -> RailSet {
        self.up
    }

    /// The expected time of `rail` for `bytes` of an operation; `None` before its first sample.
    pub fn expected(&self, operation: &RailOperation, rail: RailId, bytes: Bytes) -> Option<Span> {
        let class = SizeClass::of(operation.bytes);
        let whole = bytes == operation.bytes;
        let alone = whole.then(|| self.costs.alone_ps(rail, class, bytes)).flatten();
        let ps = alone.or_else(|| Some(self.costs.line(rail, class)?.at(bytes.get() as f64)))?;
        // The cast saturates.
        Some(Span::from_ps(ps as u64))
    }

    /// The rate of `rail` for operations of this size without its start-up, or its nominal rate
    /// before its first sample. Missing chunks are divided in proportion to it.
    pub fn rate(&self, operation: &RailOperation, rail: RailId) -> BitRate {
        let line = self.costs.line(rail, SizeClass::of(operation.bytes));
        let nominal = self.nominal.get(rail.index()).copied().unwrap_or_default();
        line.map_or(nominal, |line| BitRate::from_bps((8e12 / line.ps_per_byte) as u64))
    }

    /// The status of each size class of which an operation was divided.
    pub fn status(&self) -> Vec<ClassStatus> {
        let classes = SizeClass::all().zip(&self.last);
        let used = classes.filter_map(|(class, last)| Some((class, last.as_ref()?)));
        used.map(|(class, last)| {
            let rails = (0..).map(RailId).take(self.nominal.len());
            let rails = rails.map(|rail| RailStatus {
                line: self.costs.line(rail, class),
                samples: self.costs.count(rail, class),
                bytes: last.of(rail),
            });
            ClassStatus { class, phase: self.weigher.phase(class), rails: rails.collect() }
        })
        .collect()
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
mod tests {
    use super::super::test_rails::{Bench, config, operation};
    use super::*;

    #[test]
    fn rails_that_are_down_get_nothing_under_any_allocator() {
        for preset in super::super::PRESETS {
            let mut bench = Bench::new(preset.name, &[(1_000, 100), (2_000, 100), (3_000, 100)]);
            bench.steps(5, 1 << 20);
            bench.allocator.handle_rails(RailSet::EMPTY.with(RailId(2)));
            for _ in 0..5 {
                let rails: Vec<_> = bench.step(1 << 20).ranges().map(|it| it.rail.0).collect();
                assert_eq!(rails, [2], "{}", preset.name);
            }
            bench.allocator.handle_rails(RailSet::EMPTY);
            let error = bench.allocator.allocate(&operation(1)).unwrap_err();
            assert_eq!(error, AllocateError::NoRail);
        }
    }

    #[test]
    fn the_spread_is_what_the_first_rail_waits_for_the_last() {
        let spread = |ns: &[u64]| {
            let sample = |(rail, &ns): (u32, &u64)| Sample {
                cost: RailCost {
                    rail: RailId(rail),
                    bytes: Bytes::new(1),
                    duration: Span::from_ns(ns),
                },
                concurrency: Concurrency::Shared,
                expected_ps: None,
            };
            let samples: Vec<Sample> = (0..).zip(ns).map(sample).collect();
            OperationCosts { samples: &samples }.spread()
        };
        assert_eq!([&[400, 100][..], &[300, 400, 200], &[5, 5]].map(spread), [0.75, 0.5, 0.0]);
        assert_eq!([&[][..], &[7], &[0, 0]].map(spread), [0.0; 3]);
    }

    #[test]
    fn equal_inputs_give_equal_divisions() {
        let run = |name| {
            let mut bench = Bench::new(name, &[(1_000, 100), (9_000, 37)]);
            bench.noise = 100;
            (1..200).map(|step| bench.step(step * 7_777)).collect::<Vec<_>>()
        };
        for preset in super::super::PRESETS {
            assert_eq!(run(preset.name), run(preset.name));
        }
    }

    #[test]
    fn the_status_reports_phase_lines_and_samples() {
        let mut bench = Bench::new("nezha", &[(1_000, 100), (4_000, 300)]);
        bench.steps(10, 1 << 20);
        let status = bench.allocator.status();
        assert_eq!((status.len(), status[0].phase), (1, Phase::Hot));
        assert_eq!(status[0].class.smallest(), Bytes::new(1 << 20));
        let second = status[0].rails[1];
        let line = second.line.unwrap();
        assert!((line.ps_per_byte / 300.0 - 1.0).abs() < 0.05, "{line:?}");
        // The fourth, sixth and tenth operation are trials of the first rail alone.
        assert_eq!((status[0].rails[0].samples, second.samples), (10, 7));
        let expected = bench.allocator.expected(&operation(1 << 20), RailId(1), second.bytes);
        let takes = bench.takes(RailId(1), second.bytes) as f64;
        assert!((expected.unwrap().as_ps() as f64 / takes - 1.0).abs() < 0.05);
        let rate = bench.allocator.rate(&operation(1 << 20), RailId(1)).as_bps() as f64;
        assert!((rate * 300.0 / 8e12 - 1.0).abs() < 0.05, "{rate}");
    }

    /// Two rails that take six times as long beside each other.
    #[test]
    fn a_whole_operation_is_expected_to_take_what_it_takes_alone() {
        let mut allocator = config("even", "").build(&[BitRate::from_gbps(80); 2]).unwrap();
        let (all, half) = (operation(1 << 20), Bytes::new(1 << 19));
        let cost = |rail, bytes: Bytes, ps: u64| RailCost {
            rail: RailId(rail),
            bytes,
            duration: Span::from_ps(bytes.get() * ps),
        };
        allocator.handle_costs(&all, &[cost(0, half, 600), cost(1, half, 600)]);
        // A rail without bytes is not beside the other.
        allocator.handle_costs(&all, &[cost(0, all.bytes, 100), cost(1, Bytes::ZERO, 600)]);
        let is_about = |rail, bytes: Bytes, ps: u64| {
            let found = allocator.expected(&all, RailId(rail), bytes).unwrap().as_ps() as f64;
            assert!((found / (bytes.get() * ps) as f64 - 1.0).abs() < 1e-6, "{rail}: {found}");
        };
        is_about(0, all.bytes, 100);
        is_about(0, half, 600);
        is_about(1, all.bytes, 600);
        assert_eq!(allocator.expected(&all, RailId(2), half), None);
    }

    #[test]
    fn degenerate_operations_and_costs_are_accepted() {
        let error = config("even", "").build(&[]).unwrap_err().to_string();
        assert_eq!(error, "0 rails are out of range: expected 1 to 64");
        assert!(config("even", "").build(&[BitRate::from_gbps(1); 65]).is_err());
        let mut allocator = config("nezha", "").build(&[BitRate::from_gbps(1); 2]).unwrap();
        let odd = RailOperation { bytes: Bytes::ZERO, element: Bytes::ZERO };
        for rail in [0, 7] {
            let rail = RailId(rail);
            allocator
                .handle_costs(&odd, &[RailCost { rail, bytes: Bytes::ZERO, duration: Span::MAX }]);
            let cost = RailCost { rail, bytes: Bytes::new(u64::MAX), duration: Span::ZERO };
            allocator.handle_costs(&odd, &[cost, cost]);
        }
        assert_eq!(allocator.allocate(&odd).unwrap().total(), Bytes::ZERO);
        let huge = RailOperation { bytes: Bytes::new(u64::MAX), element: Bytes::new(3) };
        (0..5).for_each(|_| {
            let division = allocator.allocate(&huge).unwrap();
            assert_eq!(division.total(), huge.bytes);
            let cost = |it: crate::rail::RailRange| RailCost {
                rail: it.rail,
                bytes: it.bytes(),
                duration: Span::MAX,
            };
            allocator.handle_costs(&huge, &division.ranges().map(cost).collect::<Vec<_>>());
        });
        let unknown = super::super::allocator_config("nehza", &Default::default()).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "unknown policy 'nehza'; known policies are nezha, even, best-single, proportional"
        );
    }
}
