//! Collectives in progress: the dependencies of their messages, and their completion at each
//! member.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::super::assemble::COLLECTIVE_STREAMS;
use super::super::error::ChakraFault;
use super::super::expand::expand;
use super::super::groups::{Call, FirstCall, RankGroups, disagreement};
use super::RankNode;
use crate::collective::Algorithms;
use crate::ids::{HostId, TaskId};
use crate::workload::{Message, Workload};

/// Number of expansions that are cached for later collectives of the same kind.
const KEPT: usize = 8;

/// Identifies one collective among those of all groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CollectiveKey {
    pub group: u32,
    /// Index among the collectives of the group.
    pub index: u64,
}

/// Group, operation and bytes of a collective. Collectives that agree in them have the same
/// messages.
type ExpansionKey = (u32, u8, u64);

/// Collectives that have been read by some rank and are not complete at every member.
pub(super) struct Collectives {
    /// The ranks of each group, in ascending order.
    members: Vec<Vec<u32>>,
    /// Number of collectives read, by group and rank.
    counts: BTreeMap<(u32, u32), u64>,
    open: BTreeMap<CollectiveKey, OpenCollective>,
    /// The most recent expansions, oldest first.
    expansions: VecDeque<(ExpansionKey, Arc<Expansion>)>,
}

struct OpenCollective {
    first: FirstCall,
    /// The node of each member that has read it.
    nodes: Vec<Option<u64>>,
    /// Number of members at which the collective is complete.
    completed: usize,
    /// Progress, or `None` until the first member starts.
    progress: Option<CollectiveProgress>,
}

struct CollectiveProgress {
    expansion: Arc<Expansion>,
    /// Number of unmet dependencies of each message and join.
    waits_for: Vec<u32>,
    /// Per member, the number of its messages that are not complete or delivered, plus one until it
    /// starts.
    remaining: Vec<u32>,
}

/// The messages of a collective, and the initial values of its [`CollectiveProgress`].
struct Expansion {
    workload: Workload,
    waits_for: Vec<u32>,
    remaining: Vec<u32>,
    /// The messages that each member sends.
    sent: Vec<Vec<u32>>,
}

/// The consequences of an event of a collective.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Messages to send, with their indices.
    pub sends: Vec<(u32, Message)>,
    pub completed: Vec<RankNode>,
}

impl Collectives {
    pub(super) fn new(members: Vec<Vec<u32>>) -> Self {
        let (counts, open) = (BTreeMap::new(), BTreeMap::new());
        Self { members, counts, open, expansions: VecDeque::new() }
    }

    /// Returns the number of members of a group.
    pub(super) fn size(&self, group: u32) -> usize {
        self.members.get(group as usize).map_or(0, Vec::len)
    }

    /// Adds a node that has just been read; returns the index of its collective in the group.
    pub(super) fn add(
        &mut self,
        RankNode { rank, id }: RankNode,
        call: Call,
        groups: &RankGroups,
    ) -> Result<u64, ChakraFault> {
        // The survey found all members, so an unknown rank means that the file has changed.
        let member = self.member(call.group, rank).ok_or(ChakraFault::Changed)?;
        let size = self.size(call.group);
        let count = self.counts.entry((call.group, rank)).or_insert(0);
        let key = CollectiveKey { group: call.group, index: *count };
        *count += 1;
        let open = self.open.entry(key).or_insert_with(|| OpenCollective {
            first: FirstCall { call, rank, node: id },
            nodes: vec![None; size],
            completed: 0,
            progress: None,
        });
        if let Some(fault) = disagreement(call, open.first, groups) {
            return Err(fault);
        }
        open.nodes[member] = Some(id);
        Ok(key.index)
    }

    /// Returns the index of a rank in its group.
    fn member(&self, group: u32, rank: u32) -> Option<usize> {
        self.members.get(group as usize)?.binary_search(&rank).ok()
    }

    /// Starts the collective at a rank.
    pub(super) fn start(
        &mut self,
        key: CollectiveKey,
        rank: u32,
        algorithms: &Algorithms,
    ) -> Result<Effects, ChakraFault> {
        if self.open[&key].progress.is_none() {
            let call = self.open[&key].first.call;
            let expansion = self.expansion(call, algorithms)?;
            let (waits_for, remaining) = (expansion.waits_for.clone(), expansion.remaining.clone());
            let open = self.open.get_mut(&key).expect("it is open");
            open.progress = Some(CollectiveProgress { expansion, waits_for, remaining });
        }
        let member = self.member(key.group, rank).ok_or(ChakraFault::Changed)?;
        let mut effects = Effects::default();
        let progress = self.progress(key);
        let expansion = progress.expansion.clone();
        for &message in &expansion.sent[member] {
            progress.release(TaskId(message), &mut effects);
        }
        self.finish_one(key, member, rank, &mut effects);
        Ok(effects)
    }

    /// Handles the completion of a message at its sender, or its delivery to its receiver.
    pub(super) fn handle_message(
        &mut self,
        key: CollectiveKey,
        message: u32,
        end: MessageEnd,
    ) -> Effects {
        let mut effects = Effects::default();
        let progress = self.progress(key);
        let expansion = progress.expansion.clone();
        let Message { src, dst, .. } = expansion.workload.messages[message as usize];
        let host = if end == MessageEnd::Receiver { dst } else { src };
        for &dependent in expansion.workload.dependents_of(TaskId(message)) {
            if expansion.workload.host_of(dependent) == host {
                progress.release(dependent, &mut effects);
            }
        }
        let member = self.member(key.group, host.0).expect("members exchange the messages");
        self.finish_one(key, member, host.0, &mut effects);
        effects
    }

    /// Counts one event of member `member`, rank `rank`; completes its node after the last one.
    fn finish_one(&mut self, key: CollectiveKey, member: usize, rank: u32, effects: &mut Effects) {
        let open = self.open.get_mut(&key).expect("it is open");
        let progress = open.progress.as_mut().expect("it has started");
        progress.remaining[member] -= 1;
        if progress.remaining[member] > 0 {
            return;
        }
        open.completed += 1;
        let id = open.nodes[member].expect("it has started");
        effects.completed.push(RankNode { rank, id });
        if open.completed == open.nodes.len() {
            self.open.remove(&key);
        }
    }

    fn progress(&mut self, key: CollectiveKey) -> &mut CollectiveProgress {
        let open = self.open.get_mut(&key).expect("it is open");
        open.progress.as_mut().expect("it has started")
    }

    fn expansion(
        &mut self,
        call: Call,
        algorithms: &Algorithms,
    ) -> Result<Arc<Expansion>, ChakraFault> {
        let kind = (call.group, call.operation, call.bytes);
        if let Some((_, expansion)) = self.expansions.iter().find(|(known, _)| *known == kind) {
            return Ok(expansion.clone());
        }
        let ranks = &self.members[call.group as usize];
        let hosts: Vec<HostId> = ranks.iter().copied().map(HostId).collect();
        let workload = expand(call.operation, call.bytes, &hosts, algorithms)
            .map_err(|error| ChakraFault::Collective(Box::new(error)))?;
        let expansion = Arc::new(Expansion::new(workload, &hosts, call.group));
        self.expansions.push_back((kind, expansion.clone()));
        if self.expansions.len() > KEPT {
            self.expansions.pop_front();
        }
        Ok(expansion)
    }
}

/// An end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageEnd {
    Sender,
    Receiver,
}

impl CollectiveProgress {
    /// Counts one dependency of `task` as met.
    fn release(&mut self, task: TaskId, effects: &mut Effects) {
        let expansion = self.expansion.clone();
        let mut tasks = vec![task];
        while let Some(task) = tasks.pop() {
            let waits_for = &mut self.waits_for[task.index()];
            *waits_for -= 1;
            if *waits_for > 0 {
                continue;
            }
            match expansion.workload.messages.get(task.index()) {
                Some(message) => effects.sends.push((task.0, *message)),
                // Joins take no time, so they release their dependents immediately.
                None => tasks.extend(expansion.workload.dependents_of(task).iter().rev()),
            }
        }
    }
}

impl Expansion {
    fn new(mut workload: Workload, hosts: &[HostId], group: u32) -> Self {
        let tasks = workload.messages.len() + workload.delays.len();
        let mut waits_for = workload.waits_for.clone();
        waits_for.resize(tasks, 0);
        let mut remaining = vec![1; hosts.len()];
        let mut sent = vec![Vec::new(); hosts.len()];
        let member = |host: HostId| hosts.binary_search(&host).expect("ranks ascend");
        for (message, index) in workload.messages.iter_mut().zip(0u32..) {
            message.stream = COLLECTIVE_STREAMS | group;
            // Every message also depends on the start of its sender's node.
            waits_for[index as usize] += 1;
            remaining[member(message.src)] += 1;
            remaining[member(message.dst)] += 1;
            sent[member(message.src)].push(index);
        }
        Self { workload, waits_for, remaining, sent }
    }
}
