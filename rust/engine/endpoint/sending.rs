//! Posting of messages: a splitter cuts them into flows, and each flow is posted to its queue pair.

use super::connections::{ConnectionKey, StreamKey};
use super::{Endpoints, Policy, RoundTrip, Site};
use crate::balance::sender::{NetworkParameters, PathSpace, QpContext, Sender, SenderPolicy as _};
use crate::balance::{Forwarding, Scheme, Weights};
use crate::ids::{HostId, LinkId, MessageId, TaskId};
use crate::nic::{Mismatch, ReceiveHalf, SendHalf, Write};
use crate::split::{Flow, QueuePairChoice, Request, Split};
use crate::topology::{KnownFailures, LinkState};
use crate::units::{Bytes, Time};
use crate::workload::Message;

/// A flow that has been assigned to a queue pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct AssignedFlow {
    /// Index of its record in the ledger.
    pub(super) record: u32,
    /// Id of its connection.
    pub(super) connection: u32,
    /// Path that it is pinned to, with source routes.
    pub(super) path: u16,
    pub(super) bytes: Bytes,
}

impl Endpoints {
    /// Passes a message to the splitter of `host`, which is its sender or the GPU that relays it.
    pub(super) fn start(&mut self, now: Time, host: HostId, task: TaskId) {
        let id = MessageId(task.0);
        let mut message = *self.message(id);
        // A relayed message starts twice. Its start time is that of the first leg.
        if message.src == host {
            self.ledger.start(now, id);
        }
        // A scale-up network bypasses splitters and queue pairs.
        if self.start_in_domain(now, host, id) {
            return;
        }
        message.src = host;
        let policy = self.policies.index_of(message.stream);
        if uses_path_weights(&self.policies.of(message.stream).scheme) {
            self.notify_splitter(now, &message, policy);
        }
        let request = Request {
            message: id,
            dst: message.dst,
            edge: self.site.routes.edge_of(message.dst),
            bytes: message.bytes,
            paths: self.paths(message.src, message.dst, message.stream),
        };
        self.hosts[message.src.index()].splitters.of(policy).handle_message(now, &request);
    }

    /// Notifies a sender's splitter of the paths that have lost all capacity since routing
    /// converged. Paths with reduced capacity count as whole.
    fn notify_splitter(&mut self, now: Time, message: &Message, policy: usize) {
        let Some(state) = &self.link_state else { return };
        let remaining = |link: LinkId| state.rates[link.index()];
        let shares = self.paths.between(message.src, message.dst, &remaining);
        let edge = self.site.routes.edge_of(message.dst);
        let splitter = self.hosts[message.src.index()].splitters.of(policy);
        for (path, _) in (0u16..=u16::MAX).zip(shares).filter(|&(_, &share)| share == 0) {
            splitter.handle_failed_path(now, edge, path);
        }
    }

    /// Returns the paths from which a sender may choose for a message stream.
    pub(super) fn paths(&mut self, src: HostId, dst: HostId, stream: u32) -> PathSpace {
        if self.policies.of(stream).scheme.forwarding == Forwarding::Hashed {
            return PathSpace::SINGLE;
        }
        self.path_space(src, dst).expect("checked: at most 65,536 paths")
    }

    /// Returns the path choices between two hosts; `None` if there are more than 2^16 paths.
    fn path_space(&mut self, src: HostId, dst: HostId) -> Option<PathSpace> {
        if let Some((of, paths)) = self.last_paths
            && of == (src, dst)
        {
            return paths;
        }
        let choices = self.site.routes.choices(src, dst);
        let add = |paths: PathSpace, &n: &u32| paths.with_tier(n as usize);
        let paths = choices.iter().try_fold(PathSpace::SINGLE, add);
        self.last_paths = Some(((src, dst), paths));
        paths
    }

    /// Returns the context of a queue pair's policy.
    pub(super) fn context(&mut self, key: &ConnectionKey, path: u16) -> QpContext {
        let &ConnectionKey { src, dst, stream, slot: qp_index } = key;
        let paths = if self.policies.of(stream).scheme.sender.needs_paths() {
            self.path_space(src, dst).unwrap_or(PathSpace::UNKNOWN)
        } else {
            self.paths(src, dst, stream)
        };
        let network = self.network_parameters(src, dst);
        QpContext { seed: self.site.seed, src, dst, stream, qp_index, paths, path, network }
    }

    fn network_parameters(&mut self, src: HostId, dst: HostId) -> NetworkParameters {
        let (base_rtt, site) = (self.round_trip(src, dst).longest, &self.site);
        let (nic, rate) = (site.nic_of(src), site.topology.host_rate(src));
        let packet = rate.time_for(nic.payload + nic.header).as_ps().max(1);
        NetworkParameters {
            base_rtt,
            bdp_packets: u32::try_from(base_rtt.as_ps().div_ceil(packet)).unwrap_or(u32::MAX),
            retransmit_timeout: nic.retransmit_timeout,
            trimming: site.trimming,
            planes: site.topology.planes().count(),
        }
    }

    /// Returns the base round trips of two hosts, for packets of the first one's NIC.
    fn round_trip(&mut self, src: HostId, dst: HostId) -> RoundTrip {
        let Site { topology, routes, .. } = &self.site;
        self.round_trips.between([src, dst], topology, routes, self.site.nic_of(src))
    }

    /// Posts a flow to its queue pair, which is created if needed.
    pub(super) fn post_flow(&mut self, now: Time, src: HostId, flow: &Flow) {
        let stream = self.message(flow.message).stream;
        let connection = self.connection_for(StreamKey { src, dst: flow.dst, stream }, flow);
        let is_remote =
            self.partition.as_mut().is_some_and(|it| it.post(connection, flow.dst, flow));
        // The receiver's partition learns of the flow from a note, and keeps its own record.
        let id = match is_remote {
            true => self.ledger.add_departing_flow(now, flow, connection),
            false => self.ledger.add_flow(now, flow, connection),
        };
        if self.fluid_flows.is_some() {
            let &Flow { path, bytes, .. } = flow;
            return self
                .queue_for_driver(now, AssignedFlow { record: id, connection, path, bytes });
        }
        let qp = self.ledger.connections.as_slice()[connection as usize].qp;
        let write = Write { bytes: flow.bytes, work: u64::from(id), path: flow.path };
        self.hosts[src.index()].nic.post_at(now, qp, write);
    }

    /// Returns the connection for a flow, which is created if needed.
    fn connection_for(&mut self, stream: StreamKey, flow: &Flow) -> u32 {
        let connections = &mut self.ledger.connections;
        match flow.queue_pair {
            QueuePairChoice::Index(slot) => {
                let key = stream.with_slot(slot);
                connections.find(&key).unwrap_or_else(|| {
                    let connection = self.connect(key, flow);
                    self.ledger.connections.add_to_keys(key, connection);
                    connection
                })
            }
            QueuePairChoice::Idle => connections.take_idle(stream).unwrap_or_else(|slot| {
                let connection = self.connect(stream.with_slot(slot), flow);
                self.ledger.connections.add_to_pool(stream, connection);
                connection
            }),
        }
    }

    fn connect(&mut self, key: ConnectionKey, flow: &Flow) -> u32 {
        // The id that `add` assigns below, once both ends exist.
        let cookie = self.ledger.connections.next_id();
        let context = self.context(&key, flow.path);
        let round_trip = self.round_trip(key.src, key.dst);
        let mut policy = self.policies.of(key.stream).scheme.sender.build(&context);
        let settings = self.policies.settings(key.stream, self.site.nic_of(key.src).recovery);
        self.notify_new_policy(&mut policy, &key);
        let extra = self.ledger.connections.count_in_stream(&key) > 1;
        let label = key.label();
        let half = SendHalf { peer: key.dst, label, cookie, extra, policy };
        let nic = &mut self.hosts[key.src.index()].nic;
        // A message split into many flows opens as many queue pairs: reserve memory once.
        nic.reserve_senders(flow.pieces as usize);
        let qp = nic.open_sender(half);
        nic.set_round_trip(qp, round_trip.longest, round_trip.is_even);
        if let Some(settings) = settings {
            self.hosts[key.src.index()].nic.set_settings(qp, settings);
        }
        let receiver = match &mut self.partition {
            Some(partition) => partition.open(cookie, key, qp),
            None => {
                let half = ReceiveHalf { peer: key.src, peer_qp: qp, label, cookie, settings };
                let nic = &mut self.hosts[key.dst.index()].nic;
                nic.reserve_receivers(flow.pieces as usize);
                nic.open_receiving(half)
            }
        };
        // Last, since the number of the responder is known only now.
        self.hosts[key.src.index()].nic.connect(qp, receiver);
        self.ledger.connections.add(&key, qp)
    }

    /// Returns the mismatch that prevents a queue pair of this message stream between two hosts;
    /// `None` if they can connect.
    pub fn mismatch(&self, a: HostId, b: HostId, stream: u32) -> Option<Mismatch> {
        self.site.mismatch([a, b], self.policies.recovery_of(stream))
    }

    /// Returns the mismatch for queue pairs of programs, which use the recovery of their NIC.
    pub fn mismatch_of_nics(&self, a: HostId, b: HostId) -> Option<Mismatch> {
        self.site.mismatch([a, b], None)
    }

    /// Informs the policy of a new queue pair of what routing has announced to existing ones.
    pub(super) fn notify_new_policy(&mut self, policy: &mut Sender, key: &ConnectionKey) {
        if let Some(state) = &self.link_state
            && uses_path_weights(&self.policies.of(key.stream).scheme)
        {
            let remaining = |link: LinkId| state.rates[link.index()];
            policy.handle_weights(self.paths.between(key.src, key.dst, &remaining));
        }
    }

    /// True if senders weight paths by the capacities that routing announces.
    pub(crate) fn uses_path_weights(&self) -> bool {
        self.policies.all().iter().any(|policy| uses_path_weights(&policy.scheme))
    }

    /// Handles a converged routing state. Source-routing policies that weight paths by capacity are
    /// informed of the remaining capacity of each path.
    pub fn handle_routing(&mut self, state: LinkState) {
        // Shares of the previous state are stale.
        self.paths.clear();
        let uses_weights = |policy: &Policy| uses_path_weights(&policy.scheme);
        if self.uses_path_weights() {
            let message_qps = self.ledger.connections.iter();
            let message_qps = message_qps.filter(|pair| !pair.is_arriving());
            let message_qps =
                message_qps.filter(|pair| uses_weights(self.policies.of(pair.key().stream)));
            let message_qps = message_qps.map(|pair| (pair.src, pair.dst, pair.qp));
            let own = self.program_qps.iter().filter(|_| uses_weights(&self.policies.all()[0]));
            for (src, dst, qp) in message_qps.chain(own) {
                let remaining = |link: LinkId| state.rates[link.index()];
                let weights = self.paths.between(src, dst, &remaining);
                self.hosts[src.index()].nic.handle_weights(qp, weights);
            }
        }
        // Without failures new queue pairs need no weights.
        self.link_state = (state.failures == KnownFailures::Some).then_some(state);
    }
}

/// Returns the link state that routing announces before any failure, if links differ in rate.
pub(super) fn initial_link_state(site: &Site) -> Option<LinkState> {
    let state = LinkState::intact(&site.topology);
    let jobs = site.job_policies.iter().map(|it| &it.scheme);
    let uses_weights = [&site.scheme].into_iter().chain(jobs).any(uses_path_weights);
    (uses_weights && state.failures == KnownFailures::Some).then_some(state)
}

/// True if senders choose paths and weight them by capacity.
fn uses_path_weights(scheme: &Scheme) -> bool {
    scheme.forwarding == Forwarding::SourceRouted && scheme.weights == Weights::Capacity
}

/// Returns the label of data packets from `src` to `dst` on the queue pair in `slot` of a stream.
pub fn label_of(src: HostId, dst: HostId, stream: u32, slot: u32) -> u32 {
    ConnectionKey { src, dst, stream, slot }.label()
}
