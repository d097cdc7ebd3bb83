//! Timers as data: an enum, and small tables of when each of them is due.
//!
//! Source: the timer table of quinn's state machine (quinn-proto, `connection/timer.rs`); what
//! each timer does has the source that its variant names.
//!
//! Nothing is ever cancelled: a timer that is stopped or set again only changes its entry in the
//! table, and an early wake-up finds nothing due there and does nothing. Each owner of timers has
//! a table of its own, for a range of the enum:
//!
//! - the sending half, of [`Timer::Retransmission`]: the one timer that wakes a NIC to send;
//! - a congestion control by timers, from [`Timer::Alpha`] on. They wake nobody: what they would
//!   have done is done, in order, when the rate is next asked for;
//! - the receiving half, of [`Timer::Cnp`] and [`Timer::AckCoalescing`], and with go-back-N of
//!   [`Timer::NackInterval`]. Only the second wakes the NIC. The others limit how often something
//!   is sent: they wake nobody, and are due until it is first sent.
//! - [`Timer::PathMemory`] has no table: a splitter remembers any number of paths, each with its
//!   own time, in a list (`split::ethereal`), and looks for expired ones when it next splits. A
//!   timer for each packet, which two recoveries have, is a queue for the same reason: they are of
//!   one length, so its front is the entry.

use std::fmt;

use crate::units::Time;

/// Everything that waits for a time, in the order of its owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Timer {
    /// Packets without an answer are sent again (InfiniBand specification, volume 1, section
    /// 9.7.6.1.3; with selective acknowledgements IRN's RTO_low and RTO_high, SIGCOMM 2018,
    /// section 3.1): `retransmit_timeout`, 1 ms. The sending half's.
    Retransmission,
    /// DCQCN's alpha decays, or with `dcqcn-mlx` is renewed (Zhu et al., SIGCOMM 2015, section 5;
    /// `rdma-hw.cc` of the HPCC simulator): `alpha_timer`, 55 us or 1 us. Congestion control's.
    Alpha,
    /// DCQCN's rate rises (as above): `rate_timer`, 60 us, or `increase_timer`, 300 us.
    RateIncrease,
    /// `dcqcn-mlx` cuts the rate if a mark came since it last looked (`rdma-hw.cc`; `dcqcn` cuts
    /// with each CNP and has no such timer): `decrease_timer`, 4 us.
    RateDecrease,
    /// The receiver sends no other congestion notification packet (Zhu et al., section 3.1):
    /// `cnp_interval`, 50 us. The receiving half's.
    Cnp,
    /// What has arrived is acknowledged though neither count nor bytes ask for it (Ultra Ethernet
    /// 1.0; REPS, arXiv 2407.21625): `ack_time`, off. The receiving half's.
    AckCoalescing,
    /// The receiver does not repeat a NACK for the same packet (`nack_interval` of the HPCC
    /// simulator): 500 us. The receiving half's, with go-back-N.
    NackInterval,
    /// A failed path is left out of splits (Ethereal, arXiv 2407.00550, public simulator):
    /// `path_memory`, 100 ms. The splitter's, one a path.
    PathMemory,
}

impl Timer {
    /// All timers, in the order of their owners.
    pub const ALL: [Self; 8] = [
        Self::Retransmission,
        Self::Alpha,
        Self::RateIncrease,
        Self::RateDecrease,
        Self::Cnp,
        Self::AckCoalescing,
        Self::NackInterval,
        Self::PathMemory,
    ];
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Retransmission => "retransmission",
            Self::Alpha => "alpha",
            Self::RateIncrease => "rate increase",
            Self::RateDecrease => "rate decrease",
            Self::Cnp => "CNP",
            Self::AckCoalescing => "ACK coalescing",
            Self::NackInterval => "NACK interval",
            Self::PathMemory => "path memory",
        })
    }
}

/// When each of `COUNT` timers is due, from the one numbered `FIRST` in the enum on: 8 bytes a
/// timer, and no more than its owner has, since a run may have a million queue pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timers<const FIRST: u8, const COUNT: usize> {
    due: [Time; COUNT],
}

// An owner pays for its timers alone.
const _: () = assert!(size_of::<SenderTimers>() == 8 && size_of::<RateTimers<3>>() == 24);

/// The one timer of the sending half.
pub(super) type SenderTimers = Timers<{ Timer::Retransmission as u8 }, 1>;

/// A congestion control's: alpha, rate increase and, with three, rate decrease.
pub(super) type RateTimers<const COUNT: usize> = Timers<{ Timer::Alpha as u8 }, COUNT>;

/// The receiving half's: CNP and acknowledgement coalescing.
pub(super) type ReceiverTimers = Timers<{ Timer::Cnp as u8 }, 2>;

/// What a receiving half with go-back-N has beside them.
pub(super) type NackTimers = Timers<{ Timer::NackInterval as u8 }, 1>;

impl<const FIRST: u8, const COUNT: usize> Default for Timers<FIRST, COUNT> {
    fn default() -> Self {
        Self { due: [Time::NEVER; COUNT] }
    }
}

impl<const FIRST: u8, const COUNT: usize> Timers<FIRST, COUNT> {
    /// The index of `timer` in the table; a timer of another owner is a bug.
    const fn index(timer: Timer) -> usize {
        timer as usize - FIRST as usize
    }

    /// When `timer` is due; `NEVER` if it does not run.
    #[inline]
    pub(super) const fn deadline(&self, timer: Timer) -> Time {
        self.due[Self::index(timer)]
    }

    /// `timer` is due at `due`, and not when it was before.
    #[inline]
    pub(super) const fn set(&mut self, timer: Timer, due: Time) {
        self.due[Self::index(timer)] = due;
    }

    /// `timer` does not run any more.
    #[inline]
    pub(super) const fn stop(&mut self, timer: Timer) {
        self.set(timer, Time::NEVER);
    }

    /// `timer` is due from now on: what it limits may be sent at any time.
    #[inline]
    pub(super) const fn expire(&mut self, timer: Timer) {
        self.set(timer, Time::ZERO);
    }

    /// Whether `timer` is due by `now`.
    #[inline]
    pub(super) fn is_due(&self, timer: Timer, now: Time) -> bool {
        self.deadline(timer) <= now
    }

    /// Stops the timer of `order` that is due first, if it is by `now`, and names it and its time.
    /// Of two that are due at the same time the one named earlier in `order` comes first.
    #[inline]
    pub(super) fn next<const N: usize>(
        &mut self,
        now: Time,
        order: [Timer; N],
    ) -> Option<(Timer, Time)> {
        // The first of equal minima is the one that `min_by_key` keeps.
        let timer = order.into_iter().min_by_key(|&timer| self.deadline(timer))?;
        let due = self.deadline(timer);
        if due > now {
            return None;
        }
        self.stop(timer);
        Some((timer, due))
    }
}

#[cfg(test)]
mod tests;
