//! Experiments for worlds whose links, queues and events are their own.
//!
//! An [`Experiment`] describes hosts, switches, links, their settings and their failures. Its
//! [`Core`](core::Core) holds every NIC and every policy of a switch: a world asks it who sends
//! what next and where a packet goes, and moves packets and time itself. Both draw and decide
//! exactly as they do in the fabric in Rust, so that two worlds can be compared to the picosecond.
//!
//! Times are picoseconds, and the largest 64-bit number is a time that never comes. Hosts,
//! switches and links have ids from 0; port `2l` sends from the first end of link `l` to the
//! second, port `2l + 1` back. The ports of a switch are indexed in order of its links.
//!
//! [`enumerations`] and [`records`] declare what crosses the language border, and [`contract`] the
//! calls.

mod classes;
pub(super) mod contract;
mod convert;
mod core;
mod enumerations;
mod experiment;
mod facts;
mod failing;
mod graph;
mod mismatch;
mod nics;
mod panic_guard;
mod recording;
mod records;
mod verbs;

#[cfg(test)]
mod tests;

#[cfg(feature = "ns3")]
pub(super) use experiment::{Experiment, expect_both_worlds};
