//! Traffic: collectives, training iterations and patterns, as messages with dependencies.
//!
//! The crate `evenkeel` re-exports it and describes the architecture.

pub mod collective;
#[cfg(test)]
#[path = "../tests/support/extent.rs"]
mod extent;
pub mod pattern;
pub mod training;

use evenkeel_engine::{ids, rng, units, workload};
