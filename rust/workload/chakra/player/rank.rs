//! A rank on its way through its trace: the nodes that have been read and are not over.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use super::super::error::{ChakraFault, Dependency};
use super::super::id_set::IdSet;
use super::super::node::{Action, Nodes, Placed, Read};
use crate::workload::Lane;

/// A rank.
pub(super) struct Rank<'s> {
    /// What is left of its file; `None` at the end of it.
    pub nodes: Option<Nodes<Box<dyn BufRead + 's>>>,
    /// Nodes that have been read and are not over, by id.
    pub live: BTreeMap<u64, Live>,
    /// Every id that has been read.
    read: IdSet,
    /// Ids that have not been read, and who waits for them.
    awaited: BTreeMap<u64, Vec<u64>>,
    /// Sends that are over and whose receives have not been read.
    pub lingering: usize,
    /// So many nodes are held, if there are as many.
    pub window: usize,
    /// Nodes read so far.
    places: u64,
    /// Lanes that are busy, and whose turn is next: place and id.
    lanes: BTreeMap<Lane, BTreeSet<(u64, u64)>>,
}

/// A node that is not over.
#[derive(Debug)]
pub(super) struct Live {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its place in the file.
    pub place: u64,
    pub action: Action,
    pub stage: Stage,
    /// How many it waits for.
    waits: u32,
    /// What it waited for when it was read.
    pub before: Vec<(u64, Dependency)>,
    /// Who waits for it.
    pub after: Vec<u64>,
    /// A send or a receive: the message is there.
    pub arrived: bool,
    /// A send: its receive, once that has been read.
    pub receive: Option<u64>,
    /// A collective: which one of its group.
    pub number: u64,
}

/// How far a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    Begun,
}

impl<'s> Rank<'s> {
    pub fn new(nodes: Nodes<Box<dyn BufRead + 's>>, window: usize) -> Self {
        Self {
            nodes: Some(nodes),
            live: BTreeMap::new(),
            read: IdSet::default(),
            awaited: BTreeMap::new(),
            lingering: 0,
            window,
            places: 0,
            lanes: BTreeMap::new(),
        }
    }

    /// Nodes that take memory.
    pub fn held(&self) -> usize {
        self.live.len() + self.lingering
    }

    /// Whether it should read on: it holds less than its window, or waits for what has not been
    /// read.
    pub fn wants_more(&self) -> bool {
        self.nodes.is_some() && (self.held() < self.window || !self.awaited.is_empty())
    }

    /// Somebody who waits for what has not been read, and what that is.
    pub fn waits_ahead(&self) -> Option<(u64, u64)> {
        self.awaited.iter().next().map(|(&on, by)| (by[0], on))
    }

    /// Takes in a node that was read; true if it may begin.
    pub fn take(&mut self, node: Read) -> Result<bool, Placed> {
        if !self.read.insert(node.id) {
            let first = self.live.get(&node.id).map(|live| live.offset);
            return Err(node.at(ChakraFault::SameId { first }));
        }
        let id = node.id;
        let mut before = node.waits.clone();
        before.sort_by_key(|&(on, _)| on);
        before.dedup_by_key(|&mut (on, _)| on);
        let receives = matches!(node.action, Action::Receive { .. });
        let mut waits = 0;
        for &(on, dependency) in &before {
            if on == id {
                return Err(node.at(ChakraFault::Cyclic { by: on, dependency }));
            }
            if let Some(live) = self.live.get_mut(&on) {
                // Posted when the send begins.
                if !(receives && live.is_send_under_way()) {
                    live.after.push(id);
                    waits += 1;
                }
            } else if !self.read.contains(on) {
                self.awaited.entry(on).or_default().push(id);
                waits += 1;
            }
        }
        let live = Live {
            offset: node.offset,
            place: self.places,
            action: node.action,
            stage: Stage::Waiting,
            waits,
            before,
            after: self.awaited.remove(&id).unwrap_or_default(),
            arrived: false,
            receive: None,
            number: 0,
        };
        self.places += 1;
        self.live.insert(id, live);
        Ok(waits == 0)
    }

    /// One of those that `id` waits for is over, or has begun; true if it waits no more.
    pub fn release(&mut self, id: u64) -> bool {
        let live = self.live.get_mut(&id).expect("who waits is not over");
        live.waits -= 1;
        live.waits == 0
    }

    /// Those that wait for a send to begin, and no longer for its end.
    pub fn take_receives(&mut self, send: u64) -> Vec<u64> {
        let Some(live) = self.live.get_mut(&send) else { return Vec::new() };
        let after = std::mem::take(&mut live.after);
        let receives = |id: &u64| matches!(self.live[id].action, Action::Receive { .. });
        let (receives, others): (Vec<u64>, Vec<u64>) = after.into_iter().partition(receives);
        if let Some(live) = self.live.get_mut(&send) {
            live.after = others;
        }
        receives
    }

    /// A node of a lane waits for its turn; true if it is that.
    pub fn join(&mut self, lane: Lane, id: u64) -> bool {
        let place = self.live[&id].place;
        if let Some(ready) = self.lanes.get_mut(&lane) {
            ready.insert((place, id));
            return false;
        }
        self.lanes.insert(lane, BTreeSet::new());
        true
    }

    /// The node that a lane was busy with is over; the next one.
    pub fn leave(&mut self, lane: Lane) -> Option<u64> {
        let next = self.lanes.get_mut(&lane)?.pop_first();
        if next.is_none() {
            self.lanes.remove(&lane);
        }
        next.map(|(_, id)| id)
    }

    /// A fault of a node that is not over.
    pub fn at(&self, id: u64, fault: ChakraFault) -> Placed {
        (Some(id), self.live.get(&id).map(|live| live.offset), fault)
    }
}

impl Live {
    fn is_send_under_way(&self) -> bool {
        matches!(self.action, Action::Send { .. }) && self.stage == Stage::Begun
    }
}
