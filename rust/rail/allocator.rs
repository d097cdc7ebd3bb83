//! A reconstruction: the allocator as other programs see it: operations in, divisions out, costs in.
//!
//! Source: \[inferred\], with what Nezha's abstract (arXiv 2405.17870 v2, 2026) names: feedback of
//! cost, states, rails that fail and return. All allocators measure alike; how they weigh the
//! rails is what they differ in ([`Weigh`]).

use thiserror::Error;

use super::{Costs, Division, Line, Phase, RailSet, SizeClass, Weigh, Weigher};
use crate::ids::RailId;
use crate::units::{BitRate, Bytes, Span};

/// What is to be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Its length.
    pub bytes: Bytes,
    /// The length of an element, which is never cut in two; zero counts as one byte.
    pub element: Bytes,
}

/// How long one rail took for its part of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Which rail.
    pub rail: RailId,
    /// Its part.
    pub bytes: Bytes,
    /// From the operation's start until the part was complete.
    pub duration: Span,
}

/// What an allocator can see when it weighs.
#[derive(Debug)]
pub struct Context<'a> {
    /// How long the operation is.
    pub bytes: Bytes,
    /// Its size class.
    pub class: SizeClass,
    /// The rails that are up, at least one.
    pub up: RailSet,
    /// What each rail would do by its name.
    pub nominal: &'a [BitRate],
    /// What each has cost so far.
    pub costs: &'a Costs,
}

impl Context<'_> {
    /// The lines of the rails that are up and have been measured; `None` for the others.
    pub fn lines(&self) -> Vec<Option<Line>> {
        self.rails()
            .map(|rail| self.up.contains(rail).then(|| self.costs.line(rail, self.class))?)
            .collect()
    }

    /// All rails, up or not, in the order of their ids.
    pub fn rails(&self) -> impl Iterator<Item = RailId> + use<> {
        (0..).map(RailId).take(self.nominal.len())
    }
}

/// A cost beside what was expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// What it cost.
    pub cost: Cost,
    /// What the rail's line said before, in picoseconds; `None` without a sample of this class.
    pub expected_ps: Option<f64>,
}

impl Sample {
    /// The duration in picoseconds, as a number to reckon with.
    pub fn ps(&self) -> f64 {
        self.cost.duration.as_ps() as f64
    }
}

/// What one operation cost on the rails that took part.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// A sample for each rail that had a part, in the order in which they were told.
    pub samples: &'a [Sample],
}

impl Outcome<'_> {
    /// How far apart they ended: (longest − shortest) / longest; 0 for fewer than two.
    pub fn spread(&self) -> f64 {
        let longest = self.samples.iter().map(Sample::ps).fold(0.0, f64::max);
        let shortest = self.samples.iter().map(Sample::ps).fold(f64::INFINITY, f64::min);
        if self.samples.len() < 2 || longest <= 0.0 { 0.0 } else { (longest - shortest) / longest }
    }
}

/// What an allocator says of all that was measured so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It still holds.
    Keep,
    /// It does not hold any more and is forgotten.
    Forget,
}

/// Why an operation cannot be divided, or an allocator not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum AllocateError {
    /// No rail is up.
    #[error("no rail is up: an operation waits until one returns")]
    NoRail,
    /// No rail at all, or more than a set holds.
    #[error("{rails} rails: there are 1 to {} of them", RailSet::MOST)]
    Rails {
        /// How many were asked for.
        rails: usize,
    },
}

/// Divides operations over rails, and learns from what they cost.
#[derive(Debug, Clone)]
pub struct Allocator {
    weigher: Weigher,
    up: RailSet,
    nominal: Vec<BitRate>,
    costs: Costs,
    /// The last division of each class, for reports.
    last: Vec<Option<Division>>,
}

/// What an allocator knows of operations of one size class; for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Insight {
    /// The class.
    pub class: SizeClass,
    /// What it makes of such operations.
    pub phase: Phase,
    /// Each rail, in the order of their ids.
    pub rails: Vec<RailInsight>,
}

/// What an allocator knows of one rail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RailInsight {
    /// The line fitted to what it cost, once there is a sample.
    pub line: Option<Line>,
    /// Samples of this class since it was last forgotten.
    pub samples: u32,
    /// Its part of the last operation of this class.
    pub bytes: Bytes,
}

impl Allocator {
    pub(super) fn new(
        weigher: Weigher,
        memory: f64,
        nominal: &[BitRate],
    ) -> Result<Self, AllocateError> {
        let rails = nominal.len();
        if !(1..=RailSet::MOST).contains(&rails) {
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
    pub fn allocate(&mut self, operation: &Operation) -> Result<Division, AllocateError> {
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
        // Whoever weighs may find nobody worth anything; a rail that is down still gets nothing.
        if weights.iter().all(|&weight| weight.is_nan() || weight <= 0.0)
            && let Some(first) = self.up.iter().next()
        {
            weights[first.index()] = 1.0;
        }
        let division = Division::by_weights(operation.bytes, operation.element, &weights);
        self.last[class.index()] = Some(division.clone());
        Ok(division)
    }

    /// Learns what an operation cost: one cost for each rail that had a part and completed it.
    ///
    /// An operation during which chunks were done again says nothing of what it normally costs:
    /// it is not told.
    pub fn handle_costs(&mut self, operation: &Operation, costs: &[Cost]) {
        let class = SizeClass::of(operation.bytes);
        let known = |cost: &&Cost| self.up.contains(cost.rail) && cost.bytes > Bytes::ZERO;
        let samples: Vec<Sample> = costs
            .iter()
            .filter(known)
            .map(|cost| {
                let measured = self.costs.count(cost.rail, class) > 0;
                let line = measured.then(|| self.costs.line(cost.rail, class)).flatten();
                let expected_ps = line.map(|line| line.at(cost.bytes.get() as f64));
                Sample { cost: *cost, expected_ps }
            })
            .collect();
        for sample in &samples {
            let Cost { rail, bytes, duration } = sample.cost;
            if self.weigher.counts(class, sample) {
                self.costs.add(rail, class, bytes, duration);
            }
        }
        let context = context(operation, self.up, &self.nominal, &self.costs);
        let outcome = Outcome { samples: &samples };
        if self.weigher.handle_outcome(&context, &outcome) == Trust::Forget {
            self.costs.forget();
        }
    }

    /// Learns which rails are up. Where that changes anything, what was measured is forgotten:
    /// rails of one host share its processor and memory, so what one costs hangs on the others.
    pub fn handle_rails(&mut self, up: RailSet) {
        let up = up.and(RailSet::first(self.nominal.len()));
        if up != self.up {
            self.up = up;
            self.costs.forget();
            self.weigher.handle_rails(up);
        }
    }

    /// The rails that are up.
    pub const fn up(&self) -> RailSet {
        self.up
    }

    /// How long `rail` is expected to take for `bytes` of an operation; `None` before it was
    /// measured.
    pub fn expected(&self, operation: &Operation, rail: RailId, bytes: Bytes) -> Option<Span> {
        let line = self.costs.line(rail, SizeClass::of(operation.bytes))?;
        let ps = line.at(bytes.get() as f64);
        // A cast of a number beyond 64 bits is the largest there is.
        Some(Span::from_ps(ps as u64))
    }

    /// The rate at which `rail` works on operations of this size, start-up left out, and its
    /// nominal rate before it was measured: what missing chunks are divided by.
    pub fn rate(&self, operation: &Operation, rail: RailId) -> BitRate {
        let line = self.costs.line(rail, SizeClass::of(operation.bytes));
        let nominal = self.nominal.get(rail.index()).copied().unwrap_or_default();
        line.map_or(nominal, |line| BitRate::from_bps((8e12 / line.ps_per_byte) as u64))
    }

    /// What is known, for each size class of which there was an operation.
    pub fn insight(&self) -> Vec<Insight> {
        let classes = SizeClass::all().zip(&self.last);
        let seen = classes.filter_map(|(class, last)| Some((class, last.as_ref()?)));
        seen.map(|(class, last)| {
            let rails = (0..).map(RailId).take(self.nominal.len());
            let rails = rails.map(|rail| RailInsight {
                line: self.costs.line(rail, class),
                samples: self.costs.count(rail, class),
                bytes: last.of(rail),
            });
            Insight { class, phase: self.weigher.phase(class), rails: rails.collect() }
        })
        .collect()
    }
}

fn context<'a>(
    operation: &Operation,
    up: RailSet,
    nominal: &'a [BitRate],
    costs: &'a Costs,
) -> Context<'a> {
    let class = SizeClass::of(operation.bytes);
    Context { bytes: operation.bytes, class, up, nominal, costs }
}

#[cfg(test)]
mod tests {
    use super::super::test_rails::{Bench, config, operation};
    use super::*;

    #[test]
    fn rails_that_are_down_get_nothing_whoever_weighs() {
        for preset in super::super::PRESETS {
            let mut bench = Bench::new(preset.name, &[(1_000, 100), (2_000, 100), (3_000, 100)]);
            bench.steps(5, 1 << 20);
            bench.allocator.handle_rails(RailSet::EMPTY.with(RailId(2)));
            for _ in 0..5 {
                let rails: Vec<_> = bench.step(1 << 20).parts().map(|part| part.rail.0).collect();
                assert_eq!(rails, [2], "{}", preset.name);
            }
            bench.allocator.handle_rails(RailSet::EMPTY);
            let error = bench.allocator.allocate(&operation(1)).unwrap_err();
            assert_eq!(error, AllocateError::NoRail);
        }
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
    fn what_is_known_can_be_read() {
        let mut bench = Bench::new("nezha", &[(1_000, 100), (4_000, 300)]);
        bench.steps(10, 1 << 20);
        let insight = bench.allocator.insight();
        assert_eq!((insight.len(), insight[0].phase), (1, Phase::Hot));
        assert_eq!(insight[0].class.smallest(), Bytes::new(1 << 20));
        let second = insight[0].rails[1];
        let line = second.line.unwrap();
        assert!((line.ps_per_byte / 300.0 - 1.0).abs() < 0.05, "{line:?}");
        assert_eq!(second.samples, 10);
        let expected = bench.allocator.expected(&operation(1 << 20), RailId(1), second.bytes);
        let takes = bench.takes(RailId(1), second.bytes) as f64;
        assert!((expected.unwrap().as_ps() as f64 / takes - 1.0).abs() < 0.05);
        let rate = bench.allocator.rate(&operation(1 << 20), RailId(1)).as_bps() as f64;
        assert!((rate * 300.0 / 8e12 - 1.0).abs() < 0.05, "{rate}");
    }

    #[test]
    fn odd_calls_do_no_harm() {
        let error = config("even", "").build(&[]).unwrap_err().to_string();
        assert_eq!(error, "0 rails: there are 1 to 64 of them");
        assert!(config("even", "").build(&[BitRate::from_gbps(1); 65]).is_err());
        let mut allocator = config("nezha", "").build(&[BitRate::from_gbps(1); 2]).unwrap();
        let odd = Operation { bytes: Bytes::ZERO, element: Bytes::ZERO };
        for rail in [0, 7] {
            let rail = RailId(rail);
            allocator.handle_costs(&odd, &[Cost { rail, bytes: Bytes::ZERO, duration: Span::MAX }]);
            let cost = Cost { rail, bytes: Bytes::new(u64::MAX), duration: Span::ZERO };
            allocator.handle_costs(&odd, &[cost, cost]);
        }
        assert_eq!(allocator.allocate(&odd).unwrap().total(), Bytes::ZERO);
        let huge = Operation { bytes: Bytes::new(u64::MAX), element: Bytes::new(3) };
        (0..5).for_each(|_| {
            let division = allocator.allocate(&huge).unwrap();
            assert_eq!(division.total(), huge.bytes);
            let cost = |part: crate::rail::Part| Cost {
                rail: part.rail,
                bytes: part.bytes(),
                duration: Span::MAX,
            };
            allocator.handle_costs(&huge, &division.parts().map(cost).collect::<Vec<_>>());
        });
        let unknown = super::super::allocator_config("nehza", &Default::default()).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "unknown policy 'nehza'; known policies are nezha, even, best-single, proportional"
        );
    }
}
