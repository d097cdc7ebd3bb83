//! The number of threads of a single run.

use clap::Args;
use evenkeel_study::Session;

use super::output;

// How many threads a single run may take.
#[derive(Debug, Args)]
pub(super) struct ThreadsArgument {
    /// Simulate the run on this many threads, at most 256, each of which takes memory for the whole
    /// fabric; the results do not depend on it [default: 1 for runs of fewer than 250,000 packets,
    /// else one for each core as far as they take no more than 2 GiB]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl ThreadsArgument {
    /// The number of threads that was asked for.
    pub(super) fn get(&self) -> Option<u16> {
        self.threads
    }

    /// Warns if more than one thread was asked for and the run takes one.
    pub(super) fn explain(&self, session: &Session) {
        if let (Some(asked), Some(reason)) = (self.threads, session.single_thread_reason()) {
            output::warning(&format!("--threads {asked}: the run takes one thread: {reason}"));
        }
    }
}
