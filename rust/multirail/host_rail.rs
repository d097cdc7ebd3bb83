//! A rail on which the hosts add up: a ring over queue pairs, in a fabric of its own.
//!
//! The transport is the rail's NIC (this project's own for `rdma`; with a window that starts
//! slowly, halves on loss and a kernel's timers for `tcp`). What a kernel costs is done by the
//! processor of each host, which all its rails share: so much for a message, so much for each
//! byte, on both sides. A message goes in slices, each of which the processor has to handle before
//! it is on the wire and after it has arrived, so that processor and wire work at the same time.
//!
//! With several links a host, slices go one by one over the link that has least of the sender's
//! under way, and are handled in the order in which they were sent: one ordered stream over all
//! links, in the manner of MPTCP (RFC 8684), what rails divided by an allocator are compared with.
//! \[inferred\]: the choice of the link; what it costs is `Software::checksum_rate`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::config::{HostCosts, RailConfig, RailFailure, RailFailureKind, Software, Transport};
use super::cpu::{Cpu, time_for};
use super::numbers::Inputs;
use super::piece::{Control, News, Piece};
use super::ring::{Arrival, Block, Ring};
use crate::balance::{Parameters, build_scheme};
use crate::endpoint::MessageEventKind;
use crate::fabric::{
    Buffer, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Rounding, SwitchConfig, World,
};
use crate::ids::{HostId, LinkId, SwitchId};
use crate::topology::{Link, Node, Switch, Topology};
use crate::units::{Bytes, Fraction, Span, Time};
use crate::workload::{Message, Workload};

/// Something that happens at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The processor has handled a slice of what a block's holder sends.
    Sent { block: u64, bytes: Bytes },
    /// The processor has handled a slice that came to the next rank.
    Received { block: u64, bytes: Bytes },
    /// The processor has handled a small message to be sent.
    ControlSent { control: Control },
    /// The processor has handled a small message that came.
    ControlReceived { control: Control },
}

/// What a message of the fabric carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carries {
    Slice { from: u32, number: u64, block: u64, bytes: Bytes },
    Control { control: Control },
}

/// A block and how much of its hop is done.
#[derive(Debug)]
struct Walk {
    block: Block,
    unsent: Bytes,
    /// What has not come out of the fabric yet.
    undelivered: Bytes,
    /// What the next rank's processor has not handled yet.
    unreceived: Bytes,
}

/// The rail.
#[derive(Debug)]
pub struct HostRail {
    ring: Ring,
    seed: u64,
    software: Software,
    host: HostCosts,
    /// A fabric for each link that a host has.
    worlds: Vec<World>,
    events: BTreeMap<(Time, u64), Event>,
    next_event: u64,
    walks: BTreeMap<u64, Walk>,
    next_block: u64,
    /// By link and number of the fabric's message.
    carried: Vec<Vec<Carries>>,
    /// By link and sender: bytes of slices under way.
    backlog: Vec<Vec<Bytes>>,
    /// By sender: slices sent, and slices that its successor has handled or begun to.
    sent: Vec<u64>,
    taken: Vec<u64>,
    /// By sender and number: slices that came before one that was sent earlier.
    ahead: BTreeMap<(u32, u64), (u64, Bytes)>,
    /// Connections are made anew when the rail comes back.
    stream: u32,
    news: Vec<News>,
    bytes: Bytes,
}

impl HostRail {
    /// The rail, before anything has happened.
    pub(super) fn new(
        (rail, transport): (&RailConfig, &Transport),
        (ranks, seed, host): (u32, u64, HostCosts),
        failures: &[RailFailure],
    ) -> Self {
        let fabric = fabric((rail, transport), (ranks, seed), failures);
        let links = transport.links.max(1) as usize;
        Self {
            ring: Ring(ranks),
            seed,
            software: transport.software,
            host,
            worlds: (0..links).map(|_| World::new(&fabric)).collect(),
            events: BTreeMap::new(),
            next_event: 0,
            walks: BTreeMap::new(),
            next_block: 0,
            carried: vec![Vec::new(); links],
            backlog: vec![vec![Bytes::ZERO; ranks as usize]; links],
            sent: vec![0; ranks as usize],
            taken: vec![0; ranks as usize],
            ahead: BTreeMap::new(),
            stream: 0,
            news: Vec::new(),
            bytes: Bytes::ZERO,
        }
    }

    /// When it has to be stepped next.
    pub(super) fn next_time(&mut self) -> Option<Time> {
        let own = self.events.first_key_value().map(|(&(at, _), _)| at);
        own.into_iter().chain(self.worlds.iter_mut().flat_map(World::next_time)).min()
    }

    /// Goes through its next event; what hosts do comes before packets of the same time.
    pub(super) fn step(&mut self, cpus: &mut [Cpu]) {
        let worlds = self.worlds.iter_mut().map(World::next_time).enumerate();
        let (of_world, link) =
            worlds.map(|(link, at)| (at.unwrap_or(Time::NEVER), link)).min().unwrap_or_default();
        match self.events.first_entry() {
            Some(entry) if entry.key().0 <= of_world => {
                let ((now, _), event) = entry.remove_entry();
                self.handle(now, event, cpus);
            }
            _ => {
                self.worlds[link].step();
                let now = self.worlds[link].now();
                while let Some(event) = self.worlds[link].poll_message_event() {
                    if event.kind == MessageEventKind::Delivered {
                        let carries = self.carried[link][event.message.index()];
                        self.deliver(now, (link, carries), cpus);
                    }
                }
            }
        }
    }

    /// What it has to tell.
    pub(super) fn poll_news(&mut self) -> Option<News> {
        self.news.pop()
    }

    /// `rank` starts its part in a piece.
    pub(super) fn begin(&mut self, now: Time, piece: Piece, rank: u32, cpus: &mut [Cpu]) {
        let inputs = Inputs::new(self.seed, piece.id.operation);
        if let Some(block) = self.ring.start(inputs, piece, rank) {
            let id = self.next_block;
            self.next_block += 1;
            let none = Bytes::ZERO;
            let walk = Walk { block, unsent: none, undelivered: none, unreceived: none };
            self.walks.insert(id, walk);
            self.send(now, id, cpus);
        }
    }

    /// Nobody wants what is under way any more. It stays on its connections, which may deliver
    /// it yet; whatever comes next has connections of its own.
    pub(super) fn abandon(&mut self) {
        self.walks.clear();
        self.stream += 1;
        // What was sent and may never come must not hold up what comes next.
        self.taken.clone_from(&self.sent);
        self.ahead.clear();
    }

    /// Sends a small message.
    pub(super) fn send_control(&mut self, now: Time, control: Control, cpus: &mut [Cpu]) {
        let done = cpus[control.from as usize].run(now, self.software.send_message);
        self.push(done, Event::ControlSent { control });
    }

    /// Bytes that ranks handed to it, each hop counted.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    fn push(&mut self, at: Time, event: Event) {
        self.events.insert((at, self.next_event), event);
        self.next_event += 1;
    }

    fn handle(&mut self, now: Time, event: Event, cpus: &mut [Cpu]) {
        match event {
            Event::Sent { block, bytes } => {
                let Some(walk) = self.walks.get(&block) else { return };
                let at = walk.block.at;
                let pair = (at, self.ring.after(at));
                let number = self.sent[at as usize];
                self.sent[at as usize] += 1;
                let link = self.least_busy(at);
                self.backlog[link][at as usize] += bytes;
                let carries = Carries::Slice { from: at, number, block, bytes };
                self.post(now, (link, pair), (bytes, carries));
                self.send_slice(now, block, cpus);
            }
            Event::Received { block, bytes } => {
                let Some(walk) = self.walks.get_mut(&block) else { return };
                walk.unreceived -= bytes;
                if walk.unreceived == Bytes::ZERO {
                    self.hop(now, block, cpus);
                }
            }
            Event::ControlSent { control } => {
                let pair = (control.from, control.to);
                self.post(now, (0, pair), (control.bytes, Carries::Control { control }));
            }
            Event::ControlReceived { control } => self.news.push(News::Control(control)),
        }
    }

    /// The link that has least of a sender's under way.
    fn least_busy(&self, from: u32) -> usize {
        let backlog = |&link: &usize| self.backlog[link][from as usize];
        (0..self.worlds.len()).min_by_key(backlog).unwrap_or(0)
    }

    fn post(
        &mut self,
        now: Time,
        (link, (src, dst)): (usize, (u32, u32)),
        (bytes, carries): (Bytes, Carries),
    ) {
        // A small message does not wait behind the data of the same pair.
        let lane = u32::from(matches!(carries, Carries::Control { .. }));
        let stream = 2 * self.stream + lane;
        let (src, dst) = (HostId(src), HostId(dst));
        let message = Message { src, dst, bytes, stream, start: now };
        let id = self.worlds[link].post(now, message);
        debug_assert_eq!(id.index(), self.carried[link].len());
        self.carried[link].push(carries);
    }

    /// The holder of a block begins to send it on.
    fn send(&mut self, now: Time, id: u64, cpus: &mut [Cpu]) {
        let Some(walk) = self.walks.get_mut(&id) else { return };
        let bytes = walk.block.range.bytes();
        (walk.unsent, walk.undelivered, walk.unreceived) = (bytes, bytes, bytes);
        self.bytes += bytes;
        cpus[walk.block.at as usize].run(now, self.software.send_message);
        self.send_slice(now, id, cpus);
    }

    fn send_slice(&mut self, now: Time, id: u64, cpus: &mut [Cpu]) {
        let Some(walk) = self.walks.get_mut(&id) else { return };
        let bytes = walk.unsent.min(self.software.slice);
        if bytes == Bytes::ZERO {
            return;
        }
        walk.unsent -= bytes;
        let work =
            time_for(self.software.send_rate, bytes) + time_for(self.software.checksum_rate, bytes);
        let done = cpus[walk.block.at as usize].run(now, work);
        self.push(done, Event::Sent { block: id, bytes });
    }

    /// The fabric of a link has delivered a message.
    fn deliver(&mut self, now: Time, (link, carries): (usize, Carries), cpus: &mut [Cpu]) {
        match carries {
            Carries::Slice { from, number, block, bytes } => {
                self.backlog[link][from as usize] -= bytes;
                if number >= self.taken[from as usize] {
                    self.ahead.insert((from, number), (block, bytes));
                }
                while let Some(next) = self.ahead.remove(&(from, self.taken[from as usize])) {
                    self.taken[from as usize] += 1;
                    self.receive(now, next, cpus);
                }
            }
            Carries::Control { control } => {
                let done = cpus[control.to as usize].run(now, self.software.receive_message);
                self.push(done, Event::ControlReceived { control });
            }
        }
    }

    /// The next rank's processor is to handle a slice.
    fn receive(&mut self, now: Time, (block, bytes): (u64, Bytes), cpus: &mut [Cpu]) {
        let Some(walk) = self.walks.get_mut(&block) else { return };
        walk.undelivered -= bytes;
        let to = self.ring.after(walk.block.at) as usize;
        let mut work = time_for(self.software.receive_rate, bytes)
            + time_for(self.software.checksum_rate, bytes);
        if self.ring.arrival(&walk.block) == Arrival::Adds {
            work += time_for(self.host.add_rate, bytes);
        }
        if walk.undelivered == Bytes::ZERO {
            work += self.software.receive_message;
        }
        let done = cpus[to].run(now, work);
        self.push(done, Event::Received { block, bytes });
    }

    /// A block is at the next rank.
    fn hop(&mut self, now: Time, id: u64, cpus: &mut [Cpu]) {
        let Some(walk) = self.walks.get_mut(&id) else { return };
        let piece = walk.block.piece.id;
        self.ring.hop(Inputs::new(self.seed, piece.operation), &mut walk.block);
        let block = &walk.block;
        if self.ring.is_final(block) {
            let (rank, range) = (block.at, block.range);
            self.news.push(News::Sums { piece, rank, range, numbers: block.numbers.clone() });
        }
        if self.ring.is_over(block) {
            self.walks.remove(&id);
        } else {
            self.send(now, id, cpus);
        }
    }
}

/// The fabric of a rail: every host at one switch, nothing to send yet.
fn fabric(
    (rail, transport): (&RailConfig, &Transport),
    (ranks, seed): (u32, u64),
    failures: &[RailFailure],
) -> crate::fabric::Setup {
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
                trim: None,
            },
            ecn_by_rate: Vec::new(),
            gap: transport.gap,
            forwarding_delay: Span::ZERO,
            rounding: Rounding::Exact,
            failures: failures.iter().flat_map(|failure| on_links(failure, ranks)).collect(),
        },
        nic: transport.nic.clone(),
        scheme,
        workload: Arc::new(Workload::independent(Vec::new())),
        seed,
        time_limit: Time::NEVER,
        probes: Vec::new(),
    }
}

/// What a failure of the rail is to its links.
fn on_links(failure: &RailFailure, ranks: u32) -> Vec<Failure> {
    let &RailFailure { kind, at, until, .. } = failure;
    let of_link = |host: u32, kind: FailureKind| Failure {
        link: LinkId(host),
        kind,
        at,
        until,
        // There is no other way to route: nobody has to be told.
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
