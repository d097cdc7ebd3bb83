//! What a run over several rails has to say.

use crate::rail::handler::{Cause, RailState};
use crate::units::{Bytes, Span, Time};

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every operation is complete, and every rank has had its exact sums.
    Completed,
    /// Nothing was left to happen, or the time limit came.
    Stalled,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRecord {
    /// Its length.
    pub bytes: Bytes,
    /// When it started.
    pub started: Time,
    /// From its start until every rank had all sums; `None` if that did not happen.
    pub took: Option<Span>,
    /// By rail: its bytes, as divided at the start.
    pub shares: Vec<Bytes>,
    /// By rail: how long it took for what it did; `None` if it had nothing.
    pub times: Vec<Option<Span>>,
    /// Chunks that were issued again.
    pub reissued: u64,
    /// Elements that a rank had wrong at the end: none, unless this program is.
    pub wrong: u64,
}

impl OperationRecord {
    /// How far the times of rails are apart, as a part of the longest; 0 with fewer than two.
    pub fn spread(&self) -> f64 {
        let times = || self.times.iter().flatten().map(|time| time.as_ps());
        match (times().min(), times().max()) {
            (Some(least), Some(most)) if most > 0 => (most - least) as f64 / most as f64,
            _ => 0.0,
        }
    }
}

/// One rail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RailRecord {
    /// Its name.
    pub name: String,
    /// Its kind, as scenarios spell it.
    pub kind: &'static str,
    /// Bytes of operations that were its at their start.
    pub assigned: Bytes,
    /// Bytes that ranks handed to it: what went over it, each hop counted.
    pub carried: Bytes,
}

/// What happened to a rail, or was done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// When.
    pub at: Time,
    /// Which rail.
    pub rail: u32,
    /// What.
    pub what: Happening,
}

/// What happens to rails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    /// It fails; nobody knows yet.
    Fails,
    /// A rank is the first to see it in another state.
    Moved {
        /// Which.
        rank: u32,
        /// In which state.
        state: RailState,
        /// Why.
        cause: Cause,
    },
    /// Every rank has said what it has, and the first rank knows.
    Agreed,
    /// Missing chunks go to other rails.
    Reissued {
        /// How many.
        chunks: u64,
    },
    /// The first of them is whole at a rank: work goes on.
    Resumed,
    /// What failed is mended; nobody knows yet.
    Mended,
    /// All ranks agree that it takes part again; it is measured anew.
    Returned,
}

impl std::fmt::Display for Happening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fails => write!(f, "fails"),
            Self::Moved { rank, state, cause } => write!(f, "{state} at rank {rank} ({cause})"),
            Self::Agreed => write!(f, "all ranks agree that it is down"),
            Self::Reissued { chunks: 1 } => write!(f, "1 chunk is issued again"),
            Self::Reissued { chunks } => write!(f, "{chunks} chunks are issued again"),
            Self::Resumed => write!(f, "the first of them is whole at a rank"),
            Self::Mended => write!(f, "is mended"),
            Self::Returned => write!(f, "all ranks agree that it is back, cold"),
        }
    }
}

/// All that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// When.
    pub ended: Time,
    /// Every operation that was begun, in order.
    pub operations: Vec<OperationRecord>,
    /// Every rail, in order.
    pub rails: Vec<RailRecord>,
    /// By host: how long its processor worked.
    pub cpu_busy: Vec<Span>,
    /// What happened to rails, in order of time.
    pub timeline: Vec<TimelineEntry>,
    /// Sums that came when nobody wanted them any more.
    pub late: u64,
    /// Events handled.
    pub events: u64,
}

impl Outcome {
    /// From the first failure until chunks were issued again on other rails, and until the first
    /// of them was whole; `None` where that did not happen.
    pub fn resumption(&self) -> Option<(Span, Span)> {
        let at = |is: fn(&Happening) -> bool| {
            self.timeline.iter().find(|entry| is(&entry.what)).map(|entry| entry.at)
        };
        let failed = at(|what| matches!(what, Happening::Fails))?;
        let again = at(|what| matches!(what, Happening::Reissued { .. }))?;
        let resumed = at(|what| matches!(what, Happening::Resumed))?;
        (failed <= again).then(|| (again.since(failed), resumed.since(failed)))
    }

    /// When the last operation that completed did.
    pub fn last_end(&self) -> Time {
        let end = |it: &OperationRecord| it.took.map(|took| it.started.saturating_add(took));
        self.operations.iter().filter_map(end).max().unwrap_or(Time::ZERO)
    }

    /// Bytes added up in all, over the time that it took, in bytes a second; 0 if nothing did.
    pub fn rate(&self) -> f64 {
        let bytes: u64 = self.operations.iter().map(|operation| operation.bytes.get()).sum();
        let took: u64 = self.operations.iter().flat_map(|it| it.took).map(Span::as_ps).sum();
        if took == 0 { 0.0 } else { bytes as f64 / (took as f64 * 1e-12) }
    }
}
