//! A rail of any kind.

use super::attempt::{Attempt, ControlMessage, RailDelivery};
use super::config::{PlaneSetup, RailKind, RailSetup};
use super::cpu::Cpu;
use super::host_rail::HostRail;
use super::tree_rail::TreeRail;
use crate::units::{Bytes, Time};

/// The simulation of one rail.
#[derive(Debug)]
pub(super) enum Plane {
    Hosts(Box<HostRail>),
    Tree(Box<TreeRail>),
}

/// Calls a method of either kind of rail.
macro_rules! dispatch {
    ($self:ident, $rail:ident => $call:expr) => {
        match $self {
            Self::Hosts($rail) => $call,
            Self::Tree($rail) => $call,
        }
    };
}

impl Plane {
    /// The rail at `index` of a setup.
    pub(super) fn new(setup: &RailSetup, index: u32) -> Self {
        let plane = PlaneSetup::new(setup, index);
        match &plane.rail.kind {
            RailKind::Tcp(transport) | RailKind::Rdma(transport) => {
                Self::Hosts(Box::new(HostRail::new(&plane, transport)))
            }
            RailKind::InNetwork(tree) => Self::Tree(Box::new(TreeRail::new(&plane, tree))),
        }
    }

    /// The time of its next event.
    pub(super) fn next_time(&mut self) -> Option<Time> {
        dispatch!(self, rail => rail.next_time())
    }

    /// Handles its next event.
    pub(super) fn step(&mut self, cpus: &mut [Cpu]) {
        match self {
            Self::Hosts(rail) => rail.step(cpus),
            Self::Tree(rail) => rail.step(),
        }
    }

    /// Takes the next delivery to a rank that was not polled yet.
    pub(super) fn poll_delivery(&mut self) -> Option<RailDelivery> {
        dispatch!(self, rail => rail.poll_delivery())
    }

    /// `rank` starts its part of an attempt.
    pub(super) fn begin(&mut self, now: Time, attempt: Attempt, rank: u32, cpus: &mut [Cpu]) {
        dispatch!(self, rail => rail.begin(now, attempt, rank, cpus));
    }

    /// Discards everything in flight.
    pub(super) fn discard(&mut self) {
        dispatch!(self, rail => rail.discard());
    }

    /// Sends a control message.
    pub(super) fn send_control(&mut self, now: Time, control: ControlMessage, cpus: &mut [Cpu]) {
        match self {
            Self::Hosts(rail) => rail.send_control(now, control, cpus),
            Self::Tree(rail) => rail.send_control(now, control),
        }
    }

    /// Bytes that ranks have handed to the rail, each hop counted.
    pub(super) fn bytes(&self) -> Bytes {
        dispatch!(self, rail => rail.bytes())
    }
}
