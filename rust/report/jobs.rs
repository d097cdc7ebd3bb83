//! When each piece of work of a run was over.

use std::ops::Range;

use serde::Serialize;

use crate::fabric::Outcome;
use crate::ids::MessageId;
use crate::units::{Bytes, Span, Time};
use crate::workload::{Job, Workload};

/// One piece of work in numbers. Times are nanoseconds with the picoseconds as decimals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobSummary {
    /// What the scenario calls it.
    pub name: String,
    /// Its messages.
    pub messages: u64,
    /// Messages whose sender had the last acknowledgement.
    pub messages_completed: u64,
    /// When it could begin; none if what it waits for never ended.
    pub start_ns: Option<f64>,
    /// From then to its last completion, or the end of its last computation; none unless all of it
    /// is over.
    pub cct_ns: Option<f64>,
}

impl JobSummary {
    /// The jobs of a run of `workload`; none if it is one piece.
    pub fn of(outcome: &Outcome, workload: &Workload) -> Vec<Self> {
        if workload.jobs.is_empty() {
            return Vec::new();
        }
        let ends = Ends::of(outcome, workload);
        workload.jobs.iter().map(|job| ends.summary(job)).collect()
    }
}

/// When everything was over; [`Time::NEVER`] for what was not.
struct Ends {
    /// Of each message at its receiver.
    delivered: Vec<Time>,
    /// Of each message at its sender, and then of each delay.
    over: Vec<Time>,
    messages: usize,
}

impl Ends {
    fn of(outcome: &Outcome, workload: &Workload) -> Self {
        let messages = workload.messages.len();
        let mut ends = Self {
            delivered: vec![Time::ZERO; messages],
            over: vec![Time::ZERO; messages + workload.delays.len()],
            messages,
        };
        let mut bytes = vec![Bytes::ZERO; messages];
        for flow in &outcome.flows {
            let index = flow.message.index();
            bytes[index] += flow.bytes;
            ends.delivered[index] = ends.delivered[index].max(flow.delivered);
            ends.over[index] = ends.over[index].max(flow.completed);
        }
        for (index, message) in workload.messages.iter().enumerate() {
            if bytes[index] < message.bytes {
                (ends.delivered[index], ends.over[index]) = (Time::NEVER, Time::NEVER);
            }
        }
        ends.follow(workload);
        ends
    }

    /// The ends of delays follow from those of what they wait for.
    fn follow(&mut self, workload: &Workload) {
        let ids = || (0..self.over.len() as u32).map(MessageId);
        let mut open = workload.waits_for.clone();
        open.resize(self.over.len(), 0);
        let mut ready: Vec<MessageId> = ids().filter(|id| open[id.index()] == 0).collect();
        // Until a delay is looked at, this is when the last that it waits for was over.
        while let Some(id) = ready.pop() {
            if let Some(delay) = workload.delay(id) {
                let begin = self.over[id.index()];
                let end =
                    if begin == Time::NEVER { begin } else { begin.saturating_add(delay.span) };
                self.over[id.index()] = end;
            }
            for &after in workload.dependents_of(id) {
                if let Some(delay) = workload.delay(after) {
                    let received = workload
                        .messages
                        .get(id.index())
                        .is_some_and(|message| message.dst == delay.host);
                    let end =
                        if received { self.delivered[id.index()] } else { self.over[id.index()] };
                    self.over[after.index()] = self.over[after.index()].max(end);
                }
                open[after.index()] -= 1;
                if open[after.index()] == 0 {
                    ready.push(after);
                }
            }
        }
    }

    fn summary(&self, job: &Job) -> JobSummary {
        let last = |places: Range<usize>| self.over[places].iter().copied().max();
        let delays = self.messages + job.delays.start..self.messages + job.delays.end;
        let start = job.gate.map_or(job.start, |gate| self.over[self.messages + gate]);
        let end = last(job.messages.clone()).max(last(delays)).unwrap_or(start);
        let known = |time: Time| (time != Time::NEVER).then_some(time);
        let done = self.over[job.messages.clone()].iter().filter(|end| **end != Time::NEVER);
        let ns = |span: Span| span.as_ns_f64();
        JobSummary {
            name: job.name.clone(),
            messages: job.messages.len() as u64,
            messages_completed: done.count() as u64,
            start_ns: known(start).map(|start| ns(start.since(Time::ZERO))),
            cct_ns: known(start.max(end)).map(|_| ns(end.since(start))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::workload::Part;

    /// The first and second message, and then the third after both.
    fn workload() -> Workload {
        let sample = sample::workload().messages;
        let part = |name: &str, messages: &[_]| Part {
            name: name.to_owned(),
            workload: Workload::independent(messages.to_vec()),
            start: Span::ZERO,
            after: None,
        };
        let late = Part { start: Span::from_ns(7), after: Some(0), ..part("b", &sample[2..]) };
        Workload::of_parts(vec![part("a", &sample[..2]), late]).unwrap()
    }

    #[test]
    fn each_job_counts_from_its_own_start() {
        let mut outcome = sample::completed();
        // The fourth piece of the second message is more than it has: as if it were longer.
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
        };
        let second = JobSummary {
            name: "b".to_owned(),
            messages: 1,
            messages_completed: 1,
            start_ns: Some(2_607.123),
            cct_ns: Some(1_392.877),
        };
        assert_eq!(jobs, [first, second]);
        assert_eq!(JobSummary::of(&outcome, &sample::workload()), []);
    }

    #[test]
    fn what_waits_for_what_never_ended_has_no_start() {
        let jobs = JobSummary::of(&sample::stalled(), &workload());
        assert_eq!((jobs[0].messages_completed, jobs[0].cct_ns), (1, None));
        assert_eq!((jobs[1].start_ns, jobs[1].cct_ns), (None, None));
    }
}
