//! evenkeel.

pub mod balance;
pub mod bound;
#[cfg(feature = "bridge")]
mod bridge;
pub mod collective;
pub mod fabric;
pub mod hpcc;
pub mod ids;
pub mod nic;
pub mod packet;
pub mod report;
pub mod rng;
pub mod scenario;
pub mod split;
pub mod study;
pub mod topology;
pub mod units;
pub mod workload;
