//! Turns the sends of an algorithm into messages with dependencies.
//!
//! An algorithm lists, step by step, which rank sends which blocks of its vector to which rank. It
//! also states whether the receiver reduces or replaces its own blocks. Dependencies follow: a send
//! depends on every message of an earlier step that delivered one of its blocks. An algorithm can
//! therefore neither miss a dependency nor wait for more than its data.

mod deliveries;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use deliveries::Deliveries;

use super::Plan;
use super::tally::Tally;
use crate::ids::{HostId, MessageId, TaskId};
use crate::units::{Bytes, Span, Time};
use crate::workload::{Blocks, Delay, Message, Workload};

/// The receiver's action on arriving blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnArrival {
    /// Adds them to its own.
    Reduce,
    /// Replaces its own.
    Replace,
    /// Replaces its own and never forwards them: nothing depends on their arrival.
    ReplaceFinal,
}

/// One send of an algorithm.
#[derive(Debug, Clone)]
pub(super) struct Send {
    /// Sends of the same step do not depend on each other.
    pub step: u32,
    pub from: usize,
    pub to: usize,
    pub on_arrival: OnArrival,
}

/// The dependencies of the previous message. If the next message of the same rank has the same
/// ones, both depend on one join.
#[derive(Debug, Default)]
struct SharedDependencies {
    rank: usize,
    messages: Vec<MessageId>,
    join: Option<usize>,
}

/// Builds the messages of all channels and chunks of a collective.
#[derive(Debug)]
pub(super) struct ScheduleBuilder<'a> {
    plan: &'a Plan,
    segment: Segment,
    /// Blocks of the current segment.
    blocks: Blocks,
    /// Deliveries of each block, on which later sends depend.
    delivered_by: Deliveries,
    messages: Vec<Message>,
    /// Zero-length delays that complete together with their dependencies. Several messages with the
    /// same dependencies share one join.
    joins: Vec<Delay>,
    /// Pairs of a task and its dependent. A join has the id of [`join_id`] until the number of
    /// messages is known.
    dependencies: Vec<(TaskId, TaskId)>,
    /// Dependencies of the current message.
    current: Vec<MessageId>,
    previous: SharedDependencies,
    /// Last message of each rank, for sequential sends.
    last_sent: BTreeMap<usize, MessageId>,
    /// Recent messages of each rank in this segment, if their number is limited.
    outstanding: BTreeMap<usize, VecDeque<MessageId>>,
    /// Totals of the messages, which are then not kept.
    tally: Option<Tally>,
    /// Contents of each message, for the test that executes the collective.
    #[cfg(test)]
    pub record: Vec<machine::SentBlocks>,
}

/// A segment of the vector: one chunk of one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub channel: u32,
    pub chunk: u32,
    pub bytes: Bytes,
}

impl<'a> ScheduleBuilder<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            segment: Segment { channel: 0, chunk: 0, bytes: plan.bytes },
            blocks: Blocks::equal(plan.bytes, 1),
            delivered_by: Deliveries::default(),
            messages: Vec::new(),
            joins: Vec::new(),
            dependencies: Vec::new(),
            current: Vec::new(),
            previous: SharedDependencies::default(),
            last_sent: BTreeMap::new(),
            outstanding: BTreeMap::new(),
            tally: None,
            #[cfg(test)]
            record: Vec::new(),
        }
    }

    /// Creates a builder that only sums the messages.
    pub(super) fn tallying(plan: &'a Plan) -> Self {
        Self { tally: Some(Tally::default()), ..Self::new(plan) }
    }

    /// Returns the totals of the messages.
    pub(super) fn into_tally(self) -> Tally {
        self.tally.unwrap_or_default()
    }

    /// Starts another segment, initially undivided. Segments are independent.
    pub(super) fn start_segment(&mut self, segment: Segment) {
        self.segment = segment;
        self.blocks = Blocks::equal(segment.bytes, 1);
        self.delivered_by.clear();
        self.last_sent.clear();
        self.outstanding.clear();
    }

    pub(super) fn ranks(&self) -> usize {
        self.plan.ranks.len()
    }

    /// Returns the plan of the collective; its bytes cover all segments.
    pub(super) fn plan(&self) -> &Plan {
        self.plan
    }

    /// Divides this segment into `count` equal blocks. If the bytes do not divide evenly, the first
    /// blocks are one byte longer.
    pub(super) fn divide(&mut self, count: usize) {
        self.blocks = Blocks::equal(self.segment.bytes, count);
    }

    /// Repeats the blocks, giving each rank `sets` sets of blocks.
    pub(super) fn repeat_blocks(&mut self, sets: usize) {
        self.blocks = self.blocks.repeated(sets);
    }

    /// Adds a message with these blocks, unless all of them are empty.
    pub(super) fn send(&mut self, send: &Send, blocks: &[Range<usize>]) {
        let bytes: u64 = blocks.iter().map(|range| self.blocks.bytes(range)).sum();
        // Libraries send no empty messages, so nothing has to wait for one.
        if bytes == 0 {
            return;
        }
        if let Some(tally) = &mut self.tally {
            let rank = |position| self.plan.rank_at(self.segment.channel, position);
            tally.add(rank(send.from), (rank(send.to) as u32, self.segment.channel), bytes);
            return;
        }
        let id = MessageId(u32::try_from(self.messages.len()).expect("2^28 messages at most"));
        self.add_dependencies(send, blocks, id);
        self.record_delivery(send, blocks, id);
        #[cfg(test)]
        self.record.push(machine::SentBlocks {
            send: send.clone(),
            segment: self.segment,
            blocks: blocks
                .iter()
                .flat_map(|range| range.clone())
                .map(|block| (block, self.blocks.bytes(&(block..block + 1))))
                .collect(),
        });
        self.messages.push(Message {
            src: self.host(send.from),
            dst: self.host(send.to),
            bytes: Bytes::new(bytes),
            stream: self.segment.channel,
            start: Time::ZERO,
        });
    }

    /// Adds a message that also waits for the rank's previous message of this kind to complete. In
    /// parallel, the messages would share the rank's port and all be late.
    pub(super) fn send_after_last(&mut self, send: &Send, blocks: &[Range<usize>]) {
        let before = self.messages.len();
        self.send(send, blocks);
        if self.messages.len() > before {
            let id = MessageId(u32::try_from(before).expect("2^28 messages at most"));
            let last = self.last_sent.insert(send.from, id);
            let pair = |last: MessageId| (last.into(), id.into());
            self.dependencies.extend(last.map(pair));
        }
    }

    /// Adds a message that also waits for the completion of the rank's message
    /// [`Plan::outstanding`] positions earlier in this segment.
    pub(super) fn send_windowed(&mut self, send: &Send, blocks: &[Range<usize>]) {
        let before = self.messages.len();
        self.send(send, blocks);
        let Some(most) = self.plan.outstanding.filter(|_| self.messages.len() > before) else {
            return;
        };
        let id = MessageId(u32::try_from(before).expect("2^28 messages at most"));
        let outstanding = self.outstanding.entry(send.from).or_default();
        outstanding.push_back(id);
        if outstanding.len() > most as usize
            && let Some(first) = outstanding.pop_front()
        {
            self.dependencies.push((first.into(), id.into()));
        }
    }

    /// Makes message `id` depend on earlier deliveries of its blocks to the sender.
    fn add_dependencies(&mut self, send: &Send, blocks: &[Range<usize>], id: MessageId) {
        self.current.clear();
        for range in blocks {
            let before = self.delivered_by.of(send.from, range);
            self.current.extend(before.filter(|(step, _)| *step < send.step).map(|(_, id)| id));
        }
        // One message often delivers several of the blocks. Sorting makes equal sets of
        // dependencies compare equal, which finds shared joins.
        self.current.sort_unstable();
        self.current.dedup();
        let shared = self.previous.rank == send.from && self.previous.messages == self.current;
        // A join for one or two dependencies saves nothing.
        if !shared || self.current.len() < 3 {
            let pair = |&before: &MessageId| (before.into(), id.into());
            self.dependencies.extend(self.current.iter().map(pair));
            self.previous.rank = send.from;
            self.previous.messages.clone_from(&self.current);
            self.previous.join = None;
            return;
        }
        let join = self.previous.join.unwrap_or_else(|| self.add_join(send.from));
        self.previous.join = Some(join);
        self.dependencies.push((join_id(join), id.into()));
    }

    /// Returns the host at a position of the current channel's order.
    fn host(&self, position: usize) -> HostId {
        self.plan.ranks[self.plan.rank_at(self.segment.channel, position)]
    }

    /// Adds a join of the current dependencies at `rank` and returns its index.
    fn add_join(&mut self, rank: usize) -> usize {
        let join = self.joins.len();
        self.joins.push(Delay { host: self.host(rank), span: Span::ZERO });
        let pair = |&before: &MessageId| (before.into(), join_id(join));
        self.dependencies.extend(self.current.iter().map(pair));
        join
    }

    /// Records that message `id` delivers these blocks to the receiver.
    fn record_delivery(&mut self, send: &Send, blocks: &[Range<usize>], id: MessageId) {
        for range in blocks {
            let delivery = (send.step, id);
            match send.on_arrival {
                OnArrival::ReplaceFinal => {}
                OnArrival::Reduce => self.delivered_by.add(send.to, range, delivery),
                // The delivery overwrites the block, so later sends wait only for this delivery.
                OnArrival::Replace => self.delivered_by.replace(send.to, range, delivery),
            }
        }
    }

    /// Returns the workload: each message starts `gap` after the last of its dependencies.
    pub(super) fn finish(self, gap: Span) -> Workload {
        let Self { messages, joins, mut dependencies, delivered_by, .. } = self;
        drop(delivered_by);
        // The gap only applies between dependent messages.
        if dependencies.is_empty() {
            return Workload::independent(messages);
        }
        let first_join = u32::try_from(messages.len()).expect("2^28 messages at most");
        let set_id = |task: &mut TaskId| {
            if task.0 >= first_join {
                // `join_id` is its own inverse.
                *task = TaskId(first_join + join_id(task.index()).0);
            }
        };
        for (before, after) in &mut dependencies {
            set_id(before);
            set_id(after);
        }
        let mut workload = Workload::with_delays(messages, joins, &dependencies);
        workload.gap = gap;
        workload
    }
}

/// Returns the provisional id of a join. It counts down, since the number of messages is not known
/// yet. There are no more joins than messages, and at most 2^28 messages.
fn join_id(join: usize) -> TaskId {
    TaskId(u32::MAX - u32::try_from(join).expect("2^28 joins at most"))
}

#[cfg(test)]
pub(super) mod machine;
