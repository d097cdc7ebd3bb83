//! A reconstruction: the operations that are in progress at a rank, chunk by chunk.
//!
//! Source: \[inferred\].

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::Division;
use super::message::{ChunkKey, ChunkPlacement, OperationId, OperationProgress, RailView, chunks};
use super::plan::AgreedOperation;
use super::{ChunkAdmission, ChunkIssue};
use crate::ids::RailId;
use crate::units::{Bytes, Span, Time};

/// One operation in progress.
#[derive(Debug, Clone)]
struct TrackedOperation {
    progress: OperationProgress,
    ranges: Vec<Range<u64>>,
    /// Time at which this rank started it; a report may mention it earlier.
    started: Option<Time>,
    /// Expected time between chunks, by rail.
    expected: Vec<Option<Span>>,
    /// Number of missing chunks, by rail.
    waiting: Vec<usize>,
    /// Number of chunks whose sum this rank lacks.
    left: usize,
}

/// An operation that this rank starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct OperationStart<'a> {
    pub(super) id: OperationId,
    pub(super) division: &'a Division,
    /// Expected time between chunks, by rail.
    pub(super) expected: &'a [Option<Span>],
}

/// The operations that this rank has in progress, or has completed before other ranks.
#[derive(Debug, Clone)]
pub(super) struct OperationTable {
    chunk: Bytes,
    operations: BTreeMap<OperationId, TrackedOperation>,
}

impl TrackedOperation {
    fn new(progress: OperationProgress, chunk: Bytes) -> Self {
        let ranges: Vec<_> =
            chunks(&progress.division, chunk).into_iter().map(|(_, range)| range).collect();
        let left = ranges.len();
        let rails = progress.division.shares().len();
        let (expected, waiting) = (vec![None; rails], Vec::new());
        Self { progress, ranges, started: None, expected, waiting, left }
    }

    fn recount(&mut self, view: &RailView, rails: usize) {
        self.waiting = vec![0; rails];
        for (placement, done) in self.progress.placements.iter().zip(&self.progress.done) {
            if !done && placement.is_valid(view) {
                self.waiting[placement.rail.index()] += 1;
            }
        }
    }

    fn issue(&self, chunk: u32) -> Option<ChunkIssue> {
        let placement = self.progress.placements.get(chunk as usize)?;
        let range = self.ranges.get(chunk as usize)?.clone();
        let key = ChunkKey { operation: self.progress.operation, chunk, epoch: placement.epoch };
        Some(ChunkIssue { key, rail: placement.rail, range })
    }
}

impl OperationTable {
    pub(super) const fn new(chunk: Bytes) -> Self {
        Self { chunk, operations: BTreeMap::new() }
    }

    /// Starts an operation with the placements of other ranks, if known, or else by its division.
    pub(super) fn start(
        &mut self,
        now: Time,
        operation: &OperationStart<'_>,
        view: &RailView,
    ) -> Vec<ChunkIssue> {
        let &OperationStart { id, division, expected } = operation;
        let chunk = self.chunk;
        let tracked = self.operations.entry(id).or_insert_with(|| {
            let placement = |rail| ChunkPlacement {
                rail,
                incarnation: view.incarnation(rail),
                epoch: view.epoch(),
            };
            let placements: Vec<_> =
                chunks(division, chunk).iter().map(|&(rail, _)| placement(rail)).collect();
            let done = vec![false; placements.len()];
            let division = division.clone();
            TrackedOperation::new(
                OperationProgress { operation: id, division, placements, done },
                chunk,
            )
        });
        tracked.started = Some(now);
        tracked.expected = expected.to_vec();
        tracked.recount(view, view.rails());
        // Chunks on a rail that is down wait until a rail returns.
        let all = (0u32..).map_while(|chunk| tracked.issue(chunk));
        all.filter(|issue| view.up().contains(issue.rail)).collect()
    }

    /// Returns the treatment of a completion or contribution under this key.
    pub(super) fn admission(&self, key: &ChunkKey, view: &RailView) -> ChunkAdmission {
        let Some(tracked) = self.operations.get(&key.operation) else {
            return ChunkAdmission::Stale;
        };
        let Some(placement) = tracked.progress.placements.get(key.chunk as usize) else {
            return ChunkAdmission::Stale;
        };
        if key.epoch > placement.epoch {
            return ChunkAdmission::Early;
        }
        if key.epoch < placement.epoch || !placement.is_valid(view) {
            return ChunkAdmission::Stale;
        }
        if tracked.started.is_none() {
            return ChunkAdmission::Early;
        }
        let done = tracked.progress.done[key.chunk as usize];
        if done { ChunkAdmission::Repeated } else { ChunkAdmission::Accepted }
    }

    /// Records the sum of an accepted chunk. Returns true if it was the operation's last one.
    pub(super) fn finish(&mut self, key: &ChunkKey) -> bool {
        let Some(tracked) = self.operations.get_mut(&key.operation) else { return false };
        let chunk = key.chunk as usize;
        tracked.progress.done[chunk] = true;
        let rail = tracked.progress.placements[chunk].rail.index();
        tracked.waiting[rail] -= 1;
        tracked.left -= 1;
        tracked.left == 0
    }

    /// Returns the current attempt at the chunk of a key.
    pub(super) fn placement(&self, key: &ChunkKey) -> Option<ChunkPlacement> {
        let tracked = self.operations.get(&key.operation)?;
        tracked.progress.placements.get(key.chunk as usize).copied()
    }

    /// Returns true if this rank has started `id`, or has received a report of it.
    pub(super) fn knows(&self, id: OperationId) -> bool {
        self.operations.contains_key(&id)
    }

    /// Returns true if this rank has all sums of `id`.
    pub(super) fn is_complete(&self, id: OperationId) -> bool {
        self.operations.get(&id).is_some_and(|it| it.started.is_some() && it.left == 0)
    }

    /// Returns the time at which this rank started `id`.
    pub(super) fn started(&self, id: OperationId) -> Option<Time> {
        self.operations.get(&id)?.started
    }

    /// Returns the open work of `rail`: the oldest operation, and the expected time between chunks.
    pub(super) fn awaits(&self, rail: RailId) -> Option<(OperationId, Span)> {
        let on_it = |it: &&TrackedOperation| {
            it.started.is_some() && it.waiting.get(rail.index()).is_some_and(|&count| count > 0)
        };
        let oldest = self.operations.values().find(on_it)?;
        let expected = oldest.expected.get(rail.index()).copied().flatten();
        Some((oldest.progress.operation, expected.unwrap_or(Span::ZERO)))
    }

    /// Returns the state of all operations, for a report.
    pub(super) fn progress(&self) -> Vec<OperationProgress> {
        self.operations.values().map(|tracked| tracked.progress.clone()).collect()
    }

    /// Counts the missing chunks of each rail after a change of the view.
    pub(super) fn recount(&mut self, view: &RailView) {
        for tracked in self.operations.values_mut() {
            tracked.recount(view, view.rails());
        }
    }

    /// Applies an agreement. Returns the chunks that this rank has to issue again.
    pub(super) fn apply(
        &mut self,
        id: OperationId,
        agreed: AgreedOperation,
        view: &RailView,
    ) -> Vec<ChunkIssue> {
        let AgreedOperation { progress, placements, repeated } = agreed;
        let chunk = self.chunk;
        let tracked = self.operations.entry(id).or_insert_with(|| {
            // The reporting rank may have some sums; this rank has not started and has no sums.
            let done = vec![false; placements.len()];
            TrackedOperation::new(OperationProgress { done, ..progress }, chunk)
        });
        tracked.progress.placements = placements;
        tracked.recount(view, view.rails());
        if tracked.started.is_none() {
            return Vec::new();
        }
        repeated.into_iter().filter_map(|chunk| tracked.issue(chunk)).collect()
    }

    /// Removes the operations that all ranks have, and returns their ids.
    pub(super) fn release(&mut self, before: OperationId) -> Vec<OperationId> {
        let kept = self.operations.split_off(&before);
        std::mem::replace(&mut self.operations, kept).into_keys().collect()
    }
}
