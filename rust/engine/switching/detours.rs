//! Non-minimal routes: packets that cross an intermediate group on the way to their destination.
//!
//! [`Packet::route`], the field for the remaining path of source-routed packets, encodes the
//! intermediate switch. A NIC sets it to the entropy value, which means that the sender's switch
//! has not decided yet. Every value that a switch writes differs from the entropy value. If the two
//! lowest bits are 1 or 2, the other bits are the index of a switch with hosts. If they are 0 or 3,
//! the packet goes to its destination.

use super::forwarding_table::ForwardingTable;
use super::switch::PortLoads;
use super::{ForwardingDecision, Switching};
use crate::balance::switch::{DetourView, RouteLoad};
use crate::ids::{HostId, SwitchId};
use crate::packet::Packet;
use crate::topology::{Routes, Topology};

/// The switches that packets may use as intermediate stops.
#[derive(Debug)]
pub(super) struct Detours {
    /// The group of each switch.
    groups: Vec<u32>,
    /// The switches with hosts, group by group, with one host of each.
    edges: Vec<(SwitchId, HostId)>,
    /// The index range in `edges` of each group.
    of_group: Vec<std::ops::Range<u32>>,
}

impl Detours {
    /// Returns the detours of a direct network; `None` for other networks and for a single group.
    pub(super) fn of(topology: &Topology) -> Option<Self> {
        let groups = topology.direct()?.groups.clone();
        let hosts = (0..topology.host_count()).map(HostId);
        let edge = |host| topology.edge_of(host).map(|edge| (edge, host));
        let mut edges: Vec<(SwitchId, HostId)> = hosts.filter_map(edge).collect();
        edges.sort_by_key(|&(edge, host)| (groups[edge.index()], edge, host));
        edges.dedup_by_key(|(edge, _)| *edge);
        let count = groups.iter().max().map_or(0, |most| most + 1);
        let bound =
            |group: u32| edges.partition_point(|(edge, _)| groups[edge.index()] < group) as u32;
        let of_group: Vec<_> = (0..count).map(|group| bound(group)..bound(group + 1)).collect();
        (count > 1).then_some(Self { groups, edges, of_group })
    }

    fn group(&self, switch: SwitchId) -> u32 {
        self.groups[switch.index()]
    }

    /// Returns the intermediate switch of a packet and a host of that switch, if any.
    fn intermediate(&self, packet: &Packet) -> Option<(SwitchId, HostId)> {
        let is_tagged = matches!(packet.route & 3, 1 | 2);
        let goes_by = is_tagged && packet.route != packet.entropy && !packet.is_control();
        goes_by.then(|| self.edges[usize::from(packet.route >> 2)])
    }
}

/// Returns the field value for an intermediate switch, given by index, or for the destination.
fn encode_route(index: Option<u32>, packet: &Packet) -> u16 {
    let (value, tags) = match index {
        Some(index) => ((index as u16) << 2, [1, 2]),
        None => (0, [0, 3]),
    };
    // Two tags per meaning, so that the value can always differ from the entropy value.
    let first = value | tags[0];
    if first == packet.entropy { value | tags[1] } else { first }
}

/// The possible routes of a packet at its sender's switch.
struct View<'a, L> {
    table: &'a ForwardingTable,
    /// By port: its index in its switch; `None` for a policy that does not look at queues.
    indices: Option<&'a [u32]>,
    detours: &'a Detours,
    loads: &'a L,
    switch: SwitchId,
    dst: HostId,
}

impl<L: PortLoads> View<'_, L> {
    /// Returns the index in `edges` of a candidate; the switch's own group is skipped.
    fn index(&self, candidate: u32) -> u32 {
        let own = &self.detours.of_group[self.detours.group(self.switch) as usize];
        if candidate < own.start { candidate } else { candidate + own.end - own.start }
    }

    fn links(&self, from: SwitchId, to: HostId) -> u32 {
        self.table.links_from(from, to)
    }

    fn queue_bytes(&self, to: HostId) -> u64 {
        let Some(indices) = self.indices else { return 0 };
        let ports = self.table.next_hops(self.switch, to).iter();
        ports.map(|&port| self.loads.bytes(port, indices[port.index()])).min().unwrap_or(0)
    }
}

impl<L: PortLoads> DetourView for View<'_, L> {
    fn candidates(&self) -> u32 {
        let own = &self.detours.of_group[self.detours.group(self.switch) as usize];
        self.detours.edges.len() as u32 - (own.end - own.start)
    }

    fn minimal(&self) -> RouteLoad {
        let links = self.links(self.switch, self.dst);
        RouteLoad { links, queue_bytes: self.queue_bytes(self.dst) }
    }

    fn via(&self, candidate: u32) -> RouteLoad {
        let (edge, host) = self.detours.edges[self.index(candidate) as usize];
        // Assumes that the packet leaves the group at the drawn switch, which it need not reach.
        let links = self.links(self.switch, host) + self.links(edge, self.dst);
        RouteLoad { links, queue_bytes: self.queue_bytes(host) }
    }
}

impl Switching {
    /// Returns true if packets may cross other groups. [`Self::decide_detour`] then replaces
    /// [`Self::decide`].
    #[inline(always)]
    pub fn uses_detours(&self) -> bool {
        self.detours.is_some()
    }

    /// Returns the host that a packet is heading for: its destination or a host of the intermediate
    /// switch.
    pub fn next_target(&self, packet: &Packet) -> HostId {
        let first = self.detours.as_ref().and_then(|detours| detours.intermediate(packet));
        first.map_or(packet.dst, |(_, host)| host)
    }

    /// Looks up a packet that may cross another group, like [`Self::decide`]. At the sender's
    /// switch the policy chooses the intermediate group. If the policy looks at queues, `loads`
    /// must be up to date for all ports of the switch.
    #[inline(never)]
    pub fn decide_detour(
        &mut self,
        switch: SwitchId,
        packet: &mut Packet,
        loads: &impl PortLoads,
    ) -> ForwardingDecision {
        // Taken out while `self` is borrowed mutably for the policy, and put back below.
        let Some(detours) = self.detours.take() else { return self.decide(switch, packet) };
        if !packet.is_control() && packet.route == packet.entropy {
            let index = self.draw_detour(&detours, switch, packet, loads);
            packet.route = encode_route(index, packet);
        }
        let first = detours.intermediate(packet);
        let is_there =
            |&(edge, _): &(SwitchId, HostId)| detours.group(edge) == detours.group(switch);
        // The packet has reached its intermediate group: from here it takes a minimal route.
        if first.as_ref().is_some_and(is_there) {
            packet.route = encode_route(None, packet);
        }
        let target = detours.intermediate(packet).map_or(packet.dst, |(_, host)| host);
        self.detours = Some(detours);
        // The table looks up a copy, because the packet keeps its destination.
        let mut towards = Packet { dst: target, ..*packet };
        self.decide(switch, &mut towards)
    }

    fn draw_detour(
        &mut self,
        detours: &Detours,
        switch: SwitchId,
        packet: &Packet,
        loads: &impl PortLoads,
    ) -> Option<u32> {
        let edge = self.table.edge_of(packet.dst);
        if edge == Routes::NO_EDGE || detours.group(edge) == detours.group(switch) {
            return None;
        }
        let indices = self.uses_queue_lengths.then_some(&self.port_indices[..]);
        let view = View { table: &self.table, indices, detours, loads, switch, dst: packet.dst };
        let drawn = self.switches[switch.index()].detour(&view);
        drawn.map(|candidate| view.index(candidate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_never_write_the_entropy_value_of_the_nic() {
        for entropy in 0..=u16::MAX {
            let packet = Packet { entropy, route: entropy, ..Packet::default() };
            for index in [None, Some(0), Some(1), Some(16_383)] {
                let value = encode_route(index, &packet);
                assert_ne!(value, entropy);
                assert_eq!(matches!(value & 3, 1 | 2), index.is_some());
                assert!(index.is_none_or(|index| u32::from(value >> 2) == index));
            }
        }
    }
}
