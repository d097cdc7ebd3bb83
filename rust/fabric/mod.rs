//! The pure-Rust world: links, switches, queues and the event loop.

mod admission;
mod base_rtt;
mod config;
mod cut_off;
mod ecn;
mod event;
mod failure;
mod fault;
mod flow_control;
mod host;
mod ledger;
mod network;
mod outcome;
mod path_weights;
mod pfc;
mod pool;
mod port;
mod prefetch;
mod simulation;
mod switch;

pub use config::{
    Buffer, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Headroom, PfcConfig, Rounding,
    SwitchConfig, TrimConfig,
};
pub use outcome::{
    Counters, FlowRecord, Outcome, PauseOrder, PauseRecord, Progress, QpCounts, Queue, QueueProbe,
    Verdict,
};
pub use simulation::{Setup, run};

#[cfg(test)]
mod tests;
