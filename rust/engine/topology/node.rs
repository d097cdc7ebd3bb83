//! Nodes and links of a topology, and its size limits.

use crate::ids::{HostId, SwitchId};
use crate::units::{BitRate, Span};

/// Maximum number of hosts of a topology: 16 GiB of state at 4 KiB per host.
pub const MAX_HOSTS: u64 = 1 << 22;
/// Maximum number of switches of a topology.
pub const MAX_SWITCHES: u64 = 1 << 20;
/// Maximum number of links of a topology.
pub const MAX_LINKS: u64 = 1 << 24;
/// Maximum number of (switch, edge switch) pairs: a 1 GiB routing table at 4 bytes per pair.
pub const MAX_ROUTES: u64 = 1 << 28;

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A host: it has one link per plane and does not forward.
    Host(HostId),
    /// A switch: it forwards between its links.
    Switch(SwitchId),
}

impl Node {
    /// Returns the switch id, or `None` for a host.
    pub const fn switch(self) -> Option<SwitchId> {
        match self {
            Self::Host(_) => None,
            Self::Switch(switch) => Some(switch),
        }
    }

    /// Returns the host id, or `None` for a switch.
    pub const fn host(self) -> Option<HostId> {
        match self {
            Self::Host(host) => Some(host),
            Self::Switch(_) => None,
        }
    }
}

impl std::fmt::Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Host(host) => host.fmt(f),
            Self::Switch(switch) => switch.fmt(f),
        }
    }
}

/// A switch with its name and tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// Name in scenarios and results: `leaf3`, `pod1-edge0`, `core2`.
    pub name: String,
    /// Number of switch tiers between it and the hosts: 0 at the edge.
    pub tier: u8,
}

/// A full-duplex link. Port `2l` sends from `ends[0]` to `ends[1]`; port `2l + 1` sends back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The two connected nodes.
    pub ends: [Node; 2],
    /// Bit rate in each direction.
    pub rate: BitRate,
    /// One-way propagation delay: from the last bit sent to the last bit received.
    pub delay: Span,
}
