//! Timers as data: an enum, and small tables of their deadlines.
//!
//! Source: the timer table of quinn's state machine (quinn-proto, `connection/timer.rs`). Each
//! variant names the source of its timer's action.
//!
//! No timer is ever cancelled. Stopping or restarting one only changes its entry in the table, and
//! an early wake-up finds nothing due there and does nothing. Each owner of timers has its own
//! table, for a range of the enum:
//!
//! - The requester has [`Timer::Retransmission`], the only timer that wakes a NIC to send.
//! - A timer-based congestion control has the timers from [`Timer::Alpha`] on. They cause no
//!   wake-up: their actions are caught up on, in order, when the rate is next read.
//! - The responder has [`Timer::Cnp`] and [`Timer::AckCoalescing`], and with go-back-N
//!   [`Timer::NackInterval`]. Only the second wakes the NIC. The others limit how often something
//!   is sent: they cause no wake-up, and count as expired until it is first sent.
//! - [`Timer::PathMemory`] has no table. A splitter remembers any number of paths, each with its
//!   own time, in a list (`split::ethereal`), and looks for expired ones at its next split. The
//!   per-packet timers of two recoveries are a queue for the same reason: they have equal lengths,
//!   so the front is the entry.

use std::fmt;

use crate::units::Time;

/// All kinds of timers, in the order of their owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Timer {
    /// Retransmits packets without an acknowledgement (InfiniBand specification, volume 1, section
    /// 9.7.6.1.3; with selective acknowledgements IRN's RTO_low and RTO_high, SIGCOMM 2018, section
    /// 3.1): `retransmit_timeout`, 1 ms. Owned by the requester.
    Retransmission,
    /// Decays DCQCN's alpha, or renews it with `dcqcn-mlx` (Zhu et al., SIGCOMM 2015, section 5;
    /// `rdma-hw.cc` of the HPCC simulator): `alpha_timer`, 55 us or 1 us. Owned by congestion
    /// control.
    Alpha,
    /// Raises DCQCN's rate (as above): `rate_timer`, 60 us, or `increase_timer`, 300 us.
    RateIncrease,
    /// Cuts the rate of `dcqcn-mlx` if a mark came since the last check (`rdma-hw.cc`; `dcqcn` cuts
    /// with each CNP and has no such timer): `decrease_timer`, 4 us.
    RateDecrease,
    /// Blocks further congestion notification packets (Zhu et al., section 3.1): `cnp_interval`, 50
    /// us. Owned by the responder.
    Cnp,
    /// Acknowledges arrivals that neither count nor bytes have made due (Ultra Ethernet 1.0; REPS,
    /// arXiv 2407.21625): `ack_time`, off. Owned by the responder.
    AckCoalescing,
    /// Blocks further NACKs for the same packet (`nack_interval` of the HPCC simulator): 500 us.
    /// Owned by the responder, with go-back-N.
    NackInterval,
    /// Excludes a failed path from splits (Ethereal, arXiv 2407.00550, public simulator):
    /// `path_memory`, 100 ms. Owned by the splitter, one per path.
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

/// Deadlines of `COUNT` timers, from number `FIRST` of the enum on. A timer takes 8 bytes and an
/// owner stores only its own, because a run may have a million queue pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timers<const FIRST: u8, const COUNT: usize> {
    due: [Time; COUNT],
}

// An owner pays only for its own timers.
const _: () = assert!(size_of::<SenderTimers>() == 8 && size_of::<RateTimers<3>>() == 24);

/// The timer of the requester.
pub(super) type SenderTimers = Timers<{ Timer::Retransmission as u8 }, 1>;

/// Timers of a congestion control: alpha, rate increase and, with three, rate decrease.
pub(super) type RateTimers<const COUNT: usize> = Timers<{ Timer::Alpha as u8 }, COUNT>;

/// Timers of the responder: CNP and acknowledgement coalescing.
pub(super) type ReceiverTimers = Timers<{ Timer::Cnp as u8 }, 2>;

/// The additional timer of a responder with go-back-N.
pub(super) type NackTimers = Timers<{ Timer::NackInterval as u8 }, 1>;

impl<const FIRST: u8, const COUNT: usize> Default for Timers<FIRST, COUNT> {
    fn default() -> Self {
        Self { due: [Time::NEVER; COUNT] }
    }
}

impl<const FIRST: u8, const COUNT: usize> Timers<FIRST, COUNT> {
    /// Returns the index of `timer` in the table. A timer of another owner is a bug.
    const fn index(timer: Timer) -> usize {
        timer as usize - FIRST as usize
    }

    /// Returns when `timer` is due; `NEVER` if it does not run.
    #[inline]
    pub(super) const fn deadline(&self, timer: Timer) -> Time {
        self.due[Self::index(timer)]
    }

    /// Sets the deadline of `timer`, replacing an earlier one.
    #[inline]
    pub(super) const fn set(&mut self, timer: Timer, due: Time) {
        self.due[Self::index(timer)] = due;
    }

    /// Stops `timer`.
    #[inline]
    pub(super) const fn stop(&mut self, timer: Timer) {
        self.set(timer, Time::NEVER);
    }

    /// Makes `timer` due: what it limits may be sent at any time.
    #[inline]
    pub(super) const fn expire(&mut self, timer: Timer) {
        // No time is earlier, so it is due at any `now`.
        self.set(timer, Time::ZERO);
    }

    /// True if `timer` is due by `now`.
    #[inline]
    pub(super) fn is_due(&self, timer: Timer, now: Time) -> bool {
        self.deadline(timer) <= now
    }

    /// Stops and returns the timer of `order` that is due first, with its time, if that is by
    /// `now`. Timers with equal times come out as listed in `order`.
    #[inline]
    pub(super) fn next<const N: usize>(
        &mut self,
        now: Time,
        order: [Timer; N],
    ) -> Option<(Timer, Time)> {
        // `min_by_key` keeps the first of equal minima.
        let timer = order.into_iter().min_by_key(|&timer| self.deadline(timer))?;
        let due = self.deadline(timer);
        if due > now {
            return None;
        }
        // Before its action, which may restart it.
        self.stop(timer);
        Some((timer, due))
    }
}

#[cfg(test)]
mod tests;
