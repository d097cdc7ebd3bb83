//! The entropy value of each packet: the policy's choice, or that of the first packet if the
//! recovery keeps to one path. The policy then gets no feedback.

use super::Requester;
use crate::balance::sender::{Feedback, Sender, SenderPolicy as _};
use crate::nic::recovery::Recovery;
use crate::packet::PlaneMask;
use crate::units::Time;

/// The source of a packet's entropy value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// The policy chooses one for each packet and gets feedback.
    Chosen,
    /// The policy has a single value for all packets.
    PolicyConstant,
    /// The value of the first packet, which was not sent yet.
    Unset,
    /// This value, which was that of the first packet.
    Fixed(u16),
}

impl Path {
    /// Returns the source for a new requester with that recovery and policy.
    pub(super) fn new(recovery: Recovery, policy: &Sender) -> Self {
        match (recovery.uses_single_path(), policy.keeps_value()) {
            (false, _) => Self::Chosen,
            (true, true) => Self::PolicyConstant,
            (true, false) => Self::Unset,
        }
    }

    /// True if the policy gets feedback.
    #[inline]
    pub(super) fn is_chosen(self) -> bool {
        self == Self::Chosen
    }
}

impl Requester {
    /// Returns the entropy value of the next packet.
    #[inline]
    pub(super) fn entropy(&mut self, now: Time) -> u16 {
        if let Path::Fixed(entropy) = self.path {
            return entropy;
        }
        let entropy = match self.has_path_windows() {
            true => self.policy.choose_path(now, self.open_planes()),
            false => self.policy.entropy(now),
        };
        self.fix_path(entropy)
    }

    /// True if each path has a window.
    #[inline]
    fn has_path_windows(&self) -> bool {
        self.planes.as_ref().is_some_and(|windows| windows.are_of_paths())
    }

    /// Returns the entropy value of the next packet of a NIC with several ports; `None` if it must
    /// wait for a port that is not free.
    #[inline]
    pub(in crate::nic) fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
        let free = self.open_among(free);
        // Before the policy is asked, which counts each value that it returns.
        if free.is_empty() {
            return None;
        }
        if let Path::Fixed(entropy) = self.path {
            return Some(entropy);
        }
        let entropy = match self.has_path_windows() {
            true => self.policy.choose_path(now, free),
            false => self.policy.choose(now, free)?,
        };
        Some(self.fix_path(entropy))
    }

    /// Returns the free planes whose window has room. If each path has a window, returns the paths
    /// of free planes whose window has room.
    #[inline]
    pub(in crate::nic) fn open_among(&self, free: PlaneMask) -> PlaneMask {
        let open = self.open_planes();
        match &self.planes {
            Some(windows) if windows.are_of_paths() => {
                let is_free = |path: &u32| free.has(path % windows.planes());
                open.planes().filter(is_free).fold(PlaneMask::NONE, PlaneMask::with)
            }
            _ => free.and(open),
        }
    }

    #[inline]
    fn fix_path(&mut self, entropy: u16) -> u16 {
        // From the first packet on, all packets use its value.
        if self.path == Path::Unset {
            self.path = Path::Fixed(entropy);
        }
        entropy
    }

    /// Informs the policy of what became of a packet.
    #[inline]
    pub(super) fn notify_policy(&mut self, now: Time, feedback: Feedback) {
        if self.path.is_chosen() {
            self.policy.handle_feedback(now, feedback);
        }
    }
}
