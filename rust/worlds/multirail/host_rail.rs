//! A rail on which the hosts add: a ring over queue pairs, in a fabric of its own.
//!
//! The transport is the rail's NIC (this project's own for `rdma`; with a window that starts
//! slowly, halves on loss and a kernel's timers for `tcp`). The work of a kernel is done by the
//! processor of each host, which all its rails share: a time per message and a time per byte, on
//! both sides. A message is sent in slices, each of which the processor handles before it is on the
//! wire and after it has arrived, so that processor and wire work at the same time.
//!
//! With several links per host, each slice takes the link with the least of the sender's bytes in
//! flight, and slices are handled in the order in which they were sent: one ordered stream over all
//! links, in the manner of MPTCP (RFC 8684), as the baseline of rails under an allocator.
//! \[inferred\]: the choice of the link; its cost is `Software::checksum_rate`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::attempt::{Attempt, ControlMessage, RailDelivery, Sums};
use super::config::{HostCosts, PlaneSetup, RailFailure, RailFailureKind, Software, Transport};
use super::cpu::{Cpu, time_for};
use super::numbers::Inputs;
use super::ring::{Block, BlockAction, Ring};
use crate::balance::{Parameters, build_scheme};
use crate::endpoint::MessageEventKind;
use crate::fabric::{
    Buffer, Direction, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Rounding, SwitchConfig,
    World,
};
use crate::ids::{HostId, LinkId, SwitchId};
use crate::topology::{Link, Node, Switch, Topology};
use crate::units::{Bytes, Fraction, Span, Time};
use crate::workload::{Message, Workload};

/// An event at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostEvent {
    /// The processor has handled a slice of the block that its rank sends.
    Sent { block: u64, bytes: Bytes },
    /// The processor has handled a slice that arrived at the next rank.
    Received { block: u64, bytes: Bytes },
    /// The processor has handled a control message to be sent.
    ControlSent { control: ControlMessage },
    /// The processor has handled a control message that arrived.
    ControlReceived { control: ControlMessage },
}

/// The content of a message of the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Payload {
    Slice { from: u32, number: u64, block: u64, bytes: Bytes },
    Control { control: ControlMessage },
}

/// A block and the progress of its current hop.
#[derive(Debug)]
struct Transfer {
    block: Block,
    unsent: Bytes,
    /// Bytes that the fabric has not delivered yet.
    undelivered: Bytes,
    /// Bytes that the next rank's processor has not handled yet.
    unreceived: Bytes,
}

/// The simulation of a ring rail.
#[derive(Debug)]
pub(super) struct HostRail {
    ring: Ring,
    seed: u64,
    software: Software,
    host: HostCosts,
    /// One fabric per link of a host.
    worlds: Vec<World>,
    events: BTreeMap<(Time, u64), HostEvent>,
    next_event: u64,
    transfers: BTreeMap<u64, Transfer>,
    next_block: u64,
    /// The payload of each message of the fabric, by link and message id.
    payloads: Vec<Vec<Payload>>,
    /// Bytes of slices in flight, by link and sender.
    backlog: Vec<Vec<Bytes>>,
    /// The number of slices sent, by sender.
    sent: Vec<u64>,
    /// The number of slices that the successor has taken in order, by sender.
    taken: Vec<u64>,
    /// Slices that arrived before an earlier one, by sender and sequence number.
    out_of_order: BTreeMap<(u32, u64), (u64, Bytes)>,
    /// The current message stream: connections are replaced when in-flight data is discarded.
    stream: u32,
    deliveries: Vec<RailDelivery>,
    bytes: Bytes,
}

impl HostRail {
    /// The rail in its initial state.
    pub(super) fn new(setup: &PlaneSetup<'_>, transport: &Transport) -> Self {
        let &PlaneSetup { ranks, seed, host, .. } = setup;
        let fabric = fabric(setup, transport);
        let links = transport.links.max(1) as usize;
        Self {
            ring: Ring(ranks),
            seed,
            software: transport.software,
            host,
            worlds: (0..links).map(|_| World::new(&fabric)).collect(),
            events: BTreeMap::new(),
            next_event: 0,
            transfers: BTreeMap::new(),
            next_block: 0,
            payloads: vec![Vec::new(); links],
            backlog: vec![vec![Bytes::ZERO; ranks as usize]; links],
            sent: vec![0; ranks as usize],
            taken: vec![0; ranks as usize],
            out_of_order: BTreeMap::new(),
            stream: 0,
            deliveries: Vec::new(),
            bytes: Bytes::ZERO,
        }
    }

    /// The time of its next event.
    pub(super) fn next_time(&mut self) -> Option<Time> {
        let own = self.events.first_key_value().map(|(&(at, _), _)| at);
        own.into_iter().chain(self.worlds.iter_mut().flat_map(World::next_time)).min()
    }

    /// Handles its next event; events at hosts precede packets of the same time.
    pub(super) fn step(&mut self, cpus: &mut [Cpu]) {
        let worlds = self.worlds.iter_mut().map(World::next_time).enumerate();
        let (world_time, link) =
            worlds.map(|(link, at)| (at.unwrap_or(Time::NEVER), link)).min().unwrap_or_default();
        match self.events.first_entry() {
            Some(entry) if entry.key().0 <= world_time => {
                let ((now, _), event) = entry.remove_entry();
                self.handle(now, event, cpus);
            }
            _ => {
                self.worlds[link].step();
                let now = self.worlds[link].now();
                while let Some(event) = self.worlds[link].poll_message_event() {
                    if event.kind == MessageEventKind::Delivered {
                        let payload = self.payloads[link][event.message.index()];
                        self.deliver(now, link, payload, cpus);
                    }
                }
            }
        }
    }

    /// Takes the next delivery to a rank that was not polled yet.
    pub(super) fn poll_delivery(&mut self) -> Option<RailDelivery> {
        self.deliveries.pop()
    }

    /// `rank` starts its part of an attempt.
    pub(super) fn begin(&mut self, now: Time, attempt: Attempt, rank: u32, cpus: &mut [Cpu]) {
        let inputs = Inputs::new(self.seed, attempt.id.operation);
        if let Some(block) = self.ring.start(inputs, attempt, rank) {
            let id = self.next_block;
            self.next_block += 1;
            let none = Bytes::ZERO;
            let transfer = Transfer { block, unsent: none, undelivered: none, unreceived: none };
            self.transfers.insert(id, transfer);
            self.send(now, id, cpus);
        }
    }

    /// Discards everything in flight. The old connections may still deliver it; new messages have
    /// connections of their own.
    pub(super) fn discard(&mut self) {
        self.transfers.clear();
        self.stream += 1;
        // Slices that are lost must not delay the slices of the next attempt.
        self.taken.clone_from(&self.sent);
        self.out_of_order.clear();
    }

    /// Sends a control message.
    pub(super) fn send_control(&mut self, now: Time, control: ControlMessage, cpus: &mut [Cpu]) {
        let done = cpus[control.from as usize].run(now, self.software.send_message);
        self.push(done, HostEvent::ControlSent { control });
    }

    /// Bytes that ranks have handed to the rail, each hop counted.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    fn push(&mut self, at: Time, event: HostEvent) {
        self.events.insert((at, self.next_event), event);
        self.next_event += 1;
    }

    fn handle(&mut self, now: Time, event: HostEvent, cpus: &mut [Cpu]) {
        match event {
            HostEvent::Sent { block, bytes } => {
                let Some(transfer) = self.transfers.get(&block) else { return };
                let from = transfer.block.at;
                let number = self.sent[from as usize];
                self.sent[from as usize] += 1;
                let link = self.least_busy(from);
                self.backlog[link][from as usize] += bytes;
                self.post(now, link, Payload::Slice { from, number, block, bytes });
                self.send_slice(now, block, cpus);
            }
            HostEvent::Received { block, bytes } => {
                let Some(transfer) = self.transfers.get_mut(&block) else { return };
                transfer.unreceived -= bytes;
                if transfer.unreceived == Bytes::ZERO {
                    self.hop(now, block, cpus);
                }
            }
            HostEvent::ControlSent { control } => self.post(now, 0, Payload::Control { control }),
            HostEvent::ControlReceived { control } => {
                self.deliveries.push(RailDelivery::Control(control));
            }
        }
    }

    /// The link with the fewest bytes of a sender in flight.
    fn least_busy(&self, from: u32) -> usize {
        let backlog = |&link: &usize| self.backlog[link][from as usize];
        (0..self.worlds.len()).min_by_key(backlog).unwrap_or(0)
    }

    /// Posts a message to the fabric of a link.
    fn post(&mut self, now: Time, link: usize, payload: Payload) {
        // A control message has a stream of its own, so that it does not queue behind data.
        let (src, dst, bytes, stream) = match payload {
            Payload::Slice { from, bytes, .. } => (from, self.ring.after(from), bytes, 0),
            Payload::Control { control } => (control.from, control.to, control.bytes, 1),
        };
        let stream = 2 * self.stream + stream;
        let (src, dst) = (HostId(src), HostId(dst));
        let message = Message { src, dst, bytes, stream, start: now };
        let id = self.worlds[link].post(now, message);
        debug_assert_eq!(id.index(), self.payloads[link].len());
        self.payloads[link].push(payload);
    }

    /// Starts the next hop of a block.
    fn send(&mut self, now: Time, id: u64, cpus: &mut [Cpu]) {
        let Some(transfer) = self.transfers.get_mut(&id) else { return };
        let bytes = transfer.block.range.bytes();
        (transfer.unsent, transfer.undelivered, transfer.unreceived) = (bytes, bytes, bytes);
        self.bytes += bytes;
        cpus[transfer.block.at as usize].run(now, self.software.send_message);
        self.send_slice(now, id, cpus);
    }

    /// Requests the processor's work for the next slice of a block.
    fn send_slice(&mut self, now: Time, id: u64, cpus: &mut [Cpu]) {
        let Some(transfer) = self.transfers.get_mut(&id) else { return };
        let bytes = transfer.unsent.min(self.software.slice);
        if bytes == Bytes::ZERO {
            return;
        }
        transfer.unsent -= bytes;
        let work =
            time_for(self.software.send_rate, bytes) + time_for(self.software.checksum_rate, bytes);
        let done = cpus[transfer.block.at as usize].run(now, work);
        self.push(done, HostEvent::Sent { block: id, bytes });
    }

    /// Processes a message that the fabric of a link has delivered.
    fn deliver(&mut self, now: Time, link: usize, payload: Payload, cpus: &mut [Cpu]) {
        match payload {
            Payload::Slice { from, number, block, bytes } => {
                self.backlog[link][from as usize] -= bytes;
                // A smaller number belongs to a discarded attempt.
                if number >= self.taken[from as usize] {
                    self.out_of_order.insert((from, number), (block, bytes));
                }
                while let Some((block, bytes)) =
                    self.out_of_order.remove(&(from, self.taken[from as usize]))
                {
                    self.taken[from as usize] += 1;
                    self.receive(now, block, bytes, cpus);
                }
            }
            Payload::Control { control } => {
                let done = cpus[control.to as usize].run(now, self.software.receive_message);
                self.push(done, HostEvent::ControlReceived { control });
            }
        }
    }

    /// Requests the processor's work for a slice that has arrived.
    fn receive(&mut self, now: Time, block: u64, bytes: Bytes, cpus: &mut [Cpu]) {
        let Some(transfer) = self.transfers.get_mut(&block) else { return };
        transfer.undelivered -= bytes;
        let to = self.ring.after(transfer.block.at) as usize;
        let mut work = time_for(self.software.receive_rate, bytes)
            + time_for(self.software.checksum_rate, bytes);
        if self.ring.arrival(&transfer.block) == BlockAction::Add {
            work += time_for(self.host.add_rate, bytes);
        }
        if transfer.undelivered == Bytes::ZERO {
            work += self.software.receive_message;
        }
        let done = cpus[to].run(now, work);
        self.push(done, HostEvent::Received { block, bytes });
    }

    /// Completes a hop of a block.
    fn hop(&mut self, now: Time, id: u64, cpus: &mut [Cpu]) {
        let Some(transfer) = self.transfers.get_mut(&id) else { return };
        let attempt = transfer.block.attempt.id;
        self.ring.hop(Inputs::new(self.seed, attempt.operation), &mut transfer.block);
        let block = &transfer.block;
        if self.ring.is_final(block) {
            let (rank, range, numbers) = (block.at, block.range, block.numbers.clone());
            self.deliveries.push(RailDelivery::Sums(Sums { attempt, rank, range, numbers }));
        }
        if self.ring.has_ended(block) {
            self.transfers.remove(&id);
        } else {
            self.send(now, id, cpus);
        }
    }
}

/// The fabric of a rail: a star of all hosts around one switch, without messages.
fn fabric(setup: &PlaneSetup<'_>, transport: &Transport) -> crate::fabric::Setup {
    let &PlaneSetup { rail, ranks, seed, .. } = setup;
    let hosts = (0..ranks).map(|host| HostId(host).to_string()).collect();
    let switch = Switch { name: "switch0".to_owned(), tier: 0 };
    let link = |host| Link {
        ends: [Node::Host(HostId(host)), Node::Switch(SwitchId(0))],
        rate: rail.rate,
        delay: rail.delay,
    };
    let links = (0..ranks).map(link).collect();
    let topology = Topology::new(hosts, vec![switch], links).expect("a star is a fabric");
    let scheme = build_scheme("ecmp", &Parameters::new()).expect("it is registered");
    crate::fabric::Setup {
        topology: Arc::new(topology),
        fabric: FabricConfig {
            switch: SwitchConfig {
                buffer: Buffer::Shared(transport.buffer),
                ecn: Ecn::Off,
                ecn_point: EcnPoint::Enqueue,
                pfc: None,
                cbfc: None,
                trim: None,
                slow_ports: crate::fabric::SlowPorts::Keep,
            },
            ecn_by_rate: Vec::new(),
            ecn_at_hosts: true,
            gap: transport.gap,
            forwarding_delay: Span::ZERO,
            ties: crate::fabric::TieOrder::Drawn,
            llr: None,
            rounding: Rounding::Exact,
            classes: Vec::new(),
            failures: setup.failures.iter().flat_map(|failure| on_links(failure, ranks)).collect(),
        },
        nic: transport.nic.clone(),
        scheme,
        own_nics: BTreeMap::new(),
        job_policies: Vec::new(),
        job_classes: Vec::new(),
        workload: Arc::new(Workload::independent(Vec::new())),
        seed,
        time_limit: Time::NEVER,
        probes: Vec::new(),
    }
}

/// The link failures that a failure of the rail amounts to.
fn on_links(failure: &RailFailure, ranks: u32) -> Vec<Failure> {
    let &RailFailure { kind, at, until, .. } = failure;
    let of_link = |host: u32, kind: FailureKind| Failure {
        link: LinkId(host),
        direction: Direction::Both,
        kind,
        at,
        until,
        // There is no other route, so the failure need not be detected.
        detection: Span::MAX,
        convergence: Span::MAX,
    };
    match kind {
        RailFailureKind::Link { host } | RailFailureKind::Error { host } => {
            vec![of_link(host, FailureKind::Down)]
        }
        RailFailureKind::Switch => {
            (0..ranks).map(|host| of_link(host, FailureKind::Down)).collect()
        }
        RailFailureKind::Crawl { host, left } => {
            let factor = Fraction::new(u32::from(left.max(1)), 1 << 16).expect("not over zero");
            vec![of_link(host, FailureKind::Degrade { factor })]
        }
    }
}
