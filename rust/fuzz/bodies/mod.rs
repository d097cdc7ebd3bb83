//! Bodies of the fuzz targets: one function per target, shared by the fuzzer and plain tests. A
//! function panics if it finds a bug.

mod files;
mod input;
mod nic;
mod results;
mod splitters;
mod verbs;

pub use files::{
    chakra, config_hpcc, connection_matrix, flows_hpcc, goal, infragraph, rails, scenario,
    settings, simccl, study, topology_hpcc,
};
pub use nic::nic;
pub use results::results;
pub use splitters::{allocator, splitter};
pub use verbs::verbs;
