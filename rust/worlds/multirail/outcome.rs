//! The results of a run over several rails.

use crate::fabric::Verdict;
use crate::rail::handler::{Cause, RailState};
use crate::units::{Bytes, Span, Time};

/// The results of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRecord {
    /// Length of the operation.
    pub bytes: Bytes,
    /// The time at which it started.
    pub started: Time,
    /// From its start until every rank had all sums; `None` if it did not complete.
    pub took: Option<Span>,
    /// The share of each rail at the start.
    pub shares: Vec<Bytes>,
    /// The time of each rail for its chunks; `None` if it had none.
    pub times: Vec<Option<Span>>,
    /// Chunks that were issued again.
    pub reissued: u64,
    /// The number of elements with a wrong sum at some rank; 0 unless the simulator is wrong.
    pub wrong: u64,
}

impl OperationRecord {
    /// The imbalance of the rails' ends: (longest − shortest) / longest; 0 for fewer than two
    /// rails.
    pub fn spread(&self) -> f64 {
        let times = || self.times.iter().flatten().map(|time| time.as_ps());
        match (times().min(), times().max()) {
            (Some(least), Some(most)) if most > 0 => (most - least) as f64 / most as f64,
            _ => 0.0,
        }
    }
}

/// The results of one rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RailRecord {
    /// The sum of its shares at the start of operations.
    pub assigned: Bytes,
    /// Bytes that ranks handed to it, each hop counted.
    pub carried: Bytes,
}

/// An event of a rail with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// The time of the event.
    pub at: Time,
    /// Index of the rail.
    pub rail: u32,
    /// The failure, its detection, or the reaction to it.
    pub event: RailEvent,
}

/// An event of a rail: a failure, its detection, or the reaction to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RailEvent {
    /// The rail fails; no rank has detected it yet.
    Fails,
    /// A rank is the first to change its state of the rail.
    StateChange {
        /// The first rank that changed its state.
        rank: u32,
        /// The state of the rail at that rank from now on.
        state: RailState,
        /// The reason of the change.
        cause: Cause,
    },
    /// The first rank has the reports of all ranks: they agree that the rail is down.
    Agreed,
    /// Missing chunks are issued again on other rails.
    Reissued {
        /// The number of chunks.
        chunks: u64,
    },
    /// The first of these chunks is complete at a rank: the operation has resumed.
    Resumed,
    /// The failure ends; no rank has detected it yet.
    Mended,
    /// All ranks agree that the rail is up again; it is measured from scratch.
    Returned,
}

impl std::fmt::Display for RailEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fails => write!(f, "fails"),
            Self::StateChange { rank, state, cause } => {
                write!(f, "{state} at rank {rank} ({cause})")
            }
            Self::Agreed => write!(f, "all ranks agree that it is down"),
            Self::Reissued { chunks: 1 } => write!(f, "1 chunk is issued again"),
            Self::Reissued { chunks } => write!(f, "{chunks} chunks are issued again"),
            Self::Resumed => write!(f, "the first of them is whole at a rank"),
            Self::Mended => write!(f, "is mended"),
            Self::Returned => write!(f, "all ranks agree that it is back, cold"),
        }
    }
}

/// All results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RailOutcome {
    /// How the run ended; completed if every operation is complete at every rank.
    pub verdict: Verdict,
    /// The time at which it ended.
    pub ended: Time,
    /// Every operation that was started, in order.
    pub operations: Vec<OperationRecord>,
    /// All rails, by index.
    pub rails: Vec<RailRecord>,
    /// The busy time of each host's processor.
    pub cpu_busy: Vec<Span>,
    /// The events of all rails, in order of time.
    pub timeline: Vec<TimelineEntry>,
    /// The number of sums of superseded attempts.
    pub late: u64,
    /// The number of events.
    pub events: u64,
}

impl RailOutcome {
    /// The time from the first failure until chunks were issued again on other rails, and until
    /// the first of them was complete; `None` if that did not happen.
    pub fn resumption(&self) -> Option<(Span, Span)> {
        let at = |is: fn(&RailEvent) -> bool| {
            self.timeline.iter().find(|entry| is(&entry.event)).map(|entry| entry.at)
        };
        let failed = at(|what| matches!(what, RailEvent::Fails))?;
        let again = at(|what| matches!(what, RailEvent::Reissued { .. }))?;
        let resumed = at(|what| matches!(what, RailEvent::Resumed))?;
        (failed <= again).then(|| (again.since(failed), resumed.since(failed)))
    }

    /// The completion time of the last completed operation.
    pub fn last_end(&self) -> Time {
        let end = |it: &OperationRecord| it.took.map(|took| it.started.saturating_add(took));
        self.operations.iter().filter_map(end).max().unwrap_or(Time::ZERO)
    }

    /// Bytes of all operations over the time of the completed ones, in bytes per second; 0 if none
    /// completed.
    pub fn rate(&self) -> f64 {
        let bytes: u64 = self.operations.iter().map(|operation| operation.bytes.get()).sum();
        let took: u64 = self.operations.iter().flat_map(|it| it.took).map(Span::as_ps).sum();
        if took == 0 { 0.0 } else { bytes as f64 / (took as f64 * 1e-12) }
    }
}
