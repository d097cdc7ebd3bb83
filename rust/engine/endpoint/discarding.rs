//! Discards queue pairs together with the messages that have completed on them.

use super::Endpoints;
use super::connections::StreamKey;
use crate::ids::QpId;

/// Fate of the queue pairs of a completed message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompletedQpPolicy {
    /// They stay open for later messages.
    Keep,
    /// They are discarded.
    Discard,
}

impl Endpoints {
    /// Enables discarding of queue pairs. A queue pair is discarded after its message has
    /// completed, once no packet or timer can refer to it. This suits programs that post at most
    /// one message for each host pair and stream. Discarded queue pairs stay counted.
    ///
    /// A queue pair that has retransmitted a packet is kept, since a copy may still be in flight.
    /// Queue pairs are also kept by NICs with a context cache, telemetry or delayed
    /// acknowledgements.
    ///
    /// # Panics
    /// If [`Self::discard_completed`] has not been called before.
    pub fn discard_queue_pairs(&mut self) {
        assert!(
            self.ledger.discarded().is_some(),
            "call discard_completed before discard_queue_pairs"
        );
        self.completed_qps = CompletedQpPolicy::Discard;
    }

    /// Discards the queue pairs of a stream without open messages. Does nothing unless the run
    /// discards queue pairs and all of them are quiet.
    pub(super) fn discard_stream(&mut self, key: StreamKey) {
        if self.completed_qps == CompletedQpPolicy::Keep {
            return;
        }
        let StreamKey { src, dst, .. } = key;
        let connections = &self.ledger.connections;
        let senders: Vec<QpId> = connections.of_stream(key).map(|it| it.qp).collect();
        // All or none: the stream's list of connections is discarded as a whole.
        if !senders.iter().all(|&qp| self.hosts[src.index()].nic.is_quiet(qp)) {
            return;
        }
        for qp in senders {
            // Only the requester knows the number of its responder: read it before discarding.
            let receiver = self.hosts[src.index()].nic.peer_qp(qp);
            self.hosts[src.index()].nic.discard_qp(qp);
            self.hosts[dst.index()].nic.discard_qp(receiver);
        }
        self.ledger.connections.discard_stream(key);
    }
}
