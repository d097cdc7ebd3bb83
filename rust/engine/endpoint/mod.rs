//! Hosts and their workload, independent of the network between them.
//!
//! Messages wait for their dependencies. A splitter then cuts each into flows, and each flow is
//! posted to a queue pair, which is created on first use. A ledger records every message and flow.
//!
//! Like its NICs, this module is sans-IO. A driver (the fabric here, or ns-3 through the bridge)
//! makes these calls:
//!
//! - [`Endpoints::handle_packet`] when a packet reaches a host, and [`Endpoints::handle_timeout`]
//!   at the time of [`Host::next_wake`]; after either, [`Endpoints::follow_up`], which starts what
//!   is due;
//! - the NIC of [`Endpoints::host_mut`], polled for packets whenever the host's wire is free;
//! - [`Endpoints::poll_touched`] for other hosts whose next wake-up may have moved;
//! - [`Endpoints::handle_routing`] when routing has converged on a new link state.
//!
//! [`Endpoints::create_qp`], [`Endpoints::post_send`] and the verbs of the NIC serve programs with
//! queue pairs of their own. [`Endpoints::hand_over_flows`] serves drivers that carry whole flows
//! instead of packets. [`Endpoints::post`] and [`Endpoints::poll_message_event`] serve programs
//! that decide during the run what to send. [`Endpoints::discard_completed`] bounds the memory of
//! endless ones.

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
mod progress;
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
use sending::initial_link_state;
pub use sending::label_of;
pub use spans::Spans;

use base_rtt::PairRoundTrips;
use connections::Connection;
use discarding::CompletedQpPolicy;
use fluid_flows::FluidFlows;
use generating::Generating;
use partition::{Partition, is_provisional};
use path_weights::PathWeights;
use queue_pairs::ProgramQps;
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

/// Inputs from which the hosts are built.
#[derive(Debug, Clone)]
pub struct Site {
    /// Hosts, switches and links.
    pub topology: Arc<Topology>,
    /// Next hops without failures. Explicit paths index into them.
    pub routes: Arc<Routes>,
    /// NIC configuration of every host that is not in `own_nics`.
    pub nic: Arc<NicConfig>,
    /// Hosts with a NIC configuration of their own.
    pub own_nics: BTreeMap<HostId, OwnNic>,
    /// Load-balancing scheme of the run.
    pub scheme: Scheme,
    /// Policies of jobs that do not use the run's.
    pub job_policies: Vec<JobPolicy>,
    /// Scheduling of traffic classes at NICs; `None` if data has one class.
    pub classes: Option<Discipline>,
    /// Traffic classes of jobs. Unlisted jobs use the first class.
    pub job_classes: Vec<JobClass>,
    /// Messages and delays of the hosts, with their dependencies.
    pub workload: Arc<Workload>,
    /// Seed of every random draw.
    pub seed: u64,
    /// Longest round trip between hosts with messages; see [`base_rtt`]. Each queue pair uses the
    /// round trip of its own two hosts.
    pub base_rtt: Span,
    /// Forwarding delay of each switch.
    pub forwarding_delay: Span,
    /// Whether switches trim packets that do not fit into their buffer.
    pub trimming: Trimming,
}

/// A delivery or completion of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageEvent {
    /// Id of the message.
    pub message: MessageId,
    /// Simulated time of the event.
    pub at: Time,
    /// Whether the message was delivered or completed.
    pub kind: MessageEventKind,
}

/// A connection and the state of its requester.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingConnection {
    /// The sending host.
    pub src: HostId,
    /// The receiving host.
    pub dst: HostId,
    /// Label of its packets; see [`label_of`].
    pub label: u32,
    /// State of the queue pair.
    pub state: SendingState,
}

/// Kind of a message event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageEventKind {
    /// The receiver has the whole message.
    Delivered,
    /// The sender has received the last acknowledgement.
    Completed,
}

/// The hosts of a run, with the state of their messages, flows and connections.
#[derive(Debug)]
pub struct Endpoints {
    site: Site,
    policies: Policies,
    hosts: Vec<Host>,
    ledger: Ledger,
    /// Queue pairs created by programs.
    program_qps: ProgramQps,
    paths: PathWeights,
    /// Path choices between the last pair of hosts looked up. Consecutive queue pairs often share
    /// it.
    last_paths: Option<((HostId, HostId), Option<PathSpace>)>,
    /// Base round trips of pairs of hosts.
    round_trips: PairRoundTrips,
    /// Link state announced by routing, while it weights next hops around a failure.
    link_state: Option<LinkState>,
    /// Delays that ended at the current time and have not released their dependents.
    ended: VecDeque<Ended>,
    /// Hosts whose next wake-up may be earlier than it was.
    touched: Vec<HostId>,
    /// Reported message events that have not been polled yet.
    message_events: VecDeque<MessageEvent>,
    /// First message whose events are reported; `None` if none are.
    report_from: Option<MessageId>,
    /// Flows for the driver; `None` if NICs send packets.
    fluid_flows: Option<FluidFlows>,
    /// Scale-up networks of servers; `None` without any.
    domains: Option<Box<Domains>>,
    /// Fate of the queue pairs of completed messages.
    completed_qps: CompletedQpPolicy,
    /// The collective whose messages are created during the run, if any.
    generating: Option<Generating>,
    /// State of a partition of a parallel run; `None` in a single-threaded run.
    partition: Option<Box<Partition>>,
}

impl Endpoints {
    /// Creates the hosts of a site, and schedules the tasks that have no dependencies.
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
            program_qps: ProgramQps::default(),
            paths: PathWeights::new(&site.topology, &site.routes),
            round_trips: PairRoundTrips::new(&site.topology, site.forwarding_delay),
            last_paths: None,
            link_state: initial_link_state(&site),
            ended: VecDeque::new(),
            touched: Vec::new(),
            message_events: VecDeque::new(),
            report_from: None,
            fluid_flows: None,
            completed_qps: CompletedQpPolicy::Keep,
            generating: None,
            partition: None,
            domains: Domains::of(&site.topology),
            policies,
            site,
        }
    }

    /// Returns the host with this id.
    #[inline]
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.index()]
    }

    /// Returns a host mutably, for its port.
    #[inline]
    pub fn host_mut(&mut self, id: HostId) -> &mut Host {
        &mut self.hosts[id.index()]
    }

    /// True if the queue pairs exceed a fast cache, so that prefetching them pays off. With fewer,
    /// prefetching costs more than it saves.
    #[inline]
    pub(crate) fn has_many_queue_pairs(&self) -> bool {
        self.ledger.connections.as_slice().len() >= 1 << 13
    }

    /// Returns all hosts, by id.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Returns the ledger of messages and flows.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the workload, without posted messages.
    pub fn workload(&self) -> &Workload {
        &self.site.workload
    }

    /// Returns a message of the workload, or a posted one.
    ///
    /// # Panics
    /// If the message was never posted, or has been discarded.
    pub fn message(&self, id: MessageId) -> &Message {
        let planned = self.site.workload.messages.get(id.index());
        planned.or_else(|| self.ledger.posted(id)).expect("a message in use is not discarded")
    }

    /// Handles a packet that arrived at a host.
    #[inline]
    pub fn handle_packet(&mut self, now: Time, id: HostId, packet: &Packet) {
        if is_provisional(packet) {
            let packet = self.with_receiver(packet);
            return self.hosts[id.index()].nic.handle_packet(now, &packet);
        }
        self.hosts[id.index()].nic.handle_packet(now, packet);
    }

    /// Handles a wake-up of a host. Calling it early is harmless.
    pub fn handle_timeout(&mut self, now: Time, id: HostId) {
        let host = &mut self.hosts[id.index()];
        host.nic.handle_timeout(now);
        host.splitters.handle_timeout(now);
        if host.domain_wake <= now {
            self.handle_domain(now, id);
        }
        // Last: a message that starts here sees the timers above handled.
        self.start_due(now, id);
    }

    /// Handles the NIC events that an input to the host caused, and posts the flows that start now.
    #[inline(always)]
    pub fn follow_up(&mut self, now: Time, id: HostId) {
        let host = &self.hosts[id.index()];
        if host.nic.has_events() || host.splitters.may_have_flow(now) {
            self.handle_nic_events(now, id);
        }
    }

    // Out of line: most packets cause no event, and callers inline only the check.
    #[inline(never)]
    fn handle_nic_events(&mut self, now: Time, id: HostId) {
        while let Some(event) = self.hosts[id.index()].nic.poll_event() {
            self.handle_event(now, id, event);
        }
        while let Some(flow) = self.hosts[id.index()].splitters.poll_flow(now) {
            self.post_flow(now, id, &flow);
        }
    }

    /// Notifies the NIC of a host that its port in `plane` has failed, or works again.
    pub fn handle_plane(&mut self, now: Time, id: HostId, plane: u32, is_up: bool) {
        self.hosts[id.index()].nic.handle_plane(now, plane, is_up);
    }

    /// Returns a host whose next wake-up may have moved forward without an input to it.
    #[inline]
    pub fn poll_touched(&mut self) -> Option<HostId> {
        self.touched.pop()
    }

    /// Sends a message that is not in the workload. It starts at `now` or at its `start`, whichever
    /// is later. [`Self::poll_touched`] returns its sender, [`Self::poll_message_event`] its
    /// events.
    ///
    /// # Panics
    /// If the workload has delays, because programs that post messages keep time themselves.
    pub fn post(&mut self, now: Time, message: Message) -> MessageId {
        assert!(self.site.workload.delays.is_empty(), "cannot post messages in a run with delays");
        let id = self.ledger.post(message);
        // Reports begin with the first posted message. With discarding, all are reported already.
        if self.ledger.discarded().is_none() {
            self.report_from.get_or_insert(id);
        }
        let start = self.start_at(message.start.max(now), id.into());
        self.hosts[message.src.index()].schedule(start);
        self.touched.push(message.src);
        id
    }

    /// Discards what completes from now on, so that memory is bounded by open work. Messages are
    /// discarded on completion, flows once [`Self::poll_flow`] has returned them. Message ids wrap
    /// at 2^32. Totals are kept in [`Ledger::discarded`].
    ///
    /// # Panics
    /// If any message or delay exists.
    pub fn discard_completed(&mut self) {
        let has_none = self.site.workload.task_count() == 0 && self.ledger.posted_count() == 0;
        assert!(has_none, "cannot discard messages in a run with planned tasks");
        // Ids wrap, so every message must be reported.
        self.report_from = Some(MessageId(0));
        self.ledger.discard_completed();
    }

    /// Records that something other than a message ends at `now`, for programs that keep time.
    pub fn record_end(&mut self, now: Time) {
        self.ledger.last_completion = self.ledger.last_completion.max(now);
    }

    /// Takes the next completed flow, in order of completion.
    #[inline]
    pub fn poll_flow(&mut self) -> Option<FlowRecord> {
        self.ledger.poll_flow()
    }

    /// Returns the number of messages planned or posted so far, and their bytes.
    pub fn sent(&self) -> (u64, Bytes) {
        if let Some(discarded) = self.ledger.discarded() {
            return (discarded.messages, discarded.bytes);
        }
        let planned = &self.site.workload;
        let messages = planned.messages.len() as u64 + self.ledger.posted_count();
        let posted = self.ledger.all_posted().fold(Bytes::ZERO, |sum, it| sum + it.bytes);
        (messages, planned.total_bytes() + posted)
    }

    /// Returns the start of the first message, planned or posted; with delays, of the first job.
    pub fn first_start(&self) -> Time {
        let workload = &self.site.workload;
        if !workload.delays.is_empty() || self.ledger.discarded().is_some() {
            return workload.begin;
        }
        let messages = workload.messages.iter().chain(self.ledger.all_posted());
        messages.map(|message| message.start).min().unwrap_or(Time::ZERO)
    }

    /// Returns the next event of a posted message.
    #[inline]
    pub fn poll_message_event(&mut self) -> Option<MessageEvent> {
        self.message_events.pop_front()
    }

    /// Reports the events of every message from now on, not only of posted ones.
    pub fn report_all_messages(&mut self) {
        self.report_from = Some(MessageId(0));
    }

    /// True if [`Self::poll_touched`], [`Self::poll_message_event`] or [`Self::poll_flow`] would
    /// return something.
    #[inline]
    pub fn has_pending_reports(&self) -> bool {
        !(self.touched.is_empty() && self.message_events.is_empty()) || self.ledger.has_flows()
    }

    fn report(&mut self, at: Time, message: MessageId, kind: MessageEventKind) {
        if self.report_from.is_some_and(|first| first <= message) {
            self.message_events.push_back(MessageEvent { message, at, kind });
        }
    }

    /// Returns the payload bytes accepted by NICs, without duplicates, or delivered inside servers.
    pub fn accepted_bytes(&self) -> u64 {
        let inside = self.domains.as_ref().map_or(0, |domains| domains.delivered_bytes());
        let accepted = self.hosts.iter().map(|host| host.nic.counters().payload_received);
        accepted.sum::<u64>() + inside
    }

    /// Returns the sender of a connection and its remaining work. `index` counts connections in
    /// order of creation; `None` if there are fewer.
    pub fn backlog(&self, index: usize) -> Option<(HostId, Backlog)> {
        let connection = self.ledger.connections.as_slice().get(index)?;
        let nic = &self.hosts[connection.src.index()].nic;
        Some((connection.src, nic.backlog(connection.qp)))
    }

    /// Returns the state at `now` of a connection. `index` counts connections in order of creation;
    /// `None` if there are fewer.
    pub fn sending(&self, now: Time, index: usize) -> Option<SendingConnection> {
        let connection = self.ledger.connections.as_slice().get(index)?;
        let &Connection { src, dst, qp, .. } = connection;
        let state = self.hosts[src.index()].nic.sending_state(now, qp);
        Some(SendingConnection { src, dst, label: connection.key().label(), state })
    }

    /// Returns the counts of queue pairs, at the NICs that send on them.
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
