//! Load balancing: what a sender puts into a packet, and what a switch makes of it.
//!
//! Every scheme is a pair: a sender policy that picks an entropy value for each packet, and a
//! switch policy that picks one of the equal-cost ports; a [`Preset`] names the pair.

mod scheme;

pub use scheme::{Forwarding, Parameters, Preset, Scheme, SchemeError};
