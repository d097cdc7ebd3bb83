//! The command line of evenkeel.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
