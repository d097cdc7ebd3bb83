//! Where packets may go: what routing knows, and which port a packet takes of it.
//!
//! It knows no port's queue and no event, so that any world can ask: the fabric here, and through
//! the bridge one whose switches are its own. What it leaves open is for the switch's policy.

use std::sync::Arc;

use super::switch::Choice;
use crate::balance::switch::Departure;
use crate::balance::{Forwarding, Scheme, Weights};
#[cfg(feature = "bridge")]
use crate::ids::HostId;
use crate::ids::{PortId, SwitchId};
use crate::packet::Packet;
use crate::topology::{Capacities, Routes, Topology};

/// What routing knows.
#[derive(Debug)]
pub(crate) struct Ways {
    /// Next hops as routing knows them now.
    pub routes: Routes,
    /// Next hops of the fabric without failures: what source routes are numbers in.
    pub intact: Arc<Routes>,
    /// True once `routes` may be others than those.
    pub rerouted: bool,
    /// What next hops are worth, where routing tells and knows of a failure.
    pub capacities: Option<Box<Capacities>>,
    /// What routing tells.
    pub weights: Weights,
    forwarding: Forwarding,
    /// The pod of each switch.
    pods: Vec<u32>,
}

/// Which of the equal-cost ports a policy is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Candidates {
    All,
    Alive,
}

/// What is to become of a packet in a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// There is none.
    None,
    /// It leaves by this port.
    Port(PortId),
    /// The switch's policy chooses among two or more.
    Ask(Candidates),
}

impl Ways {
    pub fn new(topology: &Topology, scheme: &Scheme) -> Self {
        let routes = Routes::new(topology, &|_| true);
        Self {
            intact: Arc::new(routes.clone()),
            routes,
            rerouted: false,
            capacities: None,
            weights: scheme.weights,
            forwarding: scheme.forwarding,
            pods: topology.pods(),
        }
    }

    /// The way of a packet in `switch`, which knows that its ports `dead` lead nowhere. A packet
    /// whose source routes loses the part of its path that was for this switch.
    #[inline]
    pub fn of(&self, switch: SwitchId, dead: &[PortId], packet: &mut Packet) -> Way {
        if self.forwarding == Forwarding::SourceRouted {
            return self.chosen_by_source(switch, dead, packet);
        }
        match self.routes.next_hops(switch, packet.dst) {
            [] => Way::None,
            [only] => Way::Port(*only),
            _ if dead.is_empty() => Way::Ask(Candidates::All),
            _ => Way::Ask(Candidates::Alive),
        }
    }

    /// The port that the packet's source chose; the policy's choice if routing has left it.
    fn chosen_by_source(&self, switch: SwitchId, dead: &[PortId], packet: &mut Packet) -> Way {
        let intact = self.intact.next_hops(switch, packet.dst);
        let chosen = match intact {
            [] => return Way::None,
            [only] => *only,
            _ => {
                let count = u16::try_from(intact.len()).expect("paths are 16 bits");
                let digit = packet.route % count;
                packet.route /= count;
                intact[usize::from(digit)]
            }
        };
        // A second table is not worth a look as long as it says the same.
        let left = self.rerouted && !self.routes.next_hops(switch, packet.dst).contains(&chosen);
        if !left && !dead.contains(&chosen) {
            return Way::Port(chosen);
        }
        match self.routes.next_hops(switch, packet.dst) {
            [] => Way::None,
            [only] => Way::Port(*only),
            _ => Way::Ask(Candidates::Alive),
        }
    }

    /// What the policy of `switch` is to choose from for a packet.
    #[inline]
    pub fn choice<'a>(&'a self, switch: SwitchId, packet: &'a Packet) -> Choice<'a> {
        let edge = self.routes.edge_of(packet.dst);
        let capacities = self.capacities.as_ref();
        Choice {
            packet,
            among: self.routes.next_hops(switch, packet.dst),
            edge,
            pod: self.pods[edge.index()],
            shares: capacities.and_then(|it| it.shares(&self.routes, switch, packet.dst)),
        }
    }
    /// How a packet that leaves by the port of that number crosses its switch.
    #[inline]
    pub fn passage(&self, port: u32, packet: &Packet) -> Departure {
        let edge_of = |host| self.routes.edge_of(host);
        Departure { port, source_edge: edge_of(packet.src), destination_edge: edge_of(packet.dst) }
    }

    /// The port that every packet to `dst` leaves `switch` by, as long as nothing changes; `None`
    /// if there is a choice, or no way.
    #[cfg(feature = "bridge")]
    pub fn only(&self, switch: SwitchId, dead: &[PortId], dst: HostId) -> Option<PortId> {
        let &[only] = self.routes.next_hops(switch, dst) else { return None };
        // A source that has a choice here has spent a part of its path on it.
        let by_source = self.forwarding == Forwarding::SourceRouted;
        let chosen = by_source && self.intact.next_hops(switch, dst) != [only];
        let closed = by_source && dead.contains(&only);
        (!chosen && !closed).then_some(only)
    }
}
