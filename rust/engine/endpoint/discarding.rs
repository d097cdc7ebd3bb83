//! Queue pairs that are discarded with the messages that have completed on them.

use super::Endpoints;
use super::connections::StreamKey;
use crate::ids::QpId;

/// What becomes of the queue pairs of a message that has completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueuePairs {
    /// Later messages use them.
    Kept,
    /// They are discarded.
    Discarded,
}

impl Endpoints {
    /// From now on queue pairs, too, are discarded when a message has completed on them, as soon as
    /// nothing can come of them any more: for a program that posts one message at most for each
    /// pair of hosts and stream. They stay counted. Those that sent a packet again are kept, since
    /// a copy may be on the way; so are those of NICs with a cache of contexts, with telemetry, or
    /// with acknowledgements that wait.
    ///
    /// # Panics
    /// If [`Self::discard_completed`] was not called before.
    pub fn discard_queue_pairs(&mut self) {
        assert!(self.ledger.discarded().is_some(), "messages are discarded before queue pairs");
        self.queue_pairs = QueuePairs::Discarded;
    }

    /// Discards the queue pairs of a pair of hosts and stream that no message uses any more, if the
    /// run discards queue pairs and nothing can come of any of them.
    pub(super) fn discard_stream(&mut self, key: StreamKey) {
        if self.queue_pairs == QueuePairs::Kept {
            return;
        }
        let StreamKey { src, dst, .. } = key;
        let connections = &self.ledger.connections;
        let senders: Vec<QpId> = connections.of_stream(key).map(|it| it.qp).collect();
        if !senders.iter().all(|&qp| self.hosts[src.index()].nic.is_quiet(qp)) {
            return;
        }
        for qp in senders {
            let receiver = self.hosts[src.index()].nic.peer_qp(qp);
            self.hosts[src.index()].nic.discard_qp(qp);
            self.hosts[dst.index()].nic.discard_qp(receiver);
        }
        self.ledger.connections.discard_stream(key);
    }
}
