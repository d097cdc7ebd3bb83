//! Loss recovery, the sender's side: which packet goes next, and when to give up waiting.
//!
//! One recovery a file. Sequence numbers here count on for ever; only the wire has 24 bits. What
//! the receiver does for each recovery is in [`super::responder`].

mod go_back_n;
mod per_packet;

pub(super) use go_back_n::GoBackN;
pub(super) use per_packet::PerPacket;

use super::Recovery;
use crate::units::{Span, Time};

/// What an acknowledgement says has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrived {
    /// Every packet before this one.
    pub ack: u64,
    /// ... and of the 64 from `base` on, those whose bit is set.
    pub base: u64,
    /// The bits, lowest first.
    pub sack: u64,
}

/// A packet whose timer ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expired {
    /// The entropy value that it carried.
    pub entropy: u16,
}

/// What is asked of a loss recovery.
pub(super) trait SendRecovery {
    /// The packet to send next, if there is one before `end`.
    fn next(&self, end: u64) -> Option<u64>;

    /// The oldest packet not yet acknowledged.
    fn unacknowledged(&self) -> u64;

    /// The first packet that was never sent.
    fn never_sent(&self) -> u64;

    /// Packets sent that are neither acknowledged nor given up.
    fn in_flight(&self) -> u64;

    /// The packet named by `next` went out.
    fn handle_sent(&mut self, now: Time, entropy: u16);

    /// Packets arrived; how many of them this is the first to say so of.
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64;

    /// The receiver misses packet `missing`; true if anything is sent again for it.
    fn handle_nack(&mut self, now: Time, missing: u64) -> bool;

    /// When the retransmission timer runs out; `NEVER` if it does not run.
    fn deadline(&self) -> Time;

    /// The retransmission timer ran out.
    fn handle_timeout(&mut self, now: Time) -> Option<Expired>;
}

/// The recovery of one queue pair.
#[derive(Debug, Clone)]
pub(super) enum Sending {
    GoBackN(GoBackN),
    PerPacket(PerPacket),
}

impl Sending {
    pub fn new(recovery: Recovery, timeout: Span) -> Self {
        match recovery {
            Recovery::GoBackN => Self::GoBackN(GoBackN::new(timeout)),
            Recovery::PerPacket => Self::PerPacket(PerPacket::new(timeout)),
        }
    }
}

/// Calls the recovery at hand.
macro_rules! dispatch {
    ($self:ident, $recovery:ident => $call:expr) => {
        match $self {
            Self::GoBackN($recovery) => $call,
            Self::PerPacket($recovery) => $call,
        }
    };
}

impl SendRecovery for Sending {
    #[inline]
    fn next(&self, end: u64) -> Option<u64> {
        dispatch!(self, recovery => recovery.next(end))
    }
    #[inline]
    fn unacknowledged(&self) -> u64 {
        dispatch!(self, recovery => recovery.unacknowledged())
    }
    #[inline]
    fn never_sent(&self) -> u64 {
        dispatch!(self, recovery => recovery.never_sent())
    }
    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        dispatch!(self, recovery => recovery.handle_sent(now, entropy));
    }
    #[inline]
    fn in_flight(&self) -> u64 {
        dispatch!(self, recovery => recovery.in_flight())
    }
    #[inline]
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
        dispatch!(self, recovery => recovery.handle_ack(now, arrived))
    }
    fn handle_nack(&mut self, now: Time, missing: u64) -> bool {
        dispatch!(self, recovery => recovery.handle_nack(now, missing))
    }
    #[inline]
    fn deadline(&self) -> Time {
        dispatch!(self, recovery => recovery.deadline())
    }
    fn handle_timeout(&mut self, now: Time) -> Option<Expired> {
        dispatch!(self, recovery => recovery.handle_timeout(now))
    }
}
