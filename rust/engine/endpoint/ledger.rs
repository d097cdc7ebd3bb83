//! Progress of each message and record of each flow.

use std::collections::VecDeque;

use super::connections::Connections;
use super::pages::Pages;
use super::progress::Progress;
use super::record::FlowRecord;
use super::spans::Spans;
use crate::ids::{MessageId, TaskId};
use crate::split::Flow;
use crate::units::{Bytes, Time};
use crate::workload::{Message, Workload};

/// Totals over messages and flows, for runs that discard completed ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discarded {
    /// Messages posted so far.
    pub messages: u64,
    /// Messages posted so far.
    pub bytes: Bytes,
    /// Flows that have completed.
    pub flows: u64,
    /// Completion time of each completed message, from its start.
    pub message_fct: Spans,
}

/// State of a ledger that discards completed messages and flows.
#[derive(Debug, Default)]
struct Discards {
    totals: Discarded,
    /// Completed flows that have not been polled yet, in order of completion.
    flows: VecDeque<FlowRecord>,
    /// Indices of unused flow records.
    free: Vec<u32>,
}

/// Delivery time of a flow that another partition receives, until the partitions are merged. No
/// flow is delivered at this time.
const DELIVERED_REMOTELY: Time = Time::ZERO;

/// A flow sent by another partition of a parallel run.
#[derive(Debug, Clone, Copy)]
struct Arriving {
    message: MessageId,
    piece: u32,
    delivered: Time,
}

/// Messages, flows and connections of a run.
#[derive(Debug)]
pub struct Ledger {
    /// By message, without discarded ones.
    progress: Pages<Progress>,
    /// Messages posted in addition to those of the workload, by message.
    posted: Pages<Message>,
    /// Number of messages in the workload, which is the id of the first posted one.
    planned: u32,
    /// Id of the next posted message.
    next_id: u32,
    /// Every flow, in posting order. If flows are discarded: open flows and unused records, in any
    /// order.
    flows: Vec<FlowRecord>,
    /// Flows sent by other partitions, in the order of their announcement.
    arriving: Vec<Arriving>,
    pub(super) connections: Connections,
    /// Number of delivered messages.
    pub(super) delivered: u64,
    /// Number of completed messages.
    pub completed: u64,
    /// Time at which the last message or delay ended.
    pub last_completion: Time,
    /// Number of messages and delays that have not ended.
    pub open: u64,
    /// Number of tasks that each delay still waits for.
    delays_wait_for: Vec<u32>,
    /// End of each delay; [`Time::NEVER`] if it has not ended.
    delay_ends: Vec<Time>,
    /// `None` if nothing is discarded.
    discards: Option<Box<Discards>>,
}

impl Ledger {
    pub(super) fn new(workload: &Workload) -> Self {
        let waits = |task: usize| workload.dependency_count(TaskId(task as u32));
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
            delay_ends: vec![Time::NEVER; workload.delays.len()],
            discards: None,
        }
    }

    /// Discards messages and flows that complete from now on.
    pub(super) fn discard_completed(&mut self) {
        self.discards.get_or_insert_default();
    }

    /// Returns the totals over discarded messages and flows; `None` if none are discarded.
    pub fn discarded(&self) -> Option<&Discarded> {
        self.discards.as_ref().map(|discards| &discards.totals)
    }

    /// Adds a message to those of the workload. Ids wrap at 2^32 and skip those in use.
    ///
    /// # Panics
    /// If 2^32 messages are not discarded.
    pub(super) fn post(&mut self, message: Message) -> MessageId {
        match &mut self.discards {
            Some(discards) => {
                discards.totals.messages += 1;
                discards.totals.bytes += message.bytes;
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

    /// Returns a posted message that is not discarded.
    #[inline]
    pub(super) fn posted(&self, id: MessageId) -> Option<&Message> {
        self.posted.get(id.index())
    }

    /// Iterates over the posted messages that are not discarded.
    pub(super) fn all_posted(&self) -> impl Iterator<Item = &Message> {
        self.posted.iter().map(|(_, message)| message)
    }

    /// Returns the number of posted messages, including discarded ones.
    pub(super) fn posted_count(&self) -> u64 {
        match &self.discards {
            Some(discards) => discards.totals.messages,
            None => u64::from(self.next_id - self.planned),
        }
    }

    /// True if a completed flow waits to be polled and discarded.
    #[inline]
    pub(super) fn has_flows(&self) -> bool {
        self.discards.as_ref().is_some_and(|discards| !discards.flows.is_empty())
    }

    /// Takes the next completed flow, in order of completion.
    #[inline]
    pub(super) fn poll_flow(&mut self) -> Option<FlowRecord> {
        self.discards.as_mut()?.flows.pop_front()
    }

    #[inline]
    fn progress_mut(&mut self, id: MessageId) -> &mut Progress {
        self.progress.get_mut(id.index()).expect("a message in progress is not discarded")
    }

    /// Opens the record of a flow on a connection, and returns its index.
    pub(super) fn add_flow(&mut self, now: Time, flow: &Flow, connection: u32) -> u32 {
        let id = self.open_flow(now, flow, connection);
        self.connections.expect_flow(connection, id);
        id
    }

    /// Opens the record of a flow that another partition delivers, and returns its index.
    pub(super) fn add_departing_flow(&mut self, now: Time, flow: &Flow, connection: u32) -> u32 {
        let id = self.open_flow(now, flow, connection);
        self.flows[id as usize].delivered = DELIVERED_REMOTELY;
        id
    }

    /// Opens the record of a message that uses no queue pair, and returns its index.
    pub(super) fn add_flow_in_domain(
        &mut self,
        now: Time,
        id: MessageId,
        message: &Message,
    ) -> u32 {
        self.progress_mut(id).pieces = 1;
        self.open_record(FlowRecord {
            message: id,
            piece: 0,
            src: message.src,
            dst: message.dst,
            bytes: message.bytes,
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

    /// Returns the record of a flow, if it exists.
    #[inline]
    pub(super) fn record(&self, flow: u64) -> Option<&FlowRecord> {
        self.flows.get(usize::try_from(flow).ok()?)
    }

    /// Returns the message of a flow.
    pub(super) fn message_of(&self, flow: u32) -> MessageId {
        self.flows[flow as usize].message
    }

    pub(super) fn start(&mut self, now: Time, message: MessageId) {
        self.progress_mut(message).started = now;
    }

    /// Marks the flow with this index on a connection as delivered. Returns its message if that is
    /// now delivered entirely.
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

    /// Marks a flow as delivered. Returns its message if that is now delivered entirely.
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

    /// Marks a flow as completed. Returns its message if that is now complete.
    pub(super) fn complete(&mut self, now: Time, flow: u32) -> Option<MessageId> {
        let record = &mut self.flows[flow as usize];
        assert_ne!(record.delivered, Time::NEVER, "a flow completes after its delivery");
        assert_eq!(record.completed, Time::NEVER, "a flow completes once");
        record.completed = now;
        // Copied, since the index is free for another flow from here on.
        let record = *record;
        if let Some(discards) = &mut self.discards {
            discards.totals.flows += 1;
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
            discards.totals.message_fct.add(now.since(started));
            self.progress.remove(record.message.index());
            self.posted.remove(record.message.index());
        }
        Some(record.message)
    }

    /// Announces the next flow, a piece of a message, on a connection from another partition.
    pub(super) fn expect(&mut self, connection: u32, message: MessageId, piece: u32, pieces: u32) {
        self.progress_mut(message).pieces = pieces;
        let id = u32::try_from(self.arriving.len()).expect("fewer than 2^32 flows");
        self.arriving.push(Arriving { message, piece, delivered: Time::NEVER });
        self.connections.expect_flow(connection, id);
    }

    /// Merges the ledger of another partition, which sends the messages for which `is_sent` is
    /// true. Call [`Self::fill_in_arrivals`] after the last partition.
    pub(super) fn absorb(&mut self, other: Self, is_sent: &dyn Fn(MessageId) -> bool) {
        for (index, theirs) in other.progress.iter() {
            let ours = self.progress.get_mut(index).expect("all partitions have all messages");
            let delivered = ours.delivered + theirs.delivered;
            // The sender's partition has start and completion. Deliveries add up.
            if is_sent(MessageId(index as u32)) {
                *ours = *theirs;
            }
            ours.delivered = delivered;
        }
        let ended = other.delays_wait_for.len() + other.planned as usize - other.open as usize;
        self.open -= ended as u64;
        for (ours, theirs) in self.delay_ends.iter_mut().zip(other.delay_ends) {
            *ours = (*ours).min(theirs);
        }
        self.delivered += other.delivered;
        self.completed += other.completed;
        self.last_completion = self.last_completion.max(other.last_completion);
        self.flows.extend(other.flows);
        self.arriving.extend(other.arriving);
        self.connections.absorb(&other.connections);
    }

    /// Fills in the delivery times of flows between partitions.
    ///
    /// # Panics
    /// If a flow has completed without being delivered.
    pub(super) fn fill_in_arrivals(&mut self) {
        // Sorted for the binary searches below.
        self.flows.sort_unstable_by_key(|flow| (flow.message, flow.piece));
        for flow in self.flows.iter_mut().filter(|flow| flow.delivered == DELIVERED_REMOTELY) {
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

    /// Returns every flow that is not discarded, in order of message and piece.
    pub fn flows_in_order(&self) -> Vec<FlowRecord> {
        let mut flows = self.flows.clone();
        if self.discards.is_some() {
            flows.retain(|flow| flow.completed == Time::NEVER);
        }
        flows.sort_unstable_by_key(|flow| (flow.message, flow.piece));
        flows
    }

    /// Returns the number of flow records in memory.
    pub(crate) fn flow_records(&self) -> usize {
        self.flows.len()
    }

    /// Returns the start of a message; [`Time::ZERO`] if it has not started or is discarded.
    pub fn started(&self, message: MessageId) -> Time {
        self.progress.get(message.index()).map_or(Time::ZERO, |progress| progress.started)
    }

    /// True if the receiver has all of the message. Discarded messages have been delivered.
    pub fn is_delivered(&self, message: MessageId) -> bool {
        self.progress.get(message.index()).is_none_or(Progress::is_delivered)
    }

    /// Iterates over the messages that have not completed, in order of ids.
    pub fn open_messages(&self) -> impl Iterator<Item = MessageId> {
        let open = self.progress.iter().filter(|(_, progress)| !progress.is_complete());
        open.map(|(index, _)| MessageId(index as u32))
    }

    /// Marks a delay as ended.
    pub(super) fn end_delay(&mut self, now: Time, delay: TaskId) {
        self.open -= 1;
        self.delay_ends[delay.index() - self.planned as usize] = now;
        self.last_completion = now;
    }

    /// Returns the end of each delay; [`Time::NEVER`] for a delay that has not ended.
    pub fn delay_ends(&self) -> &[Time] {
        &self.delay_ends
    }

    /// Counts the end of a task that `task` waits for. True if it was the last one.
    pub(super) fn release(&mut self, task: TaskId) -> bool {
        let waits = match task.0.checked_sub(self.planned) {
            Some(delay) => &mut self.delays_wait_for[delay as usize],
            None => &mut self.progress_mut(MessageId(task.0)).waits_for,
        };
        // A delay that does not wait for all of its dependencies may have started already.
        let Some(left) = waits.checked_sub(1) else { return false };
        *waits = left;
        left == 0
    }

    /// Iterates over start and completion of every completed message that is not discarded, by id.
    pub fn completions(&self) -> impl Iterator<Item = (Time, Time)> {
        let complete = self.progress.iter().filter(|(_, progress)| progress.is_complete());
        complete.map(|(_, progress)| (progress.started, progress.completed_at))
    }
}
