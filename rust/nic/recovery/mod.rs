//! Loss recovery, the sender's side: which packet goes next, and when to give up waiting.
//!
//! One recovery a file. Sequence numbers here count on for ever; only the wire has 24 bits. What
//! the receiver does for each recovery is in `responder`.

mod board;
pub mod erasure;
pub mod go_back_n;
mod per_packet;
pub mod sack;

pub(super) use board::Board;
use erasure::Erasure;
use go_back_n::{BackTo, GoBackN};
use per_packet::PerPacket;
use sack::Sack;

use super::Recovery;
use crate::packet::{AckView, DataFields};
use crate::units::{Span, Time};

/// What an acknowledgement says has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Arrived {
    /// Every packet before this one; with an erasure code, the message that it is about.
    pub ack: u64,
    /// ... and of the 64 from `base` on, those whose bit is set.
    pub base: u64,
    /// The bits, lowest first.
    pub sack: u64,
    /// With an erasure code: that message needs no more.
    pub complete: bool,
}

/// What a negative acknowledgement says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Missed {
    /// Every packet before this one has arrived; with an erasure code, the message it is about.
    pub missing: u64,
    /// The packet that made the receiver say so.
    pub psn: u64,
    /// What was wrong with it.
    pub why: Why,
}

/// Why a receiver says that it misses a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Another came before it.
    Gap,
    /// A switch cut it to its header.
    Trimmed,
}

/// A packet that arrivals beyond it show to be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    /// The entropy value that it carried.
    pub entropy: u16,
    /// Which of its recovery's losses it is.
    pub place: LostPlace,
}

/// Losses of one round trip are one sign of congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LostPlace {
    /// A recovery begins with it.
    First,
    /// A recovery was under way.
    Later,
}

/// A packet whose timer ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expired {
    /// The entropy value that it carried.
    pub entropy: u16,
}

/// What is asked of a loss recovery.
pub(super) trait SendRecovery {
    /// A message of so many packets is to be sent after all before it.
    fn handle_posted(&mut self, _packets: u64) {}

    /// The packet to send next, if there is one before `end`.
    fn next(&self, end: u64) -> Option<u64>;

    /// The oldest packet not yet acknowledged.
    fn unacknowledged(&self) -> u64;

    /// The first packet that was never sent.
    fn never_sent(&self) -> u64;

    /// One past the last packet that may be sent for the first time, if at most `most` are to be
    /// out.
    fn window_end(&self, most: u64) -> u64 {
        self.unacknowledged() + most
    }

    /// Packets sent that are neither acknowledged nor given up.
    fn in_flight(&self) -> u64;

    /// The packet named by `next` went out.
    fn handle_sent(&mut self, now: Time, entropy: u16);

    /// Completes the header of the packet named by `next`, if packets are not numbered along the
    /// queue pair; `message_bytes` is the length of its message.
    #[inline]
    fn label(&self, _data: &mut DataFields, _message_bytes: u64) {}

    /// What an acknowledgement says, in full sequence numbers.
    #[inline]
    fn read(&self, ack: AckView<'_>) -> Arrived {
        let (known, report) = (self.unacknowledged(), ack.report());
        Arrived {
            ack: ack.cumulative().near(known),
            base: report.base.near(known),
            sack: report.arrived,
            complete: false,
        }
    }

    /// Packets arrived; how many of them this is the first to say so of.
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64;

    /// The receiver misses a packet; true if anything is sent again for it.
    fn handle_nack(&mut self, now: Time, missed: Missed) -> bool;

    /// A packet that acknowledgements showed to be lost, each once.
    fn poll_lost(&mut self) -> Option<Lost> {
        None
    }

    /// How far the packets sent have come, and how many were sent: what congestion controls count
    /// round trips by.
    fn progress(&self) -> (u64, u64) {
        (self.unacknowledged(), self.never_sent())
    }

    /// When the retransmission timer runs out; `NEVER` if it does not run.
    fn deadline(&self) -> Time;

    /// The retransmission timer ran out.
    fn handle_timeout(&mut self, now: Time) -> Option<Expired>;
}

/// The recovery of one queue pair. Those with much state are boxed, so that a run with a million
/// queue pairs of another does not pay for it.
#[derive(Debug, Clone)]
pub(super) enum Sending {
    GoBackN(GoBackN),
    Sack(Box<Sack>),
    PerPacket(PerPacket),
    Erasure(Box<Erasure>),
}

impl Sending {
    pub fn new(recovery: Recovery, timeout: Span) -> Self {
        match recovery {
            Recovery::GoBackN => Self::GoBackN(GoBackN::new(BackTo::Missing, timeout)),
            Recovery::GoBackToZero => Self::GoBackN(GoBackN::new(BackTo::Message, timeout)),
            Recovery::Sack(config) => Self::Sack(Box::new(Sack::new(config, timeout))),
            Recovery::PerPacket => Self::PerPacket(PerPacket::new(timeout)),
            Recovery::Erasure => Self::Erasure(Box::new(Erasure::new(timeout))),
        }
    }
}

/// Calls the recovery at hand.
macro_rules! dispatch {
    ($self:ident, $recovery:ident => $call:expr) => {
        match $self {
            Self::GoBackN($recovery) => $call,
            Self::Sack($recovery) => $call,
            Self::PerPacket($recovery) => $call,
            Self::Erasure($recovery) => $call,
        }
    };
}

impl SendRecovery for Sending {
    fn handle_posted(&mut self, packets: u64) {
        dispatch!(self, recovery => recovery.handle_posted(packets));
    }
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
    fn window_end(&self, most: u64) -> u64 {
        dispatch!(self, recovery => recovery.window_end(most))
    }
    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        dispatch!(self, recovery => recovery.handle_sent(now, entropy));
    }
    #[inline]
    fn label(&self, data: &mut DataFields, message_bytes: u64) {
        dispatch!(self, recovery => recovery.label(data, message_bytes));
    }
    #[inline]
    fn read(&self, ack: AckView<'_>) -> Arrived {
        dispatch!(self, recovery => recovery.read(ack))
    }
    #[inline]
    fn in_flight(&self) -> u64 {
        dispatch!(self, recovery => recovery.in_flight())
    }
    #[inline]
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
        dispatch!(self, recovery => recovery.handle_ack(now, arrived))
    }
    fn handle_nack(&mut self, now: Time, missed: Missed) -> bool {
        dispatch!(self, recovery => recovery.handle_nack(now, missed))
    }
    #[inline]
    fn poll_lost(&mut self) -> Option<Lost> {
        dispatch!(self, recovery => recovery.poll_lost())
    }
    #[inline]
    fn progress(&self) -> (u64, u64) {
        dispatch!(self, recovery => recovery.progress())
    }
    #[inline]
    fn deadline(&self) -> Time {
        dispatch!(self, recovery => recovery.deadline())
    }
    fn handle_timeout(&mut self, now: Time) -> Option<Expired> {
        dispatch!(self, recovery => recovery.handle_timeout(now))
    }
}
