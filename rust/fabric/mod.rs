//! The pure-Rust world: links, switches, queues and the event loop.

mod base_rtt;
mod config;
mod ecn;
mod event;
mod failure;
mod host;
mod ledger;
mod network;
mod outcome;
mod pool;
mod port;
mod prefetch;
mod simulation;
mod switch;

pub use config::{
    Buffer, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Rounding, SwitchConfig,
};
pub use outcome::{Counters, FlowRecord, Outcome, Progress, QpCounts, Verdict};
pub use simulation::{Setup, run};

#[cfg(test)]
mod tests;
