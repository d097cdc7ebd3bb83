//! Messages that a run did not complete.

use std::fmt;

use crate::fabric::Outcome;
use crate::ids::MessageId;
use crate::topology::Topology;
use crate::units::{Bytes, Time};
use crate::workload::Workload;

/// Maximum number of open messages that are listed; a stalled all-to-all has tens of thousands.
const MAX_LISTED: usize = 5;

/// State of an open message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageState {
    /// Not posted: it waits for other messages or for its start time.
    NotStarted,
    /// Posted, but the receiver does not have all of its bytes.
    NotDelivered,
    /// Delivered, but the sender has not received the last acknowledgement.
    NotAcknowledged,
}

/// A message that has not completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenMessage {
    /// Id of the message in the workload.
    pub message: MessageId,
    /// Name of the sender.
    pub src: String,
    /// Name of the receiver.
    pub dst: String,
    /// Length of the message's payload.
    pub bytes: Bytes,
    /// State at the end of the run.
    pub state: MessageState,
}

/// All messages that have not completed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenMessages {
    /// Number of open messages.
    pub count: u64,
    /// The first few open messages, in order of message id.
    pub first: Vec<OpenMessage>,
}

impl OpenMessages {
    /// Returns the open messages after a run of `workload` on `topology`.
    pub fn of(outcome: &Outcome, workload: &Workload, topology: &Topology) -> Self {
        let mut open = Self::default();
        let mut flows = outcome.flows.as_slice();
        for (index, message) in workload.messages.iter().enumerate() {
            let pieces = flows.iter().take_while(|flow| flow.message.index() == index).count();
            let (own, others) = flows.split_at(pieces);
            flows = others;
            let state = if own.is_empty() {
                MessageState::NotStarted
            } else if own.iter().any(|flow| flow.delivered == Time::NEVER) {
                MessageState::NotDelivered
            } else if own.iter().any(|flow| flow.completed == Time::NEVER) {
                MessageState::NotAcknowledged
            } else {
                continue;
            };
            open.count += 1;
            if open.first.len() < MAX_LISTED {
                let hosts = topology.host_names();
                open.first.push(OpenMessage {
                    message: MessageId(u32::try_from(index).expect("ids are 32 bits")),
                    src: hosts[message.src.index()].clone(),
                    dst: hosts[message.dst.index()].clone(),
                    bytes: message.bytes,
                    state,
                });
            }
        }
        open
    }
}

impl OpenMessages {
    /// Returns the open messages after a run that discarded completed messages. Messages that were
    /// not started are only counted.
    pub(crate) fn of_flows(outcome: &Outcome, topology: &Topology) -> Self {
        let completed = outcome.discarded.as_ref().map_or(0, |it| it.message_fct.count());
        let hosts = topology.host_names();
        let mut first: Vec<OpenMessage> = Vec::new();
        for flow in &outcome.flows {
            let (message, bytes) = (flow.message, flow.bytes);
            let state = match flow.delivered {
                Time::NEVER => MessageState::NotDelivered,
                _ => MessageState::NotAcknowledged,
            };
            if let Some(last) = first.last_mut().filter(|last| last.message == message) {
                last.bytes += bytes;
                last.state = if state == MessageState::NotDelivered { state } else { last.state };
                continue;
            }
            if first.len() == MAX_LISTED {
                break;
            }
            let [src, dst] = [flow.src, flow.dst].map(|host| hosts[host.index()].clone());
            first.push(OpenMessage { message, src, dst, bytes, state });
        }
        Self { count: outcome.messages.saturating_sub(completed).max(first.len() as u64), first }
    }
}

impl fmt::Display for OpenMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, src, dst, bytes, state } = self;
        let state = match state {
            MessageState::NotStarted => "not started",
            MessageState::NotDelivered => "not delivered",
            MessageState::NotAcknowledged => "delivered, not acknowledged",
        };
        write!(f, "message {} from {src} to {dst}, {bytes}: {state}", message.0)
    }
}

/// Writes a line for each listed message.
impl fmt::Display for OpenMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for message in &self.first {
            writeln!(f, "  {message}")?;
        }
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            more => writeln!(f, "  ... and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn each_open_message_is_listed_with_its_state() {
        let topology = sample::topology();
        let open = OpenMessages::of(&sample::stalled(), &sample::workload(), &topology);
        assert_eq!(open.count, 2);
        assert_eq!(
            open.to_string(),
            "  message 1 from host1 to host2, 8192B: not delivered\n  \
             message 2 from host2 to host3, 4096B: not started\n"
        );
        let done = OpenMessages::of(&sample::completed(), &sample::workload(), &topology);
        assert_eq!(done, OpenMessages::default());
    }

    #[test]
    fn all_open_messages_are_counted_and_a_few_are_listed() {
        let mut workload = sample::workload();
        workload.messages = vec![workload.messages[0]; 100];
        let mut outcome = sample::stalled();
        outcome.flows.clear();
        let text = OpenMessages::of(&outcome, &workload, &sample::topology()).to_string();
        assert_eq!(text.lines().count(), MAX_LISTED + 1);
        assert!(text.ends_with("  ... and 95 more\n"), "{text}");
    }
}
