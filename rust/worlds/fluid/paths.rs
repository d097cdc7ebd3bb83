//! The path of a flow through the fabric: the links that it loads, and the hops of its first and
//! last packets.
//!
//! If sender and switches keep the packets of a flow on one path, the flow takes that path. Every
//! switch on it makes the decision that it makes for a packet with the flow's label, entropy value
//! and route. If either of them spreads packets, each switch divides the flow by weight among its
//! equal-cost ports that are up. Acknowledgements return in the same way.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::links::{Links, Ungrouped};
use crate::balance::{Forwarding, Scheme};
use crate::bound::Hop;
use crate::endpoint::{EntropyValues, FluidFlow};
use crate::ids::{HostId, PortId, SwitchId};
use crate::packet::{Flags, Packet, PacketKind};
use crate::sharing::{Sharing, Use};
use crate::switching::{PortLoads, Switching};
use crate::topology::{Node, Topology};
use crate::units::Time;

/// Number of equal packets offered to a switch to find out whether it spreads them.
const PROBES: usize = 16;

/// The path of a flow in one direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FlowPath {
    /// The links, with the fraction of the flow on each.
    pub(super) uses: Vec<Use>,
    /// The hops from sender to receiver; the first link of each tier if the flow is spread.
    pub(super) hops: Vec<Hop>,
    /// Whether packets may take several paths.
    pub(super) count: PathCount,
    /// The fraction of the flow that arrives; the rest is lost on failed links.
    pub(super) delivered_fraction: f64,
}

/// Whether the packets of a flow may take several paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathCount {
    One,
    Several,
}

/// The part of a spread path between two edge switches, which all their hosts share.
#[derive(Debug)]
struct Spread {
    uses: Vec<Use>,
    hops: Vec<Hop>,
    delivered_fraction: f64,
    widest: usize,
}

/// Finds the paths of flows.
#[derive(Debug)]
pub(super) struct PathFinder {
    topology: Arc<Topology>,
    pub(super) switching: Switching,
    /// Whether switches divide the packets of a flow among several ports.
    switches_spread: bool,
    /// Whether a sender varied the entropy value and hashing switches spread its packets.
    pub(super) hashes_packets: bool,
    is_hashed: bool,
    /// By port: the fraction of its packets that arrives; 0 while its link is down.
    delivered_fraction: Vec<f64>,
    cached: BTreeMap<(SwitchId, SwitchId), Option<Rc<Spread>>>,
    /// Scratch space for searches: the fraction of a flow at each switch.
    amounts: Vec<f64>,
}

/// Port loads without packets: every queue is empty.
struct Empty;

impl PortLoads for Empty {
    fn bytes(&self, _port: PortId, _index: u32) -> u64 {
        0
    }
}

/// The links of a run and their sharing.
pub(super) struct Site<'a> {
    pub(super) links: &'a mut Links,
    pub(super) sharing: &'a mut Sharing,
}

impl PathFinder {
    pub(super) fn new(topology: &Arc<Topology>, mut switching: Switching, scheme: &Scheme) -> Self {
        let looks = scheme.switch.uses_queue_lengths() || scheme.switch.tracks_departures();
        Self {
            switches_spread: looks || spreads(topology, &mut switching),
            hashes_packets: false,
            is_hashed: scheme.forwarding == Forwarding::Hashed,
            delivered_fraction: vec![1.0; 2 * topology.links().len()],
            cached: BTreeMap::new(),
            amounts: vec![0.0; topology.switches().len()],
            topology: topology.clone(),
            switching,
        }
    }

    /// Sets the fraction of the packets sent by a port that reaches the other end of its link.
    pub(super) fn set_delivered_fraction(&mut self, port: PortId, part: f64) {
        self.delivered_fraction[port.index()] = part;
    }

    /// Clears the cached paths after a change to routing or to a link.
    pub(super) fn clear_cache(&mut self) {
        self.cached.clear();
    }

    /// Returns the path of a flow's data packets; `None` if the receiver is unreachable.
    pub(super) fn data_path(
        &mut self,
        now: Time,
        flow: &FluidFlow,
        site: &mut Site<'_>,
    ) -> Result<Option<FlowPath>, Ungrouped> {
        self.find(now, flow.packet, flow.entropies, site)
    }

    /// Returns the path of a flow's acknowledgements.
    pub(super) fn ack_path(
        &mut self,
        now: Time,
        flow: &FluidFlow,
        site: &mut Site<'_>,
    ) -> Result<Option<FlowPath>, Ungrouped> {
        let Packet { src, dst, entropy, flags, .. } = flow.packet;
        let (kind, flags) = (PacketKind::Ack, flags.with(Flags::PRIORITY));
        let answer = Packet { src: dst, dst: src, route: entropy, kind, flags, ..flow.packet };
        self.find(now, answer, flow.entropies, site)
    }

    fn find(
        &mut self,
        now: Time,
        packet: Packet,
        entropies: EntropyValues,
        site: &mut Site<'_>,
    ) -> Result<Option<FlowPath>, Ungrouped> {
        let is_eligible = self.switches_spread && !packet.flags.has(Flags::HASHED);
        let several = entropies == EntropyValues::Several;
        self.hashes_packets |= several && !is_eligible && self.is_hashed;
        match is_eligible || several {
            true => self.spread(packet.src, packet.dst, site),
            false => self.single(now, packet, site),
        }
    }

    /// Follows a single packet hop by hop.
    fn single(
        &mut self,
        now: Time,
        mut packet: Packet,
        site: &mut Site<'_>,
    ) -> Result<Option<FlowPath>, Ungrouped> {
        let mut path = FlowPath {
            uses: Vec::new(),
            hops: Vec::new(),
            count: PathCount::One,
            delivered_fraction: 1.0,
        };
        let mut port = self.topology.host_port(packet.src);
        loop {
            path.uses.push(site.links.one(port, 1.0)?);
            path.hops.push(self.hop(port));
            path.delivered_fraction *= self.delivered_fraction[port.index()];
            let Node::Switch(switch) = self.topology.ends_of(port).1 else { break };
            match self.switching.route(now, switch, &mut packet, &Empty) {
                Some(next) => port = next,
                None => return Ok(None),
            }
        }
        Ok(Some(path))
    }

    /// Divides a flow among all equal-cost paths.
    fn spread(
        &mut self,
        src: HostId,
        dst: HostId,
        site: &mut Site<'_>,
    ) -> Result<Option<FlowPath>, Ungrouped> {
        let [first, last] = [self.topology.host_port(src), self.topology.host_port(dst).reverse()];
        let ends = [src, dst].map(|host| self.topology.edge_of(host));
        let between = match ends {
            [Some(from), Some(to)] => self.between(from, to, dst, site)?,
            // Two hosts that are wired to each other directly.
            _ => {
                let uses = vec![site.links.one(first, 1.0)?];
                let (hops, delivered_fraction) =
                    (vec![self.hop(first)], self.delivered_fraction[first.index()]);
                return Ok(Some(FlowPath {
                    uses,
                    hops,
                    count: PathCount::One,
                    delivered_fraction,
                }));
            }
        };
        let Some(between) = between else { return Ok(None) };
        let mut uses = vec![site.links.one(first, 1.0)?];
        uses.extend(&between.uses);
        uses.push(site.links.one(last, between.delivered_fraction)?);
        let hops = [&[self.hop(first)], &between.hops[..], &[self.hop(last)]].concat();
        let at_ends: f64 =
            [first, last].iter().map(|port| self.delivered_fraction[port.index()]).product();
        let count = if between.widest > 1 { PathCount::Several } else { PathCount::One };
        Ok(Some(FlowPath {
            uses,
            hops,
            count,
            delivered_fraction: between.delivered_fraction * at_ends,
        }))
    }

    /// Divides a flow among the paths between two edge switches; cached.
    fn between(
        &mut self,
        from: SwitchId,
        to: SwitchId,
        dst: HostId,
        site: &mut Site<'_>,
    ) -> Result<Option<Rc<Spread>>, Ungrouped> {
        if let Some(cached) = self.cached.get(&(from, to)) {
            return Ok(cached.clone());
        }
        let found = self.search(from, to, dst, site)?.map(Rc::new);
        self.cached.insert((from, to), found.clone());
        Ok(found)
    }

    /// Visits the switches between two edge switches, tier by tier. All equal-cost paths have the
    /// same length.
    fn search(
        &mut self,
        from: SwitchId,
        to: SwitchId,
        dst: HostId,
        site: &mut Site<'_>,
    ) -> Result<Option<Spread>, Ungrouped> {
        let mut spread =
            Spread { uses: Vec::new(), hops: Vec::new(), delivered_fraction: 1.0, widest: 1 };
        let (mut at, mut ports) = (vec![(from, 1.0)], Vec::new());
        while at.iter().any(|(switch, _)| *switch != to) {
            ports.clear();
            for &(switch, amount) in &at {
                let next = self.switching.weighted_next_hops(switch, dst);
                let sum: u32 = next.iter().map(|(_, weight)| weight).sum();
                let part = |weight: u32| amount * f64::from(weight) / f64::from(sum);
                ports.extend(next.into_iter().map(|(port, weight)| (port, part(weight))));
            }
            if ports.is_empty() {
                return Ok(None);
            }
            spread.widest = spread.widest.max(ports.len());
            spread.hops.push(self.hop(ports[0].0));
            site.links.all(&ports, site.sharing, &mut spread.uses)?;
            at = self.cross(&ports);
        }
        spread.delivered_fraction = at.iter().map(|(_, amount)| amount).sum();
        Ok(Some(spread))
    }

    /// Returns the fraction of a flow at each switch behind `ports`, in the order of the ports.
    fn cross(&mut self, ports: &[(PortId, f64)]) -> Vec<(SwitchId, f64)> {
        let mut at: Vec<(SwitchId, f64)> = Vec::new();
        for &(port, part) in ports {
            let Node::Switch(switch) = self.topology.ends_of(port).1 else { continue };
            let amount = &mut self.amounts[switch.index()];
            // This is the first port that leads to the switch.
            if *amount == 0.0 {
                at.push((switch, 0.0));
            }
            *amount += part * self.delivered_fraction[port.index()];
        }
        for (switch, amount) in &mut at {
            *amount = std::mem::take(&mut self.amounts[switch.index()]);
        }
        // A switch behind failed links alone would add ports without traffic to the search.
        at.retain(|(_, amount)| *amount > 0.0);
        at
    }

    fn hop(&self, port: PortId) -> Hop {
        let link = self.topology.link(port.link());
        Hop { rate: link.rate, delay: link.delay }
    }
}

/// Returns true if a switch with several next hops sends equal packets to different ports.
fn spreads(topology: &Topology, switching: &mut Switching) -> bool {
    let last = HostId(topology.host_count() - 1);
    let pair = [HostId(0), last];
    let Some(edge) = topology.edge_of(pair[0]) else { return false };
    if switching.next_hops(edge, last).len() < 2 {
        return false;
    }
    let mut port = || {
        let mut packet = Packet { src: pair[0], dst: last, ..Packet::default() };
        switching.route(Time::ZERO, edge, &mut packet, &Empty)
    };
    let first = port();
    (1..PROBES).any(|_| port() != first)
}
