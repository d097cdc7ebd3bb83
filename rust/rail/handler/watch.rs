//! A reconstruction: one rail as one rank sees it: up, suspect, down, probing, and up again.
//!
//! Source: \[inferred\]; Nezha's abstract has the handler, not its states.
//!
//! ```text
//! up ──(a heartbeat missing; nothing completed in 3 × the expected time)──> suspect
//! up, suspect ──(an error completion; the link is down; another rank says so)──> down
//! suspect ──(a heartbeat; progress; somebody only just started the operation)──> up
//! suspect ──(the second heartbeat missing; time to confirm over)──> down
//! down ──(a round of probes that all ranks answered)──> probing ──(three in a row)──> up
//! probing ──(a round that not all answered)──> down
//! ```

use crate::ids::RankId;
use crate::units::{Span, Time};

use super::config::Config;
use super::message::OperationId;

/// The state of a rail, for time-lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RailState {
    /// Operations use it.
    Up,
    /// Operations use it still, but something is amiss.
    Suspect,
    /// Nothing uses it.
    Down,
    /// Nothing uses it, but it answered all ranks lately.
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

/// Why a rail changed its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Heartbeats are missing.
    Silence,
    /// Nothing was completed for too long.
    Stall,
    /// A work request ended with an error, or the link is down.
    Error,
    /// Another rank published it.
    Published,
    /// A heartbeat, a completion, or somebody who has only just begun.
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

/// What a rank does after a timer of a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Nothing but what is told by the state.
    Nothing,
    /// Ask all ranks over the rail for an answer.
    Probe { round: u64 },
    /// The rail is down.
    Down(Cause),
    /// The rail is up again.
    Up,
}

/// One rail, as one rank sees it.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    /// Whether operations use it.
    used: Use,
    /// When the rank before was last heard on it.
    heard: Time,
    /// Heartbeats missed since.
    missed: u32,
    /// When a chunk on it was last completed or issued.
    progress: Time,
    /// What is to be completed on it: the oldest operation, and how often a chunk is expected.
    pub waits: Option<(OperationId, Span)>,
    /// While suspected for a stall: when there was time enough to confirm it.
    confirmed: Option<Time>,
    /// The round of probes that answers belong to.
    round: u64,
}

#[derive(Debug, Clone)]
enum Use {
    Used,
    Out {
        /// When the next round of probes begins.
        next_probe: Time,
        /// Rounds in a row that all answered.
        good: u32,
        /// Who answered in this round.
        answered: Vec<RankId>,
    },
}

impl Watch {
    pub fn new(now: Time) -> Self {
        Self {
            used: Use::Used,
            heard: now,
            missed: 0,
            progress: now,
            waits: None,
            confirmed: None,
            round: 0,
        }
    }

    pub const fn state(&self) -> RailState {
        match self.used {
            Use::Used if self.missed > 0 || self.confirmed.is_some() => RailState::Suspect,
            Use::Used => RailState::Up,
            Use::Out { good: 0, .. } => RailState::Down,
            Use::Out { .. } => RailState::Probing,
        }
    }

    /// All ranks took it out.
    pub fn take_down(&mut self, now: Time, config: &Config) {
        let next_probe = now.saturating_add(config.probe);
        let used = Use::Out { next_probe, good: 0, answered: Vec::new() };
        *self = Self { used, round: self.round, ..Self::new(now) };
    }

    /// All ranks took it in again.
    pub fn bring_up(&mut self, now: Time) {
        *self = Self { round: self.round, ..Self::new(now) };
    }

    /// The rank before was heard.
    pub fn handle_heard(&mut self, now: Time) {
        self.heard = now;
        self.missed = 0;
    }

    /// A chunk was completed, or issued, or is only now being worked on by all.
    pub fn handle_progress(&mut self, now: Time) {
        self.progress = now;
        self.confirmed = None;
    }

    /// Stays suspect and waits for better times: the last rail is not given up.
    pub fn hold(&mut self, now: Time, config: &Config) {
        self.heard = now;
        self.missed = self.missed.min(1);
        self.confirmed = self.confirmed.map(|_| now.saturating_add(config.confirm));
    }

    /// A rank answered a probe of `round`; with how long it has been at the operation asked for.
    pub fn handle_answer(
        &mut self,
        now: Time,
        (from, round): (RankId, u64),
        started: Option<Span>,
        config: &Config,
    ) {
        if round != self.round {
            return;
        }
        match &mut self.used {
            // Whoever has not begun, or only just, keeps all others waiting through no fault of
            // the rail.
            Use::Used => {
                let expected = self.waits.map_or(Span::ZERO, |(_, expected)| expected);
                let lags = started.is_none_or(|ago| ago < config.stall(expected));
                if self.confirmed.is_some() && lags {
                    self.handle_progress(now);
                }
            }
            Use::Out { answered, .. } if !answered.contains(&from) => answered.push(from),
            Use::Out { .. } => {}
        }
    }

    /// When something is due.
    pub fn poll_timeout(&self, config: &Config) -> Time {
        match self.used {
            Use::Used => self.silence_due(config).min(self.stall_due(config)),
            Use::Out { next_probe, .. } => next_probe,
        }
    }

    /// Does what is due, and says what the rank is to do; `others` are all ranks but it.
    pub fn handle_timeout(&mut self, now: Time, others: usize, config: &Config) -> Due {
        if let Use::Out { next_probe, good, answered } = &mut self.used {
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
        self.confirmed = Some(now.saturating_add(config.confirm));
        self.round += 1;
        Due::Probe { round: self.round }
    }

    /// When the next heartbeat counts as missing.
    fn silence_due(&self, config: &Config) -> Time {
        let beats = config.heartbeat.as_ps().saturating_mul(u64::from(self.missed) + 1);
        self.heard.saturating_add(config.grace).saturating_add(Span::from_ps(beats))
    }

    fn stall_due(&self, config: &Config) -> Time {
        let stalled = |(_, expected)| self.progress.saturating_add(config.stall(expected));
        self.confirmed.unwrap_or_else(|| self.waits.map_or(Time::NEVER, stalled))
    }
}
