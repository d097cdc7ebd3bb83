//! A rail on which the hosts add: a ring over queue pairs, in a separate fabric.
//!
//! The transport is the rail's NIC. For `rdma` that is this project's own; for `tcp` its window
//! starts slowly and halves on loss, with a kernel's timers. The work of a kernel is done by the
//! processor of each host, which all its rails share: a time per message and a time per byte, on
//! both sides. A message is sent in slices. The processor handles each slice before it is on the
//! wire and after it has arrived, so that processor and wire work in parallel.
//!
//! With several links per host, each slice takes the link with the fewest in-flight bytes of the
//! sender. Slices are handled in the order in which they were sent. This is one ordered stream over
//! all links, in the manner of MPTCP (RFC 8684), and the baseline for rails under an allocator.
//! \[inferred\]: the choice of the link; its cost is `Software::checksum_rate`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::config::{RailFailure, RailFailureKind, RailSetup, Software, Transport};
use super::cpu::{Cpu, time_for};
use super::events::Events;
use super::numbers::Inputs;
use super::plane::{Attempt, ControlMessage, Plane, RailDelivery, Sums};
use super::ring::{Block, Ring};
use crate::balance::{Parameters, build_scheme};
use crate::endpoint::MessageEventKind;
use crate::fabric::{self, Buffer, Direction, FabricConfig, Failure, FailureKind, World};
use crate::ids::{HostId, LinkId, SwitchId};
use crate::topology::{Link, Node, Switch, Topology};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};
use crate::workload::{Message, Workload};

/// Work that a host's processor has completed.
#[derive(Debug)]
enum HostEvent {
    /// A slice of the block that its rank sends.
    Sent { block: u64, bytes: Bytes },
    /// A slice that arrived at the next rank.
    Received { block: u64, bytes: Bytes },
    /// A control message to be sent.
    ControlSent(ControlMessage),
    /// A control message that arrived.
    ControlReceived(ControlMessage),
}

/// The payload of a message of the fabric.
#[derive(Debug)]
enum Payload {
    Slice { from: u32, number: u64, block: u64, bytes: Bytes },
    Control(ControlMessage),
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

/// The fabric that connects one link of every host.
#[derive(Debug)]
struct LinkFabric {
    world: World,
    /// The payload of each message by id, until it is delivered.
    payloads: Vec<Option<Payload>>,
    /// Bytes of slices in flight, by sender.
    backlog: Vec<Bytes>,
}

/// The ordered stream of slices from a host to its successor.
#[derive(Debug, Clone, Default)]
struct SliceStream {
    /// Number of slices sent.
    sent: u64,
    /// Number of slices that the successor has accepted in order.
    taken: u64,
    /// Slices that arrived out of order: block and length, by number.
    early: BTreeMap<u64, (u64, Bytes)>,
}

/// The simulation of a ring rail.
#[derive(Debug)]
pub(super) struct HostRail {
    ring: Ring,
    seed: u64,
    software: Software,
    add_rate: Option<BitRate>,
    links: Vec<LinkFabric>,
    events: Events<HostEvent>,
    transfers: BTreeMap<u64, Transfer>,
    next_block: u64,
    /// The stream of each sender.
    streams: Vec<SliceStream>,
    /// The current message stream; connections are replaced when in-flight data is discarded.
    message_stream: u32,
    bytes: Bytes,
}

impl HostRail {
    /// Creates the rail at `index` of a setup, in its initial state.
    pub(super) fn new(setup: &RailSetup, index: u32, transport: &Transport) -> Self {
        let &RailSetup { ranks, seed, add_rate, .. } = setup;
        let fabric = fabric(setup, index, transport);
        let link = |_| LinkFabric {
            world: World::new(&fabric),
            payloads: Vec::new(),
            backlog: vec![Bytes::ZERO; ranks as usize],
        };
        Self {
            ring: Ring(ranks),
            seed,
            software: transport.software,
            add_rate,
            links: (0..transport.links.max(1)).map(link).collect(),
            events: Events::new(),
            transfers: BTreeMap::new(),
            next_block: 0,
            streams: vec![SliceStream::default(); ranks as usize],
            message_stream: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// Handles work that a processor has completed.
    fn handle(&mut self, now: Time, event: HostEvent, cpus: &mut [Cpu]) -> Option<RailDelivery> {
        match event {
            HostEvent::Sent { block, bytes } => {
                let from = self.transfers.get(&block)?.block.at;
                let stream = &mut self.streams[from as usize];
                let number = stream.sent;
                stream.sent += 1;
                let link = self.least_busy(from);
                self.links[link].backlog[from as usize] += bytes;
                self.post(now, link, Payload::Slice { from, number, block, bytes });
                self.send_slice(now, block, cpus);
                None
            }
            HostEvent::Received { block, bytes } => {
                let transfer = self.transfers.get_mut(&block)?;
                transfer.unreceived -= bytes;
                let is_whole = transfer.unreceived == Bytes::ZERO;
                is_whole.then(|| self.hop(now, block, cpus)).flatten()
            }
            HostEvent::ControlSent(control) => {
                self.post(now, 0, Payload::Control(control));
                None
            }
            HostEvent::ControlReceived(control) => Some(RailDelivery::Control(control)),
        }
    }

    /// Returns the link with the fewest in-flight bytes of a sender.
    fn least_busy(&self, from: u32) -> usize {
        let backlog = |&link: &usize| self.links[link].backlog[from as usize];
        (0..self.links.len()).min_by_key(backlog).unwrap_or(0)
    }

    /// Posts a message to the fabric of a link.
    fn post(&mut self, now: Time, link: usize, payload: Payload) {
        // Control messages have a separate stream, so that they do not queue behind data.
        let (src, dst, bytes, stream) = match &payload {
            Payload::Slice { from, bytes, .. } => (*from, self.ring.after(*from), *bytes, 0),
            Payload::Control(ControlMessage { from, to, message }) => {
                (*from, *to, message.bytes(), 1)
            }
        };
        // Even streams carry data, odd ones control messages.
        let stream = 2 * self.message_stream + stream;
        let (src, dst) = (HostId(src), HostId(dst));
        let LinkFabric { world, payloads, .. } = &mut self.links[link];
        let id = world.post(now, Message { src, dst, bytes, stream, start: now });
        debug_assert_eq!(id.index(), payloads.len());
        payloads.push(Some(payload));
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

    /// Requests processor time for the next slice of a block.
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
        self.events.push(done, HostEvent::Sent { block: id, bytes });
    }

    /// Processes a message that the fabric of a link has delivered.
    fn deliver(&mut self, now: Time, link: usize, payload: Payload, cpus: &mut [Cpu]) {
        match payload {
            Payload::Slice { from, number, block, bytes } => {
                self.links[link].backlog[from as usize] -= bytes;
                let stream = &mut self.streams[from as usize];
                // A smaller number belongs to a discarded attempt.
                if number >= stream.taken {
                    stream.early.insert(number, (block, bytes));
                }
                while let Some((block, bytes)) = self.streams[from as usize].take_next() {
                    self.receive(now, block, bytes, cpus);
                }
            }
            Payload::Control(control) => {
                let done = cpus[control.to as usize].run(now, self.software.receive_message);
                self.events.push(done, HostEvent::ControlReceived(control));
            }
        }
    }

    /// Requests processor time for a slice that has arrived.
    fn receive(&mut self, now: Time, block: u64, bytes: Bytes, cpus: &mut [Cpu]) {
        let Some(transfer) = self.transfers.get_mut(&block) else { return };
        transfer.undelivered -= bytes;
        let to = self.ring.after(transfer.block.at) as usize;
        let mut work = time_for(self.software.receive_rate, bytes)
            + time_for(self.software.checksum_rate, bytes);
        if self.ring.adds(&transfer.block) {
            work += time_for(self.add_rate, bytes);
        }
        if transfer.undelivered == Bytes::ZERO {
            work += self.software.receive_message;
        }
        let done = cpus[to].run(now, work);
        self.events.push(done, HostEvent::Received { block, bytes });
    }

    /// Completes a hop of a block.
    fn hop(&mut self, now: Time, id: u64, cpus: &mut [Cpu]) -> Option<RailDelivery> {
        let block = &mut self.transfers.get_mut(&id)?.block;
        let key = block.attempt.key;
        self.ring.hop(Inputs::new(self.seed, key.operation), block);
        let sums = Sums { key, rank: block.at, range: block.range, sum: block.sum };
        let delivery = self.ring.is_final(block).then_some(RailDelivery::Sums(sums));
        if self.ring.has_ended(block) {
            self.transfers.remove(&id);
        } else {
            self.send(now, id, cpus);
        }
        delivery
    }
}

impl SliceStream {
    /// Removes and returns the next slice in order, if it has arrived.
    fn take_next(&mut self) -> Option<(u64, Bytes)> {
        let next = self.early.remove(&self.taken)?;
        self.taken += 1;
        Some(next)
    }
}

impl Plane for HostRail {
    fn next_time(&mut self) -> Option<Time> {
        let packets = self.links.iter_mut().flat_map(|link| link.world.next_time());
        self.events.next_time().into_iter().chain(packets).min()
    }

    /// Handles the next event. Host events precede packets at the same time.
    fn step(&mut self, cpus: &mut [Cpu]) -> Option<RailDelivery> {
        let links = self.links.iter_mut().enumerate();
        let next = links.filter_map(|(index, link)| Some((link.world.next_time()?, index))).min();
        let Some((_, link)) =
            next.filter(|&(at, _)| self.events.next_time().is_none_or(|event| event > at))
        else {
            let (now, event) = self.events.pop()?;
            return self.handle(now, event, cpus);
        };
        self.links[link].world.step();
        let now = self.links[link].world.now();
        while let Some(event) = self.links[link].world.poll_message_event() {
            if event.kind == MessageEventKind::Delivered
                && let Some(payload) = self.links[link].payloads[event.message.index()].take()
            {
                self.deliver(now, link, payload, cpus);
            }
        }
        None
    }

    fn begin(&mut self, now: Time, attempt: Attempt, rank: u32, cpus: &mut [Cpu]) {
        let inputs = Inputs::new(self.seed, attempt.key.operation);
        if let Some(block) = self.ring.start(inputs, attempt, rank) {
            let id = self.next_block;
            self.next_block += 1;
            let none = Bytes::ZERO;
            let transfer = Transfer { block, unsent: none, undelivered: none, unreceived: none };
            self.transfers.insert(id, transfer);
            self.send(now, id, cpus);
        }
    }

    /// Discards all attempts. The old connections may still deliver in-flight data; new messages
    /// use new connections.
    fn discard(&mut self) {
        self.transfers.clear();
        self.message_stream += 1;
        for stream in &mut self.streams {
            // Lost slices must not block the slices of the next attempt.
            stream.taken = stream.sent;
            stream.early.clear();
        }
    }

    fn send_control(&mut self, now: Time, control: ControlMessage, cpus: &mut [Cpu]) {
        let done = cpus[control.from as usize].run(now, self.software.send_message);
        self.events.push(done, HostEvent::ControlSent(control));
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }
}

/// Builds the fabric of one link of every host: a star around one switch, without messages.
fn fabric(setup: &RailSetup, index: u32, transport: &Transport) -> fabric::Setup {
    let &RailSetup { ranks, seed, .. } = setup;
    let rail = &setup.rails[index as usize];
    let hosts = (0..ranks).map(|host| HostId(host).to_string()).collect();
    let switch = Switch { name: "switch0".to_owned(), tier: 0 };
    let link = |host| Link {
        ends: [Node::Host(HostId(host)), Node::Switch(SwitchId(0))],
        rate: rail.rate,
        delay: rail.delay,
    };
    let links = (0..ranks).map(link).collect();
    let topology = Topology::new(hosts, vec![switch], links).expect("a star is a fabric");
    let failures = setup.failures_of(index).flat_map(|failure| on_links(failure, ranks));
    fabric::Setup {
        topology: Arc::new(topology),
        fabric: FabricConfig {
            gap: transport.gap,
            failures: failures.collect(),
            ..FabricConfig::plain(Buffer::Shared(transport.buffer))
        },
        nic: transport.nic.clone(),
        scheme: build_scheme("ecmp", &Parameters::new()).expect("it is registered"),
        own_nics: BTreeMap::new(),
        job_policies: Vec::new(),
        job_classes: Vec::new(),
        workload: Arc::new(Workload::independent(Vec::new())),
        seed,
        // The run over all rails enforces the time limit.
        time_limit: Time::NEVER,
        probes: Vec::new(),
    }
}

/// Returns the link failures that a failure of the rail consists of.
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
        RailFailureKind::Degraded { host, remaining } => {
            let factor =
                Fraction::new(u32::from(remaining.max(1)), 1 << 16).expect("not over zero");
            vec![of_link(host, FailureKind::Degrade { factor })]
        }
    }
}
