//! A fabric with its hosts and its clock.

mod generate;
mod partition;

pub(super) use partition::{Mail, add_progress, merge};

use super::event::{Event, Word};
use super::final_checks::UncheckedOutcome;
use super::network::{Arrival, DeliveredPacket, LinkOrder, Network, PortCounters, SlotId};
use super::outcome::{Measured, Outcome, PauseRecord, Progress, QueueProbe, Verdict};
use super::reachability::Reachability;
use super::setup::Setup;
use super::trace_buffer::{PacketRecord, TraceBuffer};
use crate::endpoint::{Endpoints, FlowRecord, MessageEvent, Site};
use crate::ids::{HostId, MessageId, PortId};
use crate::packet::PauseOrder;
use crate::topology::Node;
use crate::units::Time;
use crate::workload::Message;

/// A fabric with its hosts.
///
/// [`super::run`] runs a fixed workload. [`super::drive`] runs a [`super::Program`], which posts
/// messages during the run. To run several worlds under one clock, step each of them event by
/// event: [`World::next_time`], [`World::step`], [`World::post`], [`World::poll_message_event`].
#[derive(Debug)]
pub struct World {
    setup: Setup,
    network: Network,
    endpoints: Endpoints,
    reachability: Reachability,
    now: Time,
    events: u64,
    probes: Vec<QueueProbe>,
    /// True if this world counts common events. In a parallel run only the first partition does.
    counts_common: bool,
}

impl World {
    /// Creates the world of a setup, before its first event.
    ///
    /// # Panics
    /// With more than [`super::MOST_CLASSES`] traffic classes, a job whose class does not exist, or
    /// classes combined with credit-based flow control, trimming or hosts with several ports.
    pub fn new(setup: &Setup) -> Self {
        Self::with_hosts(setup, Endpoints::new)
    }

    /// Creates the world of a setup with the hosts that `hosts` returns.
    fn with_hosts(setup: &Setup, hosts: impl FnOnce(Site) -> Endpoints) -> Self {
        setup.check_classes();
        let mut network = Network::new(setup);
        for (index, &at) in (0u32..).zip(&setup.probes) {
            network.schedule(at, Event::Probe(index));
        }
        let site = setup.site(network.switching());
        let reachability = Reachability::new(&setup.fabric.failures, site.base_rtt);
        let mut world = Self {
            endpoints: hosts(site),
            network,
            reachability,
            now: Time::ZERO,
            events: 0,
            probes: Vec::new(),
            counts_common: true,
            setup: setup.clone(),
        };
        for id in (0..setup.topology.host_count()).map(HostId) {
            if world.endpoints.owns(id) {
                world.network.schedule_wake(Time::ZERO, id, &mut world.endpoints);
            }
        }
        world
    }

    /// Returns the time of the next event.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        self.network.next_time()
    }

    /// Handles the next event.
    #[inline]
    pub fn step(&mut self) {
        self.run(Time::NEVER, 1);
    }

    /// Handles up to `max_events` events that are not later than `by`. Stops early if there is
    /// something to poll, or no message is open.
    pub(super) fn run(&mut self, by: Time, max_events: u64) {
        let end = self.events + max_events;
        while self.events < end {
            let Some((now, word)) = self.network.pop_event(by, &self.endpoints) else { return };
            self.now = now;
            self.events += 1;
            // Only events at hosts end messages or create something to poll.
            if self.handle(now, word) && (self.is_idle() || self.endpoints.has_pending_reports()) {
                return;
            }
        }
    }

    /// Handles an event. False if it did not reach a host.
    #[inline(always)]
    fn handle(&mut self, now: Time, word: Word) -> bool {
        if let Some((port, slot)) = word.arrival() {
            return self.handle_arrival(now, port, slot);
        }
        if let Some(port) = word.start() {
            self.network.handle_start(now, port);
            return false;
        }
        self.handle_other(now, word);
        true
    }

    #[inline(never)]
    fn handle_other(&mut self, now: Time, word: Word) {
        let event = word.event();
        self.events -= u64::from(event.is_common() && !self.counts_common);
        match event {
            Event::Arrival(..) | Event::Start(_) => unreachable!("handled on the fast path"),
            Event::Free(port) => self.network.handle_free(now, port, &mut self.endpoints),
            Event::Handoff(port) => {
                // The receiving partition counts the arrival.
                self.events -= 1;
                self.network.handle_handoff(now, port);
            }
            Event::PauseEnd(port) => self.handle_pause_end(now, port),
            Event::Correction(port) => {
                let order = LinkOrder::Corrected;
                if let Arrival::Pfc(port, order) = self.network.handle_frame(now, port, order) {
                    self.apply_pause(now, port, order);
                }
            }
            Event::Host(host) => self.handle_host(now, host),
            Event::Control(step) => self.network.handle_step(now, step, &mut self.endpoints),
            Event::Probe(_) => {
                let queues = self.network.queues_before(now, &mut self.endpoints);
                self.probes.push(QueueProbe { at: now, queues });
            }
        }
    }

    /// Returns the time of the last event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the number of handled events.
    #[inline]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the time limit of the run.
    pub fn time_limit(&self) -> Time {
        self.setup.time_limit
    }

    /// True if no message is open.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.endpoints.ledger().open == 0
    }

    /// Sends a message that is not in the workload, at `now` or at its own start if that is later.
    /// `now` must be between the last event and the next.
    ///
    /// # Panics
    /// If `now` is in the past, or if the workload has delays, whose task ids follow those of
    /// messages.
    pub fn post(&mut self, now: Time, message: Message) -> MessageId {
        self.advance(now);
        let id = self.endpoints.post(now, message);
        self.wake_touched();
        id
    }

    /// Records that a program's computation ends at `now`, which must be between the last event and
    /// the next. The run does not complete earlier.
    pub fn record_end(&mut self, now: Time) {
        self.advance(now);
        self.endpoints.record_end(now);
    }

    /// Discards messages and flows on completion; see [`Endpoints::discard_completed`].
    ///
    /// # Panics
    /// If the world has messages or delays.
    pub fn discard_completed(&mut self) {
        self.endpoints.discard_completed();
    }

    /// Discards queue pairs together with their completed messages; see
    /// [`Endpoints::discard_queue_pairs`].
    ///
    /// # Panics
    /// If messages are not discarded.
    pub fn discard_queue_pairs(&mut self) {
        self.endpoints.discard_queue_pairs();
    }

    /// Takes the next completed flow, in a world that discards them.
    #[inline]
    pub fn poll_flow(&mut self) -> Option<FlowRecord> {
        self.endpoints.poll_flow()
    }

    /// Returns the next event of a posted message.
    #[inline]
    pub fn poll_message_event(&mut self) -> Option<MessageEvent> {
        self.endpoints.poll_message_event()
    }

    /// Returns the hosts of the fabric, with their NICs and the ledger of messages.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Returns the pauses and resumes so far.
    pub(super) fn pauses(&self) -> &[PauseRecord] {
        self.network.pauses()
    }

    fn advance(&mut self, now: Time) {
        assert!(self.now <= now, "{now} is before the current time");
        self.now = now;
    }

    /// Ends the run at `at`, without further events.
    pub(super) fn stop(&mut self, at: Time) {
        self.now = at;
    }

    /// True if no open message can complete.
    pub(super) fn only_unreachable_remain(&mut self) -> bool {
        let Setup { topology, fabric, .. } = &self.setup;
        self.reachability.only_unreachable_remain(
            self.now,
            topology,
            &fabric.failures,
            &self.endpoints,
        )
    }

    /// Returns the progress of the run.
    pub fn progress(&self) -> Progress {
        let (messages, bytes) = self.endpoints.sent();
        Progress {
            now: self.now,
            completed: self.endpoints.ledger().completed,
            messages,
            delivered_bytes: self.endpoints.accepted_bytes(),
            total_bytes: bytes.get(),
            packet_hops: self.network.counters().hops,
        }
    }

    /// Returns the results of a run that ends now.
    ///
    /// # Panics
    /// If packets or bytes are not conserved, or another final check fails.
    pub fn outcome(mut self, verdict: Verdict) -> Outcome {
        self.unchecked_outcome(verdict).checked(&self.setup)
    }

    /// Like [`Self::outcome`], without the checks.
    pub(super) fn unchecked_outcome(&mut self, verdict: Verdict) -> UncheckedOutcome {
        let measured = self.measured(verdict);
        let (states, remainder) = (self.network.switching().states(), self.network.remainder());
        UncheckedOutcome::new(
            Outcome::of(measured, states, &self.endpoints),
            remainder,
            &self.endpoints,
        )
    }

    /// Returns the measurements of links and switches at the end.
    fn measured(&mut self, verdict: Verdict) -> Measured {
        let network = &mut self.network;
        network.settle_hosts(self.now, &mut self.endpoints);
        network.settle_switches(self.now);
        let counters = *network.counters();
        let held_back = match verdict {
            Verdict::Completed => Vec::new(),
            Verdict::Stalled | Verdict::TimeLimit => network.held_back(),
        };
        let data = network.packets().filter(|packet| !packet.is_control());
        Measured {
            verdict,
            ended: self.now,
            in_flight: data.count() as u64,
            counters,
            events: self.events,
            queue_bytes_max_by_port: network.queue_bytes_max(),
            link_bytes: network.link_bytes(),
            probes: std::mem::take(&mut self.probes),
            pauses: network.take_pauses(),
            marked_by_port: network.switching().marked(),
            held_back,
            dropped_by_class: network.dropped_by_class(),
        }
    }
}

/// Inputs of hosts: packets, frames and timeouts.
impl World {
    #[inline(always)]
    fn handle_arrival(&mut self, now: Time, id: PortId, slot: SlotId) -> bool {
        match self.network.handle_arrival(now, id, slot, &mut self.endpoints) {
            Arrival::Handled => return false,
            Arrival::Delivered(delivery) => self.deliver(now, delivery),
            Arrival::Pfc(port, order) => self.apply_pause(now, port, order),
        }
        true
    }

    #[inline(never)]
    fn deliver(&mut self, now: Time, delivery: DeliveredPacket) {
        let DeliveredPacket { host, slot, is_traced } = delivery;
        let packet = self.network.take(slot);
        // The NIC decided without this packet what it sends by now, so that goes first.
        self.network.transmit_from(now, self.endpoints.host_mut(host));
        if is_traced {
            let before = self.endpoints.host(host).nic.control_packets().len();
            self.endpoints.handle_packet(now, host, &packet);
            self.network.trace_control(now, self.endpoints.host(host), before);
        } else {
            self.endpoints.handle_packet(now, host, &packet);
        }
        self.follow_up(now, host);
    }

    /// Applies a flow-control frame to a host's port.
    fn apply_pause(&mut self, now: Time, port: PortId, order: LinkOrder) {
        let Node::Host(id) = self.setup.topology.ends_of(port).0 else { return };
        // Packets that could start by now start before the frame takes effect.
        self.network.transmit_from(now, self.endpoints.host_mut(id));
        self.network.apply_pause(now, port, order);
        if let LinkOrder::Pause(order, class) = order
            && self.setup.fabric.has_classes()
        {
            let is_paused = order == PauseOrder::Pause;
            self.endpoints.host_mut(id).nic.pause_class(class, is_paused);
        }
        self.follow_up(now, id);
        self.network.transmit_from(now, self.endpoints.host_mut(id));
    }

    /// Resumes a port whose pause expires.
    fn handle_pause_end(&mut self, now: Time, port: PortId) {
        while let Some(class) = self.network.expiring(now, port) {
            let order = LinkOrder::Pause(PauseOrder::Resume, class);
            match self.network.start_of(port) {
                Node::Host(_) => self.apply_pause(now, port, order),
                Node::Switch(_) => self.network.apply_pause(now, port, order),
            }
        }
    }

    /// Handles a timeout of a host, unless it has already been handled.
    fn handle_host(&mut self, now: Time, id: HostId) {
        self.network.prefetch_timeouts(&self.endpoints);
        // An earlier wake-up has replaced this one. Events are never cancelled.
        if self.endpoints.host(id).wake != now {
            return;
        }
        // This wake-up is used up. The follow-up schedules the next one.
        self.endpoints.host_mut(id).wake = Time::NEVER;
        self.network.transmit_from(now, self.endpoints.host_mut(id));
        self.endpoints.handle_timeout(now, id);
        self.follow_up(now, id);
    }

    /// Updates a host after an input: its events, its wire, its next timeout.
    #[inline(always)]
    fn follow_up(&mut self, now: Time, id: HostId) {
        // Deliveries and completions first: they may post messages to this host's NIC, which one
        // poll of the wire then sends.
        self.endpoints.follow_up(now, id);
        self.wake_touched();
        self.network.follow_up(now, id, &mut self.endpoints);
    }

    /// Schedules hosts that have new work without an input.
    #[inline(always)]
    fn wake_touched(&mut self) {
        // These NICs received no input, so only their wake-ups change and their wires need no poll.
        while let Some(id) = self.endpoints.poll_touched() {
            self.network.schedule_wake(self.now, id, &mut self.endpoints);
        }
    }
}

/// Observation of a run.
impl World {
    /// Returns the credits of credit-based flow control in use on all links.
    #[cfg(test)]
    pub(super) fn credit_in_use(&mut self) -> u64 {
        self.network.credit_in_use()
    }

    /// Prefetches as if ports had this many bytes.
    #[cfg(test)]
    pub(super) fn prefetch_for_port_bytes(&mut self, port_bytes: usize) {
        self.network.prefetch_for_port_bytes(port_bytes);
    }

    /// Sets the event counter.
    #[cfg(test)]
    pub(super) fn set_events(&mut self, events: u64) {
        self.events = events;
    }

    /// Starts recording packets at the nodes for which `traced` is true.
    pub(super) fn trace_nodes(&mut self, traced: &dyn Fn(Node) -> bool) {
        let buffer = TraceBuffer::new(&self.setup.topology, &self.setup.fabric);
        self.network.trace_nodes(traced, buffer);
    }

    /// True if there are enough records to take.
    pub(super) fn has_enough_records(&mut self) -> bool {
        self.network.trace_mut().is_some_and(|trace| trace.has_enough())
    }

    /// Takes the records that no future record can precede.
    pub(super) fn take_records(&mut self) -> Vec<PacketRecord> {
        let now = self.now;
        self.network.trace_mut().map_or_else(Vec::new, |trace| trace.take(now))
    }

    /// Takes all remaining records at the end of a run.
    pub(super) fn take_last_records(&mut self) -> Vec<PacketRecord> {
        self.network.settle_traced(self.now, &mut self.endpoints);
        self.network.trace_mut().map_or_else(Vec::new, |trace| trace.take(Time::NEVER))
    }

    /// Reads all counters before any packet starts or arrives at `now`. Those of `ports` are exact;
    /// others may be stale.
    pub(super) fn read_before(&mut self, now: Time, ports: &[PortId], counters: &mut PortCounters) {
        self.now = now;
        self.network.read_before(now, ports, counters, &mut self.endpoints);
    }
}
