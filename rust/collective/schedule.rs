//! From the sends of an algorithm to messages that wait for each other.
//!
//! An algorithm says, step by step, which rank sends which blocks of its vector to whom, and
//! whether they are added to what is there or stored. What a send waits for follows: for every
//! message of an earlier step that brought one of its blocks. So an algorithm cannot forget a
//! dependency, nor wait for more than its data.

use std::collections::BTreeMap;

use super::Plan;
use crate::ids::MessageId;
use crate::units::{Bytes, Span, Time};
use crate::workload::{Delay, Message, Workload};

/// What becomes of blocks that arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// They are added to what the receiver has.
    Add,
    /// They take its place.
    Store,
    /// They take its place, and the receiver never sends them on.
    Keep,
}

/// One send of an algorithm.
#[derive(Debug, Clone)]
pub(super) struct Send {
    /// Sends of one step wait for none of each other.
    pub step: u32,
    pub from: usize,
    pub to: usize,
    pub how: How,
}

/// A message or a join, while it is not known how many messages there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Message(MessageId),
    Join(usize),
}

/// What a message waited for: if the next one of the same rank waits for the same, they share it.
#[derive(Debug, Default)]
struct Before {
    rank: usize,
    waits: Vec<MessageId>,
    join: Option<usize>,
}

/// Messages in the making: those of all channels and chunks of a collective.
#[derive(Debug)]
pub(super) struct Schedule<'a> {
    plan: &'a Plan,
    part: Part,
    /// Lengths of the blocks of this part.
    blocks: Vec<Bytes>,
    /// What brought a block to a rank, with the step of each: those that a send of it waits for.
    brought: BTreeMap<(usize, usize), Vec<(u32, MessageId)>>,
    messages: Vec<Message>,
    /// Ends of what several messages wait for alike: delays of no length, so that the messages
    /// wait for one each.
    joins: Vec<Delay>,
    dependencies: Vec<(Task, Task)>,
    /// What the message at hand waits for, and what the one before it waited for.
    waits: Vec<MessageId>,
    before: Before,
    /// What each rank sent last, where its sends take turns.
    last: BTreeMap<usize, MessageId>,
    /// What each message carries, for the test that runs the reduction.
    #[cfg(test)]
    pub record: Vec<machine::Carried>,
}

/// The part of the vector that is under way: of a channel, a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub channel: u32,
    pub chunk: u32,
    pub bytes: Bytes,
}

impl<'a> Schedule<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            part: Part { channel: 0, chunk: 0, bytes: plan.bytes },
            blocks: Vec::new(),
            brought: BTreeMap::new(),
            messages: Vec::new(),
            joins: Vec::new(),
            dependencies: Vec::new(),
            waits: Vec::new(),
            before: Before::default(),
            last: BTreeMap::new(),
            #[cfg(test)]
            record: Vec::new(),
        }
    }

    /// Goes on with another part; its blocks are not cut yet.
    pub fn begin(&mut self, part: Part) {
        self.part = part;
        self.blocks.clear();
        self.brought.clear();
        self.last.clear();
    }

    /// How many take part.
    pub fn ranks(&self) -> usize {
        self.plan.ranks.len()
    }

    /// The plan, whose bytes are those of all parts.
    pub fn plan(&self) -> &Plan {
        self.plan
    }

    /// Cuts this part of the vector into `count` equal blocks; the bytes that are left over go
    /// one each to the first ones.
    pub fn cut(&mut self, count: usize) {
        self.blocks = equal_blocks(self.part.bytes, count);
    }

    /// Each rank has `sets` times the same blocks, one after the other.
    pub fn repeat(&mut self, sets: usize) {
        self.blocks = self.blocks.repeat(sets);
    }

    /// One message with these blocks, in ascending order; none if they are empty.
    pub fn send(&mut self, send: &Send, blocks: impl Iterator<Item = usize> + Clone) {
        let bytes: u64 = blocks.clone().map(|block| self.blocks[block].get()).sum();
        if bytes == 0 {
            return;
        }
        let id = MessageId(u32::try_from(self.messages.len()).expect("2^28 messages at most"));
        self.wait_for(send, blocks.clone(), id);
        self.bring(send, blocks.clone(), id);
        #[cfg(test)]
        self.record.push(machine::Carried {
            send: send.clone(),
            part: self.part,
            blocks: blocks.map(|block| (block, self.blocks[block].get())).collect(),
        });
        self.messages.push(Message {
            src: self.plan.ranks[send.from],
            dst: self.plan.ranks[send.to],
            bytes: Bytes::new(bytes),
            stream: self.part.channel,
            start: Time::ZERO,
        });
    }

    /// The same, once the message that the rank sent last in this way is over: sends that would
    /// share its port and all be late take turns.
    pub fn send_in_turn(&mut self, send: &Send, blocks: impl Iterator<Item = usize> + Clone) {
        let before = self.messages.len();
        self.send(send, blocks);
        if self.messages.len() > before {
            let id = MessageId(u32::try_from(before).expect("2^28 messages at most"));
            let last = self.last.insert(send.from, id);
            let pair = |last| (Task::Message(last), Task::Message(id));
            self.dependencies.extend(last.map(pair));
        }
    }

    fn wait_for(&mut self, send: &Send, blocks: impl Iterator<Item = usize>, id: MessageId) {
        if self.brought.is_empty() {
            return;
        }
        self.waits.clear();
        for block in blocks {
            let before = self.brought.get(&(send.from, block)).into_iter().flatten();
            self.waits.extend(before.filter(|(step, _)| *step < send.step).map(|(_, id)| *id));
        }
        self.waits.sort_unstable();
        self.waits.dedup();
        let shared = self.before.rank == send.from && self.before.waits == self.waits;
        if !shared || self.waits.len() < 3 {
            let pair = |&before: &MessageId| (Task::Message(before), Task::Message(id));
            self.dependencies.extend(self.waits.iter().map(pair));
            self.before.rank = send.from;
            self.before.waits.clone_from(&self.waits);
            self.before.join = None;
            return;
        }
        let join = self.before.join.unwrap_or_else(|| self.join(send.from));
        self.before.join = Some(join);
        self.dependencies.push((Task::Join(join), Task::Message(id)));
    }

    /// Where all that the message at hand waits for comes together.
    fn join(&mut self, rank: usize) -> usize {
        let join = self.joins.len();
        self.joins.push(Delay { host: self.plan.ranks[rank], span: Span::ZERO });
        let pair = |&before: &MessageId| (Task::Message(before), Task::Join(join));
        self.dependencies.extend(self.waits.iter().map(pair));
        join
    }

    fn bring(&mut self, send: &Send, blocks: impl Iterator<Item = usize>, id: MessageId) {
        if send.how == How::Keep {
            return;
        }
        for block in blocks {
            let brought = self.brought.entry((send.to, block)).or_default();
            if send.how == How::Store {
                brought.clear();
            }
            brought.push((send.step, id));
        }
    }

    /// The messages, each of which starts `gap` after the last one that it waits for arrived.
    pub fn finish(self, gap: Span) -> Workload {
        if self.dependencies.is_empty() {
            return Workload::independent(self.messages);
        }
        let id = |task: Task| match task {
            Task::Message(id) => id,
            Task::Join(join) => {
                let place = u32::try_from(self.messages.len() + join);
                MessageId(place.expect("no more joins than messages"))
            }
        };
        let dependencies: Vec<(MessageId, MessageId)> =
            self.dependencies.iter().map(|&(before, after)| (id(before), id(after))).collect();
        let mut workload = Workload::with_delays(self.messages, self.joins, &dependencies);
        workload.gap = gap;
        workload
    }
}

/// `bytes` in `count` blocks as equal as can be, longer ones first.
pub(super) fn equal_blocks(bytes: Bytes, count: usize) -> Vec<Bytes> {
    let (each, left) = (bytes.get() / count as u64, bytes.get() % count as u64);
    (0..count as u64).map(|block| Bytes::new(each + u64::from(block < left))).collect()
}

#[cfg(test)]
pub(super) mod machine;
