//! What happened to rails, each thing once: as the first rank sees it.

use super::outcome::{Happening, TimelineEntry};
use crate::rail::handler::{Cause, RailState};
use crate::units::Time;

/// The time-line in the making.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    entries: Vec<TimelineEntry>,
    /// By rail: the state told last.
    states: Vec<Option<RailState>>,
    /// The last epoch in which chunks were issued again, and whose they were.
    again: Option<(u64, u32)>,
    /// Whether one of them has been whole.
    resumed: bool,
}

impl Timeline {
    pub fn new(rails: usize) -> Self {
        Self { states: vec![None; rails], ..Self::default() }
    }

    /// Something happens to a rail.
    pub fn note(&mut self, at: Time, rail: u32, what: Happening) {
        if let (Happening::Reissued { .. }, Some((_, lost))) = (what, &mut self.again) {
            *lost = rail;
        }
        self.entries.push(TimelineEntry { at, rail, what });
    }

    /// A rank sees a rail in another state than before.
    pub fn moved(
        &mut self,
        at: Time,
        (rail, rank): (u32, u32),
        (state, cause): (RailState, Cause),
    ) {
        let known = &mut self.states[rail as usize];
        // What others publish was told when they saw it.
        if *known != Some(state) && cause != Cause::Published {
            *known = Some(state);
            self.note(at, rail, Happening::Moved { rank, state, cause });
        }
    }

    /// True if chunks are issued again for the first time in that epoch.
    pub fn is_first(&mut self, epoch: u64) -> bool {
        let first = self.again.is_none_or(|(known, _)| known < epoch);
        if first {
            self.again = Some((epoch, 0));
            self.resumed = false;
        }
        first
    }

    /// A chunk of that epoch is whole at a rank.
    pub fn whole(&mut self, at: Time, epoch: u64) {
        if let Some((again, rail)) = self.again
            && again == epoch
            && !self.resumed
        {
            self.resumed = true;
            self.note(at, rail, Happening::Resumed);
        }
    }

    /// All of it, in order of time.
    pub fn into_entries(self) -> Vec<TimelineEntry> {
        self.entries
    }
}
