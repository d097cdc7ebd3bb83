//! The node numbers of a topology file.

use super::topology::HpccTopology;
use crate::topology::Node;

/// The number of each host and of each switch in the topology file, by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeNumbers {
    pub(super) hosts: Vec<u32>,
    pub(super) switches: Vec<u32>,
}

impl NodeNumbers {
    /// Collects the numbers of the topology in `read`.
    pub(super) fn new(read: &HpccTopology) -> Self {
        Self { hosts: read.node_of_host.clone(), switches: read.node_of_switch.clone() }
    }

    /// Returns the number of `node`.
    pub(super) fn of(&self, node: Node) -> u32 {
        match node {
            Node::Host(host) => self.hosts[host.index()],
            Node::Switch(switch) => self.switches[switch.index()],
        }
    }
}
