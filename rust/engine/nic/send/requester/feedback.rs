//! Feedback to a policy from acknowledgements, NACKs and timers.

use std::collections::VecDeque;

use super::Requester;
use crate::balance::sender::{Feedback, PathSignal, SenderPolicy};
use crate::nic::NicEvent;
use crate::nic::recovery::{Lost, SendRecovery};
use crate::packet::AckView;
use crate::units::{Span, Time};

impl Requester {
    /// Informs the policy of the entropy values that got through: that of the last packet
    /// acknowledged, or those of all.
    #[inline]
    pub(super) fn notify_policy_of_ack(&mut self, now: Time, ack: AckView<'_>, new: u64) {
        if ack.condemns_path() {
            self.notify_policy(now, missing(now, ack, ack.entropy, PathSignal::Condemned));
        }
        let rtt = Span::from_ps(ack.echo().ps_until(now));
        if let Some(entropies) = &mut self.entropies {
            let acknowledged = self.recovery.unacknowledged();
            entropies.handle_ack(&ack.report(), acknowledged, |entropy, signal| {
                let marked = u32::from(signal == PathSignal::Marked);
                let feedback = Feedback { entropy, signal, packets: 1, marked, rtt };
                // Without a check of the path: only a policy that gets feedback has such a record.
                self.policy.handle_feedback(now, feedback);
            });
            return;
        }
        let feedback = Feedback {
            entropy: ack.entropy,
            signal: if ack.echoes_mark() { PathSignal::Marked } else { PathSignal::Good },
            packets: u32::try_from(new).unwrap_or(u32::MAX),
            marked: ack.report().marked_packets(),
            rtt,
        };
        self.notify_policy(now, feedback);
    }

    /// Handles a packet that did not arrive, although later ones did.
    pub(super) fn handle_hole(
        &mut self,
        now: Time,
        lost: Lost,
        rtt: Span,
        events: &mut VecDeque<NicEvent>,
    ) {
        let Lost { entropy, position, timed_out } = lost;
        if timed_out {
            self.notify_policy_of_timeout(now, entropy, events);
        } else {
            let signal = PathSignal::Nack;
            self.notify_policy(now, Feedback { entropy, signal, packets: 0, marked: 0, rtt });
        }
        self.on_gap(now, entropy, position);
    }

    /// Informs the policy of a packet without an answer within a timeout.
    pub(super) fn notify_policy_of_timeout(
        &mut self,
        now: Time,
        entropy: u16,
        events: &mut VecDeque<NicEvent>,
    ) {
        // A policy whose values the recovery overrides gets no feedback.
        if self.path.is_chosen()
            && let Some(failed) = self.policy.handle_timeout(now, entropy)
        {
            events.push_back(NicEvent::PathFailed { owner: self.owner, path: failed.0 });
        }
    }
}

/// Returns the feedback for a packet that did not arrive, or should have taken another path.
pub(super) fn missing(now: Time, ack: AckView<'_>, entropy: u16, signal: PathSignal) -> Feedback {
    let rtt = Span::from_ps(ack.echo().ps_until(now));
    Feedback { entropy, signal, packets: 0, marked: 0, rtt }
}
