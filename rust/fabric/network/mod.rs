//! Everything between the NICs: ports, wires, and the packets on them.
//!
//! A port decides late which packet starts when (see [`port`]), so whatever looks at a port has to
//! settle it first, and whatever has changed a port has to arm its next event afterwards. This
//! type alone keeps that rule: ports are private to it. A world hands it events and learns what
//! they mean: [`Network::handle_port`] answers an arrival with an [`Arrival`].

mod arrival;
mod failing_links;
mod forwarding;
mod host_wire;
mod pfc;
mod pool;
mod port;
mod prefetch;
mod readings;
mod settling;
mod tracing;

use std::sync::Arc;

pub(super) use arrival::{Arrival, Delivery};
pub(super) use readings::PortCounters;

use super::counters::NetworkCounters;
use super::event::{Event, EventQueue};
use super::outcome::PauseRecord;
use super::setup::Setup;
use super::trace_buffer::TraceBuffer;
use crate::ids::PortId;
use crate::packet::Packet;
use crate::switching::{FabricConfig, Switching};
use crate::topology::{Node, Topology};
use crate::units::{Span, Time};
use failing_links::LinkRates;
use pool::Pool;
use port::{Port, PortParts};
use prefetch::{prefetch, prefetch_lines};

/// Everything between the NICs.
#[derive(Debug)]
pub(super) struct Network {
    ports: Vec<Port>,
    pool: Pool,
    queue: EventQueue,
    counters: NetworkCounters,
    switching: Switching,
    rates: LinkRates,
    /// How long a packet that has arrived is in a switch before it can leave.
    forwarding_delay: Span,
    /// Whether acknowledgements are sent with priority, so that PFC does not pause them.
    ack_priority: bool,
    /// PFC frames that took effect.
    pauses: Vec<PauseRecord>,
    /// What happens to packets at traced ports.
    trace: Option<Box<TraceBuffer>>,
}

impl Network {
    /// The network of a setup, idle, with its failures scheduled.
    pub(in crate::fabric) fn new(setup: &Setup) -> Self {
        let Setup { topology, fabric, scheme, seed, .. } = setup;
        let ids =
            (0..u32::try_from(2 * topology.links().len()).expect("ids are 32 bits")).map(PortId);
        let ports: Vec<Port> = ids.map(|id| port(topology, fabric, id)).collect();
        // Most events are arrivals, at most the flight of a large packet ahead.
        let horizon = ports.iter().map(|port| port.flight(1 << 14).as_ps()).max().unwrap_or(0);
        let mut network = Self {
            ports,
            pool: Pool::default(),
            queue: EventQueue::new(horizon),
            counters: NetworkCounters::default(),
            switching: Switching::new(topology, fabric, scheme, *seed),
            rates: LinkRates::default(),
            forwarding_delay: fabric.forwarding_delay,
            ack_priority: setup.nic.ack.priority,
            pauses: Vec::new(),
            trace: None,
        };
        network.schedule_failures(&fabric.failures);
        network
    }

    /// The switches.
    pub(in crate::fabric) fn switching(&self) -> &Switching {
        &self.switching
    }

    /// What it has counted so far.
    pub(in crate::fabric) fn counters(&self) -> &NetworkCounters {
        &self.counters
    }

    /// Schedules an event.
    pub(in crate::fabric) fn schedule(&mut self, at: Time, event: Event) {
        self.queue.push(at, event);
    }

    /// When the next event is.
    #[inline]
    pub(in crate::fabric) fn next_time(&mut self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Takes the next event, and prefetches the memory of those that follow.
    #[inline]
    pub(in crate::fabric) fn pop_event(&mut self) -> Option<(Time, Event)> {
        let next = self.queue.pop();
        self.prefetch();
        next
    }

    /// Asks for the memory of coming events, in stages as each stage needs the one before: first
    /// the port, then the packets that its lists begin with, then the packet after those.
    #[inline]
    fn prefetch(&self) {
        if let Some(port) = self.queue.port_ahead(12) {
            prefetch_lines(&self.ports[port.index()]);
        }
        if let Some(port) = self.queue.port_ahead(6) {
            let heads = self.ports[port.index()].heads();
            heads.into_iter().flatten().for_each(|slot| prefetch(self.pool.get(slot)));
        }
        if let Some(port) = self.queue.port_ahead(2)
            && let Some(next) = self.pool.second(self.ports[port.index()].wire)
        {
            prefetch(self.pool.get(next));
        }
    }

    /// Every packet in a queue or on a wire.
    pub(in crate::fabric) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.ports.iter().flat_map(|port| port.packets(&self.pool))
    }

    /// PFC frames that took effect, by time.
    pub(in crate::fabric) fn take_pauses(&mut self) -> Vec<PauseRecord> {
        std::mem::take(&mut self.pauses)
    }
}

fn port(topology: &Arc<Topology>, config: &FabricConfig, id: PortId) -> Port {
    let (start, end) = topology.ends_of(id);
    let link = topology.link(id.link());
    let forwarding = match end {
        Node::Switch(_) => config.forwarding_delay,
        Node::Host(_) => Span::ZERO,
    };
    Port::new(&PortParts {
        start,
        end,
        rate: link.rate,
        delay: link.delay + forwarding,
        gap: config.gap,
        rounding: config.rounding,
    })
}
