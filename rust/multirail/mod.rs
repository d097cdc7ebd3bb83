//! A reconstruction: hosts with several rails of different kinds at once, and all-reduces of real
//! numbers that are divided among them.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870, 2024 and 2026), of which the abstracts alone could be had: what
//! rails cost, how they fail and how that is noticed is this project's \[inferred\].
//!
//! Each rail is a plane of its own, with its links, switches, transport and collective; a host's
//! rails share its processor and nothing else. A chunk of an operation is added up on one rail:
//!
//! - [`RailKind::Tcp`] and [`RailKind::Rdma`]: a ring of the hosts ([`host_rail`]) in a fabric of
//!   its own ([`crate::fabric::World`]);
//! - [`RailKind::InNetwork`]: switches that add up ([`tree_rail`]).
//!
//! [`run`] steps whatever rail has the earliest event. It knows no formula for what a rail takes:
//! it asks an
//! [`Allocator`](crate::rail::Allocator) how to divide, and tells it what that took.

mod config;
mod cpu;
pub mod host_rail;
mod numbers;
mod operation;
mod outage;
mod outcome;
mod piece;
mod plane;
mod ring;
mod timeline;
pub mod tree_rail;
mod world;

pub use config::{
    HostCosts, RailConfig, RailFailure, RailFailureKind, RailKind, Setup, Software, Transport,
    TreeConfig,
};
pub use cpu::Cpu;
pub use numbers::{ELEMENT, Inputs, Range};
pub use outcome::{Happening, OperationRecord, Outcome, RailRecord, TimelineEntry, Verdict};
pub use piece::{Control, News, Piece, PieceId};
pub use world::run;

#[cfg(test)]
mod tests;
