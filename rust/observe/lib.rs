//! Observers of a run: time series, its timeline as a trace, and an independent check of every
//! packet.
//!
//! The crate `evenkeel` re-exports it and describes the architecture.

use evenkeel_engine::{endpoint, fabric, ids, nic, packet, sharing, switching, topology, units};

pub mod invariants;
pub mod record;
pub mod timeline;
