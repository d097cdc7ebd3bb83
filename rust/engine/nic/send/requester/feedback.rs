//! Feedback to a policy from acknowledgements and NACKs.

use super::Requester;
use crate::balance::sender::{Feedback, PathSignal, SenderPolicy};
use crate::nic::recovery::SendRecovery;
use crate::packet::AckView;
use crate::units::{Span, Time};

impl Requester {
    /// Informs the policy of the entropy values that got through: that of the last packet
    /// acknowledged, or those of all.
    #[inline]
    pub(super) fn notify_policy_of_ack(&mut self, now: Time, ack: AckView<'_>, new: u64) {
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
}

/// Returns the feedback for a packet that did not arrive.
pub(super) fn missing(now: Time, ack: AckView<'_>, entropy: u16, signal: PathSignal) -> Feedback {
    let rtt = Span::from_ps(ack.echo().ps_until(now));
    Feedback { entropy, signal, packets: 0, marked: 0, rtt }
}
