//! The contract with C++: all that another world's program can ask of evenkeel, and no more.
//!
//! The public C++ face is `cpp-bridge/`; what is declared here is wrapped there, so that nobody
//! but its glue sees `cxx`. Constructors can fail, and an error becomes a C++ exception with its
//! text; calls on the packet path cannot. One file is one contract of its own: [`chooser`] the
//! policies of switches, [`world`] whole experiments. None of them knows ns-3; with the `ns3`
//! feature, `ns3` is the other way round, and what Rust asks of it.

mod chooser;
#[cfg(feature = "ns3")]
pub mod ns3;
mod world;
