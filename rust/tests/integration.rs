//! Tests of evenkeel from outside, as a library and as a command. They are one program, so that
//! there is one to link, and so that long tests share the cores.
//!
//! `EVENKEEL_LONG_TESTS=1` runs every case of every test, as `.ci/run` does. Without it the
//! longest tests run a part of their cases, and say which.

mod astra_sim;
mod bridge;
mod cli;
mod collectives;
mod congestion;
mod contributing;
mod divided;
mod examples;
mod fabric_properties;
mod fuzz;
mod generated;
#[path = "../benches/instructions/figures.rs"]
mod instruction_figures;
mod nic_properties;
mod ns3_tree;
#[path = "../benches/page.rs"]
mod page;
mod periods;
mod published;
mod queue_pairs;
mod rails;
mod recording;
mod reproduce;
mod speed_page;
mod support;
#[path = "../../examples/toy_world.rs"]
mod toy_world;
mod traces;
#[path = "../../examples/two_nics.rs"]
mod two_nics;
