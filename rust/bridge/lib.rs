//! The contracts with C++: every call that a C++ program can make.
//!
//! For the C++ of this project. Rust code uses only `ns3`, as the program `evenkeel-ns3` does.
//! `cpp-bridge/` and `ns3-module/` wrap these declarations, so that only their glue sees `cxx`.
//! Constructors can fail. An error, or a panic in a call that can fail, becomes a C++ exception
//! with its text. Calls on the packet path cannot fail; a panic in one ends the process.
//!
//! The `chooser` feature has the contract `chooser` for policies of single switches. The `bridge`
//! feature adds `world` for whole experiments, and the `ns3` feature `ns3`, the calls from Rust
//! into ns-3. The `astra-sim` feature adds `astra_sim`, the network of ASTRA-sim, which needs none
//! of the others.

#[cfg(feature = "astra-sim")]
mod astra_sim;
#[cfg(feature = "chooser")]
mod chooser;
#[cfg(feature = "ns3")]
pub mod ns3;
#[cfg(any(feature = "chooser", feature = "astra-sim"))]
mod panic_guard;
#[cfg(feature = "bridge")]
mod world;
