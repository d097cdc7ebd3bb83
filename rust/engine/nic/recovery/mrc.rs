//! Selective repeat that declares a hole lost by its age: Multipath Reliable Connection (MRC).
//!
//! Source: "MRC, Multipath Reliable Connection" (OCP specification 1.0, 2026), by public notes and
//! the published headers (`mrc.h`). They give selective acknowledgements, the maximum PSN range
//! (MPR), and timeouts of 1.024 us · 2^t with a linear and an exponential series. The text itself
//! was not available: `docs/multi-plane.md` lists each guess (G4, G9) with its reason.
//!
//! - A packet that was sent once is lost if a later one arrived `reordering` ago and it still has
//!   not. It is retransmitted by another path. For its policy it has timed out if it was sent as
//!   long ago as the timer must cover (G3).
//! - A trimmed packet is retransmitted immediately, others in the order of their numbers
//!   \[inferred\].
//! - A retransmitted packet is left to the timer. The timer starts when the oldest packet became
//!   the oldest or was last sent. On expiry, everything sent longer ago is retransmitted. After
//!   `linear` timeouts without progress, each wait is twice the one before.
//! - A NACK that requests a retransmission counts as one of the timeouts that end the queue pair.
//!   Here the series is that of the oldest packet, so only NACKs for the oldest count. They show
//!   that the receiver is alive, so they do not lengthen the wait \[inferred\].

mod wait;

pub use wait::Wait;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::selective::Selective;
use super::{Arrived, Lost, LostPosition, NackReport, PlaneUse, TimedOut};
use super::{MissReason, RecoveryConfig, SendRecovery, SenderFacts};
use crate::nic::parameters::{Configuration, InvalidValue, require, timer};
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::ack::AckRange;
use crate::nic::receive::receiver::{AnyOrder, Receiving};
use crate::units::{Span, Time};

/// The unit of timeouts: 1.024 us · 2^t (`timeout` of `mrc.h`).
const TIMER_UNIT: Span = Span::from_ps(1_024_000);
/// The largest t.
const MAX_EXPONENT: u32 = 24;
/// The number of doubling intervals that means no limit (`exp_cnt` of `mrc.h`).
const UNLIMITED: u32 = 25;
/// The t of the shortest timeout that `"rtt"` yields.
const MIN_EXPONENT: u32 = 2;

/// The parameters of `mrc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Age at which a hole is declared lost, measured from a later arrival. `"timeout"` is the
    /// `retransmit_timeout`, so that no queue causes a loss (\[inferred\], G4). `"rtt"` is one base
    /// round-trip time. A time is taken as it is.
    pub reordering: Wait,
    /// The most PSNs that may be sent beyond the cumulative acknowledgement (MPR): 1,024, the
    /// minimum that every implementation must support.
    pub mpr: u32,
    /// The timeout. `"timeout"` is the smallest 1.024 us · 2^t that is at least
    /// `retransmit_timeout` (\[inferred\], G9). `"rtt"` is the smallest that is at least four base
    /// round-trip times. A time is taken as it is, for example 262 us as in the headers.
    pub timer: Wait,
    /// Timeouts at a constant interval, before intervals double: 7 (the headers' example).
    pub linear: u32,
    /// Further timeouts at doubling intervals before the queue pair fails: 25 (the headers'
    /// example), which means no limit. Queue pairs that report by events never fail.
    pub exponential: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            reordering: Wait::Timeout,
            mpr: 1_024,
            timer: Wait::Timeout,
            linear: 7,
            exponential: UNLIMITED,
        }
    }
}

#[cfg(test)]
impl Config {
    /// The defaults, with `reordering` and `timer` derived from the base round-trip time.
    pub(crate) fn by_round_trip() -> Self {
        Self { reordering: Wait::Rtt, timer: Wait::Rtt, ..Self::default() }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "mrc";
    const SUMMARY: &'static str =
        "selective acknowledgements; a gap is lost after a time (Multipath Reliable Connection)";
    const SOURCE: &'static str = "OCP, Multipath Reliable Connection 1.0, 2026, by public notes";

    fn check(&self) -> Result<(), InvalidValue> {
        require("mpr", self.mpr, self.mpr > 0, "it must be at least 1")?;
        let expected = "it must be at most 25 (25 means unlimited)";
        require("exponential", self.exponential, self.exponential <= UNLIMITED, expected)?;
        if let Wait::Span(span) = self.reordering {
            timer("reordering", span)?;
        }
        if let Wait::Span(span) = self.timer {
            timer("timer", span)?;
        }
        Ok(())
    }
}

impl RecoveryConfig for Config {
    type Sender = Box<Mrc>;

    const COUNTS_PLANES: bool = true;

    /// A SACK repeats the arrivals among the last 64 PSNs, so the loss of a single SACK is
    /// harmless.
    const ACK_RANGES: &'static [AckRange] = &[AckRange::Last64, AckRange::Cumulative];

    fn sender(&self, facts: &SenderFacts) -> Box<Mrc> {
        Box::new(Mrc::new(*self, facts))
    }

    /// Only the sender declares packets lost, however many later ones have arrived.
    fn receiver(&self, delivery: Delivery) -> Receiving {
        AnyOrder::new(u32::MAX, delivery).into()
    }

    fn first_timeout(&self, timeout: Span, base_rtt: impl FnOnce() -> Span) -> Span {
        let least = self.least_timer(timeout, base_rtt);
        if matches!(self.timer, Wait::Span(_)) { least } else { covering(least) }
    }

    fn retries(&self) -> Option<u32> {
        (self.exponential < UNLIMITED).then(|| self.linear.saturating_add(self.exponential))
    }

    fn shortest_timeout(&self, timeout: Span) -> Span {
        match self.timer {
            Wait::Timeout => covering(timeout),
            // The network is not known here, so this is the lower bound of `covering`.
            Wait::Rtt => TIMER_UNIT * (1 << MIN_EXPONENT),
            Wait::Span(span) => span,
        }
    }
}

impl Config {
    /// The time that the timeout must cover.
    fn least_timer(&self, timeout: Span, base_rtt: impl FnOnce() -> Span) -> Span {
        self.timer.of(timeout, base_rtt, 4)
    }
}

/// The shortest timeout that is at least `least` (G9).
fn covering(least: Span) -> Span {
    let covers = |t: &u32| TIMER_UNIT.as_ps() << t >= least.as_ps();
    let t = (MIN_EXPONENT..MAX_EXPONENT).find(covers).unwrap_or(MAX_EXPONENT);
    TIMER_UNIT * (1 << t)
}

/// A packet in the window.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    entropy: u16,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was sent once.
    InFlight,
    /// It was retransmitted: later arrivals say nothing about it.
    Retransmitted,
    /// It waits for retransmission.
    Lost,
}

/// At `due`, packets that are still missing before `edge` are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Verdict {
    due: Time,
    edge: u64,
}

/// The sending side: arrivals, and the send time of each packet in flight.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Mrc {
    config: Config,
    /// Age at which a hole is declared lost.
    reordering: Span,
    /// A hole that was sent so long ago has timed out, too.
    overdue: Span,
    /// The timeout before any doubling.
    timer: Span,
    window: Selective,
    /// Packets sent, from the first missing one on.
    sent: VecDeque<Sent>,
    verdicts: VecDeque<Verdict>,
    /// Verdicts have been passed on missing packets before this one.
    checked_until: u64,
    /// The recovery ends when everything before this packet has arrived.
    recovery_end: u64,
    /// Start of the timer.
    since: Time,
    /// Timeouts, and NACKs for the oldest packet, since it became the oldest.
    consecutive_failures: u32,
    /// The timeouts among them.
    timeouts: u32,
    /// Entropy values of packets that timed out and are not yet reported.
    expired: VecDeque<u16>,
    losses: VecDeque<Lost>,
}

impl Mrc {
    fn new(config: Config, facts: &SenderFacts) -> Self {
        let base_rtt = || facts.base_rtt;
        Self {
            config,
            reordering: config.reordering.of(facts.timeout, base_rtt, 1),
            overdue: config.least_timer(facts.timeout, base_rtt),
            timer: config.first_timeout(facts.timeout, base_rtt),
            window: Selective::new(facts.planes),
            sent: VecDeque::new(),
            verdicts: VecDeque::new(),
            checked_until: 0,
            recovery_end: 0,
            since: Time::ZERO,
            consecutive_failures: 0,
            timeouts: 0,
            expired: VecDeque::new(),
            losses: VecDeque::new(),
        }
    }

    /// When the retransmission timer expires; `NEVER` with nothing in flight.
    fn timer_due(&self) -> Time {
        if self.in_flight() == 0 {
            return Time::NEVER;
        }
        // Saturating: the first `linear` timeouts double nothing. The bound keeps the shift in
        // range.
        let doublings = self.timeouts.saturating_sub(self.config.linear).min(MAX_EXPONENT);
        let wait = Span::from_ps(self.timer.as_ps().saturating_mul(1 << doublings));
        self.since.saturating_add(wait)
    }

    fn index(&self, sequence: u64) -> usize {
        (sequence - self.window.first_missing()) as usize
    }

    /// Returns the state of `sequence` if it is in flight.
    fn in_flight_entry(&self, sequence: u64) -> Option<Sent> {
        let in_window = self.window.first_missing()..self.window.never_sent();
        if !in_window.contains(&sequence) || self.window.has_arrived(sequence) {
            return None;
        }
        Some(self.sent[self.index(sequence)]).filter(|sent| sent.state != State::Lost)
    }

    fn lose(&mut self, sequence: u64) {
        let index = self.index(sequence);
        self.sent[index].state = State::Lost;
    }

    /// Schedules a verdict, one `reordering` from now, on packets missing before the newest
    /// arrival.
    fn schedule_verdict(&mut self, now: Time) {
        let Some(edge) = self.window.arrival_before(0) else { return };
        let scheduled = self.verdicts.back().map_or(self.checked_until, |verdict| verdict.edge);
        // Only a new edge needs a verdict; verdicts stay sorted by time and by edge.
        if edge > scheduled {
            let due = now.saturating_add(self.reordering);
            self.verdicts.push_back(Verdict { due, edge });
        }
    }

    /// Declares holes lost that are old enough.
    fn apply_verdicts(&mut self, now: Time) {
        while let Some(&Verdict { due, edge }) = self.verdicts.front()
            && due <= now
        {
            self.verdicts.pop_front();
            // Each packet is judged once, so the total work is linear.
            for sequence in self.checked_until.max(self.window.first_missing())..edge {
                let sent_once =
                    self.in_flight_entry(sequence).filter(|sent| sent.state == State::InFlight);
                let Some(Sent { at, entropy, .. }) = sent_once else { continue };
                self.lose(sequence);
                self.window.lose_in_order(sequence);
                let position = self.enter_recovery();
                let timed_out = at.saturating_add(self.overdue) <= now;
                self.losses.push_back(Lost { entropy, position, timed_out });
            }
            self.checked_until = self.checked_until.max(edge);
        }
    }

    fn enter_recovery(&mut self) -> LostPosition {
        if self.window.first_missing() < self.recovery_end {
            return LostPosition::Later;
        }
        self.recovery_end = self.window.never_sent();
        LostPosition::First
    }

    /// Declares every packet lost that was sent at least a timeout ago.
    fn expire(&mut self, now: Time) {
        for sequence in self.window.first_missing()..self.window.never_sent() {
            let Some(sent) = self.in_flight_entry(sequence) else { continue };
            // `timer`, not the doubled wait: older packets have had their time.
            if sent.at.saturating_add(self.timer) <= now {
                self.lose(sequence);
                self.window.lose_in_order(sequence);
                self.expired.push_back(sent.entropy);
            }
        }
        // The next, possibly doubled, wait starts now.
        self.since = now;
        self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        self.timeouts = self.timeouts.saturating_add(1);
        // Holes found from here on belong to this timeout and are not a second sign of congestion.
        self.recovery_end = self.window.never_sent();
    }
}

impl SendRecovery for Mrc {
    #[inline]
    fn next(&self, end: u64) -> Option<u64> {
        self.window.next(end)
    }

    fn unacknowledged(&self) -> u64 {
        self.window.first_missing()
    }

    fn never_sent(&self) -> u64 {
        self.window.never_sent()
    }

    fn window_end(&self, max_in_flight: u64) -> u64 {
        // The peer supports only `mpr` outstanding PSNs, whatever the window permits.
        self.unacknowledged() + max_in_flight.min(self.config.mpr.into())
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        let idle = self.in_flight() == 0;
        let sequence = self.window.handle_sent(now, entropy);
        let index = self.index(sequence);
        match self.sent.get_mut(index) {
            Some(again) => *again = Sent { at: now, entropy, state: State::Retransmitted },
            None => self.sent.push_back(Sent { at: now, entropy, state: State::InFlight }),
        }
        // The timer belongs to the oldest packet: other packets do not restart it.
        if idle || sequence == self.window.first_missing() {
            self.since = now;
        }
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.window.in_flight()
    }

    fn pending_retransmissions(&self) -> u64 {
        self.window.pending_retransmissions()
    }

    #[inline]
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
        let first = self.window.first_missing();
        let new = self.window.handle_arrived(now, arrived);
        if new == 0 {
            return 0;
        }
        let passed = self.window.first_missing() - first;
        if passed > 0 {
            self.sent.drain(..passed as usize);
            self.since = now;
            // Progress ends the series, and with it the back-off.
            (self.consecutive_failures, self.timeouts) = (0, 0);
        }
        self.schedule_verdict(now);
        // Verdicts may be due already; waiting for the timer would delay the retransmission.
        self.apply_verdicts(now);
        new
    }

    /// Excludes verdicts on holes: they are not timeouts.
    fn has_timed_out(&self, now: Time) -> bool {
        self.timer_due() <= now
    }

    fn plane(&self, plane: u32) -> PlaneUse {
        self.window.plane(plane)
    }

    /// The sender detects losses from reported arrivals, whatever the receiver requests.
    fn treats_gap_nacks_as_acks(&self) -> bool {
        true
    }

    fn handle_nack(&mut self, _now: Time, nack: NackReport) -> bool {
        if nack.reason != MissReason::Trimmed || self.in_flight_entry(nack.psn).is_none() {
            return false;
        }
        // The trimmed header proves the loss: the packet goes first.
        self.lose(nack.psn);
        self.window.lose_first(nack.psn);
        // The series is that of the oldest packet.
        if nack.psn == self.window.first_missing() {
            self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        }
        true
    }

    fn consecutive_failures(&self) -> u32 {
        self.consecutive_failures
    }

    #[inline]
    fn poll_lost(&mut self) -> Option<Lost> {
        self.losses.pop_front()
    }

    #[inline]
    fn deadline(&self) -> Time {
        // The caller takes one expired packet per call: due immediately until all are reported.
        if !self.expired.is_empty() {
            return self.since;
        }
        let verdict = self.verdicts.front().map_or(Time::NEVER, |verdict| verdict.due);
        verdict.min(self.timer_due())
    }

    fn handle_timeout(&mut self, now: Time) -> Option<TimedOut> {
        // Before `expire`: a hole that is also due by age counts as a gap, not as a timeout.
        self.apply_verdicts(now);
        if self.timer_due() <= now {
            self.expire(now);
        }
        self.expired.pop_front().map(|entropy| TimedOut { entropy })
    }
}

#[cfg(test)]
mod tests;
