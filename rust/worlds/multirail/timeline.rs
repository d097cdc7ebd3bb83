//! The timeline of the rails: each event is recorded once, when the first rank sees it.

use super::outcome::{RailEvent, TimelineEntry};
use crate::rail::handler::{Cause, Epoch, RailState};
use crate::units::Time;

/// The timeline of a run in progress.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    entries: Vec<TimelineEntry>,
    /// The last recorded state of each rail.
    states: Vec<Option<RailState>>,
    /// The last epoch in which chunks were issued again.
    reissued: Option<Epoch>,
    /// The rail that had these chunks before, until one of them is complete.
    lost: Option<u32>,
}

impl Timeline {
    pub(super) fn new(rails: usize) -> Self {
        Self { states: vec![None; rails], ..Self::default() }
    }

    /// Records an event of a rail. A change of state is recorded only if this rank is the first to
    /// see it.
    pub(super) fn record(&mut self, at: Time, rail: u32, event: RailEvent) {
        if let RailEvent::StateChange { state, cause, .. } = event {
            let known = &mut self.states[rail as usize];
            // A published change was recorded when the publishing rank saw it.
            if cause == Cause::Published || known.replace(state) == Some(state) {
                return;
            }
        }
        self.entries.push(TimelineEntry { at, rail, event });
    }

    /// Records that chunks of a rail are issued again, and returns true, if they are the first of
    /// that epoch.
    pub(super) fn record_reissue(
        &mut self,
        at: Time,
        epoch: Epoch,
        rail: u32,
        chunks: u64,
    ) -> bool {
        let first = self.reissued.is_none_or(|known| known < epoch);
        if first {
            (self.reissued, self.lost) = (Some(epoch), Some(rail));
            self.record(at, rail, RailEvent::Reissued { chunks });
        }
        first
    }

    /// Records that a chunk of that epoch is complete at a rank.
    pub(super) fn record_complete(&mut self, at: Time, epoch: Epoch) {
        if self.reissued == Some(epoch)
            && let Some(rail) = self.lost.take()
        {
            self.record(at, rail, RailEvent::Resumed);
        }
    }

    /// Returns all entries in time order.
    pub(super) fn into_entries(self) -> Vec<TimelineEntry> {
        self.entries
    }
}
