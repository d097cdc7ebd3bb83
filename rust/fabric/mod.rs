//! The pure-Rust world: links, switches, queues and the event loop.

mod config;
mod outcome;
mod simulation;

pub use config::{
    Buffer, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Rounding, SwitchConfig,
};
pub use outcome::{Counters, FlowRecord, Outcome, Progress, QpCounts, Verdict};
pub use simulation::{Setup, run};
