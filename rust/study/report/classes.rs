//! Messages of each traffic class of a run, and their completion times.

use schemars::JsonSchema;
use serde::Serialize;

use super::Fct;
use crate::fabric::{FlowRecord, Outcome, Setup};
use crate::units::{Bytes, Span, Time};

/// Results of a traffic class.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClassSummary {
    /// Name in the scenario.
    pub name: String,
    /// Number of messages.
    pub messages: u64,
    /// Messages whose sender received the last acknowledgement.
    pub messages_completed: u64,
    /// Bytes of all messages.
    pub bytes: u64,
    /// Data packets that were lost.
    pub dropped: u64,
    /// Completion times of the messages that completed, each from the message's start.
    pub fct_ns: Fct,
}

impl ClassSummary {
    /// Returns the classes of a run whose messages are known in advance; empty without traffic
    /// classes.
    pub fn of_setup(outcome: &Outcome, setup: &Setup) -> Vec<Self> {
        let (classes, workload) = (&setup.fabric.classes, &setup.workload);
        if classes.is_empty() {
            return Vec::new();
        }
        let policies = setup.policies();
        let mut times: Vec<Vec<Span>> = vec![Vec::new(); classes.len()];
        let mut counts = vec![(0, Bytes::ZERO); classes.len()];
        let class_of =
            |message: usize| policies.class_of(workload.messages[message].stream).index();
        for (index, message) in workload.messages.iter().enumerate() {
            let (messages, bytes) = &mut counts[class_of(index)];
            *messages += 1;
            *bytes += message.bytes;
        }
        // Completion times are those of completed messages, in order of message ids, as flows are.
        // Flows cannot give them: a flow of a relayed message starts later than its message.
        let mut completions = outcome.message_fct.iter().copied();
        for flows in outcome.flows.chunk_by(|one, next| one.message == next.message) {
            let message = flows[0].message.index();
            if is_complete(flows, workload.messages[message].bytes) {
                times[class_of(message)].extend(completions.next());
            }
        }
        let all = classes.iter().zip(counts).zip(times).zip(&outcome.dropped_by_class);
        let summary = all.map(|(((class, (messages, bytes)), times), &dropped)| Self {
            name: class.name.clone(),
            messages,
            messages_completed: times.len() as u64,
            bytes: bytes.get(),
            dropped,
            fct_ns: Fct::of(&times),
        });
        summary.collect()
    }
}

/// Returns true if a message of `bytes` completed, judged by its flows.
fn is_complete(flows: &[FlowRecord], bytes: Bytes) -> bool {
    let posted: u64 = flows.iter().map(|flow| flow.bytes.get()).sum();
    flows.iter().all(|flow| flow.completed != Time::NEVER) && posted >= bytes.get()
}
