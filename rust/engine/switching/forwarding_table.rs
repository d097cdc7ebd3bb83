//! The forwarding table: next hops computed by routing, and the choices left to a switch's policy.

use std::sync::Arc;

use super::Switching;
use crate::balance::switch::Departure;
use crate::balance::{Eligibility, Forwarding, Scheme, Weights};
use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::packet::{Flags, Packet};
use crate::topology::{CandidateGroup, Capacities, Lookup, Routes, Shares, Topology};
use crate::units::BitRate;

/// The next hops of every switch.
#[derive(Debug)]
pub(super) struct ForwardingTable {
    /// Next hops in the current routing state.
    routes: Routes,
    /// Next hops without failures, which explicit paths refer to.
    intact: Arc<Routes>,
    /// True once `routes` may differ from `intact`.
    rerouted: bool,
    /// Next-hop weights, if routing distributes them and knows of a failure.
    capacities: Option<Box<Capacities>>,
    weights: Weights,
    forwarding: Forwarding,
    eligibility: Eligibility,
    /// The pod of each switch.
    pods: Vec<u32>,
}

/// The set of equal-cost ports from which a policy chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateSet {
    /// All ports of the routing table towards the destination.
    All,
    /// Only ports that the switch has not detected as dead.
    Alive,
}

/// A choice among several candidate ports, left to a switch's policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyChoice {
    pub(super) switch: SwitchId,
    pub(super) among: CandidateSet,
    /// Position of the candidates in the table.
    group: CandidateGroup,
}

impl PolicyChoice {
    /// Returns the switch whose policy chooses.
    pub const fn switch(self) -> SwitchId {
        self.switch
    }
}

/// The result of a look-up for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardingDecision {
    /// There is no path to the destination.
    Drop,
    /// The packet leaves by this port.
    Port(PortId),
    /// The switch's policy chooses among two or more ports.
    Choose(PolicyChoice),
}

/// The candidate ports for a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidates<'a> {
    pub(super) packet: &'a Packet,
    /// Candidate ports in the order of the forwarding table.
    pub(super) ports: &'a [PortId],
    /// Edge switch of the packet's destination.
    pub(super) edge: SwitchId,
    /// The pod of each switch.
    pub(super) pods: &'a [u32],
    /// Weights of the candidates; `None` if they are equal.
    pub(super) shares: Option<Shares<'a>>,
}

impl ForwardingTable {
    pub(super) fn new(topology: &Topology, scheme: &Scheme) -> Self {
        let intact = topology.routes();
        let mut table = Self {
            intact: Arc::clone(intact),
            routes: (**intact).clone(),
            rerouted: false,
            capacities: None,
            weights: scheme.weights,
            forwarding: scheme.forwarding,
            eligibility: scheme.eligibility,
            pods: topology.pods(),
        };
        if table.uses_capacity_weights() && topology.is_uneven() {
            table.apply_weights(topology, &|link| topology.link(link).rate);
        }
        table
    }

    /// Looks up a packet in `switch`, which has detected the ports `dead`. For a source-routed
    /// packet, consumes this switch's part of the path.
    #[inline(always)]
    pub(super) fn decide(
        &self,
        switch: SwitchId,
        dead: &[PortId],
        packet: &mut Packet,
    ) -> ForwardingDecision {
        if self.forwarding == Forwarding::SourceRouted && self.is_eligible(packet) {
            return self.decide_source_routed(switch, dead, packet);
        }
        // Without dead ports the policy sees the table itself; otherwise it sees a filtered copy.
        let among = if dead.is_empty() { CandidateSet::All } else { CandidateSet::Alive };
        self.decide_by_routing(switch, among, packet)
    }

    /// Returns true if the packet may carry a source route in a source-routed fabric.
    #[inline]
    fn is_eligible(&self, packet: &Packet) -> bool {
        self.eligibility == Eligibility::All || !packet.flags.has(Flags::HASHED)
    }

    #[inline(always)]
    fn decide_by_routing(
        &self,
        switch: SwitchId,
        among: CandidateSet,
        packet: &Packet,
    ) -> ForwardingDecision {
        match self.routes.lookup(switch, packet.dst) {
            Lookup::None => ForwardingDecision::Drop,
            Lookup::One(only) => ForwardingDecision::Port(only),
            // Dead ports are still included: the switch filters them when it chooses. A single next
            // hop is taken above even if it is dead, and the packet is lost on its link.
            Lookup::Multiple(group) => {
                ForwardingDecision::Choose(PolicyChoice { switch, among, group })
            }
        }
    }

    /// Returns the port that the source chose, or falls back to routing if that port is out of use.
    #[inline(always)]
    fn decide_source_routed(
        &self,
        switch: SwitchId,
        dead: &[PortId],
        packet: &mut Packet,
    ) -> ForwardingDecision {
        let Some((chosen, rest)) = self.step_of_path(switch, packet) else {
            return ForwardingDecision::Drop;
        };
        // Consumed even if the chosen port is unusable: later digits belong to later switches.
        packet.route = rest;
        // Skips the second look-up while both tables are identical.
        let withdrawn =
            self.rerouted && !self.routes.next_hops(switch, packet.dst).contains(&chosen);
        if !withdrawn && !dead.contains(&chosen) {
            return ForwardingDecision::Port(chosen);
        }
        self.decide_by_routing(switch, CandidateSet::Alive, packet)
    }

    /// Returns the port that the packet's path names in `switch`, and the remaining path.
    #[inline(always)]
    fn step_of_path(&self, switch: SwitchId, packet: &Packet) -> Option<(PortId, u16)> {
        // Path digits index the ports that the source knew: a failure must not shift them.
        match self.intact.lookup(switch, packet.dst) {
            Lookup::None => None,
            Lookup::One(only) => Some((only, packet.route)),
            Lookup::Multiple(group) => {
                // A path is a mixed-radix number with one digit per switch that has a choice.
                let intact = self.intact.candidates_at(group);
                let count = u16::try_from(intact.len()).expect("paths are 16 bits");
                Some((intact[usize::from(packet.route % count)], packet.route / count))
            }
        }
    }

    /// Returns the port that the source chose for a packet in `switch`, if it is source-routed.
    #[inline]
    pub(super) fn port_on_path(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        if self.forwarding != Forwarding::SourceRouted || !self.is_eligible(packet) {
            return None;
        }
        self.step_of_path(switch, packet).map(|(port, _)| port)
    }

    /// Returns the equal-cost ports of `switch` towards `dst`.
    #[inline]
    pub(super) fn next_hops(&self, switch: SwitchId, dst: HostId) -> &[PortId] {
        self.routes.next_hops(switch, dst)
    }

    /// Returns the equal-cost ports of `switch` towards `dst`, and their weights unless all are
    /// equal.
    pub(super) fn weighted(&self, switch: SwitchId, dst: HostId) -> (&[PortId], Option<&[u32]>) {
        let capacities = self.capacities.as_ref();
        let shares = capacities.and_then(|it| it.shares(&self.routes, switch, dst));
        (self.routes.next_hops(switch, dst), shares.map(|shares| shares.weights))
    }

    /// Returns true if there are neither source routes nor weights.
    pub(super) fn follows_routing(&self) -> bool {
        self.forwarding != Forwarding::SourceRouted && self.capacities.is_none()
    }

    /// Returns the port towards `dst`, using `pick` if there are several candidates.
    #[inline(always)]
    pub(super) fn port_by(
        &self,
        switch: SwitchId,
        dst: HostId,
        pick: impl FnOnce(&[PortId]) -> PortId,
    ) -> Option<PortId> {
        match self.routes.lookup(switch, dst) {
            Lookup::None => None,
            Lookup::One(only) => Some(only),
            Lookup::Multiple(group) => Some(pick(self.routes.candidates_at(group))),
        }
    }

    /// Returns the candidates of a choice for a packet.
    #[inline]
    pub(super) fn candidates<'a>(
        &'a self,
        choice: PolicyChoice,
        packet: &'a Packet,
    ) -> Candidates<'a> {
        let capacities = self.capacities.as_ref();
        Candidates {
            packet,
            ports: self.routes.candidates_at(choice.group),
            edge: self.routes.edge_of(packet.dst),
            pods: &self.pods,
            shares: capacities.and_then(|it| it.shares(&self.routes, choice.switch, packet.dst)),
        }
    }

    /// Describes the departure of a packet by the port with this index.
    #[inline]
    pub(super) fn departure(&self, port_index: u32, packet: &Packet) -> Departure {
        let edge_of = |host| self.routes.edge_of(host);
        let (source_edge, destination_edge) = (edge_of(packet.src), edge_of(packet.dst));
        Departure { port: port_index, source_edge, destination_edge }
    }

    /// Returns the only port towards `dst` in the current state; `None` if there is a choice or no
    /// path.
    pub(super) fn only_next_hop(
        &self,
        switch: SwitchId,
        dead: &[PortId],
        dst: HostId,
    ) -> Option<PortId> {
        // Two or more candidates leave a choice, and none means that there is no path.
        let &[only] = self.routes.next_hops(switch, dst) else { return None };
        // If the source had a choice here without failures, the packet's path has a digit for this
        // switch that must be consumed.
        let source_routed = self.forwarding == Forwarding::SourceRouted;
        let has_digit = source_routed && self.intact.next_hops(switch, dst) != [only];
        let is_dead = source_routed && dead.contains(&only);
        (!has_digit && !is_dead).then_some(only)
    }

    /// Returns the edge switch of a host.
    pub(super) fn edge_of(&self, host: HostId) -> SwitchId {
        self.routes.edge_of(host)
    }

    /// Returns the number of switch-to-switch links on a shortest path from a switch to a host's
    /// edge switch.
    pub(super) fn links_from(&self, switch: SwitchId, dst: HostId) -> u32 {
        self.routes.links_from(switch, dst)
    }

    /// Returns the next hops without failures.
    pub(super) fn intact(&self) -> &Arc<Routes> {
        &self.intact
    }

    /// Returns true if routing distributes weights by capacity.
    pub(super) fn uses_capacity_weights(&self) -> bool {
        self.weights == Weights::Capacity
    }

    /// Recomputes the next hops over the links for which `usable` returns true.
    pub(super) fn reroute(&mut self, topology: &Topology, usable: &dyn Fn(LinkId) -> bool) {
        self.routes = Routes::new(topology, usable);
        // Never reset after recovery: the second look-up then just agrees with the first.
        self.rerouted = true;
    }

    /// Weights next hops by the remaining rate of each link.
    pub(super) fn apply_weights(
        &mut self,
        topology: &Topology,
        remaining_rate: &dyn Fn(LinkId) -> BitRate,
    ) {
        let capacities = Capacities::new(topology, &self.routes, &self.intact, remaining_rate);
        self.capacities = Some(Box::new(capacities));
    }

    /// Makes all next hops equal again.
    pub(super) fn clear_weights(&mut self) {
        self.capacities = None;
    }
}

impl Switching {
    /// Prefetches the routing entries that [`Self::likely_port`] reads.
    #[inline(always)]
    pub(crate) fn prefetch_route(&self, switch: SwitchId, dst: HostId) {
        match self.table.forwarding {
            Forwarding::SourceRouted => self.table.intact.prefetch(switch, dst),
            Forwarding::Hashed => self.table.routes.prefetch(switch, dst),
        }
    }

    /// Returns the port by which `packet` most likely leaves `switch`, by hash or source route;
    /// `None` if a policy decides. Has no side effects, so drivers can prefetch the port's memory.
    #[inline(always)]
    pub(crate) fn likely_port(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        self.hashed_port(switch, packet).or_else(|| self.table.port_on_path(switch, packet))
    }
}
