//! What has to be sent: messages, and which of them wait for which.

mod error;
pub mod hpcc_flows;
mod incast;
mod permutation;
mod shift;
mod start_jitter;

pub use error::WorkloadError;
pub use incast::Incast;
pub use permutation::Permutation;
pub use shift::Shift;
pub use start_jitter::StartJitter;

use crate::ids::{HostId, MessageId};
use crate::units::{Bytes, Span, Time};

/// A message that a rank sends to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Who sends it.
    pub src: HostId,
    /// Who gets it; never the sender.
    pub dst: HostId,
    /// Its length.
    pub bytes: Bytes,
    /// Messages of one stream between the same pair share queue pairs, in order. Flows that
    /// applications would open connections of their own for have streams of their own.
    pub stream: u32,
    /// The earliest it may start; without dependencies, when it starts.
    pub start: Time,
}

/// Messages in order of their ids, and their dependencies.
///
/// A message starts at its `start`, or once every message that it waits for is over and its sender
/// has computed for the `gap`, whichever is later. A message that comes to the sender is over when
/// it has been delivered, one that the sender sent itself when it knows that it has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workload {
    /// Every message; a [`MessageId`] is a place here.
    pub messages: Vec<Message>,
    /// For each message how many it waits for; empty if none waits.
    pub waits_for: Vec<u32>,
    /// `first_dependent[m]..first_dependent[m + 1]` are the places in `dependents` of those that
    /// wait for `m`; empty if none waits.
    pub first_dependent: Vec<u32>,
    /// The waiting messages, grouped by what they wait for.
    pub dependents: Vec<MessageId>,
    /// How long after the last one that it waits for a message starts: what its sender computes
    /// in between.
    pub gap: Span,
}

impl Workload {
    /// Messages that wait for nothing but their start times.
    pub fn independent(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Messages with dependencies: each pair is (what is waited for, who waits).
    ///
    /// # Panics
    /// If a dependency is neither delivered nor sent where the dependent is sent.
    pub fn with_dependencies(
        messages: Vec<Message>,
        dependencies: &[(MessageId, MessageId)],
    ) -> Self {
        let mut waits_for = vec![0u32; messages.len()];
        let mut first_dependent = vec![0u32; messages.len() + 1];
        for &(before, after) in dependencies {
            let (Message { src, dst, .. }, host) =
                (messages[before.index()], messages[after.index()].src);
            assert!(
                host == src || host == dst,
                "{after} waits for {before}, which is sent and delivered elsewhere"
            );
            waits_for[after.index()] += 1;
            first_dependent[before.index() + 1] += 1;
        }
        for index in 1..first_dependent.len() {
            first_dependent[index] += first_dependent[index - 1];
        }
        let mut next = first_dependent.clone();
        let mut dependents = vec![MessageId::default(); dependencies.len()];
        for &(before, after) in dependencies {
            dependents[next[before.index()] as usize] = after;
            next[before.index()] += 1;
        }
        Self { messages, waits_for, first_dependent, dependents, gap: Span::ZERO }
    }

    /// Those that wait for `message`.
    pub fn dependents_of(&self, message: MessageId) -> &[MessageId] {
        if self.first_dependent.is_empty() {
            return &[];
        }
        let from = self.first_dependent[message.index()] as usize;
        let to = self.first_dependent[message.index() + 1] as usize;
        &self.dependents[from..to]
    }

    /// Payload bytes of all messages.
    pub fn total_bytes(&self) -> Bytes {
        self.messages.iter().fold(Bytes::ZERO, |sum, message| sum + message.bytes)
    }

    /// When the first message starts.
    pub fn first_start(&self) -> Time {
        self.messages.iter().map(|message| message.start).min().unwrap_or(Time::ZERO)
    }

    /// How long after `first_start` the last independent start is.
    pub fn start_spread(&self) -> Span {
        let last = self.messages.iter().map(|message| message.start).max();
        last.unwrap_or(Time::ZERO).since(self.first_start())
    }
}

/// A flow of a pattern, with a stream of its own.
fn flow(stream: u32, src: HostId, dst: HostId, bytes: Bytes) -> Message {
    Message { src, dst, bytes, stream, start: Time::ZERO }
}
