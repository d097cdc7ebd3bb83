//! The cache of queue pair contexts in a NIC, which makes thousands of queue pairs cost time.
//!
//! A NIC keeps the contexts of some queue pairs on its chip and evicts the least recently used one.
//! A miss fetches the context from host memory over PCIe. Sources: FaRM (NSDI 2014), FaSST (OSDI
//! 2016) and SRNIC (NSDI 2023) measured that the throughput of RDMA NICs falls beyond some hundreds
//! to thousands of connections. The model is the simplest that shows it; the miss penalty of 0.5 to
//! 1 us is that of one to two PCIe round trips \[inferred\].
//!
//! A miss delays only its own queue pair: fetches overlap, and other queue pairs send meanwhile. A
//! fetch begins when it is the queue pair's turn to send; a NIC that prefetched would hide part of
//! it. A fetched context is used once before it can be evicted, so there is progress however small
//! the cache is. Arriving packets load contexts and count misses, but are not delayed: a NIC has
//! room to hold them while it fetches.

use serde::{Deserialize, Serialize};

use crate::ids::QpId;
use crate::units::Span;

/// Configuration of a context cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheConfig {
    /// Contexts that it holds, at least 1.
    pub entries: u32,
    /// Delay of a packet that misses: 500 ns \[inferred\].
    #[serde(default = "default_miss")]
    pub miss: Span,
}

const fn default_miss() -> Span {
    Span::from_ns(500)
}

/// Counters of a context cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheCounters {
    /// Packets whose context was cached.
    pub hits: u64,
    /// Packets to send that waited for their context.
    pub send_misses: u64,
    /// Packets received whose context was not cached.
    pub receive_misses: u64,
}

/// Location of a queue pair's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Absent,
    /// Being fetched, or fetched and not yet used.
    Fetched,
    Present,
}

/// Links of a queue pair in the list from most to least recently used.
#[derive(Debug, Clone, Copy)]
struct Node {
    newer: u32,
    older: u32,
    presence: Presence,
}

const NONE: u32 = u32::MAX;

/// The contexts of one NIC: a list through a table by queue pair, with constant-time steps.
#[derive(Debug, Clone)]
pub(in crate::nic) struct ContextCache {
    config: CacheConfig,
    nodes: Vec<Node>,
    newest: u32,
    oldest: u32,
    len: u32,
    counters: CacheCounters,
}

impl ContextCache {
    pub(in crate::nic) fn new(config: CacheConfig) -> Self {
        Self {
            config,
            nodes: Vec::new(),
            newest: NONE,
            oldest: NONE,
            len: 0,
            counters: CacheCounters::default(),
        }
    }

    pub(in crate::nic) fn counters(&self) -> CacheCounters {
        self.counters
    }

    /// Handles a departing packet of `qp`. Returns how long it must wait if its context is not
    /// cached.
    pub(in crate::nic) fn send(&mut self, qp: QpId) -> Option<Span> {
        match self.presence(qp) {
            Presence::Absent => {
                self.counters.send_misses += 1;
                self.nodes[qp.index()].presence = Presence::Fetched;
                return Some(self.config.miss);
            }
            // The miss was counted when the fetch began.
            Presence::Fetched => {}
            Presence::Present => {
                self.counters.hits += 1;
                self.unlink(qp.0);
            }
        }
        self.push_front(qp.0);
        None
    }

    /// Handles an arriving packet for `qp`.
    pub(in crate::nic) fn receive(&mut self, qp: QpId) {
        match self.presence(qp) {
            // A fetched context is not in the list before it is used, so arrivals for other queue
            // pairs cannot evict it first.
            Presence::Fetched => return,
            Presence::Absent => self.counters.receive_misses += 1,
            Presence::Present => {
                self.counters.hits += 1;
                self.unlink(qp.0);
            }
        }
        self.push_front(qp.0);
    }

    fn presence(&mut self, qp: QpId) -> Presence {
        // Grows on demand: many queue pairs of a run never send or receive.
        if self.nodes.len() <= qp.index() {
            let absent = Node { newer: NONE, older: NONE, presence: Presence::Absent };
            self.nodes.resize(qp.index() + 1, absent);
        }
        self.nodes[qp.index()].presence
    }

    fn unlink(&mut self, qp: u32) {
        let Node { newer, older, .. } = self.nodes[qp as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.nodes[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.nodes[older as usize].newer = newer,
        }
        self.nodes[qp as usize].presence = Presence::Absent;
        self.len -= 1;
    }

    fn push_front(&mut self, qp: u32) {
        // Evicts before the new node is linked: with one entry the list is empty in between. A
        // cache of 0 entries counts as one of 1, or no context could ever be used.
        if self.len >= self.config.entries.max(1) {
            self.unlink(self.oldest);
        }
        self.nodes[qp as usize] =
            Node { newer: NONE, older: self.newest, presence: Presence::Present };
        match self.newest {
            NONE => self.oldest = qp,
            newest => self.nodes[newest as usize].newer = qp,
        }
        self.newest = qp;
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(entries: u32) -> ContextCache {
        ContextCache::new(CacheConfig { entries, miss: Span::from_ns(500) })
    }

    #[test]
    fn a_context_is_fetched_once_and_the_least_recently_used_is_evicted() {
        let mut cache = cache(2);
        let mut sends = |qp| cache.send(QpId(qp)).is_none();
        assert_eq!([sends(0), sends(0), sends(0)], [false, true, true]);
        assert_eq!([sends(7), sends(7)], [false, true]);
        assert!(sends(0), "0 is now more recent than 7");
        assert_eq!([sends(3), sends(3)], [false, true]);
        assert!(!sends(7), "it made room for 3");
        assert!(sends(0));
        assert_eq!(cache.counters(), CacheCounters { hits: 3, send_misses: 4, receive_misses: 0 });
    }

    #[test]
    fn a_cache_of_one_context_still_makes_progress() {
        let mut cache = cache(1);
        for _ in 0..3 {
            assert!([2, 0, 1].into_iter().all(|qp| cache.send(QpId(qp)).is_some()));
            // While the others use theirs, a fetched context is not evicted.
            assert!([2, 0, 1].into_iter().all(|qp| cache.send(QpId(qp)).is_none()));
            cache.receive(QpId(9));
        }
        assert_eq!(cache.counters().send_misses, 9);
    }

    #[test]
    fn arrivals_load_contexts_and_count_misses() {
        let mut cache = cache(1);
        cache.receive(QpId(4));
        cache.receive(QpId(4));
        assert!(cache.send(QpId(4)).is_none());
        cache.receive(QpId(5));
        assert!(cache.send(QpId(4)).is_some());
        let CacheCounters { hits, send_misses, receive_misses } = cache.counters();
        assert_eq!((hits, send_misses, receive_misses), (2, 1, 2));
    }

    #[test]
    fn the_cache_behaves_like_a_plain_lru_list() {
        let mut random = crate::rng::Stream::new(3, crate::rng::Purpose::Test, 0);
        let (mut cache, mut list) = (cache(5), Vec::<u32>::new());
        for _ in 0..10_000 {
            let qp = random.below(9);
            let there = list.contains(&qp);
            assert_eq!(cache.send(QpId(qp)).is_none(), there);
            if !there {
                assert!(cache.send(QpId(qp)).is_none(), "fetched");
            }
            list.retain(|&other| other != qp);
            list.insert(0, qp);
            list.truncate(5);
        }
    }
}
