//! Why there is no topology: each fault with its place, its value and what would be right.

use thiserror::Error;

use crate::units::{BitRate, Fraction};

/// Why a graph is no fabric, or a shape cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// Nobody to send anything.
    #[error("there are no hosts: a fabric needs at least one")]
    NoHosts,
    /// A host without a link.
    #[error("{host} has no link: every host needs exactly one")]
    HostWithoutLink {
        /// Its name.
        host: String,
    },
    /// A host with more than one link.
    #[error(
        "{host} has {links} links: every host needs exactly one; write a machine with several \
         ports as several hosts"
    )]
    HostWithSeveralLinks {
        /// Its name.
        host: String,
        /// How many it has.
        links: u32,
    },
    /// Hosts wired to each other as a ring or a mesh.
    #[error(
        "{host} has {links} links and there is no switch: hosts do not forward, so {from} and \
         {to} cannot reach each other; connect each host to a switch by one link"
    )]
    HostsDoNotForward {
        /// A host with several links.
        host: String,
        /// How many it has.
        links: u32,
        /// A host.
        from: String,
        /// The first host that has no direct link to `from`.
        to: String,
    },
    /// A link to a node that does not exist.
    #[error("link {link} ends at {node}, but there are {hosts} hosts and {switches} switches")]
    NoSuchEnd {
        /// Its place in the list of links, from 0.
        link: usize,
        /// The end, as its id prints.
        node: String,
        /// Hosts that exist, from 0.
        hosts: usize,
        /// Switches that exist, from 0.
        switches: usize,
    },
    /// A link with both ends at one node.
    #[error("link {link} connects {node} with itself: the ends of a link must differ")]
    LinkToItself {
        /// Its place in the list of links, from 0.
        link: usize,
        /// The node.
        node: String,
    },
    /// A link that carries nothing.
    #[error("link {link} ({name}) has a rate of zero; give it for example '400Gbps'")]
    RateZero {
        /// Its place in the list of links, from 0.
        link: usize,
        /// Its name.
        name: String,
    },
    /// Two hosts without a way between them.
    #[error("{from} and {to} cannot reach each other: no path of links and switches joins them")]
    Unreachable {
        /// A host.
        from: String,
        /// The first host that it cannot reach.
        to: String,
    },
    /// A name that two nodes have.
    #[error("two nodes are called '{name}': each host and switch needs a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// More than any machine holds.
    #[error("{count} {what} are too many: this version holds up to {limit}")]
    TooLarge {
        /// What there would be too much of.
        what: &'static str,
        /// How many there would be.
        count: u128,
        /// How many there may be.
        limit: u64,
    },
    /// A count or rate that must not be zero.
    #[error("{field} = 0 builds nothing: it must be at least 1")]
    Zero {
        /// The parameter, as scenarios spell it.
        field: &'static str,
    },
    /// An odd or too small switch radix.
    #[error("k = {k}: a fat-tree needs an even k of at least 2, for example {example}")]
    Radix {
        /// What was given.
        k: u32,
        /// The nearest k that would be right.
        example: u32,
    },
    /// A number of tiers that fat-trees do not have here.
    #[error("tiers = {tiers}: a fat-tree has 2 or 3 tiers")]
    Tiers {
        /// What was given.
        tiers: u8,
    },
    /// An oversubscription that asks for a part of a host.
    #[error(
        "oversubscription = {given} with {uplinks} uplinks of {fabric_rate} asks for {hosts} \
         hosts of {host_rate} on each edge switch, which is no whole number; \
         '{suggestion}' would give {suggested_hosts}"
    )]
    PartOfAHost {
        /// What was given.
        given: Fraction,
        /// Uplinks of an edge switch.
        uplinks: u64,
        /// Their rate.
        fabric_rate: BitRate,
        /// The rate of a host's link.
        host_rate: BitRate,
        /// How many hosts that makes, to two decimals.
        hosts: String,
        /// The oversubscription that gives the nearest whole number.
        suggestion: String,
        /// That number.
        suggested_hosts: u64,
    },
}
