//! Stalls of a replay: grows the windows, or finds the error.

use std::collections::{BTreeMap, BTreeSet};

use super::super::error::{ChakraFault, Dependency, NodeFault, RankFault};
use super::super::node::MatchKey;
use super::matcher::Unmatched;
use super::rank::{NodeState, Rank};
use super::{AHEAD, Player};

impl Player<'_> {
    /// Doubles the windows of ranks with unread nodes. Called when nothing is in progress and no
    /// node can start; fails with the cause of the stall if no window can grow.
    pub(super) fn grow_windows(&mut self) -> Result<(), RankFault> {
        let limit = AHEAD.saturating_mul(self.streaming.window());
        let mut grown = false;
        for (id, rank) in (0u32..).zip(&mut self.ranks) {
            if rank.nodes.is_some() && rank.window < limit {
                rank.window = rank.window.saturating_mul(2).min(limit);
                self.to_read.insert(id);
                grown = true;
            }
        }
        if grown { Ok(()) } else { Err(self.stall_fault(limit)) }
    }

    /// Checks, once every node is complete, that every send has a receive.
    pub(super) fn check_all_matched(&self) -> Result<(), RankFault> {
        self.unmatched().map_or(Ok(()), Err)
    }

    fn stall_fault(&self, limit: usize) -> RankFault {
        let ranks = || (0u32..).zip(&self.ranks);
        let cycle = ranks().find_map(|(id, rank)| Some((id, rank, find_cycle(rank)?)));
        if let Some((id, rank, edge)) = cycle {
            let fault = ChakraFault::Cyclic { by: edge.on, dependency: edge.dependency };
            return rank.fault(edge.node, fault).of_rank(id);
        }
        let first = |rank: &Rank<'_>| {
            rank.open.iter().min_by_key(|(_, node)| node.index).map(|(&id, _)| id)
        };
        if let Some((id, rank)) = ranks().find(|(_, rank)| rank.nodes.is_some()) {
            let fault = ChakraFault::OutOfReach { ahead: limit };
            // A rank that holds only completed sends has no open node.
            let fault = match first(rank) {
                Some(node) => rank.fault(node, fault),
                None => NodeFault::of_file(fault),
            };
            return fault.of_rank(id);
        }
        if let Some(unmatched) = self.unmatched() {
            return unmatched;
        }
        let open = ranks().find_map(|(id, rank)| Some((id, rank, first(rank)?)));
        let (id, rank, node) = open.expect("a stalled replay has open nodes");
        rank.fault(node, ChakraFault::Deadlock).of_rank(id)
    }

    /// Returns the error for the first send or receive without a counterpart.
    fn unmatched(&self) -> Option<RankFault> {
        let (MatchKey { src, dst, tag }, node) = self.matcher.first_unmatched()?;
        Some(match node {
            Unmatched::Send(send) => {
                let (this, other, peer) = ("send", "receive", dst);
                let fault = ChakraFault::Unmatched { this, other, peer, tag };
                NodeFault::of_node(send.id, send.offset, fault).of_rank(src)
            }
            Unmatched::Receive(id) => {
                let (this, other, peer) = ("receive", "send", src);
                let fault = ChakraFault::Unmatched { this, other, peer, tag };
                self.ranks[dst as usize].fault(id, fault).of_rank(dst)
            }
        })
    }
}

/// A dependency on a cycle.
struct CycleEdge {
    node: u64,
    /// The node that it depends on.
    on: u64,
    dependency: Dependency,
}

/// A node on the current path of the depth-first search.
struct StallFrame {
    node: u64,
    dependencies: Vec<(u64, Dependency)>,
    /// Number of dependencies already searched.
    searched: usize,
}

impl StallFrame {
    fn new(rank: &Rank<'_>, node: u64) -> Self {
        let open = &rank.open[&node];
        // A started node has no open dependencies.
        let waits = open.state == NodeState::Waiting;
        let is_open = |(on, _): &&(u64, Dependency)| waits && rank.open.contains_key(on);
        let dependencies = open.dependencies.iter().filter(is_open).copied().collect();
        Self { node, dependencies, searched: 0 }
    }

    /// Returns the dependency that is being searched.
    fn edge(&self) -> CycleEdge {
        let (on, dependency) = self.dependencies[self.searched - 1];
        CycleEdge { node: self.node, on, dependency }
    }
}

/// Finds a dependency cycle within the rank and returns one edge, preferably a control dependency.
fn find_cycle(rank: &Rank<'_>) -> Option<CycleEdge> {
    let mut finished: BTreeSet<u64> = BTreeSet::new();
    // In order of the file, so that errors agree with those for a trace that is read as a whole.
    let in_order: BTreeMap<u64, u64> = rank.open.iter().map(|(&id, it)| (it.index, id)).collect();
    for &start in in_order.values() {
        let mut path: Vec<StallFrame> = Vec::new();
        let mut on_path: BTreeSet<u64> = BTreeSet::new();
        if !finished.contains(&start) {
            path.push(StallFrame::new(rank, start));
            on_path.insert(start);
        }
        while let Some(frame) = path.last_mut() {
            let Some(&(on, _)) = frame.dependencies.get(frame.searched) else {
                finished.insert(frame.node);
                on_path.remove(&frame.node);
                path.pop();
                continue;
            };
            frame.searched += 1;
            if on_path.contains(&on) {
                let first = path.iter().position(|frame| frame.node == on).unwrap_or(0);
                let edges = || path[first..].iter().map(StallFrame::edge);
                let control = edges().find(|edge| edge.dependency == Dependency::Control);
                return control.or_else(|| edges().next_back());
            }
            if !finished.contains(&on) {
                on_path.insert(on);
                path.push(StallFrame::new(rank, on));
            }
        }
    }
    None
}
