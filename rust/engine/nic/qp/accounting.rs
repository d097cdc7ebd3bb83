//! Accounting of queue pairs: the state that a NIC holds because of how messages are split.
//!
//! The counts come from the queue pairs that exist, not from a formula about the scheme, so they
//! can validate such a formula.

use std::collections::BTreeMap;

use crate::ids::{HostId, QpId};
use crate::nic::qp::{Life, Origin, Qp, Role};
use crate::nic::{CacheCounters, HardwareCounters, Nic};
use crate::units::Bytes;

/// The queue pairs of one NIC. Each end of a connection is counted at its own NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QpAccount {
    /// Queue pairs ever created.
    pub opened: u64,
    /// Queue pairs created and not destroyed.
    pub live: u64,
    /// Peak number of live queue pairs.
    pub peak: u64,
    /// Queue pairs ever created to send; the `qps` of a run count these.
    pub sending: u64,
    /// Sending ones that a splitter asked for beyond one per pair of peers and message stream.
    pub extra: u64,
    /// Hosts at the other end of live queue pairs.
    pub peers: u64,
    /// Most live queue pairs with one peer.
    pub per_peer_max: u64,
    /// Context memory of `peak` queue pairs.
    pub context_bytes: Bytes,
    /// Counters of the context cache, if there is one.
    pub cache: CacheCounters,
    /// Counters of the limits of hardware, if there are any.
    pub hardware: Option<HardwareCounters>,
}

impl QpAccount {
    /// Returns the maximum of each count over several NICs. The counters of caches and limits are
    /// summed.
    pub fn maxima(accounts: &[Self]) -> Self {
        accounts.iter().fold(Self::default(), |maxima, it| Self {
            opened: maxima.opened.max(it.opened),
            live: maxima.live.max(it.live),
            peak: maxima.peak.max(it.peak),
            sending: maxima.sending.max(it.sending),
            extra: maxima.extra.max(it.extra),
            peers: maxima.peers.max(it.peers),
            per_peer_max: maxima.per_peer_max.max(it.per_peer_max),
            context_bytes: maxima.context_bytes.max(it.context_bytes),
            // Sums, because misses cost time at every NIC, not only at the most loaded one.
            cache: CacheCounters {
                hits: maxima.cache.hits + it.cache.hits,
                send_misses: maxima.cache.send_misses + it.cache.send_misses,
                receive_misses: maxima.cache.receive_misses + it.cache.receive_misses,
            },
            hardware: match (maxima.hardware, it.hardware) {
                (Some(sum), Some(more)) => Some(sum.plus(more)),
                (sum, more) => sum.or(more),
            },
        })
    }
}

/// The live queue pairs of a NIC with one peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PeerAccount {
    /// Queue pairs, including those that only receive.
    pub live: u64,
    /// Queue pairs that send.
    pub sending: u64,
    /// Sending ones that are extra.
    pub extra: u64,
}

impl PeerAccount {
    /// Returns the sum of both.
    pub(in crate::nic) fn plus(self, other: Self) -> Self {
        Self {
            live: self.live + other.live,
            sending: self.sending + other.sending,
            extra: self.extra + other.extra,
        }
    }
}

impl Nic {
    /// Returns the account of its queue pairs as of now. Those that the driver has discarded
    /// because they can have no further effect still count as live.
    pub fn account(&self) -> QpAccount {
        let peers = self.account_by_peer();
        let context = self.config.queue_pairs.context_bytes.get();
        QpAccount {
            opened: self.qps.len() as u64,
            // Discarding only saves memory: the account must not depend on it.
            live: self.qps.discarded().all + self.count_qps(|qp| qp.life == Life::Live),
            peak: self.qps.peak(),
            sending: self.send_qps(),
            extra: self.extra_qps(),
            peers: peers.len() as u64,
            per_peer_max: peers.values().map(|peer| peer.live).max().unwrap_or(0),
            context_bytes: Bytes::new(self.qps.peak() * context),
            cache: self.cache.as_ref().map(|cache| cache.counters()).unwrap_or_default(),
            hardware: self.hardware_counters(),
        }
    }

    /// Returns the account of its live queue pairs by peer.
    pub(crate) fn account_by_peer(&self) -> BTreeMap<HostId, PeerAccount> {
        // Starts with the discarded queue pairs, which still count as live.
        let mut peers: BTreeMap<HostId, PeerAccount> = self.qps.discarded().peers.iter().collect();
        for (number, qp) in self.qps.iter() {
            let id = QpId(number as u32);
            if qp.life != Life::Live {
                continue;
            }
            let peer = peers.entry(self.peer_of(id)).or_default();
            let sends = qp.role == Role::Both;
            *peer = peer.plus(PeerAccount {
                live: 1,
                sending: u64::from(sends),
                extra: u64::from(sends && qp.origin == Origin::Extra),
            });
        }
        peers
    }

    /// Returns the largest state that a policy keeps for a queue pair, in bits.
    pub(crate) fn policy_bits_max(&self) -> u64 {
        // Slots of discarded requesters may hold others by now; their maximum was kept.
        let discarded = self.qps.discarded().policy_bits;
        self.requesters.iter().map(|requester| requester.policy_bits()).fold(discarded, u64::max)
    }

    /// Returns the number of queue pairs ever created to send.
    pub(crate) fn send_qps(&self) -> u64 {
        self.qps.discarded().sending + self.count_qps(|qp| qp.role == Role::Both)
    }

    /// Returns how many of these a splitter asked for beyond one per pair of peers and message
    /// stream.
    pub(crate) fn extra_qps(&self) -> u64 {
        let is_extra = |qp: &Qp| qp.role == Role::Both && qp.origin == Origin::Extra;
        self.qps.discarded().extra + self.count_qps(is_extra)
    }

    fn count_qps(&self, is: fn(&Qp) -> bool) -> u64 {
        self.qps.iter().filter(|(_, qp)| is(qp)).count() as u64
    }
}
