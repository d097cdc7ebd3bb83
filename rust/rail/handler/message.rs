//! A reconstruction: what ranks tell each other of rails, as values that a world carries.
//!
//! Source: \[inferred\]. Nothing here is on a real wire; [`Message::bytes`] is what a world charges.

use std::ops::Range;

use super::super::{Division, RailSet};
use crate::ids::RailId;
use crate::units::{Bytes, Span};

/// The number of an operation. Every rank starts the same operations in the same order, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct OperationId(pub u64);

/// Between two agreements of all ranks on which rails are up; grows with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u64);

/// One doing of a chunk. A chunk that is done again has a later epoch, so that what is still under
/// way of the earlier doing is told from it: contributions are summed up for each key apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Of which operation.
    pub operation: OperationId,
    /// Which of its chunks, from 0.
    pub chunk: u32,
    /// Since which agreement.
    pub epoch: Epoch,
}

/// Which rails are up: for each a number that only ever grows, even while the rail is up.
///
/// Two ranks that know of different failures merge what they know by the larger numbers, in any
/// order and however often, and end with the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View(Vec<u32>);

impl View {
    /// All of that many rails are up and have always been.
    pub(super) fn new(rails: usize) -> Self {
        Self(vec![0; rails])
    }

    /// How many rails there are, up or not.
    pub fn rails(&self) -> usize {
        self.0.len()
    }

    /// The rails that are up.
    pub fn up(&self) -> RailSet {
        (0..).map(RailId).zip(&self.0).filter(|(_, turn)| **turn % 2 == 0).map(|it| it.0).collect()
    }

    /// How often `rail` has gone down or come back; odd while it is down.
    pub fn turn(&self, rail: RailId) -> u32 {
        self.0.get(rail.index()).copied().unwrap_or(1)
    }

    /// All turns together. No two views on which all ranks agreed have the same: each is the
    /// other's, with more turns.
    pub fn epoch(&self) -> Epoch {
        Epoch(self.0.iter().map(|&turn| u64::from(turn)).sum())
    }

    /// This view after `turns` more of `rail`.
    pub(super) fn turned(&self, rail: RailId, turns: u32) -> Self {
        let mut view = self.clone();
        if let Some(turn) = view.0.get_mut(rail.index()) {
            *turn = turn.saturating_add(turns);
        }
        view
    }

    /// What either of two knows.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let both = self.0.iter().zip(&other.0).map(|(&a, &b)| a.max(b));
        // Rails that the other does not have are none of its business, and the other way round.
        Self(both.chain(self.0.iter().skip(other.0.len()).copied()).collect())
    }
}

/// Where a chunk is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// On which rail.
    pub rail: RailId,
    /// The turn that the rail was in when the chunk was issued there; in any other it is lost.
    pub turn: u32,
    /// Since which agreement.
    pub epoch: Epoch,
}

impl Place {
    /// Whether the rail has been up since.
    pub fn is_alive(&self, view: &View) -> bool {
        self.turn.is_multiple_of(2) && view.turn(self.rail) == self.turn
    }
}

/// What a rank has of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Which operation.
    pub operation: OperationId,
    /// How it was divided at first, which is where its chunks end.
    pub division: Division,
    /// Where each chunk is done.
    pub places: Vec<Place>,
    /// Whether this rank has the sum of each chunk.
    pub done: Vec<bool>,
}

/// What a rank publishes when it learns that other rails are up than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The rails as it knows them.
    pub view: View,
    /// It has the sums of all operations before this one.
    pub complete: OperationId,
    /// The others that it has started, or heard of.
    pub operations: Vec<Progress>,
    /// Bits per second by rail: those of the first rank are what missing chunks are divided by.
    pub rates: Vec<u64>,
}

/// Whether a report asks for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The sender has not heard all ranks yet.
    Wanted,
    /// It is an answer itself.
    Given,
}

/// What ranks tell each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The sender is there, and the rail carries what it sends.
    Heartbeat {
        /// By rank, as far as the sender has heard: it has the sums of all operations before.
        complete: Vec<OperationId>,
    },
    /// Asks for an answer over the same rail.
    Probe {
        /// Which round.
        round: u64,
        /// An operation that the sender waits for.
        waits_for: Option<OperationId>,
    },
    /// Answers a probe.
    Answer {
        /// Of which round.
        round: u64,
        /// How long ago the sender started the operation asked for; `None` if it has not.
        started: Option<Span>,
    },
    /// What the sender knows of rails and has of operations.
    Report {
        /// That.
        report: Report,
        /// Whether it wants the receiver's.
        reply: Reply,
    },
}

impl Message {
    /// What it takes on a wire: \[inferred\] 8 bytes a number, 4 a place, a bit a chunk.
    pub fn bytes(&self) -> Bytes {
        const HEADER: usize = 16;
        let body = match self {
            Self::Heartbeat { complete } => 8 * complete.len(),
            Self::Probe { .. } | Self::Answer { .. } => 16,
            Self::Report { report, .. } => {
                let of = |progress: &Progress| {
                    let (rails, chunks) = (progress.division.shares().len(), progress.places.len());
                    8 + 8 * rails + 4 * chunks + chunks.div_ceil(8)
                };
                let rails = report.view.0.len();
                8 + 12 * rails + report.operations.iter().map(of).sum::<usize>()
            }
        };
        Bytes::new((HEADER + body) as u64)
    }
}

/// The chunks of an operation: each part of its division in pieces of `chunk` bytes. With more
/// than 65,536 of them the pieces are larger, whole multiples of `chunk`.
pub(super) fn chunks(division: &Division, chunk: Bytes) -> Vec<(RailId, Range<u64>)> {
    const MOST: u64 = 1 << 16;
    let chunk = chunk.get().max(1);
    let total = division.parts().map(|part| part.range.end).last().unwrap_or(0);
    let chunk = chunk.saturating_mul(total.div_ceil(chunk).div_ceil(MOST).max(1));
    let pieces = division.parts().flat_map(|part| {
        let Range { start, end } = part.range;
        let count = (end - start).div_ceil(chunk);
        (0..count).map(move |piece| {
            let from = start + piece * chunk;
            (part.rail, from..from.saturating_add(chunk).min(end))
        })
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_merge_in_any_order_to_the_same() {
        let view = View::new(3);
        let (a, b) = (view.turned(RailId(0), 1), view.turned(RailId(2), 1));
        let both = a.merged(&b);
        assert_eq!((&both, &both.merged(&a)), (&b.merged(&a), &both));
        assert_eq!((both.up().to_string(), both.epoch()), ("rail1".to_owned(), Epoch(2)));
        let back = both.turned(RailId(0), 1);
        assert_eq!(back.merged(&a).up().to_string(), "rail0 rail1");
        // What a stranger says of rails that are not ours is left out.
        assert_eq!(a.merged(&View::new(5)), a);
        assert_eq!(a.merged(&View::new(1)), a);
    }

    #[test]
    fn a_place_is_alive_in_its_own_turn() {
        let view = View::new(2);
        let place = Place { rail: RailId(1), turn: 0, epoch: Epoch(0) };
        assert!(place.is_alive(&view));
        assert!(!place.is_alive(&view.turned(RailId(1), 1)));
        assert!(!place.is_alive(&view.turned(RailId(1), 2)), "it came back without what it held");
    }

    #[test]
    fn chunks_end_where_parts_end() {
        let division = Division::new([5, 0, 4].map(Bytes::new).to_vec());
        let all = chunks(&division, Bytes::new(4));
        assert_eq!(all, [(RailId(0), 0..4), (RailId(0), 4..5), (RailId(2), 5..9)]);
        assert!(chunks(&Division::new(vec![Bytes::new(1 << 40)]), Bytes::new(3)).len() <= 1 << 16);
        assert!(chunks(&Division::new(Vec::new()), Bytes::ZERO).is_empty());
    }
}
