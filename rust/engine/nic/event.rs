//! Events of queue pairs, and whom they are for.

use crate::ids::QpId;

/// What happened to messages and paths. Deliveries and completions of work requests are reported
/// as completions instead, so that their events have a world as their owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NicEvent {
    /// The receiving half has every byte of its `message`-th message, from 0.
    Delivered {
        /// Of the receiving half.
        owner: Owner,
        /// Which message of the queue pair.
        message: u32,
    },
    /// The sending half was informed that the work of this id arrived.
    Completed {
        /// Of the sending half.
        owner: Owner,
        /// As given to [`Nic::post`](super::Nic::post).
        work: u64,
    },
    /// The sending half left a path for good.
    PathFailed {
        /// Of the sending half.
        owner: Owner,
        /// The path that it left.
        path: u16,
    },
}

/// Who owns the work of a queue pair: whom its events are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The program that posts work requests to this queue pair. It polls completions; the only
    /// event that it may get is [`NicEvent::PathFailed`], which no completion reports.
    Program(QpId),
    /// The world, which knows the queue pair by this cookie.
    World(u32),
}

impl Owner {
    /// The cookie of the world's queue pair.
    pub(super) const fn cookie(self) -> Option<u32> {
        match self {
            Self::World(cookie) => Some(cookie),
            Self::Program(_) => None,
        }
    }
}

/// How far the work on a queue pair has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backlog {
    /// All of it is acknowledged.
    Nothing,
    /// All of it is sent.
    Unacknowledged,
    /// There is something to send, for the first time or again.
    Unsent,
}
