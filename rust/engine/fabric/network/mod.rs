//! The network between the NICs: ports, wires, and the packets on them.
//!
//! A port decides lazily which packet starts when (see [`mod@port`]). A port is therefore settled
//! before it is read. It is armed after a change, unless a later arrival settles it anyway. Only
//! [`Network`] has to follow this rule, because ports are private to it. A world passes events to
//! the network and gets their results: [`Network::handle_arrival`] returns an [`Arrival`].
//!
//! # Cost of a packet-hop
//!
//! A packet-hop costs one event, the arrival. It touches few cache lines: the event, one line of
//! the packet ([`pool`]), the port that it has left, the port that it takes next, and queue ends.
//!
//! - Lazy ports need no event for a start. With flow control, a queued packet costs a second event.
//! - An event is one [`Word`] in a calendar queue ([`EventQueue`]), and it names its packet.
//! - Configuration is reduced to flags of ports ([`PortFeatures`]) when a run starts.
//! - Slow paths are separate functions, which leaves registers and cache to the fast path.
//! - On large fabrics, the memory of coming events is prefetched ([`mod@prefetch`]).
//! - The program's allocator requests pages of 2 MiB, which saves page-table look-ups.
//!
//! `cargo bench --bench instructions` measures it and fails if a count rises by more than 3 %.

mod arrival;
mod boundary;
mod class_table;
mod classes;
mod deadlock;
mod failing_links;
mod forwarding;
mod host_wire;
mod output;
mod pfc;
mod planes;
mod pool;
mod port;
mod prefetch;
mod readings;
mod remainder;
mod settling;
mod telemetry;
mod tracing;

use std::sync::Arc;

pub(super) use arrival::{Arrival, DeliveredPacket};
pub(super) use boundary::Handoff;
pub(super) use deadlock::cycle;
pub(super) use pfc::LinkOrder;
use pfc::Pauses;
pub(super) use pool::SlotId;
use prefetch::{Memory, Prefetcher};
pub(super) use readings::PortCounters;
pub(super) use remainder::Remainder;

use super::counters::NetworkCounters;
use super::event::{Event, MAX_PACKETS, Word};
use super::event_queue::EventQueue;
use super::setup::Setup;
use crate::endpoint::Endpoints;
use crate::ids::PortId;
use crate::packet::Packet;
use crate::switching::{FabricConfig, Switching};
use crate::topology::{Node, Topology};
use crate::units::{Span, Time};
use failing_links::LinkRates;
use output::Shared;
use planes::Wires;
use pool::Pool;
use port::{Port, PortFeatures, PortParts};

/// The network between the NICs.
#[derive(Debug)]
pub(super) struct Network {
    ports: Vec<Port>,
    shared: Shared,
    /// Wires of hosts with several ports.
    wires: Wires,
    rates: LinkRates,
    /// Time from a packet's arrival at a switch until it can leave.
    forwarding_delay: Span,
    prefetcher: Prefetcher,
    /// Boundary ports: their wires end in other partitions of a parallel run.
    boundaries: Vec<PortId>,
    pauses: Pauses,
}

impl Network {
    /// Creates the idle network of a setup, and schedules its failures.
    pub(in crate::fabric) fn new(setup: &Setup) -> Self {
        let Setup { topology, fabric, .. } = setup;
        let ids =
            (0..u32::try_from(2 * topology.links().len()).expect("ids are 32 bits")).map(PortId);
        let ports: Vec<Port> = ids.map(|id| port(topology, fabric, id)).collect();
        // Most events are arrivals, at most the flight time of a large packet ahead.
        let horizon = ports.iter().map(|port| port.flight(1 << 14).as_ps()).max().unwrap_or(0);
        let switching = setup.switching();
        let telemetry = telemetry::Table::of(setup, &switching);
        let shared = Shared {
            telemetry,
            classes: class_table::Classes::of(setup),
            pool: Pool::new(MAX_PACKETS),
            queue: EventQueue::new(switching.ties(), 2 * topology.links().len(), horizon),
            counters: NetworkCounters::default(),
            switching,
            trace: None,
        };
        let mut network = Self {
            prefetcher: Prefetcher::new(ports.len() * size_of::<Port>()),
            ports,
            shared,
            wires: Wires::new(topology),
            rates: LinkRates::default(),
            forwarding_delay: fabric.forwarding_delay,
            boundaries: Vec::new(),
            pauses: Pauses::default(),
        };
        // All steps of the plan are queued from the start, and none is rescheduled.
        network.schedule_failures(&fabric.failures);
        network.mark_telemetry_ports();
        network.mark_credit_ports();
        network.mark_class_ports();
        if let Some(time) = fabric.switch.pfc.and_then(|pfc| pfc.pause_time) {
            network.expire_pauses_after(time);
        }
        network
    }

    pub(in crate::fabric) fn switching(&self) -> &Switching {
        &self.shared.switching
    }

    /// Returns the counters so far.
    pub(in crate::fabric) fn counters(&self) -> &NetworkCounters {
        &self.shared.counters
    }

    pub(in crate::fabric) fn schedule(&mut self, at: Time, event: Event) {
        self.shared.queue.push(at, event);
    }

    /// Returns the time of the next event.
    #[inline]
    pub(in crate::fabric) fn next_time(&mut self) -> Option<Time> {
        self.shared.queue.next_time()
    }

    /// Takes the next event, if it is not later than `by`.
    #[inline(always)]
    pub(in crate::fabric) fn pop_event(
        &mut self,
        by: Time,
        endpoints: &Endpoints,
    ) -> Option<(Time, Word)> {
        // Prefetching happens before the event is taken, to overlap with its handling.
        if self.shared.queue.is_bucket_done() {
            self.prefetcher.advance(&self.ports, &mut self.shared, endpoints);
        } else if self.prefetcher.is_per_event() {
            let memory = Memory { ports: &self.ports, shared: &self.shared, endpoints };
            self.prefetcher.before_event(memory);
        }
        self.shared.queue.pop_of_bucket(by)
    }

    /// Prefetches the hosts of later timeouts, before a timeout is handled.
    pub(in crate::fabric) fn prefetch_timeouts(&self, endpoints: &Endpoints) {
        self.prefetcher.before_timeout(&self.shared.queue, endpoints);
    }

    /// Iterates over the packets in queues and on wires.
    pub(in crate::fabric) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.shared.pool.packets()
    }

    /// Prefetches as if ports had this many bytes.
    #[cfg(test)]
    pub(in crate::fabric) fn prefetch_for_port_bytes(&mut self, port_bytes: usize) {
        self.prefetcher = Prefetcher::new(port_bytes);
    }
}

fn port(topology: &Arc<Topology>, config: &FabricConfig, id: PortId) -> Port {
    let (start, end) = topology.ends_of(id);
    let link = topology.link(id.link());
    // The forwarding delay counts as part of the wire: a packet arrives when its switch may decide
    // about it. This saves an event per packet and hop.
    let forwarding = match end {
        Node::Switch(_) => config.forwarding_delay,
        Node::Host(_) => Span::ZERO,
    };
    let mut port = Port::new(&PortParts {
        start,
        end,
        rate: config.llr.map_or(link.rate, |llr| llr.remaining_rate(link.rate)),
        delay: link.delay + forwarding,
        gap: config.gap,
        rounding: config.rounding,
    });
    if matches!(start, Node::Host(_)) && topology.planes().count() > 1 {
        port.features = port.features.with(PortFeatures::PLANES);
    }
    if config.switch.pfc.is_some() || config.switch.cbfc.is_some() {
        port.features = port.features.with(PortFeatures::FLOW_CONTROL);
    }
    port
}
