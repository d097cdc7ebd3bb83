//! The graph of the network: hosts, switches, links, their names, and the equal-cost next hops.
//!
//! A topology does not depend on packets. Every host has exactly one port (a machine with several
//! rails is several hosts here); hosts do not forward.

mod capacity;
mod check;
mod error;
mod fat_tree;
#[cfg(test)]
pub(crate) mod fixtures;
mod graph;
pub mod hpcc;
mod hpcc_error;
mod leaf_spine;
mod link_state;
mod names;
mod node;
mod pods;
mod rail_optimized;
mod routes;
mod spelling;

pub(crate) use capacity::path_shares;
pub use capacity::{Capacities, Shares};
pub use error::TopologyError;
pub use fat_tree::FatTree;
pub use graph::Topology;
pub use hpcc::HpccTopology;
pub use hpcc_error::{HpccTopologyError, HpccTopologyFault};
pub use leaf_spine::LeafSpine;
pub use link_state::{FailuresKnown, LinkState};
pub use names::nearest;
pub use node::{Link, MAX_HOSTS, MAX_LINKS, MAX_ROUTES, MAX_SWITCHES, Node, Switch};
pub use rail_optimized::RailOptimized;
pub(crate) use routes::Lookup;
pub use routes::Routes;
