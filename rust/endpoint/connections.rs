//! The queue pairs that messages go on, both halves each.

use std::collections::{HashMap, VecDeque};

use crate::ids::{HostId, QpId};
use crate::rng::mix64;

/// A queue pair, both halves.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) qp: QpId,
    /// Its flows from the first on that has not been delivered, in order; `None` for those
    /// delivered out of order.
    flows: VecDeque<Option<u32>>,
    /// The index of that first flow among all of the connection.
    first: u32,
}

impl Connection {
    pub(super) fn new(key: &ConnectionKey, qp: QpId) -> Self {
        Self { src: key.src, dst: key.dst, qp, flows: VecDeque::new(), first: 0 }
    }

    /// Adds a flow at its end.
    pub(super) fn push(&mut self, flow: u32) {
        self.flows.push_back(Some(flow));
    }

    /// The flow of that index, which is delivered with this.
    pub(super) fn take(&mut self, index: u32) -> u32 {
        let offset = index.wrapping_sub(self.first) as usize;
        let flow = self.flows[offset].take().expect("a flow is delivered once");
        while self.flows.front().is_some_and(Option::is_none) {
            self.flows.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        flow
    }
}

/// What tells queue pairs apart: sender, receiver, stream, and the slot of the stream that the
/// splitter uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ConnectionKey {
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) stream: u32,
    pub(super) slot: u32,
}

impl ConnectionKey {
    /// The hash of its 5-tuple: it depends on nothing but the key.
    pub(super) fn label(self) -> u32 {
        let pair = u64::from(self.src.0) << 32 | u64::from(self.dst.0);
        let which = u64::from(self.stream) << 32 | u64::from(self.slot);
        (mix64(mix64(pair) ^ which) >> 32) as u32
    }

    /// A UDP source port from the dynamic range (RFC 6335), by stream and slot.
    pub(super) fn source_port(self) -> u16 {
        let ports = 1 << 14;
        let offset = (self.stream.wrapping_mul(64).wrapping_add(self.slot)) % ports;
        49_152 + offset as u16
    }
}

/// All connections of a run.
#[derive(Debug, Default)]
pub(super) struct Connections {
    list: Vec<Connection>,
    by_key: HashMap<ConnectionKey, u32>,
    /// How many queue pairs each pair of hosts and stream has.
    streams: HashMap<(HostId, HostId, u32), u32>,
}

impl Connections {
    /// The id of the connection with that key, if it has been made.
    pub(super) fn find(&self, key: &ConnectionKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// All of them, by id.
    pub(super) fn as_slice(&self) -> &[Connection] {
        &self.list
    }

    pub(super) fn get_mut(&mut self, id: u32) -> &mut Connection {
        &mut self.list[id as usize]
    }

    /// The id that the next connection gets.
    pub(super) fn next_id(&self) -> u32 {
        u32::try_from(self.list.len()).expect("fewer than 2^32 queue pairs")
    }

    /// Counts a queue pair for its pair of hosts and stream; how many they have now.
    pub(super) fn count_in_stream(&mut self, key: &ConnectionKey) -> u32 {
        let count = self.streams.entry((key.src, key.dst, key.stream)).or_insert(0);
        *count += 1;
        *count
    }

    /// Adds a connection; its id.
    pub(super) fn add(&mut self, key: ConnectionKey, connection: Connection) -> u32 {
        let id = self.next_id();
        self.list.push(connection);
        self.by_key.insert(key, id);
        id
    }
}
