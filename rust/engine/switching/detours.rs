//! Packets that go by a switch of another group before they go to their destination.
//!
//! The field of a packet that holds the rest of its path where sources route ([`Packet::route`])
//! says where it goes first. A NIC sets it to the entropy value, which says that the switch of its
//! sender has still to decide; every value that a switch writes differs from that. The two lowest
//! bits are 1 or 2 if the other bits are the index of a switch with hosts, and 0 or 3 if the packet
//! goes to its destination.

use super::forwarding_table::ForwardingTable;
use super::switch::PortLoads;
use super::{ForwardingDecision, Switching};
use crate::balance::switch::{DetourView, RouteLoad};
use crate::ids::{HostId, SwitchId};
use crate::packet::Packet;
use crate::topology::{Routes, Topology};

/// Which switches packets may go by.
#[derive(Debug)]
pub(super) struct Detours {
    /// The group of each switch.
    groups: Vec<u32>,
    /// The switches with hosts, group by group, and a host of each.
    edges: Vec<(SwitchId, HostId)>,
    /// The indices in `edges` of each group.
    of_group: Vec<std::ops::Range<u32>>,
}

impl Detours {
    /// Those of a direct network; `None` of another, and where there is one group.
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

    /// The switch that a packet goes to first, and a host of that switch.
    fn first(&self, packet: &Packet) -> Option<(SwitchId, HostId)> {
        let is_tagged = matches!(packet.route & 3, 1 | 2);
        let goes_by = is_tagged && packet.route != packet.entropy && !packet.is_control();
        goes_by.then(|| self.edges[usize::from(packet.route >> 2)])
    }
}

/// The value of a packet's field that says that it goes by the switch of that index, or to its
/// destination.
fn written(index: Option<u32>, packet: &Packet) -> u16 {
    let (value, tags) = match index {
        Some(index) => ((index as u16) << 2, [1, 2]),
        None => (0, [0, 3]),
    };
    let first = value | tags[0];
    if first == packet.entropy { value | tags[1] } else { first }
}

/// The routes of a packet at the switch of its sender.
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
    /// The candidates' own group is left out.
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

    fn by(&self, candidate: u32) -> RouteLoad {
        let (edge, host) = self.detours.edges[self.index(candidate) as usize];
        // As if it left the other group at the switch drawn, which it need not reach.
        let links = self.links(self.switch, host) + self.links(edge, self.dst);
        RouteLoad { links, queue_bytes: self.queue_bytes(host) }
    }
}

impl Switching {
    /// True if packets may go by other groups: [`Self::decide_detour`] then takes the place of
    /// [`Self::decide`].
    #[inline(always)]
    pub fn takes_detours(&self) -> bool {
        self.detours.is_some()
    }

    /// The host that a packet goes towards: its destination, or one of the switch that it goes by.
    pub fn heading(&self, packet: &Packet) -> HostId {
        let first = self.detours.as_ref().and_then(|detours| detours.first(packet));
        first.map_or(packet.dst, |(_, host)| host)
    }

    /// The result of [`Self::decide`] for a packet that may go by another group: at the switch of
    /// its sender the policy decides that, by `loads` that are up to date for all ports of the
    /// switch if it looks at queues.
    #[inline(never)]
    pub fn decide_detour(
        &mut self,
        switch: SwitchId,
        packet: &mut Packet,
        loads: &impl PortLoads,
    ) -> ForwardingDecision {
        let Some(detours) = self.detours.take() else { return self.decide(switch, packet) };
        if !packet.is_control() && packet.route == packet.entropy {
            let index = self.draw_detour(&detours, switch, packet, loads);
            packet.route = written(index, packet);
        }
        let first = detours.first(packet);
        let is_there =
            |&(edge, _): &(SwitchId, HostId)| detours.group(edge) == detours.group(switch);
        if first.as_ref().is_some_and(is_there) {
            packet.route = written(None, packet);
        }
        let heading = detours.first(packet).map_or(packet.dst, |(_, host)| host);
        self.detours = Some(detours);
        let mut towards = Packet { dst: heading, ..*packet };
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
                let value = written(index, &packet);
                assert_ne!(value, entropy);
                assert_eq!(matches!(value & 3, 1 | 2), index.is_some());
                assert!(index.is_none_or(|index| u32::from(value >> 2) == index));
            }
        }
    }
}
