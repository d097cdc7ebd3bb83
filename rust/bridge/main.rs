//! The evenkeel program with ns-3: its `twin` runs a scenario in both worlds.

use std::process::ExitCode;

use evenkeel::studies::BUILT_IN;
use evenkeel_bridge::ns3;
use evenkeel_cli::Program;

fn main() -> ExitCode {
    evenkeel_cli::main(&Program { studies: BUILT_IN, ns3: Some(|setup| Ok(ns3::run(setup)?)) })
}
