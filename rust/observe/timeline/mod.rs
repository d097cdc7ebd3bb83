//! The timeline of a run as a Perfetto trace: the activity of hosts, queue pairs and ports.
//!
//! A [`Timeline`] observes a run and writes while it proceeds. It writes counters of queues and
//! rates at each interval, and instants for lost packets, retransmissions and path changes. At the
//! end it writes one slice per message and computation, and arrows from the task that each of them
//! waited for last. `docs/recording.md` lists the tracks.

mod causes;
mod combined_watch;
pub mod schema;
mod slices;
mod tracks;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

pub use combined_watch::CombinedWatch;

use tracks::{Label, Track, Tracks, Unit};

use crate::endpoint::label_of;
use crate::fabric::{FlowRecord, Outcome, PacketEvent, PacketRecord, Setup, Snapshot, Watch};
use crate::ids::{HostId, PortId};
use crate::nic::Backlog;
use crate::packet::Flags;
use crate::switching::FailureKind;
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Span, Time};

/// Default interval of counters.
pub const INTERVAL: Span = Span::from_us(10);

/// The first track of every timeline, present even if no link fails.
const FIRST_TRACK: &str = "failures";

/// Returns true if a file that starts with these bytes is a timeline, judged by its first track.
pub fn is_timeline(start: &[u8]) -> bool {
    start.starts_with(&tracks::beginning(FIRST_TRACK))
}

/// The key of a queue pair: sender, receiver, and the label of its packets.
type QueuePair = (HostId, HostId, u32);

/// The first-switch port of a queue pair's last packet, and the number of changes since the last
/// instant.
#[derive(Debug, Default)]
struct Path {
    port: Option<PortId>,
    changes: u64,
}

/// Observes a run and writes its trace.
pub struct Timeline {
    every: Span,
    next: Time,
    until: Time,
    tracks: Tracks,
    names: Vec<String>,
    /// Tracks of hosts, then of switches.
    nodes: Vec<Track>,
    hosts: usize,
    /// By port: the ends of its link.
    ends: Vec<(Node, Node)>,
    ports: Vec<PortId>,
    edges: Vec<Vec<Node>>,
    carried: Vec<u64>,
    pairs: BTreeMap<QueuePair, Track>,
    /// Counter tracks, by parent track, name and port.
    counters: BTreeMap<(Track, &'static str, u32), Track>,
    paths: BTreeMap<QueuePair, Path>,
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeline").field("every", &self.every).finish_non_exhaustive()
    }
}

impl Timeline {
    /// Creates a timeline of a run, with counters at each interval.
    pub fn new(setup: &Setup, every: Span, to: Box<dyn Write>) -> Self {
        let topology = &*setup.topology;
        let mut tracks = Tracks::new(to);
        let failures = tracks.add(FIRST_TRACK.to_owned(), None, None);
        let hosts = topology.host_names().iter();
        let switches = topology.switches().iter().map(|switch| &switch.name);
        let names: Vec<String> = hosts.chain(switches).cloned().collect();
        let nodes = names.iter().map(|name| tracks.add(name.clone(), None, None)).collect();
        for failure in &setup.fabric.failures {
            let kind = match failure.kind {
                FailureKind::Down => "down",
                FailureKind::Degrade { .. } => "degraded",
                FailureKind::Loss { .. } => "lossy",
            };
            let link = topology.link_name(failure.link);
            for (at, what) in [(failure.at, kind), (failure.until, "restored")] {
                if at != Time::NEVER {
                    let name = format!("{link} {what}");
                    tracks.instant(at, failures, Label { category: "failure", name, facts: &[] });
                }
            }
        }
        let count = 2 * topology.links().len() as u32;
        Self {
            every,
            next: Time::ZERO.saturating_add(every),
            until: Time::ZERO.saturating_add(every),
            tracks,
            names,
            nodes,
            hosts: topology.host_names().len(),
            ends: (0..count).map(|port| topology.ends_of(PortId(port))).collect(),
            ports: (0..count).map(PortId).collect(),
            edges: host_ids(topology).map(|host| topology.behind(host).collect()).collect(),
            carried: vec![0; count as usize],
            pairs: BTreeMap::new(),
            counters: BTreeMap::new(),
            paths: BTreeMap::new(),
        }
    }

    fn index(&self, node: Node) -> usize {
        match node {
            Node::Host(host) => host.index(),
            Node::Switch(switch) => self.hosts + switch.index(),
        }
    }

    /// Returns the track of a queue pair, which is a child of its sender's track.
    fn pair(&mut self, pair: QueuePair) -> Track {
        if let Some(track) = self.pairs.get(&pair) {
            return *track;
        }
        let (src, dst, label) = pair;
        let to = &self.names[dst.index()];
        let name = match label {
            SCALE_UP => format!("to {to}, scale-up"),
            label => format!("to {to} #{label}"),
        };
        let track = self.tracks.add(name, Some(self.nodes[src.index()]), None);
        self.pairs.insert(pair, track);
        track
    }

    /// Writes a counter below a track. The counter starts with its first nonzero value.
    fn count(&mut self, at: Time, above: Track, which: Counter, value: u64) {
        let Counter { name, port, unit } = which;
        let key = (above, name, port.map_or(u32::MAX, |port| port.0));
        let track = match self.counters.get(&key) {
            Some(track) => *track,
            None if value == 0 => return,
            None => {
                let to = port.map(|port| self.index(self.ends[port.index()].1));
                let to = to.map_or(String::new(), |to| format!(" to {}", self.names[to]));
                let track = self.tracks.add(format!("{name}{to}"), Some(above), Some(unit));
                self.counters.insert(key, track);
                track
            }
        };
        self.tracks.count(at, track, value);
    }

    fn sample_ports(&mut self, now: Time, snapshot: &Snapshot<'_>) {
        for index in 0..self.ports.len() {
            let port = self.ports[index];
            let above = self.nodes[self.index(self.ends[index].0)];
            let carried = snapshot.carried[index];
            let bits = 8 * (carried - self.carried[index]);
            self.carried[index] = carried;
            let rate = u128::from(bits) * 1_000_000_000_000 / u128::from(self.every.as_ps());
            let rate = u64::try_from(rate).unwrap_or(u64::MAX);
            let queue = Counter { name: "queue", port: Some(port), unit: Unit::Bytes };
            self.count(now, above, queue, snapshot.waiting[index].into());
            let counter = Counter { name: "rate", port: Some(port), unit: Unit::BitsPerSecond };
            self.count(now, above, counter, rate);
        }
    }

    fn sample_pairs(&mut self, now: Time, snapshot: &Snapshot<'_>) {
        let endpoints = snapshot.endpoints;
        let indices = (0..).take_while(|&index| endpoints.backlog(index).is_some());
        for index in indices {
            let Some(pair) = endpoints.sending(now, index) else { continue };
            let key = (pair.src, pair.dst, pair.label);
            let is_idle = pair.state.backlog == Backlog::Nothing;
            if is_idle && !self.pairs.contains_key(&key) {
                continue;
            }
            let track = self.pair(key);
            let state = &pair.state;
            let counter = |name, unit| Counter { name, port: None, unit };
            let in_flight = if is_idle { 0 } else { state.in_flight_packets };
            self.count(now, track, counter("in flight", Unit::Packets), in_flight);
            if is_idle {
                continue;
            }
            if state.window_bytes != u64::MAX {
                self.count(now, track, counter("window", Unit::Bytes), state.window_bytes);
            }
            if state.rate != BitRate::MAX {
                let allowed = counter("rate allowed", Unit::BitsPerSecond);
                self.count(now, track, allowed, state.rate.as_bps());
            }
        }
    }

    /// Writes an instant for each queue pair that changed its path, with the number of changes.
    fn end_window(&mut self) {
        let at = self.until;
        self.until = self.until.saturating_add(self.every);
        let changed: Vec<(QueuePair, u64)> = self
            .paths
            .iter_mut()
            .filter(|(_, path)| path.changes > 0)
            .map(|(pair, path)| (*pair, std::mem::take(&mut path.changes)))
            .collect();
        for (pair, changes) in changed {
            let (track, name) = (self.pair(pair), "path change".to_owned());
            let facts = &[("changes", changes)];
            self.tracks.instant(at, track, Label { category: "path", name, facts });
        }
    }

    fn take(&mut self, record: &PacketRecord) {
        let PacketRecord { at, port, event, packet, .. } = record;
        if packet.is_control() {
            return;
        }
        while *at >= self.until {
            self.end_window();
        }
        let pair = (packet.src, packet.dst, packet.label);
        let (from, _) = self.ends[port.index()];
        match event {
            PacketEvent::Dropped => {
                let track = self.nodes[self.index(from)];
                let [src, dst] = [packet.src, packet.dst].map(|host| &self.names[host.index()]);
                let name = format!("lost: {src} to {dst}");
                let facts = &[("port", port.0.into())];
                self.tracks.instant(*at, track, Label { category: "loss", name, facts });
            }
            PacketEvent::Dequeued if from == Node::Host(packet.src) => {
                if packet.flags.has(Flags::RETRANSMITTED) {
                    let (track, name) = (self.pair(pair), "retransmission".to_owned());
                    let facts = &[("entropy", packet.entropy.into())];
                    let label = Label { category: "retransmission", name, facts };
                    self.tracks.instant(*at, track, label);
                }
            }
            PacketEvent::Dequeued => {
                // The port at the first switch identifies the path.
                if self.edges[packet.src.index()].contains(&from) {
                    let path = self.paths.entry(pair).or_default();
                    path.changes += u64::from(path.port.is_some_and(|last| last != *port));
                    path.port = Some(*port);
                }
            }
            PacketEvent::Received | PacketEvent::Enqueued => {}
        }
    }

    /// Writes the messages and flushes the file.
    ///
    /// # Errors
    /// The first error while writing, now or earlier.
    pub fn finish(mut self, setup: &Setup, outcome: &Outcome) -> io::Result<()> {
        self.end_window();
        self.write_slices(setup, outcome);
        self.tracks.finish()
    }
}

fn host_ids(topology: &Topology) -> impl Iterator<Item = HostId> + use<> {
    (0..topology.host_count()).map(HostId)
}

/// A quantity over time.
#[derive(Debug, Clone, Copy)]
struct Counter {
    name: &'static str,
    /// The port that it describes, if any.
    port: Option<PortId>,
    unit: Unit,
}

/// Label of messages that a scale-up network carries without packets; no queue pair has it.
const SCALE_UP: u32 = u32::MAX;

/// Returns the label of a flow's packets, computed from the slot that its source port encodes.
fn label(setup: &Setup, flow: &FlowRecord) -> u32 {
    let stream = setup.workload.messages[flow.message.index()].stream;
    if flow.source_port == 0 {
        return SCALE_UP;
    }
    // Inverts the assignment of source ports, which starts at 49,152, the first dynamic port.
    let slot = u32::from(flow.source_port) - 49_152;
    let slot = slot.wrapping_sub(stream.wrapping_mul(64)) % (1 << 14);
    label_of(flow.src, flow.dst, stream, slot)
}

impl Watch for Timeline {
    fn traces(&self, _: Node) -> bool {
        true
    }

    fn sampled_ports(&self) -> &[PortId] {
        &self.ports
    }

    fn next_sample(&self) -> Time {
        self.next
    }

    fn sample(&mut self, now: Time, _next_event: Time, snapshot: &Snapshot<'_>) {
        self.sample_ports(now, snapshot);
        self.sample_pairs(now, snapshot);
        self.next = now.saturating_add(self.every);
    }

    fn take_records(&mut self, records: &[PacketRecord]) {
        records.iter().for_each(|record| self.take(record));
    }
}
