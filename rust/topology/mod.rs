//! Who is wired to whom: hosts, switches, links, their names, and the equal-cost next hops.
//!
//! A topology knows no packets. Every host has exactly one port (a machine with several rails is
//! several hosts here); hosts do not forward.

mod graph;

pub use graph::{Link, Node, Switch, Topology, TopologyError};
