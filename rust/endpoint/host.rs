//! A host: its splitter, its NIC, and the messages it has still to start.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Site;
use super::lanes::Lanes;
use crate::ids::{HostId, MessageId, PortId};
use crate::nic::{Nic, NicConfig, PortFacts};
use crate::split::{Split, Splitter};
use crate::units::{Span, Time};

/// A host.
#[derive(Debug)]
pub struct Host {
    /// Its NIC, which the world hands packets to and takes packets from.
    pub nic: Nic,
    pub(super) splitter: Splitter,
    /// The port by which it sends.
    pub port: PortId,
    /// Messages that start by the clock and delays that end by it, earliest first.
    pub(super) starts: VecDeque<(Time, MessageId)>,
    /// What computes here, one delay after the other.
    pub(super) lanes: Lanes,
    /// The world's own note of when it will wake the host; `NEVER` if it will not.
    pub wake: Time,
    /// The shortest retransmission timer of its NIC.
    timeout: Span,
}

impl Host {
    pub(super) fn new(id: HostId, site: &Site, nic: Arc<NicConfig>) -> Self {
        let port = site.topology.host_port(id);
        let facts =
            PortFacts { line_rate: site.topology.link(port.link()).rate, base_rtt: site.base_rtt };
        Self {
            timeout: nic.shortest_timeout(),
            nic: Nic::new(id, facts, nic),
            splitter: site.scheme.split.build(site.seed, id),
            port,
            starts: VecDeque::new(),
            lanes: Lanes::default(),
            wake: Time::NEVER,
        }
    }

    /// When it wants to be woken next, if nothing comes in before and its wire is free from
    /// `free` on. A packet that its rate lets go earlier goes then, without being woken for; but
    /// before the timer of the first that goes so can run out, it wakes.
    #[inline]
    pub fn next_wake(&self, now: Time, free: Time) -> Option<Time> {
        let paced = self.nic.next_paced().filter(|&start| start > free);
        let unseen = free > now && self.nic.has_packets();
        let unseen = unseen.then(|| free.saturating_add(self.timeout));
        let start = self.starts.front().map(|&(start, _)| start);
        let others = [self.nic.next_timer(), self.splitter.poll_timeout(), start];
        others.into_iter().chain([paced, unseen]).flatten().min()
    }
}
