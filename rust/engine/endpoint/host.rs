//! A host: its splitters, its NIC, and the messages that have not started.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Site;
use super::lanes::Lanes;
use super::policies::Policies;
use super::splitters::Splitters;
use crate::ids::{HostId, PortId, TaskId};
use crate::nic::{Mismatch, Nic, NicConfig, PortFacts, Recovery};
use crate::split::SplitterContext;
use crate::units::{Span, Time};

/// Start of a message, or end of a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Start {
    pub(super) at: Time,
    /// Tie-breaker at equal times: the number of the task in the workload.
    pub(super) order: u64,
    pub(super) task: TaskId,
}

/// A host: its NIC, the splitters of its messages, and the tasks that start by the clock.
///
/// The fields that every packet touches come first, because they are prefetched on large fabrics.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Host {
    /// Scheduled wake-up of the host; `NEVER` without one. The driver maintains it.
    pub wake: Time,
    /// Next event in the scale-up domain that this host wakes for.
    pub(super) domain_wake: Time,
    /// Shortest retransmission timeout of the NIC's queue pairs.
    timeout: Span,
    /// Port of the host; with several planes, its port in the first.
    pub port: PortId,
    /// Messages that start by the clock, and ends of delays, earliest first.
    pub(super) starts: VecDeque<Start>,
    /// The NIC. The driver hands packets to it and polls packets from it.
    pub nic: Nic,
    pub(super) splitters: Splitters,
    /// Serial lanes of delays.
    pub(super) lanes: Lanes,
}

/// A NIC whose configuration differs from the run's.
#[derive(Debug, Clone)]
pub struct OwnNic {
    /// Its configuration.
    pub config: Arc<NicConfig>,
    /// Base round-trip time of the NIC; see [`super::base_rtt`].
    pub base_rtt: Span,
}

impl Site {
    /// Returns the NIC configuration of a host.
    pub(super) fn nic_of(&self, host: HostId) -> &Arc<NicConfig> {
        self.own_nics.get(&host).map_or(&self.nic, |own| &own.config)
    }

    /// Returns the difference between two NICs that prevents a queue pair between them, with
    /// `recovery` or, if that is `None`, with the recovery of each NIC.
    pub(super) fn mismatch(
        &self,
        [a, b]: [HostId; 2],
        recovery: Option<Recovery>,
    ) -> Option<Mismatch> {
        // All NICs are equal then.
        if self.own_nics.is_empty() {
            return None;
        }
        self.nic_of(a).mismatch(self.nic_of(b), recovery)
    }

    /// Returns the base round-trip time of the host's NIC.
    pub(super) fn base_rtt_of(&self, host: HostId) -> Span {
        self.own_nics.get(&host).map_or(self.base_rtt, |own| own.base_rtt)
    }
}

/// Returns the shortest time after which a retransmission timer of any queue pair may expire.
fn shortest_timeout(policies: &Policies, nic: &NicConfig) -> Span {
    let recoveries = policies.recoveries(nic.recovery);
    let timeouts = recoveries.map(|recovery| recovery.shortest_timeout(nic.retransmit_timeout));
    let shortest = timeouts.min().expect("a run has a policy");
    // Later waits of a series may be shorter than its first.
    nic.hardware.ack_timeout.map_or(shortest, |timeout| timeout.shortest())
}

impl Host {
    /// Creates every host of a site, by id.
    pub(super) fn all(site: &Site, policies: &Policies) -> Vec<Self> {
        let ids = (0..site.topology.host_count()).map(HostId);
        ids.map(|id| Self::new(id, site, policies)).collect()
    }

    fn new(id: HostId, site: &Site, policies: &Policies) -> Self {
        let (port, nic) = (site.topology.host_port(id), site.nic_of(id).clone());
        let line_rate = site.topology.host_rate(id);
        let facts = PortFacts { line_rate, base_rtt: site.base_rtt_of(id) };
        let context = SplitterContext { host: id, seed: site.seed, payload: nic.payload };
        let timeout = shortest_timeout(policies, &nic);
        let mut nic = Nic::new(id, facts, nic);
        nic.set_planes(site.topology.planes().count(), site.scheme.control_paths, site.seed);
        if let Some(discipline) = site.classes {
            nic.set_classes(discipline);
        }
        Self {
            timeout,
            nic,
            splitters: Splitters::new(policies, &context),
            port,
            starts: VecDeque::new(),
            lanes: Lanes::default(),
            wake: Time::NEVER,
            domain_wake: Time::NEVER,
        }
    }

    /// Schedules the start of a message or the end of a delay.
    pub(super) fn schedule(&mut self, start: Start) {
        // `VecDeque::insert` moves the shorter side, so inserting near either end is cheap.
        let index = self.starts.partition_point(|&other| other <= start);
        self.starts.insert(index, start);
    }

    /// Returns the time of the next wake-up, at or after `now`, if no packet arrives before. `free`
    /// is the time from which the wire is free. A packet that becomes eligible while the wire is
    /// busy needs no wake-up. The host still wakes before the retransmission timer of the first
    /// such packet can expire.
    ///
    /// A timer that is shorter than a packet's transmission time may expire before the host is
    /// polled again. It then fires late, at `now`, but is never lost.
    #[inline(always)]
    pub fn next_wake(&self, now: Time, free: Time) -> Option<Time> {
        let mut wake = self.nic.next_timer().unwrap_or(Time::NEVER).min(self.domain_wake);
        // A pacing time up to `free` needs no wake-up: the port polls the NIC when the wire is
        // free.
        if let Some(start) = self.nic.next_paced()
            && start > free
        {
            wake = wake.min(start);
        }
        // A packet that starts without a wake-up starts a timer, too.
        if let Some(expiry) = self.next_expiry(now, free) {
            wake = wake.min(expiry);
        }
        if let Some(start) = self.starts.front() {
            wake = wake.min(start.at);
        }
        wake = wake.min(self.splitters.poll_timeout());
        // Overdue times are moved to `now`, because events in the past cannot be scheduled.
        (wake != Time::NEVER).then(|| wake.max(now))
    }

    /// Returns the earliest expiry of the timer of a packet that will start without a wake-up, once
    /// the wire is free at `free`.
    #[inline(always)]
    pub fn next_expiry(&self, now: Time, free: Time) -> Option<Time> {
        (free > now && self.nic.has_packets()).then(|| free.saturating_add(self.timeout))
    }
}
