//! The command line of evenkeel.

mod cli;

use std::process::ExitCode;

/// A run touches memory all over the place: with pages of 4 KiB each access to it also looks up
/// where its page is. This allocator asks Linux for pages of 2 MiB.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
