//! The graph itself.

use thiserror::Error;

use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::units::{BitRate, Span};

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A host.
    Host(HostId),
    /// A switch.
    Switch(SwitchId),
}

/// A switch and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// Its name, as scenarios and results spell it: `leaf3`, `pod1-edge0`, `core2`.
    pub name: String,
    /// Switch tiers between it and the hosts: 0 at the edge.
    pub tier: u8,
}

/// A full-duplex link. Port `2l` sends from `ends[0]` to `ends[1]`, port `2l + 1` back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What it connects.
    pub ends: [Node; 2],
    /// Bit rate in each direction.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Span,
}

/// A fabric's graph; sound once built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    hosts: Vec<String>,
    switches: Vec<Switch>,
    links: Vec<Link>,
    host_ports: Vec<PortId>,
    link_names: Vec<String>,
}

/// Why a graph is no fabric.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A host without a link.
    #[error("{host} has no link: every host needs exactly one")]
    HostWithoutLink {
        /// Its name.
        host: String,
    },
}

impl Topology {
    /// Names of the hosts, in order of their ids.
    pub fn host_names(&self) -> &[String] {
        &self.hosts
    }

    /// The number of hosts.
    pub fn host_count(&self) -> u32 {
        u32::try_from(self.hosts.len()).expect("ids are 32 bits")
    }

    /// The switches, in order of their ids.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// The links, in order of their ids.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The link of that id.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// Where packets that leave by `port` come from and where they arrive.
    pub fn ends_of(&self, port: PortId) -> (Node, Node) {
        let [a, b] = self.link(port.link()).ends;
        if port.0.is_multiple_of(2) { (a, b) } else { (b, a) }
    }

    /// The port by which a host sends.
    pub fn host_port(&self, host: HostId) -> PortId {
        self.host_ports[host.index()]
    }
}
