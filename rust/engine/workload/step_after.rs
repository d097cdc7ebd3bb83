//! Start condition of a task that waits for a message from another host.

use serde::{Deserialize, Serialize};

use super::{Delay, DelayKind, Workload};
use crate::ids::TaskId;
use crate::units::Span;

/// The event that meets a dependency of a task on a message from another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepAfter {
    /// The receiver has the whole message.
    #[default]
    Delivery,
    /// The sender has the last acknowledgement. Simulators that couple ASTRA-sim with ns-3, among
    /// them Ethereal's, report a message to both of its ends at that time. It costs no message: the
    /// receiver is notified immediately.
    Acknowledgement,
}

impl StepAfter {
    /// Rewrites the workload so that this event meets its dependencies.
    ///
    /// With [`Self::Acknowledgement`], a zero delay at the message's sender is inserted before
    /// dependents at the receiver. The delay waits for the completion of the message, and the end
    /// of a delay is known at every host.
    pub fn apply(self, workload: Workload) -> Workload {
        if self == Self::Delivery || workload.dependents.is_empty() {
            return workload;
        }
        let count = u32::try_from(workload.task_count()).expect("ids are 32 bits");
        let mut completions: Vec<Delay> = Vec::new();
        let mut dependencies = Vec::with_capacity(workload.dependents.len());
        for before in workload.tasks() {
            let sender = workload.message(before).map(|message| message.src);
            let receives = |after: &TaskId| sender.is_some_and(|it| it != workload.host_of(*after));
            let dependents = workload.dependents_of(before);
            let completion = TaskId(count + completions.len() as u32);
            if let Some(host) = sender.filter(|_| dependents.iter().any(receives)) {
                completions.push(Delay { host, span: Span::ZERO });
                dependencies.push((before, completion));
            }
            dependencies.extend(dependents.iter().map(|after| {
                let met_by = if receives(after) { completion } else { before };
                (met_by, *after)
            }));
        }
        let Workload { messages, mut delays, mut lanes, gap, jobs, starts_after, .. } = workload;
        let (mut labels, operation) = (workload.labels, workload.operation);
        if let Some(labels) = &mut labels {
            labels.begin(delays.len(), DelayKind::Waiting);
        }
        delays.append(&mut completions);
        if !lanes.is_empty() {
            lanes.resize(delays.len(), None);
        }
        let rewritten = Workload::with_delays(messages, delays, &dependencies);
        Workload { lanes, gap, jobs, starts_after, labels, operation, ..rewritten }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, MessageId};
    use crate::units::Bytes;
    use crate::workload::Message;

    /// Two messages of a host to another, and the other's reply, which depends on the first. The
    /// second depends on the first at its sender.
    fn workload() -> Workload {
        let [a, b] = [HostId(0), HostId(1)];
        let message = |src, dst| Message::starting_at_zero(0, src, dst, Bytes::new(1));
        let messages = vec![message(a, b), message(a, b), message(b, a)];
        let waits = [(MessageId(0), MessageId(1)), (MessageId(0), MessageId(2))];
        let gap = Span::from_ns(3);
        Workload { gap, ..Workload::with_dependencies(messages, &waits) }
    }

    #[test]
    fn a_task_at_the_receiver_waits_for_a_delay_at_the_sender() {
        assert_eq!(StepAfter::Delivery.apply(workload()), workload());
        let rewritten = StepAfter::Acknowledgement.apply(workload());
        assert_eq!((&rewritten.messages, rewritten.gap), (&workload().messages, workload().gap));
        assert_eq!(rewritten.delays, [Delay { host: HostId(0), span: Span::ZERO }]);
        let [completion, second, answer] = [3, 1, 2].map(TaskId);
        assert_eq!(rewritten.dependents_of(TaskId(0)), [completion, second]);
        assert_eq!(rewritten.dependents_of(completion), [answer]);
        assert_eq!(rewritten.waits_for, [0, 1, 1, 1]);
    }

    #[test]
    fn without_dependencies_nothing_is_added() {
        let alone = Workload::independent(workload().messages);
        assert_eq!(StepAfter::Acknowledgement.apply(alone.clone()), alone);
    }
}
