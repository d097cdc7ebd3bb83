//! Prefetches the memory of future events on large fabrics. Results do not depend on it.
//!
//! Large fabrics prefetch once per bucket of the calendar. On very large ones the memory of a
//! bucket exceeds a near cache. There, each event prefetches for one event of the next bucket, and
//! for one that is due soon.

use super::Network;
use super::pool::SlotId;
use crate::endpoint::Endpoints;
use crate::ids::{HostId, PortId};
use crate::packet::{Flags, View};
use crate::prefetch::prefetch;
use crate::topology::Node;

/// Distance, in events, at which the state on a packet's path is prefetched. An event takes some
/// 200 ns, so this is longer than the steps of a visit.
const DEPTH: usize = 24;

/// Further distance, in events, at which the entry of the forwarding table is prefetched.
const ROUTE: usize = 4;

/// Distances, in events before a host's timeout, for the host, the flow that it starts, the flow's
/// receiver, and the ends of their lists of queue pairs.
const TIMEOUT_STEPS: [usize; 4] = [8, 6, 4, 2];

/// State of prefetches in several steps: each step reads what the previous one has fetched.
#[derive(Debug, Default)]
pub(super) struct Prefetcher {
    /// The last packets that will leave switches.
    leaving: Recent<Leaving>,
    /// The last hosts that events will come to.
    visits: Recent<Visit>,
    /// Visits of a bucket, where memory is fetched once a bucket.
    bucket: Vec<Visit>,
}

/// A packet that will leave a switch.
#[derive(Debug, Clone, Copy, Default)]
struct Leaving {
    port: PortId,
    flags: Flags,
}

/// A packet that will come to a host, or leave its wire so that the next one may be sent.
#[derive(Debug, Clone, Copy, Default)]
struct Visit {
    host: HostId,
    slot: SlotId,
    comes: bool,
}

/// The last few of many, as places to be overwritten in turn.
#[derive(Debug, Default)]
struct Recent<T> {
    items: [T; 8],
    next: usize,
}

impl<T: Copy> Recent<T> {
    #[inline]
    fn push(&mut self, item: T) {
        self.items[self.next % 8] = item;
        self.next += 1;
    }

    /// The item that was pushed before `count` others; one of no meaning if there was none.
    #[inline]
    fn before(&self, count: usize) -> T {
        self.items[self.next.wrapping_sub(1 + count) % 8]
    }
}

impl Network {
    /// Fetches ports and packets of the bucket after the current one, and the hosts that these
    /// packets come to or leave.
    pub(super) fn prefetch_bucket(&mut self, endpoints: &Endpoints) {
        for (port, slot) in self.shared.queue.upcoming() {
            self.fetch_event(port, slot);
        }
        if !endpoints.has_many_queue_pairs() {
            return;
        }
        let mut visits = std::mem::take(&mut self.prefetcher.bucket);
        for (port, slot) in self.shared.queue.upcoming() {
            visits.extend(self.visit(port, slot, endpoints));
        }
        visits.iter().for_each(|&visit| self.fetch_queue_pair(endpoints, visit));
        visits.iter().for_each(|&visit| self.fetch_half(endpoints, visit));
        visits.iter().for_each(|&visit| self.fetch_ending::<true>(endpoints, visit));
        visits.iter().for_each(|&visit| self.fetch_ending::<false>(endpoints, visit));
        visits.clear();
        self.prefetcher.bucket = visits;
    }

    /// Fetches, before an event is taken, what one event of the next bucket and one that comes
    /// soon access first, and more of what those between will access.
    #[inline(never)]
    pub(super) fn look_ahead(&mut self, endpoints: &Endpoints) {
        if let Some((port, slot)) = self.shared.queue.beside() {
            self.fetch_event(port, slot);
        }
        if let Some((port, slot)) = self.shared.queue.coming(DEPTH + ROUTE) {
            self.fetch_route(port, slot);
        }
        if let Some((port, slot)) = self.shared.queue.coming(DEPTH) {
            self.fetch_way(port, slot, endpoints);
        }
    }

    /// Fetches what [`Self::look_ahead`] has not, since the next bucket, which is taken now, has
    /// more events than the current one.
    pub(super) fn catch_up(&self) {
        for (port, slot) in self.shared.queue.upcoming().skip(self.shared.queue.taken()) {
            self.fetch_event(port, slot);
        }
    }

    /// Fetches the ways of the first packets of a bucket.
    pub(super) fn fetch_first_ways(&mut self, endpoints: &Endpoints) {
        for distance in 0..DEPTH + ROUTE {
            if let Some((port, slot)) = self.shared.queue.coming(distance) {
                self.fetch_route(port, slot);
            }
        }
        for distance in 0..DEPTH {
            if let Some((port, slot)) = self.shared.queue.coming(distance) {
                self.fetch_way(port, slot, endpoints);
            }
        }
    }

    /// Fetches, before a host's timeout is handled, what those of the hosts after it will access:
    /// the host, the flow that it starts, the host that the flow goes to, and the ends of their
    /// lists of queue pairs. Thousands of hosts split their messages at the same time.
    pub(in crate::fabric) fn look_ahead_of_timeouts(&self, endpoints: &Endpoints) {
        if !self.is_large {
            return;
        }
        let queue = &self.shared.queue;
        let [host, flow, receiver, ends] =
            TIMEOUT_STEPS.map(|distance| queue.coming_timeout(distance));
        host.into_iter().for_each(|host| endpoints.host(host).prefetch_all());
        flow.into_iter().for_each(|host| endpoints.host(host).prefetch_next_flow());
        receiver.into_iter().for_each(|host| endpoints.prefetch_receiver(host));
        ends.into_iter().for_each(|host| endpoints.prefetch_new_queue_pair(host));
    }

    #[inline(always)]
    fn fetch_event(&self, port: PortId, slot: SlotId) {
        self.ports[port.index()].prefetch();
        prefetch(self.shared.pool.get(slot));
    }

    /// Fetches the entry of the forwarding table for a packet that comes to a switch.
    #[inline(always)]
    fn fetch_route(&self, port: PortId, slot: SlotId) {
        if let Node::Switch(switch) = self.ports[port.index()].end.node() {
            let dst = self.shared.pool.get(slot).packet.dst;
            self.shared.switching.prefetch_route(switch, dst);
        }
    }

    /// Fetches the port by which a packet leaves the switch that it comes to, where a hash or its
    /// path says which, or the host; and the packet that starts next where it comes from.
    #[inline(always)]
    fn fetch_way(&mut self, id: PortId, slot: SlotId, endpoints: &Endpoints) {
        let port = &self.ports[id.index()];
        port.prefetch_first();
        if let Node::Switch(switch) = port.end.node() {
            let packet = &self.shared.pool.get(slot).packet;
            if let Some(port) = self.shared.switching.likely_port(switch, packet) {
                self.ports[port.index()].prefetch();
                self.prefetcher.leaving.push(Leaving { port, flags: packet.flags });
                let Leaving { port, flags } = self.prefetcher.leaving.before(2);
                self.ports[port.index()].prefetch_ends(flags);
            }
        }
        if let Some(visit) = self.visit(id, slot, endpoints) {
            self.prefetcher.visits.push(visit);
            let visits = &self.prefetcher.visits;
            self.fetch_queue_pair(endpoints, visits.before(1));
            self.fetch_half(endpoints, visits.before(2));
            self.fetch_ending::<true>(endpoints, visits.before(3));
            self.fetch_ending::<false>(endpoints, visits.before(4));
        }
    }

    /// Fetches the host that a packet comes to, or whose wire it leaves, if it is one's.
    #[inline(always)]
    fn visit(&self, port: PortId, slot: SlotId, endpoints: &Endpoints) -> Option<Visit> {
        let port = &self.ports[port.index()];
        let (host, comes) = match (port.end.node(), port.start.node()) {
            (Node::Host(host), _) => (host, true),
            (_, Node::Host(host)) => (host, false),
            _ => return None,
        };
        endpoints.host(host).prefetch();
        Some(Visit { host, slot, comes })
    }

    /// Fetches where the halves of the packet's queue pair are found, or whose turn to send it is.
    #[inline(always)]
    fn fetch_queue_pair(&self, endpoints: &Endpoints, visit: Visit) {
        let nic = &endpoints.host(visit.host).nic;
        match visit.comes {
            true => nic.prefetch_qp(self.shared.pool.get(visit.slot).packet.qp),
            false => nic.prefetch_turn(),
        }
    }

    /// Fetches the half that the packet is for, or the one that sends next.
    #[inline(always)]
    fn fetch_half(&self, endpoints: &Endpoints, visit: Visit) {
        let nic = &endpoints.host(visit.host).nic;
        if !visit.comes {
            return nic.prefetch_next();
        }
        let packet = &self.shared.pool.get(visit.slot).packet;
        nic.prefetch_half(packet.qp, packet.is_control());
    }

    /// Of the last data packet of a flow fetches the connection first and then the flow, and of the
    /// acknowledgement of it the flow first and then the connection.
    #[inline(always)]
    fn fetch_ending<const FIRST: bool>(&self, endpoints: &Endpoints, visit: Visit) {
        if !visit.comes {
            return;
        }
        let nic = &endpoints.host(visit.host).nic;
        match self.shared.pool.get(visit.slot).packet.view() {
            View::Data(data) if data.is_last() => match nic.receiving_cookie(data.qp) {
                Some(connection) if FIRST => endpoints.prefetch_connection(connection),
                Some(connection) => endpoints.prefetch_delivery(connection),
                None => {}
            },
            View::Ack(ack) => match nic.prefetch_completion(ack) {
                Some(flow) if FIRST => endpoints.prefetch_flow(flow),
                Some(_) => {
                    let connection = nic.sending_cookie(ack.qp);
                    connection.into_iter().for_each(|it| endpoints.prefetch_connection(it));
                }
                None => {}
            },
            _ => {}
        }
    }
}
