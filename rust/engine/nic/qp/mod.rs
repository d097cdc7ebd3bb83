//! Queue pairs: their states, and what each state permits.
//!
//! Source: InfiniBand Architecture Specification, volume 1, section 10.3.1 (QP and EE context
//! states). `ibv_modify_qp` and its table in rdma-core express the same rules.
//!
//! All queue pairs are reliable connections. When the send queue of a reliable connection fails,
//! the whole queue pair goes to Error, so the NIC itself never enters `SendQueueError`. The
//! specification has that state for unreliable services; it is in the table for completeness.

pub(super) mod accounting;
pub(super) mod context_cache;
pub(super) mod delivery;
mod discarding;
pub(super) mod event_qps;
pub(super) mod lifecycle;
pub(super) mod peer_ranges;
pub(super) mod settings;
pub(super) mod table;

pub use lifecycle::{QpAttributes, Reporting, reverse_label};

use std::fmt;

/// State of a queue pair, named as in the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum QpState {
    /// New or reset: it has no peer yet.
    Reset,
    /// Receives can be posted; packets are dropped.
    Init,
    /// RTR: it receives and serves READs; work cannot be posted yet.
    ReadyToReceive,
    /// RTS: it sends and receives.
    ReadyToSend,
    /// SQD: it finishes the messages that it began. New work is accepted, but waits.
    SendQueueDrained,
    /// SQE: it receives; posted work is flushed.
    SendQueueError,
    /// Packets are dropped; all work is flushed.
    Error,
}

/// Handling of posted work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Posting {
    /// It is rejected with an error.
    Refused,
    /// It waits for another state.
    Queued,
    /// It goes to the requester immediately.
    Started,
    /// It completes immediately as flushed.
    Flushed,
}

/// The party that may change a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Initiator {
    /// The owner of the queue pair, with `Nic::modify_qp`.
    Owner,
    /// Only the NIC, when work fails.
    Nic,
}

/// The legal transitions. In addition, the owner may move any state to Reset or Error, and the NIC
/// may move every state that receives or sends to Error.
const TRANSITIONS: [(QpState, QpState, Initiator); 9] = [
    (QpState::Reset, QpState::Init, Initiator::Owner),
    (QpState::Init, QpState::Init, Initiator::Owner),
    (QpState::Init, QpState::ReadyToReceive, Initiator::Owner),
    (QpState::ReadyToReceive, QpState::ReadyToSend, Initiator::Owner),
    (QpState::ReadyToSend, QpState::ReadyToSend, Initiator::Owner),
    (QpState::ReadyToSend, QpState::SendQueueDrained, Initiator::Owner),
    (QpState::SendQueueDrained, QpState::ReadyToSend, Initiator::Owner),
    // Only unreliable services make this transition.
    (QpState::ReadyToSend, QpState::SendQueueError, Initiator::Nic),
    (QpState::SendQueueError, QpState::ReadyToSend, Initiator::Owner),
];

impl QpState {
    /// All states, in the order of the specification.
    pub const ALL: [Self; 7] = [
        Self::Reset,
        Self::Init,
        Self::ReadyToReceive,
        Self::ReadyToSend,
        Self::SendQueueDrained,
        Self::SendQueueError,
        Self::Error,
    ];

    /// True if the owner of a queue pair may move it from this state to `next`.
    pub fn can_transition_to(self, next: Self) -> bool {
        // Reset and Error are legal from every state, so the table does not list them.
        matches!(next, Self::Reset | Self::Error)
            || TRANSITIONS.contains(&(self, next, Initiator::Owner))
    }

    /// True if packets for the queue pair are processed.
    #[inline]
    pub(super) const fn receives(self) -> bool {
        // The receiving states are contiguous in the specification's order, so the check per packet
        // is one range comparison.
        let state = self as u8;
        Self::ReadyToReceive as u8 <= state && state <= Self::SendQueueError as u8
    }

    /// Returns how work posted to the send queue is handled.
    pub(super) const fn send_posting(self) -> Posting {
        match self {
            Self::Reset | Self::Init | Self::ReadyToReceive => Posting::Refused,
            Self::ReadyToSend => Posting::Started,
            Self::SendQueueDrained => Posting::Queued,
            Self::SendQueueError | Self::Error => Posting::Flushed,
        }
    }

    /// Returns how work posted to the receive queue is handled.
    pub(super) const fn receive_posting(self) -> Posting {
        match self {
            Self::Reset => Posting::Refused,
            Self::Error => Posting::Flushed,
            _ => Posting::Queued,
        }
    }
}

impl fmt::Display for QpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reset => "Reset",
            Self::Init => "Init",
            Self::ReadyToReceive => "RTR",
            Self::ReadyToSend => "RTS",
            Self::SendQueueDrained => "SQD",
            Self::SendQueueError => "SQE",
            Self::Error => "Error",
        })
    }
}

/// Index into one of the NIC's tables, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(pub(super) u32);

impl Slot {
    // No `Option`: a slot stays 4 bytes, and a lookup with this one finds nothing.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// Returns the last slot of a table with `count` items.
    pub(super) fn last_of(count: usize) -> Self {
        Self(u32::try_from(count - 1).expect("fewer than 2^24 queue pairs"))
    }

    pub(super) const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }

    /// Returns the index in the table. That of [`Slot::NONE`] is beyond the end of every table, so
    /// a lookup finds nothing.
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A queue pair, as the NIC finds it by the number on the wire. Its halves are created on demand
/// and stored elsewhere: most queue pairs of a simulation use only one of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Qp {
    pub state: QpState,
    pub life: Life,
    pub origin: Origin,
    pub role: Role,
    pub requester: Slot,
    pub responder: Slot,
    /// Work queues, if it reports by completions.
    pub queues: Slot,
}

// Four per cache line: a run may have a million queue pairs.
const _: () = assert!(size_of::<Qp>() == 16);

impl Qp {
    /// True if the half in `slot` exists and receives packets, and no work queues are involved.
    /// Nearly every packet of a simulation satisfies this and takes the fast path.
    #[inline]
    pub(super) const fn takes_fast_path(&self, slot: Slot) -> bool {
        self.state.receives() && self.queues.is_none() && !slot.is_none()
    }
}

/// Life cycle of a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Live,
    Destroyed,
    /// The driver has discarded it: no data for it is in flight, and late control packets have no
    /// effect.
    Discarded,
}

/// Slot and age of a requester. Schedule entries with equal times are ordered by age, whichever
/// slots the requesters were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    /// Number of requesters that the NIC created before this one.
    pub age: u32,
    pub slot: Slot,
}

/// Free slots of requesters and responders.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeHalves {
    pub requesters: Vec<Slot>,
    pub responders: Vec<Slot>,
    /// Number of requester slots that were reused.
    pub reused: u32,
}

/// Directions that a queue pair supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It sends and receives.
    Both,
    /// It has no requester.
    ReceiveOnly,
}

/// Reason why a queue pair was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// It is the regular one of its pair of peers and message stream.
    #[default]
    Regular,
    /// A splitter asked for it in addition to the regular one.
    Extra,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders the legal transitions and the behaviour of each state as a table that fits a screen.
    fn table() -> String {
        let mut text = String::from("from \\ to ");
        QpState::ALL.iter().for_each(|to| text += &format!(" {to:<6}"));
        text += " post send  post receive  packets\n";
        for from in QpState::ALL {
            text += &format!("{from:<10}");
            for to in QpState::ALL {
                let mark = match (
                    from.can_transition_to(to),
                    TRANSITIONS.contains(&(from, to, Initiator::Nic)),
                ) {
                    (true, _) => "yes",
                    (false, true) => "NIC",
                    (false, false) => ".",
                };
                text += &format!(" {mark:<6}");
            }
            let packets = if from.receives() { "taken" } else { "dropped" };
            let (send, receive) = (from.send_posting(), from.receive_posting());
            let [send, receive] = [send, receive].map(|it| format!("{it:?}").to_lowercase());
            text += &format!(" {send:<9}  {receive:<12}  {packets}\n");
        }
        text
    }

    #[test]
    fn qp_transitions() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("qp_transitions", table()));
    }
}
