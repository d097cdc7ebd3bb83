//! Memory of coming events that is fetched ahead on large fabrics. Results do not depend on it.
//!
//! Each loop reads what the one before has fetched.

use super::pool::SlotId;
use super::{Network, Shared};
use crate::endpoint::Endpoints;
use crate::ids::{HostId, PortId};
use crate::packet::{Flags, View};
use crate::topology::Node;

/// Lists of what is fetched, empty between buckets, kept for their memory.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Packets that come to hosts soon.
    arriving: Vec<(HostId, SlotId)>,
    /// Hosts that may send their next packet soon.
    sending: Vec<HostId>,
    /// Those packets that complete the sending or the receipt of a flow.
    ending: Vec<(HostId, SlotId)>,
    /// Ports by which packets leave switches soon, and the flags of these packets.
    leaving: Vec<(PortId, Flags)>,
}

impl Network {
    /// Fetches the ports by which packets of the current bucket leave their switches, where a hash
    /// or their path says which, and the ends of queues there and at the ports that they come from.
    pub(super) fn prefetch_outputs(&mut self) {
        let Self { shared: Shared { queue, pool, switching, .. }, ports, ahead, .. } = self;
        for (id, slot) in queue.coming() {
            let port = &ports[id.index()];
            port.prefetch_first();
            let Node::Switch(switch) = port.end.node() else { continue };
            let packet = &pool.get(slot).packet;
            if let Some(next) = switching.likely_port(switch, packet) {
                ports[next.index()].prefetch();
                ahead.leaving.push((next, packet.flags));
            }
        }
        for (next, flags) in ahead.leaving.drain(..) {
            ports[next.index()].prefetch_ends(flags);
        }
    }

    /// Fetches the memory of hosts to which packets of the next bucket come.
    pub(super) fn prefetch_hosts(&mut self, endpoints: &Endpoints) {
        let Self { shared: Shared { queue, pool, .. }, ports, ahead, .. } = self;
        for (port, slot) in queue.upcoming() {
            let port = &ports[port.index()];
            if let Node::Host(host) = port.end.node() {
                endpoints.host(host).prefetch();
                ahead.arriving.push((host, slot));
            } else if let Node::Host(host) = port.start.node() {
                endpoints.host(host).prefetch();
                ahead.sending.push(host);
            }
        }
        for &(host, slot) in &ahead.arriving {
            endpoints.host(host).nic.prefetch_qp(pool.get(slot).packet.qp);
        }
        for &host in &ahead.sending {
            endpoints.host(host).nic.prefetch_turn();
        }
        for &(host, slot) in &ahead.arriving {
            let packet = &pool.get(slot).packet;
            endpoints.host(host).nic.prefetch_half(packet.qp, packet.is_control());
        }
        for host in ahead.sending.drain(..) {
            endpoints.host(host).nic.prefetch_next();
        }
        self.prefetch_flows(endpoints);
    }

    /// Fetches the flows of which these packets are the last data packet or the acknowledgement of
    /// it, and their connections.
    fn prefetch_flows(&mut self, endpoints: &Endpoints) {
        let Self { shared: Shared { pool, .. }, ahead, .. } = self;
        for (host, slot) in ahead.arriving.drain(..) {
            let nic = &endpoints.host(host).nic;
            match pool.get(slot).packet.view() {
                View::Data(data) if data.is_last() => {
                    let Some(connection) = nic.receiving_cookie(data.qp) else { continue };
                    endpoints.prefetch_connection(connection);
                }
                View::Ack(ack) => {
                    let Some(flow) = nic.prefetch_completion(ack) else { continue };
                    endpoints.prefetch_flow(flow);
                }
                _ => continue,
            }
            ahead.ending.push((host, slot));
        }
        for (host, slot) in ahead.ending.drain(..) {
            let (nic, packet) = (&endpoints.host(host).nic, &pool.get(slot).packet);
            if packet.is_control() {
                let connection = nic.sending_cookie(packet.qp);
                connection.into_iter().for_each(|it| endpoints.prefetch_connection(it));
            } else {
                let connection = nic.receiving_cookie(packet.qp);
                connection.into_iter().for_each(|it| endpoints.prefetch_delivery(it));
            }
        }
    }
}
