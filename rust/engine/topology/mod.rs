//! The network graph: hosts, switches, links, their names, and equal-cost next hops.
//!
//! A topology does not depend on packets. Every host has exactly one port, or one port per plane
//! ([`Planes`]). A machine with several rails is several hosts. Hosts do not forward. Servers may
//! also connect their hosts by a separate network ([`ScaleUp`]).

mod capacity;
mod check;
mod direct;
mod dragonfly;
mod dual_tor;
mod error;
mod fat_tree;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod fixtures;
mod graph;
mod intact_routes;
mod leaf_spine;
mod link_state;
mod multi_plane;
mod names;
mod naming;
mod node;
mod oversubscription;
mod planes;
mod pods;
mod rail_only;
mod rail_optimized;
mod routes;
mod scale_up;
mod torus;

pub(crate) use capacity::path_shares;
pub use capacity::{Capacities, Shares};
pub use direct::Direct;
pub use dragonfly::{Dragonfly, Group};
pub use dual_tor::DualTor;
pub use error::TopologyError;
pub use fat_tree::FatTree;
pub use graph::Topology;
pub use leaf_spine::LeafSpine;
pub use link_state::{KnownFailures, LinkState};
pub use multi_plane::MultiPlane;
pub use names::nearest;
pub use node::{Link, MAX_HOSTS, MAX_LINKS, MAX_ROUTES, MAX_SWITCHES, Node, Switch};
pub use planes::Planes;
pub use rail_only::RailOnly;
pub use rail_optimized::RailOptimized;
pub use routes::Routes;
pub(crate) use routes::{CandidateGroup, Lookup};
pub use scale_up::{CrossRail, HostPath, ScaleUp};
pub use torus::Torus;
