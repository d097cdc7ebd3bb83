//! A rail of any kind.

use super::config::{RailFailure, RailKind, Setup};
use super::cpu::Cpu;
use super::host_rail::HostRail;
use super::piece::{Control, News, Piece};
use super::tree_rail::TreeRail;
use crate::units::{Bytes, Time};

/// A rail.
#[derive(Debug)]
pub(super) enum Plane {
    Hosts(Box<HostRail>),
    Tree(Box<TreeRail>),
}

/// Calls the rail at hand.
macro_rules! dispatch {
    ($self:ident, $rail:ident => $call:expr) => {
        match $self {
            Self::Hosts($rail) => $call,
            Self::Tree($rail) => $call,
        }
    };
}

impl Plane {
    /// The rail of that number of a setup.
    pub fn new(setup: &Setup, number: u32) -> Self {
        let rail = &setup.rails[number as usize];
        let of_rail = setup.failures.iter().filter(|failure| failure.rail == number);
        let failures: Vec<RailFailure> = of_rail.copied().collect();
        let Setup { ranks, seed, host, .. } = *setup;
        match &rail.kind {
            RailKind::Tcp(transport) | RailKind::Rdma(transport) => {
                let hosts = (ranks, seed, host);
                Self::Hosts(Box::new(HostRail::new((rail, transport), hosts, &failures)))
            }
            RailKind::InNetwork(tree) => {
                Self::Tree(Box::new(TreeRail::new((rail, tree), (ranks, seed), &failures)))
            }
        }
    }

    /// When it has to be stepped next.
    pub fn next_time(&mut self) -> Option<Time> {
        dispatch!(self, rail => rail.next_time())
    }

    /// Goes through its next event.
    pub fn step(&mut self, cpus: &mut [Cpu]) {
        match self {
            Self::Hosts(rail) => rail.step(cpus),
            Self::Tree(rail) => rail.step(),
        }
    }

    /// What it has to tell.
    pub fn poll_news(&mut self) -> Option<News> {
        dispatch!(self, rail => rail.poll_news())
    }

    /// `rank` starts its part in a piece.
    pub fn begin(&mut self, now: Time, piece: Piece, rank: u32, cpus: &mut [Cpu]) {
        dispatch!(self, rail => rail.begin(now, piece, rank, cpus));
    }

    /// Nobody wants what is under way any more.
    pub fn abandon(&mut self) {
        dispatch!(self, rail => rail.abandon());
    }

    /// Sends a small message.
    pub fn send_control(&mut self, now: Time, control: Control, cpus: &mut [Cpu]) {
        match self {
            Self::Hosts(rail) => rail.send_control(now, control, cpus),
            Self::Tree(rail) => rail.send_control(now, control),
        }
    }

    /// Bytes that ranks handed to it.
    pub fn bytes(&self) -> Bytes {
        dispatch!(self, rail => rail.bytes())
    }
}
