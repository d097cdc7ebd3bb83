//! What became of each message and each flow.

use std::collections::HashMap;

use super::record::FlowRecord;
use crate::ids::{HostId, MessageId, QpId};
use crate::rng::mix64;
use crate::split::Flow;
use crate::units::Time;
use crate::workload::Workload;

/// A queue pair, both halves.
#[derive(Debug)]
pub(super) struct Connection {
    pub src: HostId,
    pub dst: HostId,
    pub qp: QpId,
    /// Its flows, in order.
    pub flows: Vec<u32>,
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

/// Messages, flows and connections of a run.
#[derive(Debug)]
pub struct Ledger {
    progress: Vec<Progress>,
    /// Every flow, in the order in which they were posted.
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
        let id = u32::try_from(self.flows.len()).expect("fewer than 2^32 flows");
        self.progress[flow.message.index()].pieces = flow.pieces;
        self.flows.push(FlowRecord {
            message: flow.message,
            piece: flow.piece,
            src: key.src,
            dst: key.dst,
            bytes: flow.bytes,
            start: now,
            delivered: Time::NEVER,
            completed: Time::NEVER,
            source_port: key.source_port(),
        });
        self.connections[connection as usize].flows.push(id);
        id
    }

    pub(super) fn start(&mut self, now: Time, message: MessageId) {
        self.progress[message.index()].started = now;
    }

    /// The `index`-th flow of `connection` has arrived; the message if that was its last piece.
    pub(super) fn deliver(&mut self, now: Time, connection: u32, index: u32) -> Option<MessageId> {
        let flow = self.connections[connection as usize].flows[index as usize];
        let flow = &mut self.flows[flow as usize];
        assert_eq!(flow.delivered, Time::NEVER, "delivered twice");
        flow.delivered = now;
        let message = &mut self.progress[flow.message.index()];
        message.delivered += 1;
        (message.delivered == message.pieces).then_some(flow.message)
    }

    /// The sender knows that `flow` has arrived; the message if that was its last piece.
    pub(super) fn complete(&mut self, now: Time, flow: u64) -> Option<MessageId> {
        let flow = &mut self.flows[flow as usize];
        assert_ne!(flow.delivered, Time::NEVER, "complete before it was delivered");
        assert_eq!(flow.completed, Time::NEVER, "completed twice");
        flow.completed = now;
        let message = &mut self.progress[flow.message.index()];
        message.completed += 1;
        if message.completed < message.pieces {
            return None;
        }
        message.completed_at = now;
        self.completed += 1;
        self.open -= 1;
        self.last_completion = now;
        Some(flow.message)
    }

    /// Every flow, in order of message and piece.
    pub fn flows_in_order(&self) -> Vec<FlowRecord> {
        let mut flows = self.flows.clone();
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
