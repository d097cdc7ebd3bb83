//! The pure-Rust world: links, switches, queues and the event loop.

mod admission;
mod config;
mod cut_off;
mod ecn;
mod event;
mod failure;
mod fault;
mod flow_control;
mod network;
mod outcome;
mod pfc;
mod pool;
mod port;
mod prefetch;
mod program;
mod simulation;
mod switch;
mod ways;

pub use config::{
    Buffer, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Headroom, PfcConfig, Rounding,
    SwitchConfig, TrimConfig,
};
pub use outcome::{
    Counters, Outcome, PauseOrder, PauseRecord, Progress, Queue, QueueProbe, Verdict,
};
pub use program::{Program, run_program};
pub use simulation::{Setup, World, run};

pub use crate::endpoint::{FlowRecord, QpCounts};

#[cfg(test)]
mod tests;
