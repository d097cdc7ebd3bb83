//! What of the ledger is fetched ahead of the packets that complete flows, on large fabrics.

use super::Endpoints;
use crate::ids::HostId;
use crate::prefetch::prefetch_ends;

impl Endpoints {
    /// Starts to bring the record of a flow near, which the work of a queue pair is named by.
    #[inline]
    pub(crate) fn prefetch_flow(&self, flow: u64) {
        self.ledger.record(flow).into_iter().for_each(prefetch_ends);
    }

    /// Starts to bring a connection near.
    #[inline]
    pub(crate) fn prefetch_connection(&self, connection: u32) {
        let connections = self.ledger.connections.as_slice();
        connections.get(connection as usize).into_iter().for_each(prefetch_ends);
    }

    /// Starts to bring near the flow of a connection that is delivered next.
    #[inline]
    pub(crate) fn prefetch_delivery(&self, connection: u32) {
        let connections = self.ledger.connections.as_slice();
        if let Some(flow) = connections.get(connection as usize).and_then(|it| it.next_flow()) {
            self.prefetch_flow(flow.into());
        }
    }

    /// Starts to bring near the host that the next flow of `host` goes to.
    pub(crate) fn prefetch_receiver(&self, host: HostId) {
        if let Some(flow) = self.hosts[host.index()].splitters.next_flow() {
            self.hosts[flow.dst.index()].prefetch_all();
        }
    }

    /// Starts to bring near where both ends of the queue pair are made that the next flow of `host`
    /// may need.
    pub(crate) fn prefetch_new_queue_pair(&self, host: HostId) {
        let host = &self.hosts[host.index()];
        if let Some(flow) = host.splitters.next_flow() {
            host.nic.prefetch_new_sender();
            self.hosts[flow.dst.index()].nic.prefetch_new_receiver();
        }
    }
}
