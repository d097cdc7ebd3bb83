//! A reconstruction: the state of one rail at one rank: up, suspect, down, probing, and up again.
//!
//! Source: \[inferred\]; Nezha's abstract mentions the handler, not its states.
//!
//! ```text
//! up ──(a heartbeat is missing; nothing completed in 3 × the expected time)──> suspect
//! up, suspect ──(the link is down; another rank reports it)──> down
//! suspect ──(a heartbeat; a completion; a rank started the operation only now)──> up
//! suspect ──(the second heartbeat is missing; the confirmation time has passed)──> down
//! down ──(a round of probes that all ranks answered)──> probing ──(three in a row)──> up
//! probing ──(a round that some rank did not answer)──> down
//! ```

use crate::ids::RankId;
use crate::units::{Span, Time};

use super::config::Config;
use super::message::OperationId;

/// The state of a rail at a rank, for timelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RailState {
    /// Operations use the rail.
    Up,
    /// Operations still use the rail, but there are signs of a failure.
    Suspect,
    /// No operation uses the rail.
    Down,
    /// No operation uses the rail, but all ranks answered its last probes.
    Probing,
}

impl std::fmt::Display for RailState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Up => "up",
            Self::Suspect => "suspect",
            Self::Down => "down",
            Self::Probing => "probing",
        })
    }
}

/// The reason for a state change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The previous rank's heartbeats did not arrive in time.
    Silence,
    /// No chunk was completed for too long.
    Stall,
    /// The adapter reports that the link is down.
    Error,
    /// Another rank published the change.
    Published,
    /// A heartbeat or a completion arrived, or another rank started the operation only recently.
    Cleared,
    /// Probes were answered, or were not.
    Probes,
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Silence => "silence",
            Self::Stall => "stall",
            Self::Error => "error",
            Self::Published => "published",
            Self::Cleared => "cleared",
            Self::Probes => "probes",
        })
    }
}

/// The work of a rank after a timer of a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// No work, except to report a change of state.
    Nothing,
    /// Probe all ranks over the rail.
    Probe { round: u64 },
    /// The rail is down.
    Down(Cause),
    /// The rail is up again.
    Up,
}

/// The monitor of one rail at one rank.
#[derive(Debug, Clone)]
pub(super) struct RailMonitor {
    /// Whether operations use the rail.
    usage: Usage,
    /// Time of the last message from the previous rank on the rail.
    last_heard: Time,
    /// Number of consecutive heartbeats that have not arrived since `last_heard`.
    missed: u32,
    /// Time at which a chunk was last completed or issued on the rail.
    progress: Time,
    /// The open work on the rail: the oldest operation, and the expected time between chunks.
    pub(super) awaits: Option<(OperationId, Span)>,
    /// While suspect because of a stall: the time at which the rail is down without an answer.
    confirmed: Option<Time>,
    /// The current round of probes.
    round: u64,
}

#[derive(Debug, Clone)]
enum Usage {
    InUse,
    Excluded {
        /// Start of the next round of probes.
        next_probe: Time,
        /// Number of consecutive rounds that all ranks answered.
        good: u32,
        /// The ranks that answered in this round.
        answered: Vec<RankId>,
    },
}

/// A rank's answer to a probe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) from: RankId,
    pub(super) round: u64,
    /// The time since the rank started the awaited operation; `None` if it has not.
    pub(super) started: Option<Span>,
}

impl RailMonitor {
    pub(super) fn new(now: Time) -> Self {
        Self {
            usage: Usage::InUse,
            last_heard: now,
            missed: 0,
            progress: now,
            awaits: None,
            confirmed: None,
            round: 0,
        }
    }

    pub(super) const fn state(&self) -> RailState {
        match self.usage {
            Usage::InUse if self.missed > 0 || self.confirmed.is_some() => RailState::Suspect,
            Usage::InUse => RailState::Up,
            Usage::Excluded { good: 0, .. } => RailState::Down,
            Usage::Excluded { .. } => RailState::Probing,
        }
    }

    /// Takes the rail out of use, by agreement of all ranks.
    pub(super) fn take_down(&mut self, now: Time, config: &Config) {
        let next_probe = now.saturating_add(config.probe);
        let usage = Usage::Excluded { next_probe, good: 0, answered: Vec::new() };
        *self = Self { usage, round: self.round, ..Self::new(now) };
    }

    /// Puts the rail back into use, by agreement of all ranks.
    pub(super) fn bring_up(&mut self, now: Time) {
        *self = Self { round: self.round, ..Self::new(now) };
    }

    /// Records a message from the previous rank.
    pub(super) fn handle_heartbeat(&mut self, now: Time) {
        self.last_heard = now;
        self.missed = 0;
    }

    /// Records that a chunk was completed or issued, or that a stall has another explanation.
    pub(super) fn handle_progress(&mut self, now: Time) {
        self.progress = now;
        self.confirmed = None;
    }

    /// Stays suspect with new deadlines, because the last rail is never given up.
    pub(super) fn hold(&mut self, now: Time, config: &Config) {
        self.last_heard = now;
        self.missed = self.missed.min(1);
        self.confirmed = self.confirmed.map(|_| now.saturating_add(config.confirm));
    }

    /// Processes an answer to a probe.
    pub(super) fn handle_answer(&mut self, now: Time, answer: &Answer, config: &Config) {
        if answer.round != self.round {
            return;
        }
        match &mut self.usage {
            // A rank that has not started the operation, or only recently, makes all others wait;
            // the rail is not at fault.
            Usage::InUse => {
                let expected = self.awaits.map_or(Span::ZERO, |(_, expected)| expected);
                let recent = |ago| ago < config.stall(expected);
                let lags = answer.started.is_none_or(recent);
                if self.confirmed.is_some() && lags {
                    self.handle_progress(now);
                }
            }
            Usage::Excluded { answered, .. } if !answered.contains(&answer.from) => {
                answered.push(answer.from);
            }
            Usage::Excluded { .. } => {}
        }
    }

    /// Returns the time of the next deadline.
    pub(super) fn poll_timeout(&self, config: &Config) -> Time {
        match self.usage {
            Usage::InUse => self.silence_due(config).min(self.stall_due(config)),
            Usage::Excluded { next_probe, .. } => next_probe,
        }
    }

    /// Handles due timers. Returns the work of the rank. `others` is the number of other ranks.
    pub(super) fn handle_timeout(&mut self, now: Time, others: usize, config: &Config) -> Due {
        if let Usage::Excluded { next_probe, good, answered } = &mut self.usage {
            if *next_probe > now {
                return Due::Nothing;
            }
            *good = if answered.len() == others { *good + 1 } else { 0 };
            answered.clear();
            *next_probe = now.saturating_add(config.probe);
            self.round += 1;
            let back = *good >= config.good_probes;
            return if back { Due::Up } else { Due::Probe { round: self.round } };
        }
        while self.silence_due(config) <= now {
            self.missed += 1;
            if self.missed >= config.misses {
                return Due::Down(Cause::Silence);
            }
        }
        if self.stall_due(config) > now {
            return Due::Nothing;
        }
        if self.confirmed.is_some() {
            return Due::Down(Cause::Stall);
        }
        // A stall may have another cause than the rail, so all ranks are asked first.
        self.confirmed = Some(now.saturating_add(config.confirm));
        self.round += 1;
        Due::Probe { round: self.round }
    }

    /// Returns the time at which the next heartbeat counts as missing.
    fn silence_due(&self, config: &Config) -> Time {
        let beats = config.heartbeat.as_ps().saturating_mul(u64::from(self.missed) + 1);
        self.last_heard.saturating_add(config.grace).saturating_add(Span::from_ps(beats))
    }

    fn stall_due(&self, config: &Config) -> Time {
        let stalled = |(_, expected)| self.progress.saturating_add(config.stall(expected));
        self.confirmed.unwrap_or_else(|| self.awaits.map_or(Time::NEVER, stalled))
    }
}
