//! What the family calls nodes and interfaces.

use crate::ids::PortId;
use crate::topology::{Node, Topology};

/// An output port by the family's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interface {
    /// The file's number of the node.
    pub node: u32,
    /// Which of the node's links, from 1, in order of the file (0 is ns-3's loopback).
    pub number: u32,
    /// Whose it is.
    pub owner: Node,
    /// The port.
    pub port: PortId,
    /// Who is at the other end.
    pub peer: Node,
}

/// Every interface, by port id; `number_of` is what the file calls a node.
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
