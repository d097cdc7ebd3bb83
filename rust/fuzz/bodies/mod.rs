//! What each fuzz target does with its bytes: a function a target, for the fuzzer and for plain
//! tests alike. A function returns if all is well and panics if not.

mod files;
mod forged;
mod nic;
mod verbs;

pub use files::{
    chakra, config_hpcc, connection_matrix, flows_hpcc, goal, scenario, topology_hpcc,
};
pub use nic::nic;
pub use verbs::verbs;
