//! Tests of evenkeel from outside, as a library and as a command. One test program links only once
//! and lets long tests share the cores.
//!
//! `EVENKEEL_LONG_TESTS=1` runs every case of every test, like `.ci/full tests`. Without it, the
//! longest tests run only some of their cases and report which.

mod cli;
mod collectives;
mod congestion;
mod contributing;
mod effects;
mod examples;
mod fabric_properties;
#[cfg(not(packaged))]
mod fuzz;
mod generated;
#[path = "../benches/instructions/figures.rs"]
mod instruction_figures;
mod metamorphic;
mod nccl;
mod networks;
mod nic_properties;
mod ns3_tree;
#[path = "../benches/page.rs"]
mod page;
mod parallel;
mod periods;
mod published;
mod queue_pairs;
mod rails;
mod recording;
mod reported;
mod reproduce;
mod simulation;
mod speed_page;
mod support;
#[path = "../../examples/toy_world.rs"]
mod toy_world;
mod trace_faults;
mod traces;
mod traffic_classes;
mod trust;
#[path = "../../examples/two_nics.rs"]
mod two_nics;

// The simulation tester is also a root module of another test.
use support::extent;

#[cfg(packaged)]
#[test]
fn fuzz_targets_are_only_in_the_repository() {
    eprintln!("skipped: fuzz: rust/fuzz is a package of its own, which is not in this one");
}
