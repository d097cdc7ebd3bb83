//! What all hosts do with a workload, whatever world they stand in: messages wait for each other,
//! a splitter cuts each into flows, a flow goes on a queue pair that is made when it is first
//! needed, and what became of each is kept.
//!
//! It is sans-IO like the NICs that it holds. A world (the fabric here, or ns-3 through the
//! bridge) drives it so:
//!
//! - [`Endpoints::handle_packet`] when a packet has come to a host, and
//!   [`Endpoints::handle_timeout`] when the time that [`Host::next_wake`] named has come; after
//!   either [`Endpoints::follow_up`], which starts what is to start now;
//! - the NIC of [`Endpoints::host_mut`] gives packets whenever the host's wire is free;
//! - [`Endpoints::poll_touched`] tells which other hosts are to be asked for their wake-up again;
//! - [`Endpoints::create_qp`], [`Endpoints::post_send`] and the verbs of the NIC serve programs that
//!   use queue pairs themselves;
//! - [`Endpoints::post`] and [`Endpoints::poll_over`] serve programs that decide as they go what
//!   is sent next. Where that never ends, [`Endpoints::forget_over`] bounds what is remembered.
//!
//! It knows no link, no queue and no switch.

mod base_rtt;
mod host;
mod lanes;
mod ledger;
mod path_weights;
mod queue_pairs;
mod record;
mod spans;

use std::collections::VecDeque;
use std::sync::Arc;

pub use base_rtt::base_rtt;
pub use host::Host;
use ledger::{Connection, ConnectionKey};
pub use ledger::{Ledger, Passed};
use path_weights::PathWeights;
use queue_pairs::OwnQps;
pub use record::{FlowRecord, QpCounts};
pub use spans::Spans;

use crate::balance::sender::{
    NetworkParameters, PathSpace, QpContext, Sender, SenderPolicy as _, Trimming,
};
use crate::balance::{Forwarding, Scheme, Weights};
use crate::ids::{HostId, LinkId, MessageId};
use crate::nic::{Backlog, NicConfig, NicEvent, Owner, SendHalf};
use crate::packet::Packet;
use crate::split::{Flow, Request, Split};
use crate::topology::{Routes, Topology};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::workload::{Message, Workload};

/// Everything that hosts are made from.
#[derive(Debug, Clone)]
pub struct Site {
    /// Who is wired to whom.
    pub topology: Arc<Topology>,
    /// Next hops of the fabric without failures: what source routes are numbers in.
    pub routes: Arc<Routes>,
    /// Every host's NIC.
    pub nic: NicConfig,
    /// How load is balanced.
    pub scheme: Scheme,
    /// What is sent.
    pub workload: Arc<Workload>,
    /// Where every random draw comes from.
    pub seed: u64,
    /// What NICs are told of the network; see [`base_rtt`].
    pub base_rtt: Span,
    /// Whether switches cut what they have no room for.
    pub trimming: Trimming,
}

/// A message that a program posted has got so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Over {
    /// Which.
    pub message: MessageId,
    /// When.
    pub at: Time,
    /// How far.
    pub stage: Stage,
}

/// How far a message has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Its receiver has all of it.
    Delivered,
    /// Its sender knows that.
    Complete,
}

/// All hosts.
#[derive(Debug)]
pub struct Endpoints {
    site: Site,
    hosts: Vec<Host>,
    ledger: Ledger,
    /// Queue pairs of programs.
    own: OwnQps,
    paths: PathWeights,
    /// What routing says is left of each link, once it knows of a failure and tells.
    left: Option<Vec<BitRate>>,
    /// Delays that are over now and have told nobody yet, with their hosts.
    ended: VecDeque<(HostId, MessageId)>,
    touched: Vec<HostId>,
    /// What became of messages that were posted; nothing is noted until one was.
    over: VecDeque<Over>,
    /// From which message on they were posted.
    first_posted: Option<MessageId>,
}

impl Endpoints {
    /// The hosts of a site, with their messages that wait for nothing but the clock in line.
    pub fn new(site: Site) -> Self {
        let nic = Arc::new(site.nic.clone());
        let ids = (0..site.topology.host_count()).map(HostId);
        let mut hosts: Vec<Host> = ids.map(|id| Host::new(id, &site, nic.clone())).collect();
        for (start, task) in starts(&site.workload) {
            let host = &mut hosts[site.workload.host_of(task).index()];
            let lane = site.workload.lane(task);
            if lane.is_none_or(|lane| host.lanes.join(lane, task)) {
                host.starts.push_back((start, task));
            }
        }
        for host in &mut hosts {
            host.starts.make_contiguous().sort_unstable();
        }
        Self {
            hosts,
            ledger: Ledger::new(&site.workload),
            own: OwnQps::default(),
            paths: PathWeights::default(),
            left: None,
            ended: VecDeque::new(),
            touched: Vec::new(),
            over: VecDeque::new(),
            first_posted: None,
            site,
        }
    }

    /// A host.
    #[inline]
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.index()]
    }

    /// A host, for its wire.
    #[inline]
    pub fn host_mut(&mut self, id: HostId) -> &mut Host {
        &mut self.hosts[id.index()]
    }

    /// All hosts, by their numbers.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// What became of messages and flows.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What is sent, with what was posted.
    pub fn workload(&self) -> &Workload {
        &self.site.workload
    }

    /// A packet came to a host.
    #[inline]
    pub fn handle_packet(&mut self, now: Time, id: HostId, packet: &Packet) {
        self.hosts[id.index()].nic.handle_packet(now, packet);
    }

    /// The time has come that a host wanted to be woken at; early is harmless.
    pub fn handle_timeout(&mut self, now: Time, id: HostId) {
        let host = &mut self.hosts[id.index()];
        host.nic.handle_timeout(now);
        host.splitter.handle_timeout(now);
        while let Some(&(start, task)) = self.hosts[id.index()].starts.front() {
            if start > now {
                break;
            }
            self.hosts[id.index()].starts.pop_front();
            if self.site.workload.delay(task).is_some() {
                self.release(now, id, task);
            } else {
                self.start(now, task);
            }
        }
    }

    /// After something went into a host: hears its NIC's news and puts flows that are to go now
    /// on their queue pairs.
    #[inline]
    pub fn follow_up(&mut self, now: Time, id: HostId) {
        while let Some(event) = self.hosts[id.index()].nic.poll_event() {
            self.handle_news(now, id, event);
        }
        while let Some(flow) = self.hosts[id.index()].splitter.poll_flow(now) {
            self.put(now, id, &flow);
        }
    }

    /// A host whose next wake-up may be earlier than it was, though nothing went into it.
    #[inline]
    pub fn poll_touched(&mut self) -> Option<HostId> {
        self.touched.pop()
    }

    /// Sends a message that the workload does not have: it starts now, or at its `start` if that
    /// is later. Its sender is among those of [`Self::poll_touched`]. What becomes of it is told
    /// by [`Self::poll_over`].
    ///
    /// # Panics
    /// If the workload has delays, whose numbers come after those of messages.
    pub fn post(&mut self, now: Time, message: Message) -> MessageId {
        if let Some(id) = self.ledger.add_passing(message) {
            self.put_off(message.src, (message.start.max(now), id));
            return id;
        }
        let workload = Arc::make_mut(&mut self.site.workload);
        assert!(workload.delays.is_empty(), "programs keep time themselves");
        let id = MessageId(u32::try_from(workload.messages.len()).expect("fewer than 2^32"));
        workload.messages.push(message);
        if !workload.first_dependent.is_empty() {
            workload.first_dependent.push(workload.dependents.len() as u32);
            workload.waits_for.push(0);
        }
        self.first_posted.get_or_insert(id);
        self.ledger.add_message();
        self.put_off(message.src, (message.start.max(now), id));
        id
    }

    /// From now on whatever is over is forgotten, so that memory is that of what is open:
    /// messages once they are complete, flows once [`Self::poll_flow`] has given them away. The
    /// numbers of messages begin anew after 2^32. Sums are kept: [`Ledger::passed`].
    ///
    /// # Panics
    /// If there are messages or delays already.
    pub fn forget_over(&mut self) {
        let Workload { messages, delays, .. } = &*self.site.workload;
        assert!(messages.is_empty() && delays.is_empty(), "only what is posted can be forgotten");
        self.ledger.forget_over();
    }

    /// Something that is no message is over, for a program that keeps time itself.
    pub fn note_end(&mut self, now: Time) {
        self.ledger.last_completion = self.ledger.last_completion.max(now);
    }

    /// A flow that is over and is forgotten with this, in order of completion.
    #[inline]
    pub fn poll_flow(&mut self) -> Option<FlowRecord> {
        self.ledger.poll_flow()
    }

    /// How many messages there are, were and are to be, as far as is known, and their bytes.
    pub fn sent(&self) -> (u64, Bytes) {
        match self.ledger.passed() {
            Some(passed) => (passed.messages, passed.bytes),
            None => (self.site.workload.messages.len() as u64, self.site.workload.total_bytes()),
        }
    }

    /// What became of messages that were posted, one after the other.
    #[inline]
    pub fn poll_over(&mut self) -> Option<Over> {
        self.over.pop_front()
    }

    /// From now on [`Self::poll_over`] tells of every message, not of those alone that were posted.
    pub fn tell_all(&mut self) {
        self.first_posted = Some(MessageId(0));
    }

    /// True if [`Self::poll_touched`] or [`Self::poll_over`] have something to say.
    #[inline]
    pub fn has_something_to_tell(&self) -> bool {
        !(self.touched.is_empty() && self.over.is_empty())
    }

    /// Routing has changed, and tells those who route themselves what is `left` of each link, by
    /// number. `knows` is false if it knows of no failure any more.
    pub fn handle_routing(&mut self, left: Vec<BitRate>, knows: RoutingKnows) {
        let Site { scheme, topology, routes, .. } = &self.site;
        self.paths.forget();
        if scheme.forwarding == Forwarding::SourceRouted && scheme.weights == Weights::Capacity {
            let of_messages = self.ledger.connections().iter();
            let of_messages = of_messages.map(|pair| (pair.src, pair.dst, pair.qp));
            for (src, dst, qp) in of_messages.chain(self.own.iter()) {
                let of_link = |link: LinkId| left[link.index()];
                let weights = self.paths.between((topology, routes), (src, dst), &of_link);
                self.hosts[src.index()].nic.handle_weights(qp, weights);
            }
        }
        self.left = (knows == RoutingKnows::Failures).then_some(left);
    }

    fn note(&mut self, at: Time, message: MessageId, stage: Stage) {
        let forgets = self.ledger.passed().is_some();
        if forgets || self.first_posted.is_some_and(|first| first <= message) {
            self.over.push_back(Over { message, at, stage });
        }
    }

    fn handle_news(&mut self, now: Time, id: HostId, event: NicEvent) {
        match event {
            NicEvent::Delivered { owner: Owner::World(cookie), message } => {
                if let Some(message) = self.ledger.deliver(now, cookie, message) {
                    self.note(now, message, Stage::Delivered);
                    self.release(now, id, message);
                }
            }
            NicEvent::Completed { work, .. } => {
                if let Some(message) = self.ledger.complete(now, work) {
                    self.note(now, message, Stage::Complete);
                    self.release(now, id, message);
                }
            }
            NicEvent::Delivered { owner: Owner::Program(qp), .. } => {
                unreachable!("{qp}: its deliveries are reported as completions")
            }
            NicEvent::PathFailed { owner: Owner::Program(qp), path } => {
                self.own.leave(id, qp, path);
            }
            NicEvent::PathFailed { owner: Owner::World(cookie), path } => {
                let dst = self.ledger.connections()[cookie as usize].dst;
                let edge = self.site.routes.edge_of(dst);
                self.hosts[id.index()].splitter.handle_failed_path(now, edge, path);
            }
        }
    }

    /// A message is over for `host`, its receiver or its sender, or a delay is over there: what
    /// waited for it goes on.
    fn release(&mut self, now: Time, host: HostId, task: MessageId) {
        self.release_dependents(now, host, (host, task));
        // Delays of no length end at once, one after the other and not one within the other.
        while let Some(over) = self.ended.pop_front() {
            self.release_dependents(now, host, over);
        }
    }

    /// Releases what waits at `at` for `task`; `host` is the one that this event is for.
    fn release_dependents(&mut self, now: Time, host: HostId, (at, task): (HostId, MessageId)) {
        let workload = self.site.workload.clone();
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
                    let lane = workload.lane(dependent);
                    let lanes = &mut self.hosts[place.index()].lanes;
                    if lane.is_some_and(|lane| !lanes.join(lane, dependent)) {
                        continue;
                    }
                    end_of(now, &workload, dependent)
                }
            };
            self.launch(now, host, (due, place, dependent));
        }
        // What waited for this may be the next of its lane.
        let next = workload.lane(task).and_then(|lane| self.hosts[at.index()].lanes.leave(lane));
        if let Some(next) = next {
            self.launch(now, host, (end_of(now, &workload, next), at, next));
        }
    }

    /// Starts a message, or ends a delay, when it is due.
    fn launch(&mut self, now: Time, host: HostId, (due, at, task): (Time, HostId, MessageId)) {
        if due <= now && at == host {
            match self.site.workload.delay(task) {
                Some(_) => self.ended.push_back((at, task)),
                None => self.start(now, task),
            }
            return;
        }
        let starts = &mut self.hosts[at.index()].starts;
        let place = starts.partition_point(|&other| other <= (due, task));
        starts.insert(place, (due, task));
        if at != host {
            self.touched.push(at);
        }
    }

    fn put_off(&mut self, at: HostId, entry: (Time, MessageId)) {
        let starts = &mut self.hosts[at.index()].starts;
        let place = starts.partition_point(|&other| other <= entry);
        starts.insert(place, entry);
        self.touched.push(at);
    }

    /// Hands a message to its sender's splitter.
    fn start(&mut self, now: Time, id: MessageId) {
        let message = self.message(id);
        self.ledger.start(now, id);
        let request = Request {
            message: id,
            dst: message.dst,
            edge: self.site.routes.edge_of(message.dst),
            bytes: message.bytes,
            paths: self.paths(message.src, message.dst),
        };
        self.hosts[message.src.index()].splitter.handle_message(now, &request);
    }

    fn message(&self, id: MessageId) -> Message {
        match self.site.workload.messages.get(id.index()) {
            Some(message) => *message,
            None => *self.ledger.passing(id),
        }
    }

    fn paths(&self, src: HostId, dst: HostId) -> PathSpace {
        if self.site.scheme.forwarding == Forwarding::Hashed {
            return PathSpace::SINGLE;
        }
        self.path_space(src, dst).expect("checked: at most 65,536 paths")
    }

    /// The choices on the way from host to host, if a path is a number of 16 bits.
    fn path_space(&self, src: HostId, dst: HostId) -> Option<PathSpace> {
        let choices = self.site.routes.choices(src, dst);
        let add = |paths: PathSpace, &n: &u32| paths.with_tier(n as usize);
        choices.iter().try_fold(PathSpace::SINGLE, add)
    }

    /// What a policy may know of the queue pair of `key`.
    fn context(&self, key: &ConnectionKey, path: u16) -> QpContext {
        let &ConnectionKey { src, dst, stream, slot: qp_index } = key;
        let paths = if self.site.scheme.sender.needs_paths() {
            self.path_space(src, dst).unwrap_or(PathSpace::UNKNOWN)
        } else {
            self.paths(src, dst)
        };
        let network = self.network_parameters(src);
        QpContext { seed: self.site.seed, src, dst, stream, qp_index, paths, path, network }
    }

    fn network_parameters(&self, host: HostId) -> NetworkParameters {
        let Site { nic, topology, base_rtt, .. } = &self.site;
        let rate = topology.link(topology.host_port(host).link()).rate;
        let packet = rate.time_for(nic.payload + nic.header).as_ps().max(1);
        NetworkParameters {
            base_rtt: *base_rtt,
            bdp_packets: u32::try_from(base_rtt.as_ps().div_ceil(packet)).unwrap_or(u32::MAX),
            retransmit_timeout: nic.retransmit_timeout,
            trimming: self.site.trimming,
        }
    }

    /// Puts a flow on its queue pair, which is made if there is none yet.
    fn put(&mut self, now: Time, src: HostId, flow: &Flow) {
        let stream = self.message(flow.message).stream;
        let key = ConnectionKey { src, dst: flow.dst, stream, slot: flow.qp_index };
        let connection = match self.ledger.connection(&key) {
            Some(connection) => connection,
            None => self.connect(key, flow),
        };
        let id = self.ledger.add_flow(now, flow, &key, connection);
        let qp = self.ledger.connections()[connection as usize].qp;
        self.hosts[src.index()].nic.post(qp, flow.bytes, u64::from(id), flow.path);
    }

    fn connect(&mut self, key: ConnectionKey, flow: &Flow) -> u32 {
        let cookie = u32::try_from(self.ledger.connections().len()).expect("fewer than 2^32");
        let mut policy = self.site.scheme.sender.build(&self.context(&key, flow.path));
        self.tell_new(&mut policy, (key.src, key.dst));
        let extra = self.ledger.add_to_stream(&key) > 1;
        let label = key.label();
        let half = SendHalf { peer: key.dst, label, cookie, extra, policy };
        let qp = self.hosts[key.src.index()].nic.open_sender(half);
        let receiver = self.hosts[key.dst.index()].nic.open_receiver(key.src, qp, label, cookie);
        self.hosts[key.src.index()].nic.connect(qp, receiver);
        let connection = Connection::new(key.src, key.dst, qp);
        self.ledger.add_connection(key, connection)
    }

    /// Tells the policy of a new queue pair what routing tells those that there are.
    fn tell_new(&mut self, policy: &mut Sender, pair: (HostId, HostId)) {
        if let Some(left) = &self.left
            && self.site.scheme.forwarding == Forwarding::SourceRouted
        {
            let fabric = (&*self.site.topology, &*self.site.routes);
            let of_link = |link: LinkId| left[link.index()];
            policy.handle_weights(self.paths.between(fabric, pair, &of_link));
        }
    }

    /// Payload bytes that NICs accepted, each once.
    pub fn accepted_bytes(&self) -> u64 {
        self.hosts.iter().map(|host| host.nic.counters().payload_received).sum()
    }

    /// The sender of the connection that was the `index`-th to be made, and how far its work has
    /// come; `None` if fewer were made.
    pub fn backlog(&self, index: usize) -> Option<(HostId, Backlog)> {
        let connection = self.ledger.connections().get(index)?;
        let nic = &self.hosts[connection.src.index()].nic;
        Some((connection.src, nic.backlog(connection.qp)))
    }

    /// Queue pairs, counted at the NICs that send on them.
    pub fn qp_counts(&self) -> QpCounts {
        let nics = || self.hosts.iter().map(|host| &host.nic);
        QpCounts {
            per_nic_max: nics().map(|nic| nic.send_qps()).max().unwrap_or(0),
            total: nics().map(|nic| nic.send_qps()).sum(),
            extra_per_nic_max: nics().map(|nic| nic.extra_qps()).max().unwrap_or(0),
            extra_total: nics().map(|nic| nic.extra_qps()).sum(),
        }
    }
}

/// The label of data packets from host to host of the `slot`-th queue pair of a stream.
pub fn label_of((src, dst): (HostId, HostId), stream: u32, slot: u32) -> u32 {
    ConnectionKey { src, dst, stream, slot }.label()
}

/// Whether routing knows of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutingKnows {
    /// Of none.
    Nothing,
    /// Of one or more.
    Failures,
}

/// When a delay that begins now is over.
fn end_of(now: Time, workload: &Workload, delay: MessageId) -> Time {
    now.saturating_add(workload.delay(delay).map_or(Span::ZERO, |it| it.span))
}

/// The tasks that wait for nothing but the clock and their turn, in order of their numbers.
fn starts(workload: &Workload) -> Vec<(Time, MessageId)> {
    let messages = workload.messages.iter().map(|message| message.start);
    let delays = workload.delays.iter().map(|delay| Time::ZERO.saturating_add(delay.span));
    (0u32..)
        .zip(messages.chain(delays))
        .filter(|&(id, _)| workload.waits_for.get(id as usize).is_none_or(|&n| n == 0))
        .map(|(id, start)| (start, MessageId(id)))
        .collect()
}
