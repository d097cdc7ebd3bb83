//! File formats of other simulators and tools: traces, schedules, flows, fabrics, and experiments
//! of the HPCC family.
//!
//! The crate `evenkeel` re-exports this one and describes the architecture.

pub mod chakra;
pub mod connection_matrix;
pub mod goal;
pub mod hpcc;
pub mod infragraph;
pub mod normal_form;
mod read_back;
pub mod simccl;
pub mod text_file;

use evenkeel_engine::{balance, endpoint, fabric, ids, nic, packet, topology, units, workload};
use evenkeel_traffic::collective;
