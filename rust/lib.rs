//! evenkeel: what each way of balancing load costs an AI-training network.
//!
//! Given a fabric, a collective and failures, it says how long each load-balancing scheme takes
//! to complete and what it costs in NIC state. This text is the architecture: what there is, in
//! which order to read it, and what each layer deliberately does not know.
//!
//! # A bird's-eye view
//!
//! A [`workload`] (perhaps made by a [`collective`]) is messages and what they wait for. At each
//! host a splitter ([`split`]) turns messages into flows, one queue pair each; the [`nic`] turns
//! flows into packets, asking a sender policy ([`balance::sender`]) for each packet's entropy
//! value; in each switch a switch policy ([`balance::switch`]) picks among the equal-cost ports
//! that the [`topology`] has. Those three are the product, and they are sans-IO: no clock, no
//! queue, no global random state. A world moves packets and time between them. [`fabric`] is the
//! world in pure Rust: an event per packet and hop, exact to the picosecond, the same bytes for
//! the same scenario and seed everywhere.
//!
//! # Reading order
//!
//! 1. Ground: [`units`] (times, bytes, rates), [`ids`], [`rng`] (a stream per purpose and id).
//! 2. [`packet`]: what is on the wire.
//! 3. [`balance`], [`split`], [`nic`], [`rail`]: the product. Start at [`nic::Nic`], whose
//!    documentation lists the verbs, then read one policy, say [`balance::sender::spray`],
//!    [`split::ethereal`], and [`rail::nezha`] with [`rail::handler`] for hosts with several rails.
//! 4. [`topology`], [`collective`], [`workload`]: what is wired and what is sent.
//! 5. [`endpoint`]: what hosts do with a workload in any world, from messages that wait for each
//!    other to queue pairs. [`fabric`]: `simulation` is the loop, `network` and `port` what a packet meets, `event` the
//!    calendar. [`bound`] has the closed forms that no run can beat.
//! 6. [`multirail`]: hosts with several rails, each a plane of its own under one clock, which
//!    [`rail`]'s allocator and exception handler work with.
//! 7. [`scenario`] (the TOML file, made sound) and [`hpcc`] (experiments of the HPCC family of
//!    ns-3 simulators from their own files).
//! 8. [`study`] and [`report`]; the command line is the binary's.
//!
//! # Who may use whom
//!
//! ```text
//! units ids rng  <-  packet  <-  nic balance split rail  <-  topology collective workload
//!   <-  endpoint  <-  bound fabric  <-  multirail  <-  scenario hpcc  <-  study report
//!   <-  cli (the binary)
//! ```
//!
//! A test reads the sources and holds them to it. Beside them stands the bridge to C++ (`bridge`,
//! with the features `bridge` and `ns3`): nobody uses it, and it sees all but `study` and `cli`.
//!
//! # What each layer does not know
//!
//! - A sender policy sees no queue and no other host; a switch policy sees no sender and no other
//!   switch; a splitter sees no packet. Cheating does not compile.
//! - An allocator of rails sees sizes and durations, an exception handler numbers of chunks and
//!   messages; neither sees data, a link or the other.
//! - The NIC knows no topology and no world: the fabric here, ns-3 or a test drives it alike.
//! - The fabric's loop knows nothing of RDMA, ECN or a policy: it pops, sets the time, matches.
//! - Nothing learns of a failure but by a timer, an acknowledgement or a routing update.
//! - Reports never simulate, and a run never draws.

#![cfg_attr(
    not(feature = "fabric"),
    allow(dead_code, reason = "what only the fabric and the layers above it use is in the crate")
)]

pub mod balance;
#[cfg(feature = "fabric")]
pub mod bound;
#[cfg(feature = "bridge")]
mod bridge;
pub mod collective;
pub mod endpoint;
#[cfg(feature = "fabric")]
pub mod fabric;
#[cfg(feature = "fabric")]
pub mod hpcc;
pub mod ids;
#[cfg(feature = "fabric")]
pub mod multirail;
pub mod nic;
pub mod packet;
pub mod rail;
#[cfg(feature = "fabric")]
pub mod report;
pub mod rng;
#[cfg(feature = "fabric")]
pub mod scenario;
pub mod split;
#[cfg(feature = "fabric")]
pub mod study;
pub mod topology;
pub mod units;
pub mod workload;

#[cfg(feature = "ns3")]
pub use bridge::ns3;
