//! The number of threads of a single run.

use clap::Args;
use evenkeel::fabric::{Cut, Division, Setup};
use evenkeel::study;

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
    /// The number of threads that a run may take. If more than one were asked for and the run takes
    /// one, a warning says why: `other` is a reason beside those of the workload and the fabric.
    pub(super) fn for_run(&self, setup: &Setup, other: Option<&str>) -> u16 {
        let Some(asked) = self.threads else { return study::default_threads(setup) };
        let reason = match (other, Division::new(setup, asked, Cut::default())) {
            _ if asked == 1 => None,
            (Some(other), _) => Some(other.to_owned()),
            (None, Err(reason)) => Some(reason.to_string()),
            (None, Ok(_)) => None,
        };
        if let Some(reason) = reason {
            output::warning(&format!("--threads {asked}: the run takes one thread: {reason}"));
        }
        asked
    }
}
