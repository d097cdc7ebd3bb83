//! Start and completion time of each job of a run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use crate::fabric::{Outcome, Setup};
use crate::units::{Bytes, Span, Time};
use crate::workload::{Job, Task, Workload};

/// Results of a job. Times are nanoseconds with picoseconds as decimals.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JobSummary {
    /// Name in the scenario.
    pub name: String,
    /// Number of messages.
    pub messages: u64,
    /// Messages whose sender received the last acknowledgement.
    pub messages_completed: u64,
    /// Time at which the job was ready to start; `None` if the job that it waits for did not
    /// complete.
    pub start_ns: Option<f64>,
    /// Time from `start_ns` to the last completion or the end of the last computation; `None`
    /// unless the whole job completed.
    pub cct_ns: Option<f64>,
    /// Policy of the job, if it differs from that of the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

impl JobSummary {
    /// Returns the jobs of a run of `workload`; empty if the workload has no jobs.
    pub fn of(outcome: &Outcome, workload: &Workload) -> Vec<Self> {
        if workload.jobs.is_empty() {
            return Vec::new();
        }
        let ends = Ends::of(outcome, workload);
        workload.jobs.iter().map(|job| ends.summary(job)).collect()
    }

    /// Returns the jobs of a run of `setup`, with the policy of each job that has its own.
    pub fn of_setup(outcome: &Outcome, setup: &Setup) -> Vec<Self> {
        let mut jobs = Self::of(outcome, &setup.workload);
        for own in &setup.job_policies {
            jobs[own.job].policy = Some(own.scheme.name.to_owned());
        }
        jobs
    }
}

/// End of every message and delay; [`Time::NEVER`] if it did not end.
struct Ends {
    /// Delivery time of each message.
    delivered: Vec<Time>,
    /// Completion time of each message, followed by that of each delay.
    completed: Vec<Time>,
    messages: usize,
}

impl Ends {
    fn of(outcome: &Outcome, workload: &Workload) -> Self {
        let messages = workload.messages.len();
        let mut ends = Self {
            delivered: vec![Time::ZERO; messages],
            completed: vec![Time::ZERO; messages + workload.delays.len()],
            messages,
        };
        let mut bytes = vec![Bytes::ZERO; messages];
        for flow in &outcome.flows {
            let index = flow.message.index();
            bytes[index] += flow.bytes;
            ends.delivered[index] = ends.delivered[index].max(flow.delivered);
            ends.completed[index] = ends.completed[index].max(flow.completed);
        }
        for (index, message) in workload.messages.iter().enumerate() {
            // A message with pieces that were never posted did not end.
            if bytes[index] < message.bytes {
                (ends.delivered[index], ends.completed[index]) = (Time::NEVER, Time::NEVER);
            }
        }
        ends.propagate(workload);
        ends
    }

    /// Computes the ends of delays from those of their dependencies, in order of time.
    fn propagate(&mut self, workload: &Workload) {
        self.completed[self.messages..].fill(Time::NEVER);
        let mut open: Vec<u32> =
            workload.tasks().map(|task| workload.dependency_count(task)).collect();
        let mut ended = BinaryHeap::new();
        for task in workload.tasks() {
            match workload.task(task) {
                Task::Message(_, message) => {
                    let index = task.index();
                    let mut dependents = workload.dependents_of(task).iter();
                    if dependents.any(|&after| workload.delay(after).is_some()) {
                        // Ends at the receiver on delivery, at the sender on completion.
                        ended.push(Reverse((self.delivered[index], task, message.dst)));
                        ended.push(Reverse((self.completed[index], task, message.src)));
                    }
                }
                Task::Delay(delay) if open[task.index()] == 0 => {
                    self.completed[task.index()] = Time::ZERO.saturating_add(delay.span);
                    ended.push(Reverse((self.completed[task.index()], task, delay.host)));
                }
                Task::Delay(_) => {}
            }
        }
        while let Some(Reverse((now, task, host))) = ended.pop() {
            if now == Time::NEVER {
                break;
            }
            let is_message = workload.message(task).is_some();
            for &after in workload.dependents_of(task) {
                let Some(delay) = workload.delay(after) else { continue };
                let left = &mut open[after.index()];
                if *left == 0 || (is_message && delay.host != host) {
                    continue;
                }
                *left -= 1;
                if *left == 0 {
                    self.completed[after.index()] = now.saturating_add(delay.span);
                    ended.push(Reverse((self.completed[after.index()], after, delay.host)));
                }
            }
        }
    }

    fn summary(&self, job: &Job) -> JobSummary {
        let last = |tasks: Range<usize>| self.completed[tasks].iter().copied().max();
        let delays = self.messages + job.delays.start..self.messages + job.delays.end;
        let start = job.gate.map_or(job.start, |gate| self.completed[self.messages + gate]);
        let end = last(job.messages.clone()).max(last(delays)).unwrap_or(start);
        let known = |time: Time| (time != Time::NEVER).then_some(time);
        let done = self.completed[job.messages.clone()].iter().filter(|end| **end != Time::NEVER);
        let ns = |span: Span| span.as_ns_f64();
        JobSummary {
            name: job.name.clone(),
            messages: job.messages.len() as u64,
            messages_completed: done.count() as u64,
            start_ns: known(start).map(|start| ns(start.since(Time::ZERO))),
            cct_ns: known(start.max(end)).map(|_| ns(end.since(start))),
            policy: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::workload::JobSpec;

    /// Returns a job of the first two messages, and a job of the third one after it.
    fn workload() -> Workload {
        let sample = sample::workload().messages;
        let part = |name: &str, messages: &[_]| JobSpec {
            name: name.to_owned(),
            workload: Workload::independent(messages.to_vec()),
            start: Span::ZERO,
            after: None,
        };
        let late = JobSpec { start: Span::from_ns(7), after: Some(0), ..part("b", &sample[2..]) };
        Workload::of_jobs(vec![part("a", &sample[..2]), late]).unwrap()
    }

    #[test]
    fn each_job_counts_from_its_own_start() {
        let mut outcome = sample::completed();
        // The second message has three pieces in this outcome, so it must be longer here.
        let mut workload = workload();
        workload.messages[1].bytes = Bytes::new(3 * 4_096);
        for flow in outcome.flows.iter_mut().filter(|flow| flow.message.0 == 2) {
            flow.completed = Time::from_ps(4_000_000);
        }
        let jobs = JobSummary::of(&outcome, &workload);
        let first = JobSummary {
            name: "a".to_owned(),
            messages: 2,
            messages_completed: 2,
            start_ns: Some(0.0),
            cct_ns: Some(2_600.123),
            policy: None,
        };
        let second = JobSummary {
            name: "b".to_owned(),
            messages: 1,
            messages_completed: 1,
            start_ns: Some(2_607.123),
            cct_ns: Some(1_392.877),
            policy: None,
        };
        assert_eq!(jobs, [first, second]);
        assert_eq!(JobSummary::of(&outcome, &sample::workload()), []);
    }

    #[test]
    fn a_job_after_an_incomplete_job_has_no_start() {
        let jobs = JobSummary::of(&sample::stalled(), &workload());
        assert_eq!((jobs[0].messages_completed, jobs[0].cct_ns), (1, None));
        assert_eq!((jobs[1].start_ns, jobs[1].cct_ns), (None, None));
    }
}
