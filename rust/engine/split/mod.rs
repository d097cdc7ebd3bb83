//! Splitters: the division of a message into flows at its sending host.
//!
//! A splitter turns messages into flows. Each flow has its own queue pair and, if the splitter pins
//! paths, its own path. A splitter knows sizes, destinations and equal-cost paths; it does not see
//! packets. Like the NIC it is sans-IO: messages, failed paths and the time go in, flows and a
//! wake-up time come out.

pub mod batch;
pub mod ethereal;
pub mod k_way;
pub mod line_cut;
pub mod pieces;
pub mod whole;

pub use pieces::{Cutter, SmallestPiece};

use crate::balance::Preset;
use crate::balance::sender::PathSpace;
use crate::ids::{HostId, MessageId, SwitchId};
use crate::units::{Bytes, Time};

/// Dispatches to splitters. To add one, write its file, a `mod` line and a line in the call below.
macro_rules! registry {
    ($($module:ident :: $splitter:ident),* $(,)?) => {
        /// The splitter of one host.
        #[derive(Debug)]
        pub enum Splitter {
            $(#[doc = concat!("See [`", stringify!($module), "`].")]
            $splitter($module::$splitter),)*
        }

        /// A splitter and its parameters.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum SplitConfig {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $splitter($module::Config),)*
        }

        impl SplitConfig {
            /// Returns the smallest piece that messages are cut into; `None` if they stay whole.
            pub fn smallest_piece(&self) -> Option<SmallestPiece> {
                match self { $(Self::$splitter(config) => config.smallest_piece(),)* }
            }

            /// Creates the splitter of a host.
            pub fn build(&self, host: &SplitterContext) -> Splitter {
                match self {
                    $(Self::$splitter(config) =>
                        Splitter::$splitter($module::$splitter::new(config, host)),)*
                }
            }
        }

        impl Split for Splitter {
            fn handle_message(&mut self, now: Time, request: &Request) {
                match self { $(Self::$splitter(it) => it.handle_message(now, request),)* }
            }
            fn handle_failed_path(&mut self, now: Time, edge: SwitchId, path: u16) {
                match self { $(Self::$splitter(it) => it.handle_failed_path(now, edge, path),)* }
            }
            fn handle_completed_flow(&mut self, now: Time) {
                match self { $(Self::$splitter(it) => it.handle_completed_flow(now),)* }
            }
            fn handle_timeout(&mut self, now: Time) {
                match self { $(Self::$splitter(it) => it.handle_timeout(now),)* }
            }
            fn poll_flow(&mut self, now: Time) -> Option<Flow> {
                match self { $(Self::$splitter(it) => it.poll_flow(now),)* }
            }
            fn next_flow(&self) -> Option<&Flow> {
                match self { $(Self::$splitter(it) => it.next_flow(),)* }
            }
            fn poll_timeout(&self) -> Option<Time> {
                match self { $(Self::$splitter(it) => it.poll_timeout(),)* }
            }
        }

        /// The presets of all splitters.
        pub const PRESETS: &[&[Preset]] = &[$($module::PRESETS),*];
    };
}

registry! {
    whole::Whole,
    k_way::KWay,
    ethereal::Ethereal,
    line_cut::LineCut,
}

/// Information that a splitter has about its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitterContext {
    /// Id of the sending host.
    pub host: HostId,
    /// Seed of the run.
    pub seed: u64,
    /// Payload of a full packet.
    pub payload: Bytes,
}

/// A message that a host should send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Id of the message.
    pub message: MessageId,
    /// Id of the receiving host.
    pub dst: HostId,
    /// Edge switch (ToR) of the receiver.
    pub edge: SwitchId,
    /// Length of the message.
    pub bytes: Bytes,
    /// Equal-cost paths to the receiver; a single path if both hosts share an edge switch.
    pub paths: PathSpace,
}

/// A message, or a piece of one, to be sent on one queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Id of the message.
    pub message: MessageId,
    /// Id of the receiving host.
    pub dst: HostId,
    /// Length of the flow.
    pub bytes: Bytes,
    /// Index of the piece within the message.
    pub piece: u32,
    /// Number of pieces of the message; 1 for a whole message.
    pub pieces: u32,
    /// Path to which the flow is pinned, under source routes.
    pub path: u16,
    /// Queue pair that sends it.
    pub queue_pair: QueuePairChoice,
}

/// Choice of a flow's queue pair, among those of its sender, receiver and message stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePairChoice {
    /// The queue pair of this index, which also carries other flows; 0 for whole messages.
    Index(u32),
    /// A queue pair without incomplete work: the first one opened by [`Self::Idle`] that is idle,
    /// or a new one if all are busy.
    Idle,
}

impl Flow {
    /// Returns the whole message as one flow.
    pub fn whole(request: &Request) -> Self {
        let Request { message, dst, bytes, .. } = *request;
        let queue_pair = QueuePairChoice::Index(0);
        Self { message, dst, bytes, piece: 0, pieces: 1, path: 0, queue_pair }
    }
}

/// Turns messages into flows.
pub trait Split {
    /// Accepts a message that starts at `now`, to be turned into flows.
    fn handle_message(&mut self, now: Time, request: &Request);

    /// Processes the failure of a path to hosts below `edge`.
    fn handle_failed_path(&mut self, _now: Time, _edge: SwitchId, _path: u16) {}

    /// Processes the completion of a flow that this splitter made.
    fn handle_completed_flow(&mut self, _now: Time) {}

    /// Performs the work that is due at `now` or earlier.
    fn handle_timeout(&mut self, _now: Time) {}

    /// Returns the next flow that starts at `now` or earlier.
    fn poll_flow(&mut self, now: Time) -> Option<Flow>;

    /// Returns the flow that starts next among those scheduled, so that its memory can be
    /// prefetched; `None` if no flow is scheduled, or if the next one is not known.
    fn next_flow(&self) -> Option<&Flow> {
        None
    }

    /// Returns the time at which to call `handle_timeout` and `poll_flow` again.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}
