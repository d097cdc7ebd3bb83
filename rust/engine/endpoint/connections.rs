//! The queue pairs that messages go on, both halves each.

use crate::ids::{HostId, IdMap, QpId};
use crate::rng::mix64;

use super::in_use::InUse;
use super::pool::Pool;
use super::undelivered::Undelivered;

/// A queue pair, both halves.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) qp: QpId,
    /// Its flows that have not been delivered.
    flows: Undelivered,
    /// Its flows that have not completed.
    incomplete: u32,
    stream: u32,
    slot: u32,
    /// The index of its pair of hosts in [`InUse`].
    pair: u32,
    /// Whether its sender is in another partition of a parallel run: its flows are then those that
    /// the ledger expects.
    is_arriving: bool,
    /// The index of the pool that it returns to when it is idle; [`NO_POOL`] if it has a fixed
    /// slot.
    pool: u32,
    /// The connection of its pair of hosts and stream that was made before it; [`NONE`] if it is
    /// the first.
    before: u32,
    /// Whether it is discarded, and its id free.
    is_free: bool,
}

/// Beyond the end of every list of pools.
const NO_POOL: u32 = u32::MAX;

/// Beyond the end of every list of connections.
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
            before: NONE,
            is_free: false,
        }
    }

    /// What distinguishes it from other connections.
    pub(super) fn key(&self) -> ConnectionKey {
        let &Self { src, dst, stream, slot, .. } = self;
        ConnectionKey { src, dst, stream, slot }
    }

    /// True if its sender is in another partition of a parallel run.
    pub(super) fn is_arriving(&self) -> bool {
        self.is_arriving
    }

    /// The first of its flows that has not been delivered, if its sender is in this
    /// partition of a parallel run.
    pub(super) fn next_flow(&self) -> Option<u32> {
        self.flows.first().filter(|_| !self.is_arriving)
    }

    /// The index, among all of its flows, of the one that was added last.
    pub(super) fn last_index(&self) -> u32 {
        self.flows.end().wrapping_sub(1)
    }

    /// The flow of that index, which is delivered with this.
    pub(super) fn take(&mut self, index: u32) -> u32 {
        self.flows.take(index)
    }
}

/// What distinguishes queue pairs: sender, receiver, stream, and the slot of the stream that the
/// splitter uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ConnectionKey {
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) stream: u32,
    pub(super) slot: u32,
}

impl ConnectionKey {
    /// The pair of hosts and the stream.
    pub(super) fn stream_key(self) -> StreamKey {
        StreamKey { src: self.src, dst: self.dst, stream: self.stream }
    }

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

/// A pair of hosts and a message stream between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StreamKey {
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) stream: u32,
}

impl StreamKey {
    /// The queue pair of a slot of the stream.
    pub(super) fn with_slot(self, slot: u32) -> ConnectionKey {
        ConnectionKey { src: self.src, dst: self.dst, stream: self.stream, slot }
    }
}

/// The connections of a pair of hosts and stream.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// How many there are.
    count: u32,
    /// The index of the pool of those that flows take when they are idle; [`NO_POOL`] if there are
    /// none.
    pool: u32,
    /// The one that was made last; [`NONE`] if there are none.
    last: u32,
}

/// All connections of a run.
#[derive(Debug, Default)]
pub(super) struct Connections {
    list: Vec<Connection>,
    /// Those with a fixed slot.
    by_key: IdMap<ConnectionKey, u32>,
    streams: IdMap<StreamKey, Stream>,
    pools: Vec<Pool>,
    in_use: InUse,
    /// Ids of connections that are discarded.
    free: Vec<u32>,
    /// Pools of streams that are discarded.
    free_pools: Vec<u32>,
}

impl Connections {
    /// The id of the connection with that key, if it has been made.
    pub(super) fn find(&self, key: &ConnectionKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// Those that are not discarded.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.list.iter().filter(|connection| !connection.is_free)
    }

    /// The connections of a pair of hosts and stream, the one that was made last first.
    pub(super) fn of_stream(&self, key: StreamKey) -> impl Iterator<Item = &Connection> {
        let at = |id: u32| self.list.get(id as usize);
        let last = self.streams.get(&key).and_then(|stream| at(stream.last));
        std::iter::successors(last, move |connection| at(connection.before))
    }

    /// Discards the connections of a pair of hosts and stream, which are idle. A later one would be
    /// counted as the first.
    pub(super) fn discard_stream(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.remove(&key) else { return };
        let mut id = stream.last;
        while let Some(connection) = self.list.get_mut(id as usize) {
            connection.is_free = true;
            connection.flows = Undelivered::default();
            let (own, pair) = (connection.key(), connection.pair);
            self.by_key.remove(&own);
            self.in_use.discard(key.src, key.dst, pair);
            self.free.push(id);
            id = connection.before;
        }
        if let Some(pool) = self.pools.get_mut(stream.pool as usize) {
            pool.clear();
            self.free_pools.push(stream.pool);
        }
    }

    /// All of them, by id.
    pub(super) fn as_slice(&self) -> &[Connection] {
        &self.list
    }

    pub(super) fn get_mut(&mut self, id: u32) -> &mut Connection {
        &mut self.list[id as usize]
    }

    /// Queue pairs with incomplete flows.
    pub(super) fn in_use(&self) -> &InUse {
        &self.in_use
    }

    /// The next flow of a pair of hosts and stream needs an idle connection: the one with the
    /// lowest slot, or the slot of a new connection, which [`Self::add_to_pool`] then adds.
    pub(super) fn take_idle(&mut self, key: StreamKey) -> Result<u32, u32> {
        let Some(stream) = self.streams.get(&key) else { return Err(0) };
        let pool = self.pools.get_mut(stream.pool as usize);
        pool.and_then(Pool::take).ok_or(stream.count)
    }

    /// From now on a connection returns to the pool of its pair of hosts and stream when it is
    /// idle.
    pub(super) fn add_to_pool(&mut self, key: StreamKey, id: u32) {
        let stream = self.streams.get_mut(&key).expect("the connection is one of the stream");
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

    /// From now on [`Self::find`] finds a connection by its fixed slot.
    pub(super) fn add_to_keys(&mut self, key: ConnectionKey, id: u32) {
        self.by_key.insert(key, id);
    }

    /// The next flow to be delivered on a connection.
    pub(super) fn expect_flow(&mut self, id: u32, flow: u32) {
        self.list[id as usize].flows.push(flow);
    }

    /// Counts a flow of a connection.
    pub(super) fn count_flow(&mut self, id: u32) {
        let connection = &mut self.list[id as usize];
        connection.incomplete += 1;
        if connection.incomplete == 1 {
            self.in_use.add(connection.src, connection.pair);
        }
    }

    /// A flow of a connection has completed.
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

    /// The id that the next connection gets.
    pub(super) fn next_id(&self) -> u32 {
        let free = self.free.last().copied();
        free.unwrap_or_else(|| u32::try_from(self.list.len()).expect("fewer than 2^32 queue pairs"))
    }

    /// Counts a queue pair for its pair of hosts and stream; how many they have now.
    pub(super) fn count_in_stream(&mut self, key: &ConnectionKey) -> u32 {
        let none = Stream { count: 0, pool: NO_POOL, last: NONE };
        let stream = self.streams.entry(key.stream_key()).or_insert(none);
        stream.count += 1;
        stream.count
    }

    /// Adds the connection of a queue pair whose sender is in another partition of a parallel run;
    /// its id.
    pub(super) fn add_arriving(&mut self, key: &ConnectionKey, qp: QpId) -> u32 {
        let id = self.next_id();
        self.list.push(Connection { is_arriving: true, ..Connection::new(key, qp, u32::MAX) });
        id
    }

    /// Takes over the maxima of another partition of a parallel run.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.in_use.absorb(&other.in_use);
    }

    /// Adds the connection of a queue pair; its id.
    pub(super) fn add(&mut self, key: &ConnectionKey, qp: QpId) -> u32 {
        let id = self.next_id();
        let pair = self.in_use.pair(key.src, key.dst);
        let stream = self.streams.get_mut(&key.stream_key()).expect("it was counted");
        let before = std::mem::replace(&mut stream.last, id);
        let connection = Connection { before, ..Connection::new(key, qp, pair) };
        match self.free.pop() {
            Some(_) => self.list[id as usize] = connection,
            None => self.list.push(connection),
        }
        id
    }
}
