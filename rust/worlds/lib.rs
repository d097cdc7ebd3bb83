//! Models other than the packet fabric: lower bounds, runs without packets, and hosts with several
//! rails.
//!
//! The crate `evenkeel` re-exports it and describes the architecture.

use evenkeel_engine::{balance, ids, units};
#[cfg(feature = "fabric")]
use evenkeel_engine::{endpoint, fabric, nic, packet, rng, sharing, switching, topology, workload};

#[cfg(feature = "fabric")]
pub mod bound;
#[cfg(all(test, feature = "fabric"))]
#[path = "../tests/support/extent.rs"]
mod extent;
#[cfg(feature = "fabric")]
pub mod fluid;
#[cfg(feature = "fabric")]
pub mod multirail;
pub mod rail;
