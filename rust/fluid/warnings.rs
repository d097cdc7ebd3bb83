//! Where a fluid run is not meant to be trusted.

use super::waiting::Waiting;
use crate::balance::Scheme;
use crate::balance::sender::SenderConfig;
use crate::balance::switch::SwitchConfig;
use crate::fabric::{FailureKind, Outcome, Setup};

/// Flows of fewer packets are short: their time is that of their packets on their way, and queues
/// of a few packets matter \[inferred\].
const SHORT_PACKETS: u64 = 8;

/// The reasons why packets may take other times than a fluid run says.
pub(super) fn of(setup: &Setup, outcome: &Outcome, waiting: &Waiting) -> Vec<String> {
    let all = [
        lost_in_buffers(setup, waiting),
        lost_on_links(setup),
        paused(setup),
        repathed(setup),
        short(setup, outcome),
    ];
    all.into_iter().flatten().collect()
}

fn lost_in_buffers(setup: &Setup, waiting: &Waiting) -> Option<String> {
    let (port, bytes) = waiting.overflow().filter(|_| setup.fabric.switch.pfc.is_none())?;
    let (from, to) = setup.topology.ends_of(port);
    let [from, to] = [from, to].map(|node| setup.topology.node_name(node));
    let control = setup.nic.congestion.name();
    Some(format!(
        "packets would be lost: up to {bytes} of them would wait at {from} for the link to {to} \
         before {control} has slowed the senders down, more than the switch has memory for; the \
         time to send them again is not in the result"
    ))
}

fn lost_on_links(setup: &Setup) -> Option<String> {
    let failures = &setup.fabric.failures;
    let loses = failures.iter().any(|failure| !matches!(failure.kind, FailureKind::Degrade { .. }));
    loses.then(|| {
        "packets would be lost on links that fail: the part of a flow on them is sent over the \
         others at once, and a flow with no other link moves after a timeout; how the loss recovery \
         of a NIC and its policy get there is not in the result"
            .to_owned()
    })
}

fn paused(setup: &Setup) -> Option<String> {
    setup.fabric.switch.pfc.is_some().then(|| {
        "switches have priority flow control: what their pauses stop beside the flows that cause \
         them is not in the result"
            .to_owned()
    })
}

fn repathed(setup: &Setup) -> Option<String> {
    let policies = setup.policies();
    let moves = |scheme: &&Scheme| {
        matches!(
            scheme.sender,
            SenderConfig::Flowlet(_) | SenderConfig::Plb(_) | SenderConfig::MpRdma(_)
        ) || matches!(scheme.switch, SwitchConfig::LetFlow(_) | SwitchConfig::Conga(_))
    };
    let scheme = policies.used().map(|policy| &policy.scheme).find(moves)?;
    Some(format!(
        "{} moves flows to other paths during a run; a fluid flow stays on the path that it begins \
         on, or is spread over all",
        scheme.name
    ))
}

fn short(setup: &Setup, outcome: &Outcome) -> Option<String> {
    let bytes = setup.nic.payload.get().saturating_mul(SHORT_PACKETS);
    let short = outcome.flows.iter().filter(|flow| flow.bytes.get() < bytes).count();
    (short > 0).then(|| {
        format!(
            "{short} of {} flows have fewer than {SHORT_PACKETS} packets: their times depend on \
             queues of a few packets, which a fluid run does not have",
            outcome.flows.len()
        )
    })
}
