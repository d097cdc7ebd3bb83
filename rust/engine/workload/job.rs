//! Several jobs on one fabric: each starts at its time, or after another job.
//!
//! Jobs share only hosts and links. They have separate streams and thus separate queue pairs, like
//! different communicators.

use std::collections::BTreeMap;
use std::ops::Range;

use thiserror::Error;

use super::graph::{Appended, GraphFault, GraphTask, TaskGraph};
use super::{Operation, Workload};
use crate::ids::{HostId, TaskId};
use crate::units::{Span, Time};

/// A job to be combined with others.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSpec {
    /// Name of the job.
    pub name: String,
    /// Its tasks, as if it ran alone.
    pub workload: Workload,
    /// Its start, counted from time zero or from the end of the job `after`.
    pub start: Span,
    /// Index of the job after which it starts.
    pub after: Option<usize>,
}

/// A job of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Name of the job.
    pub name: String,
    /// Indices of its messages.
    pub messages: Range<usize>,
    /// Indices of its delays.
    pub delays: Range<usize>,
    /// Its start, if `gate` is `None`.
    pub start: Time,
    /// Index of the delay whose end is its start.
    pub gate: Option<usize>,
    /// The collective operation that it performs, if it is one.
    pub operation: Option<Operation>,
}

/// Reason why jobs cannot be combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JobsError {
    /// The order of the jobs has a cycle.
    #[error("the jobs start after each other in a cycle, so none of them ever starts")]
    Cycle,
    /// A limit is exceeded.
    #[error("all jobs together exceed the limit of 2^28 messages or delays, or of 2^64 bytes")]
    TooMuch,
}

impl Job {
    /// Returns the message streams of the job, which no other job has.
    pub fn streams(&self, workload: &Workload) -> Range<u32> {
        let streams = || workload.messages[self.messages.clone()].iter().map(|it| it.stream);
        match (streams().min(), streams().max()) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        }
    }

    /// Returns an empty job.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn for_test() -> Self {
        let name = String::new();
        let (start, gate, operation) = (Time::ZERO, None, None);
        Self { name, messages: 0..0, delays: 0..0, start, gate, operation }
    }
}

impl Workload {
    /// Combines all jobs, in order, into a workload. For one job, the list of jobs is empty.
    ///
    /// # Errors
    /// Fails if jobs start after each other in a cycle, or exceed the limits of a workload.
    pub fn of_jobs(mut specs: Vec<JobSpec>) -> Result<Self, JobsError> {
        let plain = |spec: &JobSpec| spec.start == Span::ZERO && spec.after.is_none();
        if specs.len() == 1 && plain(&specs[0]) {
            return Ok(specs.remove(0).workload);
        }
        let one = specs.len() == 1;
        let mut whole = Self::of_listed_jobs(&specs)?;
        if one {
            whole.jobs.clear();
        }
        Ok(whole)
    }

    /// Combines all jobs, in order, into a workload. The list of jobs is filled even for one job.
    ///
    /// # Errors
    /// As [`Workload::of_jobs`].
    pub fn of_listed_jobs(specs: &[JobSpec]) -> Result<Self, JobsError> {
        let mut combiner = JobCombiner::default();
        for spec in specs {
            combiner.add(spec);
        }
        for index in 0..specs.len() {
            combiner.order(specs, index);
        }
        let mut whole = combiner.graph.finish().map_err(|fault| match fault {
            GraphFault::Cycle(_) => JobsError::Cycle,
            GraphFault::TooManyTasks | GraphFault::TooManyBytes => JobsError::TooMuch,
        })?;
        whole.jobs = combiner.jobs;
        if let [only] = specs {
            whole.operation = only.workload.operation;
        }
        let starts = specs.iter().filter(|spec| spec.after.is_none());
        let starts = starts.map(|spec| spec.workload.first_start().saturating_add(spec.start));
        if !whole.delays.is_empty() {
            whole.begin = starts.min().unwrap_or_default();
        }
        Ok(whole)
    }
}

/// Combines jobs into one workload.
#[derive(Default)]
struct JobCombiner {
    graph: TaskGraph,
    jobs: Vec<Job>,
    appended: Vec<Appended>,
    /// The first unused stream.
    free_stream: u32,
}

impl JobCombiner {
    /// Adds the messages and delays of a job, with streams that no other job has.
    fn add(&mut self, spec: &JobSpec) {
        let mut streams: Vec<u32> = spec.workload.messages.iter().map(|it| it.stream).collect();
        streams.sort_unstable();
        streams.dedup();
        let first = self.free_stream;
        let index = |stream| streams.binary_search(&stream).expect("it is one of them") as u32;
        let (messages, delays) = self.graph.counts();
        let appended = self.graph.append(&spec.workload, |stream| first + index(stream));
        let (messages_end, delays_end) = self.graph.counts();
        self.free_stream += streams.len() as u32;
        self.appended.push(appended);
        self.jobs.push(Job {
            name: spec.name.clone(),
            messages: messages..messages_end,
            delays: delays..delays_end,
            start: Time::ZERO + spec.start,
            gate: None,
            operation: spec.workload.operation,
        });
    }

    /// Adds the dependencies and start times that delay a job until its start.
    fn order(&mut self, specs: &[JobSpec], index: usize) {
        let (spec, appended) = (&specs[index], self.appended[index]);
        let workload = &spec.workload;
        let planned_start = |message: u32| workload.messages[message as usize].start;
        let messages = 0..workload.messages.len() as u32;
        // Start times suffice here. A gate is needed only for delays, or to follow another job.
        if spec.after.is_none() && (spec.start == Span::ZERO || workload.delays.is_empty()) {
            for message in messages {
                let start = planned_start(message).saturating_add(spec.start);
                self.graph.set_start(appended.task(TaskId(message)), start);
            }
            return;
        }
        let tasks = messages.end + workload.delays.len() as u32;
        if tasks == 0 {
            return;
        }
        let number = self.graph.counts().1;
        let first = workload.host_of(TaskId(0));
        let common = self.graph.delay(first, spec.start);
        self.jobs[index].gate = Some(number);
        for end in spec.after.map(|other| self.ends(&specs[other], other)).unwrap_or_default() {
            self.graph.wait(end, common);
        }
        // By the clock, each host starts its own tasks. If one host released the tasks of others,
        // their order relative to tasks that those start at the same time would depend on task
        // numbers.
        let mut gates = BTreeMap::from([(first, common)]);
        for id in (0..tasks).map(TaskId) {
            let host = workload.host_of(id);
            let gate = match spec.after {
                Some(_) => common,
                None => *gates.entry(host).or_insert_with(|| self.graph.delay(host, spec.start)),
            };
            let late = id.0 < messages.end && planned_start(id.0) > Time::ZERO;
            if late {
                let span = planned_start(id.0).since(Time::ZERO);
                let wait = self.graph.delay(host, span);
                self.graph.wait(gate, wait);
                self.graph.wait(wait, appended.task(id));
                self.graph.set_start(appended.task(id), Time::ZERO);
            } else if workload.waits_for.get(id.index()).is_none_or(|&count| count == 0) {
                self.graph.wait(gate, appended.task(id));
            }
        }
    }

    /// Returns the tasks whose completion is the end of a job: per host a join of its last
    /// messages, which complete at their senders, and the last delays.
    fn ends(&mut self, spec: &JobSpec, index: usize) -> Vec<GraphTask> {
        let (workload, appended) = (&spec.workload, self.appended[index]);
        let tasks = (workload.messages.len() + workload.delays.len()) as u32;
        let mut of_host: BTreeMap<HostId, GraphTask> = BTreeMap::new();
        let mut ends = Vec::new();
        for id in (0..tasks).map(TaskId) {
            let host = workload.host_of(id);
            let mut dependents = workload.dependents_of(id).iter();
            let task = appended.task(id);
            if workload.delay(id).is_some() {
                ends.extend(dependents.next().is_none().then_some(task));
            } else if !dependents.any(|&after| workload.host_of(after) == host) {
                let graph = &mut self.graph;
                let all = of_host.entry(host).or_insert_with(|| graph.delay(host, Span::ZERO));
                graph.wait(task, *all);
            }
        }
        ends.extend(of_host.into_values());
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MessageId;
    use crate::units::Bytes;
    use crate::workload::{Delay, Message};

    fn shift(hosts: u32) -> Workload {
        let flow = |src| {
            let dst = HostId((src + 1) % hosts);
            Message::starting_at_zero(src, HostId(src), dst, Bytes::new(7))
        };
        Workload::independent((0..hosts).map(flow).collect())
    }

    fn spec(name: &str, workload: Workload) -> JobSpec {
        JobSpec { name: name.to_owned(), workload, start: Span::ZERO, after: None }
    }

    #[test]
    fn a_single_job_is_its_workload() {
        assert_eq!(Workload::of_jobs(vec![spec("a", shift(4))]), Ok(shift(4)));
        let late = JobSpec { start: Span::from_us(3), ..spec("a", shift(4)) };
        let late = Workload::of_jobs(vec![late]).unwrap();
        assert!(late.messages.iter().all(|it| it.start == Time::ZERO + Span::from_us(3)));
        assert_eq!(late.jobs, []);
    }

    #[test]
    fn jobs_have_separate_streams_and_start_at_their_times() {
        let second = JobSpec { start: Span::from_us(2), ..spec("b", shift(3)) };
        let both = Workload::of_jobs(vec![spec("a", shift(4)), second]).unwrap();
        let streams: Vec<u32> = both.messages.iter().map(|it| it.stream).collect();
        assert_eq!(streams, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((both.jobs[1].messages.clone(), both.jobs[1].delays.clone()), (4..7, 0..0));
        assert_eq!(both.messages[4].start, Time::ZERO + Span::from_us(2));
        assert_eq!(both.messages[0].start, Time::ZERO);
    }

    #[test]
    fn a_job_after_another_waits_for_every_sender_of_the_other() {
        let second = JobSpec { after: Some(0), ..spec("b", shift(3)) };
        let both = Workload::of_jobs(vec![spec("a", shift(2)), second]).unwrap();
        let gate = both.jobs[1].gate.expect("it waits");
        let gate_id = TaskId((both.messages.len() + gate) as u32);
        // A delay for each sender, which the gate waits for, and then the three messages.
        assert_eq!(both.delays.len(), 3);
        assert_eq!(both.waits_for[gate_id.index()], 2);
        assert_eq!(both.dependents_of(gate_id), [TaskId(2), TaskId(3), TaskId(4)]);
        assert_eq!(both.dependents_of(TaskId(0)).len(), 1);
    }

    #[test]
    fn a_gap_and_a_scheduled_start_become_delays_after_the_gate() {
        let waits = [(MessageId(0), MessageId(1))];
        let messages = vec![Message::starting_at_zero(0, HostId(0), HostId(1), Bytes::new(1)); 2];
        let mut chain = Workload::with_dependencies(messages, &waits);
        chain.gap = Span::from_ns(5);
        chain.messages[0].start = Time::ZERO + Span::from_ns(9);
        let second = JobSpec { after: Some(0), ..spec("b", chain) };
        let both = Workload::of_jobs(vec![spec("a", shift(2)), second]).unwrap();
        assert_eq!(both.gap, Span::ZERO);
        let spans: Vec<u64> = both.delays.iter().map(|it| it.span.as_ps() / 1_000).collect();
        // The gap, the gate, a join for each sender of the first job, and the scheduled start.
        assert_eq!(spans, [5, 0, 0, 0, 9]);
        assert_eq!(both.jobs[1].delays, 0..1);
        let delay = |number: u32| TaskId(both.messages.len() as u32 + number);
        assert_eq!(both.dependents_of(TaskId(2)), [delay(0)]);
        assert_eq!(both.dependents_of(delay(0)), [TaskId(3)]);
        assert_eq!(both.dependents_of(delay(4)), [TaskId(2)]);
    }

    #[test]
    fn the_first_delays_of_a_job_wait_for_its_start() {
        let delays = vec![Delay { host: HostId(0), span: Span::from_ns(1) }];
        let alone = Workload::with_delays(Vec::new(), delays, &[]);
        let late = JobSpec { start: Span::from_us(1), ..spec("a", alone) };
        let late = Workload::of_jobs(vec![late]).unwrap();
        assert_eq!(late.dependents_of(TaskId(1)), [TaskId(0)]);
        assert_eq!(late.delays[1].span, Span::from_us(1));
    }

    #[test]
    fn a_cycle_of_jobs_is_rejected() {
        let [mut a, mut b] = ["a", "b"].map(|name| spec(name, shift(2)));
        (a.after, b.after) = (Some(1), Some(0));
        assert_eq!(Workload::of_jobs(vec![a, b]), Err(JobsError::Cycle));
    }
}
