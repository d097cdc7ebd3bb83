//! Warnings about effects that a fluid run does not model.

use super::queue_estimate::QueueEstimate;
use crate::balance::Scheme;
use crate::balance::sender::SenderConfig;
use crate::balance::switch::SwitchConfig;
use crate::fabric::{FailureKind, Outcome, Setup};
use crate::ids::PortId;
use crate::nic::congestion::{CongestionControl, CongestionController as _};
use crate::topology::Node;
use crate::units::{Bytes, Time};

/// Flows with fewer packets are short: latency dominates their duration, and queues of a few
/// packets matter \[inferred\].
const SHORT_PACKETS: u64 = 8;

/// The setup and the results of a run that has ended.
pub(super) struct WarningContext<'a> {
    pub(super) setup: &'a Setup,
    pub(super) outcome: &'a Outcome,
    pub(super) queue_estimate: &'a QueueEstimate,
    /// Whether packets of a flow were hashed to several ports.
    pub(super) hashes_packets: bool,
}

impl WarningContext<'_> {
    /// Returns the reasons why a packet run may take a different time.
    pub(super) fn warnings(&self) -> Vec<String> {
        let all = [
            self.lost_in_buffers(),
            self.lost_on_links(),
            self.paused(),
            self.limited_by_credit(),
            self.started_slowly(),
            self.repathed(),
            self.hashed(),
            self.collided(),
            self.short(),
        ];
        all.into_iter().flatten().collect()
    }

    fn lost_in_buffers(&self) -> Option<String> {
        let (port, bytes) = self.queue_estimate.overflow()?;
        let (from, to) = self.setup.topology.ends_of(port);
        let [from, to] = [from, to].map(|node| self.setup.topology.node_name(node));
        let switch = &self.setup.fabric.switch;
        let what = match (switch.pfc, switch.cbfc) {
            (Some(_), _) => "links would be paused",
            (None, Some(_)) => "links would be out of credit",
            (None, None) => "packets would be lost",
        };
        let control = self.setup.nic.congestion.name();
        Some(format!(
            "{what}: an estimated {bytes} would queue at {from} for the link to {to} before \
             {control} slows down, more than its buffer; the cost is not modelled"
        ))
    }

    fn lost_on_links(&self) -> Option<String> {
        let mut failures = self.setup.fabric.failures.iter();
        let loses = failures.any(|failure| !matches!(failure.kind, FailureKind::Degrade { .. }));
        loses.then(|| {
            "packets would be lost on failing links; the cost of loss recovery is not modelled"
                .to_owned()
        })
    }

    fn paused(&self) -> Option<String> {
        let switch = &self.setup.fabric.switch;
        let control = match (&switch.pfc, &switch.cbfc) {
            (Some(_), _) => "switches pause links (priority flow control)",
            (None, Some(_)) => "switches withhold credit (credit-based flow control)",
            (None, None) => return None,
        };
        self.queue_estimate
            .is_contended
            .then(|| format!("{control}; its effect on other flows is not modelled"))
    }

    /// Warns if a link runs out of credit before the first credit returns.
    fn limited_by_credit(&self) -> Option<String> {
        let Setup { topology, fabric, nic, .. } = self.setup;
        let memory = fabric.switch.cbfc.as_ref()?.memory;
        let packet = nic.payload + nic.header + fabric.gap;
        // Two packets, plus the bytes sent until the credit of the first returns.
        let needed = |port: &PortId| {
            let link = topology.link(port.link());
            let there_and_back = link.delay + link.delay + fabric.forwarding_delay;
            link.rate.bytes_in(there_and_back) + packet + packet
        };
        let ports = (0..2 * topology.links().len()).map(|id| PortId(id as u32));
        let to_switches = ports.filter(|port| matches!(topology.ends_of(*port).1, Node::Switch(_)));
        let (port, needed) = to_switches.map(|port| (port, needed(&port))).max_by_key(|it| it.1)?;
        (memory < needed).then(|| {
            let link = topology.link(port.link());
            format!(
                "the link {} needs {needed} of credit to be full ({}, {} there and back), but \
                 `switch.cbfc.memory` is {memory}; its lower rate is not modelled",
                topology.link_name(port.link()),
                link.rate,
                link.delay + link.delay,
            )
        })
    }

    /// Warns if senders start below 90 % of the bandwidth-delay product and flows exceed the first
    /// window.
    fn started_slowly(&self) -> Option<String> {
        let nic = &self.setup.nic;
        let path = nic.path(self.queue_estimate.longest);
        let mut control = nic.congestion.build(&path);
        let rate = control.rate(Time::ZERO).min(path.line_rate);
        let first = rate.bytes_in(path.base_rtt).min(Bytes::new(control.window()));
        let is_paced = matches!(nic.congestion, CongestionControl::LineRate(_));
        if is_paced || nic.congestion.credit().is_some() || first * 10 >= path.bdp() * 9 {
            return None;
        }
        let all = self.outcome.flows.iter();
        let longer = all.filter(|flow| flow.bytes > first).count();
        (longer > 0).then(|| {
            format!(
                "{} starts with {first} per round trip, but the longest path holds {}; the slow \
                 start of {longer} flows is not modelled",
                nic.congestion.name(),
                path.bdp(),
            )
        })
    }

    fn repathed(&self) -> Option<String> {
        let policies = self.setup.policies();
        let moves = |scheme: &&Scheme| {
            matches!(
                scheme.sender,
                SenderConfig::Flowlet(_) | SenderConfig::Plb(_) | SenderConfig::MpRdma(_)
            ) || matches!(scheme.switch, SwitchConfig::LetFlow(_) | SwitchConfig::Conga(_))
        };
        let scheme = policies.used().map(|policy| &policy.scheme).find(moves)?;
        Some(format!(
            "{} moves flows to other paths during a run; a fluid flow stays on its first path, or \
             is spread over all paths",
            scheme.name
        ))
    }

    fn hashed(&self) -> Option<String> {
        self.hashes_packets.then(|| {
            "packets are hashed to paths one by one; queues where they collide on nearly full \
             links are not modelled (docs/fluid.md)"
                .to_owned()
        })
    }

    fn collided(&self) -> Option<String> {
        let control = self.setup.nic.congestion.name();
        self.queue_estimate.is_contended.then(|| {
            format!(
                "flows collide on links between switches; {control} shares such links differently \
                 from max-min fair rates (docs/fluid.md)"
            )
        })
    }

    fn short(&self) -> Option<String> {
        let bytes = self.setup.nic.payload.get().saturating_mul(SHORT_PACKETS);
        let flows = &self.outcome.flows;
        let short = flows.iter().filter(|flow| flow.bytes.get() < bytes).count();
        (short > 0).then(|| {
            format!(
                "{short} of {} flows have fewer than {SHORT_PACKETS} packets; their times depend \
                 on queues of a few packets, which are not modelled",
                flows.len()
            )
        })
    }
}
