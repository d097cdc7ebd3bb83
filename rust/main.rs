//! The command line of evenkeel: arguments in, one object or one table out.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
