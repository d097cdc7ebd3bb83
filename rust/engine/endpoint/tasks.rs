//! Starts of tasks: dependencies between messages and delays, and the lanes of delays.

use super::Endpoints;
use super::host::{Host, Start};
use crate::ids::{HostId, TaskId};
use crate::units::Time;
use crate::workload::{Task, Workload};

/// The end of a task at a host: of a message at its receiver or its sender, or of a delay.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) host: HostId,
    pub(super) task: TaskId,
}

/// Schedules the tasks without dependencies of the hosts for which `owns` is true.
pub(super) fn schedule_independent(
    workload: &Workload,
    hosts: &mut [Host],
    owns: &dyn Fn(HostId) -> bool,
) {
    for task in workload.tasks() {
        if workload.waits_for.get(task.index()).is_some_and(|&count| count > 0) {
            continue;
        }
        let at = match workload.task(task) {
            Task::Message(_, message) => message.start,
            Task::Delay(_) => end_of(Time::ZERO, workload, task),
        };
        let host = workload.host_of(task);
        if !owns(host) {
            continue;
        }
        let host = &mut hosts[host.index()];
        let lane = workload.lane(task);
        // A delay that finds its lane busy is scheduled when the lane becomes free.
        if lane.is_none_or(|lane| host.lanes.join(lane, task)) {
            host.starts.push_back(Start { at, order: task.0.into(), task });
        }
    }
    // Sorted once: sorted insertion of every task would be quadratic.
    for host in hosts {
        host.starts.make_contiguous().sort_unstable();
    }
}

impl Endpoints {
    /// Starts the messages and ends the delays of a host that are due.
    pub(super) fn start_due(&mut self, now: Time, host: HostId) {
        while let Some(&Start { at, task, .. }) = self.hosts[host.index()].starts.front() {
            if at > now {
                break;
            }
            // Removed before it starts, because starting a task may schedule others.
            self.hosts[host.index()].starts.pop_front();
            if self.site.workload.delay(task).is_some() {
                self.release(now, host, Ended { host, task });
            } else {
                self.start(now, host, task);
            }
        }
    }

    /// Releases the dependents of an ended task. `handled` is the host whose event is being
    /// handled: the task's own, unless the task is a message inside a server.
    pub(super) fn release(&mut self, now: Time, handled: HostId, ended: Ended) {
        self.release_next(now, handled, ended);
        self.release_dependents(now, handled, ended);
        // A queue instead of recursion: a long chain of delays of zero length must not overflow the
        // stack.
        while let Some(ended) = self.ended.pop_front() {
            self.release_dependents(now, handled, ended);
        }
    }

    /// Releases the dependents of one task, without those of zero-length delays among them.
    fn release_dependents(&mut self, now: Time, handled: HostId, ended: Ended) {
        let Ended { host: at, task } = ended;
        // Clones the reference, because releasing tasks needs `&mut self`.
        let workload = self.site.workload.clone();
        let is_delay = workload.delay(task).is_some();
        if is_delay {
            self.ledger.end_delay(now, task);
        }
        for &dependent in workload.dependents_of(task) {
            let host = workload.host_of(dependent);
            // A message releases tasks at its receiver on delivery, and at its sender on
            // completion. A delay releases tasks anywhere.
            if (!is_delay && host != at) || !self.ledger.release(dependent) {
                continue;
            }
            let due = match workload.task(dependent) {
                Task::Message(_, message) => message.start.max(now.saturating_add(workload.gap)),
                Task::Delay(_) => {
                    let lane = workload.lane(dependent);
                    let lanes = &mut self.hosts[host.index()].lanes;
                    if lane.is_some_and(|lane| !lanes.join(lane, dependent)) {
                        continue;
                    }
                    end_of(now, &workload, dependent)
                }
            };
            self.launch(now, handled, host, self.start_at(due, dependent));
        }
        // The lane is free for the next delay that waits for it.
        let next = workload.lane(task).and_then(|lane| self.hosts[at.index()].lanes.leave(lane));
        if let Some(next) = next {
            let start = self.start_at(end_of(now, &workload, next), next);
            self.launch(now, handled, at, start);
        }
    }

    /// Starts a message of `host`, or ends a delay there, when it is due. If it is due now and
    /// `host` is being handled, that happens immediately.
    pub(super) fn launch(&mut self, now: Time, handled: HostId, host: HostId, start: Start) {
        if start.at <= now && host == handled {
            match self.site.workload.delay(start.task) {
                Some(_) => self.ended.push_back(Ended { host, task: start.task }),
                None => self.start(now, host, start.task),
            }
            return;
        }
        self.hosts[host.index()].schedule(start);
        // The host that is being handled schedules its wake-up afterwards anyway.
        if host != handled {
            self.touched.push(host);
        }
    }
}

/// Returns the end of a delay that begins now.
fn end_of(now: Time, workload: &Workload, delay: TaskId) -> Time {
    workload.delay(delay).map_or(now, |delay| now.saturating_add(delay.span))
}
