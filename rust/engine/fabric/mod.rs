//! The simulated fabric: links, queues, packets and the event loop.
//!
//! A [`Setup`] determines a run. [`run`] and [`drive`] are the event loop. A [`World`] combines
//! hosts and network under one clock. The module `network` carries packets from NIC to NIC, and
//! [`crate::switching`] makes the decisions of its switches.

mod calendar;
mod counters;
mod driver;
mod event;
mod event_queue;
mod final_checks;
mod generate;
mod network;
mod outcome;
mod parallel;
mod program;
mod reachability;
mod setup;
mod trace_buffer;
mod watch;
mod world;

#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use calendar::Calendar;
pub use counters::NetworkCounters;
pub use driver::{Observers, drive, run};
pub use generate::Generate;
pub use outcome::{Counters, Measured, Outcome, PauseRecord, Progress, Queue, QueueProbe, Verdict};
pub use parallel::{Cut, Partitioning, Sequential, WindowCounts, run_parallel};
pub use program::{FixedWorkload, Program};
pub use setup::Setup;
pub use trace_buffer::{PacketEvent, PacketRecord, TraceBuffer};
pub use watch::{Snapshot, Watch};
pub use world::World;

pub use crate::endpoint::{Discarded, FlowRecord, QpCounts};
pub use crate::packet::PauseOrder;
pub use crate::switching::{
    Buffer, CbfcConfig, ClassConfig, Direction, Ecn, EcnPoint, FabricConfig, Failure, FailureKind,
    Headroom, MOST_CLASSES, PfcAdmission, PfcConfig, Rounding, Scheduling, SlowPorts, SwitchConfig,
    TieOrder, TrimConfig, TrimVictim,
};
