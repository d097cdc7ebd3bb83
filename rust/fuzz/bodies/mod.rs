//! The bodies of the fuzz targets: one function per target, for the fuzzer and for plain tests. A
//! function panics if it finds a fault.

mod files;
mod forged;
mod nic;
mod verbs;

pub use files::{
    chakra, config_hpcc, connection_matrix, flows_hpcc, goal, infragraph, scenario, simccl,
    topology_hpcc,
};
pub use nic::nic;
pub use verbs::verbs;
