//! What evenkeel sees of a run: time series, its course as a time-line, and a second account of
//! every packet.
//!
//! The crate `evenkeel` re-exports it and describes the architecture.

use evenkeel_engine::{endpoint, fabric, ids, nic, packet, sharing, switching, topology, units};

pub mod invariants;
pub mod record;
pub mod timeline;
