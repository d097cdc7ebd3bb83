//! Experiments for external simulators, which have their own links, queues and events.
//!
//! An [`Experiment`] describes hosts, switches, links, their settings and their failures. Its
//! [`Core`](core::Core) has every NIC and every switch policy. The simulator asks it which packet a
//! host sends next and which port a packet takes, and itself moves packets and time. Decisions and
//! random draws are exactly those of the fabric in Rust, so two simulators can be compared to the
//! picosecond.
//!
//! Times are picoseconds; the largest 64-bit number is a time that never comes. Hosts, switches and
//! links have ids from 0. Port `2l` sends from the first end of link `l` to the second, and port
//! `2l + 1` in the other direction. The ports of a switch are indexed in the order of its links.
//!
//! [`enumerations`] and [`records`] declare the types that cross the language boundary, and
//! [`contract`] the calls.

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
mod queues;
mod records;
mod verbs;

#[cfg(test)]
mod tests;

#[cfg(feature = "ns3")]
pub(super) use experiment::{Experiment, expect_supported_by_ns3};
