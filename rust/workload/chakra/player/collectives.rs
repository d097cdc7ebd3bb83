//! Collectives under way: what each message of them waits for, and when they are over for whom.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::super::error::ChakraFault;
use super::super::expand::{Algorithms, expand};
use super::super::assemble::{COLLECTIVE_STREAMS, disagreement};
use super::super::node::{Call, Groups};
use crate::ids::{HostId, MessageId};
use crate::workload::{Message, Workload};

/// So many layouts are kept for the next collective of the same kind.
const KEPT: usize = 8;

/// Which collective: its group, and which of the group's, from 0.
pub(super) type Key = (u32, u64);

/// All that have been read by somebody and are not over for everybody.
pub(super) struct Collectives {
    /// By group, its ranks in order.
    members: Vec<Vec<u32>>,
    /// How many each rank has read, by group and rank.
    numbers: BTreeMap<(u32, u32), u64>,
    open: BTreeMap<Key, Open>,
    /// The last layouts, by group, operation and bytes, the oldest first.
    layouts: VecDeque<((u32, u8, u64), Arc<Layout>)>,
}

struct Open {
    call: Call,
    /// Rank and node that were read first.
    first: (u32, u64),
    /// The node of each member that has been read.
    nodes: Vec<Option<u64>>,
    /// Members for which it is over.
    over: usize,
    under_way: Option<UnderWay>,
}

struct UnderWay {
    layout: Arc<Layout>,
    /// How many each message and each join waits for still.
    waits: Vec<u32>,
    /// How many messages each member has still to send or to get, and one until it has begun.
    left: Vec<u32>,
}

/// The messages of a collective.
struct Layout {
    workload: Workload,
    waits: Vec<u32>,
    left: Vec<u32>,
    /// By member, the messages that it sends.
    sent: Vec<Vec<u32>>,
}

/// What follows from something that happened.
#[derive(Debug, Default)]
pub(super) struct Follows {
    /// Messages to be sent, with their numbers.
    pub sends: Vec<(u32, Message)>,
    /// Nodes that are over, with their ranks.
    pub over: Vec<(u32, u64)>,
}

impl Collectives {
    pub fn new(members: Vec<Vec<u32>>) -> Self {
        Self { members, numbers: BTreeMap::new(), open: BTreeMap::new(), layouts: VecDeque::new() }
    }

    /// How many take part.
    pub fn size(&self, group: u32) -> usize {
        self.members.get(group as usize).map_or(0, Vec::len)
    }

    /// A rank's node has been read; which of its group's it is.
    pub fn read(
        &mut self,
        (rank, id): (u32, u64),
        call: Call,
        groups: &Groups,
    ) -> Result<u64, ChakraFault> {
        let place = self.place(call.group, rank).ok_or(ChakraFault::Changed)?;
        let size = self.size(call.group);
        let number = self.numbers.entry((call.group, rank)).or_insert(0);
        let key = (call.group, *number);
        *number += 1;
        let open = self.open.entry(key).or_insert_with(|| Open {
            call,
            first: (rank, id),
            nodes: vec![None; size],
            over: 0,
            under_way: None,
        });
        if let Some(fault) = disagreement(call, (open.call, open.first), groups) {
            return Err(fault);
        }
        open.nodes[place] = Some(id);
        Ok(key.1)
    }

    fn place(&self, group: u32, rank: u32) -> Option<usize> {
        self.members.get(group as usize)?.binary_search(&rank).ok()
    }

    /// It begins for a rank.
    pub fn begin(
        &mut self,
        key: Key,
        rank: u32,
        algorithms: &Algorithms,
    ) -> Result<Follows, ChakraFault> {
        let call = self.open[&key].call;
        if self.open[&key].under_way.is_none() {
            let layout = self.layout(call, algorithms)?;
            let (waits, left) = (layout.waits.clone(), layout.left.clone());
            let open = self.open.get_mut(&key).expect("it was read");
            open.under_way = Some(UnderWay { layout, waits, left });
        }
        let place = self.place(key.0, rank).ok_or(ChakraFault::Changed)?;
        let mut follows = Follows::default();
        let under_way = self.under_way(key);
        let layout = under_way.layout.clone();
        for &message in &layout.sent[place] {
            under_way.release(MessageId(message), &mut follows);
        }
        self.end_one(key, place, rank, &mut follows);
        Ok(follows)
    }

    /// A message is over for one of its ends.
    pub fn handle_over(&mut self, key: Key, message: u32, end: End) -> Follows {
        let mut follows = Follows::default();
        let under_way = self.under_way(key);
        let layout = under_way.layout.clone();
        let Message { src, dst, .. } = layout.workload.messages[message as usize];
        let host = if end == End::Receiver { dst } else { src };
        for &after in layout.workload.dependents_of(MessageId(message)) {
            if layout.workload.host_of(after) == host {
                under_way.release(after, &mut follows);
            }
        }
        let place = self.place(key.0, host.0).expect("its messages are among its members");
        self.end_one(key, place, host.0, &mut follows);
        follows
    }

    /// One less that the member at `place`, a rank, has to wait for.
    fn end_one(&mut self, key: Key, place: usize, rank: u32, follows: &mut Follows) {
        let open = self.open.get_mut(&key).expect("it is open");
        let under_way = open.under_way.as_mut().expect("it has begun");
        under_way.left[place] -= 1;
        if under_way.left[place] > 0 {
            return;
        }
        open.over += 1;
        follows.over.push((rank, open.nodes[place].expect("it has begun")));
        if open.over == open.nodes.len() {
            self.open.remove(&key);
        }
    }

    fn under_way(&mut self, key: Key) -> &mut UnderWay {
        let open = self.open.get_mut(&key).expect("it is open");
        open.under_way.as_mut().expect("it has begun")
    }

    fn layout(&mut self, call: Call, algorithms: &Algorithms) -> Result<Arc<Layout>, ChakraFault> {
        let kind = (call.group, call.operation, call.bytes);
        if let Some((_, layout)) = self.layouts.iter().find(|(known, _)| *known == kind) {
            return Ok(layout.clone());
        }
        let ranks = &self.members[call.group as usize];
        let hosts: Vec<HostId> = ranks.iter().copied().map(HostId).collect();
        let workload = expand((call.operation, call.bytes), &hosts, algorithms)
            .map_err(|error| ChakraFault::Collective(Box::new(error)))?;
        let layout = Arc::new(Layout::new(workload, (&hosts, call.group)));
        self.layouts.push_back((kind, layout.clone()));
        if self.layouts.len() > KEPT {
            self.layouts.pop_front();
        }
        Ok(layout)
    }
}

/// An end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Sender,
    Receiver,
}

impl UnderWay {
    /// One of those that `task` waits for is over.
    fn release(&mut self, task: MessageId, follows: &mut Follows) {
        let layout = self.layout.clone();
        let mut tasks = vec![task];
        while let Some(task) = tasks.pop() {
            let waits = &mut self.waits[task.index()];
            *waits -= 1;
            if *waits > 0 {
                continue;
            }
            match layout.workload.messages.get(task.index()) {
                Some(message) => follows.sends.push((task.0, *message)),
                // Joins take no time.
                None => tasks.extend(layout.workload.dependents_of(task).iter().rev()),
            }
        }
    }
}

impl Layout {
    fn new(mut workload: Workload, (hosts, group): (&[HostId], u32)) -> Self {
        let tasks = workload.messages.len() + workload.delays.len();
        let mut waits = workload.waits_for.clone();
        waits.resize(tasks, 0);
        let mut left = vec![1; hosts.len()];
        let mut sent = vec![Vec::new(); hosts.len()];
        let place = |host: HostId| hosts.binary_search(&host).expect("ranks ascend");
        for (message, number) in workload.messages.iter_mut().zip(0u32..) {
            message.stream = COLLECTIVE_STREAMS | group;
            // It waits for its sender to begin.
            waits[number as usize] += 1;
            left[place(message.src)] += 1;
            left[place(message.dst)] += 1;
            sent[place(message.src)].push(number);
        }
        Self { workload, waits, left, sent }
    }
}
