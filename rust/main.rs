//! The evenkeel command-line program.

use std::process::ExitCode;

use evenkeel::studies::BUILT_IN;
use evenkeel_cli::Program;

fn main() -> ExitCode {
    #[cfg(feature = "ns3")]
    let ns3: Option<evenkeel_cli::OtherWorld> = Some(|setup| Ok(evenkeel::ns3::run(setup)?));
    #[cfg(not(feature = "ns3"))]
    let ns3 = None;
    evenkeel_cli::main(&Program { studies: BUILT_IN, ns3 })
}
