//! Traffic: collectives, training iterations and patterns, expressed as messages with dependencies.
//!
//! The crate `evenkeel` re-exports this one and describes the architecture.

pub mod collective;
#[cfg(test)]
#[path = "../tests/support/extent.rs"]
mod extent;
pub mod pattern;
pub mod training;

use evenkeel_engine::{ids, rng, units, workload};
