//! Events of queue pairs and their owners.

use crate::ids::QpId;

/// An event of a message or a path. Work requests report delivery and completion as completions
/// instead, so those two events always belong to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NicEvent {
    /// The responder has every byte of a message.
    Delivered {
        /// Owner of the responder.
        owner: Owner,
        /// Index of the message on its queue pair, from 0.
        message: u32,
    },
    /// The requester learned that a message has arrived.
    Completed {
        /// Owner of the requester.
        owner: Owner,
        /// The id given to [`Nic::post`](super::Nic::post).
        work: u64,
    },
    /// The requester abandoned a path permanently.
    PathFailed {
        /// Owner of the requester.
        owner: Owner,
        /// The abandoned path.
        path: u16,
    },
}

/// Owner of a queue pair's work: the receiver of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The program that posts work requests to this queue pair. It polls completions. The only
    /// event that it may receive is [`NicEvent::PathFailed`], which no completion reports.
    Program(QpId),
    /// The driver, which identifies the queue pair by this cookie.
    Driver(u32),
}

impl Owner {
    /// Returns the cookie if the driver owns the queue pair.
    pub(super) const fn cookie(self) -> Option<u32> {
        match self {
            Self::Driver(cookie) => Some(cookie),
            Self::Program(_) => None,
        }
    }
}

/// Progress of the work posted to a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backlog {
    /// All of it is acknowledged.
    Nothing,
    /// All of it is sent, but not all is acknowledged.
    Unacknowledged,
    /// Some of it is still to be sent or retransmitted.
    Unsent,
}
