//! Prefetching of hosts and ledger records on large fabrics. The network decides when to prefetch
//! what. This module and `nic::send::prefetch` know where the state is.

use std::mem::offset_of;

use super::Endpoints;
use super::host::Host;
use crate::ids::HostId;
use crate::nic::Nic;
use crate::prefetch::{prefetch, prefetch_all, prefetch_ends, prefetch_lines};

impl Host {
    /// Prefetches the cache lines of a host that every packet touches.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_lines(self, (offset_of!(Self, nic) + Nic::TOUCHED).div_ceil(64));
        prefetch(&self.splitters);
    }

    /// Prefetches the whole host.
    pub(crate) fn prefetch_all(&self) {
        prefetch_all(self);
    }

    /// Prefetches the host's next flow.
    pub(crate) fn prefetch_next_flow(&self) {
        self.splitters.next_flow().into_iter().for_each(prefetch_ends);
    }
}

impl Endpoints {
    /// Prefetches a flow record.
    #[inline]
    pub(crate) fn prefetch_flow(&self, flow: u64) {
        self.ledger.record(flow).into_iter().for_each(prefetch_ends);
    }

    /// Prefetches a connection.
    #[inline]
    pub(crate) fn prefetch_connection(&self, connection: u32) {
        let connections = self.ledger.connections.as_slice();
        connections.get(connection as usize).into_iter().for_each(prefetch_ends);
    }

    /// Prefetches the record of the connection's next flow to be delivered.
    #[inline]
    pub(crate) fn prefetch_delivery(&self, connection: u32) {
        let connections = self.ledger.connections.as_slice();
        if let Some(flow) = connections.get(connection as usize).and_then(|it| it.next_flow()) {
            self.prefetch_flow(flow.into());
        }
    }

    /// Prefetches the receiving host of the next flow of `host`.
    pub(crate) fn prefetch_receiver(&self, host: HostId) {
        if let Some(flow) = self.hosts[host.index()].splitters.next_flow() {
            self.hosts[flow.dst.index()].prefetch_all();
        }
    }

    /// Prefetches the slots of a new queue pair, at both ends of the next flow of `host`.
    pub(crate) fn prefetch_new_queue_pair(&self, host: HostId) {
        let host = &self.hosts[host.index()];
        if let Some(flow) = host.splitters.next_flow() {
            host.nic.prefetch_new_sender();
            self.hosts[flow.dst.index()].nic.prefetch_new_receiver();
        }
    }
}
