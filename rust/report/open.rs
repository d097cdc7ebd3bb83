//! The messages that a run left open, said plainly.

use std::fmt;

use crate::fabric::Outcome;
use crate::ids::MessageId;
use crate::topology::Topology;
use crate::units::{Bytes, Time};
use crate::workload::Workload;

/// How many open messages are named; a stalled all-to-all has tens of thousands.
const NAMED: usize = 5;

/// How far an open message came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It was never posted: it waits for others, or for its start time.
    NotStarted,
    /// Some of it is not at its receiver.
    NotDelivered,
    /// It is all at its receiver, yet its sender has not the last acknowledgement.
    NotAcknowledged,
}

/// A message that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenMessage {
    /// Which.
    pub message: MessageId,
    /// Name of its sender.
    pub src: String,
    /// Name of its receiver.
    pub dst: String,
    /// Its length.
    pub bytes: Bytes,
    /// How far it came.
    pub stage: Stage,
}

/// All messages that are not complete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenMessages {
    /// How many there are.
    pub count: u64,
    /// The first few of them, in order of message ids.
    pub first: Vec<OpenMessage>,
}

impl OpenMessages {
    /// Those of a run of `workload` on `topology`.
    pub fn of(outcome: &Outcome, workload: &Workload, topology: &Topology) -> Self {
        let mut open = Self::default();
        let mut flows = outcome.flows.as_slice();
        for (index, message) in workload.messages.iter().enumerate() {
            let pieces = flows.iter().take_while(|flow| flow.message.index() == index).count();
            let (own, others) = flows.split_at(pieces);
            flows = others;
            let stage = if own.is_empty() {
                Stage::NotStarted
            } else if own.iter().any(|flow| flow.delivered == Time::NEVER) {
                Stage::NotDelivered
            } else if own.iter().any(|flow| flow.completed == Time::NEVER) {
                Stage::NotAcknowledged
            } else {
                continue;
            };
            open.count += 1;
            if open.first.len() < NAMED {
                let hosts = topology.host_names();
                open.first.push(OpenMessage {
                    message: MessageId(u32::try_from(index).expect("ids are 32 bits")),
                    src: hosts[message.src.index()].clone(),
                    dst: hosts[message.dst.index()].clone(),
                    bytes: message.bytes,
                    stage,
                });
            }
        }
        open
    }
}

impl OpenMessages {
    /// Those of a run that has forgotten what is over: of those that were not started, it knows
    /// the number alone.
    pub fn of_flows(outcome: &Outcome, topology: &Topology) -> Self {
        let completed = outcome.passed.as_ref().map_or(0, |passed| passed.message_fct.count());
        let hosts = topology.host_names();
        let mut first: Vec<OpenMessage> = Vec::new();
        for flow in &outcome.flows {
            let (message, bytes) = (flow.message, flow.bytes);
            let stage = match flow.delivered {
                Time::NEVER => Stage::NotDelivered,
                _ => Stage::NotAcknowledged,
            };
            if let Some(last) = first.last_mut().filter(|last| last.message == message) {
                last.bytes += bytes;
                last.stage = if stage == Stage::NotDelivered { stage } else { last.stage };
                continue;
            }
            if first.len() == NAMED {
                break;
            }
            let [src, dst] = [flow.src, flow.dst].map(|host| hosts[host.index()].clone());
            first.push(OpenMessage { message, src, dst, bytes, stage });
        }
        Self { count: outcome.messages.saturating_sub(completed).max(first.len() as u64), first }
    }
}

impl fmt::Display for OpenMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, src, dst, bytes, stage } = self;
        let stage = match stage {
            Stage::NotStarted => "not started",
            Stage::NotDelivered => "not delivered",
            Stage::NotAcknowledged => "delivered, not acknowledged",
        };
        write!(f, "message {} from {src} to {dst}, {bytes}: {stage}", message.0)
    }
}

/// A line a message.
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
    fn each_is_named_with_how_far_it_came() {
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
    fn many_are_counted_and_a_few_named() {
        let mut workload = sample::workload();
        workload.messages = vec![workload.messages[0]; 100];
        let mut outcome = sample::stalled();
        outcome.flows.clear();
        let text = OpenMessages::of(&outcome, &workload, &sample::topology()).to_string();
        assert_eq!(text.lines().count(), NAMED + 1);
        assert!(text.ends_with("  ... and 95 more\n"), "{text}");
    }
}
