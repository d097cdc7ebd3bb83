//! How many threads a run takes.

use std::num::NonZeroUsize;
use std::thread;

use crate::fabric::Setup;

/// What a host takes of the memory of each thread, before its queue pairs: each has the whole
/// fabric.
const BYTES_PER_HOST: u64 = 12 << 10;

/// The memory that all threads may take for that without being asked for.
const MOST_BYTES: u64 = 2 << 30;

/// Runs with fewer packets take less time than it takes to look at this choice twice.
const MANY_PACKETS: u64 = 250_000;

/// The threads of a single run that nobody has set: one for each core if the run is long, as far
/// as memory is not short.
pub fn default_threads(setup: &Setup) -> u16 {
    let packets = setup.workload.total_bytes().get() / setup.nic.payload.get().max(1);
    if packets < MANY_PACKETS {
        return 1;
    }
    let hosts = u64::from(setup.topology.host_count().max(1));
    let fitting = (MOST_BYTES / (hosts * BYTES_PER_HOST)).max(1);
    u16::try_from((cores().get() as u64).min(fitting)).unwrap_or(u16::MAX)
}

/// The cores that the process may use.
pub fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
