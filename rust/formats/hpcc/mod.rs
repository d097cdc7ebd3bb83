//! Experiments of the HPCC family of ns-3 simulators, from their own files.
//!
//! A configuration, a topology file and a flow file drive each simulator of the family (HPCC,
//! ConWeave, PowerTCP, ASTRA-sim's network and others). [`Experiment`] reads the three, resolves
//! them into a [`Setup`](crate::fabric::Setup) and warns about settings that are not modelled. It
//! writes results in the columns of the family's `fct.txt`; `report` writes pauses with the
//! family's node numbers. A [`Recorder`] observes a run, in this crate's fabric or in ns-3, and
//! writes the family's packet trace and monitor files. This layer is a peer of `scenario`: both
//! resolve files into the same setup.

pub mod config;
mod congestion;
mod error;
mod experiment;
mod fabric;
mod fct;
mod files;
pub mod flows;
mod node_list;
mod node_numbers;
mod ports;
mod recorder;
mod recovery;
mod round_trips;
#[cfg(test)]
mod tests;
pub mod topology;
mod warnings;
mod wire;

pub use config::{ConfigError, HpccConfig};
pub use error::HpccError;
pub use experiment::{Experiment, Overrides};
pub use node_list::NodeListError;
pub use recorder::{RecordedFile, Recorder, ResultTable};
