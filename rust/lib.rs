//! evenkeel simulates load balancing in AI-training networks, packet by packet or, for the largest,
//! by flows.
//!
//! Given a fabric, a workload and failures, it computes how long each load-balancing scheme takes
//! to complete, and what it costs in NIC state. This text has the order in which to read
//! the modules. `docs/architecture.md` draws the crates, and says what each part does not see.
//!
//! # Overview
//!
//! A [`workload`] (perhaps generated from a [`collective`] or a [`training`] iteration) is a set of
//! messages and their dependencies. At each host a splitter ([`split`]) divides messages into
//! flows, each on a queue pair. The [`nic`] divides flows into packets and asks a sender policy
//! ([`balance::sender`]) for the entropy value of each packet. In each switch a switch policy
//! ([`balance::switch`]) chooses among the equal-cost ports of the [`topology`]. These three are
//! the product, and they are sans-IO: they have no clock, no event queue and no global random
//! state.
//!
//! Two layers put them together, for any world. [`endpoint`] is all hosts: dependencies between
//! messages, splitters, NICs, and the ledger of what completed. [`switching`] is all switches:
//! forwarding tables, policies, marking, admission, priority flow control (PFC), and what failures
//! do to links and routes. A world owns one of each, and moves packets and time between them.
//! [`fabric`] is the world in pure Rust: one event for each packet and hop, exact to the
//! picosecond, with the same bytes for the same scenario and seed on every machine. The ns-3 module
//! is another world, and `examples/toy_world.rs` a third, in a hundred lines. [`fluid`] is a world
//! without packets: flows with max-min fair rates, for 100,000 hosts.
//!
//! # Reading order
//!
//! 1. Ground: [`units`] (times, bytes, rates), [`ids`], [`rng`] (a stream for each purpose and id);
//!    `prefetch` brings memory near, `sharing` has max-min fair rates and turns at a wire.
//! 2. [`packet`]: the fields of a packet.
//! 3. [`balance`], [`split`], [`nic`], [`rail`]: the product. Start at [`nic::Nic`], whose
//!    documentation lists the verbs; then read one policy of each kind, such as
//!    [`balance::sender::spray`] and [`split::ethereal`], and [`rail::nezha`] with
//!    [`rail::handler`] for hosts with several rails.
//! 4. [`topology`], [`workload`]: the wiring, and the graph of messages. [`collective`],
//!    [`training`] and [`pattern`] generate such graphs.
//! 5. [`endpoint`]: the work of hosts in any world, from messages with dependencies to queue pairs.
//!    [`switching`]: the work of switches in any world.
//! 6. [`fabric`]: `driver` has the one loop, `world` hosts and network under one clock, `network`
//!    the path of a packet, `event` the event queue, `divided` one run on several threads.
//!    [`bound`] has the closed forms of the lower bound. [`fluid`] carries the same flows whole:
//!    `ways` has their paths.
//! 7. [`multirail`]: hosts with several rails, each a network of its own under one clock, driven by
//!    [`rail`]'s allocators and exception handlers. [`ranks`]: sends and receives of another
//!    program, such as ASTRA-sim. [`record`] and [`timeline`]: time series of a run, and its course
//!    as a Perfetto trace, written while it proceeds. [`invariants`]: a second account of every
//!    packet, which must agree with the first.
//! 8. [`chakra`], [`goal`], [`simccl`], [`connection_matrix`], [`infragraph`] and [`hpcc`] (files
//!    of other simulators), and [`scenario`] (TOML files, resolved and validated).
//! 9. [`study`] (runs and sets of runs) and [`report`] (their results); the command line is in the
//!    binary.
//! 10. [`results`] reads back what reports wrote, [`plot`] draws figures of it, and
//!     [`page`] is the HTML page of a report.
//!
//! # Features
//!
//! `fabric` has the worlds in Rust and all that is built on them: [`fabric`], [`bound`], [`fluid`],
//! [`multirail`], [`ranks`], [`record`], [`timeline`], [`invariants`], [`chakra`] and the other
//! formats, [`scenario`], [`study`], [`report`] and [`results`]. `plot` adds [`plot`] and [`page`],
//! and `png` their second format. Without it the library is the layers below, for a world of your
//! own. `cli` is the program; both are on by default. `bridge`, `astra-sim` and `ns3` are the
//! contracts with C++. The Python module is a crate above this one (`rust/python`). A crate that
//! uses the library needs no command line:
//!
//! ```toml
//! evenkeel = { path = "../evenkeel", default-features = false, features = ["fabric"] }
//! ```

#[cfg(feature = "plot")]
pub use evenkeel_draw::{page, plot};
pub use evenkeel_engine::{
    balance, endpoint, ids, nic, packet, rng, split, switching, topology, units, values, workload,
};
#[cfg(feature = "fabric")]
pub use evenkeel_engine::{fabric, ranks};
#[cfg(feature = "fabric")]
pub use evenkeel_formats::{
    chakra, connection_matrix, goal, hpcc, infragraph, normal_form, simccl, text_file,
};
#[cfg(feature = "fabric")]
pub use evenkeel_observe::{invariants, record, timeline};
#[cfg(feature = "fabric")]
pub use evenkeel_scenario as scenario;
#[cfg(feature = "fabric")]
pub use evenkeel_study as study;
#[cfg(feature = "fabric")]
pub use evenkeel_study::{report, results};
pub use evenkeel_traffic::{collective, pattern, training};
pub use evenkeel_worlds::rail;
#[cfg(feature = "fabric")]
pub use evenkeel_worlds::{bound, fluid, multirail};

#[cfg(any(feature = "bridge", feature = "astra-sim"))]
mod bridge;
#[cfg(test)]
#[path = "tests/support/extent.rs"]
mod extent;
#[cfg(feature = "fabric")]
pub mod studies;

#[cfg(feature = "ns3")]
pub use bridge::ns3;
