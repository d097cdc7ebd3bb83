//! Models other than the packet fabric: lower bounds, runs without packets, and hosts with several
//! rails.
//!
//! For users who need an answer without a packet simulation, and for authors of rail allocators.
//! [`rail`] needs no features; the others need `fabric`. A lower bound:
//!
//! ```
//! # #[cfg(feature = "fabric")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use evenkeel_engine::ids::HostId;
//! use evenkeel_engine::topology::LeafSpine;
//! use evenkeel_engine::units::{BitRate, Bytes, Span};
//! use evenkeel_engine::workload::{Message, Workload};
//! use evenkeel_worlds::bound::{Cuts, Wire, bound};
//!
//! let rate = BitRate::from_gbps(400);
//! let fabric = LeafSpine {
//!     leaves: 2,
//!     spines: 2,
//!     hosts_per_leaf: 2,
//!     host_rate: rate,
//!     fabric_rate: rate,
//!     delay: Span::from_ns(500),
//!     parallel_links: 1,
//! }
//! .build()?;
//! let wire = Wire {
//!     payload: Bytes::new(4_096),
//!     header: Bytes::new(62),
//!     ack: Bytes::new(64),
//!     ack_every: 1,
//!     ack_priority: true,
//!     gap: Bytes::ZERO,
//!     forwarding_delay: Span::ZERO,
//!     cuts: Cuts::Never,
//!     takes_detours: false,
//! };
//! // Two senders of 1 MB share the port of host 3.
//! let send = |host| {
//!     Message::starting_at_zero(host, HostId(host), HostId(3), Bytes::new(1_000_000))
//! };
//! let workload = Workload::independent(vec![send(0), send(1)]);
//! let bound = bound(&fabric, fabric.routes(), &workload, &wire);
//! assert_eq!(bound.binding, "host NIC");
//! assert!(bound.time > rate.time_for(Bytes::new(2_000_000)));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "fabric"))]
//! # fn main() {}
//! ```
//!
//! The crate `evenkeel` re-exports this one and describes the architecture.

use evenkeel_engine::{balance, ids, units};
#[cfg(feature = "fabric")]
use evenkeel_engine::{endpoint, fabric, nic, packet, rng, sharing, switching, topology, workload};

#[cfg(feature = "fabric")]
pub mod bound;
#[cfg(all(test, feature = "fabric"))]
#[path = "../tests/support/extent.rs"]
mod extent;
#[cfg(feature = "fabric")]
pub mod fluid;
#[cfg(feature = "fabric")]
pub mod multirail;
pub mod rail;
