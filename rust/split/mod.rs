//! Splitters: what happens to a message at its sending host before it becomes packets.
//!
//! A splitter turns messages into flows, each for a queue pair of its own, perhaps on a path of
//! its own. It knows sizes, destinations and equal-cost paths; it sees no packets. Like the NIC
//! it is sans-IO: messages, failed paths and the time go in, flows and a wake-up time come out.

pub mod batch;

use crate::balance::Preset;
use crate::balance::sender::PathSpace;
use crate::ids::{HostId, MessageId, SwitchId};
use crate::units::{Bytes, Time};

/// Makes splitters real everywhere: a line here is all that a splitter's file needs.
macro_rules! registry {
    ($($module:ident :: $splitter:ident),* $(,)?) => {
        $(pub mod $module;)*

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
            /// The splitter of `host`.
            pub fn build(&self, seed: u64, host: HostId) -> Splitter {
                match self {
                    $(Self::$splitter(config) =>
                        Splitter::$splitter($module::$splitter::new(config, seed, host)),)*
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
            fn handle_timeout(&mut self, now: Time) {
                match self { $(Self::$splitter(it) => it.handle_timeout(now),)* }
            }
            fn poll_flow(&mut self, now: Time) -> Option<Flow> {
                match self { $(Self::$splitter(it) => it.poll_flow(now),)* }
            }
            fn poll_timeout(&self) -> Option<Time> {
                match self { $(Self::$splitter(it) => it.poll_timeout(),)* }
            }
        }

        /// What the files of splitters name.
        pub const PRESETS: &[&[Preset]] = &[$($module::PRESETS),*];
    };
}

registry! {
    whole::Whole,
    k_way::KWay,
    ethereal::Ethereal,
    line_cut::LineCut,
}

/// A message that a host is asked to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Which message.
    pub message: MessageId,
    /// Who gets it.
    pub dst: HostId,
    /// The edge switch (ToR) of who gets it.
    pub edge: SwitchId,
    /// Its length.
    pub bytes: Bytes,
    /// The equal-cost paths there; one where sender and receiver share an edge switch.
    pub paths: PathSpace,
}

/// What a splitter makes of (a part of) a message: one queue pair's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The message it is part of.
    pub message: MessageId,
    /// Who gets it.
    pub dst: HostId,
    /// Its length.
    pub bytes: Bytes,
    /// Which piece of the message, from 0.
    pub piece: u32,
    /// How many pieces the message has.
    pub pieces: u32,
    /// The path it is pinned to, where the source routes.
    pub path: u16,
    /// Which of the queue pairs of its stream it goes on: 0 for whole messages.
    pub qp_index: u32,
}

impl Flow {
    /// The whole message as one flow.
    pub fn whole(request: &Request) -> Self {
        let Request { message, dst, bytes, .. } = *request;
        Self { message, dst, bytes, piece: 0, pieces: 1, path: 0, qp_index: 0 }
    }
}

/// Turns messages into flows.
pub trait Split {
    /// Takes a message.
    fn handle_message(&mut self, now: Time, request: &Request);

    /// Learns that a path to hosts below `edge` failed.
    fn handle_failed_path(&mut self, _now: Time, _edge: SwitchId, _path: u16) {}

    /// Does what was due at `now` or before.
    fn handle_timeout(&mut self, _now: Time) {}

    /// The next flow that starts at `now` or before.
    fn poll_flow(&mut self, now: Time) -> Option<Flow>;

    /// When to call `handle_timeout` and `poll_flow` again.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}
