//! Where a fluid run is not meant to be trusted.

use super::waiting::Waiting;
use crate::balance::Scheme;
use crate::balance::sender::SenderConfig;
use crate::balance::switch::SwitchConfig;
use crate::fabric::{FailureKind, Outcome, Setup};

/// Flows of fewer packets are short: their time is that of their packets on their way, and queues
/// of a few packets matter \[inferred\].
const SHORT_PACKETS: u64 = 8;

/// A run that has ended.
pub(super) struct Seen<'a> {
    pub(super) setup: &'a Setup,
    pub(super) outcome: &'a Outcome,
    pub(super) waiting: &'a Waiting,
    /// Whether packets of one flow were hashed to several ports.
    pub(super) hashes_packets: bool,
}

impl Seen<'_> {
    /// The reasons why packets may take other times than the fluid run says.
    pub(super) fn warnings(&self) -> Vec<String> {
        let all = [
            self.lost_in_buffers(),
            self.lost_on_links(),
            self.paused(),
            self.repathed(),
            self.hashed(),
            self.collided(),
            self.short(),
        ];
        all.into_iter().flatten().collect()
    }

    fn lost_in_buffers(&self) -> Option<String> {
        let (port, bytes) = self.waiting.overflow()?;
        let (from, to) = self.setup.topology.ends_of(port);
        let [from, to] = [from, to].map(|node| self.setup.topology.node_name(node));
        let what = match self.setup.fabric.switch.pfc {
            Some(_) => "links would be paused",
            None => "packets would be lost",
        };
        let control = self.setup.nic.congestion.name();
        Some(format!(
            "{what}: by an estimate {bytes} would wait at {from} for the link to {to} before \
             {control} has slowed the senders down, more than the switch has memory for; what that \
             costs is not in the result"
        ))
    }

    fn lost_on_links(&self) -> Option<String> {
        let mut failures = self.setup.fabric.failures.iter();
        let loses = failures.any(|failure| !matches!(failure.kind, FailureKind::Degrade { .. }));
        loses.then(|| {
            "packets would be lost on links that fail: a flow sends what is lost of it over its \
             other links at once, and without any waits for a timeout; what the loss recovery of \
             NICs and their policies cost is not in the result"
                .to_owned()
        })
    }

    fn paused(&self) -> Option<String> {
        let has_pfc = self.setup.fabric.switch.pfc.is_some();
        (has_pfc && self.waiting.is_contended).then(|| {
            "switches have priority flow control: what its pauses stop beside the flows that cause \
             them is not in the result"
                .to_owned()
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
            "{} moves flows to other paths during a run; a fluid flow stays on the path that it \
             begins on, or is spread over all",
            scheme.name
        ))
    }

    fn hashed(&self) -> Option<String> {
        self.hashes_packets.then(|| {
            "packets are hashed to paths one by one: the queues where they collide on links that \
             are nearly full are not in the result (docs/fluid.md)"
                .to_owned()
        })
    }

    fn collided(&self) -> Option<String> {
        let control = self.setup.nic.congestion.name();
        self.waiting.is_contended.then(|| {
            format!(
                "flows collide on links between switches: {control} shares and fills such a link \
                 in another way than max-min fair rates do (docs/fluid.md)"
            )
        })
    }

    fn short(&self) -> Option<String> {
        let bytes = self.setup.nic.payload.get().saturating_mul(SHORT_PACKETS);
        let flows = &self.outcome.flows;
        let short = flows.iter().filter(|flow| flow.bytes.get() < bytes).count();
        (short > 0).then(|| {
            format!(
                "{short} of {} flows have fewer than {SHORT_PACKETS} packets: their times depend \
                 on queues of a few packets, which a fluid run does not have",
                flows.len()
            )
        })
    }
}
