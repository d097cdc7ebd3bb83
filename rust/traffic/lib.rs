//! Traffic: collectives, training iterations and patterns, expressed as messages with dependencies.
//!
//! For authors of scenarios in Rust and of collective algorithms. The crate turns a description
//! into a [`Workload`](evenkeel_engine::workload::Workload), which any driver runs:
//!
//! ```
//! use evenkeel_engine::units::Bytes;
//! use evenkeel_traffic::pattern::Permutation;
//!
//! let flows = Permutation { hosts: 16, bytes: Bytes::new(1 << 20), seed: 1 }.build()?;
//! assert_eq!(flows.messages.len(), 16);
//! assert!(flows.messages.iter().all(|message| message.src != message.dst));
//! # Ok::<(), evenkeel_traffic::pattern::PatternError>(())
//! ```
//!
//! The crate `evenkeel` re-exports this one and describes the architecture.

pub mod collective;
#[cfg(test)]
#[path = "../tests/support/extent.rs"]
mod extent;
pub mod nccl;
pub mod pattern;
pub mod training;

use evenkeel_engine::{ids, rng, units, workload};
