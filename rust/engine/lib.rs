//! The engine of evenkeel in pure Rust: NICs, policies, switches, the fabric, and the messages that
//! it carries.
//!
//! The crate `evenkeel` re-exports it and describes the architecture. `prefetch` and `sharing` are
//! public only for that crate.

#![cfg_attr(
    not(feature = "fabric"),
    allow(dead_code, reason = "used only by the fabric and the layers above it")
)]

pub mod balance;
pub mod endpoint;
#[cfg(test)]
#[path = "../tests/support/extent.rs"]
mod extent;
#[cfg(feature = "fabric")]
pub mod fabric;
pub mod ids;
pub mod nic;
pub mod packet;
#[doc(hidden)]
pub mod prefetch;
#[cfg(feature = "fabric")]
pub mod ranks;
pub mod rng;
#[doc(hidden)]
pub mod sharing;
pub mod split;
pub mod switching;
pub mod topology;
pub mod units;
pub mod values;
pub mod workload;
