//! The family's numbering of nodes and interfaces.

use crate::ids::PortId;
use crate::topology::{Node, Topology};

/// An output port with the family's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interface {
    /// The node's number in the topology file.
    pub(super) node: u32,
    /// The interface's number at the node: its links count from 1 in the order of the file, and 0
    /// is ns-3's loopback.
    pub(super) number: u32,
    /// The host or switch that sends by the port.
    pub(super) owner: Node,
    /// The port's id in the topology.
    pub(super) port: PortId,
    /// The node at the other end of the link.
    pub(super) peer: Node,
}

/// Returns every interface, by port id; `number_of` returns the number of a node in the topology
/// file.
pub(super) fn interfaces(topology: &Topology, number_of: &dyn Fn(Node) -> u32) -> Vec<Interface> {
    let count = u32::try_from(2 * topology.links().len()).expect("ids are 32 bits");
    let interface = |port| {
        let (owner, peer) = topology.ends_of(port);
        let number = match owner {
            Node::Host(_) => 1,
            Node::Switch(switch) => {
                let before = topology.ports_of(switch).partition_point(|&other| other < port);
                1 + u32::try_from(before).expect("ids are 32 bits")
            }
        };
        Interface { node: number_of(owner), number, owner, port, peer }
    };
    (0..count).map(PortId).map(interface).collect()
}
