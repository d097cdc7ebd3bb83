//! An operation in progress: its chunks, and the state of each chunk at each rank.
//!
//! Ranks learn of a failure at different times, so each has its own state. A repeated chunk has a
//! later epoch. Sums of an earlier epoch are late and ignored. Sums of an epoch that a rank does
//! not know yet are kept until it does.

use std::collections::{BTreeSet, VecDeque};

use super::config::RailSetup;
use super::numbers::{ELEMENT, Inputs, Range};
use super::plane::{Attempt, Sums};
use crate::rail::handler::{ChunkIssue, ChunkKey, Epoch, OperationId};
use crate::units::{Span, Time};

/// The progress of a rank with a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkPhase {
    Waiting,
    InProgress,
    Complete,
}

/// The current attempt at a chunk at one rank.
#[derive(Debug, Clone)]
struct ChunkState {
    rail: u32,
    epoch: Epoch,
    phase: ChunkPhase,
    /// Ranges whose sums of this epoch the rank has.
    received: BTreeSet<Range>,
    /// Number of elements in these ranges.
    elements: u64,
}

impl ChunkState {
    fn waiting(issue: &ChunkIssue) -> Self {
        Self {
            rail: issue.rail.0,
            epoch: issue.key.epoch,
            phase: ChunkPhase::Waiting,
            received: BTreeSet::new(),
            elements: 0,
        }
    }
}

/// The chunks of one rail at one rank.
#[derive(Debug, Clone, Default)]
struct RailQueue {
    waiting: VecDeque<u32>,
    in_progress: u32,
    /// When a chunk on the rail was last completed.
    last: Option<Time>,
}

/// The state of one rank.
#[derive(Debug, Clone)]
struct RankState {
    chunks: Vec<ChunkState>,
    queues: Vec<RailQueue>,
    /// Sums of attempts that the rank does not know yet.
    early: Vec<Sums>,
    /// Number of chunks that are not complete.
    missing: usize,
}

/// The result of storing sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// The sums belong to an earlier attempt or operation and are ignored.
    Late,
    /// The sums belong to an attempt that the rank does not know yet.
    Early,
    /// The rank does not have all sums of the chunk yet.
    Partial,
    /// The rank has all sums of the chunk.
    Complete,
}

/// An operation in progress.
#[derive(Debug)]
pub(super) struct RankOperation {
    pub(super) id: OperationId,
    pub(super) started: Time,
    inputs: Inputs,
    chunks: Vec<Range>,
    ranks: Vec<RankState>,
    /// Number of elements with a wrong sum at some rank.
    pub(super) wrong: u64,
}

impl RankOperation {
    /// Creates an operation of these consecutive chunks.
    pub(super) fn new(
        setup: &RailSetup,
        id: OperationId,
        started: Time,
        chunks: &[ChunkIssue],
    ) -> Self {
        let mut queues = vec![RailQueue::default(); setup.rails.len()];
        for chunk in chunks {
            queues[chunk.rail.index()].waiting.push_back(chunk.key.chunk);
        }
        let element = ELEMENT.get();
        let range = |chunk: &ChunkIssue| {
            let (first, end) = (chunk.range.start / element, chunk.range.end / element);
            Range { first, count: end - first }
        };
        let ranges: Vec<Range> = chunks.iter().map(range).collect();
        let rank = RankState {
            chunks: chunks.iter().map(ChunkState::waiting).collect(),
            queues,
            early: Vec::new(),
            missing: chunks.len(),
        };
        Self {
            id,
            started,
            inputs: Inputs::new(setup.seed, id),
            chunks: ranges,
            ranks: vec![rank; setup.ranks as usize],
            wrong: 0,
        }
    }

    /// Returns the rail of a chunk's current attempt at a rank.
    pub(super) fn rail_of(&self, rank: u32, chunk: u32) -> u32 {
        self.ranks[rank as usize].chunks[chunk as usize].rail
    }

    /// Returns true if every rank has all sums.
    pub(super) fn is_complete(&self) -> bool {
        self.ranks.iter().all(|rank| rank.missing == 0)
    }

    /// Begins the next chunk of a rail at a rank, if the rank has fewer than `window` in progress.
    pub(super) fn begin_next(&mut self, rail: u32, rank: u32, window: u32) -> Option<Attempt> {
        let RankState { chunks, queues, .. } = &mut self.ranks[rank as usize];
        let queue = &mut queues[rail as usize];
        if queue.in_progress >= window {
            return None;
        }
        let chunk = queue.waiting.pop_front()?;
        queue.in_progress += 1;
        let state = &mut chunks[chunk as usize];
        state.phase = ChunkPhase::InProgress;
        let key = ChunkKey { operation: self.id, chunk, epoch: state.epoch };
        Some(Attempt { key, range: self.chunks[chunk as usize] })
    }

    /// Stores sums at the rank that has received them.
    ///
    /// # Panics
    /// If the same range of an attempt arrives twice.
    pub(super) fn store(&mut self, now: Time, sums: Sums) -> Stored {
        let Sums { key, rank, range, sum } = sums;
        if key.operation != self.id {
            return Stored::Late;
        }
        let (ranks, count) = (self.ranks.len() as u32, self.chunks[key.chunk as usize].count);
        let state = &mut self.ranks[rank as usize];
        let chunk = &mut state.chunks[key.chunk as usize];
        if key.epoch < chunk.epoch {
            return Stored::Late;
        }
        if key.epoch > chunk.epoch {
            state.early.push(sums);
            return Stored::Early;
        }
        // A second arrival would count contributions twice.
        assert!(chunk.received.insert(range), "{range:?} of {key:?} arrived twice at rank {rank}");
        chunk.elements += range.count;
        if sum != self.inputs.sum(ranks, range) {
            self.wrong += range.count;
        }
        if chunk.elements < count {
            return Stored::Partial;
        }
        let queue = &mut state.queues[chunk.rail as usize];
        if chunk.phase == ChunkPhase::InProgress {
            queue.in_progress -= 1;
        } else {
            // All other ranks were faster, and this rank had not started the chunk.
            queue.waiting.retain(|&waiting| waiting != key.chunk);
        }
        chunk.phase = ChunkPhase::Complete;
        queue.last = Some(now);
        state.missing -= 1;
        Stored::Complete
    }

    /// Starts a new attempt at a chunk at one rank, from its original input. The sums of the
    /// previous attempt are discarded. Returns [`Stored::Complete`] if all sums of the new attempt
    /// have already arrived from faster ranks.
    pub(super) fn repeat(&mut self, now: Time, rank: u32, issue: &ChunkIssue) -> Stored {
        let chunk = issue.key.chunk;
        let state = &mut self.ranks[rank as usize];
        let current = &mut state.chunks[chunk as usize];
        let queue = &mut state.queues[current.rail as usize];
        match current.phase {
            ChunkPhase::Waiting => queue.waiting.retain(|&other| other != chunk),
            ChunkPhase::InProgress => queue.in_progress -= 1,
            ChunkPhase::Complete => state.missing += 1,
        }
        *current = ChunkState::waiting(issue);
        state.queues[issue.rail.index()].waiting.push_back(chunk);
        let early = std::mem::take(&mut state.early);
        let mut stored = Stored::Partial;
        for sums in early {
            let of_chunk = sums.key.chunk == chunk;
            let this = self.store(now, sums);
            if of_chunk && this == Stored::Complete {
                stored = this;
            }
        }
        stored
    }

    /// Returns the time from the start until every rank had the rail's chunks; `None` if there were
    /// no chunks.
    pub(super) fn duration(&self, rail: u32) -> Option<Span> {
        let last = self.ranks.iter().filter_map(|rank| rank.queues[rail as usize].last);
        last.max().map(|last| last.since(self.started))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{rdma, setup};
    use super::*;
    use crate::ids::RailId;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Two chunks of 4 elements on rail 0 and one of 2 on rail 1, two ranks.
    fn operation() -> RankOperation {
        let rail = rdma("rail", 10);
        let setup = setup(2, vec![rail.clone(), rail], &[80]);
        let chunks = [(0, 0..32), (0, 32..64), (1, 64..80)];
        let issue =
            |(chunk, (rail, range))| ChunkIssue { key: key(chunk, 0), rail: RailId(rail), range };
        let chunks: Vec<ChunkIssue> = (0..).zip(chunks).map(issue).collect();
        RankOperation::new(&setup, OperationId(0), Time::ZERO, &chunks)
    }

    fn key(chunk: u32, epoch: u64) -> ChunkKey {
        ChunkKey { operation: OperationId(0), chunk, epoch: Epoch(epoch) }
    }

    /// Stores all sums of an attempt at a chunk.
    fn store_all(of: &mut RankOperation, us: u64, rank: u32, chunk: u32, epoch: u64) -> Stored {
        let range = of.chunks[chunk as usize];
        let sum = of.inputs.sum(2, range);
        of.store(at(us), Sums { key: key(chunk, epoch), rank, range, sum })
    }

    fn repeat(of: &mut RankOperation, chunk: u32) -> Stored {
        of.repeat(at(3), 0, &ChunkIssue { key: key(chunk, 1), rail: RailId(1), range: 0..0 })
    }

    #[test]
    fn a_window_of_chunks_is_in_progress_and_the_last_sums_complete_the_operation() {
        let mut of = operation();
        let begun: Vec<Option<u32>> =
            (0..2).map(|_| of.begin_next(0, 0, 1).map(|attempt| attempt.key.chunk)).collect();
        assert_eq!(begun, [Some(0), None]);
        assert_eq!(store_all(&mut of, 1, 0, 0, 0), Stored::Complete);
        assert_eq!(of.begin_next(0, 0, 1).map(|attempt| attempt.key.chunk), Some(1));
        assert_eq!(store_all(&mut of, 2, 0, 1, 0), Stored::Complete);
        assert_eq!(of.ranks[0].missing, 1);
        assert_eq!(store_all(&mut of, 3, 0, 2, 0), Stored::Complete, "although it had not begun");
        assert!(of.ranks[0].missing == 0 && !of.is_complete());
        assert_eq!(of.begin_next(1, 0, 1), None);
        (0..3).for_each(|chunk| assert_eq!(store_all(&mut of, 9, 1, chunk, 0), Stored::Complete));
        assert!(of.is_complete());
        assert_eq!((of.wrong, of.duration(1)), (0, Some(Span::from_us(9))));
    }

    #[test]
    fn a_repeated_chunk_counts_only_in_its_epoch() {
        let mut of = operation();
        (0..3).for_each(|chunk| assert_eq!(store_all(&mut of, 1, 0, chunk, 0), Stored::Complete));
        assert_eq!(store_all(&mut of, 2, 0, 1, 1), Stored::Early, "an unknown attempt");
        assert_eq!(repeat(&mut of, 0), Stored::Partial);
        assert_eq!(of.ranks[0].missing, 1, "a rank that had the chunk repeats it too");
        assert_eq!(repeat(&mut of, 1), Stored::Complete);
        assert_eq!(store_all(&mut of, 4, 0, 0, 0), Stored::Late);
        let next = of.begin_next(1, 0, 9).map(|attempt| (attempt.key.chunk, attempt.key.epoch));
        assert_eq!(next, Some((0, Epoch(1))));
        assert_eq!(store_all(&mut of, 5, 0, 0, 1), Stored::Complete);
        assert_eq!(of.ranks[0].missing, 0);
    }

    #[test]
    fn a_sum_without_the_number_of_a_rank_is_wrong() {
        let mut of = operation();
        let range = of.chunks[0];
        let sum = of.inputs.of(0, range);
        of.store(at(1), Sums { key: key(0, 0), rank: 0, range, sum });
        store_all(&mut of, 2, 0, 1, 0);
        assert_eq!(of.wrong, 4, "the elements of the first chunk");
    }

    #[test]
    #[should_panic(expected = "arrived twice")]
    fn sums_that_arrive_twice_are_a_broken_invariant() {
        let mut of = operation();
        for _ in 0..2 {
            store_all(&mut of, 1, 0, 2, 0);
        }
    }
}
