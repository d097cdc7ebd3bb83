//! `[topology]` of fabrics without a common top tier: rail-only, torus, dragonfly.

use crate::input::section::section;
use crate::units::{BitRate, Span};

section! {
    /// `kind = "dual-tor"`: each host has two links of `host_rate`, one to each ToR of a pair.
    pub struct DualTorSection {
        /// Pairs of ToR switches.
        pairs: u32 = 16,
        /// Spine switches, each with links to every ToR.
        spines: u32 = 16,
        /// Hosts of each pair.
        hosts_per_pair: u32 = 16,
        /// GPUs of a server, each at a pair of its own; 1 if hosts follow each other at a pair.
        rails: u32 = 1,
    }
}

section! {
    /// `kind = "rail-only"`: needs `scale_up`, which joins the rails in each server.
    pub struct RailOnlySection {
        /// GPUs of a server, each on a rail of its own.
        rails: u32 = 8,
        /// Servers whose GPUs share leaves.
        servers: u32 = 32,
        /// Groups of such servers.
        units: u32 = 1,
        /// Spine switches of each rail; without effect with one unit.
        spines: u32 = 8,
    }
}

section! {
    /// `kind = "torus"`.
    pub struct TorusSection {
        /// Switches in the first dimension.
        x: u32 = 8,
        /// Switches in the second dimension.
        y: u32 = 8,
        /// Switches in the third dimension; 1 for a torus of two.
        z: u32 = 1,
        /// Hosts of each switch.
        hosts_per_switch: u32 = 1,
    }
}

section! {
    /// `kind = "dragonfly"`; the defaults are its balance of 2 global links (a = 2p = 2h).
    pub struct DragonflySection {
        /// Routers of a group (a), which are all wired to each other.
        routers: u32 = 4,
        /// Hosts of each router (p).
        hosts_per_router: u32 = 2,
        /// Links of each router to other groups (h).
        global_links: u32 = 2,
        /// Groups, at most `routers · global_links + 1`.
        groups: u32 = 9,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(400),
        /// Rate of links between routers.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way propagation delay of hosts' links and of links in a group.
        delay: Span = Span::from_ns(500),
        /// One-way propagation delay of links between groups.
        global_delay: Span = Span::from_ns(500),
    }
}

section! {
    /// `kind = "dragonfly-plus"`: each group is a leaf-spine whose spines have the global links.
    pub struct DragonflyPlusSection {
        /// Leaf switches of a group.
        leaves: u32 = 4,
        /// Spine switches of a group.
        spines: u32 = 4,
        /// Hosts at each leaf.
        hosts_per_leaf: u32 = 4,
        /// Links of each spine to other groups.
        global_links: u32 = 4,
        /// Groups, at most `spines · global_links + 1`.
        groups: u32 = 9,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(400),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way propagation delay of hosts' links and of links in a group.
        delay: Span = Span::from_ns(500),
        /// One-way propagation delay of links between groups.
        global_delay: Span = Span::from_ns(500),
    }
}
