//! The contract with C++: everything that a program in C++ can ask of evenkeel.
//!
//! `cpp-bridge/` and `ns3-module/` wrap what is declared here, so that only their glue sees `cxx`.
//! Constructors can fail, and an error becomes a C++ exception with its text, as does a panic in a
//! call that can fail; calls on the packet path cannot fail, and a panic in one ends the process.
//! With the `bridge` feature there are two contracts: `chooser` has the policies of single
//! switches, and `world` has whole experiments. With the `ns3` feature, `ns3` has the calls in the
//! other direction: what Rust asks of ns-3. With the `astra-sim` feature, `astra_sim` is the
//! network of ASTRA-sim, which needs none of the others.

#[cfg(feature = "astra-sim")]
mod astra_sim;
#[cfg(feature = "bridge")]
mod chooser;
#[cfg(feature = "ns3")]
pub mod ns3;
mod panic_guard;
#[cfg(feature = "bridge")]
mod world;
