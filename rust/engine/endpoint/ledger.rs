//! What became of each message and each flow.

use std::collections::VecDeque;

use super::connections::Connections;
use super::pages::Pages;
use super::record::FlowRecord;
use super::spans::Spans;
use crate::ids::{MessageId, TaskId};
use crate::split::Flow;
use crate::units::{Bytes, Time};
use crate::workload::{Message, Workload};

/// Progress of one message.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// Flows that it is cut into; 0 until the first has been posted.
    pieces: u32,
    delivered: u32,
    completed: u32,
    /// Tasks that it still waits for.
    waits_for: u32,
    started: Time,
    completed_at: Time,
}

impl Progress {
    fn is_delivered(&self) -> bool {
        self.pieces > 0 && self.delivered == self.pieces
    }

    fn is_complete(&self) -> bool {
        self.pieces > 0 && self.completed == self.pieces
    }
}

/// Sums over messages and flows, where these are discarded when they have completed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discarded {
    /// Messages posted so far.
    pub messages: u64,
    /// Sum of the lengths of the posted messages.
    pub bytes: Bytes,
    /// Flows that have completed.
    pub flows: u64,
    /// Completion minus start of each message that has completed.
    pub message_fct: Spans,
}

/// What is kept of messages and flows that are discarded.
#[derive(Debug, Default)]
struct Discards {
    sums: Discarded,
    /// Flows that have completed and were not polled yet, in order of completion.
    flows: VecDeque<FlowRecord>,
    /// Indices of flow records that are free.
    free: Vec<u32>,
}

/// The time of delivery of a flow that another partition of a parallel run receives, until the
/// partitions are put together: a time at which no flow is delivered.
const ELSEWHERE: Time = Time::ZERO;

/// A flow that another partition of a parallel run sends.
#[derive(Debug, Clone, Copy)]
struct Arriving {
    message: MessageId,
    piece: u32,
    delivered: Time,
}

/// Messages, flows and connections of a run.
#[derive(Debug)]
pub struct Ledger {
    /// By message; discarded messages are not in it.
    progress: Pages<Progress>,
    /// Messages that were posted beside those of the workload, by message.
    posted: Pages<Message>,
    /// Messages of the workload; the first that is posted gets this id.
    planned: u32,
    /// The id of the next message that is posted.
    next_id: u32,
    /// Every flow, in the order in which they were posted; where flows are discarded, the open ones
    /// and some that were, in some order.
    flows: Vec<FlowRecord>,
    /// Flows that other partitions of a parallel run send, in the order in which they became known.
    arriving: Vec<Arriving>,
    pub(super) connections: Connections,
    /// Messages that have been delivered.
    pub(super) delivered: u64,
    /// Messages that have completed.
    pub completed: u64,
    /// When the last message or delay ended.
    pub last_completion: Time,
    /// Messages and delays that have not ended.
    pub open: u64,
    /// By delay: tasks that it still waits for.
    delays_wait_for: Vec<u32>,
    /// `None` unless what has completed is discarded.
    discards: Option<Box<Discards>>,
}

impl Ledger {
    pub(super) fn new(workload: &Workload) -> Self {
        let waits = |task: usize| workload.awaited_by(TaskId(task as u32));
        let count = workload.messages.len();
        let mut progress = Pages::default();
        for message in 0..count {
            let waits_for = waits(message);
            progress.insert(message, Progress { waits_for, ..Progress::default() });
        }
        let planned = u32::try_from(count).expect("ids are 32 bits");
        Self {
            progress,
            posted: Pages::default(),
            planned,
            next_id: planned,
            flows: Vec::with_capacity(count),
            arriving: Vec::new(),
            connections: Connections::default(),
            delivered: 0,
            completed: 0,
            last_completion: Time::ZERO,
            open: workload.task_count() as u64,
            delays_wait_for: (count..workload.task_count()).map(waits).collect(),
            discards: None,
        }
    }

    /// From now on messages and flows that have completed are discarded.
    pub(super) fn discard_completed(&mut self) {
        self.discards.get_or_insert_default();
    }

    /// Sums over what is discarded; `None` unless it is.
    pub fn discarded(&self) -> Option<&Discarded> {
        self.discards.as_ref().map(|discards| &discards.sums)
    }

    /// Adds a message beside those of the workload. Ids begin anew after 2^32, without those that
    /// are in use.
    ///
    /// # Panics
    /// If there are more than 2^32 messages that are not discarded.
    pub(super) fn post(&mut self, message: Message) -> MessageId {
        match &mut self.discards {
            Some(discards) => {
                discards.sums.messages += 1;
                discards.sums.bytes += message.bytes;
                while self.progress.get(self.next_id as usize).is_some() {
                    self.next_id = self.next_id.wrapping_add(1);
                }
            }
            None => assert!(self.next_id < u32::MAX, "fewer than 2^32 messages"),
        }
        let id = MessageId(self.next_id);
        self.next_id = self.next_id.wrapping_add(1);
        self.progress.insert(id.index(), Progress::default());
        self.posted.insert(id.index(), message);
        self.open += 1;
        id
    }

    /// A message that was posted and is not discarded.
    #[inline]
    pub(super) fn posted(&self, id: MessageId) -> Option<&Message> {
        self.posted.get(id.index())
    }

    /// Messages that were posted and are not discarded.
    pub(super) fn all_posted(&self) -> impl Iterator<Item = &Message> {
        self.posted.iter().map(|(_, message)| message)
    }

    /// How many messages were posted, the discarded ones included.
    pub(super) fn posted_count(&self) -> u64 {
        match &self.discards {
            Some(discards) => discards.sums.messages,
            None => u64::from(self.next_id - self.planned),
        }
    }

    /// True if a flow that has completed was not polled yet, and is to be discarded.
    #[inline]
    pub(super) fn has_flows(&self) -> bool {
        self.discards.as_ref().is_some_and(|discards| !discards.flows.is_empty())
    }

    /// The next flow that has completed, in order of completion; it is discarded now.
    #[inline]
    pub(super) fn poll_flow(&mut self) -> Option<FlowRecord> {
        self.discards.as_mut()?.flows.pop_front()
    }

    #[inline]
    fn progress_mut(&mut self, id: MessageId) -> &mut Progress {
        self.progress.get_mut(id.index()).expect("a message in progress is not discarded")
    }

    /// Opens the record of a flow on a connection; its id.
    pub(super) fn add_flow(&mut self, now: Time, flow: &Flow, connection: u32) -> u32 {
        let id = self.open_flow(now, flow, connection);
        self.connections.expect_flow(connection, id);
        id
    }

    /// The same for a flow that is delivered in another partition of a parallel run.
    pub(super) fn add_departing_flow(&mut self, now: Time, flow: &Flow, connection: u32) -> u32 {
        let id = self.open_flow(now, flow, connection);
        self.flows[id as usize].delivered = ELSEWHERE;
        id
    }

    /// Opens the record of a message that no queue pair carries; its id.
    pub(super) fn add_flow_inside(&mut self, now: Time, id: MessageId, whole: &Message) -> u32 {
        self.progress_mut(id).pieces = 1;
        self.open_record(FlowRecord {
            message: id,
            piece: 0,
            src: whole.src,
            dst: whole.dst,
            bytes: whole.bytes,
            start: now,
            delivered: Time::NEVER,
            completed: Time::NEVER,
            source_port: 0,
        })
    }

    fn open_flow(&mut self, now: Time, flow: &Flow, connection: u32) -> u32 {
        self.progress_mut(flow.message).pieces = flow.pieces;
        let key = self.connections.as_slice()[connection as usize].key();
        let record = FlowRecord {
            message: flow.message,
            piece: flow.piece,
            src: key.src,
            dst: key.dst,
            bytes: flow.bytes,
            start: now,
            delivered: Time::NEVER,
            completed: Time::NEVER,
            source_port: key.source_port(),
        };
        self.connections.count_flow(connection);
        self.open_record(record)
    }

    fn open_record(&mut self, record: FlowRecord) -> u32 {
        let free = self.discards.as_mut().and_then(|discards| discards.free.pop());
        let id = free.unwrap_or_else(|| {
            self.flows.push(record);
            u32::try_from(self.flows.len() - 1).expect("fewer than 2^32 flows")
        });
        self.flows[id as usize] = record;
        id
    }

    /// The record of a flow, if there is one.
    #[inline]
    pub(super) fn record(&self, flow: u64) -> Option<&FlowRecord> {
        self.flows.get(usize::try_from(flow).ok()?)
    }

    /// The message that a flow is of.
    pub(super) fn message_of(&self, flow: u32) -> MessageId {
        self.flows[flow as usize].message
    }

    pub(super) fn start(&mut self, now: Time, message: MessageId) {
        self.progress_mut(message).started = now;
    }

    /// The flow of that index on a connection has been delivered; the message if all of it has
    /// been.
    pub(super) fn deliver(&mut self, now: Time, connection: u32, index: u32) -> Option<MessageId> {
        let connection = self.connections.get_mut(connection);
        let flow = connection.take(index);
        if !connection.is_arriving() {
            return self.deliver_flow(now, flow);
        }
        let Arriving { message, delivered, .. } = &mut self.arriving[flow as usize];
        *delivered = now;
        let message = *message;
        self.deliver_piece(message)
    }

    /// A flow has been delivered; the message if all of it has been.
    pub(super) fn deliver_flow(&mut self, now: Time, flow: u32) -> Option<MessageId> {
        let FlowRecord { message, delivered, .. } = &mut self.flows[flow as usize];
        *delivered = now;
        let message = *message;
        self.deliver_piece(message)
    }

    fn deliver_piece(&mut self, id: MessageId) -> Option<MessageId> {
        let message = self.progress_mut(id);
        message.delivered += 1;
        if !message.is_delivered() {
            return None;
        }
        self.delivered += 1;
        Some(id)
    }

    /// A flow has completed; the message if all of it has.
    pub(super) fn complete(&mut self, now: Time, flow: u32) -> Option<MessageId> {
        let record = &mut self.flows[flow as usize];
        assert_ne!(record.delivered, Time::NEVER, "a flow completes after its delivery");
        assert_eq!(record.completed, Time::NEVER, "a flow completes once");
        record.completed = now;
        let record = *record;
        if let Some(discards) = &mut self.discards {
            discards.sums.flows += 1;
            discards.flows.push_back(record);
            discards.free.push(flow);
        }
        let message = self.progress_mut(record.message);
        message.completed += 1;
        if !message.is_complete() {
            return None;
        }
        message.completed_at = now;
        let started = message.started;
        self.completed += 1;
        self.open -= 1;
        self.last_completion = now;
        if let Some(discards) = &mut self.discards {
            discards.sums.message_fct.add(now.since(started));
            self.progress.remove(record.message.index());
            self.posted.remove(record.message.index());
        }
        Some(record.message)
    }

    /// The next flow on a connection of another partition of a parallel run: a piece of a message.
    pub(super) fn expect(&mut self, connection: u32, message: MessageId, piece: u32, pieces: u32) {
        self.progress_mut(message).pieces = pieces;
        let id = u32::try_from(self.arriving.len()).expect("fewer than 2^32 flows");
        self.arriving.push(Arriving { message, piece, delivered: Time::NEVER });
        self.connections.expect_flow(connection, id);
    }

    /// Takes over what another partition of a parallel run has, which sends the messages for which
    /// `is_sent` is true. [`Self::note_arrivals`] follows the last partition.
    pub(super) fn absorb(&mut self, other: Self, is_sent: &dyn Fn(MessageId) -> bool) {
        for (index, theirs) in other.progress.iter() {
            let ours = self.progress.get_mut(index).expect("all partitions have all messages");
            let delivered = ours.delivered + theirs.delivered;
            if is_sent(MessageId(index as u32)) {
                *ours = *theirs;
            }
            ours.delivered = delivered;
        }
        let ended = other.delays_wait_for.len() + other.planned as usize - other.open as usize;
        self.open -= ended as u64;
        self.delivered += other.delivered;
        self.completed += other.completed;
        self.last_completion = self.last_completion.max(other.last_completion);
        self.flows.extend(other.flows);
        self.arriving.extend(other.arriving);
        self.connections.absorb(&other.connections);
    }

    /// Gives each flow the time of its delivery in another partition.
    ///
    /// # Panics
    /// If a flow has completed and was not delivered.
    pub(super) fn note_arrivals(&mut self) {
        self.flows.sort_unstable_by_key(|flow| (flow.message, flow.piece));
        for flow in self.flows.iter_mut().filter(|flow| flow.delivered == ELSEWHERE) {
            flow.delivered = Time::NEVER;
        }
        for arriving in std::mem::take(&mut self.arriving) {
            let key = (arriving.message, arriving.piece);
            let flow = self.flows.binary_search_by_key(&key, |flow| (flow.message, flow.piece));
            self.flows[flow.expect("it was posted")].delivered = arriving.delivered;
        }
        let is_delivered = |flow: &FlowRecord| flow.delivered != Time::NEVER;
        let is_complete = |flow: &FlowRecord| flow.completed != Time::NEVER;
        assert!(
            self.flows.iter().all(|flow| is_delivered(flow) || !is_complete(flow)),
            "a flow completes after its delivery"
        );
    }

    /// Every flow that is not discarded, in order of message and piece.
    pub fn flows_in_order(&self) -> Vec<FlowRecord> {
        let mut flows = self.flows.clone();
        if self.discards.is_some() {
            flows.retain(|flow| flow.completed == Time::NEVER);
        }
        flows.sort_unstable_by_key(|flow| (flow.message, flow.piece));
        flows
    }

    /// How many flow records are in memory.
    pub(crate) fn flow_records(&self) -> usize {
        self.flows.len()
    }

    /// When a message was started; [`Time::ZERO`] if it has not been, or is discarded.
    pub fn started(&self, message: MessageId) -> Time {
        self.progress.get(message.index()).map_or(Time::ZERO, |progress| progress.started)
    }

    /// Whether its receiver has all of a message.
    pub fn is_delivered(&self, message: MessageId) -> bool {
        self.progress.get(message.index()).is_none_or(Progress::is_delivered)
    }

    /// Messages that have not completed, in order of ids.
    pub fn open_messages(&self) -> impl Iterator<Item = MessageId> {
        let open = self.progress.iter().filter(|(_, progress)| !progress.is_complete());
        open.map(|(index, _)| MessageId(index as u32))
    }

    /// A delay has ended.
    pub(super) fn end_delay(&mut self, now: Time) {
        self.open -= 1;
        self.last_completion = now;
    }

    /// A task that `task` waits for has ended; true if it waits for no more.
    pub(super) fn release(&mut self, task: TaskId) -> bool {
        let waits = match task.0.checked_sub(self.planned) {
            Some(delay) => &mut self.delays_wait_for[delay as usize],
            None => &mut self.progress_mut(MessageId(task.0)).waits_for,
        };
        // A delay that waits for some of its dependencies has started when the others are met.
        let Some(left) = waits.checked_sub(1) else { return false };
        *waits = left;
        left == 0
    }

    /// Start and completion of every message that has completed and is not discarded, in order of
    /// ids.
    pub fn completions(&self) -> impl Iterator<Item = (Time, Time)> {
        let complete = self.progress.iter().filter(|(_, progress)| progress.is_complete());
        complete.map(|(_, progress)| (progress.started, progress.completed_at))
    }
}
