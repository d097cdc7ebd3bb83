//! Traces replayed while they are read: of each rank a window of nodes is held, whatever the
//! length of its file.
//!
//! It is sans-IO but for its files. Messages come out of it ([`Player::poll_send`]) and what
//! becomes of them goes in ([`Player::handle_delivered`], [`Player::handle_complete`]); delays
//! end by [`Player::next_time`] and [`Player::handle_time`]. Nodes mean what they mean where a
//! trace is read as a whole (see [`super`]), with one difference: a node can begin only once it
//! is in the window, which ends so many nodes after the first that is not over.
//!
//! What waits for nodes further ahead is read on for, up to [`AHEAD`] windows. When nothing can
//! go on, and nothing is under way, windows grow, by the same limit; if that does not help, what
//! is wrong is told as it is where a trace is read as a whole.

mod collectives;
mod matcher;
mod rank;
mod stall;

use std::collections::{BTreeSet, VecDeque};

use super::error::{ChakraError, ChakraFault};
use super::expand::Algorithms;
use super::node::{Action, Call, Groups, Nodes, Placed};
use super::streaming::Streaming;
use super::{open, placed_in};
use crate::ids::HostId;
use crate::units::{Span, Time};
use crate::workload::Message;
use crate::workload::graph::at_least_a_byte;
use collectives::{Collectives, End, Follows};
use matcher::{Meetings, Send};
use rank::{Rank, Stage};

/// Most windows of nodes that a rank is read ahead, where its window does not do. \[inferred\]
pub const AHEAD: usize = 64;

/// A message that a player sends: to be named when something becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(From);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Send { rank: u32, id: u64 },
    Collective { key: collectives::Key, message: u32 },
}

/// A fault and its rank.
type Fault = (u32, Placed);

/// Traces on their way.
pub struct Player<'s> {
    streaming: &'s Streaming,
    groups: Groups,
    ranks: Vec<Rank<'s>>,
    meetings: Meetings,
    collectives: Collectives,
    /// When delays that run are over, with their ranks and nodes.
    ends: BTreeSet<(Time, u32, u64)>,
    /// Nodes that are over and have told nobody yet, with their ranks.
    over: VecDeque<(u32, u64)>,
    sends: VecDeque<(Ticket, Message)>,
    /// Messages that have been sent and are not complete.
    under_way: u64,
    /// Ranks that may read on.
    hungry: BTreeSet<u32>,
    state: State,
    live: Peak,
}

#[derive(Debug)]
enum State {
    New,
    Playing,
    Done,
    Failed(ChakraError),
}

/// How many nodes are held, and most that ever were.
#[derive(Debug, Default, Clone, Copy)]
struct Peak {
    now: u64,
    most: u64,
}

impl<'s> Player<'s> {
    /// Traces from their beginnings.
    pub fn new(streaming: &'s Streaming) -> Self {
        Self {
            streaming,
            groups: streaming.groups().clone(),
            ranks: Vec::new(),
            meetings: Meetings::default(),
            collectives: Collectives::new(streaming.members().to_vec()),
            ends: BTreeSet::new(),
            over: VecDeque::new(),
            sends: VecDeque::new(),
            under_way: 0,
            hungry: BTreeSet::new(),
            state: State::New,
            live: Peak::default(),
        }
    }

    /// When [`Self::handle_time`] is to be called though nothing becomes of a message.
    pub fn next_time(&self) -> Option<Time> {
        match self.state {
            State::New => Some(Time::ZERO),
            State::Playing => self.ends.first().map(|&(end, ..)| end),
            State::Done | State::Failed(_) => None,
        }
    }

    /// The time has come that it named.
    pub fn handle_time(&mut self, now: Time) {
        if matches!(self.state, State::New) {
            self.state = State::Playing;
            let begun = self.begin();
            self.settle(now, begun);
            return;
        }
        while let Some(&(end, rank, id)) = self.ends.first() {
            if end > now {
                break;
            }
            self.ends.pop_first();
            self.over.push_back((rank, id));
        }
        self.settle(now, Ok(()));
    }

    /// A message to be sent now.
    pub fn poll_send(&mut self) -> Option<(Ticket, Message)> {
        self.sends.pop_front()
    }

    /// The receiver has all of a message.
    pub fn handle_delivered(&mut self, now: Time, ticket: Ticket) {
        match ticket.0 {
            From::Send { rank, id } => {
                let Some(live) = self.ranks[rank as usize].live.get_mut(&id) else { return };
                live.arrived = true;
                if let (Some(receive), Action::Send { peer, .. }) = (live.receive, live.action) {
                    self.arrive(peer, receive);
                }
            }
            From::Collective { key, message } => {
                let follows = self.collectives.handle_over(key, message, End::Receiver);
                self.follow(key, follows);
            }
        }
        self.settle(now, Ok(()));
    }

    /// The sender knows that the receiver has all of a message.
    pub fn handle_complete(&mut self, now: Time, ticket: Ticket) {
        self.under_way -= 1;
        match ticket.0 {
            From::Send { rank, id } => self.over.push_back((rank, id)),
            From::Collective { key, message } => {
                let follows = self.collectives.handle_over(key, message, End::Sender);
                self.follow(key, follows);
            }
        }
        self.settle(now, Ok(()));
    }

    /// True if every node of every rank is over.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// What stopped it, if something has.
    pub fn fault(&self) -> Option<&ChakraError> {
        match &self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The same, for good.
    pub fn into_fault(self) -> Option<ChakraError> {
        match self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Most nodes that were held at once, of all ranks.
    pub fn most_held(&self) -> u64 {
        self.live.most
    }

    /// Opens the files.
    fn begin(&mut self) -> Result<(), Fault> {
        let (source, ranks) = (self.streaming.source(), self.streaming.ranks());
        for rank in 0..ranks {
            let nodes = open(source, rank).and_then(|from| Nodes::open(from, (rank, ranks)));
            let nodes = nodes.map_err(|placed| (rank, placed))?;
            self.ranks.push(Rank::new(nodes, self.streaming.window()));
            self.hungry.insert(rank);
        }
        Ok(())
    }

    /// Goes on until nothing more happens now.
    fn settle(&mut self, now: Time, so_far: Result<(), Fault>) {
        if !matches!(self.state, State::Playing) {
            return;
        }
        let settled = so_far.and_then(|()| self.go_on(now));
        if let Err((rank, placed)) = settled {
            self.state = State::Failed(placed_in(self.streaming.source(), rank, placed));
            self.sends.clear();
        }
    }

    fn go_on(&mut self, now: Time) -> Result<(), Fault> {
        loop {
            while let Some((rank, id)) = self.over.pop_front() {
                self.end(now, rank, id)?;
            }
            if let Some(rank) = self.hungry.pop_first() {
                self.read_on(now, rank)?;
                continue;
            }
            if self.under_way > 0 || !self.ends.is_empty() {
                return Ok(());
            }
            if self.ranks.iter().all(|rank| rank.nodes.is_none() && rank.live.is_empty()) {
                self.state = State::Done;
                return self.nobody_is_left_alone();
            }
            self.widen()?;
        }
    }

    /// Fills a rank's window.
    fn read_on(&mut self, now: Time, number: u32) -> Result<(), Fault> {
        while self.ranks[number as usize].wants_more() {
            let rank = &mut self.ranks[number as usize];
            let ahead = AHEAD.saturating_mul(self.streaming.window());
            if rank.held() >= ahead {
                let Some((id, on)) = rank.waits_ahead() else { return Ok(()) };
                let fault = ChakraFault::TooFarAhead { on, ahead };
                return Err((number, rank.at(id, fault)));
            }
            let nodes = rank.nodes.as_mut().expect("it wants more");
            let node = nodes.next(self.streaming.options(), &mut self.groups);
            let Some(node) = node.map_err(|placed| (number, placed))? else {
                rank.nodes = None;
                let Some((id, on)) = rank.waits_ahead() else { return Ok(()) };
                let live = &rank.live[&id];
                let wait = live.before.iter().find(|(before, _)| *before == on);
                let dependency = wait.map_or(super::Dependency::Data, |wait| wait.1);
                let fault = ChakraFault::Dangling { on, dependency };
                return Err((number, rank.at(id, fault)));
            };
            let (id, action) = (node.id, node.action);
            let (offset, may_begin) = (node.offset, rank.take(node));
            let may_begin = may_begin.map_err(|placed| (number, placed))?;
            self.live.now += 1;
            self.live.most = self.live.most.max(self.live.now);
            self.introduce((number, id, offset), action)
                .map_err(|fault| (number, (Some(id), Some(offset), fault)))?;
            if may_begin {
                self.begin_node(now, number, id)?;
            }
        }
        Ok(())
    }

    /// A node that has been read finds those of other ranks that belong to it.
    fn introduce(
        &mut self,
        (rank, id, offset): (u32, u64, u64),
        action: Action,
    ) -> Result<(), ChakraFault> {
        match action {
            Action::Delay { .. } => Ok(()),
            Action::Send { peer, .. } if peer == rank => Err(ChakraFault::Itself("comm_dst")),
            Action::Receive { peer, .. } if peer == rank => Err(ChakraFault::Itself("comm_src")),
            Action::Send { peer, tag, bytes } => {
                let send = Send { id, offset, bytes };
                match self.meetings.send((rank, peer, tag), send) {
                    Some(receive) => self.meet((rank, send), (peer, receive)),
                    None => Ok(()),
                }
            }
            Action::Receive { peer, tag, .. } => match self.meetings.receive((peer, rank, tag), id)
            {
                Some(send) => self.meet((peer, send), (rank, id)),
                None => Ok(()),
            },
            Action::Collective(call) => {
                let number = self.collectives.read((rank, id), call, &self.groups)?;
                if let Some(live) = self.ranks[rank as usize].live.get_mut(&id) {
                    live.number = number;
                }
                Ok(())
            }
        }
    }

    /// A send and its receive have both been read.
    fn meet(
        &mut self,
        (from, send): (u32, Send),
        (to, receive): (u32, u64),
    ) -> Result<(), ChakraFault> {
        if let Action::Receive { bytes: Some(here), .. } =
            self.ranks[to as usize].live[&receive].action
            && here != send.bytes
        {
            let (there, peer, node) = (send.bytes, from, send.id);
            return Err(ChakraFault::OtherLength { here, there, peer, node });
        }
        let sender = &mut self.ranks[from as usize];
        let arrived = match sender.live.get_mut(&send.id) {
            Some(live) => {
                live.receive = Some(receive);
                live.arrived
            }
            // It is over: it has arrived long since.
            None => {
                sender.lingering -= 1;
                self.live.now -= 1;
                self.hungry.insert(from);
                true
            }
        };
        if arrived {
            self.arrive(to, receive);
        }
        Ok(())
    }

    /// A receive's message is there.
    fn arrive(&mut self, rank: u32, receive: u64) {
        let Some(live) = self.ranks[rank as usize].live.get_mut(&receive) else { return };
        live.arrived = true;
        if live.stage == Stage::Begun {
            self.over.push_back((rank, receive));
        }
    }

    /// All that a node waits for is over.
    fn begin_node(&mut self, now: Time, number: u32, id: u64) -> Result<(), Fault> {
        let rank = &mut self.ranks[number as usize];
        let live = rank.live.get_mut(&id).expect("it begins");
        live.stage = Stage::Begun;
        let (action, place) = (live.action, live.number);
        match action {
            Action::Delay { span, lane } => {
                if lane.is_none_or(|lane| rank.join(lane, id)) {
                    self.run(now, (number, id), span);
                }
            }
            Action::Receive { .. } if live.arrived => self.over.push_back((number, id)),
            Action::Receive { .. } => {}
            Action::Send { peer, tag, bytes } => {
                let message = Message {
                    src: HostId(number),
                    dst: HostId(peer),
                    bytes: at_least_a_byte(bytes),
                    stream: tag,
                    start: Time::ZERO,
                };
                self.send(From::Send { rank: number, id }, message);
                for receive in self.ranks[number as usize].take_receives(id) {
                    self.release(now, number, receive)?;
                }
            }
            Action::Collective(call) => self.begin_call(now, (number, id), (call, place))?,
        }
        Ok(())
    }

    fn begin_call(
        &mut self,
        now: Time,
        (rank, id): (u32, u64),
        (call, number): (Call, u64),
    ) -> Result<(), Fault> {
        if self.collectives.size(call.group) == 1 {
            self.run(now, (rank, id), call.recorded);
            return Ok(());
        }
        let key = (call.group, number);
        let follows = self.collectives.begin(key, rank, self.algorithms());
        let follows = follows.map_err(|fault| (rank, self.ranks[rank as usize].at(id, fault)))?;
        self.follow(key, follows);
        Ok(())
    }

    fn algorithms(&self) -> &'s Algorithms {
        &self.streaming.options().algorithms
    }

    /// A delay runs.
    fn run(&mut self, now: Time, (rank, id): (u32, u64), span: Span) {
        if span == Span::ZERO {
            self.over.push_back((rank, id));
        } else {
            self.ends.insert((now.saturating_add(span), rank, id));
        }
    }

    fn follow(&mut self, key: collectives::Key, follows: Follows) {
        for (message, what) in follows.sends {
            self.send(From::Collective { key, message }, what);
        }
        self.over.extend(follows.over);
    }

    fn send(&mut self, from: From, message: Message) {
        self.under_way += 1;
        self.sends.push_back((Ticket(from), message));
    }

    /// One of those that a node waits for is over.
    fn release(&mut self, now: Time, rank: u32, id: u64) -> Result<(), Fault> {
        if self.ranks[rank as usize].release(id) {
            self.begin_node(now, rank, id)?;
        }
        Ok(())
    }

    /// A node is over: those that wait for it go on, and it is forgotten.
    fn end(&mut self, now: Time, number: u32, id: u64) -> Result<(), Fault> {
        let rank = &mut self.ranks[number as usize];
        let live = rank.live.remove(&id).expect("over once");
        match live.action {
            // Its receive has not been read.
            Action::Send { .. } if live.receive.is_none() => rank.lingering += 1,
            _ => self.live.now -= 1,
        }
        self.hungry.insert(number);
        for after in live.after {
            self.release(now, number, after)?;
        }
        if let Action::Delay { lane: Some(lane), .. } = live.action {
            let rank = &mut self.ranks[number as usize];
            if let Some(next) = rank.leave(lane)
                && let Action::Delay { span, .. } = rank.live[&next].action
            {
                self.run(now, (number, next), span);
            }
        }
        Ok(())
    }
}
