//! Queue pairs: their states, and what each state does.
//!
//! Source: InfiniBand Architecture Specification, volume 1, section 10.3.1 (QP and EE context
//! states); `ibv_modify_qp` and the table behind it in rdma-core spell the same rules.
//!
//! Our queue pairs are reliable connections. A reliable connection whose send queue fails goes to
//! Error as a whole, so the NIC itself never enters `SendQueueError`: the specification has that
//! state for unreliable services, and the table keeps it so that it is whole.

pub(super) mod accounting;
pub(super) mod context_cache;
pub(super) mod delivery;
mod discarding;
pub(super) mod event_qps;
pub(super) mod lifecycle;
pub(super) mod peer_ranges;
pub(super) mod settings;
pub(super) mod table;

pub use lifecycle::{QpAttributes, Reporting, answer_label};

use std::fmt;

/// The state of a queue pair, in the words of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum QpState {
    /// New, or reset: it has no peer yet.
    Reset,
    /// It takes receives; packets for it are dropped.
    Init,
    /// RTR: it receives, and answers READs; work cannot be posted yet.
    ReadyToReceive,
    /// RTS: it sends and receives.
    ReadyToSend,
    /// SQD: it finishes the messages that it began; work is accepted, and waits.
    SendQueueDrained,
    /// SQE: it receives; work posted is flushed.
    SendQueueError,
    /// Packets for it are dropped; all work is flushed.
    Error,
}

/// How posted work is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Posting {
    /// It is refused with an error.
    Refused,
    /// It waits for another state.
    Queued,
    /// The sending half gets it at once.
    Started,
    /// It completes at once, flushed.
    Flushed,
}

/// Who may change a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The owner of the queue pair, with `Nic::modify_qp`.
    Owner,
    /// The NIC alone, when work fails.
    Nic,
}

/// The changes of states that there are. From every state the owner may also go to Reset and to
/// Error, and from all that receive or send the NIC may go to Error.
const TRANSITIONS: [(QpState, QpState, By); 9] = [
    (QpState::Reset, QpState::Init, By::Owner),
    (QpState::Init, QpState::Init, By::Owner),
    (QpState::Init, QpState::ReadyToReceive, By::Owner),
    (QpState::ReadyToReceive, QpState::ReadyToSend, By::Owner),
    (QpState::ReadyToSend, QpState::ReadyToSend, By::Owner),
    (QpState::ReadyToSend, QpState::SendQueueDrained, By::Owner),
    (QpState::SendQueueDrained, QpState::ReadyToSend, By::Owner),
    (QpState::ReadyToSend, QpState::SendQueueError, By::Nic),
    (QpState::SendQueueError, QpState::ReadyToSend, By::Owner),
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

    /// Whether the owner of a queue pair in this state may take it to `next`.
    pub fn may_become(self, next: Self) -> bool {
        matches!(next, Self::Reset | Self::Error) || TRANSITIONS.contains(&(self, next, By::Owner))
    }

    /// Whether packets for the queue pair are processed.
    #[inline]
    pub(super) const fn receives(self) -> bool {
        // The states that receive are neighbours in the order of the specification, so that the
        // check of each packet is a range of numbers.
        let state = self as u8;
        Self::ReadyToReceive as u8 <= state && state <= Self::SendQueueError as u8
    }

    /// How work posted to the send queue is handled.
    pub(super) const fn sending(self) -> Posting {
        match self {
            Self::Reset | Self::Init | Self::ReadyToReceive => Posting::Refused,
            Self::ReadyToSend => Posting::Started,
            Self::SendQueueDrained => Posting::Queued,
            Self::SendQueueError | Self::Error => Posting::Flushed,
        }
    }

    /// How work posted to the receive queue is handled.
    pub(super) const fn receiving(self) -> Posting {
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

/// An index into one of the NIC's tables, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(pub(super) u32);

impl Slot {
    pub(super) const NONE: Self = Self(u32::MAX);

    /// The slot of the last of `count`.
    pub(super) fn last_of(count: usize) -> Self {
        Self(u32::try_from(count - 1).expect("fewer than 2^24 queue pairs"))
    }

    pub(super) const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }

    /// Its index in the table; beyond the end of every table for [`Slot::NONE`].
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A queue pair, as the NIC finds it by the number on the wire. Its halves are made when they are
/// needed and lie elsewhere: most queue pairs of a simulation use one of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Qp {
    pub state: QpState,
    pub life: Life,
    pub origin: Origin,
    pub role: Role,
    pub requester: Slot,
    pub responder: Slot,
    /// Its work queues, if it reports by completions.
    pub queues: Slot,
}

// Four fill a cache line: a run may have a million queue pairs.
const _: () = assert!(size_of::<Qp>() == 16);

impl Qp {
    /// Whether its half in `slot` exists and receives packets, and no work queues are involved:
    /// true for nearly every packet of a simulation, which then takes the short path.
    #[inline]
    pub(super) const fn takes_fast_path(&self, slot: Slot) -> bool {
        self.state.receives() && self.queues.is_none() && !slot.is_none()
    }
}

/// Whether a queue pair still exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Live,
    Destroyed,
    /// The world has discarded it: no data for it is on the way, and answers are too late to
    /// matter.
    Gone,
}

/// The place of a sending half, and when it was made: of two entries of equal times that of the
/// older half comes first, whatever place it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    /// How many sending halves of the NIC were made before.
    pub age: u32,
    pub slot: Slot,
}

/// The places of halves that are free.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeHalves {
    pub requesters: Vec<Slot>,
    pub responders: Vec<Slot>,
    /// How many sending halves have taken the place of another.
    pub reused: u32,
}

/// What a queue pair is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It sends and receives.
    Both,
    /// It has no sending half.
    ReceiveOnly,
}

/// Why a queue pair was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// It is the regular one of its pair of peers and message stream.
    #[default]
    Regular,
    /// A splitter asked for it beyond that one.
    Extra,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Legal changes of states, and what each state does, as a table that fits a screen.
    fn table() -> String {
        let mut text = String::from("from \\ to ");
        QpState::ALL.iter().for_each(|to| text += &format!(" {to:<6}"));
        text += " post send  post receive  packets\n";
        for from in QpState::ALL {
            text += &format!("{from:<10}");
            for to in QpState::ALL {
                let mark = match (from.may_become(to), TRANSITIONS.contains(&(from, to, By::Nic))) {
                    (true, _) => "yes",
                    (false, true) => "NIC",
                    (false, false) => ".",
                };
                text += &format!(" {mark:<6}");
            }
            let packets = if from.receives() { "taken" } else { "dropped" };
            let (send, receive) = (from.sending(), from.receiving());
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
