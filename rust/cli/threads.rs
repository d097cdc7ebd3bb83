//! The number of threads of a single run.

use clap::Args;
use evenkeel_study::Session;

use super::output;

// Number of threads for a single run.
#[derive(Debug, Args)]
pub(super) struct ThreadsArgument {
    /// Simulate the run on this many threads, at most 256; each needs memory for the whole fabric,
    /// and results do not depend on it [default: 1 for runs of fewer than 250,000 packets, else one
    /// per core while they take no more than 2 GiB]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl ThreadsArgument {
    /// Returns the requested number of threads.
    pub(super) fn get(&self) -> Option<u16> {
        self.threads
    }

    /// Warns if more than one thread was requested but the run uses one.
    pub(super) fn explain(&self, session: &Session) {
        if let (Some(asked), Some(reason)) = (self.threads, session.single_thread_reason()) {
            output::warning(&format!("--threads {asked}: the run uses one thread: {reason}"));
        }
    }
}
