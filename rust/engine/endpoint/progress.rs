//! Progress of a message.

use crate::units::Time;

/// Progress of a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// Number of flows that the message is split into; 0 until the first is posted.
    pub(super) pieces: u32,
    pub(super) delivered: u32,
    pub(super) completed: u32,
    /// Number of tasks that must end before the message starts.
    pub(super) waits_for: u32,
    pub(super) started: Time,
    pub(super) completed_at: Time,
}

impl Progress {
    pub(super) fn is_delivered(&self) -> bool {
        self.pieces > 0 && self.delivered == self.pieces
    }

    pub(super) fn is_complete(&self) -> bool {
        self.pieces > 0 && self.completed == self.pieces
    }
}
