//! Errors of building a topology.

use thiserror::Error;

use crate::units::{BitRate, Fraction};

/// Reason why a graph is invalid or a topology cannot be built from its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// The topology has no hosts.
    #[error("the topology has no hosts; expected at least 1")]
    NoHosts,
    /// A host has no link.
    #[error("{host} has no link; expected exactly 1")]
    HostWithoutLink {
        /// Name of the host.
        host: String,
    },
    /// A host has more than one link.
    #[error(
        "{host} has {links} links; expected exactly 1; model a machine with several ports as \
         several hosts"
    )]
    HostWithSeveralLinks {
        /// Name of the host.
        host: String,
        /// Number of its links.
        links: u32,
    },
    /// Hosts are wired to each other as a ring or a mesh.
    #[error(
        "{host} has {links} links and there is no switch: hosts do not forward, so {from} and \
         {to} cannot reach each other; connect each host to a switch with one link"
    )]
    HostsDoNotForward {
        /// A host with several links.
        host: String,
        /// Number of its links.
        links: u32,
        /// A host that cannot reach `to`; equal to `host`.
        from: String,
        /// The first host without a direct link to `from`.
        to: String,
    },
    /// There are more planes than bits in a port mask.
    #[error("planes = {planes} exceeds the limit of {limit}")]
    Planes {
        /// The given number.
        planes: u32,
        /// The maximum.
        limit: u32,
    },
    /// The number of leaves of a plane is not a multiple of the rails.
    #[error(
        "rails = {rails} and leaves = {leaves}: each GPU of a server needs a different leaf, so \
         leaves must be a multiple of rails"
    )]
    LeavesNotMultipleOfRails {
        /// Rails per server.
        rails: u32,
        /// Leaves per plane.
        leaves: u32,
    },
    /// A host does not have one link in each plane.
    #[error("{host} has {links} links; expected {planes}, one in each plane")]
    WrongLinkCount {
        /// Name of the host.
        host: String,
        /// Number of its links.
        links: u32,
        /// Number of planes.
        planes: u32,
    },
    /// Two planes share a switch, or a plane is not connected.
    #[error("{host}: its port in plane {plane} is not attached to that plane alone")]
    SharedPlane {
        /// Name of the host.
        host: String,
        /// The plane.
        plane: u32,
    },
    /// Planes attach the hosts to edge switches in different groups.
    #[error("{host} shares its edge switch with different hosts in plane {plane} and in plane 0")]
    PlanesDiffer {
        /// Name of the host.
        host: String,
        /// The plane.
        plane: u32,
    },
    /// A dragonfly has more groups than the global links of a group can reach.
    #[error(
        "groups = {groups} exceeds the limit of {most}: a group has global links to {} others; use \
         more global links, or more switches that have them",
        most - 1
    )]
    TooManyGroups {
        /// Number of groups.
        groups: u32,
        /// The maximum.
        most: u64,
    },
    /// The hosts cannot be divided into whole servers of a scale-up domain.
    #[error(
        "{hosts} hosts (one per GPU) cannot be divided into servers of {gpus} GPUs; expected at \
         least 2, and a divisor of {hosts}"
    )]
    FractionalServer {
        /// GPUs per server.
        gpus: u32,
        /// Number of hosts.
        hosts: u32,
    },
    /// A link ends at a node that does not exist.
    #[error("link {link} ends at {node}, but there are {hosts} hosts and {switches} switches")]
    UnknownEnd {
        /// Index of the link.
        link: usize,
        /// The node as printed.
        node: String,
        /// Number of hosts; host ids are below it.
        hosts: usize,
        /// Number of switches; switch ids are below it.
        switches: usize,
    },
    /// Both ends of a link are the same node.
    #[error("link {link} connects {node} to itself; its ends must differ")]
    LinkToItself {
        /// Index of the link.
        link: usize,
        /// Name of the node.
        node: String,
    },
    /// A link has a rate of zero.
    #[error("link {link} ({name}) has a rate of zero; write for example '400Gbps'")]
    RateZero {
        /// Index of the link.
        link: usize,
        /// Name of the link.
        name: String,
    },
    /// No path connects two hosts.
    #[error("{from} and {to} cannot reach each other: no path connects them")]
    Unreachable {
        /// Host 0, from which every other host must be reachable.
        from: String,
        /// The first host that it cannot reach.
        to: String,
    },
    /// Two nodes have the same name.
    #[error("two nodes are named '{name}'; names of hosts and switches must be unique")]
    DuplicateName {
        /// The duplicate name.
        name: String,
    },
    /// A size exceeds its limit.
    #[error("too many {what}: {count} (limit {limit})")]
    TooLarge {
        /// Counted items: hosts, switches, links, or pairs of switch and edge switch.
        what: &'static str,
        /// Number of items required.
        count: u128,
        /// The maximum.
        limit: u64,
    },
    /// A count or rate is zero.
    #[error("{field} = 0 is out of range; expected at least 1")]
    Zero {
        /// The parameter, as spelled in scenarios.
        field: &'static str,
    },
    /// The radix of a fat-tree is odd or too small.
    #[error("k = {k} is invalid; a fat-tree needs an even k of at least 2, for example {example}")]
    Radix {
        /// The given radix.
        k: u32,
        /// The nearest valid radix.
        example: u32,
    },
    /// The number of tiers is neither 2 nor 3.
    #[error("tiers = {tiers} is invalid; a fat-tree has 2 or 3 tiers")]
    Tiers {
        /// The given number.
        tiers: u8,
    },
    /// The oversubscription results in a fractional number of hosts per edge switch.
    #[error(
        "oversubscription = {given} with {uplinks} uplinks of {fabric_rate} requires {hosts} \
         hosts of {host_rate} on each edge switch, which is not a whole number; \
         '{suggestion}' requires {suggested_hosts}"
    )]
    FractionalHosts {
        /// The given oversubscription.
        given: Fraction,
        /// Uplinks of an edge switch.
        uplinks: u64,
        /// Rate of an uplink.
        fabric_rate: BitRate,
        /// Rate of a host's link.
        host_rate: BitRate,
        /// Hosts per edge switch, with two decimals.
        hosts: String,
        /// The oversubscription that gives the nearest whole number of hosts.
        suggestion: String,
        /// The nearest whole number of hosts.
        suggested_hosts: u64,
    },
}
