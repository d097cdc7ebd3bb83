//! Who is in which part of a divided run.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::endpoint::{Share, is_divisible};
use crate::fabric::reachability;
use crate::fabric::setup::Setup;
use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::rng::{Purpose, Stream};
use crate::topology::{Node, Topology};
use crate::units::Span;

/// A window with fewer events for each part is left to one thread: these take some ten
/// microseconds, in which threads on cores of their own meet, but hardly more.
const QUIET_EVENTS: u64 = 256;

/// How edge switches are divided; switches above follow most of their neighbours below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cut {
    /// Neighbouring edge switches are in the same part: few wires are cut.
    #[default]
    Contiguous,
    /// One part after the other gets an edge switch.
    Interleaved,
    /// Every switch is drawn from this seed: nearly all wires are cut.
    Drawn(u64),
}

/// Why a run goes on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undivided {
    /// No more than one part is asked for, or there is no more than one edge switch.
    OnePart,
    /// A host is wired to another host.
    NoSwitch,
    /// Hosts have several ports.
    Planes,
    /// A delay releases a task of another host, at no distance in time.
    Delays,
    /// Links that stay down separate hosts that exchange messages.
    Separated,
    /// A link between two parts, or of a host, has no length.
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

impl fmt::Display for Undivided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OnePart => "the hosts are attached to fewer than two switches",
            Self::Planes => "hosts have a port in each of several planes",
            Self::NoSwitch => "a host is wired to another host",
            Self::Delays => {
                "a computation or an acknowledgement releases a task of another host at once"
            }
            Self::Separated => "links that stay down separate hosts that exchange messages",
            Self::Telemetry => "the congestion control asks switches for telemetry",
            Self::Retry => "links retry frames (llr)",
            Self::ScaleUp => "servers have scale-up networks, which wake one host for others",
            Self::LinkCredit => "links have credit-based flow control (cbfc)",
            Self::NoLength => "a link has no delay, so that no part can go ahead of another one",
        })
    }
}

/// The parts of a divided run.
#[derive(Debug, Clone)]
pub struct Division {
    count: u16,
    hosts: Arc<[u16]>,
    switches: Vec<u16>,
    /// The longest window.
    lookahead: Span,
    /// The part at the start and at the end of each port's wire.
    ends: Vec<(u16, u16)>,
    quiet_events: u64,
}

impl Division {
    /// Divides a run into `parts`, or fewer if there are fewer edge switches.
    ///
    /// # Errors
    /// If that leaves one part, or the run cannot be divided.
    pub fn new(setup: &Setup, parts: u16, cut: Cut) -> Result<Self, Undivided> {
        let topology = &setup.topology;
        if topology.planes().count() > 1 {
            return Err(Undivided::Planes);
        }
        let edges: Option<Vec<SwitchId>> =
            (0..topology.host_count()).map(|host| topology.edge_of(HostId(host))).collect();
        let edges = edges.ok_or(Undivided::NoSwitch)?;
        let distinct: BTreeSet<SwitchId> = edges.iter().copied().collect();
        let count = usize::from(parts).min(distinct.len());
        if count < 2 {
            return Err(Undivided::OnePart);
        }
        if setup.nic.congestion.telemetry().is_some() {
            return Err(Undivided::Telemetry);
        }
        if topology.scale_up().is_some() {
            return Err(Undivided::ScaleUp);
        }
        if setup.fabric.llr.is_some() {
            return Err(Undivided::Retry);
        }
        if setup.fabric.switch.cbfc.is_some() {
            return Err(Undivided::LinkCredit);
        }
        if !is_divisible(&setup.workload) {
            return Err(Undivided::Delays);
        }
        if reachability::separates(setup) {
            return Err(Undivided::Separated);
        }
        let switches = divide(topology, &edges, count, cut);
        let hosts: Arc<[u16]> = edges.iter().map(|edge| switches[edge.index()]).collect();
        let part_of = |node: Node| match node {
            Node::Host(host) => hosts[host.index()],
            Node::Switch(switch) => switches[switch.index()],
        };
        let ports = (0..2 * topology.links().len() as u32).map(PortId);
        let ends = ports.map(|port| topology.ends_of(port));
        let ends: Vec<(u16, u16)> = ends.map(|(from, to)| (part_of(from), part_of(to))).collect();
        let lookahead = lookahead(setup, &ends).ok_or(Undivided::NoLength)?;
        let (count, quiet_events) = (count as u16, QUIET_EVENTS);
        Ok(Self { count, hosts: hosts.clone(), switches, lookahead, ends, quiet_events })
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        self.count.into()
    }

    /// Leaves windows to one thread if they have fewer events for each part, once some of them have
    /// followed each other; 256 by default, 0 for none.
    #[must_use]
    pub fn with_quiet_events(self, quiet_events: u64) -> Self {
        Self { quiet_events, ..self }
    }

    pub(in crate::fabric) fn quiet_events(&self) -> u64 {
        self.quiet_events
    }

    /// The length of a window.
    pub(in crate::fabric) fn lookahead(&self) -> Span {
        self.lookahead
    }

    pub(in crate::fabric) fn part_of(&self, node: Node) -> usize {
        match node {
            Node::Host(host) => self.hosts[host.index()].into(),
            Node::Switch(switch) => self.switches[switch.index()].into(),
        }
    }

    pub(in crate::fabric) fn share(&self, own: u16) -> Share {
        Share { parts: self.hosts.clone(), own }
    }

    /// The ports of a part whose wires end in other parts.
    pub(in crate::fabric) fn borders(&self, own: u16) -> Vec<PortId> {
        let ports = (0u32..).map(PortId).zip(&self.ends);
        ports.filter(|(_, (from, to))| *from == own && to != from).map(|(port, _)| port).collect()
    }

    /// The part in which the packets of a port arrive.
    pub(in crate::fabric) fn receiver_of(&self, port: PortId) -> usize {
        self.ends[port.index()].1.into()
    }
}

/// The part of each switch.
fn divide(topology: &Topology, edges: &[SwitchId], count: usize, cut: Cut) -> Vec<u16> {
    const NONE: u16 = u16::MAX;
    let mut parts = vec![NONE; topology.switches().len()];
    if let Cut::Drawn(seed) = cut {
        let mut draws = Stream::new(seed, Purpose::Division, 0);
        parts.iter_mut().for_each(|part| *part = draws.below(count as u32) as u16);
        return parts;
    }
    let (hosts, mut given) = (edges.len(), 0);
    for (host, edge) in edges.iter().enumerate() {
        if parts[edge.index()] == NONE {
            parts[edge.index()] = match cut {
                Cut::Interleaved => (given % count) as u16,
                _ => (host * count / hosts) as u16,
            };
            given += 1;
        }
    }
    let mut sizes = vec![0u32; count];
    loop {
        // One tier after the other: those that have a neighbour with a part.
        let next: Vec<(SwitchId, Vec<u32>)> = (0u32..)
            .zip(&parts)
            .filter(|(_, part)| **part == NONE)
            .map(|(id, _)| (SwitchId(id), links_into(topology, SwitchId(id), &parts, count)))
            .filter(|(_, links)| links.iter().any(|&links| links > 0))
            .collect();
        if next.is_empty() {
            break;
        }
        for (switch, links) in next {
            // Where several have as many links, the one with the fewest switches above the edge.
            let best = (0..count).max_by_key(|&it| (links[it], Reverse((sizes[it], it))));
            let best = best.expect("there are parts");
            sizes[best] += 1;
            parts[switch.index()] = best as u16;
        }
    }
    // Switches that no host reaches.
    parts.iter_mut().filter(|part| **part == NONE).for_each(|part| *part = 0);
    parts
}

/// How many links of a switch end in each part.
fn links_into(topology: &Topology, switch: SwitchId, parts: &[u16], count: usize) -> Vec<u32> {
    let mut links = vec![0; count];
    for &port in topology.ports_of(switch) {
        if let Node::Switch(neighbour) = topology.ends_of(port).1
            && let Some(links) = links.get_mut(usize::from(parts[neighbour.index()]))
        {
            *links += 1;
        }
    }
    links
}

/// How long nothing that happens in one part can concern another one; `None` if that is no time.
fn lookahead(setup: &Setup, ends: &[(u16, u16)]) -> Option<Span> {
    let Setup { topology, fabric, .. } = setup;
    let links = (0u32..).map(LinkId).zip(topology.links());
    // A queue pair is made at its receiver at the end of a window, and a run ends with an
    // acknowledgement: the shortest way between two hosts is two of these.
    let spans = links.map(|(id, link)| {
        let [port, _] = id.ports();
        let (from, to) = ends[port.index()];
        match topology.is_fabric_link(id) {
            true if from == to => Span::MAX,
            true => link.delay + fabric.forwarding_delay,
            false => link.delay + link.delay + fabric.forwarding_delay,
        }
    });
    spans.min().filter(|&span| span > Span::ZERO && span < Span::MAX)
}
