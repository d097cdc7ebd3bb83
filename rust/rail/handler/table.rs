//! A reconstruction: the operations that a rank has under way, chunk by chunk.
//!
//! Source: \[inferred\].

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::Division;
use super::message::{Key, OperationId, Place, Progress, View, chunks};
use super::plan::Agreed;
use super::{ChunkIssue, Verdict};
use crate::ids::RailId;
use crate::units::{Bytes, Span, Time};

/// One operation.
#[derive(Debug, Clone)]
struct Tracked {
    progress: Progress,
    ranges: Vec<Range<u64>>,
    /// When this rank started it; it may hear of it before.
    started: Option<Time>,
    /// By rail: how often a chunk is expected.
    expected: Vec<Option<Span>>,
    /// By rail: chunks that are to come from there.
    waiting: Vec<usize>,
    /// Chunks of which this rank has no sum yet.
    left: usize,
}

/// What this rank has under way, or has done and others have not.
#[derive(Debug, Clone)]
pub(super) struct Table {
    chunk: Bytes,
    operations: BTreeMap<OperationId, Tracked>,
}

impl Tracked {
    fn new(progress: Progress, chunk: Bytes) -> Self {
        let ranges: Vec<_> =
            chunks(&progress.division, chunk).into_iter().map(|(_, range)| range).collect();
        let left = ranges.len();
        let rails = progress.division.shares().len();
        let (expected, waiting) = (vec![None; rails], Vec::new());
        Self { progress, ranges, started: None, expected, waiting, left }
    }

    fn recount(&mut self, view: &View, rails: usize) {
        self.waiting = vec![0; rails];
        for (place, done) in self.progress.places.iter().zip(&self.progress.done) {
            if !done && place.is_alive(view) {
                self.waiting[place.rail.index()] += 1;
            }
        }
    }

    fn issue(&self, chunk: u32) -> Option<ChunkIssue> {
        let place = self.progress.places.get(chunk as usize)?;
        let range = self.ranges.get(chunk as usize)?.clone();
        let key = Key { operation: self.progress.operation, chunk, epoch: place.epoch };
        Some(ChunkIssue { key, rail: place.rail, range })
    }
}

impl Table {
    pub const fn new(chunk: Bytes) -> Self {
        Self { chunk, operations: BTreeMap::new() }
    }

    /// Starts an operation: as others did who started it before, or else by `division`.
    pub fn start(
        &mut self,
        now: Time,
        (id, division): (OperationId, &Division),
        expected: &[Option<Span>],
        view: &View,
    ) -> Vec<ChunkIssue> {
        let chunk = self.chunk;
        let tracked = self.operations.entry(id).or_insert_with(|| {
            let place = |rail| Place { rail, turn: view.turn(rail), epoch: view.epoch() };
            let places: Vec<_> =
                chunks(division, chunk).iter().map(|&(rail, _)| place(rail)).collect();
            let done = vec![false; places.len()];
            let division = division.clone();
            Tracked::new(Progress { operation: id, division, places, done }, chunk)
        });
        tracked.started = Some(now);
        tracked.expected = expected.to_vec();
        tracked.recount(view, view.rails());
        // What was lost with the last rail waits for one to return.
        let all = (0u32..).map_while(|chunk| tracked.issue(chunk));
        all.filter(|issue| view.up().contains(issue.rail)).collect()
    }

    /// What is to be made of something that names this doing of a chunk.
    pub fn admit(&self, key: &Key, view: &View) -> Verdict {
        let Some(tracked) = self.operations.get(&key.operation) else { return Verdict::Stale };
        let Some(place) = tracked.progress.places.get(key.chunk as usize) else {
            return Verdict::Stale;
        };
        if key.epoch > place.epoch {
            return Verdict::Early;
        }
        if key.epoch < place.epoch || !place.is_alive(view) {
            return Verdict::Stale;
        }
        if tracked.started.is_none() {
            return Verdict::Early;
        }
        let done = tracked.progress.done[key.chunk as usize];
        if done { Verdict::Repeated } else { Verdict::Accepted }
    }

    /// Notes the sum of a chunk that was accepted; whether it was the operation's last.
    pub fn finish(&mut self, key: &Key) -> bool {
        let Some(tracked) = self.operations.get_mut(&key.operation) else { return false };
        let chunk = key.chunk as usize;
        tracked.progress.done[chunk] = true;
        let rail = tracked.progress.places[chunk].rail.index();
        tracked.waiting[rail] -= 1;
        tracked.left -= 1;
        tracked.left == 0
    }

    /// Where a chunk is done.
    pub fn place(&self, key: &Key) -> Option<Place> {
        let tracked = self.operations.get(&key.operation)?;
        tracked.progress.places.get(key.chunk as usize).copied()
    }

    /// Whether this rank has started `id`, or has heard of it.
    pub fn knows(&self, id: OperationId) -> bool {
        self.operations.contains_key(&id)
    }

    /// Whether this rank has all of `id`.
    pub fn is_complete(&self, id: OperationId) -> bool {
        self.operations.get(&id).is_some_and(|it| it.started.is_some() && it.left == 0)
    }

    /// When this rank started `id`.
    pub fn started(&self, id: OperationId) -> Option<Time> {
        self.operations.get(&id)?.started
    }

    /// What is to come from `rail`: the oldest operation, and how often a chunk is expected.
    pub fn waits(&self, rail: RailId) -> Option<(OperationId, Span)> {
        let on_it = |it: &&Tracked| {
            it.started.is_some() && it.waiting.get(rail.index()).is_some_and(|&count| count > 0)
        };
        let mut waiting = self.operations.values().filter(on_it);
        let expected = |it: &Tracked| it.expected.get(rail.index()).copied().flatten();
        let oldest = waiting.next()?;
        let first = expected(oldest).unwrap_or(Span::ZERO);
        // Operations on one rail share it, so their chunks come the more seldom.
        let all = waiting
            .filter_map(expected)
            .fold(first.as_ps(), |sum, more| sum.saturating_add(more.as_ps()));
        Some((oldest.progress.operation, Span::from_ps(all)))
    }

    /// For a report.
    pub fn progress(&self) -> Vec<Progress> {
        self.operations.values().map(|tracked| tracked.progress.clone()).collect()
    }

    /// Other rails are up: counts anew what is to come from where.
    pub fn recount(&mut self, view: &View) {
        for tracked in self.operations.values_mut() {
            tracked.recount(view, view.rails());
        }
    }

    /// Does as agreed: what this rank has to issue again.
    pub fn apply(&mut self, id: OperationId, agreed: Agreed, view: &View) -> Vec<ChunkIssue> {
        let Agreed { progress, places, again } = agreed;
        let chunk = self.chunk;
        let tracked = self.operations.entry(id).or_insert_with(|| {
            // Whoever reported it had part of it; this rank has nothing.
            let done = vec![false; places.len()];
            Tracked::new(Progress { done, ..progress }, chunk)
        });
        tracked.progress.places = places;
        tracked.recount(view, view.rails());
        if tracked.started.is_none() {
            return Vec::new();
        }
        again.into_iter().filter_map(|chunk| tracked.issue(chunk)).collect()
    }

    /// Forgets operations that all ranks have, and names them.
    pub fn release(&mut self, before: OperationId) -> Vec<OperationId> {
        let kept = self.operations.split_off(&before);
        std::mem::replace(&mut self.operations, kept).into_keys().collect()
    }
}
