//! The network of ASTRA-sim: its system layer, in C++, is the ranks of a run.
//!
//! `cpp-bridge/astra-sim/` implements ASTRA-sim's `AstraNetworkAPI` with what [`contract`]
//! declares: C++ opens a [`Network`](network::Network) from a scenario and runs it with an object
//! that has the handlers. What ranks ask for crosses the language border as lists of plain numbers,
//! once for each handler that is called, and handlers as tickets; [`crate::ranks`] decides what is
//! called when.
//!
//! It does not know ASTRA-sim's types, and neither needs nor includes ns-3.

mod contract;
mod error;
mod network;
mod posted;
mod results;
