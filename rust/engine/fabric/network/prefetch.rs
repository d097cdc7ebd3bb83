//! Prefetches the memory of future events on large fabrics. Results do not depend on it.
//!
//! Large fabrics prefetch once per bucket of the calendar. On very large ones the memory of a
//! bucket exceeds a near cache. There, each event prefetches for one event of the next bucket, and
//! for one that is due soon.

use super::output::Shared;
use super::pool::SlotId;
use super::port::Port;
use crate::endpoint::Endpoints;
use crate::fabric::event_queue::EventQueue;
use crate::ids::{HostId, PortId};
use crate::packet::{Flags, View};
use crate::prefetch::prefetch;
use crate::topology::Node;

/// Distance, in events, at which the state on a packet's path is prefetched. An event takes about
/// 200 ns, so the distance covers every step of a visit.
const DEPTH: usize = 24;

/// Additional distance, in events, at which the forwarding-table entry is prefetched.
const ROUTE: usize = 4;

/// Distances, in events before a host's timeout, for the host, the flow that it starts, the flow's
/// receiver, and the ends of their lists of queue pairs.
const TIMEOUT_STEPS: [usize; 4] = [8, 6, 4, 2];

/// Bytes of ports up to which prefetching costs more than it saves, because the state of events
/// fits a fast cache.
const NEAR_CACHE: usize = 1 << 16;
/// Bytes of ports above which each event prefetches for one that is due soon. Below, as on a
/// fat-tree of 1,024 hosts (0.8 MB), that costs at least as much as it saves.
const FAR_CACHE: usize = 1 << 20;

/// Decides what to prefetch when. Prefetches of linked state take several steps: each step reads
/// the memory that the previous one has fetched.
#[derive(Debug)]
pub(super) struct Prefetcher {
    /// True if the ports exceed a fast cache.
    is_large: bool,
    /// True if the ports also exceed a large cache.
    is_very_large: bool,
    /// Last packets that will leave switches.
    leaving: Recent<Leaving>,
    /// Last hosts that events will reach.
    visits: Recent<Visit>,
    /// Visits of a bucket, on fabrics that prefetch once per bucket.
    bucket: Vec<Visit>,
}

/// Memory that events access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory<'a> {
    pub ports: &'a [Port],
    pub shared: &'a Shared,
    pub endpoints: &'a Endpoints,
}

/// A packet that will leave a switch.
#[derive(Debug, Clone, Copy, Default)]
struct Leaving {
    port: PortId,
    flags: Flags,
}

/// A packet that will reach a host, or that will leave a host's wire, so that the next may be sent.
#[derive(Debug, Clone, Copy, Default)]
struct Visit {
    host: HostId,
    slot: SlotId,
    is_arriving: bool,
}

/// A ring of the last eight items.
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

    /// Returns the item pushed `count` items before the last one; arbitrary if there were fewer.
    #[inline]
    fn nth_last(&self, count: usize) -> T {
        // Prefetching an arbitrary item is harmless, so no length is kept.
        self.items[self.next.wrapping_sub(1 + count) % 8]
    }
}

impl Prefetcher {
    /// Creates the prefetcher of a network with this many bytes of ports.
    pub(super) fn new(port_bytes: usize) -> Self {
        Self {
            is_large: port_bytes > NEAR_CACHE,
            is_very_large: port_bytes > FAR_CACHE,
            leaving: Recent::default(),
            visits: Recent::default(),
            bucket: Vec::new(),
        }
    }

    /// True if [`Self::before_event`] must be called before each event.
    #[inline(always)]
    pub(super) fn is_per_event(&self) -> bool {
        self.is_very_large
    }

    /// Makes the next bucket of the calendar the current one, and prefetches for it.
    #[inline(never)]
    pub(super) fn advance(&mut self, ports: &[Port], shared: &mut Shared, endpoints: &Endpoints) {
        if self.is_very_large {
            Memory { ports, shared, endpoints }.prefetch_rest_of_bucket();
        }
        if !shared.queue.advance() {
            return;
        }
        let memory = Memory { ports, shared, endpoints };
        if self.is_very_large {
            self.prefetch_first_paths(memory);
        } else if self.is_large {
            self.prefetch_bucket(memory);
        }
    }

    /// Prefetches ports and packets of the next bucket, and the hosts that these packets reach or
    /// leave.
    fn prefetch_bucket(&mut self, memory: Memory<'_>) {
        let queue = &memory.shared.queue;
        queue.next_bucket_arrivals().for_each(|(port, slot)| memory.prefetch_event(port, slot));
        if !memory.endpoints.has_many_queue_pairs() {
            return;
        }
        // One pass per step: each step's memory has arrived when the next pass reads it.
        let mut visits = std::mem::take(&mut self.bucket);
        visits.extend(
            queue.next_bucket_arrivals().filter_map(|(port, slot)| memory.visit(port, slot)),
        );
        visits.iter().for_each(|&visit| memory.prefetch_queue_pair(visit));
        visits.iter().for_each(|&visit| memory.prefetch_qp_half(visit));
        visits.iter().for_each(|&visit| memory.prefetch_completion::<true>(visit));
        visits.iter().for_each(|&visit| memory.prefetch_completion::<false>(visit));
        visits.clear();
        self.bucket = visits;
    }

    /// Prefetches before an event is taken: the first memory that one event of the next bucket
    /// accesses, and further memory of events that are due soon.
    #[inline(never)]
    pub(super) fn before_event(&mut self, memory: Memory<'_>) {
        let queue = &memory.shared.queue;
        if let Some((port, slot)) = queue.next_bucket_peer() {
            memory.prefetch_event(port, slot);
        }
        if let Some((port, slot)) = queue.peek_arrival(DEPTH + ROUTE) {
            memory.prefetch_route(port, slot);
        }
        if let Some((port, slot)) = queue.peek_arrival(DEPTH) {
            self.prefetch_path(memory, port, slot);
        }
    }

    /// Prefetches the paths of the first packets of a bucket.
    fn prefetch_first_paths(&mut self, memory: Memory<'_>) {
        let queue = &memory.shared.queue;
        for (port, slot) in (0..DEPTH + ROUTE).filter_map(|distance| queue.peek_arrival(distance)) {
            memory.prefetch_route(port, slot);
        }
        for (port, slot) in (0..DEPTH).filter_map(|distance| queue.peek_arrival(distance)) {
            self.prefetch_path(memory, port, slot);
        }
    }

    /// Prefetches for the hosts after the one whose timeout is handled next: the host, the flow
    /// that it starts, the flow's receiver, and the ends of their lists of queue pairs. Thousands
    /// of hosts may split their messages at the same time.
    pub(super) fn before_timeout(&self, queue: &EventQueue, endpoints: &Endpoints) {
        if !self.is_large {
            return;
        }
        let [host, flow, receiver, ends] =
            TIMEOUT_STEPS.map(|distance| queue.peek_timeout(distance));
        host.into_iter().for_each(|host| endpoints.host(host).prefetch_all());
        flow.into_iter().for_each(|host| endpoints.host(host).prefetch_next_flow());
        receiver.into_iter().for_each(|host| endpoints.prefetch_receiver(host));
        ends.into_iter().for_each(|host| endpoints.prefetch_new_queue_pair(host));
    }

    /// Prefetches the host that a packet reaches, or its next port if hash or path determine it.
    /// Also prefetches the packet that starts next at the port that it has left.
    #[inline(always)]
    fn prefetch_path(&mut self, memory: Memory<'_>, id: PortId, slot: SlotId) {
        let Memory { ports, shared, .. } = memory;
        let port = &ports[id.index()];
        port.prefetch_first();
        if let Node::Switch(switch) = port.end.node() {
            let packet = &shared.pool.get(slot).packet;
            if let Some(port) = shared.switching.likely_port(switch, packet) {
                ports[port.index()].prefetch();
                self.leaving.push(Leaving { port, flags: packet.flags });
                let Leaving { port, flags } = self.leaving.nth_last(2);
                ports[port.index()].prefetch_ends(flags);
            }
        }
        if let Some(visit) = memory.visit(id, slot) {
            self.visits.push(visit);
            memory.prefetch_queue_pair(self.visits.nth_last(1));
            memory.prefetch_qp_half(self.visits.nth_last(2));
            memory.prefetch_completion::<true>(self.visits.nth_last(3));
            memory.prefetch_completion::<false>(self.visits.nth_last(4));
        }
    }
}

impl Memory<'_> {
    /// Prefetches the events of the next bucket that [`Prefetcher::before_event`] did not reach,
    /// because that bucket has more events than the current one.
    fn prefetch_rest_of_bucket(self) {
        let queue = &self.shared.queue;
        for (port, slot) in queue.next_bucket_arrivals().skip(queue.taken()) {
            self.prefetch_event(port, slot);
        }
    }

    #[inline(always)]
    fn prefetch_event(self, port: PortId, slot: SlotId) {
        self.ports[port.index()].prefetch();
        prefetch(self.shared.pool.get(slot));
    }

    /// Prefetches the forwarding-table entry for a packet that reaches a switch.
    #[inline(always)]
    fn prefetch_route(self, port: PortId, slot: SlotId) {
        if let Node::Switch(switch) = self.ports[port.index()].end.node() {
            let dst = self.shared.pool.get(slot).packet.dst;
            self.shared.switching.prefetch_route(switch, dst);
        }
    }

    /// Prefetches the host that a packet reaches, or whose wire it leaves, if any.
    #[inline(always)]
    fn visit(self, port: PortId, slot: SlotId) -> Option<Visit> {
        let port = &self.ports[port.index()];
        let (host, is_arriving) = match (port.end.node(), port.start.node()) {
            (Node::Host(host), _) => (host, true),
            (_, Node::Host(host)) => (host, false),
            _ => return None,
        };
        self.endpoints.host(host).prefetch();
        Some(Visit { host, slot, is_arriving })
    }

    /// Prefetches the entry of the packet's queue pair, or the head of the NIC's queue.
    #[inline(always)]
    fn prefetch_queue_pair(self, visit: Visit) {
        let nic = &self.endpoints.host(visit.host).nic;
        match visit.is_arriving {
            true => nic.prefetch_qp(self.shared.pool.get(visit.slot).packet.qp),
            false => nic.prefetch_turn(),
        }
    }

    /// Prefetches the requester or responder that the packet is for, or the requester that sends
    /// next.
    #[inline(always)]
    fn prefetch_qp_half(self, visit: Visit) {
        let nic = &self.endpoints.host(visit.host).nic;
        if !visit.is_arriving {
            return nic.prefetch_next();
        }
        let packet = &self.shared.pool.get(visit.slot).packet;
        nic.prefetch_half(packet.qp, packet.is_control());
    }

    /// Prefetches the records of a flow that a packet may complete. For its last data packet, the
    /// connection comes first and then the flow. For the last acknowledgement it is the reverse.
    #[inline(always)]
    fn prefetch_completion<const FIRST: bool>(self, visit: Visit) {
        if !visit.is_arriving {
            return;
        }
        let endpoints = self.endpoints;
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
