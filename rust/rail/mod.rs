//! A reconstruction: several rails under one all-reduce, after what is public of Nezha.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870 v2, 2026), of which the abstracts alone could be had. They name a
//! load balancer by feedback of cost with a cold and a hot state, and an exception handler that
//! carries on within 200 ms; every formula, threshold and timer here is ours (\[inferred\]).
//!
//! Two things, both sans-IO, which do not know each other:
//!
//! - The [`Allocator`] divides an operation's bytes over the rails that are up. It sees sizes and
//!   durations, and nothing of what a rail is made of. [`nezha`] is the reconstruction; [`even`],
//!   [`best_single`] and [`proportional`] are what it is compared with.
//! - The [`handler::Handler`] of each rank notices that a rail fails, agrees on that with the other
//!   ranks over a rail that is left, and names the chunks to do again.
//!
//! Every rank has to divide an operation alike. An allocator has no random numbers and computes in
//! basic arithmetic only, so that equal inputs give equal divisions: either one is asked for all
//! ranks, or each has its own and is told the same durations (the longest of all ranks', say).
//!
//! ```
//! use evenkeel::ids::RailId;
//! use evenkeel::rail::{self, Cost, Operation};
//! use evenkeel::units::{BitRate, Bytes, Span};
//!
//! // Two rails: 20 us and 100 Gbps, 5 us and 25 Gbps. The allocator knows neither.
//! let took = |rail: RailId, bytes: Bytes| {
//!     let (start, rate) = [(20, 100), (5, 25)][rail.index()];
//!     Span::from_us(start) + BitRate::from_gbps(rate).time_for(bytes)
//! };
//! let config = rail::allocator_config("nezha", &Default::default())?;
//! let mut allocator = config.build(&[BitRate::from_gbps(100), BitRate::from_gbps(25)])?;
//! let operation = Operation { bytes: Bytes::new(64 << 20), element: Bytes::new(4) };
//! for _ in 0..10 {
//!     let division = allocator.allocate(&operation)?;
//!     let costs: Vec<Cost> = division
//!         .parts()
//!         .map(|part| Cost { rail: part.rail, bytes: part.bytes(), duration: took(part.rail, part.bytes()) })
//!         .collect();
//!     allocator.handle_costs(&operation, &costs);
//! }
//! // Both finish at the same time, to a twentieth.
//! let division = allocator.allocate(&operation)?;
//! let [first, second] = [0, 1].map(|rail| took(RailId(rail), division.of(RailId(rail))).as_ps());
//! assert!(first.abs_diff(second) * 20 < first.max(second));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocator;
mod cost;
mod division;
pub mod handler;
mod line;
mod set;
#[cfg(test)]
mod test_rails;

pub use allocator::{AllocateError, Allocator, Context, Cost, Operation, Outcome, Sample, Trust};
pub use cost::{Costs, SizeClass};
pub use division::{Division, Part};
pub use line::{EqualFinish, Line, equal_finish};
pub use set::RailSet;

use crate::balance::{Origin, Parameters, SchemeError};
use crate::units::BitRate;

/// A named way of dividing operations over rails.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// What scenarios call it.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Where it is from: title, year, section.
    pub source: &'static str,
    /// How its rules are known.
    pub origin: Origin,
    /// Makes the configuration from its parameters.
    pub build: fn(&Parameters) -> Result<AllocatorConfig, SchemeError>,
}

/// How bytes are weighed out over rails; an [`Allocator`] does the rest.
pub trait Weigh {
    /// A weight for each rail, in the order of their ids: what part of the operation's bytes it
    /// gets, once all are divided by their sum. Those of rails that are not up do not count.
    fn weigh(&mut self, context: &Context<'_>) -> Vec<f64>;

    /// Whether a sample is to count in what its rail costs; asked once for each.
    fn counts(&mut self, _class: SizeClass, _sample: &Sample) -> bool {
        true
    }

    /// Learns how long the rails took; `context` has what counts of it already.
    fn handle_outcome(&mut self, _context: &Context<'_>, _outcome: &Outcome<'_>) -> Trust {
        Trust::Keep
    }

    /// Learns that other rails are up than before; what was measured is forgotten.
    fn handle_rails(&mut self, _up: RailSet) {}

    /// What it makes of operations of this size at the moment.
    fn phase(&self, _class: SizeClass) -> Phase {
        Phase::Fixed
    }
}

/// What an allocator makes of operations of one size class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It has no states.
    Fixed,
    /// It measures, and has done so for that many operations.
    Cold(u32),
    /// It goes by what it measured.
    Hot,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Fixed => "fixed",
            Self::Cold(_) => "cold",
            Self::Hot => "hot",
        })
    }
}

/// Makes allocators real everywhere: a line here is all that an allocator's file needs.
macro_rules! registry {
    ($($module:ident :: $weigh:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// How an allocator weighs.
        #[derive(Debug, Clone)]
        pub enum Weigher {
            $(#[doc = concat!("See [`", stringify!($module), "`].")]
            $weigh($module::$weigh),)*
        }

        /// An allocator's name and parameters.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum AllocatorConfig {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $weigh($module::Config),)*
        }

        impl AllocatorConfig {
            /// The preset that it is a configuration of.
            pub const fn preset(&self) -> &'static Preset {
                match self { $(Self::$weigh(_) => &$module::PRESET,)* }
            }

            /// An allocator over as many rails as there are nominal rates, all of them up.
            ///
            /// # Errors
            /// No rail, too many for a set, or too many for the configuration.
            pub fn build(&self, nominal: &[BitRate]) -> Result<Allocator, AllocateError> {
                let weigher = match self {
                    $(Self::$weigh(config) =>
                        Weigher::$weigh($module::$weigh::new(config, nominal.len())),)*
                };
                Allocator::new(weigher, self.memory(), nominal)
            }
        }

        impl Weigh for Weigher {
            fn weigh(&mut self, context: &Context<'_>) -> Vec<f64> {
                match self { $(Self::$weigh(it) => it.weigh(context),)* }
            }
            fn counts(&mut self, class: SizeClass, sample: &Sample) -> bool {
                match self { $(Self::$weigh(it) => it.counts(class, sample),)* }
            }
            fn handle_outcome(&mut self, context: &Context<'_>, outcome: &Outcome<'_>) -> Trust {
                match self { $(Self::$weigh(it) => it.handle_outcome(context, outcome),)* }
            }
            fn handle_rails(&mut self, up: RailSet) {
                match self { $(Self::$weigh(it) => it.handle_rails(up),)* }
            }
            fn phase(&self, class: SizeClass) -> Phase {
                match self { $(Self::$weigh(it) => it.phase(class),)* }
            }
        }

        /// What the files of allocators name.
        pub const PRESETS: &[&Preset] = &[$(&$module::PRESET),*];
    };
}

registry! {
    nezha::Nezha,
    even::Even,
    best_single::BestSingle,
    proportional::Proportional,
}

impl AllocatorConfig {
    /// How much the newest duration counts in what is remembered.
    fn memory(&self) -> f64 {
        match self {
            Self::Nezha(config) => config.weight,
            _ => nezha::Config::default().weight,
        }
    }
}

/// The configuration of the allocator `name`; parameters left out have their defaults.
///
/// # Errors
/// No allocator of that name, a parameter that it does not have, or a value that it cannot take.
pub fn allocator_config(
    name: &str,
    parameters: &Parameters,
) -> Result<AllocatorConfig, SchemeError> {
    let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        return Err(SchemeError::Unknown { name: name.to_owned(), known: known.join(", ") });
    };
    (preset.build)(parameters)
}
