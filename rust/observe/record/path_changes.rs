//! `path_changes.csv`: a row for each packet whose entropy value or path differs from the flow's
//! previous packet, and for the first packet of a flow. The time is when the packet leaves its
//! sender's switch.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::csv_field;
use super::{Sink, nanoseconds};
use crate::fabric::{PacketEvent, PacketRecord};
use crate::ids::{HostId, PortId};
use crate::topology::{Node, Topology};

/// The recorded flows and their table.
pub(super) struct PathChanges {
    /// By host: its switches if the host is recorded, else empty.
    edges: Vec<Vec<Node>>,
    hosts: Vec<String>,
    /// By port: the nodes at its ends; `onto` has the name of the node that it leads to.
    ends: Vec<(Node, Node)>,
    onto: Vec<String>,
    /// By sender, receiver and label: the last packet's entropy value and port.
    flows: BTreeMap<(HostId, HostId, u32), (u16, PortId)>,
    sink: Sink,
}

impl PathChanges {
    pub(super) fn new(
        recorded: &[HostId],
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<Self> {
        let hosts = || (0..topology.host_count()).map(HostId);
        let ports = || (0..2 * topology.links().len() as u32).map(PortId);
        let name = |node: Node| csv_field(topology.node_name(node));
        Ok(Self {
            edges: hosts()
                .map(|host| topology.behind(host).filter(|_| recorded.contains(&host)).collect())
                .collect(),
            hosts: hosts().map(|host| name(Node::Host(host))).collect(),
            ends: ports().map(|port| topology.ends_of(port)).collect(),
            onto: ports().map(|port| name(topology.ends_of(port).1)).collect(),
            flows: BTreeMap::new(),
            sink: Sink::new(to, "time_ns,src,dst,label,entropy,to")?,
        })
    }

    /// Processes a record; records arrive in time order.
    pub(super) fn take(&mut self, record: &PacketRecord) {
        let PacketRecord { at, port, event, packet, .. } = record;
        let leaves_edge = self.edges[packet.src.index()].contains(&self.ends[port.index()].0);
        if *event != PacketEvent::Dequeued || packet.is_control() || !leaves_edge {
            return;
        }
        let choice = (packet.entropy, *port);
        let flow = (packet.src, packet.dst, packet.label);
        if self.flows.insert(flow, choice) == Some(choice) {
            return;
        }
        let [src, dst] = [packet.src, packet.dst].map(|host| &self.hosts[host.index()]);
        let (at, onto) = (nanoseconds(*at), &self.onto[port.index()]);
        let (label, entropy) = (packet.label, packet.entropy);
        self.sink.row(format_args!("{at},{src},{dst},{label},{entropy},{onto}"));
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }
}
