//! A run: everything wired together, and the loop.

use std::collections::VecDeque;
use std::sync::Arc;

use super::base_rtt::base_rtt;
use super::cut_off::CutOff;
use super::event::Event;
use super::failure::{Plan, Routing};
use super::fault::link_ports;
use super::host::Host;
use super::ledger::{Connection, ConnectionKey, Ledger};
use super::network::Network;
use super::path_weights::PathWeights;
use super::pool::Place;
use super::{
    Counters, FabricConfig, Outcome, PauseOrder, Progress, QpCounts, Queue, QueueProbe, Verdict,
};
use crate::balance::sender::{Facts, PathSpace, QpContext, SenderPolicy as _, Trimming};
use crate::balance::{Forwarding, Scheme, Weights};
use crate::ids::{HostId, MessageId, PortId};
use crate::nic::{NicConfig, NicEvent, SendHalf};
use crate::split::{Flow, Request, Split};
use crate::topology::{Node, Topology};
use crate::units::{Bytes, Span, Time};
use crate::workload::Workload;

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
const PROGRESS_EVERY: u64 = 1 << 18;

/// Runs to the end, telling `progress` from time to time (every 2^18 events or so).
pub fn run(setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> Outcome {
    let mut simulation = Simulation::new(setup);
    let verdict = simulation.run(progress);
    simulation.outcome(verdict)
}

/// The whole world.
struct Simulation<'a> {
    setup: &'a Setup,
    network: Network,
    hosts: Vec<Host>,
    ledger: Ledger,
    plan: Plan,
    paths: PathWeights,
    cut_off: CutOff,
    /// What NICs are told of the network.
    base_rtt: Span,
    now: Time,
    events: u64,
    probes: Vec<QueueProbe>,
    /// Delays that are over now and have told nobody yet, with their hosts.
    over: VecDeque<(HostId, MessageId)>,
}

impl<'a> Simulation<'a> {
    fn new(setup: &'a Setup) -> Self {
        let topology = &setup.topology;
        let mut network = Network::new(topology, &setup.fabric, &setup.scheme, setup.seed);
        let plan = Plan::new(&setup.fabric.failures, &mut network);
        for (place, &at) in (0u32..).zip(&setup.probes) {
            network.queue.push(at, Event::Probe(place));
        }
        let nic = Arc::new(setup.nic.clone());
        let base_rtt = base_rtt(setup, &network.intact);
        let hosts = (0..topology.host_count())
            .map(HostId)
            .map(|id| Host::new(id, base_rtt, setup, nic.clone()));
        let mut simulation = Self {
            hosts: hosts.collect(),
            ledger: Ledger::new(&setup.workload),
            network,
            plan,
            paths: PathWeights::default(),
            cut_off: CutOff::new(&setup.fabric.failures, base_rtt),
            base_rtt,
            setup,
            now: Time::ZERO,
            events: 0,
            probes: Vec::new(),
            over: VecDeque::new(),
        };
        simulation.plan_starts();
        simulation
    }

    /// Hands each host the messages that wait for nothing but the clock.
    fn plan_starts(&mut self) {
        let workload = &self.setup.workload;
        let messages = workload.messages.iter().map(|message| message.start);
        let delays = workload.delays.iter().map(|delay| Time::ZERO.saturating_add(delay.span));
        let mut starts: Vec<(Time, MessageId)> = (0u32..)
            .zip(messages.chain(delays))
            .filter(|&(id, _)| workload.waits_for.get(id as usize).is_none_or(|&n| n == 0))
            .map(|(id, start)| (start, MessageId(id)))
            .collect();
        starts.sort_unstable();
        for (start, task) in starts {
            let host = workload.host_of(task);
            self.hosts[host.index()].starts.push_back((start, task));
        }
        for id in (0..self.setup.topology.host_count()).map(HostId) {
            self.keep_wake(id);
        }
    }

    fn run(&mut self, progress: &mut dyn FnMut(&Progress)) -> Verdict {
        while self.ledger.open > 0 {
            let Some((now, event)) = self.network.queue.pop() else { return Verdict::Stalled };
            if now > self.setup.time_limit {
                self.now = self.setup.time_limit;
                return Verdict::TimeLimit;
            }
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
            if self.events.is_multiple_of(PROGRESS_EVERY) {
                progress(&self.progress());
                if self.is_hopeless(now) {
                    return Verdict::Stalled;
                }
            }
        }
        progress(&self.progress());
        Verdict::Completed
    }

    fn is_hopeless(&mut self, now: Time) -> bool {
        let fabric = (&*self.setup.topology, &self.setup.fabric.failures[..]);
        self.cut_off.is_all_that_is_left(now, fabric, (&self.setup.workload, &self.ledger))
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
        let routing = self.plan.carry_out(step, &self.setup.topology, &mut self.network);
        let scheme = &self.setup.scheme;
        if routing == Routing::Converged
            && scheme.forwarding == Forwarding::SourceRouted
            && scheme.weights == Weights::Capacity
        {
            self.tell_senders(now);
        }
    }

    /// Tells every queue pair what its paths are worth now.
    fn tell_senders(&mut self, now: Time) {
        self.paths.forget();
        for connection in 0..self.ledger.connections.len() {
            let &Connection { src, dst, qp, .. } = &self.ledger.connections[connection];
            let left = |link| self.plan.left(now, &self.setup.topology, link);
            let fabric = (&*self.setup.topology, &self.network.intact);
            let weights = self.paths.between(fabric, (src, dst), &left);
            self.hosts[src.index()].nic.handle_weights(qp, weights);
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
        let end = port.end.node();
        if port.faulty && self.network.lost_on_the_way(id, place) {
            self.network.drop_packet(place);
            return;
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
                self.hosts[host.index()].nic.handle_packet(now, &packet);
                self.follow_up(now, host);
            }
        }
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
        if self.hosts[id.index()].wake != now {
            return;
        }
        self.hosts[id.index()].wake = Time::NEVER;
        self.pump(now, id);
        let host = &mut self.hosts[id.index()];
        host.nic.handle_timeout(now);
        host.splitter.handle_timeout(now);
        while let Some(&(start, task)) = self.hosts[id.index()].starts.front() {
            if start > now {
                break;
            }
            self.hosts[id.index()].starts.pop_front();
            if self.setup.workload.delay(task).is_some() {
                self.release(now, id, task);
            } else {
                self.start(now, task);
            }
        }
        self.follow_up(now, id);
    }

    /// Sends what the NIC would have sent by now, each packet at the moment it could go: when the
    /// wire was free and its rate let it. Nothing else has happened to the NIC since, so it
    /// decides as it would have then.
    #[inline]
    fn pump(&mut self, now: Time, id: HostId) {
        let host = &mut self.hosts[id.index()];
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
        let host = &mut self.hosts[id.index()];
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
        while let Some(event) = self.hosts[id.index()].nic.poll_event() {
            self.handle_news(now, id, event);
        }
        while let Some(flow) = self.hosts[id.index()].splitter.poll_flow(now) {
            self.post(now, id, &flow);
        }
        let host = &self.hosts[id.index()];
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
        let host = &mut self.hosts[id.index()];
        let free = self.network.ports[host.port.index()].free;
        let Some(wake) = host.next_wake(self.now, free) else { return };
        // A timer shorter than a packet can run out before anybody looks; it is late, not lost.
        let wake = wake.max(self.now);
        if wake < host.wake {
            host.wake = wake;
            self.network.queue.push(wake, Event::Host(id));
        }
    }

    fn handle_news(&mut self, now: Time, id: HostId, event: NicEvent) {
        match event {
            NicEvent::Delivered { cookie, message } => {
                if let Some(message) = self.ledger.deliver(now, cookie, message) {
                    self.release(now, id, message);
                }
            }
            NicEvent::Completed { work, .. } => {
                if let Some(message) = self.ledger.complete(now, work) {
                    self.release(now, id, message);
                }
            }
            NicEvent::PathFailed { cookie, path } => {
                let dst = self.ledger.connections[cookie as usize].dst;
                let edge = self.network.intact.edge_of(dst);
                self.hosts[id.index()].splitter.handle_failed_path(now, edge, path);
            }
        }
    }

    /// A message is over for `host`, its receiver or its sender, or a delay is over there: what
    /// waited for it goes on.
    fn release(&mut self, now: Time, host: HostId, task: MessageId) {
        self.release_dependents(now, host, (host, task));
        // Delays of no length end at once, one after the other and not one within the other.
        while let Some(over) = self.over.pop_front() {
            self.release_dependents(now, host, over);
        }
    }

    /// Releases what waits at `at` for `task`; `host` is the one that this event is for.
    fn release_dependents(&mut self, now: Time, host: HostId, (at, task): (HostId, MessageId)) {
        let workload = &self.setup.workload;
        let is_delay = workload.delay(task).is_some();
        if is_delay {
            self.ledger.end_delay(now);
        }
        for &dependent in workload.dependents_of(task) {
            let place = workload.host_of(dependent);
            if (!is_delay && place != at) || !self.ledger.release(dependent) {
                continue;
            }
            let due = match workload.messages.get(dependent.index()) {
                Some(message) => message.start.max(now.saturating_add(workload.gap)),
                None => {
                    now.saturating_add(workload.delay(dependent).map_or(Span::ZERO, |it| it.span))
                }
            };
            self.launch(now, host, (due, place, dependent));
        }
    }

    /// Starts a message, or ends a delay, when it is due.
    fn launch(&mut self, now: Time, host: HostId, (due, at, task): (Time, HostId, MessageId)) {
        if due <= now && at == host {
            match self.setup.workload.delay(task) {
                Some(_) => self.over.push_back((at, task)),
                None => self.start(now, task),
            }
            return;
        }
        let starts = &mut self.hosts[at.index()].starts;
        let place = starts.partition_point(|&other| other <= (due, task));
        starts.insert(place, (due, task));
        if at != host {
            self.keep_wake(at);
        }
    }

    /// Hands a message to its sender's splitter.
    fn start(&mut self, now: Time, id: MessageId) {
        let message = &self.setup.workload.messages[id.index()];
        self.ledger.start(now, id);
        let request = Request {
            message: id,
            dst: message.dst,
            edge: self.network.intact.edge_of(message.dst),
            bytes: message.bytes,
            paths: self.paths(message.src, message.dst),
        };
        self.hosts[message.src.index()].splitter.handle_message(now, &request);
    }

    fn paths(&self, src: HostId, dst: HostId) -> PathSpace {
        if self.setup.scheme.forwarding == Forwarding::Hashed {
            return PathSpace::SINGLE;
        }
        self.path_space(src, dst).expect("checked: at most 65,536 paths")
    }

    /// The choices on the way from host to host, if a path is a number of 16 bits.
    fn path_space(&self, src: HostId, dst: HostId) -> Option<PathSpace> {
        let choices = self.network.intact.choices(src, dst);
        let add = |paths: PathSpace, &n: &u32| paths.with_tier(n as usize);
        choices.iter().try_fold(PathSpace::SINGLE, add)
    }

    /// What a policy may know of the queue pair of `key`.
    fn context(&self, key: &ConnectionKey, path: u16) -> QpContext {
        let &ConnectionKey { src, dst, stream, slot: piece } = key;
        let paths = if self.setup.scheme.sender.knows_paths() {
            self.path_space(src, dst).unwrap_or(PathSpace::UNKNOWN)
        } else {
            self.paths(src, dst)
        };
        let facts = self.facts(src);
        QpContext { seed: self.setup.seed, src, dst, stream, piece, paths, path, facts }
    }

    fn facts(&self, host: HostId) -> Facts {
        let nic = &self.setup.nic;
        let port = self.setup.topology.host_port(host);
        let rate = self.setup.topology.link(port.link()).rate;
        let packet = rate.time_for(nic.payload + nic.header).as_ps().max(1);
        Facts {
            base_rtt: self.base_rtt,
            bdp_packets: u32::try_from(self.base_rtt.as_ps().div_ceil(packet)).unwrap_or(u32::MAX),
            retransmit_timeout: nic.retransmit_timeout,
            trimming: match self.setup.fabric.switch.trim {
                Some(_) => Trimming::On,
                None => Trimming::Off,
            },
        }
    }

    /// Puts a flow on its queue pair, which is made if there is none yet.
    fn post(&mut self, now: Time, src: HostId, flow: &Flow) {
        let stream = self.setup.workload.messages[flow.message.index()].stream;
        let key = ConnectionKey { src, dst: flow.dst, stream, slot: flow.slot };
        let connection = match self.ledger.connection(&key) {
            Some(connection) => connection,
            None => self.connect(key, flow),
        };
        let id = self.ledger.add_flow(now, flow, &key, connection);
        let qp = self.ledger.connections[connection as usize].qp;
        self.hosts[src.index()].nic.post(qp, flow.bytes, u64::from(id), flow.path);
    }

    fn connect(&mut self, key: ConnectionKey, flow: &Flow) -> u32 {
        let cookie = u32::try_from(self.ledger.connections.len()).expect("fewer than 2^32");
        let mut policy = self.setup.scheme.sender.build(&self.context(&key, flow.path));
        if self.network.capacities.is_some()
            && self.setup.scheme.forwarding == Forwarding::SourceRouted
        {
            let left = |link| self.plan.left(self.now, &self.setup.topology, link);
            let fabric = (&*self.setup.topology, &self.network.intact);
            policy.handle_weights(self.paths.between(fabric, (key.src, key.dst), &left));
        }
        let siblings = self.ledger.streams.entry((key.src, key.dst, key.stream)).or_insert(0);
        *siblings += 1;
        let extra = *siblings > 1;
        let label = key.label();
        let half = SendHalf { peer: key.dst, label, cookie, extra, policy };
        let qp = self.hosts[key.src.index()].nic.open_sender(half);
        let receiver = self.hosts[key.dst.index()].nic.open_receiver(key.src, qp, label, cookie);
        self.hosts[key.src.index()].nic.connect(qp, receiver);
        let connection = Connection { src: key.src, dst: key.dst, qp, flows: Vec::new() };
        self.ledger.add_connection(key, connection)
    }

    fn progress(&self) -> Progress {
        Progress {
            now: self.now,
            completed: self.ledger.completed,
            messages: self.setup.workload.messages.len() as u64,
            delivered_bytes: self.accepted_bytes(),
            total_bytes: self.setup.workload.total_bytes().get(),
            packet_hops: self.network.counters.hops,
        }
    }

    /// Payload bytes that NICs accepted, each once.
    fn accepted_bytes(&self) -> u64 {
        self.hosts.iter().map(|host| host.nic.counters().payload_received).sum()
    }

    fn outcome(mut self, verdict: Verdict) -> Outcome {
        let in_flight = self.network.data_in_flight();
        let counters = self.counters();
        assert_eq!(
            counters.sent,
            counters.delivered + counters.dropped + in_flight,
            "conservation: every data packet sent is delivered, dropped, or in flight"
        );
        if verdict == Verdict::Completed {
            let accepted: u64 =
                self.hosts.iter().map(|it| it.nic.counters().payload_received).sum();
            let total = self.setup.workload.total_bytes().get();
            assert_eq!(accepted, total, "conservation: every byte is delivered exactly once");
        }
        self.ledger.flows.sort_unstable_by_key(|flow| (flow.message, flow.piece));
        let network = &self.network;
        let switch_ports =
            network.ports.iter().filter(|port| matches!(port.start.node(), Node::Switch(_)));
        let queue_max = switch_ports.map(|port| port.waiting_max).max().unwrap_or(0);
        let arrivals = network.counters.arrivals.max(1);
        let first_start = self.setup.workload.first_start();
        let done = verdict == Verdict::Completed;
        Outcome {
            verdict,
            ended: self.now,
            messages: self.setup.workload.messages.len() as u64,
            message_fct: self.ledger.completions().map(|(start, end)| end.since(start)).collect(),
            cct: done.then(|| self.ledger.last_completion.max(first_start).since(first_start)),
            counters,
            qps: self.qp_counts(),
            qp_accounts: self.hosts.iter().map(|host| host.nic.account()).collect(),
            queue_bytes_max: Bytes::new(u64::from(queue_max)),
            queue_bytes_max_by_port: network
                .ports
                .iter()
                .map(|it| Bytes::new(u64::from(it.waiting_max)))
                .collect(),
            queue_bytes_mean: network.counters.waiting_found as f64 / arrivals as f64,
            link_bytes_max: network
                .ports
                .iter()
                .map(|it| Bytes::new(it.carried))
                .max()
                .unwrap_or_default(),
            link_bytes: network.ports.iter().map(|it| Bytes::new(it.carried)).collect(),
            switch_states: network.switches.iter().map(|switch| switch.state()).collect(),
            sender_bits_per_qp_max: self
                .hosts
                .iter()
                .map(|host| host.nic.policy_bits_max())
                .max()
                .unwrap_or(0),
            probes: self.probes,
            in_flight,
            pauses: self.network.pfc.take().map(|pfc| pfc.records).unwrap_or_default(),
            flows: self.ledger.flows,
        }
    }

    fn counters(&self) -> Counters {
        let mut sum = Counters {
            dropped: self.network.counters.data_dropped,
            control_dropped: self.network.counters.control_dropped,
            trimmed: self.network.counters.trimmed,
            pfc_pauses: self.network.counters.pauses,
            packet_hops: self.network.counters.hops,
            events: self.events,
            ..Counters::default()
        };
        for host in &self.hosts {
            let nic = host.nic.counters();
            sum.sent += nic.data_sent;
            sum.delivered += nic.data_received;
            sum.retransmitted += nic.retransmitted;
            sum.marked += nic.marked;
            sum.out_of_order += nic.out_of_order;
            sum.control_sent += nic.control_sent;
            sum.control_delivered += nic.control_received;
        }
        sum
    }

    fn qp_counts(&self) -> QpCounts {
        let nics = || self.hosts.iter().map(|host| &host.nic);
        QpCounts {
            per_nic_max: nics().map(|nic| nic.send_qps()).max().unwrap_or(0),
            total: nics().map(|nic| nic.send_qps()).sum(),
            extra_per_nic_max: nics().map(|nic| nic.extra_qps()).max().unwrap_or(0),
            extra_total: nics().map(|nic| nic.extra_qps()).sum(),
        }
    }
}
