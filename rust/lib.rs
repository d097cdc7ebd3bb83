//! evenkeel.

pub mod balance;
pub mod bound;
pub mod fabric;
pub mod ids;
pub mod nic;
pub mod packet;
pub mod rng;
pub mod topology;
pub mod units;
pub mod workload;
