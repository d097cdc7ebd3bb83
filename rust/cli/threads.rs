//! The number of threads of a single run.

use std::num::NonZeroU16;
use std::thread;

use clap::Args;
use evenkeel::fabric::{Cut, Division, Setup};

use super::output;

/// Runs with fewer packets take less time than it takes to look at this choice twice.
const MANY_PACKETS: u64 = 250_000;

// How many threads a single run may take.
#[derive(Debug, Args)]
pub(super) struct ThreadsArgument {
    /// Simulate the run on this many threads; the results do not depend on it [default: one for
    /// each core if the run has 250,000 packets or more, else 1]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroU16>,
}

impl ThreadsArgument {
    /// The number of threads that a run may take. If more than one were asked for and the run takes
    /// one, a warning says why: `other` is a reason beside those of the workload and the fabric.
    pub(super) fn for_run(&self, setup: &Setup, other: Option<&str>) -> u16 {
        let Some(asked) = self.threads else { return default_for(setup) };
        let reason = match (other, Division::new(setup, asked.get(), Cut::default())) {
            _ if asked.get() == 1 => None,
            (Some(other), _) => Some(other.to_owned()),
            (None, Err(reason)) => Some(reason.to_string()),
            (None, Ok(_)) => None,
        };
        if let Some(reason) = reason {
            output::warning(&format!("--threads {asked}: the run takes one thread: {reason}"));
        }
        asked.get()
    }
}

/// One for each core if the run is long.
pub(super) fn default_for(setup: &Setup) -> u16 {
    let packets = setup.workload.total_bytes().get() / setup.nic.payload.get().max(1);
    if packets < MANY_PACKETS {
        return 1;
    }
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    u16::try_from(cores).unwrap_or(u16::MAX)
}
