//! Replays traces while they are read, with a bounded window of nodes per rank, whatever the length
//! of its file.
//!
//! The player is sans-IO except for its files. It outputs messages by [`Player::poll_send`]. Their
//! deliveries and completions enter by [`Player::handle_delivered`] and
//! [`Player::handle_complete`]. Delays end by [`Player::next_time`] and [`Player::handle_time`].
//! Nodes have the same meaning as in a trace that is read as a whole (see [`super`]), with one
//! difference: a node can start only once it is in the window.
//!
//! A window holds the nodes that have been read and are not complete, up to its size. If one of
//! them depends on a node that has not been read yet, reading continues up to [`AHEAD`] windows.
//! When no node can start and no message or delay is in progress, windows grow up to the same
//! limit. If that does not help, the player reports the same error as for a trace that is read as a
//! whole.

mod advance;
mod collectives;
mod matcher;
mod rank;
mod stall;

use std::collections::{BTreeSet, VecDeque};

use super::error::ChakraError;
use super::groups::RankGroups;
use super::node::NodeAction;
use super::streaming::Streaming;
use crate::units::Time;
use crate::workload::{Message, StepAfter};
use collectives::{Collectives, MessageEnd};
use matcher::Matcher;
use rank::Rank;

/// Maximum number of windows that a rank is read ahead when one window does not suffice.
/// \[inferred\]
const AHEAD: usize = 64;

/// The node or the collective that a message of a player belongs to. The caller returns it when the
/// message is delivered and when it completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageOrigin(MessageSource);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageSource {
    Send { rank: u32, id: u64 },
    Collective { key: collectives::CollectiveKey, message: u32 },
}

/// A node of a rank, by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RankNode {
    rank: u32,
    id: u64,
}

/// A replay of the traces of all ranks.
pub struct Player<'s> {
    streaming: &'s Streaming,
    groups: RankGroups,
    ranks: Vec<Rank<'s>>,
    matcher: Matcher,
    collectives: Collectives,
    /// Ends of running delays, with their nodes.
    ends: BTreeSet<(Time, RankNode)>,
    /// Completed nodes whose dependents have not been released yet.
    completed: VecDeque<RankNode>,
    sends: VecDeque<(MessageOrigin, Message)>,
    /// Number of messages that have been sent and are not complete.
    in_flight: u64,
    /// Ranks that may have room for more nodes.
    to_read: BTreeSet<u32>,
    state: PlayerState,
    held: HeldNodes,
    late: Late,
}

/// Counts nodes that were read too late to start when their last dependency completed.
#[derive(Debug, Default)]
struct Late {
    /// Time of the last completion; `completed` has the nodes that completed at that time.
    at: Time,
    completed: BTreeSet<RankNode>,
    count: u64,
}

impl Late {
    fn complete(&mut self, now: Time, node: RankNode) {
        if self.at != now {
            self.completed.clear();
            self.at = now;
        }
        self.completed.insert(node);
    }

    /// True if a dependency of the node completes at `now`, so that the node is not late.
    fn is_in_time(&self, now: Time, rank: u32, mut waited_for: impl Iterator<Item = u64>) -> bool {
        let completes = |id| self.completed.contains(&RankNode { rank, id });
        now == Time::ZERO || self.at == now && waited_for.any(completes)
    }
}

#[derive(Debug)]
enum PlayerState {
    New,
    Playing,
    Done,
    Failed(ChakraError),
}

/// Number of nodes in memory, now and at most.
#[derive(Debug, Default, Clone, Copy)]
struct HeldNodes {
    now: u64,
    most: u64,
}

impl HeldNodes {
    fn add(&mut self) {
        self.now += 1;
        self.most = self.most.max(self.now);
    }

    fn remove(&mut self) {
        self.now -= 1;
    }
}

impl<'s> Player<'s> {
    /// Creates a player at the start of the traces. It opens the files at the first
    /// [`Self::handle_time`].
    pub fn new(streaming: &'s Streaming) -> Self {
        Self {
            streaming,
            groups: streaming.groups().clone(),
            ranks: Vec::new(),
            matcher: Matcher::default(),
            collectives: Collectives::new(streaming.members().to_vec()),
            ends: BTreeSet::new(),
            completed: VecDeque::new(),
            sends: VecDeque::new(),
            in_flight: 0,
            to_read: BTreeSet::new(),
            state: PlayerState::New,
            held: HeldNodes::default(),
            late: Late::default(),
        }
    }

    /// Returns the time of the next call of [`Self::handle_time`], unless a message event comes
    /// first.
    pub fn next_time(&self) -> Option<Time> {
        match self.state {
            PlayerState::New => Some(Time::ZERO),
            PlayerState::Playing => self.ends.first().map(|&(end, _)| end),
            PlayerState::Done | PlayerState::Failed(_) => None,
        }
    }

    /// Completes the delays that end at or before `now`.
    pub fn handle_time(&mut self, now: Time) {
        if matches!(self.state, PlayerState::New) {
            self.state = PlayerState::Playing;
            let opened = self.open_files();
            self.settle(now, opened);
            return;
        }
        while let Some(&(end, node)) = self.ends.first() {
            if end > now {
                break;
            }
            self.ends.pop_first();
            self.completed.push_back(node);
        }
        self.settle(now, Ok(()));
    }

    /// Returns the next message to send now.
    pub fn poll_send(&mut self) -> Option<(MessageOrigin, Message)> {
        self.sends.pop_front()
    }

    /// Returns the message event for which the caller uses [`Self::handle_delivered`].
    pub fn step_after(&self) -> StepAfter {
        self.streaming.options().step_after
    }

    /// Handles the delivery of a message to its receiver. With [`StepAfter::Acknowledgement`], the
    /// message is about to complete at its sender.
    pub fn handle_delivered(&mut self, now: Time, origin: MessageOrigin) {
        match origin.0 {
            MessageSource::Send { rank, id } => {
                let Some(send) = self.ranks[rank as usize].open.get_mut(&id) else { return };
                send.delivered = true;
                if let (Some(receive), NodeAction::Send { peer, .. }) = (send.receive, send.action)
                {
                    self.deliver(RankNode { rank: peer, id: receive });
                }
            }
            MessageSource::Collective { key, message } => {
                let effects = self.collectives.handle_message(key, message, MessageEnd::Receiver);
                self.apply(key, effects);
            }
        }
        self.settle(now, Ok(()));
    }

    /// Handles the completion of a message at its sender, when its delivery is acknowledged.
    pub fn handle_complete(&mut self, now: Time, origin: MessageOrigin) {
        self.in_flight -= 1;
        match origin.0 {
            MessageSource::Send { rank, id } => self.completed.push_back(RankNode { rank, id }),
            MessageSource::Collective { key, message } => {
                let effects = self.collectives.handle_message(key, message, MessageEnd::Sender);
                self.apply(key, effects);
            }
        }
        self.settle(now, Ok(()));
    }

    /// True if every node of every rank is complete.
    pub fn is_done(&self) -> bool {
        matches!(self.state, PlayerState::Done)
    }

    /// Returns the number of nodes that were read later than they could have started.
    pub fn late_nodes(&self) -> u64 {
        self.late.count
    }

    /// Returns the error that stopped the replay, if there is one.
    pub fn fault(&self) -> Option<&ChakraError> {
        match &self.state {
            PlayerState::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the error that stopped the replay, by value.
    pub fn into_fault(self) -> Option<ChakraError> {
        match self.state {
            PlayerState::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the largest number of nodes of all ranks that were in memory at the same time.
    pub fn most_held(&self) -> u64 {
        self.held.most
    }
}
