//! `paths.csv`: the entropy values and paths of each flow's packets in each interval, and the
//! number of changes from one packet to the next.
//!
//! A path is identified by the port through which a packet leaves its sender's switch. With two
//! tiers that is the whole path, with three its first choice. The packets of a queue pair are
//! identified by their label, the hash of their addresses and ports.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::csv_field;
use super::{Profile, Recording, Sink, nanoseconds};
use crate::fabric::{PacketEvent, PacketRecord};
use crate::ids::{HostId, PortId};
use crate::topology::{Node, Topology};
use crate::units::{Span, Time};

/// The key of a queue pair's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Flow {
    src: HostId,
    dst: HostId,
    label: u32,
}

/// The values of a flow's successive packets in an interval.
#[derive(Debug)]
struct Choices<T> {
    /// Value of the last packet, in this interval or earlier.
    last: Option<T>,
    distinct: BTreeSet<T>,
    changes: u64,
}

impl<T: Copy + Ord> Choices<T> {
    fn add(&mut self, value: T) {
        self.changes += u64::from(self.last.is_some_and(|last| last != value));
        self.last = Some(value);
        self.distinct.insert(value);
    }

    fn start_interval(&mut self) {
        self.distinct.clear();
        self.changes = 0;
    }
}

impl<T> Default for Choices<T> {
    fn default() -> Self {
        Self { last: None, distinct: BTreeSet::new(), changes: 0 }
    }
}

/// The packets of a flow in an interval.
#[derive(Debug, Default)]
struct FlowPackets {
    packets: u64,
    bytes: u64,
    entropies: Choices<u16>,
    paths: Choices<PortId>,
}

/// The recorded flows and their table.
pub(super) struct Paths {
    every: Span,
    is_recorded: Vec<bool>,
    /// By switch: whether a recorded host is connected to it.
    is_edge: Vec<bool>,
    /// By host: the switches that it is connected to.
    edges: Vec<Vec<Node>>,
    /// By port: the node that it belongs to.
    owners: Vec<Node>,
    names: Vec<String>,
    /// End of the current interval.
    until: Time,
    flows: BTreeMap<Flow, FlowPackets>,
    sink: Sink,
}

impl Paths {
    pub(super) fn new(
        recording: &Recording,
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<Self> {
        let hosts = || (0..topology.host_count()).map(HostId);
        let ports = 2 * topology.links().len() as u32;
        let columns = "time_ns,src,dst,label,packets,bytes,entropies,entropy_changes,paths,\
                       path_changes";
        let mut is_edge = vec![false; topology.switches().len()];
        let behind = recording.paths.iter().flat_map(|&host| topology.behind(host));
        for switch in behind.filter_map(Node::switch) {
            is_edge[switch.index()] = true;
        }
        Ok(Self {
            every: recording.every,
            is_edge,
            is_recorded: hosts().map(|host| recording.paths.contains(&host)).collect(),
            edges: hosts().map(|host| topology.behind(host).collect()).collect(),
            owners: (0..ports).map(|port| topology.ends_of(PortId(port)).0).collect(),
            names: hosts().map(|host| csv_field(topology.node_name(Node::Host(host)))).collect(),
            until: Time::ZERO.saturating_add(recording.every),
            flows: BTreeMap::new(),
            sink: Sink::new(to, columns)?,
        })
    }

    /// Returns true for recorded hosts and their switches.
    pub(super) fn traces(&self, node: Node) -> bool {
        match node {
            Node::Host(host) => self.is_recorded[host.index()],
            Node::Switch(switch) => self.is_edge[switch.index()],
        }
    }

    /// Processes a record; records arrive in time order.
    pub(super) fn take(&mut self, record: &PacketRecord, profile: &mut Profile) {
        let PacketRecord { at, port, event, packet, .. } = record;
        let src = packet.src.index();
        if *event != PacketEvent::Dequeued || packet.is_control() || !self.is_recorded[src] {
            return;
        }
        // Closes the intervals that ended before this record.
        while *at >= self.until {
            self.end_window(profile);
        }
        let key = Flow { src: packet.src, dst: packet.dst, label: packet.label };
        let owner = self.owners[port.index()];
        if owner == Node::Host(packet.src) {
            let flow = self.flows.entry(key).or_default();
            flow.packets += 1;
            flow.bytes += u64::from(packet.wire_bytes);
            flow.entropies.add(packet.entropy);
        } else if self.edges[src].contains(&owner) {
            self.flows.entry(key).or_default().paths.add(*port);
        }
    }

    /// Writes a row for each flow with packets in the interval, and starts the next interval.
    pub(super) fn end_window(&mut self, profile: &mut Profile) {
        let (until, at) = (self.until, nanoseconds(self.until));
        self.until = self.until.saturating_add(self.every);
        for (flow, sent) in &mut self.flows {
            let FlowPackets { packets, bytes, entropies, paths } = sent;
            if *packets == 0 && paths.distinct.is_empty() {
                continue;
            }
            let [src, dst] = [flow.src, flow.dst].map(|host| &self.names[host.index()]);
            let (values, ways) = (entropies.distinct.len(), paths.distinct.len());
            self.sink.row(format_args!(
                "{at},{src},{dst},{},{packets},{bytes},{values},{},{ways},{}",
                flow.label, entropies.changes, paths.changes
            ));
            let window = profile.window(until);
            window.packets += *packets;
            window.entropy_changes += entropies.changes;
            window.path_changes += paths.changes;
            window.entropies_max = window.entropies_max.max(values as u64);
            window.paths_max = window.paths_max.max(ways as u64);
            (*packets, *bytes) = (0, 0);
            entropies.start_interval();
            paths.start_interval();
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }
}
