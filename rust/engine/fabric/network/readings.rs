//! Readings of the network's counters: for probes of queues, for the watch of a run, and for the
//! results at its end.

use super::Network;
use super::port::Port;
use crate::endpoint::Endpoints;
use crate::fabric::outcome::Queue;
use crate::ids::PortId;
use crate::topology::Node;
use crate::units::{Bytes, Time};

/// Counters of all ports at one time, by port id.
#[derive(Debug, Default)]
pub(in crate::fabric) struct PortCounters {
    /// Queued bytes without priority.
    pub(in crate::fabric) waiting: Vec<u32>,
    /// Bytes of packets that have started on the wire.
    pub(in crate::fabric) carried: Vec<u64>,
}

impl Network {
    /// Returns the load of every switch port before any packet starts or arrives at `now`, by port
    /// id; zero for ports of hosts.
    pub(in crate::fabric) fn queues_before(
        &mut self,
        now: Time,
        endpoints: &mut Endpoints,
    ) -> Vec<Queue> {
        let mut queues = vec![Queue::default(); self.ports.len()];
        // Settled to just before `now`: packets that start or arrive at `now` come after the probe.
        let Some(before) = now.as_ps().checked_sub(1).map(Time::from_ps) else { return queues };
        for (id, queue) in (0u32..).map(PortId).zip(&mut queues) {
            if matches!(self.ports[id.index()].start.node(), Node::Switch(_)) {
                self.settle_before(now, id, endpoints);
                let port = &self.ports[id.index()];
                let of_classes = self.shared.classes.as_ref().map(|it| it.of_port(id).len());
                let packets = port.packets_loaded(before) + of_classes.unwrap_or(0);
                *queue = Queue {
                    packets: u32::try_from(packets).expect("fewer than 2^32 packets in flight"),
                    bytes: Bytes::new(port.load(before).into()),
                };
            }
        }
        queues
    }

    /// Reads all counters before any packet starts or arrives at `now`. Those of `ports` are exact;
    /// others may be stale.
    pub(in crate::fabric) fn read_before(
        &mut self,
        now: Time,
        ports: &[PortId],
        counters: &mut PortCounters,
        endpoints: &mut Endpoints,
    ) {
        ports.iter().for_each(|&id| self.settle_before(now, id, endpoints));
        counters.waiting.clear();
        counters.waiting.extend(self.ports.iter().map(Port::data_waiting));
        counters.carried.clear();
        counters.carried.extend(self.ports.iter().map(|port| port.carried));
    }

    /// Returns the peak of queued bytes at each switch port, by port id; 0 for ports of hosts.
    pub(in crate::fabric) fn queue_bytes_max(&self) -> Vec<Bytes> {
        let most = |port: &Port| match port.start.node() {
            Node::Switch(_) => Bytes::new(port.waiting_max.into()),
            Node::Host(_) => Bytes::ZERO,
        };
        self.ports.iter().map(most).collect()
    }

    /// Returns the bytes that each port has carried, by port id.
    pub(in crate::fabric) fn link_bytes(&self) -> Vec<Bytes> {
        self.ports.iter().map(|port| Bytes::new(port.carried)).collect()
    }
}
