//! Messages and delays of a run.

use std::collections::BTreeMap;

use thiserror::Error;

use super::model::{self, Estimate};
use super::tables::{Algorithm, Protocol};
use super::{Layout, NcclOperation, System, estimates, exchange, nvls, ring, tree};
use crate::ids::{HostId, TaskId};
use crate::units::{Bytes, Span, Time};
use crate::workload::{Delay, Lane, Message, Workload};

/// Most messages of a run; with their dependencies they take about 4 GB.
const MAX_MESSAGES: u64 = 1 << 23;

/// An operation with the algorithm, protocol and channels that it runs with. For operations that
/// send and receive, the algorithm has no effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// The operation.
    pub operation: NcclOperation,
    /// Size, as nccl-tests counts it.
    pub bytes: Bytes,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// Number of channels.
    pub channels: u32,
}

/// Reason why NCCL cannot run an operation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NcclError {
    /// There are fewer than two ranks.
    #[error("NCCL needs at least 2 ranks, found {ranks}")]
    TooFewRanks {
        /// Number of ranks.
        ranks: u32,
    },
    /// Ranks do not fill the servers.
    #[error("{ranks} ranks do not fill servers of {server}")]
    PartServer {
        /// Number of ranks.
        ranks: u32,
        /// Ranks per server.
        server: u32,
    },
    /// The operation has no bytes.
    #[error("0 bytes; expected at least 1B")]
    NoBytes,
    /// The combination does not exist.
    #[error("{operation} has no {algorithm} with {protocol} here; it has {known}")]
    NotOffered {
        /// Name of the operation.
        operation: &'static str,
        /// Name of the algorithm, or `algorithm`.
        algorithm: &'static str,
        /// Name of the protocol, or `any protocol`.
        protocol: &'static str,
        /// Existing combinations, separated by commas.
        known: String,
    },
    /// The run has too many messages.
    #[error(
        "{messages} messages; at most {MAX_MESSAGES} can be simulated: use fewer ranks or channels"
    )]
    TooManyMessages {
        /// Number of messages.
        messages: u64,
    },
}

impl Run {
    /// Chooses as NCCL does, among what is not given.
    ///
    /// # Errors
    /// Fails if ranks do not fill servers, or if the given algorithm and protocol do not exist.
    pub fn choose(
        system: &System,
        (operation, bytes): (NcclOperation, Bytes),
        algorithm: Option<Algorithm>,
        protocol: Option<Protocol>,
        channels: Option<u32>,
    ) -> Result<Self, NcclError> {
        check(system, bytes)?;
        if operation.is_point_to_point() {
            let (algorithm, protocol) = (Algorithm::Ring, Protocol::Simple);
            let channels = match operation {
                NcclOperation::AllToAll => exchange::channels(system),
                _ => 1,
            };
            return Ok(Self { operation, bytes, algorithm, protocol, channels });
        }
        // A given protocol may be one that NCCL does not enable by default.
        let all = estimates(system, operation, bytes);
        let matches = |it: &&Estimate| {
            algorithm.is_none_or(|wanted| wanted == it.algorithm)
                && protocol.is_none_or(|wanted| wanted == it.protocol)
        };
        let fastest = all.iter().filter(matches).min_by(|a, b| a.time.total_cmp(&b.time));
        let Some(fastest) = fastest else {
            let names = |it: &Estimate| format!("{} {}", it.algorithm.name(), it.protocol.name());
            return Err(NcclError::NotOffered {
                operation: operation.name(),
                algorithm: algorithm.map_or("algorithm", Algorithm::name),
                protocol: protocol.map_or("any protocol", Protocol::name),
                known: all.iter().map(names).collect::<Vec<_>>().join(", "),
            });
        };
        let (algorithm, protocol) = (fastest.algorithm, fastest.protocol);
        let run = Self { operation, bytes, algorithm, protocol, channels: 0 };
        let channels = channels.unwrap_or_else(|| run.default_channels(system));
        Ok(Self { channels, ..run })
    }

    /// Returns the number of channels that NCCL uses for the size (`enqueue.cc`).
    fn default_channels(&self, system: &System) -> u32 {
        let layout = Layout::of(system);
        let bytes = self.bytes.get();
        let ranks = u64::from(system.ranks);
        if matches!(self.algorithm, Algorithm::Nvls | Algorithm::NvlsTree) {
            return nvls::channels(system);
        }
        let slow = f64::from(layout.found) * layout.speed <= 12.0;
        let threads = match (self.algorithm, self.protocol) {
            (Algorithm::Ring, Protocol::Simple) if slow => 256,
            (_, Protocol::Ll128) => 640,
            _ => 512,
        };
        let threshold = match (self.algorithm, self.protocol) {
            (Algorithm::Ring, Protocol::Ll) => 8 * ranks,
            (_, Protocol::Simple) => 64,
            _ => 8,
        };
        let by_threads = bytes / (threads * threshold);
        // Each channel has at least 32 KiB of traffic. LL counts its bytes four times.
        let traffic = match self.operation {
            NcclOperation::AllReduce => 2 * bytes,
            _ => bytes,
        };
        let weight = if self.protocol == Protocol::Ll { 4 } else { 1 };
        let by_traffic = traffic.saturating_mul(weight).div_ceil(32 << 10);
        let most = u64::from(layout.channels);
        by_threads.min(by_traffic).clamp(1, most) as u32
    }
}

fn check(system: &System, bytes: Bytes) -> Result<(), NcclError> {
    let (ranks, server) = (system.ranks, system.server);
    if ranks < 2 {
        return Err(NcclError::TooFewRanks { ranks });
    }
    if server == 0 || !ranks.is_multiple_of(server) {
        return Err(NcclError::PartServer { ranks, server });
    }
    if bytes == Bytes::ZERO {
        return Err(NcclError::NoBytes);
    }
    Ok(())
}

/// Returns the messages and delays of a run, for ranks on the hosts of the same numbers.
///
/// # Errors
/// Fails if there are more messages than can be simulated.
pub fn build(system: &System, run: &Run) -> Result<Workload, NcclError> {
    check(system, run.bytes)?;
    let mut program = Program::new(*system, *run);
    match (run.operation, run.algorithm) {
        (NcclOperation::AllToAll | NcclOperation::SendRecv, _) => exchange::add(&mut program)?,
        (_, Algorithm::Ring) => ring::add(&mut program)?,
        (_, Algorithm::Tree) => tree::add(&mut program)?,
        (_, Algorithm::Nvls) => nvls::add(&mut program)?,
        (_, Algorithm::NvlsTree) => nvls::add_tree(&mut program)?,
    }
    Ok(program.finish())
}

/// A message or a delay of a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Node {
    Message(u32),
    Delay(u32),
}

/// Messages and delays under construction.
pub(super) struct Program {
    pub(super) system: System,
    pub(super) run: Run,
    pub(super) layout: Layout,
    messages: Vec<Message>,
    delays: Vec<Delay>,
    lanes: Vec<Option<Lane>>,
    dependencies: Vec<(Node, Node)>,
    /// Last step of each channel between two ranks.
    last_local: BTreeMap<(u32, u32, u32), Node>,
    launch: Span,
    local: Span,
    network: Span,
}

impl Program {
    pub(super) fn new(system: System, run: Run) -> Self {
        let layout = Layout::of(&system);
        let pair = (run.algorithm, run.protocol);
        let (local, network) = model::step_latencies(&system, pair.0, pair.1);
        let factor = model::plateau(&system, &layout, run.operation, pair, run.bytes.get());
        // The fabric adds its own delay to each step between servers.
        let network = micros(network * factor);
        let network = Span::from_ps(network.as_ps().saturating_sub(system.delay.as_ps()));
        Self {
            system,
            run,
            layout,
            messages: Vec::new(),
            delays: Vec::new(),
            lanes: Vec::new(),
            dependencies: Vec::new(),
            last_local: BTreeMap::new(),
            launch: micros(model::base(pair.0, pair.1)),
            local: micros(local * factor),
            network,
        }
    }

    /// Rejects more messages than can be simulated, before they exist.
    pub(super) fn expect(&self, messages: u64) -> Result<(), NcclError> {
        match messages > MAX_MESSAGES {
            true => Err(NcclError::TooManyMessages { messages }),
            false => Ok(()),
        }
    }

    /// Returns the time from the call to the first step.
    pub(super) const fn launch(&self) -> Span {
        self.launch
    }

    /// Returns the latency of a step between two ranks.
    pub(super) fn latency(&self, from: u32, to: u32) -> Span {
        match from / self.system.server == to / self.system.server {
            true => self.local,
            false => self.network,
        }
    }

    /// Returns the time by which a ceiling of the model delays these bytes of one of `channels`,
    /// beyond their transmission.
    pub(super) fn ceiling_delay(&self, bytes: u64, channels: u32) -> Span {
        let Run { operation, algorithm, protocol, .. } = self.run;
        let links = f64::from(self.layout.found) * self.layout.speed;
        let ceiling =
            model::bus_bandwidth(&self.system, &self.layout, operation, algorithm, protocol);
        let per_byte = 1.0 / ceiling - protocol.inflation() / links;
        micros(per_byte.max(0.0) * f64::from(channels) * bytes as f64 / 1_000.0)
    }

    /// Returns the time that these bytes of one of `channels` occupy a channel if the ceiling of
    /// the model is lower than the rate of its links; else zero.
    pub(super) fn occupancy(&self, bytes: u64, channels: u32) -> Span {
        match self.ceiling_delay(bytes, channels) {
            Span::ZERO => Span::ZERO,
            beyond => {
                let links = f64::from(self.layout.found) * self.layout.speed;
                let wire = self.run.protocol.inflation() / links;
                beyond + micros(wire * f64::from(channels) * bytes as f64 / 1_000.0)
            }
        }
    }

    /// Returns the time that a tree's ceiling gives these bytes of a channel; zero if its links are
    /// slower.
    pub(super) fn ceiling_delay_of_tree(&self, bytes: u64) -> Span {
        let Run { operation, algorithm, protocol, channels, .. } = self.run;
        // Each byte goes up and down, so the ceiling of the data is half of the bus.
        let ceiling =
            0.5 * model::bus_bandwidth(&self.system, &self.layout, operation, algorithm, protocol);
        micros(f64::from(channels) * bytes as f64 / (1_000.0 * ceiling))
    }

    /// Adds a delay at a rank after all of `after`.
    pub(super) fn delay(&mut self, rank: u32, span: Span, after: &[Node]) -> Node {
        self.delay_in(rank, span, None, after)
    }

    /// Adds a delay that runs one at a time with those of the same lane at its rank.
    pub(super) fn delay_in(
        &mut self,
        rank: u32,
        span: Span,
        lane: Option<Lane>,
        after: &[Node],
    ) -> Node {
        let node = Node::Delay(u32::try_from(self.delays.len()).expect("as many as messages"));
        self.delays.push(Delay { host: HostId(rank), span });
        self.lanes.push(lane);
        self.dependencies.extend(after.iter().map(|&before| (before, node)));
        node
    }

    /// Adds a message of these bytes on the wire.
    pub(super) fn send(
        &mut self,
        (from, to): (u32, u32),
        bytes: u64,
        stream: u32,
        after: &[Node],
    ) -> Node {
        let node = Node::Message(u32::try_from(self.messages.len()).expect("2^23 at most"));
        self.messages.push(Message {
            src: HostId(from),
            dst: HostId(to),
            bytes: Bytes::new(bytes.max(1)),
            stream,
            start: Time::ZERO,
        });
        self.dependencies.extend(after.iter().map(|&before| (before, node)));
        node
    }

    /// Adds a step of a channel: its latency and `extra`, then its data in the run's protocol.
    pub(super) fn step(
        &mut self,
        (from, to): (u32, u32),
        (data, extra): (u64, Span),
        stream: u32,
        after: &[Node],
    ) -> Node {
        let wait = self.latency(from, to) + extra;
        let mut before = vec![self.delay(from, wait, after)];
        let bytes = self.run.protocol.wire_bytes(data);
        if from / self.system.server != to / self.system.server {
            return self.send((from, to), bytes, stream, &before);
        }
        // Queue pairs keep the order of a channel between servers; NVLink would share its port.
        before.extend(self.last_local.get(&(from, to, stream)));
        let sent = self.send((from, to), bytes, stream, &before);
        self.last_local.insert((from, to, stream), sent);
        sent
    }

    fn finish(self) -> Workload {
        let first = u32::try_from(self.messages.len()).expect("2^23 at most");
        let task = |node: Node| match node {
            Node::Message(index) => TaskId(index),
            Node::Delay(index) => TaskId(first + index),
        };
        let dependencies: Vec<(TaskId, TaskId)> =
            self.dependencies.iter().map(|&(before, after)| (task(before), task(after))).collect();
        let mut workload = Workload::with_delays(self.messages, self.delays, &dependencies);
        if self.lanes.iter().any(Option::is_some) {
            workload.lanes = self.lanes;
        }
        workload.operation = Some(self.run.operation.rated(self.system.ranks, self.run.bytes));
        workload
    }
}

/// Returns a span of these microseconds, to the nanosecond.
pub(super) fn micros(us: f64) -> Span {
    Span::from_ns((us * 1_000.0).round() as u64)
}
