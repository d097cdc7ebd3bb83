//! A network backend for ASTRA-sim, whose system layer (C++) acts as the ranks of a run.
//!
//! `cpp-bridge/astra-sim/` implements ASTRA-sim's `AstraNetworkAPI` with the calls in [`contract`].
//! C++ opens a [`Network`](network::Network) from a scenario and runs it with an object that has
//! the handlers. Requests cross the language boundary as lists of plain numbers, one list per
//! handler call, and handlers cross it as tickets. [`evenkeel_engine::ranks`] decides when each is
//! called.
//!
//! This module does not know ASTRA-sim's types, and it does not need ns-3.

mod contract;
mod error;
mod network;
mod posted;
mod results;
