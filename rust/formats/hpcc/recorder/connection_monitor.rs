//! `CONN_MON_FILE`: the connections of each host.
//!
//! Source: `periodic_monitoring` of ConWeave's `network-load-balance.cc`, sampled at the same times
//! as `UPLINK_MON_FILE`. Each sample has a line `ns,host,connections,active` for each host. It
//! gives the queue pairs that have not completed at their sender, and how many of them have bytes
//! to send.

use std::io::{self, Write};

use crate::endpoint::Endpoints;
use crate::ids::HostId;
use crate::nic::Backlog;
use crate::units::Time;

/// A host and its number in the topology file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NumberedHost {
    pub(super) number: u32,
    pub(super) host: HostId,
}

impl NumberedHost {
    /// Returns all hosts in the order of their `numbers`, which are given by id.
    pub(super) fn all(numbers: &[u32]) -> Vec<Self> {
        let ids = (0..).map(HostId);
        let mut hosts: Vec<Self> =
            numbers.iter().zip(ids).map(|(&number, host)| Self { number, host }).collect();
        hosts.sort_unstable();
        hosts
    }
}

/// Connection counts of a host at a sample.
#[derive(Debug, Clone, Copy, Default)]
struct ConnectionCounts {
    incomplete: u32,
    /// Number of connections with bytes to send.
    active: u32,
}

/// The monitor and the connections that it counts.
#[derive(Debug)]
pub(super) struct ConnectionMonitor {
    hosts: Vec<NumberedHost>,
    /// Indices of the connections that have not completed, in order of creation.
    open: Vec<usize>,
    /// Number of connections created so far.
    created: usize,
}

impl ConnectionMonitor {
    /// Creates a monitor of the hosts with these `numbers`, by id.
    pub(super) fn new(numbers: &[u32]) -> Self {
        Self { hosts: NumberedHost::all(numbers), open: Vec::new(), created: 0 }
    }

    /// Writes a line for each host: its connections at `now`, and those with unsent bytes.
    pub(super) fn sample(
        &mut self,
        now: Time,
        endpoints: &Endpoints,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        while endpoints.backlog(self.created).is_some() {
            self.open.push(self.created);
            self.created += 1;
        }
        let mut counts = vec![ConnectionCounts::default(); self.hosts.len()];
        self.open.retain(|&connection| {
            let Some((host, backlog)) = endpoints.backlog(connection) else { return false };
            let count = &mut counts[host.index()];
            count.incomplete += u32::from(backlog != Backlog::Nothing);
            count.active += u32::from(backlog == Backlog::Unsent);
            backlog != Backlog::Nothing
        });
        self.write(now, &|host| counts[host.index()], to)
    }

    /// Writes a sample after every connection has completed.
    pub(super) fn sample_completed(&self, now: Time, to: &mut dyn Write) -> io::Result<()> {
        self.write(now, &|_| ConnectionCounts::default(), to)
    }

    fn write(
        &self,
        now: Time,
        counts: &dyn Fn(HostId) -> ConnectionCounts,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let ns = now.as_ps() / 1_000;
        self.hosts.iter().try_for_each(|&NumberedHost { number, host }| {
            let ConnectionCounts { incomplete, active } = counts(host);
            writeln!(to, "{ns},{number},{incomplete},{active}")
        })
    }
}
