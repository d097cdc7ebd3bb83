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
mod noting;
mod outcome;
mod pfc;
mod pool;
mod port;
mod prefetch;
mod program;
mod replay;
mod simulation;
mod switch;
mod tape;
mod watch;
mod ways;

pub use config::{
    Buffer, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Headroom, PfcConfig, Rounding,
    SwitchConfig, TrimConfig,
};
pub use outcome::{
    Counters, Outcome, PauseOrder, PauseRecord, Progress, Queue, QueueProbe, Verdict,
};
/// What a world whose links and queues are its own needs to decide as the fabric does.
#[cfg(feature = "bridge")]
pub(crate) mod parts {
    pub(crate) use super::ecn::Marker;
    pub(crate) use super::failure::{Effect, Plan, Witness};
    pub(crate) use super::fault::link_ports;
    pub(crate) use super::network::switch_context;
    pub(crate) use super::outcome::Sums;
    pub(crate) use super::pfc::Pfc;
    pub(crate) use super::simulation::site;
    pub(crate) use super::switch::{PortState, Queues, Switch};
    pub(crate) use super::tape::Tape;
    pub(crate) use super::ways::{Way, Ways};
}

pub use program::{Program, drive, run_program};
pub use replay::Replay;
pub use simulation::{Setup, World, run};
pub use tape::{PacketEvent, PacketRecord};
pub use watch::{Sight, Watch, run_watched};

pub use crate::endpoint::{FlowRecord, Passed, QpCounts};

#[cfg(test)]
mod tests;
