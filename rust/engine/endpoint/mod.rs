//! What all hosts do with a workload, in whatever world they are: messages wait for each other, a
//! splitter cuts each into flows, a flow goes on a queue pair that is made when it is first needed,
//! and a ledger keeps what became of each.
//!
//! It is sans-IO like the NICs that it holds. A world (the fabric here, or ns-3 through the
//! bridge) drives it so:
//!
//! - [`Endpoints::handle_packet`] when a packet has come to a host, and
//!   [`Endpoints::handle_timeout`] when the time that [`Host::next_wake`] named has come; after
//!   either [`Endpoints::follow_up`], which starts what is to start now;
//! - the NIC of [`Endpoints::host_mut`] gives packets whenever the host's wire is free;
//! - [`Endpoints::poll_touched`] lists the other hosts whose next wake-up may have changed;
//! - [`Endpoints::handle_routing`] when routing has converged to a new state of the links;
//! - [`Endpoints::create_qp`], [`Endpoints::post_send`] and the verbs of the NIC serve programs
//!   that use queue pairs themselves;
//! - [`Endpoints::hand_over_flows`] serves worlds that carry whole flows in place of packets;
//! - [`Endpoints::post`] and [`Endpoints::poll_message_event`] serve programs that decide as they
//!   go what is sent next. Where that never ends, [`Endpoints::discard_completed`] bounds memory.
//!
//! It knows no link, no queue and no switch.

mod base_rtt;
mod connections;
mod discarding;
mod fluid_flows;
mod generating;
mod host;
mod in_use;
mod lanes;
mod ledger;
mod nic_events;
mod pages;
mod partition;
mod path_weights;
mod policies;
mod pool;
mod port_polls;
mod prefetch;
mod queue_pairs;
mod record;
mod scale_up;
mod sending;
mod spans;
mod splitters;
mod tasks;
mod undelivered;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub(crate) use base_rtt::RoundTrip;
pub use base_rtt::{LongestPath, base_rtt, longest_path};
pub use fluid_flows::{EntropyValues, FluidFlow};
pub use host::{Host, OwnNic};
pub use ledger::{Discarded, Ledger};
#[cfg(feature = "fabric")]
pub(crate) use partition::{Note, Share, is_partitionable};
pub use policies::{JobClass, JobPolicy, Policies, Policy};
pub use port_polls::{PortPolls, PortStart, Ports};
pub use record::{FlowRecord, QpCounts};
pub use scale_up::{PortBytes, ScaleUpUse};
pub use sending::label_of;
use sending::weighed_from_the_start;
pub use spans::Spans;

use base_rtt::PairTrips;
use connections::Connection;
use discarding::QueuePairs;
use fluid_flows::FluidFlows;
use generating::Generating;
use partition::{Partition, is_provisional};
use path_weights::PathWeights;
use queue_pairs::OwnQps;
use scale_up::Domains;
use tasks::Ended;

use crate::balance::Scheme;
use crate::balance::sender::{PathSpace, Trimming};
use crate::ids::{HostId, MessageId};
use crate::nic::{Backlog, Discipline, NicConfig, SendingState};
use crate::packet::Packet;
use crate::topology::{LinkState, Routes, Topology};
use crate::units::{Bytes, Span, Time};
use crate::workload::{Message, Workload};

/// Everything that hosts are made from.
#[derive(Debug, Clone)]
pub struct Site {
    /// Who is wired to whom.
    pub topology: Arc<Topology>,
    /// Next hops while nothing has failed: what explicit paths are written in.
    pub routes: Arc<Routes>,
    /// The configuration of every host's NIC,
    pub nic: Arc<NicConfig>,
    /// except for these hosts.
    pub own_nics: BTreeMap<HostId, OwnNic>,
    /// How load is balanced.
    pub scheme: Scheme,
    /// The policies of jobs with one of their own.
    pub job_policies: Vec<JobPolicy>,
    /// How traffic classes take turns at NICs; `None` if data has one class.
    pub classes: Option<Discipline>,
    /// The traffic classes of jobs; others are of the first class.
    pub job_classes: Vec<JobClass>,
    /// The messages and delays of the hosts, with their dependencies.
    pub workload: Arc<Workload>,
    /// The seed of every random draw.
    pub seed: u64,
    /// The longest round trip between hosts with messages; see [`base_rtt`]. A queue pair has that
    /// of its two hosts.
    pub base_rtt: Span,
    /// The delay of each switch.
    pub forwarding_delay: Span,
    /// Whether switches trim packets that they have no room for.
    pub trimming: Trimming,
}

/// Something that happened to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageEvent {
    /// Id of the message in the workload.
    pub message: MessageId,
    /// Simulated time of the event.
    pub at: Time,
    /// Whether the message was delivered or completed.
    pub kind: MessageEventKind,
}

/// A connection and the state of its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingConnection {
    /// The host that sends.
    pub src: HostId,
    /// The host that receives.
    pub dst: HostId,
    /// The label of its packets; see [`label_of`].
    pub label: u32,
    /// The state of its queue pair.
    pub state: SendingState,
}

/// What can happen to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageEventKind {
    /// Its receiver has all of it.
    Delivered,
    /// Its sender has been informed of that: all of it is acknowledged.
    Completed,
}

/// The hosts of a run, with the state of their messages, flows and connections.
#[derive(Debug)]
pub struct Endpoints {
    site: Site,
    policies: Policies,
    hosts: Vec<Host>,
    ledger: Ledger,
    /// Queue pairs of programs.
    own: OwnQps,
    paths: PathWeights,
    /// The choices on the way between the last two hosts that were asked about: many queue pairs in
    /// a row may have the same.
    last_paths: Option<((HostId, HostId), Option<PathSpace>)>,
    /// Base round trips of pairs of hosts.
    trips: PairTrips,
    /// What routing has distributed, while it weighs next hops for a failure.
    link_state: Option<LinkState>,
    /// Delays that have ended now and have released nothing yet.
    ended: VecDeque<Ended>,
    /// Hosts whose next wake-up may be earlier than it was.
    touched: Vec<HostId>,
    /// Events of messages that are reported and were not polled yet.
    message_events: VecDeque<MessageEvent>,
    /// The first message whose events are reported; `None` if none is.
    first_reported: Option<MessageId>,
    /// Flows for the world; `None` if NICs send them as packets.
    fluid_flows: Option<FluidFlows>,
    /// The scale-up networks of servers; `None` without any.
    domains: Option<Box<Domains>>,
    /// What becomes of the queue pairs of a message that has completed.
    queue_pairs: QueuePairs,
    /// The collective whose messages are made during the run, if there is one.
    generating: Option<Generating>,
    /// State of a partition of a parallel run; `None` in a single-threaded run.
    partition: Option<Box<Partition>>,
}

impl Endpoints {
    /// The hosts of a site, with their tasks that wait for nothing but the clock scheduled.
    pub fn new(site: Site) -> Self {
        let mut all = Self::unscheduled(site);
        tasks::schedule_independent(&all.site.workload, &mut all.hosts, &|_| true);
        all
    }

    fn unscheduled(site: Site) -> Self {
        let Site { scheme, nic, job_policies, job_classes, workload, .. } = &site;
        let policies = Policies::new(scheme, nic.recovery, job_policies, workload);
        let policies = policies.with_classes(job_classes);
        Self {
            hosts: Host::all(&site, &policies),
            ledger: Ledger::new(&site.workload),
            own: OwnQps::default(),
            paths: PathWeights::new(&site.topology, &site.routes),
            trips: PairTrips::new(&site.topology, site.forwarding_delay),
            last_paths: None,
            link_state: weighed_from_the_start(&site),
            ended: VecDeque::new(),
            touched: Vec::new(),
            message_events: VecDeque::new(),
            first_reported: None,
            fluid_flows: None,
            queue_pairs: QueuePairs::Kept,
            generating: None,
            partition: None,
            domains: Domains::of(&site.topology),
            policies,
            site,
        }
    }

    /// The host with this id.
    #[inline]
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.index()]
    }

    /// A host, for its wire.
    #[inline]
    pub fn host_mut(&mut self, id: HostId) -> &mut Host {
        &mut self.hosts[id.index()]
    }

    /// True if there are too many queue pairs for a near cache, so that prefetching them pays. With
    /// fewer, it costs more than it saves.
    #[inline]
    pub(crate) fn has_many_queue_pairs(&self) -> bool {
        self.ledger.connections.as_slice().len() >= 1 << 13
    }

    /// All hosts, by id.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// What became of messages and flows.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The workload, without messages that were posted.
    pub fn workload(&self) -> &Workload {
        &self.site.workload
    }

    /// A message of the workload, or one that was posted.
    ///
    /// # Panics
    /// If it was never posted, or is discarded.
    pub fn message(&self, id: MessageId) -> &Message {
        let planned = self.site.workload.messages.get(id.index());
        planned.or_else(|| self.ledger.posted(id)).expect("a message in use is not discarded")
    }

    /// A packet came to a host.
    #[inline]
    pub fn handle_packet(&mut self, now: Time, id: HostId, packet: &Packet) {
        if is_provisional(packet) {
            let packet = self.with_receiver(packet);
            return self.hosts[id.index()].nic.handle_packet(now, &packet);
        }
        self.hosts[id.index()].nic.handle_packet(now, packet);
    }

    /// The time has come that a host wanted to be woken at; early is harmless.
    pub fn handle_timeout(&mut self, now: Time, id: HostId) {
        let host = &mut self.hosts[id.index()];
        host.nic.handle_timeout(now);
        host.splitters.handle_timeout(now);
        if host.domain_wake <= now {
            self.handle_domain(now, id);
        }
        self.start_due(now, id);
    }

    /// After something went into a host: handles its NIC's events, and puts flows that start now
    /// on their queue pairs.
    #[inline(always)]
    pub fn follow_up(&mut self, now: Time, id: HostId) {
        let host = &self.hosts[id.index()];
        if host.nic.has_events() || host.splitters.may_have_flow(now) {
            self.handle_news(now, id);
        }
    }

    #[inline(never)]
    fn handle_news(&mut self, now: Time, id: HostId) {
        while let Some(event) = self.hosts[id.index()].nic.poll_event() {
            self.handle_event(now, id, event);
        }
        while let Some(flow) = self.hosts[id.index()].splitters.poll_flow(now) {
            self.put(now, id, &flow);
        }
    }

    /// The NIC of a host detects that its port in `plane` is dead, or works again.
    pub fn handle_plane(&mut self, now: Time, id: HostId, plane: u32, is_up: bool) {
        self.hosts[id.index()].nic.handle_plane(now, plane, is_up);
    }

    /// A host whose next wake-up may be earlier than it was, though nothing went into it.
    #[inline]
    pub fn poll_touched(&mut self) -> Option<HostId> {
        self.touched.pop()
    }

    /// Sends a message that the workload does not have: it starts now, or at its `start` if that
    /// is later. [`Self::poll_touched`] lists its sender, [`Self::poll_message_event`] its events.
    ///
    /// # Panics
    /// If the workload has delays: who posts messages keeps time itself.
    pub fn post(&mut self, now: Time, message: Message) -> MessageId {
        assert!(self.site.workload.delays.is_empty(), "who posts messages keeps time itself");
        let id = self.ledger.post(message);
        if self.ledger.discarded().is_none() {
            self.first_reported.get_or_insert(id);
        }
        let start = self.start_at(message.start.max(now), id.into());
        self.hosts[message.src.index()].schedule(start);
        self.touched.push(message.src);
        id
    }

    /// From now on what has completed is discarded, so that memory follows what is open: messages
    /// when they complete, flows once [`Self::poll_flow`] has returned them. The ids of messages
    /// begin anew after 2^32. Sums are kept: [`Ledger::discarded`].
    ///
    /// # Panics
    /// If there are messages or delays already.
    pub fn discard_completed(&mut self) {
        let has_none = self.site.workload.task_count() == 0 && self.ledger.posted_count() == 0;
        assert!(has_none, "only what is posted can be discarded");
        self.first_reported = Some(MessageId(0));
        self.ledger.discard_completed();
    }

    /// Notes that something that is no message ends at `now`, for a program that keeps time
    /// itself.
    pub fn record_end(&mut self, now: Time) {
        self.ledger.last_completion = self.ledger.last_completion.max(now);
    }

    /// The next flow that has completed, in order of completion; it is discarded now.
    #[inline]
    pub fn poll_flow(&mut self) -> Option<FlowRecord> {
        self.ledger.poll_flow()
    }

    /// How many messages have been planned or posted so far, and their bytes.
    pub fn sent(&self) -> (u64, Bytes) {
        if let Some(discarded) = self.ledger.discarded() {
            return (discarded.messages, discarded.bytes);
        }
        let planned = &self.site.workload;
        let messages = planned.messages.len() as u64 + self.ledger.posted_count();
        let posted = self.ledger.all_posted().fold(Bytes::ZERO, |sum, it| sum + it.bytes);
        (messages, planned.total_bytes() + posted)
    }

    /// When the first message starts, planned or posted; with delays, when the first job does.
    pub fn first_start(&self) -> Time {
        let workload = &self.site.workload;
        if !workload.delays.is_empty() || self.ledger.discarded().is_some() {
            return workload.begin;
        }
        let messages = workload.messages.iter().chain(self.ledger.all_posted());
        messages.map(|message| message.start).min().unwrap_or(Time::ZERO)
    }

    /// The next event of a message that was posted.
    #[inline]
    pub fn poll_message_event(&mut self) -> Option<MessageEvent> {
        self.message_events.pop_front()
    }

    /// From now on [`Self::poll_message_event`] reports every message, not only those posted.
    pub fn report_all_messages(&mut self) {
        self.first_reported = Some(MessageId(0));
    }

    /// True if [`Self::poll_touched`], [`Self::poll_message_event`] or [`Self::poll_flow`] would
    /// return something.
    #[inline]
    pub fn has_reports(&self) -> bool {
        !(self.touched.is_empty() && self.message_events.is_empty()) || self.ledger.has_flows()
    }

    fn report(&mut self, at: Time, message: MessageId, kind: MessageEventKind) {
        if self.first_reported.is_some_and(|first| first <= message) {
            self.message_events.push_back(MessageEvent { message, at, kind });
        }
    }

    /// Payload bytes that NICs accepted, each once, and those of messages inside servers.
    pub fn accepted_bytes(&self) -> u64 {
        let inside = self.domains.as_ref().map_or(0, |domains| domains.delivered_bytes());
        let accepted = self.hosts.iter().map(|host| host.nic.counters().payload_received);
        accepted.sum::<u64>() + inside
    }

    /// The sender of the connection of that index, in the order in which they were made, and how
    /// much of its work is left; `None` if fewer were made.
    pub fn backlog(&self, index: usize) -> Option<(HostId, Backlog)> {
        let connection = self.ledger.connections.as_slice().get(index)?;
        let nic = &self.hosts[connection.src.index()].nic;
        Some((connection.src, nic.backlog(connection.qp)))
    }

    /// The connection of that index at `now`, in the order in which they were made; `None` if fewer
    /// were made.
    pub fn sending(&self, now: Time, index: usize) -> Option<SendingConnection> {
        let connection = self.ledger.connections.as_slice().get(index)?;
        let &Connection { src, dst, qp, .. } = connection;
        let state = self.hosts[src.index()].nic.sending_state(now, qp);
        Some(SendingConnection { src, dst, label: connection.key().label(), state })
    }

    /// Queue pairs, counted at the NICs that send on them.
    pub fn qp_counts(&self) -> QpCounts {
        let nics = || self.hosts.iter().map(|host| &host.nic);
        let in_use = self.ledger.connections.in_use();
        QpCounts {
            per_nic_max: nics().map(|nic| nic.send_qps()).max().unwrap_or(0),
            total: nics().map(|nic| nic.send_qps()).sum(),
            extra_per_nic_max: nics().map(|nic| nic.extra_qps()).max().unwrap_or(0),
            extra_total: nics().map(|nic| nic.extra_qps()).sum(),
            in_use_per_nic_max: in_use.per_nic_max(),
            in_use_per_peer_max: in_use.per_peer_max(),
        }
    }
}
