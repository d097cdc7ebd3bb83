//! A host: its splitter, its NIC, and the messages it has still to start.

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

/// When a message starts, or a delay ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Start {
    pub(super) at: Time,
    /// Its place among those of that time: the number of the task in the workload.
    pub(super) order: u64,
    pub(super) task: TaskId,
}

/// A host: its NIC, the splitter of its messages, and the tasks that start by the clock.
///
/// What each packet touches comes first, since it is fetched ahead on large fabrics.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Host {
    /// When the world has scheduled to wake the host; `NEVER` if it has not. Kept by the world.
    pub wake: Time,
    /// When something is to happen in the scale-up domain that this host wakes for.
    pub(super) domain_wake: Time,
    /// The shortest retransmission timer of its NIC.
    timeout: Span,
    /// The port by which it sends; with several planes, that in the first.
    pub port: PortId,
    /// Messages that start by the clock and delays that end by it, earliest first.
    pub(super) starts: VecDeque<Start>,
    /// Its NIC, which the world hands packets to and takes packets from.
    pub nic: Nic,
    pub(super) splitters: Splitters,
    /// Lanes of delays that take turns.
    pub(super) lanes: Lanes,
}

/// A NIC that is not configured as the others are.
#[derive(Debug, Clone)]
pub struct OwnNic {
    /// Its configuration.
    pub config: Arc<NicConfig>,
    /// The round-trip time that it is configured with; see [`super::base_rtt`].
    pub base_rtt: Span,
}

impl Site {
    /// The configuration of the NIC of a host.
    pub(super) fn nic_of(&self, host: HostId) -> &Arc<NicConfig> {
        self.own_nics.get(&host).map_or(&self.nic, |own| &own.config)
    }

    /// In what the NICs of two hosts differ, so that no queue pair with that recovery, or with
    /// their own, can connect them.
    pub(super) fn mismatch(
        &self,
        [a, b]: [HostId; 2],
        recovery: Option<Recovery>,
    ) -> Option<Mismatch> {
        if self.own_nics.is_empty() {
            return None;
        }
        self.nic_of(a).mismatch(self.nic_of(b), recovery)
    }

    /// The round-trip time that it is configured with.
    pub(super) fn base_rtt_of(&self, host: HostId) -> Span {
        self.own_nics.get(&host).map_or(self.base_rtt, |own| own.base_rtt)
    }
}

/// How soon after a packet was sent a retransmission timer of any queue pair may expire.
fn shortest_timeout(policies: &Policies, nic: &NicConfig) -> Span {
    let recoveries = policies.recoveries(nic.recovery);
    let timeouts = recoveries.map(|recovery| recovery.shortest_timeout(nic.retransmit_timeout));
    timeouts.min().expect("a run has a policy")
}

impl Host {
    /// All hosts of a site, by id.
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
        nic.set_planes(site.topology.planes().count(), site.scheme.answers, site.seed);
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

    /// Schedules a message or the end of a delay.
    pub(super) fn schedule(&mut self, start: Start) {
        let index = self.starts.partition_point(|&other| other <= start);
        self.starts.insert(index, start);
    }

    /// When it wants to be woken next, at `now` or later, if nothing comes in before and its wire
    /// is free from `free` on. A packet that its rate lets go while the wire is busy goes without
    /// a wake-up; but the host wakes before the retransmission timer of the first such packet can
    /// expire.
    ///
    /// A timer shorter than the time that a packet takes can expire before the host is looked at
    /// again. It then expires late, at `now`; it is not lost.
    #[inline(always)]
    pub fn next_wake(&self, now: Time, free: Time) -> Option<Time> {
        let mut wake = self.nic.next_timer().unwrap_or(Time::NEVER).min(self.domain_wake);
        if let Some(start) = self.nic.next_paced()
            && start > free
        {
            wake = wake.min(start);
        }
        if let Some(expiry) = self.next_expiry(now, free) {
            wake = wake.min(expiry);
        }
        if let Some(start) = self.starts.front() {
            wake = wake.min(start.at);
        }
        wake = wake.min(self.splitters.poll_timeout());
        (wake != Time::NEVER).then(|| wake.max(now))
    }

    /// When the timer of a packet can expire that goes without a wake-up once its wire is free, at
    /// `free`.
    #[inline(always)]
    pub fn next_expiry(&self, now: Time, free: Time) -> Option<Time> {
        (free > now && self.nic.has_packets()).then(|| free.saturating_add(self.timeout))
    }
}
