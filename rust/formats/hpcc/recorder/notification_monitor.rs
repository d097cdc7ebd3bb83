//! `CNP_OUTPUT_FILE`: congestion notifications, counted at the receivers that generate them.
//!
//! Source: `cnp_freq_monitoring` of ConWeave's `network-load-balance.cc`. Every 100 us the file
//! gets a line `ns host by_ecn by_order all` for each receiver that generated any since the last
//! sample. The family's NIC also notifies of each packet out of order. The NIC here does not, so
//! the fourth column is 0.

use std::io::{self, Write};

use super::connection_monitor::NumberedHost;
use crate::endpoint::Endpoints;
use crate::units::Time;

/// Returns the time of the first sample if flows start at `from`. Here the family interprets
/// `FLOWGEN_START_TIME`, which is in seconds, as nanoseconds. Its samples are therefore 2 ns past
/// each 100 us.
pub(super) fn first_sample(from: Time) -> Time {
    Time::from_ps(from.as_ps() / 1_000_000_000_000 * 1_000)
}

/// The monitor and its last sample.
#[derive(Debug)]
pub(super) struct NotificationMonitor {
    hosts: Vec<NumberedHost>,
    /// Notifications of each host at the last sample, by id.
    before: Vec<u64>,
}

impl NotificationMonitor {
    /// Creates a monitor of the hosts with these `numbers`, by id.
    pub(super) fn new(numbers: &[u32]) -> Self {
        Self { hosts: NumberedHost::all(numbers), before: vec![0; numbers.len()] }
    }

    /// Writes a line for each receiver that generated notifications since the last sample.
    pub(super) fn sample(
        &mut self,
        now: Time,
        endpoints: &Endpoints,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let ns = now.as_ps() / 1_000;
        for &NumberedHost { number, host } in &self.hosts {
            let marked = endpoints.host(host).nic.counters().marked;
            let new = marked - std::mem::replace(&mut self.before[host.index()], marked);
            if new > 0 {
                writeln!(to, "{ns} {number} {new} 0 {new}")?;
            }
        }
        Ok(())
    }
}
