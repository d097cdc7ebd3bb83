//! A reconstruction: hosts with several rails of different kinds, and all-reduces that are divided
//! among them.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870, 2024 and 2026). Only its abstracts were available. The costs of
//! rails, their failures and the detection of failures are this project's \[inferred\].
//!
//! Each rail is a plane with its own links, switches, transport and collective. The rails of a host
//! share only its processor. A chunk of an operation is summed on one rail:
//!
//! - [`RailKind::Tcp`] and [`RailKind::Rdma`]: a ring of the hosts (`host_rail`) in a separate
//!   fabric ([`crate::fabric::World`]);
//! - [`RailKind::InNetwork`]: switches that add (`tree_rail`).
//!
//! [`run`] steps the rail with the earliest event. Rails are not planes of one fabric, because
//! their buffers, gaps and transports differ. At equal times they are stepped by index, which
//! decides which of them gets the processor of a host first.
//!
//! The module has no formula for the cost of a rail. It asks an
//! [`Allocator`](crate::rail::Allocator) for divisions, and reports the measured costs to it.

mod config;
mod cpu;
mod events;
mod host_rail;
mod numbers;
mod operation;
mod outage;
mod outcome;
mod plane;
mod ring;
mod timeline;
mod tree_rail;
mod world;

pub use config::{
    RailConfig, RailFailure, RailFailureKind, RailKind, RailSetup, Software, Transport, TreeConfig,
};
pub use numbers::ELEMENT;
pub use outcome::{OperationRecord, RailEvent, RailOutcome, RailRecord, TimelineEntry};
pub use world::{run, run_observed};

#[cfg(test)]
mod tests;
