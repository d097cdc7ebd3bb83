//! ConWeave's periodic monitors: what top-of-rack switches send upwards, and connections.
//!
//! Source: `periodic_monitoring` of ConWeave's `network-load-balance.cc`: each
//! `SW_MONITORING_INTERVAL` from `FLOWGEN_START_TIME` to 50 ms after `FLOWGEN_STOP_TIME`,
//! `UPLINK_MON_FILE` has a line `ns,switch,interface,bytes` for each interface of a switch with
//! hosts that leads to another switch (all bytes that have started there so far), and
//! `CONN_MON_FILE` one `ns,host,connections,active` for each host: queue pairs that are not
//! complete at their sender, and those of them with bytes to send. The family goes on looking
//! until the next of its own checks, each 100 us, finds that every flow is complete; so do these
//! monitors, though the run is over.

use std::io::{self, Write};

use super::interface::Interface;
use crate::endpoint::Endpoints;
use crate::ids::{HostId, PortId};
use crate::nic::Backlog;
use crate::topology::Node;
use crate::units::{Span, Time};

/// How long beyond `FLOWGEN_STOP_TIME` it looks.
pub(super) const BEYOND: Span = Span::from_ms(50);

/// How often the family checks whether every flow is complete (`stop_simulation_middle`).
const CHECK: Span = Span::from_us(100);

/// When the family finds that every flow is complete, if the last one is at `ended`.
pub(super) fn last_look(from: Time, ended: Time) -> Time {
    let checks = ended.as_ps().saturating_sub(from.as_ps()).div_ceil(CHECK.as_ps());
    from.saturating_add(Span::from_ps(checks.saturating_mul(CHECK.as_ps())))
}

/// When a monitor looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turns {
    pub next: Time,
    pub until: Time,
    pub every: Span,
}

impl Turns {
    /// This turn is over.
    pub fn go_on(&mut self) {
        let next = self.next.saturating_add(self.every);
        self.next = if self.next < self.until { next } else { Time::NEVER };
    }

    /// This turn is over, and so are all up to `event`.
    pub fn go_past(&mut self, event: Time) {
        self.go_on();
        let last = event.min(self.until);
        if self.next <= last && self.next != Time::NEVER {
            let turns = last.since(self.next).as_ps() / self.every.as_ps();
            self.next += Span::from_ps(turns * self.every.as_ps());
            self.go_on();
        }
    }
}

/// Bytes that went up.
#[derive(Debug)]
pub(super) struct UplinkMonitor {
    uplinks: Vec<Interface>,
}

impl UplinkMonitor {
    pub fn new(interfaces: &[Interface]) -> Self {
        let has_host = |switch| {
            let is_below = |it: &Interface| it.owner == switch && matches!(it.peer, Node::Host(_));
            interfaces.iter().any(is_below)
        };
        let leads_up = |it: &&Interface| {
            it.owner.switch().is_some() && it.peer.switch().is_some() && has_host(it.owner)
        };
        let mut uplinks: Vec<Interface> = interfaces.iter().filter(leads_up).copied().collect();
        uplinks.sort_by_key(|it| (it.node, it.number));
        Self { uplinks }
    }

    pub fn ports(&self) -> impl Iterator<Item = PortId> + '_ {
        self.uplinks.iter().map(|it| it.port)
    }

    pub fn look(
        &self,
        now: Time,
        carried: &dyn Fn(PortId) -> u64,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let ns = now.as_ps() / 1_000;
        let line = |it: &Interface, to: &mut dyn Write| {
            writeln!(to, "{ns},{},{},{}", it.node, it.number, carried(it.port))
        };
        self.uplinks.iter().try_for_each(|it| line(it, to))
    }
}

/// Connections of each host.
#[derive(Debug)]
pub(super) struct ConnectionMonitor {
    /// The file's number of each host and the host, in order of those numbers.
    hosts: Vec<(u32, HostId)>,
    /// Connections that are not complete, by the order in which they were made.
    open: Vec<usize>,
    /// How many have been made.
    made: usize,
}

impl ConnectionMonitor {
    pub fn new(numbers: &[u32]) -> Self {
        let mut hosts: Vec<(u32, HostId)> =
            numbers.iter().copied().zip((0..).map(HostId)).collect();
        hosts.sort_unstable();
        Self { hosts, open: Vec::new(), made: 0 }
    }

    pub fn look(&mut self, now: Time, endpoints: &Endpoints, to: &mut dyn Write) -> io::Result<()> {
        while endpoints.backlog(self.made).is_some() {
            self.open.push(self.made);
            self.made += 1;
        }
        let mut counts = vec![[0u32; 2]; self.hosts.len()];
        self.open.retain(|&connection| {
            let Some((host, backlog)) = endpoints.backlog(connection) else { return false };
            let [all, active] = &mut counts[host.index()];
            *all += u32::from(backlog != Backlog::Nothing);
            *active += u32::from(backlog == Backlog::Unsent);
            backlog != Backlog::Nothing
        });
        self.write(now, &|host| counts[host.index()], to)
    }

    /// A look when all is complete.
    pub fn look_at_nothing(&self, now: Time, to: &mut dyn Write) -> io::Result<()> {
        self.write(now, &|_| [0, 0], to)
    }

    fn write(
        &self,
        now: Time,
        counts: &dyn Fn(HostId) -> [u32; 2],
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let ns = now.as_ps() / 1_000;
        self.hosts.iter().try_for_each(|&(number, host)| {
            let [all, active] = counts(host);
            writeln!(to, "{ns},{number},{all},{active}")
        })
    }
}

/// Congestion notifications, counted where they are made.
///
/// Source: `cnp_freq_monitoring`, the same file: each 100 us `CNP_OUTPUT_FILE` has a line
/// `ns host by_ecn by_order all` for each receiver that made any since. The family begins at
/// `FLOWGEN_START_TIME` taken for nanoseconds, so that its times are 2 ns past each 100 us. Its NIC
/// also notifies of each packet out of order, which the one here does not: the fourth column is 0.
#[derive(Debug)]
pub(super) struct NotificationMonitor {
    hosts: Vec<(u32, HostId)>,
    /// What each host had made when it was looked at last.
    before: Vec<u64>,
}

/// How often notifications are counted (`cnp_monitor_bucket`).
pub(super) const BUCKET: Span = Span::from_us(100);

impl NotificationMonitor {
    pub fn new(numbers: &[u32]) -> Self {
        let connections = ConnectionMonitor::new(numbers);
        Self { before: vec![0; connections.hosts.len()], hosts: connections.hosts }
    }

    pub fn look(&mut self, now: Time, endpoints: &Endpoints, to: &mut dyn Write) -> io::Result<()> {
        let ns = now.as_ps() / 1_000;
        for &(number, host) in &self.hosts {
            let marked = endpoints.host(host).nic.counters().marked;
            let new = marked - std::mem::replace(&mut self.before[host.index()], marked);
            if new > 0 {
                writeln!(to, "{ns} {number} {new} 0 {new}")?;
            }
        }
        Ok(())
    }
}
