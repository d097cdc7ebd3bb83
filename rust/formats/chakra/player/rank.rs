//! The state of a rank during a replay: the nodes that have been read and are not complete.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use super::super::error::{ChakraFault, Dependency, NodeFault};
use super::super::id_set::IdSet;
use super::super::node::{NodeAction, NodeReader, ParsedNode};
use crate::workload::Lane;

/// The state of a rank whose trace is read during the run.
pub(super) struct Rank<'s> {
    /// The remaining file; `None` at its end.
    pub nodes: Option<NodeReader<Box<dyn BufRead + 's>>>,
    /// Nodes that have been read and are not complete, by id.
    pub open: BTreeMap<u64, OpenNode>,
    /// Ids of all nodes read so far.
    read: IdSet,
    /// Dependents of each id that has not been read yet.
    unread: BTreeMap<u64, Vec<u64>>,
    /// Number of completed sends whose receives have not been read yet.
    pub unreceived_sends: usize,
    /// Target number of nodes in memory.
    pub window: usize,
    /// Number of nodes read so far.
    read_count: u64,
    /// Busy lanes with the nodes that are ready for them: index in the file, and id.
    lanes: BTreeMap<Lane, BTreeSet<(u64, u64)>>,
}

/// A node that has been read and is not complete.
#[derive(Debug)]
pub(super) struct OpenNode {
    /// Offset in the file.
    pub offset: u64,
    /// Index in the file.
    pub index: u64,
    pub action: NodeAction,
    pub state: NodeState,
    /// Number of dependencies that are not met.
    waits_for: u32,
    /// Dependencies of the node, by id.
    pub dependencies: Vec<(u64, Dependency)>,
    /// Ids of the nodes that depend on it.
    pub dependents: Vec<u64>,
    /// For a send or a receive, true if the message has been delivered.
    pub delivered: bool,
    /// For a send, its receive once that has been read.
    pub receive: Option<u64>,
    /// For a collective, its index among those of the group.
    pub call_index: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeState {
    Waiting,
    Started,
}

/// A node that depends on one that has not been read yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnreadDependency {
    pub id: u64,
    /// The node that has not been read yet.
    pub on: u64,
}

impl<'s> Rank<'s> {
    pub(super) fn new(nodes: NodeReader<Box<dyn BufRead + 's>>, window: usize) -> Self {
        Self {
            nodes: Some(nodes),
            open: BTreeMap::new(),
            read: IdSet::default(),
            unread: BTreeMap::new(),
            unreceived_sends: 0,
            window,
            read_count: 0,
            lanes: BTreeMap::new(),
        }
    }

    /// Returns the number of nodes in memory.
    pub(super) fn held(&self) -> usize {
        self.open.len() + self.unreceived_sends
    }

    /// True if more nodes should be read: the window is not full, or a node depends on one that has
    /// not been read yet.
    pub(super) fn wants_more(&self) -> bool {
        self.nodes.is_some() && (self.held() < self.window || !self.unread.is_empty())
    }

    /// Returns the first dependency on a node that has not been read yet.
    pub(super) fn first_unread(&self) -> Option<UnreadDependency> {
        self.unread.iter().next().map(|(&on, by)| UnreadDependency { id: by[0], on })
    }

    /// Adds a node that has just been read; returns whether it may start.
    pub(super) fn add(&mut self, node: ParsedNode) -> Result<bool, NodeFault> {
        if !self.read.insert(node.id) {
            let first = self.open.get(&node.id).map(|first| first.offset);
            return Err(node.fault(ChakraFault::SameId { first }));
        }
        let id = node.id;
        let mut dependencies = node.dependencies.clone();
        dependencies.sort_by_key(|&(on, _)| on);
        dependencies.dedup_by_key(|&mut (on, _)| on);
        let receives = matches!(node.action, NodeAction::Receive { .. });
        let mut waits_for = 0;
        for &(on, dependency) in &dependencies {
            if on == id {
                return Err(node.fault(ChakraFault::Cyclic { by: on, dependency }));
            }
            if let Some(open) = self.open.get_mut(&on) {
                // A receive that depends on a send is posted when the send starts.
                if !(receives && open.is_started_send()) {
                    open.dependents.push(id);
                    waits_for += 1;
                }
            } else if !self.read.contains(on) {
                self.unread.entry(on).or_default().push(id);
                waits_for += 1;
            }
        }
        let open = OpenNode {
            offset: node.offset,
            index: self.read_count,
            action: node.action,
            state: NodeState::Waiting,
            waits_for,
            dependencies,
            dependents: self.unread.remove(&id).unwrap_or_default(),
            delivered: false,
            receive: None,
            call_index: 0,
        };
        self.read_count += 1;
        self.open.insert(id, open);
        Ok(waits_for == 0)
    }

    /// Counts one dependency of `id` as met; returns whether all of them are.
    pub(super) fn release(&mut self, id: u64) -> bool {
        let node = self.open.get_mut(&id).expect("a node that waits is open");
        node.waits_for -= 1;
        node.waits_for == 0
    }

    /// Removes and returns the receives among the dependents of a send: they wait for its start,
    /// not for its completion.
    pub(super) fn take_receives(&mut self, send: u64) -> Vec<u64> {
        let Some(node) = self.open.get_mut(&send) else { return Vec::new() };
        let dependents = std::mem::take(&mut node.dependents);
        let receives = |id: &u64| matches!(self.open[id].action, NodeAction::Receive { .. });
        let (receives, others): (Vec<u64>, Vec<u64>) = dependents.into_iter().partition(receives);
        if let Some(node) = self.open.get_mut(&send) {
            node.dependents = others;
        }
        receives
    }

    /// Queues a ready node for a lane; returns true if it may run immediately. Otherwise it runs in
    /// the order of the file.
    pub(super) fn enter_lane(&mut self, lane: Lane, id: u64) -> bool {
        let index = self.open[&id].index;
        if let Some(ready) = self.lanes.get_mut(&lane) {
            ready.insert((index, id));
            return false;
        }
        self.lanes.insert(lane, BTreeSet::new());
        true
    }

    /// Frees a lane whose node has completed; returns the node that runs next.
    pub(super) fn leave_lane(&mut self, lane: Lane) -> Option<u64> {
        let next = self.lanes.get_mut(&lane)?.pop_first();
        if next.is_none() {
            self.lanes.remove(&lane);
        }
        next.map(|(_, id)| id)
    }

    /// Attaches the position of an open node to an error.
    pub(super) fn fault(&self, id: u64, fault: ChakraFault) -> NodeFault {
        NodeFault { node: Some(id), offset: self.open.get(&id).map(|node| node.offset), fault }
    }
}

impl OpenNode {
    fn is_started_send(&self) -> bool {
        matches!(self.action, NodeAction::Send { .. }) && self.state == NodeState::Started
    }
}
