//! The command line of evenkeel.

mod allocator;
mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::keep_freed_memory();
    cli::main()
}
