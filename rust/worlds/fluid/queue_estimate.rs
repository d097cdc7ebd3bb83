//! An estimate of the bytes that would queue at ports, which shows where packets would be lost.
//!
//! Fluid flows never queue. A packet sender learns late that it is too fast, and until then its
//! packets queue at the bottleneck link. If a flow could be sent at rate `r` and gets `x`, the
//! fraction `1 − x / r` of its bytes queues. That applies to the whole flow if congestion control
//! never slows down, and otherwise to the bytes of two round trips \[inferred\].

use std::sync::Arc;

use super::links::bytes_per_ps;
use crate::fabric::{Buffer, Setup};
use crate::ids::{HostId, PortId};
use crate::nic::PortFacts;
use crate::nic::congestion::CongestionControl;
use crate::sharing::Sharing;
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Bytes, Span};

/// Round trips until congestion control has slowed the senders down.
const ROUND_TRIPS: f64 = 2.0;

/// Smaller fractions are ignored: acknowledgements take that much of a link \[inferred\].
const MIN_FRACTION: f64 = 0.05;

/// Estimated bytes queued at each link.
#[derive(Debug)]
pub(super) struct QueueEstimate {
    /// By link.
    bytes: Vec<f64>,
    /// Maximum bytes that one flow adds; infinite if senders never slow down.
    max_per_flow: f64,
    /// Buffer of a switch that is available to one port.
    buffer: f64,
    topology: Arc<Topology>,
    /// The rate of the fastest host port, with the longest round trip.
    pub(super) longest: PortFacts,
    /// Whether a link between switches has limited a flow.
    pub(super) is_contended: bool,
    /// Maximum bytes queued at one link so far, and that link.
    peak: Option<(f64, PortId)>,
}

/// A link and the bytes queued there because of one flow.
pub(super) type QueuedShare = Option<(u32, f64)>;

impl QueueEstimate {
    pub(super) fn new(setup: &Setup, base_rtt: Span) -> Self {
        let topology = &setup.topology;
        let rates = (0..topology.host_count())
            .map(|host| topology.link(topology.host_port(HostId(host)).link()).rate);
        let longest = PortFacts { line_rate: rates.max().unwrap_or(BitRate::MAX), base_rtt };
        let in_flight = bytes_per_ps(longest.line_rate) * base_rtt.as_ps() as f64;
        let never_slows = matches!(setup.nic.congestion, CongestionControl::LineRate(_));
        let (Buffer::Shared(buffer) | Buffer::PerPort(buffer)) = setup.fabric.switch.buffer;
        Self {
            bytes: vec![0.0; 2 * topology.links().len()],
            max_per_flow: if never_slows { f64::INFINITY } else { ROUND_TRIPS * in_flight },
            buffer: buffer.get() as f64,
            longest,
            topology: topology.clone(),
            is_contended: false,
            peak: None,
        }
    }

    /// Estimates the bytes queued because of a flow with `left` bytes to send, paced to at most
    /// `pace`.
    pub(super) fn estimate(
        &self,
        sharing: &Sharing,
        flow: u32,
        left: f64,
        pace: Option<f64>,
    ) -> QueuedShare {
        let link = sharing.bottleneck(flow);
        // A host keeps bytes that wait for its own port in memory. A group of ports never limits a
        // single flow.
        let port = PortId(link);
        let is_of_switch = port.link().index() < self.topology.links().len()
            && matches!(self.topology.ends_of(port).0, Node::Switch(_));
        let own = sharing.uses(flow).next().filter(|_| is_of_switch)?;
        // The rate that the flow would have without its bottleneck.
        let sent = sharing.fair_rate(own.link).min(pace.unwrap_or(f64::INFINITY));
        let part = 1.0 - sharing.rate(flow) / sent;
        (part > MIN_FRACTION).then(|| (link, part * left.min(self.max_per_flow)))
    }

    /// Replaces the bytes queued because of a flow.
    pub(super) fn replace(&mut self, share: &mut QueuedShare, by: QueuedShare) {
        self.remove(std::mem::replace(share, by));
        if let Some((link, bytes)) = by {
            self.is_contended |= self.topology.is_fabric_link(PortId(link).link());
            let all = &mut self.bytes[link as usize];
            *all += bytes;
            if *all > self.peak.map_or(0.0, |(peak, _)| peak) {
                self.peak = Some((*all, PortId(link)));
            }
        }
    }

    pub(super) fn remove(&mut self, share: QueuedShare) {
        if let Some((link, bytes)) = share {
            self.bytes[link as usize] -= bytes;
        }
    }

    /// Returns the port with the longest estimated queue and its bytes, if they exceed the buffer.
    pub(super) fn overflow(&self) -> Option<(PortId, Bytes)> {
        let (bytes, port) = self.peak.filter(|(bytes, _)| *bytes > self.buffer)?;
        Some((port, Bytes::new(bytes as u64)))
    }
}
