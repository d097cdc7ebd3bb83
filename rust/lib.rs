//! evenkeel simulates load balancing in AI-training networks: packet by packet, or by flows for the
//! largest fabrics.
//!
//! Given a fabric, a workload and failures, it computes how long each load-balancing scheme takes
//! to complete, and its cost in NIC state. This page gives the order in which to read the modules.
//! `docs/architecture.md` draws the crates, and says what each of them does not depend on.
//!
//! For researchers and engineers who simulate from Rust; the program `evenkeel` does the same from
//! files. A run:
//!
//! ```
//! # #[cfg(feature = "fabric")]
//! # fn main() -> Result<(), evenkeel::scenario::ScenarioError> {
//! use std::path::Path;
//!
//! use evenkeel::fabric::{self, Verdict};
//! use evenkeel::scenario::{Overrides, Scenario};
//!
//! let text = "[topology]
//! kind = 'leaf-spine'
//! leaves = 4
//! spines = 4
//! hosts_per_leaf = 4
//! [policy]
//! name = 'ethereal'
//! [workload]
//! kind = 'all-to-all'
//! bytes = '1MB'";
//! let scenario = Scenario::parse(text, "small", Path::new("."), &Overrides::default())?;
//! let outcome = fabric::run(&scenario.setup(), &mut |_| {});
//! assert_eq!(outcome.verdict, Verdict::Completed);
//! assert_eq!(outcome.message_fct.len(), 16 * 15);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "fabric"))]
//! # fn main() {}
//! ```
//!
//! # Overview
//!
//! A [`workload`] is a set of messages and their dependencies, perhaps generated from a
//! [`collective`] or a [`training`] iteration. At each host a splitter ([`split`]) divides messages
//! into flows, each on a queue pair. The [`nic`] divides flows into packets and asks a sender
//! policy ([`balance::sender`]) for the entropy value of each packet. In each switch a switch
//! policy ([`balance::switch`]) chooses among the equal-cost ports of the [`topology`]. These three
//! are the product, and they are sans-IO: they have no clock, no event queue and no global random
//! state.
//!
//! Two layers connect them, independent of the driver. [`endpoint`] is all hosts: dependencies
//! between messages, splitters, NICs, and the ledger of completed messages. [`switching`] is all
//! switches: forwarding tables, policies, marking, admission, priority flow control (PFC), and the
//! effect of failures on links and routes. A driver owns one of each, and moves packets and time
//! between them.
//!
//! There are several drivers. [`fabric`] is the one in pure Rust: one event for each packet and
//! hop, exact to the picosecond, and byte-identical for the same scenario and seed on every
//! machine. The ns-3 module is another, and `examples/toy_world.rs` a third in a hundred lines.
//! [`fluid`] has no packets: flows get max-min fair rates, for 100,000 hosts.
//!
//! # Reading order
//!
//! 1. Foundations: [`units`] (times, bytes, rates), [`ids`], [`rng`] (a stream for each purpose and
//!    id); `prefetch` loads cache lines early, `sharing` has max-min fair rates and round-robin
//!    scheduling of a wire.
//! 2. [`packet`]: the fields of a packet.
//! 3. [`balance`], [`split`], [`nic`], [`rail`]: the product. Start at [`nic::Nic`], whose
//!    documentation lists the verbs. Then read one policy of each kind, such as
//!    [`balance::sender::spray`] and [`split::ethereal`], and [`rail::nezha`] with
//!    [`rail::handler`] for hosts with several rails.
//! 4. [`topology`], [`workload`]: the wiring, and the graph of messages. [`collective`],
//!    [`training`] and [`pattern`] generate such graphs.
//! 5. [`endpoint`]: hosts under any driver, from messages with dependencies to queue pairs.
//!    [`switching`]: switches under any driver.
//! 6. [`fabric`]: `driver` has the main loop, `world` hosts and network under one clock, `network`
//!    the path of a packet, `event` the event queue, `parallel` one run on several threads.
//!    [`bound`] has the closed forms of the lower bound. [`fluid`] carries whole flows:
//!    `paths` finds their paths.
//! 7. [`multirail`]: hosts with several rails, each a separate network under one clock, driven by
//!    [`rail`]'s allocators and exception handlers. [`ranks`]: sends and receives of another
//!    program, such as ASTRA-sim. [`record`] and [`timeline`]: time series of a run, and a Perfetto
//!    trace of it, written while it proceeds. [`invariants`]: an independent model of every packet,
//!    which must agree with the run.
//! 8. [`chakra`], [`goal`], [`simccl`], [`connection_matrix`], [`infragraph`] and [`hpcc`] (files
//!    of other simulators), and [`scenario`] (TOML files, resolved and validated).
//! 9. [`study`] (runs and sets of runs) and [`report`] (their results); the command line is in the
//!    binary.
//! 10. [`results`] reads back the files of reports, [`plot`] draws figures of them, and [`page`] is
//!     the HTML page of a report.
//!
//! # Features
//!
//! `fabric` contains the drivers in Rust and everything built on them: [`fabric`], [`bound`],
//! [`fluid`], [`multirail`], [`ranks`], [`record`], [`timeline`], [`invariants`], [`chakra`] and
//! the other formats, [`scenario`], [`study`], [`report`] and [`results`]. Without it the library
//! is the layers below, for your own driver. `plot` adds [`plot`] and [`page`], and `png` figures
//! as PNG. `cli` is the program; it is on by default, and enables `fabric` and `plot`. Two crates
//! are above this one: the Python module (`rust/python`) and the contracts with C++
//! (`rust/bridge`). A crate that uses the library does not need the command line:
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
pub use evenkeel_traffic::{collective, nccl, pattern, training};
pub use evenkeel_worlds::rail;
#[cfg(feature = "fabric")]
pub use evenkeel_worlds::{bound, fluid, multirail};

#[cfg(feature = "fabric")]
pub mod studies;
