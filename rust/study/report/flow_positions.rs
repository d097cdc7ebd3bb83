//! Position of each flow in its workload: its job and its step.

use std::collections::VecDeque;

use crate::fabric::Setup;
use crate::ids::MessageId;
use crate::workload::Workload;

/// Job, step and traffic class of the messages of a workload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowPositions {
    /// Name of each job and the end of its range of messages, in order; empty without jobs.
    jobs: Vec<(String, usize)>,
    /// Number of messages before each message on the longest chain of dependencies.
    steps: Vec<u32>,
    /// Names of traffic classes; empty without classes.
    classes: Vec<String>,
    /// Index of the class of each message; empty without classes.
    class_of: Vec<u8>,
    /// Index of the class of messages that are not known before the run.
    other_class: usize,
}

impl FlowPositions {
    /// Returns the positions in `workload`; empty if its messages are generated during the run.
    pub fn of(workload: &Workload) -> Self {
        if workload.chains.is_some() {
            return Self::default();
        }
        let jobs = workload.jobs.iter().map(|job| (job.name.clone(), job.messages.end));
        Self { jobs: jobs.collect(), steps: steps(workload), ..Self::default() }
    }

    /// Returns the positions in the workload of a run, including traffic classes. Jobs and steps
    /// are empty if the messages are not `known` before the run.
    pub fn of_setup(setup: &Setup, known: bool) -> Self {
        let positions = if known { Self::of(&setup.workload) } else { Self::default() };
        if !setup.fabric.has_classes() {
            return positions;
        }
        let policies = setup.policies();
        let index = |stream| policies.class_of(stream).index();
        let messages = setup.workload.messages.iter().filter(|_| known);
        Self {
            classes: setup.fabric.classes.iter().map(|class| class.name.clone()).collect(),
            class_of: messages.map(|message| index(message.stream) as u8).collect(),
            other_class: index(0),
            ..positions
        }
    }

    /// Returns true if messages have traffic classes.
    pub fn have_classes(&self) -> bool {
        !self.classes.is_empty()
    }

    /// Returns the name of a message's traffic class; empty without classes.
    pub fn class(&self, message: MessageId) -> &str {
        let known = self.class_of.get(message.index()).map(|&class| usize::from(class));
        self.classes.get(known.unwrap_or(self.other_class)).map_or("", String::as_str)
    }

    fn index_of_job(&self, message: MessageId) -> usize {
        self.jobs.partition_point(|(_, end)| *end <= message.index())
    }

    /// Returns the name of a message's job; empty without jobs.
    pub fn job(&self, message: MessageId) -> &str {
        self.jobs.get(self.index_of_job(message)).map_or("", |(name, _)| name)
    }

    /// Returns the number of messages before this one on the longest chain of dependencies. `None`
    /// for a message that is read or generated during the run.
    pub fn step(&self, message: MessageId) -> Option<u32> {
        self.steps.get(message.index()).copied()
    }
}

fn steps(workload: &Workload) -> Vec<u32> {
    let mut steps = vec![0u32; workload.task_count()];
    let mut open: Vec<u32> = steps.clone();
    open.iter_mut().zip(&workload.waits_for).for_each(|(open, waits)| *open = *waits);
    let mut ready: VecDeque<_> = workload.tasks().filter(|task| open[task.index()] == 0).collect();
    while let Some(task) = ready.pop_front() {
        let own = u32::from(workload.message(task).is_some());
        let after = steps[task.index()] + own;
        for &dependent in workload.dependents_of(task) {
            let index = dependent.index();
            steps[index] = steps[index].max(after);
            open[index] -= 1;
            if open[index] == 0 {
                ready.push_back(dependent);
            }
        }
    }
    steps.truncate(workload.messages.len());
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, TaskId};
    use crate::units::{Bytes, Span, Time};
    use crate::workload::{Delay, JobSpec, Message};

    #[test]
    fn a_step_counts_earlier_messages_across_computations() {
        let message = |src, dst| Message {
            src: HostId(src),
            dst: HostId(dst),
            bytes: Bytes::new(1),
            stream: 0,
            start: Time::ZERO,
        };
        let messages = vec![message(0, 1), message(1, 2), message(2, 0)];
        let delays = vec![Delay { host: HostId(1), span: Span::from_us(1) }];
        let waits = [(0, 3), (3, 1), (1, 2)].map(|(a, b)| (TaskId(a), TaskId(b)));
        let workload = Workload::with_delays(messages.clone(), delays, &waits);
        let positions = FlowPositions::of(&workload);
        assert_eq!(
            [0, 1, 2, 3].map(|it| positions.step(MessageId(it))),
            [Some(0), Some(1), Some(2), None]
        );
        assert_eq!(positions.job(MessageId(0)), "");
        let job = |name: &str, start: usize| JobSpec {
            name: name.to_owned(),
            workload: Workload::independent(messages[start..].to_vec()),
            start: Span::ZERO,
            after: None,
        };
        let jobs = Workload::of_jobs(vec![job("a", 1), job("b", 0)]).unwrap();
        let positions = FlowPositions::of(&jobs);
        assert_eq!([0, 1, 2, 4].map(|it| positions.job(MessageId(it))), ["a", "a", "b", "b"]);
    }
}
