//! Start and completion time of each job of a run.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::rank_times::Tasks;
use super::{Breakdown, Rates};
use crate::fabric::{Outcome, Setup};
use crate::units::{Bytes, Span, Time};
use crate::workload::{Job, Workload};

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
    /// Rates of the job's collective operation; absent for other jobs, and unless it completed.
    #[serde(flatten)]
    pub rates: Option<Rates>,
    /// Division of the time of its hosts; absent if they do not compute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
}

impl JobSummary {
    /// Returns the jobs of a run of `workload`; empty if the workload has no jobs.
    pub fn of(outcome: &Outcome, workload: &Workload) -> Vec<Self> {
        if workload.jobs.is_empty() {
            return Vec::new();
        }
        let ends = Ends::of(outcome, workload);
        let summary = |job| {
            let tasks = Tasks::of_job(outcome, workload, &ends, job);
            let breakdown = tasks.and_then(|tasks| Breakdown::of(&tasks));
            JobSummary { breakdown, ..ends.summary(job) }
        };
        workload.jobs.iter().map(summary).collect()
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

/// Times of every message and delay; [`Time::NEVER`] for those that did not happen.
pub(super) struct Ends {
    /// Start of each message.
    pub(super) started: Vec<Time>,
    /// Delivery of each message.
    pub(super) delivered: Vec<Time>,
    /// Completion of each message at its sender.
    pub(super) completed: Vec<Time>,
    /// End of each delay.
    pub(super) delays: Vec<Time>,
}

impl Ends {
    pub(super) fn of(outcome: &Outcome, workload: &Workload) -> Self {
        let messages = workload.messages.len();
        let mut ends = Self {
            started: vec![Time::NEVER; messages],
            delivered: vec![Time::ZERO; messages],
            completed: vec![Time::ZERO; messages],
            delays: outcome.delay_ends.clone(),
        };
        let mut bytes = vec![Bytes::ZERO; messages];
        for flow in &outcome.flows {
            let index = flow.message.index();
            bytes[index] += flow.bytes;
            ends.started[index] = ends.started[index].min(flow.start);
            ends.delivered[index] = ends.delivered[index].max(flow.delivered);
            ends.completed[index] = ends.completed[index].max(flow.completed);
        }
        for (index, message) in workload.messages.iter().enumerate() {
            // A message with pieces that were never posted did not end.
            if bytes[index] < message.bytes {
                (ends.delivered[index], ends.completed[index]) = (Time::NEVER, Time::NEVER);
            }
        }
        ends
    }

    /// Returns start and end of a job.
    pub(super) fn extent(&self, job: &Job) -> Range<Time> {
        let last = |times: &[Time]| times.iter().copied().max();
        let start = job.gate.map_or(job.start, |gate| self.delays[gate]);
        let (messages, delays) = (job.messages.clone(), job.delays.clone());
        let end = last(&self.completed[messages]).max(last(&self.delays[delays]));
        start..end.unwrap_or(start)
    }

    fn summary(&self, job: &Job) -> JobSummary {
        let Range { start, end } = self.extent(job);
        let known = |time: Time| (time != Time::NEVER).then_some(time);
        let done = self.completed[job.messages.clone()].iter().filter(|end| **end != Time::NEVER);
        let ns = |span: Span| span.as_ns_f64();
        let cct = known(start.max(end)).map(|_| end.since(start));
        JobSummary {
            name: job.name.clone(),
            messages: job.messages.len() as u64,
            messages_completed: done.count() as u64,
            start_ns: known(start).map(|start| ns(start.since(Time::ZERO))),
            cct_ns: cct.map(ns),
            policy: None,
            rates: Rates::of(job.operation.as_ref(), cct),
            breakdown: None,
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
        outcome.delay_ends = vec![Time::from_ps(2_607_123); workload.delays.len()];
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
            rates: None,
            breakdown: None,
        };
        let second = JobSummary {
            name: "b".to_owned(),
            messages: 1,
            messages_completed: 1,
            start_ns: Some(2_607.123),
            cct_ns: Some(1_392.877),
            policy: None,
            rates: None,
            breakdown: None,
        };
        assert_eq!(jobs, [first, second]);
        assert_eq!(JobSummary::of(&outcome, &sample::workload()), []);
    }

    #[test]
    fn a_job_after_an_incomplete_job_has_no_start() {
        let workload = workload();
        let delay_ends = vec![Time::NEVER; workload.delays.len()];
        let outcome = Outcome { delay_ends, ..sample::stalled() };
        let jobs = JobSummary::of(&outcome, &workload);
        assert_eq!((jobs[0].messages_completed, jobs[0].cct_ns), (1, None));
        assert_eq!((jobs[1].start_ns, jobs[1].cct_ns), (None, None));
    }
}
