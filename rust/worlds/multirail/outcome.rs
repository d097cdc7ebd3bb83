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
    /// Time from its start until every rank had all sums; `None` if it did not complete.
    pub took: Option<Span>,
    /// Share of each rail at the start.
    pub shares: Vec<Bytes>,
    /// Time of each rail for its chunks; `None` if it had no chunks.
    pub times: Vec<Option<Span>>,
    /// Number of chunks that were issued again.
    pub reissued: u64,
    /// Number of elements with a wrong sum at some rank; 0 unless the simulator has a bug.
    pub wrong: u64,
}

impl OperationRecord {
    /// Returns the imbalance of the rails' end times: (longest − shortest) / longest; 0 for fewer
    /// than two rails.
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
    /// Sum of its shares at the start of operations.
    pub assigned: Bytes,
    /// Bytes that ranks sent over it; each hop counts.
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
    Failed,
    /// The state of the rail changes at a rank, which is the first to see it.
    StateChange {
        /// The first rank that changed its state.
        rank: u32,
        /// The state of the rail at that rank from now on.
        state: RailState,
        /// The reason of the change.
        cause: Cause,
    },
    /// The first rank has the reports of all ranks, so the ranks agree that the rail is down.
    Agreed,
    /// Missing chunks are issued again on other rails.
    Reissued {
        /// The number of chunks.
        chunks: u64,
    },
    /// The first of these chunks is complete at a rank, so the operation has resumed.
    Resumed,
    /// The failure ends; no rank has detected it yet.
    Repaired,
    /// All ranks agree that the rail is up again; it is measured from scratch.
    Returned,
}

impl std::fmt::Display for RailEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed => write!(f, "fails"),
            Self::StateChange { rank, state, cause } => {
                write!(f, "{state} at rank {rank} ({cause})")
            }
            Self::Agreed => write!(f, "all ranks agree that it is down"),
            Self::Reissued { chunks: 1 } => write!(f, "1 chunk is reissued"),
            Self::Reissued { chunks } => write!(f, "{chunks} chunks are reissued"),
            Self::Resumed => write!(f, "the first reissued chunk is complete at a rank"),
            Self::Repaired => write!(f, "is repaired"),
            Self::Returned => write!(f, "all ranks agree that it is up again (cold start)"),
        }
    }
}

/// All results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RailOutcome {
    /// How the run ended; `Completed` if every operation is complete at every rank.
    pub verdict: Verdict,
    /// The time at which it ended.
    pub ended: Time,
    /// Every operation that was started, in order.
    pub operations: Vec<OperationRecord>,
    /// All rails, by index.
    pub rails: Vec<RailRecord>,
    /// Busy time of each host's processor.
    pub cpu_busy: Vec<Span>,
    /// Events of all rails, in time order.
    pub timeline: Vec<TimelineEntry>,
    /// Number of sums that belonged to superseded attempts.
    pub late: u64,
    /// Number of events handled.
    pub events: u64,
}

impl RailOutcome {
    /// Returns the times from the first failure until chunks were issued again on other rails, and
    /// until the first of them was complete; `None` if that did not happen.
    pub fn resumption(&self) -> Option<(Span, Span)> {
        let at = |is: fn(&RailEvent) -> bool| {
            self.timeline.iter().find(|entry| is(&entry.event)).map(|entry| entry.at)
        };
        let failed = at(|what| matches!(what, RailEvent::Failed))?;
        let again = at(|what| matches!(what, RailEvent::Reissued { .. }))?;
        let resumed = at(|what| matches!(what, RailEvent::Resumed))?;
        (failed <= again).then(|| (again.since(failed), resumed.since(failed)))
    }

    /// Returns the completion time of the last completed operation.
    pub fn last_end(&self) -> Time {
        let end = |it: &OperationRecord| it.took.map(|took| it.started.saturating_add(took));
        self.operations.iter().filter_map(end).max().unwrap_or(Time::ZERO)
    }

    /// Returns the bytes of all operations divided by the time of the completed ones, in bytes per
    /// second; 0 if no operation completed.
    pub fn rate(&self) -> f64 {
        let bytes: u64 = self.operations.iter().map(|operation| operation.bytes.get()).sum();
        let took: u64 = self.operations.iter().flat_map(|it| it.took).map(Span::as_ps).sum();
        if took == 0 { 0.0 } else { bytes as f64 / (took as f64 * 1e-12) }
    }
}
