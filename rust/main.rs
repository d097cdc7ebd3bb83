//! The evenkeel command-line program.

use std::process::ExitCode;

use evenkeel::studies::BUILT_IN;
use evenkeel_cli::Program;

fn main() -> ExitCode {
    // The program of `rust/bridge` has ns-3.
    evenkeel_cli::main(&Program { studies: BUILT_IN, ns3: None })
}
