//! Replay of traces while they are read: of each rank a window of nodes is held, whatever the
//! length of its file.
//!
//! The player is sans-IO except for its files. Messages leave it by [`Player::poll_send`]; their
//! deliveries and completions enter by [`Player::handle_delivered`] and
//! [`Player::handle_complete`]; delays end by [`Player::next_time`] and [`Player::handle_time`].
//! Nodes have the same meaning as in a trace that is read as a whole (see [`super`]), with one
//! difference: a node can start only once it is in the window.
//!
//! A window holds the nodes that are read and not complete, up to its size. Where these depend on
//! a node that is not read yet, reading continues up to [`AHEAD`] windows. When no node can start
//! and no message or delay is in progress, windows grow up to the same limit; if that does not
//! help, the fault is reported as for a trace that is read as a whole.

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

/// Maximum number of windows that a rank is read ahead, where one window does not suffice.
/// \[inferred\]
const AHEAD: usize = 64;

/// The node, or the collective, that a message of a player belongs to. The caller returns it when
/// the message is delivered and when it completes.
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
    /// The ends of running delays, with their nodes.
    ends: BTreeSet<(Time, RankNode)>,
    /// Completed nodes whose dependents have not been released yet.
    completed: VecDeque<RankNode>,
    sends: VecDeque<(MessageOrigin, Message)>,
    /// Number of messages that are sent and not complete.
    in_flight: u64,
    /// Ranks that may have room for more nodes.
    to_read: BTreeSet<u32>,
    state: PlayerState,
    held: HeldNodes,
    late: Late,
}

/// Nodes that were read too late to start when all that they waited for was complete.
#[derive(Debug, Default)]
struct Late {
    /// The time of the last completion, and the nodes that have completed then.
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

    /// Whether one of the nodes that a node waited for completes at `now`.
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

/// The number of nodes in memory, now and at most.
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
    /// A player at the start of the traces. It opens the files at the first
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

    /// The time of the next call of [`Self::handle_time`], unless an event of a message is
    /// earlier.
    pub fn next_time(&self) -> Option<Time> {
        match self.state {
            PlayerState::New => Some(Time::ZERO),
            PlayerState::Playing => self.ends.first().map(|&(end, _)| end),
            PlayerState::Done | PlayerState::Failed(_) => None,
        }
    }

    /// Completes the delays that end until `now`.
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

    /// The next message to be sent now.
    pub fn poll_send(&mut self) -> Option<(MessageOrigin, Message)> {
        self.sends.pop_front()
    }

    /// The event of a message that [`Self::handle_delivered`] is for.
    pub fn step_after(&self) -> StepAfter {
        self.streaming.options().step_after
    }

    /// A message has been delivered to its receiver; with [`StepAfter::Acknowledgement`], it is
    /// about to complete at its sender.
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

    /// A message has completed at its sender: its delivery is acknowledged.
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

    /// Whether every node of every rank is complete.
    pub fn is_done(&self) -> bool {
        matches!(self.state, PlayerState::Done)
    }

    /// How many nodes were read later than they could have started.
    pub fn late_nodes(&self) -> u64 {
        self.late.count
    }

    /// The fault that stopped the replay, if there is one.
    pub fn fault(&self) -> Option<&ChakraError> {
        match &self.state {
            PlayerState::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The fault that stopped the replay, by value.
    pub fn into_fault(self) -> Option<ChakraError> {
        match self.state {
            PlayerState::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The largest number of nodes, of all ranks together, that were held at once.
    pub fn most_held(&self) -> u64 {
        self.held.most
    }
}
