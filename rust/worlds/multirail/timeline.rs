//! The time-line of the rails: each event once, as the first rank sees it.

use super::outcome::{RailEvent, TimelineEntry};
use crate::rail::handler::{Cause, RailState};
use crate::units::Time;

/// The time-line of a run in progress.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    entries: Vec<TimelineEntry>,
    /// The last recorded state of each rail.
    states: Vec<Option<RailState>>,
    /// The last epoch in which chunks were issued again, and the rail that they were on.
    reissued: Option<(u64, u32)>,
    /// Whether one of these chunks has been completed.
    resumed: bool,
}

/// A change of a rail's state at one rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct StateChange {
    pub rail: u32,
    pub rank: u32,
    pub state: RailState,
    pub cause: Cause,
}

impl Timeline {
    pub(super) fn new(rails: usize) -> Self {
        Self { states: vec![None; rails], ..Self::default() }
    }

    /// Records an event of a rail.
    pub(super) fn record(&mut self, at: Time, rail: u32, event: RailEvent) {
        if let (RailEvent::Reissued { .. }, Some((_, lost))) = (event, &mut self.reissued) {
            *lost = rail;
        }
        self.entries.push(TimelineEntry { at, rail, event });
    }

    /// Records a change of state, if this rank is the first to see it.
    pub(super) fn record_state(&mut self, at: Time, change: &StateChange) {
        let &StateChange { rail, rank, state, cause } = change;
        let known = &mut self.states[rail as usize];
        // A published change was recorded when the publishing rank saw it.
        if *known != Some(state) && cause != Cause::Published {
            *known = Some(state);
            self.record(at, rail, RailEvent::StateChange { rank, state, cause });
        }
    }

    /// Whether chunks are issued again for the first time in that epoch.
    pub(super) fn begin_reissue(&mut self, epoch: u64) -> bool {
        let first = self.reissued.is_none_or(|(known, _)| known < epoch);
        if first {
            self.reissued = Some((epoch, 0));
            self.resumed = false;
        }
        first
    }

    /// Records that a chunk of that epoch is complete at a rank.
    pub(super) fn record_complete(&mut self, at: Time, epoch: u64) {
        if let Some((reissued, rail)) = self.reissued
            && reissued == epoch
            && !self.resumed
        {
            self.resumed = true;
            self.record(at, rail, RailEvent::Resumed);
        }
    }

    /// All entries in order of time.
    pub(super) fn into_entries(self) -> Vec<TimelineEntry> {
        self.entries
    }
}
