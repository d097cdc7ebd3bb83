//! Whether a run fits into memory.

use std::fs;

use anyhow::bail;
use clap::Args;
use evenkeel::fluid::Fidelity;
use evenkeel::report::human;
use evenkeel::scenario::Scenario;
use evenkeel::study::{self, Estimate};
use evenkeel::units::Bytes;

// Whether what is not expected to fit into memory is tried.
#[derive(Debug, Args)]
pub(super) struct MemoryArgument {
    /// Try also what is not expected to fit into the memory that is available
    #[arg(long)]
    force: bool,
}

impl MemoryArgument {
    /// The memory that may be taken; `None` for any.
    pub(super) fn limit(&self) -> Option<Bytes> {
        if self.force { None } else { available() }
    }

    /// Refuses a run that does not fit.
    pub(super) fn check(&self, scenario: &Scenario) -> anyhow::Result<()> {
        let Some(run) = estimate(scenario) else { return Ok(()) };
        let Some(limit) = self.limit().filter(|&limit| run.memory > limit) else { return Ok(()) };
        bail!(
            "the run needs about {} of memory ({}, {} queue pairs or more), and {} is available: \
             take fewer hosts, fewer or longer messages; --force runs it all the same",
            human::bytes(run.memory.get() as f64),
            human::plural(run.messages, "message"),
            run.streams,
            human::bytes(limit.get() as f64)
        );
    }
}

/// What a run will take; `None` where that is not estimated: of traces that are read during the
/// run, and of a fluid run.
pub(super) fn estimate(scenario: &Scenario) -> Option<Estimate> {
    let is_estimated = scenario.traces.is_none() && scenario.fidelity == Fidelity::Packet;
    is_estimated.then(|| study::estimate(&scenario.setup(), scenario.messages()))
}

/// The memory that the system says is available, within the limit of the process's control group;
/// `None` where neither is known.
fn available() -> Option<Bytes> {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max");
    let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
    let left = group.map(|most| most.saturating_sub(used));
    let system = fs::read_to_string("/proc/meminfo").ok();
    let system = system.as_deref().and_then(available_in);
    left.into_iter().chain(system).min().map(Bytes::new)
}

/// The available memory in bytes, from the text of `/proc/meminfo`.
fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_from_the_system_s_table() {
        let text = "MemTotal:       24689764 kB\nMemAvailable:   23456789 kB\nBuffers: 1 kB\n";
        assert_eq!(available_in(text), Some(23_456_789 << 10));
        assert_eq!(available_in("MemTotal: 1 kB\n"), None);
    }
}
