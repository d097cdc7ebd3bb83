//! Queue pairs that carry messages, each with its requester and its responder.

use crate::ids::{HostId, IdMap, QpId};
use crate::rng::mix64;

use super::in_use::InUse;
use super::pool::Pool;
use super::undelivered::Undelivered;

/// A queue pair: requester and responder.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) qp: QpId,
    /// Flows that have not been delivered.
    flows: Undelivered,
    /// Number of flows that have not completed.
    incomplete: u32,
    stream: u32,
    slot: u32,
    /// Index of the host pair in [`InUse`].
    pair: u32,
    /// True if the sender is in another partition of a parallel run. `flows` are then indices of
    /// the ledger's arriving flows.
    is_arriving: bool,
    /// Index of the pool that the connection returns to when it becomes idle; [`NO_POOL`] if its
    /// slot is fixed.
    pool: u32,
    /// Previous connection of the same host pair and stream; [`NONE`] for the first.
    previous: u32,
    /// True if the connection has been discarded and its id may be reused.
    is_free: bool,
}

/// Index of no pool: out of range for every list of pools, so `get` returns `None`.
const NO_POOL: u32 = u32::MAX;

/// Id of no connection: out of range for every list of connections.
const NONE: u32 = u32::MAX;

impl Connection {
    fn new(key: &ConnectionKey, qp: QpId, pair: u32) -> Self {
        Self {
            src: key.src,
            dst: key.dst,
            qp,
            flows: Undelivered::default(),
            incomplete: 0,
            stream: key.stream,
            slot: key.slot,
            pair,
            is_arriving: false,
            pool: NO_POOL,
            previous: NONE,
            is_free: false,
        }
    }

    /// Returns the key that identifies the connection.
    pub(super) fn key(&self) -> ConnectionKey {
        let &Self { src, dst, stream, slot, .. } = self;
        ConnectionKey { src, dst, stream, slot }
    }

    /// True if the sender is in another partition of a parallel run.
    pub(super) fn is_arriving(&self) -> bool {
        self.is_arriving
    }

    /// Returns the first undelivered flow, if the sender is in this partition.
    pub(super) fn next_flow(&self) -> Option<u32> {
        // The flows of a remote sender have no record in this partition.
        self.flows.first().filter(|_| !self.is_arriving)
    }

    /// Returns the index of the last added flow, counted from the connection's first.
    pub(super) fn last_index(&self) -> u32 {
        // Indices wrap at 2^32.
        self.flows.end().wrapping_sub(1)
    }

    /// Removes the flow with this index, which is now delivered, and returns its id.
    pub(super) fn take(&mut self, index: u32) -> u32 {
        self.flows.take(index)
    }
}

/// Identity of a queue pair: sender, receiver, stream, and the slot that the splitter uses within
/// the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ConnectionKey {
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) stream: u32,
    pub(super) slot: u32,
}

impl ConnectionKey {
    /// Returns the host pair and the stream.
    pub(super) fn stream_key(self) -> StreamKey {
        StreamKey { src: self.src, dst: self.dst, stream: self.stream }
    }

    /// Returns the hash of the 5-tuple, which depends on the key alone.
    pub(super) fn label(self) -> u32 {
        let pair = u64::from(self.src.0) << 32 | u64::from(self.dst.0);
        let queue_pair = u64::from(self.stream) << 32 | u64::from(self.slot);
        // Two rounds: with one, streams and hosts that differ in the same bits would cancel out.
        (mix64(mix64(pair) ^ queue_pair) >> 32) as u32
    }

    /// Returns a UDP source port from the dynamic range (RFC 6335), derived from stream and slot.
    pub(super) fn source_port(self) -> u16 {
        let ports = 1 << 14;
        let offset = (self.stream.wrapping_mul(64).wrapping_add(self.slot)) % ports;
        49_152 + offset as u16
    }
}

/// A host pair and a message stream between the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StreamKey {
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) stream: u32,
}

impl StreamKey {
    /// Returns the key of the queue pair in `slot`.
    pub(super) fn with_slot(self, slot: u32) -> ConnectionKey {
        ConnectionKey { src: self.src, dst: self.dst, stream: self.stream, slot }
    }
}

/// The connections of a host pair and stream.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// Number of connections made.
    count: u32,
    /// Index of the pool from which flows take idle connections; [`NO_POOL`] without one.
    pool: u32,
    /// The newest connection; [`NONE`] without one.
    last: u32,
}

/// The connections of a run.
#[derive(Debug, Default)]
pub(super) struct Connections {
    list: Vec<Connection>,
    /// Connections with a fixed slot.
    by_key: IdMap<ConnectionKey, u32>,
    streams: IdMap<StreamKey, Stream>,
    pools: Vec<Pool>,
    in_use: InUse,
    /// Ids of discarded connections.
    free: Vec<u32>,
    /// Pools of discarded streams.
    free_pools: Vec<u32>,
}

impl Connections {
    /// Returns the id of the connection with this key, if it exists.
    pub(super) fn find(&self, key: &ConnectionKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// Iterates over the connections that have not been discarded.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.list.iter().filter(|connection| !connection.is_free)
    }

    /// Iterates over the connections of a host pair and stream, newest first.
    pub(super) fn of_stream(&self, key: StreamKey) -> impl Iterator<Item = &Connection> {
        let at = |id: u32| self.list.get(id as usize);
        let last = self.streams.get(&key).and_then(|stream| at(stream.last));
        std::iter::successors(last, move |connection| at(connection.previous))
    }

    /// Discards the idle connections of a host pair and stream. The next one counts as the stream's
    /// first.
    pub(super) fn discard_stream(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.remove(&key) else { return };
        let mut id = stream.last;
        while let Some(connection) = self.list.get_mut(id as usize) {
            connection.is_free = true;
            // Frees the memory of the flow list now, because the id may not be reused.
            connection.flows = Undelivered::default();
            let (own, pair) = (connection.key(), connection.pair);
            self.by_key.remove(&own);
            self.in_use.discard(key.src, key.dst, pair);
            self.free.push(id);
            id = connection.previous;
        }
        // `NO_POOL` is out of range.
        if let Some(pool) = self.pools.get_mut(stream.pool as usize) {
            pool.clear();
            self.free_pools.push(stream.pool);
        }
    }

    /// Returns every connection, by id. Discarded ones are included.
    pub(super) fn as_slice(&self) -> &[Connection] {
        &self.list
    }

    pub(super) fn get_mut(&mut self, id: u32) -> &mut Connection {
        &mut self.list[id as usize]
    }

    /// Returns the counts of queue pairs with incomplete flows.
    pub(super) fn in_use(&self) -> &InUse {
        &self.in_use
    }

    /// Takes an idle connection for the next flow of the stream: the one with the lowest slot. If
    /// none is idle, `Err` has the slot of a new connection, which [`Self::add_to_pool`] then adds.
    pub(super) fn take_idle(&mut self, key: StreamKey) -> Result<u32, u32> {
        let Some(stream) = self.streams.get(&key) else { return Err(0) };
        let pool = self.pools.get_mut(stream.pool as usize);
        pool.and_then(Pool::take).ok_or(stream.count)
    }

    /// Makes a connection return to the pool of its stream whenever it becomes idle.
    pub(super) fn add_to_pool(&mut self, key: StreamKey, id: u32) {
        let stream = self.streams.get_mut(&key).expect("the connection is one of the stream");
        // Streams with fixed slots never need a pool.
        if stream.pool == NO_POOL {
            stream.pool = self.free_pools.pop().unwrap_or_else(|| {
                self.pools.push(Pool::default());
                u32::try_from(self.pools.len() - 1).expect("fewer pools than queue pairs")
            });
        }
        let connection = &mut self.list[id as usize];
        connection.pool = stream.pool;
        self.pools[stream.pool as usize].add(connection.slot, id);
    }

    /// Lets [`Self::find`] find a connection by its fixed slot.
    pub(super) fn add_to_keys(&mut self, key: ConnectionKey, id: u32) {
        self.by_key.insert(key, id);
    }

    /// Appends a flow to those that the connection has to deliver.
    pub(super) fn expect_flow(&mut self, id: u32, flow: u32) {
        self.list[id as usize].flows.push(flow);
    }

    /// Counts a new flow. The first one makes the connection busy.
    pub(super) fn count_flow(&mut self, id: u32) {
        let connection = &mut self.list[id as usize];
        connection.incomplete += 1;
        if connection.incomplete == 1 {
            self.in_use.add(connection.src, connection.pair);
        }
    }

    /// Counts a completed flow. The last one makes the connection idle.
    pub(super) fn complete_flow(&mut self, id: u32) {
        let connection = &mut self.list[id as usize];
        connection.incomplete -= 1;
        if connection.incomplete > 0 {
            return;
        }
        self.in_use.remove(connection.src, connection.pair);
        if let Some(pool) = self.pools.get_mut(connection.pool as usize) {
            pool.put(connection.slot);
        }
    }

    /// Returns the id that the next connection will get.
    pub(super) fn next_id(&self) -> u32 {
        let free = self.free.last().copied();
        free.unwrap_or_else(|| u32::try_from(self.list.len()).expect("fewer than 2^32 queue pairs"))
    }

    /// Counts a queue pair of the stream, and returns the number of them so far.
    pub(super) fn count_in_stream(&mut self, key: &ConnectionKey) -> u32 {
        let none = Stream { count: 0, pool: NO_POOL, last: NONE };
        let stream = self.streams.entry(key.stream_key()).or_insert(none);
        stream.count += 1;
        stream.count
    }

    /// Adds a connection whose sender is in another partition of a parallel run, and returns its
    /// id.
    pub(super) fn add_arriving(&mut self, key: &ConnectionKey, qp: QpId) -> u32 {
        // The sender's partition counts the pair in `InUse`. The receiver's partition does not.
        let id = self.next_id();
        self.list.push(Connection { is_arriving: true, ..Connection::new(key, qp, u32::MAX) });
        id
    }

    /// Merges the peaks of another partition of a parallel run.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.in_use.absorb(&other.in_use);
    }

    /// Adds a connection, and returns its id.
    pub(super) fn add(&mut self, key: &ConnectionKey, qp: QpId) -> u32 {
        let id = self.next_id();
        let pair = self.in_use.pair(key.src, key.dst);
        let stream = self.streams.get_mut(&key.stream_key()).expect("it was counted");
        // The stream's connections form a linked list, newest first.
        let previous = std::mem::replace(&mut stream.last, id);
        let connection = Connection { previous, ..Connection::new(key, qp, pair) };
        // `next_id` has read the top of the free list.
        match self.free.pop() {
            Some(_) => self.list[id as usize] = connection,
            None => self.list.push(connection),
        }
        id
    }
}
