//! A run: everything wired together, and the loop.

use std::sync::Arc;

use super::cut_off::CutOff;
use super::event::Event;
use super::failure::{Effect, Plan};
use super::fault::link_ports;
use super::network::Network;
use super::outcome::Sums;
use super::pool::Place;
use super::port::{Noted, Port};
use super::tape::{PacketRecord, Tape};
use super::watch::Seen;
use super::{FabricConfig, Outcome, PauseOrder, Progress, Queue, QueueProbe, Verdict};
use crate::balance::Scheme;
use crate::balance::sender::Trimming;
use crate::endpoint::{Endpoints, FlowRecord, Host, Over, Site, base_rtt};
use crate::ids::{HostId, MessageId, PortId};
use crate::nic::NicConfig;
use crate::packet::Packet;
use crate::topology::{Node, Routes, Topology};
use crate::units::{Bytes, Time};
use crate::workload::{Message, Workload};

/// Everything that determines a run: the same setup gives the same outcome, to the last bit.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Who is wired to whom.
    pub topology: Arc<Topology>,
    /// Links and switches.
    pub fabric: FabricConfig,
    /// Every host's NIC.
    pub nic: NicConfig,
    /// How load is balanced.
    pub scheme: Scheme,
    /// What is sent.
    pub workload: Arc<Workload>,
    /// Where every random draw comes from.
    pub seed: u64,
    /// A run past it did not complete.
    pub time_limit: Time,
    /// When to measure the queues of all switches, see [`Outcome::probes`]; times after the end of
    /// the run measure nothing.
    pub probes: Vec<Time>,
}

/// Events between two calls of `progress`.
pub(super) const PROGRESS_EVERY: u64 = 1 << 18;

/// Runs to the end, telling `progress` from time to time (every 2^18 events or so).
pub fn run(setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> Outcome {
    let mut world = World::new(setup);
    let verdict = world.run(progress);
    world.outcome(verdict)
}

/// A fabric with its hosts, and how far it has got.
///
/// [`run`] is all that most need. A program that decides as it goes what is sent next, or that
/// runs several worlds under one clock, takes a world and goes through it event by event:
/// [`World::next_time`], [`World::step`], [`World::post`], [`World::poll_over`].
#[derive(Debug)]
pub struct World {
    setup: Setup,
    network: Network,
    endpoints: Endpoints,
    plan: Plan,
    cut_off: CutOff,
    now: Time,
    events: u64,
    probes: Vec<QueueProbe>,
}

impl World {
    /// The world of a setup, before anything has happened.
    pub fn new(setup: &Setup) -> Self {
        let topology = &setup.topology;
        let mut network = Network::new(topology, &setup.fabric, &setup.scheme, setup.seed);
        let plan = Plan::new(&setup.fabric.failures, setup.scheme.weights);
        network.expect(&setup.fabric.failures, &plan);
        for (place, &at) in (0u32..).zip(&setup.probes) {
            network.queue.push(at, Event::Probe(place));
        }
        let site = site(setup, &network.ways.intact);
        let cut_off = CutOff::new(&setup.fabric.failures, site.base_rtt);
        let mut world = Self {
            endpoints: Endpoints::new(site),
            network,
            plan,
            cut_off,
            now: Time::ZERO,
            events: 0,
            probes: Vec::new(),
            setup: setup.clone(),
        };
        for id in (0..topology.host_count()).map(HostId) {
            world.keep_wake(id);
        }
        world
    }

    fn run(&mut self, progress: &mut dyn FnMut(&Progress)) -> Verdict {
        while self.endpoints.ledger().open > 0 {
            let Some((now, event)) = self.network.queue.pop() else { return Verdict::Stalled };
            if now > self.setup.time_limit {
                self.now = self.setup.time_limit;
                return Verdict::TimeLimit;
            }
            self.handle(now, event);
            if self.events.is_multiple_of(PROGRESS_EVERY) {
                progress(&self.progress());
                if self.is_hopeless() {
                    return Verdict::Stalled;
                }
            }
        }
        progress(&self.progress());
        Verdict::Completed
    }

    /// When the next event is; `None` if there is none.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        self.network.queue.next_time()
    }

    /// Goes through the next event.
    pub fn step(&mut self) {
        if let Some((now, event)) = self.network.queue.pop() {
            self.handle(now, event);
        }
    }

    /// The time of the last event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// True if no message is open.
    pub fn is_idle(&self) -> bool {
        self.endpoints.ledger().open == 0
    }

    /// Sends a message that the workload does not have, at `now` or at its own start if that is
    /// later. `now` must not be before the last event nor after the next.
    ///
    /// # Panics
    /// If `now` is in the past, or the workload has delays, whose numbers come after messages.
    pub fn post(&mut self, now: Time, message: Message) -> MessageId {
        assert!(self.now <= now, "{now} is past");
        self.now = now;
        let id = self.endpoints.post(now, message);
        self.wake_touched();
        id
    }

    /// Something of a program's own is over at `now`, which must not be before the last event nor
    /// after the next: a run is not complete before.
    pub fn note(&mut self, now: Time) {
        assert!(self.now <= now, "{now} is past");
        self.now = now;
        self.endpoints.note_end(now);
    }

    /// From now on what is over is forgotten: see [`Endpoints::forget_over`].
    ///
    /// # Panics
    /// If there are messages or delays already.
    pub fn forget_over(&mut self) {
        self.endpoints.forget_over();
    }

    /// A flow that is over, where flows are forgotten, which this one is now.
    #[inline]
    pub fn poll_flow(&mut self) -> Option<FlowRecord> {
        self.endpoints.poll_flow()
    }

    /// What became of messages that were posted, one after the other.
    #[inline]
    pub fn poll_over(&mut self) -> Option<Over> {
        self.endpoints.poll_over()
    }

    /// Its hosts.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    #[inline]
    fn handle(&mut self, now: Time, event: Event) {
        self.now = now;
        self.network.look_ahead();
        match event {
            Event::Port(port) => self.handle_port(now, port),
            Event::Start(port) => self.network.handle_start(now, port),
            Event::Host(host) => self.handle_host(now, host),
            Event::Control(step) => self.handle_control(now, step),
            Event::Probe(_) => self.measure_queues(now),
        }
        self.events += 1;
    }

    /// True if what is left cannot get through for ever.
    pub(super) fn is_hopeless(&mut self) -> bool {
        let fabric = (&*self.setup.topology, &self.setup.fabric.failures[..]);
        let sent = (self.endpoints.workload(), self.endpoints.ledger());
        self.cut_off.is_all_that_is_left(self.now, fabric, sent)
    }

    /// From now on notes what happens to packets at the nodes that are `followed`.
    pub(super) fn follow(&mut self, followed: &dyn Fn(Node) -> bool) {
        for port in &mut self.network.ports {
            if followed(port.start.node()) {
                port.noted = port.noted.also_at(Noted::START);
            }
            if followed(port.end.node()) {
                port.noted = port.noted.also_at(Noted::END);
            }
        }
        self.network.tape = Some(Box::new(Tape::new(&self.setup.topology, &self.setup.fabric)));
    }

    /// True if there are many records to take.
    pub(super) fn has_many_records(&self) -> bool {
        self.network.tape.as_ref().is_some_and(|tape| tape.has_many())
    }

    /// Starts what has started by now at ports that are noted, however late anybody looks.
    pub(super) fn settle_noted(&mut self) {
        for id in (0..self.network.ports.len() as u32).map(PortId) {
            if self.network.ports[id.index()].noted.at(Noted::START) {
                self.settle(self.now, id);
            }
        }
    }

    /// What happened to packets and cannot be preceded by anything after `now`.
    pub(super) fn take_records(&mut self, now: Time) -> Vec<PacketRecord> {
        self.network.tape.as_mut().map_or_else(Vec::new, |tape| tape.take(now))
    }

    /// Looks at all counters as they are before anything starts or arrives at `now`; those of
    /// `ports` are right, others may lag.
    pub(super) fn look(&mut self, now: Time, ports: &[PortId], seen: &mut Seen) {
        self.now = now;
        if now > Time::ZERO {
            let before = Time::from_ps(now.as_ps() - 1);
            ports.iter().for_each(|&id| self.settle(before, id));
        }
        let ports = &self.network.ports;
        seen.waiting.clear();
        seen.waiting.extend(ports.iter().map(Port::data_waiting));
        seen.carried.clear();
        seen.carried.extend(ports.iter().map(|port| port.carried));
    }

    /// Links or routing change.
    fn handle_control(&mut self, now: Time, step: u32) {
        if let Some(link) = self.plan.changes_rate(step)
            && now > Time::ZERO
        {
            // What started before now started at the old rate; ports decide late.
            let before = Time::from_ps(now.as_ps() - 1);
            for id in link_ports(link) {
                self.settle(before, id);
            }
        }
        let topology = &self.setup.topology;
        let effect = self.plan.carry_out(step, topology, &mut self.network.ways);
        self.network.suffer(effect);
        if effect == Effect::Converged {
            self.plan.tell_hosts(now, topology, &self.network.ways, &mut self.endpoints);
        }
    }

    /// Measures every queue as it is before anything starts or arrives at `now`.
    fn measure_queues(&mut self, now: Time) {
        let before = Time::from_ps(now.as_ps().saturating_sub(1));
        let mut queues = vec![Queue::default(); self.network.ports.len()];
        for (id, queue) in (0u32..).map(PortId).zip(&mut queues) {
            let port = &self.network.ports[id.index()];
            if matches!(port.start.node(), Node::Switch(_)) && now > Time::ZERO {
                self.settle(before, id);
                *queue = self.network.ports[id.index()].queue(before, &self.network.pool);
            }
        }
        self.probes.push(QueueProbe { at: now, queues });
    }

    /// Starts what started on a port by `now`, and sees to its next event.
    #[inline]
    fn settle(&mut self, now: Time, id: PortId) {
        match self.network.ports[id.index()].start.node() {
            Node::Switch(_) => {
                self.network.settle(now, id);
                self.network.arm(id, || false);
            }
            Node::Host(host) => {
                self.pump(now, host);
                self.keep_wake(host);
            }
        }
    }

    /// The head of a port's wire arrives, or the wire is free.
    #[inline]
    fn handle_port(&mut self, now: Time, id: PortId) {
        let arrived = self.network.take_arrival(now, id);
        self.settle(now, id);
        if let Some(place) = arrived {
            self.arrive(now, id, place);
        }
    }

    #[inline]
    fn arrive(&mut self, now: Time, id: PortId, place: Place) {
        let port = &self.network.ports[id.index()];
        let (end, noted) = (port.end.node(), port.noted.at(Noted::END));
        if port.faulty && self.network.lost_on_the_way(id, place) {
            self.network.note_drop(now, id.reverse(), place);
            self.network.drop_packet(place);
            return;
        }
        if noted {
            self.network.note_arrival(now, id.reverse(), place);
        }
        if self.network.pfc.is_some() {
            if let Some((port, order)) = self.network.take_frame(id, place) {
                self.obey(now, port, order);
                return;
            }
            self.network.note_ingress(id, place);
        }
        match end {
            Node::Switch(switch) => self.network.forward(now, switch, place),
            Node::Host(host) => {
                let packet = self.network.pool.remove(place);
                self.pump(now, host);
                match noted {
                    false => self.endpoints.handle_packet(now, host, &packet),
                    true => self.answer(now, host, &packet),
                }
                self.follow_up(now, host);
            }
        }
    }

    /// A packet has come to a host that somebody follows.
    #[cold]
    fn answer(&mut self, now: Time, host: HostId, packet: &Packet) {
        let before = self.endpoints.host(host).nic.answers().len();
        self.endpoints.handle_packet(now, host, packet);
        let Host { port, nic, .. } = self.endpoints.host(host);
        self.network.note_answers(now, (*port, nic), before);
    }

    /// A frame of flow control takes effect at the port that it is for.
    fn obey(&mut self, now: Time, id: PortId, order: PauseOrder) {
        let Node::Host(host) = self.network.ports[id.index()].start.node() else {
            self.network.obey(now, id, order);
            return;
        };
        // What went by now went by the old order.
        self.pump(now, host);
        self.network.obey(now, id, order);
        self.follow_up(now, host);
        self.pump(now, host);
    }

    /// A host asked to be woken now.
    fn handle_host(&mut self, now: Time, id: HostId) {
        if self.endpoints.host(id).wake != now {
            return;
        }
        self.endpoints.host_mut(id).wake = Time::NEVER;
        self.pump(now, id);
        self.endpoints.handle_timeout(now, id);
        self.follow_up(now, id);
    }

    /// Sends what the NIC would have sent by now, each packet at the moment it could go: when the
    /// wire was free and its rate let it. Nothing else has happened to the NIC since, so it
    /// decides as it would have then.
    #[inline]
    fn pump(&mut self, now: Time, id: HostId) {
        let host = self.endpoints.host_mut(id);
        let port = host.port;
        if self.network.ports[port.index()].paused {
            self.pump_control(now, id);
            return;
        }
        while self.network.ports[port.index()].free <= now && host.nic.has_packets() {
            let free = self.network.ports[port.index()].free;
            match (host.nic.poll_transmit(free), host.nic.next_paced()) {
                (Some(packet), _) => self.network.inject(port, free, packet),
                (None, Some(start)) if start <= now => {
                    self.network.ports[port.index()].free = start;
                }
                (None, _) => break,
            }
        }
        // With the wire free, what is left waits for its rate: the host's own event will come.
        let busy = self.network.ports[port.index()].free > now;
        self.network.arm(port, || busy && host.nic.has_packets());
    }

    /// The same while the host's port is paused: only answers go, if they have priority.
    fn pump_control(&mut self, now: Time, id: HostId) {
        let host = self.endpoints.host_mut(id);
        let port = host.port;
        while self.setup.nic.ack.priority && self.network.ports[port.index()].free <= now {
            let free = self.network.ports[port.index()].free;
            let Some(packet) = host.nic.poll_transmit_control() else { break };
            self.network.inject(port, free, packet);
        }
        // Data that its rate let go meanwhile goes when the port may go on, not before.
        let wire = &mut self.network.ports[port.index()];
        wire.free = wire.free.max(now);
        let busy = wire.free > now;
        self.network.arm(port, || busy && host.nic.has_packets());
    }

    /// After something went into a host: its news, its wire, its next wake-up.
    #[inline]
    fn follow_up(&mut self, now: Time, id: HostId) {
        self.endpoints.follow_up(now, id);
        self.wake_touched();
        let host = self.endpoints.host(id);
        let port = &mut self.network.ports[host.port.index()];
        if port.free <= now {
            // Until now there was nothing to send.
            port.free = now;
            self.pump(now, id);
        } else {
            // In the gap behind a packet that has arrived no arrival is left to wake the host.
            self.network.arm(host.port, || host.nic.has_packets());
        }
        self.keep_wake(id);
    }

    #[inline]
    fn keep_wake(&mut self, id: HostId) {
        let host = self.endpoints.host_mut(id);
        let free = self.network.ports[host.port.index()].free;
        let Some(wake) = host.next_wake(self.now, free) else { return };
        // A timer shorter than a packet can run out before anybody looks; it is late, not lost.
        let wake = wake.max(self.now);
        if wake < host.wake {
            host.wake = wake;
            self.network.queue.push(wake, Event::Host(id));
        }
    }

    /// Hosts that have more to do than they had, though nothing came to them.
    #[inline]
    fn wake_touched(&mut self) {
        while let Some(id) = self.endpoints.poll_touched() {
            self.keep_wake(id);
        }
    }

    /// Nothing more happens until `at`, which is where it ends.
    pub(super) fn stop(&mut self, at: Time) {
        self.now = at;
    }

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        let (messages, bytes) = self.endpoints.sent();
        Progress {
            now: self.now,
            completed: self.endpoints.ledger().completed,
            messages,
            delivered_bytes: self.endpoints.accepted_bytes(),
            total_bytes: bytes.get(),
            packet_hops: self.network.counters.hops,
        }
    }

    /// What it has to say, if it ends now.
    ///
    /// # Panics
    /// If a packet or a byte was lost from the books.
    pub fn outcome(mut self, verdict: Verdict) -> Outcome {
        let in_flight = self.network.data_in_flight();
        let network = &self.network;
        let arrivals = network.counters.arrivals.max(1);
        let bytes = |of: &dyn Fn(&Port) -> u64| -> Vec<Bytes> {
            network.ports.iter().map(|port| Bytes::new(of(port))).collect()
        };
        let sums = Sums {
            verdict,
            ended: self.now,
            data_dropped: network.counters.data_dropped,
            control_dropped: network.counters.control_dropped,
            trimmed: network.counters.trimmed,
            pfc_pauses: network.counters.pauses,
            packet_hops: network.counters.hops,
            events: self.events,
            in_flight,
            queue_bytes_mean: network.counters.waiting_found as f64 / arrivals as f64,
            queue_bytes_max_by_port: bytes(&|port| match port.start.node() {
                Node::Switch(_) => u64::from(port.waiting_max),
                Node::Host(_) => 0,
            }),
            link_bytes: bytes(&|port| port.carried),
            probes: self.probes,
            pauses: self.network.pfc.take().map(|pfc| pfc.records).unwrap_or_default(),
        };
        let switch_states = self.network.switches.iter().map(|switch| switch.state()).collect();
        Outcome::of(sums, switch_states, &self.endpoints)
    }
}

/// What the hosts of a setup are made from; `intact` are its routes while nothing has failed.
pub(crate) fn site(setup: &Setup, intact: &Arc<Routes>) -> Site {
    let fabric = (&*setup.topology, &**intact);
    Site {
        topology: setup.topology.clone(),
        routes: intact.clone(),
        nic: setup.nic.clone(),
        scheme: setup.scheme.clone(),
        workload: setup.workload.clone(),
        seed: setup.seed,
        base_rtt: base_rtt(fabric, &setup.nic, setup.fabric.forwarding_delay),
        trimming: match setup.fabric.switch.trim {
            Some(_) => Trimming::On,
            None => Trimming::Off,
        },
    }
}
