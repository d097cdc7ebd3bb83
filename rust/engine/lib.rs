//! The engine of evenkeel in pure Rust: NICs, policies, switches, the fabric, and its messages.
//!
//! For authors of policies, transports and drivers. A driver moves packets and time between NICs
//! and switches. [`fabric`] is the one in this crate, with the feature `fabric`; ns-3 and your own
//! simulator may be others:
//!
//! ```
//! use std::sync::Arc;
//!
//! use evenkeel_engine::ids::HostId;
//! use evenkeel_engine::nic::verbs::{Operation, WorkRequest};
//! use evenkeel_engine::nic::{Nic, NicConfig, PortFacts, QpAttributes, QpState};
//! use evenkeel_engine::units::{BitRate, Bytes, Span, Time};
//!
//! let port = PortFacts { line_rate: BitRate::from_gbps(400), base_rtt: Span::from_us(2) };
//! let config = Arc::new(NicConfig::default());
//! let [mut a, mut b] = [0, 1].map(|host| Nic::new(HostId(host), port, config.clone()));
//! let at_a = a.create_qp(QpAttributes::single_path(HostId(0), HostId(1)))?;
//! let at_b = b.create_qp(QpAttributes::single_path(HostId(1), HostId(0)))?;
//! for (nic, qp, peer_qp) in [(&mut a, at_a, at_b), (&mut b, at_b, at_a)] {
//!     nic.modify_qp(qp, QpState::Init)?;
//!     nic.connect(qp, peer_qp);
//! }
//!
//! // A message of one byte is one packet, and the other NIC acknowledges it.
//! let (operation, bytes) = (Operation::Write, Bytes::new(1));
//! a.post_send(at_a, WorkRequest { id: 1, operation, bytes, path: 0 })?;
//! let now = Time::ZERO;
//! let packet = a.poll_transmit(now).expect("the window permits a packet");
//! b.handle_packet(now, &packet);
//! let ack = b.poll_transmit(now).expect("the packet is acknowledged");
//! a.handle_packet(now, &ack);
//! assert_eq!(a.poll_completion().map(|completion| completion.id), Some(1));
//! # Ok::<(), evenkeel_engine::nic::verbs::VerbsError>(())
//! ```
//!
//! The crate `evenkeel` re-exports this one and describes the architecture. `prefetch` and
//! `sharing` are public only for the crates above.

#![cfg_attr(
    not(feature = "fabric"),
    allow(dead_code, reason = "used only by the fabric and the layers above it")
)]

pub mod balance;
pub mod endpoint;
#[cfg(test)]
#[path = "../tests/support/extent.rs"]
mod extent;
#[cfg(feature = "fabric")]
pub mod fabric;
pub mod ids;
pub mod nic;
pub mod packet;
#[doc(hidden)]
pub mod prefetch;
#[cfg(feature = "fabric")]
pub mod ranks;
pub mod rng;
#[doc(hidden)]
pub mod sharing;
pub mod split;
pub mod switching;
pub mod topology;
pub mod units;
pub mod values;
pub mod workload;
