//! A reconstruction: the messages between the handlers of all ranks.
//!
//! Source: \[inferred\]. They have no wire format; the driver simulates the length that
//! [`RankMessage::bytes`] returns.

use std::ops::Range;

use super::super::{Division, RailSet};
use crate::ids::RailId;
use crate::units::{Bytes, Span};

/// Id of an operation. Every rank starts the same operations in the same order, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct OperationId(pub u64);

/// The period between two agreements of all ranks on the rails that are up. It increases with each
/// agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u64);

/// One attempt at a chunk. A repeated chunk has a later epoch, which separates it from in-flight
/// data of the earlier attempt: contributions are summed separately for each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkKey {
    /// The operation that the chunk belongs to.
    pub operation: OperationId,
    /// Index of the chunk within the operation.
    pub chunk: u32,
    /// The epoch in which the attempt was issued.
    pub epoch: Epoch,
}

/// The rails that are up, as an incarnation number per rail, which only increases.
///
/// Two ranks that know of different failures merge their views by the larger numbers, in any
/// order and any number of times, with the same result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RailView(Vec<u32>);

impl RailView {
    /// Creates a view of rails that are all up in their first incarnation.
    pub(super) fn new(rails: usize) -> Self {
        Self(vec![0; rails])
    }

    /// Returns the number of rails, up or not.
    pub fn rails(&self) -> usize {
        self.0.len()
    }

    /// Returns the rails that are up.
    pub fn up(&self) -> RailSet {
        let numbers = (0..).map(RailId).zip(&self.0);
        numbers.filter(|(_, incarnation)| **incarnation % 2 == 0).map(|it| it.0).collect()
    }

    /// Returns the incarnation of `rail`: the number of times it has gone down or returned; odd
    /// while down.
    pub fn incarnation(&self, rail: RailId) -> u32 {
        self.0.get(rail.index()).copied().unwrap_or(1)
    }

    /// Returns the epoch of the view: the sum of all incarnations. Two views on which all ranks
    /// agreed have different sums, because incarnations only increase from one to the other.
    pub fn epoch(&self) -> Epoch {
        Epoch(self.0.iter().map(|&incarnation| u64::from(incarnation)).sum())
    }

    /// Returns this view with the incarnation of `rail` increased.
    pub(super) fn advanced(&self, rail: RailId, steps: u32) -> Self {
        let mut view = self.clone();
        if let Some(incarnation) = view.0.get_mut(rail.index()) {
            *incarnation = incarnation.saturating_add(steps);
        }
        view
    }

    /// Returns the larger incarnation of each rail in two views.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let both = self.0.iter().zip(&other.0).map(|(&a, &b)| a.max(b));
        // Rails that `other` lacks keep their incarnation; rails that only `other` has are ignored.
        Self(both.chain(self.0.iter().skip(other.0.len()).copied()).collect())
    }
}

/// The rail on which an attempt at a chunk runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlacement {
    /// Id of the rail.
    pub rail: RailId,
    /// The rail's incarnation when the chunk was issued; in any other incarnation the attempt is
    /// lost.
    pub incarnation: u32,
    /// The epoch of the attempt.
    pub epoch: Epoch,
}

impl ChunkPlacement {
    /// Returns true if the rail has been up since the attempt was issued.
    pub fn is_valid(&self, view: &RailView) -> bool {
        self.incarnation.is_multiple_of(2) && view.incarnation(self.rail) == self.incarnation
    }
}

/// The state of one operation at a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationProgress {
    /// Id of the operation.
    pub operation: OperationId,
    /// The initial division of the operation, which defines its chunks.
    pub division: Division,
    /// The current attempt at each chunk.
    pub placements: Vec<ChunkPlacement>,
    /// Whether this rank has the sum of each chunk.
    pub done: Vec<bool>,
}

/// The report that a rank publishes when its view changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The rails that are up, as far as the reporting rank knows.
    pub view: RailView,
    /// The first operation that the rank does not have completely; it has the sums of all earlier
    /// ones.
    pub complete: OperationId,
    /// Later operations that the rank has started or received in a report.
    pub operations: Vec<OperationProgress>,
    /// Rates in bits per second, by rail. Missing chunks are divided by the rates of the first
    /// rank.
    pub rates: Vec<u64>,
}

/// Whether the sender of a report wants the receiver's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportKind {
    /// The sender does not have the reports of all ranks yet.
    Request,
    /// The report is itself an answer.
    Response,
}

/// A message between the handlers of two ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RankMessage {
    /// The sender is alive, and the rail carries its messages.
    Heartbeat {
        /// By rank: the first operation that the rank does not have, according to the sender.
        complete: Vec<OperationId>,
    },
    /// Asks for an answer over the same rail.
    Probe {
        /// The round of the probe.
        round: u64,
        /// The operation for which the sender waits.
        awaited: Option<OperationId>,
    },
    /// Answers a probe, over the rail that the probe used.
    Answer {
        /// The round of the probe.
        round: u64,
        /// The time since the answering rank started the awaited operation; `None` if it has not.
        started: Option<Span>,
    },
    /// The sender's view and its state of operations.
    Report {
        /// The state that the sender publishes.
        report: Report,
        /// Whether the sender wants the receiver's report.
        kind: ReportKind,
    },
}

impl RankMessage {
    /// Returns the simulated length: \[inferred\] 8 bytes per number, 4 per placement, a bit per
    /// chunk.
    pub fn bytes(&self) -> Bytes {
        const HEADER: usize = 16;
        let body = match self {
            Self::Heartbeat { complete } => 8 * complete.len(),
            Self::Probe { .. } | Self::Answer { .. } => 16,
            Self::Report { report, .. } => {
                let of = |progress: &OperationProgress| {
                    let (rails, chunks) =
                        (progress.division.shares().len(), progress.placements.len());
                    8 + 8 * rails + 4 * chunks + chunks.div_ceil(8)
                };
                let rails = report.view.0.len();
                8 + 12 * rails + report.operations.iter().map(of).sum::<usize>()
            }
        };
        Bytes::new((HEADER + body) as u64)
    }
}

/// Returns the chunks of an operation: the range of each rail in chunks of `chunk` bytes. If that
/// would give more than 65,536 chunks, they are larger by an integer factor.
pub(super) fn chunks(division: &Division, chunk: Bytes) -> Vec<(RailId, Range<u64>)> {
    const MAX_CHUNKS: u64 = 1 << 16;
    let chunk = chunk.get().max(1);
    let total = division.ranges().map(|it| it.range.end).last().unwrap_or(0);
    let chunk = chunk.saturating_mul(total.div_ceil(chunk).div_ceil(MAX_CHUNKS).max(1));
    let chunks = division.ranges().flat_map(|it| {
        let Range { start, end } = it.range;
        let count = (end - start).div_ceil(chunk);
        (0..count).map(move |index| {
            let from = start + index * chunk;
            (it.rail, from..from.saturating_add(chunk).min(end))
        })
    });
    chunks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_merge_in_any_order_to_the_same_view() {
        let view = RailView::new(3);
        let (a, b) = (view.advanced(RailId(0), 1), view.advanced(RailId(2), 1));
        let both = a.merged(&b);
        assert_eq!((&both, &both.merged(&a)), (&b.merged(&a), &both));
        assert_eq!((both.up().to_string(), both.epoch()), ("rail1".to_owned(), Epoch(2)));
        let back = both.advanced(RailId(0), 1);
        assert_eq!(back.merged(&a).up().to_string(), "rail0 rail1");
        // Rails that only the other view has are ignored.
        assert_eq!(a.merged(&RailView::new(5)), a);
        assert_eq!(a.merged(&RailView::new(1)), a);
    }

    #[test]
    fn a_placement_is_valid_in_its_own_incarnation() {
        let view = RailView::new(2);
        let placement = ChunkPlacement { rail: RailId(1), incarnation: 0, epoch: Epoch(0) };
        assert!(placement.is_valid(&view));
        assert!(!placement.is_valid(&view.advanced(RailId(1), 1)));
        assert!(!placement.is_valid(&view.advanced(RailId(1), 2)), "its attempts were lost");
    }

    #[test]
    fn chunks_end_where_rail_ranges_end() {
        let division = Division::new([5, 0, 4].map(Bytes::new).to_vec());
        let all = chunks(&division, Bytes::new(4));
        assert_eq!(all, [(RailId(0), 0..4), (RailId(0), 4..5), (RailId(2), 5..9)]);
        assert!(chunks(&Division::new(vec![Bytes::new(1 << 40)]), Bytes::new(3)).len() <= 1 << 16);
        assert!(chunks(&Division::new(Vec::new()), Bytes::ZERO).is_empty());
    }

    #[test]
    fn message_lengths_follow_their_contents() {
        let report = |rails: u64, chunks: usize| {
            let placement =
                ChunkPlacement { rail: RailId(0), incarnation: 0, epoch: Epoch::default() };
            let shares = (0..rails).map(|_| Bytes::new(100)).collect();
            let progress = OperationProgress {
                operation: OperationId::default(),
                division: Division::new(shares),
                placements: vec![placement; chunks],
                done: vec![false; chunks],
            };
            let report = Report {
                view: RailView::new(rails as usize),
                complete: OperationId::default(),
                operations: vec![progress.clone(), progress],
                rates: vec![1; rails as usize],
            };
            RankMessage::Report { report, kind: ReportKind::Response }.bytes().get()
        };
        // Two operations, each with its number, a share of each rail, and its chunks.
        assert_eq!(report(3, 9), 16 + 8 + 12 * 3 + 2 * (8 + 8 * 3 + 4 * 9 + 2));
        assert_eq!(report(2, 8), 16 + 8 + 12 * 2 + 2 * (8 + 8 * 2 + 4 * 8 + 1));
        let complete = vec![OperationId::default(); 5];
        assert_eq!(RankMessage::Heartbeat { complete }.bytes().get(), 16 + 8 * 5);
        assert_eq!(RankMessage::Probe { round: 1, awaited: None }.bytes().get(), 32);
        assert_eq!(RankMessage::Answer { round: 1, started: None }.bytes().get(), 32);
    }
}
