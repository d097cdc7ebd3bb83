//! Experiments of the HPCC family of ns-3 simulators, from their own files.
//!
//! The family (HPCC, ConWeave, PowerTCP, ASTRA-sim's network and others) is driven by a
//! configuration, a topology and a flow file. [`Experiment`] makes of the three what a run
//! needs, says what of them is not modelled here, and writes results in the family's own
//! `fct.txt` columns; pauses are written with its node numbers by `report`. A [`Recorder`] watches
//! a run, in this world or in ns-3, and writes the family's trace and what its monitors see. It
//! stands beside `scenario`: both end in the same setup.

pub mod config;
mod error;
mod experiment;
mod fabric;
mod fct;
mod files;
mod node_list;
mod ports;
mod recorder;
#[cfg(test)]
mod tests;
mod warnings;
mod wire;

pub use config::ConfigError;
pub use config::HpccConfig;
pub use error::HpccError;
pub use experiment::{Experiment, Overrides};
pub use node_list::NodeListError;
pub use recorder::{Recorded, Recorder, Table};
