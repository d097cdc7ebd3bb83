//! An operation under way: its chunks, which rail each is on, and who has which sums.

use super::numbers::{Inputs, Range};
use super::piece::{Piece, PieceId};
use crate::units::{Span, Time};

/// A chunk of the operation.
#[derive(Debug, Clone)]
struct Chunk {
    range: Range,
    rail: u32,
    epoch: u32,
    /// Elements whose sums each rank has, of this epoch.
    had: Vec<u64>,
}

/// The chunks of one rail, in the order in which every rank begins them.
#[derive(Debug, Clone, Default)]
struct Lane {
    chunks: Vec<u32>,
    /// By rank: how many it has begun, and how many of those it has whole.
    begun: Vec<usize>,
    whole: Vec<usize>,
    /// When a rank last had a chunk whole.
    last: Option<Time>,
}

/// What came of sums that a rail had to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// They are of a try, or an operation, that is over: nobody wants them.
    Late,
    /// The rank has not all of the chunk yet.
    Part,
    /// The rank has all of the chunk.
    Whole,
}

/// An operation.
#[derive(Debug)]
pub(super) struct Operation {
    pub number: u32,
    pub started: Time,
    inputs: Inputs,
    chunks: Vec<Chunk>,
    lanes: Vec<Lane>,
    /// What each rank has.
    results: Vec<Vec<i64>>,
    /// Chunks that ranks have not whole, each rank counted.
    missing: u64,
}

impl Operation {
    /// Operation `number`, of which each rail has so many elements.
    pub fn new(
        (number, started): (u32, Time),
        (seed, ranks): (u64, u32),
        shares: &[u64],
        most: u64,
    ) -> Self {
        let total: u64 = shares.iter().sum();
        let lane = Lane {
            begun: vec![0; ranks as usize],
            whole: vec![0; ranks as usize],
            ..Lane::default()
        };
        let mut operation = Self {
            number,
            started,
            inputs: Inputs::new(seed, number),
            chunks: Vec::new(),
            lanes: vec![lane; shares.len()],
            results: vec![vec![0; total as usize]; ranks as usize],
            missing: 0,
        };
        let mut first = 0;
        for (rail, &count) in (0u32..).zip(shares) {
            for range in (Range { first, count }).cut(most) {
                let had = vec![0; ranks as usize];
                let chunk = Chunk { range, rail, epoch: 0, had };
                operation.lanes[rail as usize].chunks.push(operation.chunks.len() as u32);
                operation.chunks.push(chunk);
            }
            first += count;
        }
        operation.missing = operation.chunks.len() as u64 * u64::from(ranks);
        operation
    }

    /// True if every rank has all sums.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// The next chunk of a rail that a rank may begin while it has at most `window` begun.
    pub fn begin_next(&mut self, rail: u32, rank: u32, window: u32) -> Option<Piece> {
        let lane = &mut self.lanes[rail as usize];
        let (begun, whole) = (lane.begun[rank as usize], lane.whole[rank as usize]);
        if begun - whole >= window as usize {
            return None;
        }
        let chunk = *lane.chunks.get(begun)?;
        lane.begun[rank as usize] += 1;
        Some(self.piece(chunk))
    }

    fn piece(&self, chunk: u32) -> Piece {
        let Chunk { range, epoch, .. } = self.chunks[chunk as usize];
        Piece { id: PieceId { operation: self.number, chunk, epoch }, range }
    }

    /// A rank has sums of a part of a piece.
    pub fn store(
        &mut self,
        now: Time,
        (piece, rank): (PieceId, u32),
        (range, numbers): (Range, &[i64]),
    ) -> Stored {
        if piece.operation != self.number {
            return Stored::Late;
        }
        let chunk = &mut self.chunks[piece.chunk as usize];
        if chunk.epoch != piece.epoch {
            return Stored::Late;
        }
        let had = &mut chunk.had[rank as usize];
        *had += range.count;
        // More than there is would be a chunk that was added up twice.
        assert!(*had <= chunk.range.count, "{piece:?} came twice to rank {rank}");
        let place = range.first as usize..(range.first + range.count) as usize;
        self.results[rank as usize][place].copy_from_slice(numbers);
        if *had < chunk.range.count {
            return Stored::Part;
        }
        let lane = &mut self.lanes[chunk.rail as usize];
        lane.whole[rank as usize] += 1;
        lane.last = Some(now);
        self.missing -= 1;
        Stored::Whole
    }

    /// Whether a rank has all of a chunk.
    pub fn has(&self, rank: u32, chunk: u32) -> bool {
        let chunk = &self.chunks[chunk as usize];
        chunk.had[rank as usize] == chunk.range.count
    }

    /// The chunks of a rail.
    pub fn chunks_of(&self, rail: u32) -> &[u32] {
        &self.lanes[rail as usize].chunks
    }

    /// Takes the chunks of a rail from it that not every rank has whole, and gives each to the
    /// rail that `choose` names, to be done again from what the ranks brought: which they are.
    /// Those that every rank has stay as they are.
    pub fn reissue(&mut self, rail: u32, mut choose: impl FnMut(Range) -> u32) -> Vec<u32> {
        let ranks = self.results.len();
        let of_rail = std::mem::take(&mut self.lanes[rail as usize].chunks);
        let (done, missing): (Vec<u32>, Vec<u32>) = of_rail
            .into_iter()
            .partition(|&chunk| (0..ranks as u32).all(|rank| self.has(rank, chunk)));
        for &number in &missing {
            let chunk = &mut self.chunks[number as usize];
            let whole = chunk.had.iter().filter(|&&had| had == chunk.range.count).count();
            self.missing += whole as u64;
            chunk.epoch += 1;
            chunk.had = vec![0; ranks];
            chunk.rail = choose(chunk.range);
            self.lanes[chunk.rail as usize].chunks.push(number);
        }
        let lane = &mut self.lanes[rail as usize];
        lane.begun = vec![done.len(); ranks];
        lane.whole = vec![done.len(); ranks];
        lane.chunks = done;
        missing
    }

    /// How long a rail took, from the start until every rank had its chunks; `None` if it has
    /// none or is not done.
    pub fn duration(&self, rail: u32) -> Option<Span> {
        let lane = &self.lanes[rail as usize];
        let done = lane.whole.iter().all(|&whole| whole == lane.chunks.len());
        lane.last.filter(|_| done).map(|last| last.since(self.started))
    }

    /// True if a rail has chunks that a rank has not whole.
    pub fn waits_for(&self, rail: u32) -> bool {
        let lane = &self.lanes[rail as usize];
        lane.whole.iter().any(|&whole| whole < lane.chunks.len())
    }

    /// Elements that a rank and place have wrong, compared with the exact sums.
    pub fn wrong(&self) -> u64 {
        let ranks = self.results.len() as u32;
        let mut wrong = 0;
        for chunk in &self.chunks {
            let sums = self.inputs.sum(ranks, chunk.range);
            let place = chunk.range.first as usize..(chunk.range.first + chunk.range.count) as usize;
            for had in &self.results {
                let differ = had[place.clone()].iter().zip(&sums).filter(|(had, sum)| had != sum);
                wrong += differ.count() as u64;
            }
        }
        wrong
    }
}
