//! Assigns switches and hosts to the partitions of a parallel run.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::endpoint::{Share, is_partitionable};
use crate::fabric::reachability;
use crate::fabric::setup::Setup;
use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::rng::{Purpose, Stream};
use crate::topology::{Node, Topology};
use crate::units::Span;

/// Number of events per partition below which a window stays on one thread. These events take about
/// ten microseconds, which is how long threads on separate cores take to synchronize.
const QUIET_EVENTS: u64 = 256;

/// Assignment of edge switches. Higher switches follow most of their neighbours below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cut {
    /// Neighbouring edge switches share a partition: few wires are cut.
    #[default]
    Contiguous,
    /// Partitions get edge switches in round-robin order.
    Interleaved,
    /// Every switch is drawn from this seed: nearly all wires are cut.
    Drawn(u64),
}

/// Reason for a run on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequential {
    /// One partition is requested, or the fabric has one edge switch.
    OnePartition,
    /// A host is wired to another host.
    NoSwitch,
    /// Hosts have several ports.
    Planes,
    /// A delay releases a task of another host without latency.
    Delays,
    /// Links that stay down separate hosts that exchange messages.
    Separated,
    /// A link between two partitions, or of a host, has no length.
    NoLength,
    /// Packets carry telemetry.
    Telemetry,
    /// Links retry frames.
    Retry,
    /// Servers have scale-up networks.
    ScaleUp,
    /// Links have credit-based flow control.
    LinkCredit,
}

impl fmt::Display for Sequential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OnePartition => "the hosts are attached to fewer than two switches",
            Self::Planes => "hosts have ports in several planes",
            Self::NoSwitch => "a host is wired to another host",
            Self::Delays => {
                "a computation or an acknowledgement immediately releases a task of another host"
            }
            Self::Separated => "links that stay down separate hosts that exchange messages",
            Self::Telemetry => "the congestion control needs telemetry from switches",
            Self::Retry => "links retry frames (llr)",
            Self::ScaleUp => "servers have scale-up networks, which wake one host for others",
            Self::LinkCredit => "links have credit-based flow control (cbfc)",
            Self::NoLength => "a link has no delay, so there is no lookahead",
        })
    }
}

/// The partitions of a parallel run.
#[derive(Debug, Clone)]
pub struct Partitioning {
    count: u16,
    hosts: Arc<[u16]>,
    switches: Vec<u16>,
    /// Length of the longest window.
    lookahead: Span,
    /// Partitions at the start and at the end of each port's wire.
    ends: Vec<(u16, u16)>,
    quiet_events: u64,
}

impl Partitioning {
    /// Splits a run into `partitions`, or fewer if there are fewer edge switches.
    ///
    /// # Errors
    /// If that leaves one partition, or the run needs one thread.
    pub fn new(setup: &Setup, partitions: u16, cut: Cut) -> Result<Self, Sequential> {
        // The checks run from cheap to expensive.
        let topology = &setup.topology;
        if topology.planes().count() > 1 {
            return Err(Sequential::Planes);
        }
        let edges: Option<Vec<SwitchId>> =
            (0..topology.host_count()).map(|host| topology.edge_of(HostId(host))).collect();
        let edges = edges.ok_or(Sequential::NoSwitch)?;
        let distinct: BTreeSet<SwitchId> = edges.iter().copied().collect();
        let count = usize::from(partitions).min(distinct.len());
        if count < 2 {
            return Err(Sequential::OnePartition);
        }
        if setup.nic.congestion.telemetry().is_some() {
            return Err(Sequential::Telemetry);
        }
        if topology.scale_up().is_some() {
            return Err(Sequential::ScaleUp);
        }
        if setup.fabric.llr.is_some() {
            return Err(Sequential::Retry);
        }
        if setup.fabric.switch.cbfc.is_some() {
            return Err(Sequential::LinkCredit);
        }
        if !is_partitionable(&setup.workload) {
            return Err(Sequential::Delays);
        }
        if reachability::separates(setup) {
            return Err(Sequential::Separated);
        }
        let switches = assign(topology, &edges, count, cut);
        let hosts: Arc<[u16]> = edges.iter().map(|edge| switches[edge.index()]).collect();
        let partition_of = |node: Node| match node {
            Node::Host(host) => hosts[host.index()],
            Node::Switch(switch) => switches[switch.index()],
        };
        let ports = (0..2 * topology.links().len() as u32).map(PortId);
        let ends = ports.map(|port| topology.ends_of(port));
        let ends: Vec<(u16, u16)> =
            ends.map(|(from, to)| (partition_of(from), partition_of(to))).collect();
        let lookahead = lookahead(setup, &ends).ok_or(Sequential::NoLength)?;
        let (count, quiet_events) = (count as u16, QUIET_EVENTS);
        Ok(Self { count, hosts: hosts.clone(), switches, lookahead, ends, quiet_events })
    }

    /// Returns the number of partitions.
    pub fn count(&self) -> usize {
        self.count.into()
    }

    /// Sets the number of events per partition below which windows stay on one thread, after a
    /// series of such windows. The default is 256; 0 disables it.
    #[must_use]
    pub fn with_quiet_events(self, quiet_events: u64) -> Self {
        Self { quiet_events, ..self }
    }

    pub(in crate::fabric) fn quiet_events(&self) -> u64 {
        self.quiet_events
    }

    /// Returns the length of a window.
    pub(in crate::fabric) fn lookahead(&self) -> Span {
        self.lookahead
    }

    pub(in crate::fabric) fn partition_of(&self, node: Node) -> usize {
        match node {
            Node::Host(host) => self.hosts[host.index()].into(),
            Node::Switch(switch) => self.switches[switch.index()].into(),
        }
    }

    pub(in crate::fabric) fn share(&self, own: u16) -> Share {
        Share { partitions: self.hosts.clone(), own }
    }

    /// Returns the boundary ports of a partition: their wires end in other partitions.
    pub(in crate::fabric) fn boundaries(&self, own: u16) -> Vec<PortId> {
        let ports = (0u32..).map(PortId).zip(&self.ends);
        ports.filter(|(_, (from, to))| *from == own && to != from).map(|(port, _)| port).collect()
    }

    /// Returns the partition at the end of the port's wire.
    pub(in crate::fabric) fn receiver_of(&self, port: PortId) -> usize {
        self.ends[port.index()].1.into()
    }
}

/// Returns the partition of each switch.
fn assign(topology: &Topology, edges: &[SwitchId], count: usize, cut: Cut) -> Vec<u16> {
    const NONE: u16 = u16::MAX;
    let mut partitions = vec![NONE; topology.switches().len()];
    if let Cut::Drawn(seed) = cut {
        let mut draws = Stream::new(seed, Purpose::Partitioning, 0);
        partitions.iter_mut().for_each(|partition| *partition = draws.below(count as u32) as u16);
        return partitions;
    }
    let (hosts, mut assigned) = (edges.len(), 0);
    for (host, edge) in edges.iter().enumerate() {
        if partitions[edge.index()] == NONE {
            partitions[edge.index()] = match cut {
                Cut::Interleaved => (assigned % count) as u16,
                // Proportional to hosts, so that partitions have similar loads.
                _ => (host * count / hosts) as u16,
            };
            assigned += 1;
        }
    }
    let mut sizes = vec![0u32; count];
    loop {
        // One tier at a time: switches with a neighbour that has a partition.
        let next: Vec<(SwitchId, Vec<u32>)> = (0u32..)
            .zip(&partitions)
            .filter(|(_, partition)| **partition == NONE)
            .map(|(id, _)| (SwitchId(id), links_into(topology, SwitchId(id), &partitions, count)))
            .filter(|(_, links)| links.iter().any(|&links| links > 0))
            .collect();
        if next.is_empty() {
            break;
        }
        for (switch, links) in next {
            // On a tie, the partition with the fewest switches above the edge.
            let best = (0..count).max_by_key(|&it| (links[it], Reverse((sizes[it], it))));
            let best = best.expect("there are partitions");
            sizes[best] += 1;
            partitions[switch.index()] = best as u16;
        }
    }
    // Switches that no host can reach: any partition will do.
    partitions
        .iter_mut()
        .filter(|partition| **partition == NONE)
        .for_each(|partition| *partition = 0);
    partitions
}

/// Counts the links from a switch to each partition.
fn links_into(topology: &Topology, switch: SwitchId, partitions: &[u16], count: usize) -> Vec<u32> {
    let mut links = vec![0; count];
    for &port in topology.ports_of(switch) {
        if let Node::Switch(neighbour) = topology.ends_of(port).1
            && let Some(links) = links.get_mut(usize::from(partitions[neighbour.index()]))
        {
            *links += 1;
        }
    }
    links
}

/// Returns the time for which no event of one partition can affect another; `None` if it is zero.
fn lookahead(setup: &Setup, ends: &[(u16, u16)]) -> Option<Span> {
    let Setup { topology, fabric, .. } = setup;
    let links = (0u32..).map(LinkId).zip(topology.links());
    // Responders are created at the end of a window, and a run ends with an acknowledgement. The
    // shortest path between two hosts has two of these links.
    let spans = links.map(|(id, link)| {
        let [port, _] = id.ports();
        let (from, to) = ends[port.index()];
        match topology.is_fabric_link(id) {
            // A link within a partition does not limit the window.
            true if from == to => Span::MAX,
            true => link.delay + fabric.forwarding_delay,
            false => link.delay + link.delay + fabric.forwarding_delay,
        }
    });
    spans.min().filter(|&span| span > Span::ZERO && span < Span::MAX)
}
