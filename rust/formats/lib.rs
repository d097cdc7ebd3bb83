//! File formats of other simulators and tools: traces, schedules, flows, fabrics, and experiments
//! of the HPCC family.
//!
//! For users of Chakra, ASTRA-sim, LogGOPSim, htsim, SimCCL and HPCC who want to run their files or
//! convert them. Readers take text, and errors name the file and the line:
//!
//! ```
//! use evenkeel_formats::{connection_matrix, goal};
//!
//! let schedule = "num_ranks 2
//! rank 0 {
//! l1: send 4096b to 1 tag 3
//! }
//! rank 1 {
//! l1: recv 4096b from 0 tag 3
//! }";
//! let schedule = goal::read(schedule, "ping.goal", goal::Options::default())?;
//! assert_eq!(schedule.workload.messages.len(), 1);
//!
//! // The same message as a connection matrix of htsim.
//! let matrix = connection_matrix::write(&schedule.workload, schedule.hosts)?;
//! assert!(matrix.text.contains("0->1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
