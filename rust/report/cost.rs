//! The cost of a run on the machine that made it: the only part of a result that scenario, seed and
//! version do not determine.

use std::time::{Duration, Instant};

/// Measures the wall time of a run.
#[derive(Debug)]
pub struct Stopwatch {
    started: Instant,
}

impl Stopwatch {
    /// Starts a stopwatch at the current wall time.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }

    /// The time since the start, and the peak memory of the process so far.
    pub fn stop(&self) -> Cost {
        Cost { wall: self.started.elapsed(), peak_rss_bytes: peak_rss_bytes() }
    }
}

/// The cost of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Wall time of the simulation, without the time to read its scenario.
    pub wall: Duration,
    /// Peak resident memory of the *process* so far, in bytes; `None` where the system does not
    /// report it. Several runs in one process share it.
    pub peak_rss_bytes: Option<u64>,
}

#[cfg(unix)]
fn peak_rss_bytes() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    // Source: getrusage(2). ru_maxrss is in KiB on Linux and the BSDs, in bytes on macOS.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    u64::try_from(usage.max_rss()).ok()?.checked_mul(unit)
}

#[cfg(not(unix))]
fn peak_rss_bytes() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_process_has_resident_memory() {
        let cost = Stopwatch::start().stop();
        if cfg!(unix) {
            assert!(cost.peak_rss_bytes.unwrap() > 100_000);
        }
    }
}
