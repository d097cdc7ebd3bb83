//! The dependency that each task waited for last.

use std::collections::BTreeMap;

use crate::fabric::{Outcome, Setup};
use crate::ids::{HostId, TaskId};
use crate::units::{Span, Time};
use crate::workload::{Lane, Task, Workload};

/// For each task, the message or the computation whose end let it start.
pub(super) struct Causes {
    of_task: Vec<Option<TaskId>>,
    /// The arrows that begin at each task.
    effects: Vec<Vec<u64>>,
}

impl Causes {
    /// Returns the causes in a run that keeps its messages.
    pub(super) fn of(setup: &Setup, outcome: &Outcome) -> Self {
        let workload = &*setup.workload;
        let ends = Ends::of(outcome, workload);
        let of_task = without_empty_delays(workload, ends.last_dependencies());
        let mut effects = vec![Vec::new(); workload.task_count()];
        for (task, cause) in workload.tasks().zip(&of_task) {
            if let Some(cause) = cause.filter(|_| ends.is_shown(task)) {
                effects[cause.index()].push(arrow(task));
            }
        }
        Self { of_task, effects }
    }

    /// Returns the number of the arrow that ends at a task, if it had a cause.
    pub(super) fn arrow_to(&self, task: TaskId) -> Option<u64> {
        self.of_task.get(task.index())?.map(|_| arrow(task))
    }

    /// Returns the numbers of the arrows that begin at a task.
    pub(super) fn arrows_from(&self, task: TaskId) -> &[u64] {
        self.effects.get(task.index()).map_or(&[], Vec::as_slice)
    }
}

/// Returns the number of the arrow that ends at a task: unique, and not zero.
fn arrow(task: TaskId) -> u64 {
    u64::from(task.0) + 1
}

/// Replaces causes of length zero, which have no slices, by their own causes.
fn without_empty_delays(workload: &Workload, mut last: Vec<Option<TaskId>>) -> Vec<Option<TaskId>> {
    let is_empty =
        |task: &TaskId| workload.delay(*task).is_some_and(|delay| delay.span == Span::ZERO);
    let mut passed = Vec::new();
    for index in 0..last.len() {
        let mut cause = last[index];
        while let Some(empty) = cause.filter(is_empty) {
            passed.push(empty);
            cause = last[empty.index()];
        }
        // Each chain is followed once.
        passed.drain(..).for_each(|empty| last[empty.index()] = cause);
        last[index] = cause;
    }
    last
}

/// Ends of all tasks; [`Time::NEVER`] for those that did not end.
struct Ends<'a> {
    workload: &'a Workload,
    started: Vec<bool>,
    delivered: Vec<Time>,
    completed: Vec<Time>,
    delays: &'a [Time],
}

impl<'a> Ends<'a> {
    fn of(outcome: &'a Outcome, workload: &'a Workload) -> Self {
        let count = workload.messages.len();
        let (mut delivered, mut completed) = (vec![Time::ZERO; count], vec![Time::ZERO; count]);
        let mut started = vec![false; count];
        for flow in &outcome.flows {
            let index = flow.message.index();
            started[index] = true;
            delivered[index] = delivered[index].max(flow.delivered);
            completed[index] = completed[index].max(flow.completed);
        }
        Self { workload, started, delivered, completed, delays: &outcome.delay_ends }
    }

    /// Returns true if a task has a slice.
    fn is_shown(&self, task: TaskId) -> bool {
        match self.workload.task(task) {
            Task::Message(id, _) => self.started[id.index()],
            Task::Delay(delay) => {
                delay.span > Span::ZERO && self.at(task, delay.host) != Time::NEVER
            }
        }
    }

    /// Returns the time at which a task is known to have ended at a host.
    fn at(&self, task: TaskId, host: HostId) -> Time {
        match self.workload.task(task) {
            Task::Message(id, message) if message.src == host => self.completed[id.index()],
            Task::Message(id, _) => self.delivered[id.index()],
            Task::Delay(_) => self.delays[task.index() - self.workload.messages.len()],
        }
    }

    /// Returns, for each task, the dependency that let it start: the last of those that it waits
    /// for, or the delay that occupied its lane until then.
    fn last_dependencies(&self) -> Vec<Option<TaskId>> {
        let workload = self.workload;
        let mut met: Vec<Option<(Time, TaskId)>> = vec![None; workload.task_count()];
        let mut some: BTreeMap<TaskId, Vec<(Time, TaskId)>> = BTreeMap::new();
        for task in workload.tasks() {
            for &after in workload.dependents_of(task) {
                let end = self.at(task, workload.host_of(after));
                if end == Time::NEVER {
                    continue;
                }
                if workload.starts_after.contains_key(&after) {
                    some.entry(after).or_default().push((end, task));
                }
                let known = &mut met[after.index()];
                if known.is_none_or(|(time, _)| end > time) {
                    *known = Some((end, task));
                }
            }
        }
        for (after, mut ends) in some {
            ends.sort_unstable();
            let needed = workload.dependency_count(after).max(1) as usize;
            met[after.index()] = ends.get(needed - 1).copied();
        }
        self.wait_for_lanes(&mut met);
        met.into_iter().map(|it| it.map(|(_, task)| task)).collect()
    }

    /// Replaces the cause of each delay that waited for its lane by the delay before it there.
    fn wait_for_lanes(&self, met: &mut [Option<(Time, TaskId)>]) {
        let workload = self.workload;
        let count = workload.messages.len();
        let ended = |task: &TaskId| {
            let delay = workload.delay(*task)?;
            let end = self.at(*task, delay.host);
            (end != Time::NEVER).then(|| Some((delay, workload.lane(*task)?, end)))?
        };
        let mut by_end: BTreeMap<(HostId, Lane, Time), TaskId> = BTreeMap::new();
        for task in workload.tasks().skip(count) {
            if let Some((delay, lane, end)) = ended(&task) {
                by_end.insert((delay.host, lane, end), task);
            }
        }
        for task in workload.tasks().skip(count) {
            let Some((delay, lane, end)) = ended(&task) else { continue };
            let begin = Time::from_ps(end.as_ps().saturating_sub(delay.span.as_ps()));
            let ready = met[task.index()].map_or(Time::ZERO, |(time, _)| time);
            if ready < begin && delay.span > Span::ZERO {
                let before = by_end.get(&(delay.host, lane, begin));
                met[task.index()] = before.map(|&before| (begin, before)).or(met[task.index()]);
            }
        }
    }
}
