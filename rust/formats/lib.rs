//! The files of other simulators: experiments of the HPCC family of ns-3 simulators.
//!
//! The crate `evenkeel` re-exports it and describes the architecture.

use evenkeel_engine::{balance, endpoint, fabric, ids, nic, packet, topology, units, workload};

pub mod hpcc;
