//! What became of each message and each flow.

use std::collections::{HashMap, VecDeque};

use super::record::FlowRecord;
use super::spans::Spans;
use crate::ids::{HostId, MessageId, QpId};
use crate::rng::mix64;
use crate::split::Flow;
use crate::units::{Bytes, Time};
use crate::workload::{Message, Workload};

/// A queue pair, both halves.
#[derive(Debug)]
pub(super) struct Connection {
    pub src: HostId,
    pub dst: HostId,
    pub qp: QpId,
    /// Its flows from the first on that is not delivered, in order; `None` for those delivered
    /// out of turn.
    flows: VecDeque<Option<u32>>,
    /// Which of its flows that first one is.
    first: u32,
}

impl Connection {
    pub fn new(src: HostId, dst: HostId, qp: QpId) -> Self {
        Self { src, dst, qp, flows: VecDeque::new(), first: 0 }
    }

    /// The flow that is its `index`-th message, which is delivered with this.
    fn take(&mut self, index: u32) -> u32 {
        let place = index.wrapping_sub(self.first) as usize;
        let flow = self.flows[place].take().expect("delivered twice");
        while self.flows.front().is_some_and(Option::is_none) {
            self.flows.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        flow
    }
}

/// Which queue pair: sender, receiver, stream, and which of the stream's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ConnectionKey {
    pub src: HostId,
    pub dst: HostId,
    pub stream: u32,
    pub slot: u32,
}

impl ConnectionKey {
    /// The hash of its 5-tuple: it depends on nothing but the key.
    pub fn label(self) -> u32 {
        let pair = u64::from(self.src.0) << 32 | u64::from(self.dst.0);
        let which = u64::from(self.stream) << 32 | u64::from(self.slot);
        (mix64(mix64(pair) ^ which) >> 32) as u32
    }

    /// A UDP source port from the dynamic range (RFC 6335), by stream and slot.
    pub fn source_port(self) -> u16 {
        let ports = 1 << 14;
        let offset = (self.stream.wrapping_mul(64).wrapping_add(self.slot)) % ports;
        49_152 + offset as u16
    }
}

/// Progress of one message.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    pieces: u32,
    delivered: u32,
    completed: u32,
    waits_for: u32,
    started: Time,
    completed_at: Time,
}

/// What is left of messages that are forgotten when they are over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Passed {
    /// Messages posted so far.
    pub messages: u64,
    /// Their payload.
    pub bytes: Bytes,
    /// Flows that are over.
    pub flows: u64,
    /// Completion minus start of each message that is complete.
    pub message_fct: Spans,
}

/// Messages that are forgotten when they are over.
#[derive(Debug, Default)]
struct Passing {
    open: HashMap<MessageId, (Message, Progress)>,
    /// What the next one is called.
    next: u32,
    passed: Passed,
    /// Flows that are over, for whoever asks, in order of completion.
    flows: VecDeque<FlowRecord>,
    /// Places among the flows that are free.
    free: Vec<u32>,
}

/// Messages, flows and connections of a run.
#[derive(Debug)]
pub struct Ledger {
    progress: Vec<Progress>,
    /// Every flow, in the order in which they were posted; where flows are forgotten, in some
    /// order those that are open and some that were.
    pub flows: Vec<FlowRecord>,
    connections: Vec<Connection>,
    by_key: HashMap<ConnectionKey, u32>,
    /// How many queue pairs each pair of hosts and stream has.
    streams: HashMap<(HostId, HostId, u32), u32>,
    /// Messages that are complete.
    pub completed: u64,
    /// When the last message or delay was over.
    pub last_completion: Time,
    /// Messages and delays that are not over yet.
    pub open: u64,
    /// How many each delay waits for still.
    delays_wait_for: Vec<u32>,
    /// Where what is over is forgotten.
    passing: Option<Box<Passing>>,
}

impl Ledger {
    pub(super) fn new(workload: &Workload) -> Self {
        let waits = |message: usize| workload.waits_for.get(message).copied().unwrap_or(0);
        let count = workload.messages.len();
        let progress =
            (0..count).map(|message| Progress { waits_for: waits(message), ..Progress::default() });
        Self {
            progress: progress.collect(),
            flows: Vec::with_capacity(count),
            connections: Vec::new(),
            by_key: HashMap::new(),
            streams: HashMap::new(),
            completed: 0,
            last_completion: Time::ZERO,
            open: (count + workload.delays.len()) as u64,
            delays_wait_for: (count..count + workload.delays.len()).map(waits).collect(),
            passing: None,
        }
    }

    /// From now on what is over is forgotten.
    pub(super) fn forget_over(&mut self) {
        self.passing.get_or_insert_default();
    }

    /// What is left of what was forgotten; `None` where nothing is.
    pub fn passed(&self) -> Option<&Passed> {
        self.passing.as_ref().map(|passing| &passing.passed)
    }

    /// A message more, to be forgotten when it is over; its name, or `None` where nothing is
    /// forgotten.
    pub(super) fn add_passing(&mut self, message: Message) -> Option<MessageId> {
        let passing = self.passing.as_mut()?;
        while passing.open.contains_key(&MessageId(passing.next)) {
            passing.next = passing.next.wrapping_add(1);
        }
        let id = MessageId(passing.next);
        passing.next = passing.next.wrapping_add(1);
        passing.passed.messages += 1;
        passing.passed.bytes += message.bytes;
        passing.open.insert(id, (message, Progress::default()));
        self.open += 1;
        Some(id)
    }

    /// A message that is open and to be forgotten.
    pub(super) fn passing(&self, id: MessageId) -> &Message {
        let passing = self.passing.as_ref().expect("a message that nobody posted");
        &passing.open[&id].0
    }

    /// A flow that is over, which is forgotten with this.
    #[inline]
    pub(super) fn poll_flow(&mut self) -> Option<FlowRecord> {
        self.passing.as_mut()?.flows.pop_front()
    }

    #[inline]
    fn progress(&mut self, id: MessageId) -> &mut Progress {
        match &mut self.passing {
            None => &mut self.progress[id.index()],
            Some(passing) => &mut passing.open.get_mut(&id).expect("it is open").1,
        }
    }

    pub(super) fn connection(&self, key: &ConnectionKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    pub(super) fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// A queue pair more for a pair of hosts and stream; how many it has now.
    pub(super) fn add_to_stream(&mut self, key: &ConnectionKey) -> u32 {
        let count = self.streams.entry((key.src, key.dst, key.stream)).or_insert(0);
        *count += 1;
        *count
    }

    /// A message more than the workload had.
    pub(super) fn add_message(&mut self) {
        self.progress.push(Progress::default());
        self.open += 1;
    }

    pub(super) fn add_connection(&mut self, key: ConnectionKey, connection: Connection) -> u32 {
        let id = u32::try_from(self.connections.len()).expect("fewer than 2^32 queue pairs");
        self.connections.push(connection);
        self.by_key.insert(key, id);
        id
    }

    /// Opens the record of a flow on `connection`; its number.
    pub(super) fn add_flow(
        &mut self,
        now: Time,
        flow: &Flow,
        key: &ConnectionKey,
        connection: u32,
    ) -> u32 {
        self.progress(flow.message).pieces = flow.pieces;
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
        let free = self.passing.as_mut().and_then(|passing| passing.free.pop());
        let id = free.unwrap_or_else(|| {
            self.flows.push(record);
            u32::try_from(self.flows.len() - 1).expect("fewer than 2^32 flows")
        });
        self.flows[id as usize] = record;
        self.connections[connection as usize].flows.push_back(Some(id));
        id
    }

    pub(super) fn start(&mut self, now: Time, message: MessageId) {
        self.progress(message).started = now;
    }

    /// The `index`-th flow of `connection` has arrived; the message if that was its last piece.
    pub(super) fn deliver(&mut self, now: Time, connection: u32, index: u32) -> Option<MessageId> {
        let flow = self.connections[connection as usize].take(index);
        let flow = &mut self.flows[flow as usize];
        flow.delivered = now;
        let id = flow.message;
        let message = self.progress(id);
        message.delivered += 1;
        (message.delivered == message.pieces).then_some(id)
    }

    /// The sender knows that `flow` has arrived; the message if that was its last piece.
    pub(super) fn complete(&mut self, now: Time, flow: u64) -> Option<MessageId> {
        let place = flow;
        let flow = &mut self.flows[place as usize];
        assert_ne!(flow.delivered, Time::NEVER, "complete before it was delivered");
        assert_eq!(flow.completed, Time::NEVER, "completed twice");
        flow.completed = now;
        let record = *flow;
        if let Some(passing) = &mut self.passing {
            passing.passed.flows += 1;
            passing.flows.push_back(record);
            passing.free.push(place as u32);
        }
        let message = self.progress(record.message);
        message.completed += 1;
        if message.completed < message.pieces {
            return None;
        }
        message.completed_at = now;
        let started = message.started;
        self.completed += 1;
        self.open -= 1;
        self.last_completion = now;
        if let Some(passing) = &mut self.passing {
            passing.open.remove(&record.message);
            passing.passed.message_fct.add(now.since(started));
        }
        Some(record.message)
    }

    /// Every flow that is not forgotten, in order of message and piece.
    pub fn flows_in_order(&self) -> Vec<FlowRecord> {
        let mut flows = self.flows.clone();
        if self.passing.is_some() {
            flows.retain(|flow| flow.completed == Time::NEVER);
        }
        flows.sort_unstable_by_key(|flow| (flow.message, flow.piece));
        flows
    }

    /// When a message was started; [`Time::ZERO`] if it has not been.
    pub fn started(&self, message: MessageId) -> Time {
        self.progress[message.index()].started
    }

    /// Whether its receiver has all of a message.
    pub fn is_delivered(&self, message: MessageId) -> bool {
        let progress = &self.progress[message.index()];
        progress.pieces > 0 && progress.delivered == progress.pieces
    }

    /// Whether its sender knows that its receiver has all of a message.
    pub fn is_complete(&self, message: MessageId) -> bool {
        let progress = &self.progress[message.index()];
        progress.pieces > 0 && progress.completed == progress.pieces
    }

    /// A delay is over.
    pub(super) fn end_delay(&mut self, now: Time) {
        self.open -= 1;
        self.last_completion = now;
    }

    /// One of those that `task` waits for is over; true if it waits no more.
    pub(super) fn release(&mut self, task: MessageId) -> bool {
        let waits = match self.progress.get_mut(task.index()) {
            Some(message) => &mut message.waits_for,
            None => &mut self.delays_wait_for[task.index() - self.progress.len()],
        };
        *waits -= 1;
        *waits == 0
    }

    /// Start and completion of every message that completed, in order of ids.
    pub fn completions(&self) -> impl Iterator<Item = (Time, Time)> + '_ {
        let done = |it: &&Progress| it.pieces > 0 && it.completed == it.pieces;
        self.progress.iter().filter(done).map(|it| (it.started, it.completed_at))
    }
}
