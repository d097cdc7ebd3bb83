//! The entropy value of each packet: that of the policy, or that of the first packet where the
//! recovery keeps to one path. A policy then gets no feedback.

use super::Requester;
use crate::balance::sender::{Feedback, Sender, SenderPolicy as _};
use crate::nic::recovery::Recovery;
use crate::packet::PlaneMask;
use crate::units::Time;

/// Which entropy value packets get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// What the policy chooses for each, and it gets feedback.
    Chosen,
    /// That of the policy, which has one of its own for all packets.
    OfPolicy,
    /// That of the first packet, which was not sent yet.
    Undrawn,
    /// This one.
    Drawn(u16),
}

impl Path {
    /// How packets of a new sending half with that recovery and policy get theirs.
    pub(super) fn new(recovery: Recovery, policy: &Sender) -> Self {
        match (recovery.keeps_path(), policy.keeps_value()) {
            (false, _) => Self::Chosen,
            (true, true) => Self::OfPolicy,
            (true, false) => Self::Undrawn,
        }
    }

    /// Whether the policy gets feedback.
    #[inline]
    pub(super) fn is_chosen(self) -> bool {
        self == Self::Chosen
    }
}

impl Requester {
    /// The entropy value of the next packet.
    #[inline]
    pub(super) fn entropy(&mut self, now: Time) -> u16 {
        if let Path::Drawn(entropy) = self.path {
            return entropy;
        }
        let entropy = self.policy.entropy(now);
        self.keep(entropy)
    }

    /// The entropy value of the next packet of a NIC with several ports; `None` if it is to wait
    /// for another one than these.
    #[inline]
    pub(in crate::nic) fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
        let free = self.open(free);
        if free.is_empty() {
            return None;
        }
        if let Path::Drawn(entropy) = self.path {
            return Some(entropy);
        }
        let entropy = self.policy.choose(now, free)?;
        Some(self.keep(entropy))
    }

    /// Those of these planes whose window has room.
    #[inline]
    pub(in crate::nic) fn open(&self, free: PlaneMask) -> PlaneMask {
        free.and(self.open_planes())
    }

    #[inline]
    fn keep(&mut self, entropy: u16) -> u16 {
        if self.path == Path::Undrawn {
            self.path = Path::Drawn(entropy);
        }
        entropy
    }

    /// Tells the policy what became of a packet.
    #[inline]
    pub(super) fn notify_policy(&mut self, now: Time, feedback: Feedback) {
        if self.path.is_chosen() {
            self.policy.handle_feedback(now, feedback);
        }
    }
}
