//! The progress of a replay: nodes are read, started and completed until nothing more happens at
//! the current time.

use super::super::error::{ChakraFault, Dependency, NodeFault, RankFault};

use super::super::groups::Call;
use super::super::node::{MatchKey, NodeAction, NodeReader, ParsedNode};
use super::super::open;
use super::collectives::{self, Effects};
use super::matcher::PendingSend;
use super::rank::{NodeState, Rank};
use super::{AHEAD, MessageOrigin, MessageSource, Player, PlayerState, RankNode};
use crate::collective::Algorithms;
use crate::ids::HostId;
use crate::units::{Span, Time};
use crate::workload::Message;
use crate::workload::graph::at_least_a_byte;

impl<'s> Player<'s> {
    pub(super) fn open_files(&mut self) -> Result<(), RankFault> {
        let (source, ranks) = (self.streaming.source(), self.streaming.ranks());
        for rank in 0..ranks {
            let nodes = open(source, rank).and_then(|from| NodeReader::open(from, rank, ranks));
            let nodes = nodes.map_err(|fault| fault.of_rank(rank))?;
            self.ranks.push(Rank::new(nodes, self.streaming.window()));
            self.to_read.insert(rank);
        }
        Ok(())
    }

    /// Advances until no node can start at `now`; `so_far` is the result of earlier steps.
    pub(super) fn settle(&mut self, now: Time, so_far: Result<(), RankFault>) {
        if !matches!(self.state, PlayerState::Playing) {
            return;
        }
        if let Err(RankFault { rank, fault }) = so_far.and_then(|()| self.advance(now)) {
            let file = self.streaming.source().name(rank);
            self.state = PlayerState::Failed(fault.in_file(file, rank));
            self.sends.clear();
        }
    }

    fn advance(&mut self, now: Time) -> Result<(), RankFault> {
        loop {
            // Completions make room in windows, so they come before reading.
            while let Some(node) = self.completed.pop_front() {
                self.complete(now, node)?;
            }
            if let Some(rank) = self.to_read.pop_first() {
                self.fill_window(now, rank)?;
                continue;
            }
            if self.in_flight > 0 || !self.ends.is_empty() {
                return Ok(());
            }
            if self.ranks.iter().all(|rank| rank.nodes.is_none() && rank.open.is_empty()) {
                self.state = PlayerState::Done;
                return self.check_all_matched();
            }
            // Nothing is in progress, so only nodes further ahead can resolve the stall.
            self.grow_windows()?;
        }
    }

    fn fill_window(&mut self, now: Time, rank_id: u32) -> Result<(), RankFault> {
        while self.ranks[rank_id as usize].wants_more() {
            let rank = &mut self.ranks[rank_id as usize];
            let ahead = AHEAD.saturating_mul(self.streaming.window());
            if rank.held() >= ahead {
                let Some(wait) = rank.first_unread() else { return Ok(()) };
                let fault = ChakraFault::TooFarAhead { on: wait.on, ahead };
                return Err(rank.fault(wait.id, fault).of_rank(rank_id));
            }
            let nodes = rank.nodes.as_mut().expect("it wants more");
            let node = nodes.next(self.streaming.options(), &mut self.groups);
            let Some(node) = node.map_err(|fault| fault.of_rank(rank_id))? else {
                rank.nodes = None;
                return check_dependencies(rank).map_err(|fault| fault.of_rank(rank_id));
            };
            self.add(now, rank_id, node)?;
        }
        Ok(())
    }

    /// Adds a node that has just been read.
    fn add(&mut self, now: Time, rank_id: u32, node: ParsedNode) -> Result<(), RankFault> {
        let (id, offset, action) = (node.id, node.offset, node.action);
        let waited_for = node.dependencies.iter().map(|(on, _)| *on);
        let is_in_time = self.late.is_in_time(now, rank_id, waited_for);
        let may_start = self.ranks[rank_id as usize].add(node);
        let may_start = may_start.map_err(|fault| fault.of_rank(rank_id))?;
        self.held.add();
        let node = RankNode { rank: rank_id, id };
        self.match_peers(node, offset, action)
            .map_err(|fault| NodeFault::of_node(id, offset, fault).of_rank(rank_id))?;
        if !may_start {
            return Ok(());
        }
        // A receive is in time as long as its message has not been delivered.
        let is_open = matches!(action, NodeAction::Receive { .. })
            && !self.ranks[rank_id as usize].open[&id].delivered;
        self.late.count += u64::from(!is_in_time && !is_open);
        self.start(now, node)
    }

    /// Matches a node that has just been read with its counterparts at other ranks.
    fn match_peers(
        &mut self,
        RankNode { rank, id }: RankNode,
        offset: u64,
        action: NodeAction,
    ) -> Result<(), ChakraFault> {
        match action {
            NodeAction::Delay { .. } => Ok(()),
            NodeAction::Send { peer, .. } if peer == rank => Err(ChakraFault::Itself("comm_dst")),
            NodeAction::Receive { peer, .. } if peer == rank => {
                Err(ChakraFault::Itself("comm_src"))
            }
            NodeAction::Send { peer, tag, bytes } => {
                let send = PendingSend { id, offset, bytes };
                let key = MatchKey { src: rank, dst: peer, tag };
                match self.matcher.add_send(key, send) {
                    Some(receive) => self.pair(key, send, receive),
                    None => Ok(()),
                }
            }
            NodeAction::Receive { peer, tag, .. } => {
                let key = MatchKey { src: peer, dst: rank, tag };
                match self.matcher.add_receive(key, id) {
                    Some(send) => self.pair(key, send, id),
                    None => Ok(()),
                }
            }
            NodeAction::Collective(call) => {
                let node = RankNode { rank, id };
                let index = self.collectives.add(node, call, &self.groups)?;
                if let Some(node) = self.ranks[rank as usize].open.get_mut(&id) {
                    node.call_index = index;
                }
                Ok(())
            }
        }
    }

    /// Connects a send with its receive once both have been read.
    fn pair(&mut self, key: MatchKey, send: PendingSend, receive: u64) -> Result<(), ChakraFault> {
        let MatchKey { src, dst, .. } = key;
        if let NodeAction::Receive { bytes: Some(here), .. } =
            self.ranks[dst as usize].open[&receive].action
            && here != send.bytes
        {
            let (there, peer, node) = (send.bytes, src, send.id);
            return Err(ChakraFault::OtherLength { here, there, peer, node });
        }
        let sender = &mut self.ranks[src as usize];
        let delivered = match sender.open.get_mut(&send.id) {
            Some(node) => {
                node.receive = Some(receive);
                node.delivered
            }
            // The send has completed, so its message is delivered; it was held only for this
            // receive.
            None => {
                sender.unreceived_sends -= 1;
                self.held.remove();
                self.to_read.insert(src);
                true
            }
        };
        if delivered {
            self.deliver(RankNode { rank: dst, id: receive });
        }
        Ok(())
    }

    /// Handles the delivery of a receive's message.
    pub(super) fn deliver(&mut self, receive: RankNode) {
        let rank = &mut self.ranks[receive.rank as usize];
        let Some(node) = rank.open.get_mut(&receive.id) else { return };
        node.delivered = true;
        if node.state == NodeState::Started {
            self.completed.push_back(receive);
        }
    }

    /// Starts a node whose dependencies are all complete.
    fn start(&mut self, now: Time, node: RankNode) -> Result<(), RankFault> {
        let RankNode { rank: rank_id, id } = node;
        let rank = &mut self.ranks[rank_id as usize];
        let open = rank.open.get_mut(&id).expect("an open node starts");
        open.state = NodeState::Started;
        let (action, call_index, delivered) = (open.action, open.call_index, open.delivered);
        match action {
            NodeAction::Delay { span, lane } => {
                if lane.is_none_or(|lane| rank.enter_lane(lane, id)) {
                    self.run(now, node, span);
                }
            }
            NodeAction::Receive { .. } if delivered => self.completed.push_back(node),
            NodeAction::Receive { .. } => {}
            NodeAction::Send { peer, tag, bytes } => {
                let message = Message {
                    src: HostId(rank_id),
                    dst: HostId(peer),
                    bytes: at_least_a_byte(bytes),
                    stream: tag,
                    start: Time::ZERO,
                };
                self.send(MessageSource::Send { rank: rank_id, id }, message);
                // Receives that depend on a send are posted when it starts.
                for receive in self.ranks[rank_id as usize].take_receives(id) {
                    self.release(now, RankNode { rank: rank_id, id: receive })?;
                }
            }
            NodeAction::Collective(call) => self.start_call(now, node, call, call_index)?,
        }
        Ok(())
    }

    fn start_call(
        &mut self,
        now: Time,
        node: RankNode,
        call: Call,
        index: u64,
    ) -> Result<(), RankFault> {
        if self.collectives.size(call.group) == 1 {
            self.run(now, node, call.recorded);
            return Ok(());
        }
        let RankNode { rank, id } = node;
        let key = collectives::CollectiveKey { group: call.group, index };
        let effects = self
            .collectives
            .start(key, rank, self.algorithms())
            .map_err(|fault| self.ranks[rank as usize].fault(id, fault).of_rank(rank))?;
        self.apply(key, effects);
        Ok(())
    }

    fn algorithms(&self) -> &'s Algorithms {
        &self.streaming.options().algorithms
    }

    /// Schedules the end of a delay that starts now; a zero-length delay completes immediately.
    fn run(&mut self, now: Time, node: RankNode, span: Span) {
        if span == Span::ZERO {
            self.completed.push_back(node);
        } else {
            self.ends.insert((now.saturating_add(span), node));
        }
    }

    pub(super) fn apply(&mut self, key: collectives::CollectiveKey, effects: Effects) {
        for (message, contents) in effects.sends {
            self.send(MessageSource::Collective { key, message }, contents);
        }
        self.completed.extend(effects.completed);
    }

    fn send(&mut self, origin: MessageSource, message: Message) {
        self.in_flight += 1;
        self.sends.push_back((MessageOrigin(origin), message));
    }

    /// Counts one dependency of a node as met.
    fn release(&mut self, now: Time, node: RankNode) -> Result<(), RankFault> {
        if self.ranks[node.rank as usize].release(node.id) { self.start(now, node) } else { Ok(()) }
    }

    /// Completes a node: releases its dependents and drops the node.
    fn complete(
        &mut self,
        now: Time,
        RankNode { rank: rank_id, id }: RankNode,
    ) -> Result<(), RankFault> {
        self.late.complete(now, RankNode { rank: rank_id, id });
        let rank = &mut self.ranks[rank_id as usize];
        let node = rank.open.remove(&id).expect("a node completes once");
        match node.action {
            // The send is held until its receive is read.
            NodeAction::Send { .. } if node.receive.is_none() => rank.unreceived_sends += 1,
            _ => self.held.remove(),
        }
        self.to_read.insert(rank_id);
        for dependent in node.dependents {
            self.release(now, RankNode { rank: rank_id, id: dependent })?;
        }
        if let NodeAction::Delay { lane: Some(lane), .. } = node.action {
            let rank = &mut self.ranks[rank_id as usize];
            if let Some(next) = rank.leave_lane(lane)
                && let NodeAction::Delay { span, .. } = rank.open[&next].action
            {
                self.run(now, RankNode { rank: rank_id, id: next }, span);
            }
        }
        Ok(())
    }
}

/// Checks, at the end of a file, that every dependency is a node of the file.
fn check_dependencies(rank: &Rank<'_>) -> Result<(), NodeFault> {
    let Some(wait) = rank.first_unread() else { return Ok(()) };
    let dependencies = &rank.open[&wait.id].dependencies;
    let found = dependencies.iter().find(|(on, _)| *on == wait.on);
    let dependency = found.map_or(Dependency::Data, |found| found.1);
    Err(rank.fault(wait.id, ChakraFault::Dangling { on: wait.on, dependency }))
}
