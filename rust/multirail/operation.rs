//! An operation under way: its chunks, and for each rank which rail it takes each to be on and
//! which sums it has.
//!
//! Ranks hear of a failure at different times, so each has its own account. A chunk that is done
//! again has a later epoch: sums of an earlier one are late and count for nothing, and sums of one
//! that a rank has not heard of yet are kept until it has.

use std::collections::VecDeque;

use super::numbers::{Inputs, Range};
use super::piece::{Piece, PieceId};
use crate::units::{Span, Time};

/// How far a rank is with a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Begun,
    Whole,
}

/// A chunk as a rank has it.
#[derive(Debug, Clone, Copy)]
struct Place {
    rail: u32,
    epoch: u64,
    stage: Stage,
    /// Elements whose sums the rank has, of this epoch.
    had: u64,
}

/// The chunks of one rail at one rank.
#[derive(Debug, Clone, Default)]
struct Lane {
    waiting: VecDeque<u32>,
    under_way: u32,
    /// When a chunk on it was last whole.
    last: Option<Time>,
}

/// Sums that a rank has no use for yet.
#[derive(Debug, Clone)]
struct Early {
    piece: PieceId,
    range: Range,
    numbers: Vec<i64>,
}

/// What one rank has.
#[derive(Debug, Clone)]
struct Account {
    places: Vec<Place>,
    lanes: Vec<Lane>,
    result: Vec<i64>,
    early: Vec<Early>,
    missing: usize,
}

/// A chunk as an operation begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    pub rail: u32,
    pub epoch: u64,
    pub range: Range,
}

/// What came of sums that a rail had to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// They are of a try, or an operation, that is over: nobody wants them.
    Late,
    /// They are of a try that the rank has not heard of.
    Early,
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
    chunks: Vec<Range>,
    accounts: Vec<Account>,
}

impl Operation {
    /// Operation `number` of a run with that seed and so many ranks, in these chunks, which lie one
    /// behind the other, on these of so many rails.
    pub fn new(
        (number, started): (u32, Time),
        (seed, ranks): (u64, u32),
        chunks: &[Chunk],
        rails: usize,
    ) -> Self {
        let mut lanes = vec![Lane::default(); rails];
        for (number, chunk) in (0u32..).zip(chunks) {
            lanes[chunk.rail as usize].waiting.push_back(number);
        }
        let place = |&Chunk { rail, epoch, .. }: &Chunk| Place {
            rail,
            epoch,
            stage: Stage::Waiting,
            had: 0,
        };
        let total: u64 = chunks.iter().map(|chunk| chunk.range.count).sum();
        let account = Account {
            places: chunks.iter().map(place).collect(),
            lanes,
            result: vec![0; total as usize],
            early: Vec::new(),
            missing: chunks.len(),
        };
        Self {
            number,
            started,
            inputs: Inputs::new(seed, number),
            chunks: chunks.iter().map(|chunk| chunk.range).collect(),
            accounts: vec![account; ranks as usize],
        }
    }

    /// The rail that a rank takes a chunk to be on.
    pub fn rail_of(&self, rank: u32, chunk: u32) -> u32 {
        self.accounts[rank as usize].places[chunk as usize].rail
    }

    /// True if every rank has all sums.
    pub fn is_complete(&self) -> bool {
        self.accounts.iter().all(|account| account.missing == 0)
    }

    /// The next chunk of a rail that a rank may begin while it has at most `window` under way.
    pub fn begin_next(&mut self, rail: u32, rank: u32, window: u32) -> Option<Piece> {
        let Account { places, lanes, .. } = &mut self.accounts[rank as usize];
        let lane = &mut lanes[rail as usize];
        if lane.under_way >= window {
            return None;
        }
        let chunk = lane.waiting.pop_front()?;
        lane.under_way += 1;
        let place = &mut places[chunk as usize];
        place.stage = Stage::Begun;
        let id = PieceId { operation: self.number, chunk, epoch: place.epoch };
        Some(Piece { id, range: self.chunks[chunk as usize] })
    }

    /// A rank has sums of a part of a piece.
    pub fn store(
        &mut self,
        now: Time,
        (piece, rank): (PieceId, u32),
        (range, numbers): (Range, Vec<i64>),
    ) -> Stored {
        if piece.operation != self.number {
            return Stored::Late;
        }
        let count = self.chunks[piece.chunk as usize].count;
        let account = &mut self.accounts[rank as usize];
        let place = &mut account.places[piece.chunk as usize];
        if piece.epoch < place.epoch {
            return Stored::Late;
        }
        if piece.epoch > place.epoch {
            account.early.push(Early { piece, range, numbers });
            return Stored::Early;
        }
        place.had += range.count;
        // More than there is would be a chunk that was added up twice.
        assert!(place.had <= count, "{piece:?} came twice to rank {rank}");
        let to = range.first as usize..(range.first + range.count) as usize;
        account.result[to].copy_from_slice(&numbers);
        if place.had < count {
            return Stored::Part;
        }
        let lane = &mut account.lanes[place.rail as usize];
        if place.stage == Stage::Begun {
            lane.under_way -= 1;
        } else {
            // All others were quicker: this rank had not begun.
            lane.waiting.retain(|&chunk| chunk != piece.chunk);
        }
        place.stage = Stage::Whole;
        lane.last = Some(now);
        account.missing -= 1;
        Stored::Whole
    }

    /// A rank is to do a chunk again, on that rail: whatever it has of it is given up, and it
    /// begins from what it brought. True if others were so quick that it has all of it at once.
    pub fn issue(&mut self, now: Time, rank: u32, chunk: u32, (rail, epoch): (u32, u64)) -> Stored {
        let account = &mut self.accounts[rank as usize];
        let place = &mut account.places[chunk as usize];
        let lane = &mut account.lanes[place.rail as usize];
        match place.stage {
            Stage::Waiting => lane.waiting.retain(|&other| other != chunk),
            Stage::Begun => lane.under_way -= 1,
            Stage::Whole => account.missing += 1,
        }
        *place = Place { rail, epoch, stage: Stage::Waiting, had: 0 };
        account.lanes[rail as usize].waiting.push_back(chunk);
        let early = std::mem::take(&mut account.early);
        let mut stored = Stored::Part;
        for Early { piece, range, numbers } in early {
            let of_chunk = piece.chunk == chunk;
            let this = self.store(now, (piece, rank), (range, numbers));
            if of_chunk && this == Stored::Whole {
                stored = this;
            }
        }
        stored
    }

    /// How long a rail took, from the start until every rank had its chunks; `None` if it had
    /// none.
    pub fn duration(&self, rail: u32) -> Option<Span> {
        let last = self.accounts.iter().filter_map(|account| account.lanes[rail as usize].last);
        last.max().map(|last| last.since(self.started))
    }

    /// Elements that a rank and place have wrong, compared with the exact sums.
    pub fn wrong(&self) -> u64 {
        let ranks = self.accounts.len() as u32;
        let mut wrong = 0;
        for &range in &self.chunks {
            let sums = self.inputs.sum(ranks, range);
            let place = range.first as usize..(range.first + range.count) as usize;
            for account in &self.accounts {
                let had = account.result[place.clone()].iter();
                wrong += had.zip(&sums).filter(|(had, sum)| had != sum).count() as u64;
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Two chunks of 4 elements on rail 0 and one of 2 on rail 1, two ranks.
    fn operation() -> Operation {
        let chunks = [(0, 0, 4), (0, 4, 4), (1, 8, 2)];
        let chunks = chunks.map(|(rail, first, count)| Chunk {
            rail,
            epoch: 0,
            range: Range { first, count },
        });
        Operation::new((0, Time::ZERO), (1, 2), &chunks, 2)
    }

    fn whole(of: &mut Operation, us: u64, rank: u32, (chunk, epoch): (u32, u64)) -> Stored {
        let range = of.chunks[chunk as usize];
        let numbers = of.inputs.sum(2, range);
        let piece = PieceId { operation: 0, chunk, epoch };
        of.store(at(us), (piece, rank), (range, numbers))
    }

    #[test]
    fn a_window_of_chunks_is_under_way_and_the_last_sum_completes() {
        let mut of = operation();
        let begun: Vec<Option<u32>> =
            (0..2).map(|_| of.begin_next(0, 0, 1).map(|piece| piece.id.chunk)).collect();
        assert_eq!(begun, [Some(0), None]);
        assert_eq!(whole(&mut of, 1, 0, (0, 0)), Stored::Whole);
        assert_eq!(of.begin_next(0, 0, 1).map(|piece| piece.id.chunk), Some(1));
        assert_eq!(whole(&mut of, 2, 0, (1, 0)), Stored::Whole);
        assert_eq!(of.accounts[0].missing, 1);
        assert_eq!(whole(&mut of, 3, 0, (2, 0)), Stored::Whole, "though it had not begun");
        assert!(of.accounts[0].missing == 0 && !of.is_complete());
        assert_eq!(of.begin_next(1, 0, 1), None);
        (0..3).for_each(|chunk| assert_eq!(whole(&mut of, 9, 1, (chunk, 0)), Stored::Whole));
        assert!(of.is_complete());
        assert_eq!((of.wrong(), of.duration(1)), (0, Some(Span::from_us(9))));
    }

    #[test]
    fn what_is_done_again_counts_by_its_epoch_alone() {
        let mut of = operation();
        (0..3).for_each(|chunk| assert_eq!(whole(&mut of, 1, 0, (chunk, 0)), Stored::Whole));
        assert_eq!(whole(&mut of, 2, 0, (1, 1)), Stored::Early, "it has not heard of that");
        assert_eq!(of.issue(at(3), 0, 0, (1, 1)), Stored::Part);
        assert_eq!(of.accounts[0].missing, 1, "also a rank that had it does it again");
        assert_eq!(of.issue(at(3), 0, 1, (1, 1)), Stored::Whole);
        assert_eq!(whole(&mut of, 4, 0, (0, 0)), Stored::Late);
        assert_eq!(
            of.begin_next(1, 0, 9).map(|piece| (piece.id.chunk, piece.id.epoch)),
            Some((0, 1))
        );
        assert_eq!(whole(&mut of, 5, 0, (0, 1)), Stored::Whole);
        assert_eq!(of.accounts[0].missing, 0);
    }

    #[test]
    #[should_panic(expected = "came twice")]
    fn a_sum_that_comes_twice_is_a_broken_promise() {
        let mut of = operation();
        for _ in 0..2 {
            whole(&mut of, 1, 0, (2, 0));
        }
    }
}
