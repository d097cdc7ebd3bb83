//! Messages that are generated during a run.
//!
//! In a ring and in a pipeline each message waits for at most one other, and at most one waits for
//! it: the receiver of a message sends the next one of its chain. A run then stores only the
//! messages in flight. A ring of P ranks has P of them instead of the 2P(P-1) of the whole
//! all-reduce. An exchange is an all-to-all in which a rank has at most W messages outstanding.
//! When a message completes, its sender sends the W-th one after it: WP messages are in flight
//! instead of P(P-1).

use super::{Blocks, Message, StepAfter, Workload};
use crate::ids::{HostId, MessageId};
use crate::units::{Bytes, Span, Time};

/// Progress of a collective's chains from rank to rank, each to the right neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainShape {
    /// A chain begins at each rank and goes round once for each of these offsets. In such a round,
    /// rank r first sends block r plus the offset, and then the block that it received last.
    Ring(&'static [isize]),
    /// One chain from the first rank to the last carries the whole segment.
    Line,
    /// Each rank sends every other rank its block, the right neighbour first. At most
    /// [`Chains::outstanding`] of these messages are outstanding: that many chains begin at each
    /// rank.
    Exchange,
}

/// Position of a message: its segment, its step on the chain, and the rank that sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainPlace {
    segment: u32,
    step: u32,
    rank: u32,
}

/// The messages of a collective that consists of chains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chains {
    /// Progress of the chains.
    pub shape: ChainShape,
    /// Host of each rank.
    pub ranks: Vec<HostId>,
    /// Channel and blocks of each non-empty segment.
    pub segments: Vec<(u32, Blocks)>,
    /// Computing time between a step and the next.
    pub gap: Span,
    /// Event that a step waits for.
    pub step_after: StepAfter,
    /// For an exchange: the maximum number of a segment's messages that a rank has outstanding,
    /// from 1 to the number of other ranks.
    pub outstanding: u32,
}

/// Returns the block that a rank sends in a step of a ring's round. The round begins with the
/// rank's own block plus `begin`.
pub fn ring_block(begin: isize, ranks: usize, step: usize, rank: usize) -> usize {
    // The block that the left neighbour sent in the step before. Adding twice `ranks` keeps the
    // difference from going below zero.
    ((rank + 2 * ranks).wrapping_add_signed(begin) - step) % ranks
}

impl ChainShape {
    /// Returns the number of blocks that a segment is divided into.
    pub fn blocks(self, ranks: usize) -> usize {
        match self {
            Self::Ring(_) | Self::Exchange => ranks,
            Self::Line => 1,
        }
    }

    /// Returns the number of ranks, counted from the first, at which a chain begins.
    fn heads(self, ranks: usize) -> usize {
        match self {
            Self::Ring(_) | Self::Exchange => ranks,
            Self::Line => 1,
        }
    }

    /// Returns the number of messages of the chains that begin at a rank.
    fn steps(self, ranks: usize) -> usize {
        match self {
            Self::Ring(rounds) => rounds.len() * (ranks - 1),
            Self::Line | Self::Exchange => ranks - 1,
        }
    }

    /// Returns the block that a rank sends in a step.
    fn block(self, ranks: usize, step: usize, rank: usize) -> usize {
        match self {
            Self::Ring(begins) => {
                ring_block(begins[step / (ranks - 1)], ranks, step % (ranks - 1), rank)
            }
            Self::Line => 0,
            Self::Exchange => (rank + 1 + step) % ranks,
        }
    }

    /// Returns the bytes of a segment that a rank sends in all steps together.
    fn bytes_of(self, ranks: usize, rank: usize, blocks: &Blocks) -> u64 {
        let all = blocks.bytes(&(0..self.blocks(ranks)));
        match self {
            // In a round a rank sends every block but one: the one that it would send next.
            Self::Ring(begins) => begins
                .iter()
                .map(|&begin| ring_block(begin, ranks, ranks - 1, rank))
                .map(|kept| all - blocks.bytes(&(kept..kept + 1)))
                .sum(),
            Self::Exchange => all - blocks.bytes(&(rank..rank + 1)),
            Self::Line if rank + 1 < ranks => all,
            Self::Line => 0,
        }
    }
}

impl Chains {
    /// Iterates over the first message of each chain, which waits for no other.
    pub fn heads(&self) -> impl Iterator<Item = ChainPlace> + use<> {
        self.heads_at(|_| true)
    }

    /// Iterates over the heads at the ranks for which `is_sender` is true, in the order of
    /// [`Chains::heads`].
    fn heads_at<F>(&self, is_sender: F) -> impl Iterator<Item = ChainPlace> + use<F>
    where
        F: Fn(u32) -> bool + Copy,
    {
        let segments = u32::try_from(self.segments.len()).expect("2^28 messages at most");
        let heads = u32::try_from(self.shape.heads(self.ranks.len())).expect("ranks are hosts");
        let of_rank = match self.shape {
            ChainShape::Ring(_) | ChainShape::Line => 1,
            ChainShape::Exchange => self.outstanding,
        };
        let ranks = move || (0..heads).filter(move |rank| is_sender(*rank));
        (0..segments).flat_map(move |segment| ranks().map(move |rank| (segment, rank))).flat_map(
            move |(segment, rank)| (0..of_rank).map(move |step| ChainPlace { segment, step, rank }),
        )
    }

    /// Returns the next message of the chain, or `None` at its end. Its sender is this message's
    /// receiver; in an exchange, this message's sender.
    pub fn next(&self, place: ChainPlace) -> Option<ChainPlace> {
        let (ahead, right) = match self.shape {
            ChainShape::Ring(_) | ChainShape::Line => (1, 1),
            ChainShape::Exchange => (self.outstanding, 0),
        };
        let step = place.step + ahead;
        let rank = (place.rank as usize + right) % self.ranks.len();
        let is_there = (step as usize) < self.shape.steps(self.ranks.len());
        is_there.then_some(ChainPlace { step, rank: rank as u32, ..place })
    }

    /// Returns the message at a position.
    pub fn message(&self, place: ChainPlace) -> Message {
        let (ranks, rank) = (self.ranks.len(), place.rank as usize);
        let (channel, blocks) = &self.segments[place.segment as usize];
        let block = self.shape.block(ranks, place.step as usize, rank);
        let to = match self.shape {
            ChainShape::Ring(_) | ChainShape::Line => (rank + 1) % ranks,
            ChainShape::Exchange => block,
        };
        Message {
            src: self.ranks[rank],
            dst: self.ranks[to],
            bytes: Bytes::new(blocks.bytes(&(block..block + 1))),
            stream: *channel,
            start: Time::ZERO,
        }
    }

    /// Returns the index of a message among those that its rank sends, in the order of a workload
    /// that is built as a whole.
    pub(crate) fn position(&self, place: ChainPlace) -> u64 {
        let steps = self.shape.steps(self.ranks.len()) as u64;
        u64::from(place.segment) * steps + u64::from(place.step)
    }

    /// Returns the number of messages.
    pub fn messages(&self) -> u64 {
        let of_segment = self.shape.heads(self.ranks.len()) * self.shape.steps(self.ranks.len());
        self.segments.len() as u64 * of_segment as u64
    }

    /// Returns the length of the longest message.
    pub fn longest(&self) -> Bytes {
        let first = self.segments.iter().map(|(_, blocks)| blocks.bytes(&(0..1)));
        Bytes::new(first.max().unwrap_or(0))
    }

    /// Returns the distinct message lengths in ascending order. They are few, since blocks differ
    /// by a byte.
    pub fn lengths(&self) -> Vec<Bytes> {
        let count = self.shape.blocks(self.ranks.len());
        let ends = [0..1, count - 1..count];
        let of_segment = |(_, blocks): &(u32, Blocks)| {
            ends.clone().map(|block| Bytes::new(blocks.bytes(&block)))
        };
        let mut lengths: Vec<Bytes> = self.segments.iter().flat_map(of_segment).collect();
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    /// Returns the computing time of a rank between a received message and the next one of the
    /// chain.
    pub fn gap(&self) -> Span {
        self.gap
    }

    /// Returns the event of a message after which the next one of its chain is sent.
    pub fn step_after(&self) -> StepAfter {
        self.step_after
    }

    /// Returns true if no two messages have the same sender, receiver and channel.
    pub fn uses_queue_pairs_once(&self) -> bool {
        self.shape == ChainShape::Exchange
    }

    /// Returns the maximum number of messages in flight.
    pub fn max_in_flight(&self) -> u64 {
        self.heads().count() as u64
    }

    /// Returns the messages of an exchange whose senders satisfy `sends`, with their dependencies;
    /// `None` if the shape is not an exchange.
    pub fn sent_by(&self, sends: &dyn Fn(HostId) -> bool) -> Option<Workload> {
        if self.shape != ChainShape::Exchange {
            return None;
        }
        let (mut messages, mut waits) = (Vec::new(), Vec::new());
        for head in self.heads_at(|rank| sends(self.ranks[rank as usize])) {
            let first = messages.len() as u32;
            let places = std::iter::successors(Some(head), |place| self.next(*place));
            messages.extend(places.map(|place| self.message(place)));
            let pairs = (first..messages.len() as u32 - 1).map(|id| (id, id + 1));
            waits.extend(pairs.map(|(before, after)| (MessageId(before), MessageId(after))));
        }
        Some(Workload { gap: self.gap, ..Workload::with_dependencies(messages, &waits) })
    }

    /// Returns the load of the messages without their order, for lower bounds: one message per rank
    /// and channel with all of its bytes. For an exchange only the bytes are valid, not the
    /// receivers; use `sent_by` for those.
    pub fn load(&self) -> Vec<Message> {
        let ranks = self.ranks.len();
        let mut load: Vec<Message> = Vec::new();
        let channels = self.segments.iter().map(|&(channel, _)| channel + 1).max().unwrap_or(0);
        for channel in 0..channels {
            let segments = || self.segments.iter().filter(|(own, _)| *own == channel);
            for rank in 0..ranks {
                let of_segment = |blocks| self.shape.bytes_of(ranks, rank, blocks);
                let bytes: u64 = segments().map(|(_, blocks)| of_segment(blocks)).sum();
                let (src, dst) = (self.ranks[rank], self.ranks[(rank + 1) % ranks]);
                let bytes = Bytes::new(bytes);
                load.push(Message { src, dst, bytes, stream: channel, start: Time::ZERO });
            }
        }
        load.retain(|message| message.bytes > Bytes::ZERO);
        load
    }

    /// Returns a workload that generates these messages during the run.
    pub fn into_workload(self) -> Workload {
        let load = self.load();
        Workload { chains: Some(self.into()), ..Workload::independent(load) }
    }

    /// Replaces each host `i` by `hosts[i]`.
    pub(crate) fn remapped(mut self, hosts: &[HostId]) -> Self {
        self.ranks.iter_mut().for_each(|host| *host = hosts[host.index()]);
        self
    }
}
