//! The dependency that each task waited for last.

use crate::fabric::{Outcome, Setup};
use crate::ids::{HostId, TaskId};
use crate::units::{Span, Time};
use crate::workload::{Task, Workload};

/// For each task, the message or the computation whose end let it start.
pub(super) struct Causes {
    of_task: Vec<Option<TaskId>>,
    /// The tasks that each task let start.
    effects: Vec<Vec<u64>>,
}

impl Causes {
    /// Returns the causes in a run that keeps its messages.
    pub(super) fn of(setup: &Setup, outcome: &Outcome) -> Self {
        let workload = &*setup.workload;
        let ends = Ends::of(outcome, workload);
        let last: Vec<Option<TaskId>> = ends.last_dependencies();
        let of_task: Vec<Option<TaskId>> = workload
            .tasks()
            .map(|task| {
                // A delay of length zero has no slice: its own cause stands for it.
                let mut cause = last[task.index()]?;
                while workload.delay(cause).is_some_and(|delay| delay.span == Span::ZERO) {
                    cause = last[cause.index()]?;
                }
                Some(cause)
            })
            .collect();
        let mut effects = vec![Vec::new(); workload.task_count()];
        for (task, cause) in workload.tasks().zip(&of_task) {
            let is_shown = workload.delay(task).is_none_or(|delay| delay.span > Span::ZERO);
            if let Some(cause) = cause.filter(|_| is_shown) {
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

/// Ends of all tasks; [`Time::NEVER`] for those that did not end.
struct Ends<'a> {
    workload: &'a Workload,
    delivered: Vec<Time>,
    completed: Vec<Time>,
    delays: &'a [Time],
}

impl<'a> Ends<'a> {
    fn of(outcome: &'a Outcome, workload: &'a Workload) -> Self {
        let count = workload.messages.len();
        let (mut delivered, mut completed) = (vec![Time::ZERO; count], vec![Time::ZERO; count]);
        for flow in &outcome.flows {
            let index = flow.message.index();
            delivered[index] = delivered[index].max(flow.delivered);
            completed[index] = completed[index].max(flow.completed);
        }
        Self { workload, delivered, completed, delays: &outcome.delay_ends }
    }

    /// Returns the time at which a task is known to have ended at a host.
    fn at(&self, task: TaskId, host: HostId) -> Time {
        match self.workload.task(task) {
            Task::Message(id, message) if message.src == host => self.completed[id.index()],
            Task::Message(id, _) => self.delivered[id.index()],
            Task::Delay(_) => self.delays[task.index() - self.workload.messages.len()],
        }
    }

    /// Returns, for each task, the dependency that ended last; the first of several.
    fn last_dependencies(&self) -> Vec<Option<TaskId>> {
        let workload = self.workload;
        let mut last: Vec<Option<(Time, TaskId)>> = vec![None; workload.task_count()];
        for task in workload.tasks() {
            for &after in workload.dependents_of(task) {
                let end = self.at(task, workload.host_of(after));
                let known = &mut last[after.index()];
                if end != Time::NEVER && known.is_none_or(|(time, _)| end > time) {
                    *known = Some((end, task));
                }
            }
        }
        last.into_iter().map(|it| it.map(|(_, task)| task)).collect()
    }
}
