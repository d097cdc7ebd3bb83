//! Default number of threads of a run.

use std::num::NonZeroUsize;
use std::thread;

use crate::fabric::Setup;

/// Memory per host and thread, without queue pairs: each thread has the whole fabric.
const BYTES_PER_HOST: u64 = 12 << 10;

/// Maximum memory of all threads for the fabric, unless the user sets the number of threads.
const MAX_BYTES: u64 = 2 << 30;

/// Minimum number of packets for several threads: shorter runs end too quickly to benefit.
const MANY_PACKETS: u64 = 250_000;

/// Returns the default number of threads of a single run: one per core for a long run, or fewer if
/// the fabric's memory would exceed 2 GiB. A short run has one thread.
pub fn default_threads(setup: &Setup) -> u16 {
    let packets = setup.workload.total_bytes().get() / setup.nic.payload.get().max(1);
    if packets < MANY_PACKETS {
        return 1;
    }
    let hosts = u64::from(setup.topology.host_count().max(1));
    let fitting = (MAX_BYTES / (hosts * BYTES_PER_HOST)).max(1);
    u16::try_from((cores().get() as u64).min(fitting)).unwrap_or(u16::MAX)
}

/// Returns the number of cores that the process may use.
pub fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
