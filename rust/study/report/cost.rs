//! Cost of a run on the machine that made it. Scenario, seed and version determine every other part
//! of a result.

use std::io::{self, Write};
use std::time::Duration;
#[cfg(not(target_family = "wasm"))]
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
#[cfg(target_family = "wasm")]
use web_time::Instant;

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

    /// Returns the time since the start, and the peak memory of the process so far.
    pub fn stop(&self) -> Cost {
        Cost { wall: self.started.elapsed(), peak_rss_bytes: peak_rss_bytes() }
    }
}

/// Cost of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Wall time of the simulation, without the time to read its scenario.
    pub wall: Duration,
    /// Peak resident memory of the *process* so far, in bytes; `None` if the system does not report
    /// it. Several runs in one process share it.
    pub peak_rss_bytes: Option<u64>,
}

/// The object of `cost.json`: the cost of a run on the machine that made it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CostSummary {
    /// Wall time of the simulation, seconds.
    pub wall_s: f64,
    /// Peak memory of the process in bytes; `None` if the system does not report it.
    pub peak_rss_bytes: Option<u64>,
}

impl CostSummary {
    /// Writes `cost.json`, indented.
    ///
    /// # Errors
    /// Fails if writing to `to` fails.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *to, self)?;
        writeln!(to)
    }
}

/// Writes results as indented JSON without the costs of their runs (`wall_s`, `peak_rss_bytes`).
/// The same scenario, seed and version then give the same bytes on every machine.
///
/// # Errors
/// Fails if writing to `to` fails.
pub(super) fn write_without_costs(to: &mut dyn Write, results: &impl Serialize) -> io::Result<()> {
    // In indented JSON each key starts a line. No string can start one, because its quotes are
    // escaped.
    let text = serde_json::to_string_pretty(results)?;
    let is_cost = |line: &&str| {
        let key = line.trim_start();
        key.starts_with("\"wall_s\": ") || key.starts_with("\"peak_rss_bytes\": ")
    };
    let mut lines = text.lines().filter(|line| !is_cost(line)).peekable();
    while let Some(line) = lines.next() {
        let closes = lines.peek().is_some_and(|next| next.trim_start().starts_with(['}', ']']));
        let line = if closes { line.strip_suffix(',').unwrap_or(line) } else { line };
        writeln!(to, "{line}")?;
    }
    Ok(())
}

/// Returns the peak of this program alone. On Linux, getrusage(2) includes the memory of the parent
/// program up to `execve`.
#[cfg(target_os = "linux")]
fn peak_rss_bytes() -> Option<u64> {
    // Source: proc_pid_status(5), in KiB.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn peak_rss_bytes() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    // Source: getrusage(2). ru_maxrss is in KiB on the BSDs, in bytes on macOS.
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
    fn results_without_costs_are_the_same_json_minus_the_cost_keys() {
        let text = "a \"wall_s\": 1, \n\"peak_rss_bytes\": 2";
        let run =
            serde_json::json!({ "a": [], "events": 7, "peak_rss_bytes": null, "wall_s": 0.5 });
        let results = serde_json::json!({ "runs": [run, run], "text": [text] });
        let mut written = Vec::new();
        write_without_costs(&mut written, &results).unwrap();
        let expected = serde_json::json!({ "a": [], "events": 7 });
        let expected = serde_json::json!({ "runs": [expected, expected], "text": [text] });
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).unwrap(), expected);
        let indented = serde_json::to_string_pretty(&expected).unwrap() + "\n";
        assert_eq!(String::from_utf8(written).unwrap(), indented);
    }

    #[test]
    fn a_running_process_has_resident_memory() {
        let cost = Stopwatch::start().stop();
        if cfg!(unix) {
            assert!(cost.peak_rss_bytes.unwrap() > 100_000);
        }
    }
}
