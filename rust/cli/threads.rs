//! The number of threads of a single run.

use std::thread;

use clap::Args;
use evenkeel::fabric::{Cut, Division, Setup};

use super::output;

/// What a host takes of the memory of each thread, before its queue pairs: each has the whole
/// fabric.
const BYTES_PER_HOST: u64 = 12 << 10;

/// The memory that all threads may take for that without being asked for.
const MOST_BYTES: u64 = 2 << 30;

/// Runs with fewer packets take less time than it takes to look at this choice twice.
const MANY_PACKETS: u64 = 250_000;

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
        let Some(asked) = self.threads else { return default_for(setup) };
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

/// One for each core if the run is long, as far as memory is not short.
pub(super) fn default_for(setup: &Setup) -> u16 {
    let packets = setup.workload.total_bytes().get() / setup.nic.payload.get().max(1);
    if packets < MANY_PACKETS {
        return 1;
    }
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let hosts = u64::from(setup.topology.host_count().max(1));
    let fitting = (MOST_BYTES / (hosts * BYTES_PER_HOST)).max(1);
    u16::try_from(cores.min(fitting)).unwrap_or(u16::MAX)
}
