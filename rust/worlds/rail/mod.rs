//! A reconstruction: several rails under one all-reduce, after the public part of Nezha.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870 v2, 2026). Only its abstracts were available. They name a
//! load balancer by feedback of cost with a cold and a hot state, and an exception handler that
//! resumes within 200 ms. Every formula, threshold and timer here is this project's (\[inferred\]).
//!
//! The module has two independent parts, both sans-IO:
//!
//! - The [`Allocator`] divides an operation's bytes over the rails that are up. It sees sizes and
//!   durations, but not the technology of the rails. [`nezha`] is the reconstruction; [`even`],
//!   [`best_single`] and [`proportional`] are its baselines.
//! - The [`handler::Handler`] of each rank detects that a rail fails, agrees on that with the other
//!   ranks over a remaining rail, and lists the chunks to repeat.
//!
//! Every rank has to divide an operation in the same way. An allocator uses no random numbers and
//! only basic arithmetic, so that equal inputs give equal divisions. Either one allocator serves
//! all ranks, or each rank has its own and all receive the same durations (the longest of all
//! ranks, for example).
//!
//! ```
//! use evenkeel_engine::ids::RailId;
//! use evenkeel_engine::units::{BitRate, Bytes, Span};
//! use evenkeel_worlds::rail::{self, RailCost, RailOperation};
//!
//! // Two rails: 20 us and 100 Gbps, 5 us and 25 Gbps. The allocator knows neither.
//! let took = |rail: RailId, bytes: Bytes| {
//!     let (start, rate) = [(20, 100), (5, 25)][rail.index()];
//!     Span::from_us(start) + BitRate::from_gbps(rate).time_for(bytes)
//! };
//! let config = rail::allocator_config("nezha", &Default::default())?;
//! let mut allocator = config.build(&[BitRate::from_gbps(100), BitRate::from_gbps(25)])?;
//! let operation = RailOperation { bytes: Bytes::new(64 << 20), element: Bytes::new(4) };
//! for _ in 0..10 {
//!     let division = allocator.allocate(&operation)?;
//!     let costs: Vec<RailCost> = division
//!         .ranges()
//!         .map(|it| (it.rail, it.bytes()))
//!         .map(|(rail, bytes)| RailCost { rail, bytes, duration: took(rail, bytes) })
//!         .collect();
//!     allocator.handle_costs(&operation, &costs);
//! }
//! // Both rails end at the same time, within a twentieth.
//! let division = allocator.allocate(&operation)?;
//! let [first, second] = [0, 1].map(|rail| took(RailId(rail), division.of(RailId(rail))).as_ps());
//! assert!(first.abs_diff(second) * 20 < first.max(second));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocator;
pub mod best_single;
mod cost;
mod division;
pub mod even;
pub mod handler;
mod line;
pub mod nezha;
pub mod proportional;
mod set;
#[cfg(test)]
mod test_rails;

pub use allocator::{
    AllocateError, AllocationContext, Allocator, RailCost, RailOperation, Retention, Sample,
};
pub use cost::{Concurrency, Costs, SizeClass};
pub use division::{Division, RailRange};
pub use line::{CostLine, EqualFinish, equal_finish};
pub use set::RailSet;

use crate::balance::{Origin, Parameters, SchemeError};
use crate::units::BitRate;

/// A named allocator with default parameters.
#[derive(Debug, Clone, Copy)]
pub struct AllocatorPreset {
    /// The name that scenarios use.
    pub name: &'static str,
    /// One-line description, for lists of allocators.
    pub summary: &'static str,
    /// The publication: title, year, section.
    pub source: &'static str,
    /// Whether the rules are published or reconstructed.
    pub origin: Origin,
    /// Builds the configuration from its parameters.
    pub build: fn(&Parameters) -> Result<AllocatorConfig, SchemeError>,
}

/// Weights the rails for an operation; the [`Allocator`] does everything else.
pub trait Weigh {
    /// Returns the weight of each rail in the order of their ids. A rail's share is its weight over
    /// the sum of all weights. The weights of rails that are not up are ignored.
    fn weigh(&mut self, context: &AllocationContext<'_>) -> Vec<f64>;

    /// Returns true if a sample enters the measurements of its rail. Called once per sample.
    fn accepts(&mut self, _class: SizeClass, _sample: &Sample) -> bool {
        true
    }

    /// Processes the costs of an operation, with one sample for each rail that had a share.
    /// `context` already includes the accepted samples.
    fn handle_costs(&mut self, _context: &AllocationContext<'_>, _samples: &[Sample]) -> Retention {
        Retention::Keep
    }

    /// Processes a change of the rails that are up. The measurements have been discarded.
    fn handle_rails(&mut self, _up: RailSet) {}
}

/// Dispatches to allocators. A new allocator needs its file, a `mod` line, and a line here.
macro_rules! registry {
    ($($module:ident :: $weigh:ident),* $(,)?) => {
        /// The weighing part of an allocator.
        #[derive(Debug, Clone)]
        pub enum Weigher {
            $(#[doc = concat!("See [`", stringify!($module), "`].")]
            $weigh($module::$weigh),)*
        }

        /// An allocator and its parameters.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum AllocatorConfig {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $weigh($module::Config),)*
        }

        impl AllocatorConfig {
            /// Returns the preset of this configuration.
            pub const fn preset(&self) -> &'static AllocatorPreset {
                match self { $(Self::$weigh(_) => &$module::PRESET,)* }
            }

            /// Builds an allocator over one rail per nominal rate, with all rails up.
            ///
            /// # Errors
            /// There are no rails, or more than a set holds.
            pub fn build(&self, nominal: &[BitRate]) -> Result<Allocator, AllocateError> {
                let weigher = match self {
                    $(Self::$weigh(config) =>
                        Weigher::$weigh($module::$weigh::new(config, nominal.len())),)*
                };
                Allocator::new(weigher, self.memory(), nominal)
            }
        }

        impl Weigh for Weigher {
            fn weigh(&mut self, context: &AllocationContext<'_>) -> Vec<f64> {
                match self { $(Self::$weigh(it) => it.weigh(context),)* }
            }
            fn accepts(&mut self, class: SizeClass, sample: &Sample) -> bool {
                match self { $(Self::$weigh(it) => it.accepts(class, sample),)* }
            }
            fn handle_costs(
                &mut self,
                context: &AllocationContext<'_>,
                samples: &[Sample],
            ) -> Retention {
                match self { $(Self::$weigh(it) => it.handle_costs(context, samples),)* }
            }
            fn handle_rails(&mut self, up: RailSet) {
                match self { $(Self::$weigh(it) => it.handle_rails(up),)* }
            }
        }

        /// The presets of all allocators.
        pub const PRESETS: &[&AllocatorPreset] = &[$(&$module::PRESET),*];
    };
}

registry! {
    nezha::Nezha,
    even::Even,
    best_single::BestSingle,
    proportional::Proportional,
}

impl AllocatorConfig {
    /// Returns the weight of the newest duration in the means of measurements.
    fn memory(&self) -> f64 {
        match self {
            Self::Nezha(config) => config.weight,
            _ => nezha::Config::default().weight,
        }
    }
}

/// Parses the configuration of the allocator `name`. Missing parameters have their default values.
///
/// # Errors
/// An unknown name, an unknown parameter, or an invalid value.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_allocators_use_nezha_s_weight_of_the_newest_duration() {
        let config = |name: &str, text: &str| {
            allocator_config(name, &text.parse().expect("it is TOML")).unwrap().memory()
        };
        let default = nezha::Config::default().weight;
        assert_eq!(config("nezha", &format!("weight = {}", default / 2.0)), default / 2.0);
        assert_eq!(config("even", ""), default);
    }
}
