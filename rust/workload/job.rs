//! Several pieces of work on one fabric: each begins at its time, or after another.
//!
//! Jobs share hosts and links, and nothing else: their streams, and so their queue pairs, are
//! apart, as those of different communicators are.

use std::collections::BTreeMap;
use std::ops::Range;

use thiserror::Error;

use super::Workload;
use super::graph::{Appended, Graph, GraphFault, Task};
use crate::ids::{HostId, TaskId};
use crate::units::{Span, Time};

/// A piece of work before it is put together with others.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What people call it.
    pub name: String,
    /// Its messages, as if nothing else ran.
    pub workload: Workload,
    /// When it begins, or how long after the end of the other one.
    pub start: Span,
    /// It begins when the part of that place is over.
    pub after: Option<usize>,
}

/// A piece of work among others of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What people call it.
    pub name: String,
    /// Its messages.
    pub messages: Range<usize>,
    /// Its delays.
    pub delays: Range<usize>,
    /// When it begins, if `gate` does not say.
    pub start: Time,
    /// The delay whose end is its beginning.
    pub gate: Option<usize>,
}

/// Why parts are no workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JobsError {
    /// They wait for each other in a circle.
    #[error("the jobs wait for each other in a circle, so that none ever begins")]
    Circle,
    /// More than a machine holds.
    #[error("all jobs together are more than 2^28 messages or delays, or more than 2^64 bytes")]
    TooMuch,
}

impl Workload {
    /// All parts together, in order; of one part its jobs are none.
    ///
    /// # Errors
    /// Parts that wait for each other, or are too much for a machine.
    pub fn of_parts(mut parts: Vec<Part>) -> Result<Self, JobsError> {
        let plain = |part: &Part| part.start == Span::ZERO && part.after.is_none();
        if parts.len() == 1 && plain(&parts[0]) {
            return Ok(parts.remove(0).workload);
        }
        let mut joint = Joint::default();
        for part in &parts {
            joint.add(part);
        }
        for place in 0..parts.len() {
            joint.order(&parts, place);
        }
        let mut whole = joint.graph.finish().map_err(|fault| match fault {
            GraphFault::Circle(_) => JobsError::Circle,
            GraphFault::TooManyTasks | GraphFault::TooManyBytes => JobsError::TooMuch,
        })?;
        if parts.len() > 1 {
            whole.jobs = joint.jobs;
        }
        Ok(whole)
    }
}

/// Parts that are being put together.
#[derive(Default)]
struct Joint {
    graph: Graph,
    jobs: Vec<Job>,
    places: Vec<Appended>,
    /// The first stream that nobody has.
    free_stream: u32,
}

impl Joint {
    /// Adds the messages and delays of a part, with streams that no other has.
    fn add(&mut self, part: &Part) {
        let mut streams: Vec<u32> = part.workload.messages.iter().map(|it| it.stream).collect();
        streams.sort_unstable();
        streams.dedup();
        let first = self.free_stream;
        let number = |stream| streams.binary_search(&stream).expect("it is one of them") as u32;
        let (messages, delays) = self.graph.counts();
        let place = self.graph.append(&part.workload, |stream| first + number(stream));
        let (messages_end, delays_end) = self.graph.counts();
        self.free_stream += streams.len() as u32;
        self.places.push(place);
        self.jobs.push(Job {
            name: part.name.clone(),
            messages: messages..messages_end,
            delays: delays..delays_end,
            start: Time::ZERO + part.start,
            gate: None,
        });
    }

    /// Lets a part begin when it may.
    fn order(&mut self, parts: &[Part], index: usize) {
        let (part, place) = (&parts[index], self.places[index]);
        let workload = &part.workload;
        let written = |message: u32| workload.messages[message as usize].start;
        let messages = 0..workload.messages.len() as u32;
        if part.after.is_none() && (part.start == Span::ZERO || workload.delays.is_empty()) {
            for message in messages {
                let start = written(message).saturating_add(part.start);
                self.graph.set_start(place.task(TaskId(message)), start);
            }
            return;
        }
        let tasks = messages.end + workload.delays.len() as u32;
        if tasks == 0 {
            return;
        }
        let number = self.graph.counts().1;
        let gate = self.graph.delay(workload.host_of(TaskId(0)), part.start);
        self.jobs[index].gate = Some(number);
        for end in part.after.map(|other| self.ends(&parts[other], other)).unwrap_or_default() {
            self.graph.wait(end, gate);
        }
        for id in (0..tasks).map(TaskId) {
            let late = id.0 < messages.end && written(id.0) > Time::ZERO;
            if late {
                let span = written(id.0).since(Time::ZERO);
                let wait = self.graph.delay(workload.host_of(id), span);
                self.graph.wait(gate, wait);
                self.graph.wait(wait, place.task(id));
                self.graph.set_start(place.task(id), Time::ZERO);
            } else if workload.waits_for.get(id.index()).is_none_or(|&count| count == 0) {
                self.graph.wait(gate, place.task(id));
            }
        }
    }

    /// What is over when a part is: of its messages each sender knows, its last delays have ended.
    fn ends(&mut self, part: &Part, index: usize) -> Vec<Task> {
        let (workload, place) = (&part.workload, self.places[index]);
        let tasks = (workload.messages.len() + workload.delays.len()) as u32;
        let mut of_host: BTreeMap<HostId, Task> = BTreeMap::new();
        let mut ends = Vec::new();
        for id in (0..tasks).map(TaskId) {
            let host = workload.host_of(id);
            let mut dependents = workload.dependents_of(id).iter();
            let task = place.task(id);
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
    use crate::workload::{Delay, Shift, flow};

    fn shift(hosts: u32) -> Workload {
        Shift { hosts, shift: 1, bytes: Bytes::new(7) }.build().unwrap()
    }

    fn part(name: &str, workload: Workload) -> Part {
        Part { name: name.to_owned(), workload, start: Span::ZERO, after: None }
    }

    #[test]
    fn one_part_alone_is_itself() {
        assert_eq!(Workload::of_parts(vec![part("a", shift(4))]), Ok(shift(4)));
        let late = Part { start: Span::from_us(3), ..part("a", shift(4)) };
        let late = Workload::of_parts(vec![late]).unwrap();
        assert!(late.messages.iter().all(|it| it.start == Time::ZERO + Span::from_us(3)));
        assert_eq!(late.jobs, []);
    }

    #[test]
    fn jobs_share_no_stream_and_start_when_they_should() {
        let second = Part { start: Span::from_us(2), ..part("b", shift(3)) };
        let both = Workload::of_parts(vec![part("a", shift(4)), second]).unwrap();
        let streams: Vec<u32> = both.messages.iter().map(|it| it.stream).collect();
        assert_eq!(streams, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((both.jobs[1].messages.clone(), both.jobs[1].delays.clone()), (4..7, 0..0));
        assert_eq!(both.messages[4].start, Time::ZERO + Span::from_us(2));
        assert_eq!(both.messages[0].start, Time::ZERO);
    }

    #[test]
    fn what_comes_after_waits_for_every_sender_of_the_other() {
        let second = Part { after: Some(0), ..part("b", shift(3)) };
        let both = Workload::of_parts(vec![part("a", shift(2)), second]).unwrap();
        let gate = both.jobs[1].gate.expect("it waits");
        let gate_id = TaskId((both.messages.len() + gate) as u32);
        // A delay of each sender, which the gate waits for, and then the three messages.
        assert_eq!(both.delays.len(), 3);
        assert_eq!(both.waits_for[gate_id.index()], 2);
        assert_eq!(both.dependents_of(gate_id), [TaskId(2), TaskId(3), TaskId(4)]);
        assert_eq!(both.dependents_of(TaskId(0)).len(), 1);
    }

    #[test]
    fn a_gap_and_a_written_start_become_delays_behind_the_gate() {
        let waits = [(MessageId(0), MessageId(1))];
        let messages = vec![flow(0, HostId(0), HostId(1), Bytes::new(1)); 2];
        let mut chain = Workload::with_dependencies(messages, &waits);
        chain.gap = Span::from_ns(5);
        chain.messages[0].start = Time::ZERO + Span::from_ns(9);
        let second = Part { after: Some(0), ..part("b", chain) };
        let both = Workload::of_parts(vec![part("a", shift(2)), second]).unwrap();
        assert_eq!(both.gap, Span::ZERO);
        let spans: Vec<u64> = both.delays.iter().map(|it| it.span.as_ps() / 1_000).collect();
        // The gap, the gate, a collector of each sender of the first job, the written start.
        assert_eq!(spans, [5, 0, 0, 0, 9]);
        assert_eq!(both.jobs[1].delays, 0..1);
        let delay = |number: u32| TaskId(both.messages.len() as u32 + number);
        assert_eq!(both.dependents_of(TaskId(2)), [delay(0)]);
        assert_eq!(both.dependents_of(delay(0)), [TaskId(3)]);
        assert_eq!(both.dependents_of(delay(4)), [TaskId(2)]);
    }

    #[test]
    fn delays_that_begin_a_job_wait_for_its_start() {
        let delays = vec![Delay { host: HostId(0), span: Span::from_ns(1) }];
        let alone = Workload::with_delays(Vec::new(), delays, &[]);
        let late = Part { start: Span::from_us(1), ..part("a", alone) };
        let late = Workload::of_parts(vec![late]).unwrap();
        assert_eq!(late.dependents_of(TaskId(1)), [TaskId(0)]);
        assert_eq!(late.delays[1].span, Span::from_us(1));
    }

    #[test]
    fn a_circle_of_jobs_is_refused() {
        let [mut a, mut b] = ["a", "b"].map(|name| part(name, shift(2)));
        (a.after, b.after) = (Some(1), Some(0));
        assert_eq!(Workload::of_parts(vec![a, b]), Err(JobsError::Circle));
    }
}
