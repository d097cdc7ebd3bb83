//! Division of each rank's time: computing, communicating, neither, or both.
//!
//! A rank is a host that computes. It communicates while one of its messages is on the way: those
//! that it sends until their last acknowledgement, and those that it receives until their last
//! byte.

use std::collections::BTreeMap;
use std::ops::Range;

use super::jobs::Ends;
use crate::fabric::Outcome;
use crate::ids::HostId;
use crate::units::{Span, Time};
use crate::workload::DelayKind::{Communication, Computation, Waiting};
use crate::workload::{Job, Labels, Parallelism, Phase, Workload};

/// Number of kinds of messages: one per kind of parallelism, and others.
const KINDS: usize = Parallelism::ALL.len() + 1;

/// Index of messages that serve no kind of parallelism.
const OTHER: usize = Parallelism::ALL.len();

/// Division of a rank's time in one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RankTime {
    /// Computing.
    pub(super) compute: Span,
    /// Communicating without computing.
    pub(super) exposed: Span,
    /// Communicating while computing.
    pub(super) overlapped: Span,
    /// Neither.
    pub(super) idle: Span,
    /// By kind of parallelism: exposed and overlapped time.
    pub(super) of_kind: [(Span, Span); Parallelism::ALL.len()],
}

impl RankTime {
    fn add(&mut self, state: &State, span: Span) {
        let computes = state.computations > 0;
        let communicates = state.messages.iter().any(|&count| count > 0);
        match (computes, communicates) {
            (true, false) => self.compute += span,
            (true, true) => {
                self.compute += span;
                self.overlapped += span;
            }
            (false, true) => self.exposed += span,
            (false, false) => self.idle += span,
        }
        for ((exposed, overlapped), &count) in self.of_kind.iter_mut().zip(&state.messages) {
            if count > 0 {
                *(if computes { overlapped } else { exposed }) += span;
            }
        }
    }
}

/// A row of `ranks.csv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankRow {
    pub(super) rank: HostId,
    /// `None` if the phases of the job are unknown.
    pub(super) phase: Option<Phase>,
    pub(super) time: RankTime,
}

/// Activity of a rank at a point in time.
#[derive(Debug, Default)]
struct State {
    /// Number of computations.
    computations: u32,
    /// Number of messages, by kind.
    messages: [u32; KINDS],
    phase: Option<Phase>,
}

/// A change of a rank's state.
#[derive(Debug, Clone, Copy)]
enum Change {
    Computation(bool),
    Message(usize, bool),
    Phase(Phase),
}

impl State {
    fn apply(&mut self, change: Change) {
        let count = |count: &mut u32, begins: bool| match begins {
            true => *count += 1,
            false => *count -= 1,
        };
        match change {
            Change::Computation(begins) => count(&mut self.computations, begins),
            Change::Message(kind, begins) => count(&mut self.messages[kind], begins),
            Change::Phase(phase) => self.phase = Some(phase),
        }
    }
}

/// Tasks of a job, or of a workload without jobs, and the time that is divided.
pub(super) struct Tasks<'a> {
    workload: &'a Workload,
    labels: &'a Labels,
    ends: &'a Ends,
    messages: Range<usize>,
    delays: Range<usize>,
    /// From the start to the last completion.
    pub(super) window: Range<Time>,
}

impl<'a> Tasks<'a> {
    /// Returns the tasks of a workload without jobs; `None` without labels.
    pub(super) fn of_all(
        outcome: &Outcome,
        workload: &'a Workload,
        ends: &'a Ends,
    ) -> Option<Self> {
        let labels = workload.labels.as_ref()?;
        let start = workload.first_start();
        let end = outcome.cct.map_or(outcome.ended, |cct| start.saturating_add(cct));
        let (messages, delays) = (0..workload.messages.len(), 0..workload.delays.len());
        let window = start..end.max(start);
        Some(Self { workload, labels, ends, messages, delays, window })
    }

    /// Returns the tasks of a job; `None` without labels, or if the job did not start.
    pub(super) fn of_job(
        outcome: &Outcome,
        workload: &'a Workload,
        ends: &'a Ends,
        job: &Job,
    ) -> Option<Self> {
        let labels = workload.labels.as_ref()?;
        let Range { start, end } = ends.extent(job);
        if start == Time::NEVER {
            return None;
        }
        let end = if end == Time::NEVER { outcome.ended } else { end };
        let (messages, delays) = (job.messages.clone(), job.delays.clone());
        let window = start..end.max(start);
        Some(Self { workload, labels, ends, messages, delays, window })
    }

    /// Returns the rows of all ranks, by host and phase; empty if no host computes.
    pub(super) fn rows(&self) -> Vec<RankRow> {
        let of_host = self.delays_of_hosts();
        if of_host.is_empty() {
            return Vec::new();
        }
        let messages = self.messages_of_hosts(&of_host);
        let mut rows = Vec::new();
        for (&rank, delays) in &of_host {
            let mut changes = self.changes_of_delays(delays);
            for &message in &messages[&rank] {
                self.add_message(rank, message as usize, &mut changes);
            }
            changes.sort_by_key(|(at, _)| *at);
            let times = self.divide(&changes);
            let row = |(phase, time)| RankRow { rank, phase, time };
            rows.extend(times.into_iter().map(row));
        }
        rows
    }

    /// Returns the bytes of the messages of a kind of parallelism.
    pub(super) fn bytes(&self, kind: Parallelism) -> u64 {
        let messages = self.workload.messages[self.messages.clone()].iter();
        let own = messages.filter(|it| self.labels.parallelisms.get(&it.stream) == Some(&kind));
        own.map(|it| it.bytes.get()).sum()
    }

    /// Returns the delays of each host that computes, without those that only wait.
    fn delays_of_hosts(&self) -> BTreeMap<HostId, Vec<usize>> {
        let mut of_host: BTreeMap<HostId, Vec<usize>> = BTreeMap::new();
        for index in self.delays.clone() {
            let delay = &self.workload.delays[index];
            let is_used = match self.labels.kind(index) {
                Computation(Some(Phase::Update)) => true,
                Computation(_) | Communication => delay.span > Span::ZERO,
                Waiting => false,
            };
            if is_used {
                of_host.entry(delay.host).or_default().push(index);
            }
        }
        of_host.retain(|_, delays| delays.iter().any(|&index| self.computes(index)));
        of_host
    }

    /// Returns true for a delay that is a computation of some duration.
    fn computes(&self, delay: usize) -> bool {
        let is_computation = matches!(self.labels.kind(delay), Computation(_));
        is_computation && self.workload.delays[delay].span > Span::ZERO
    }

    /// Returns the messages that each of these hosts sends or receives.
    fn messages_of_hosts(
        &self,
        hosts: &BTreeMap<HostId, Vec<usize>>,
    ) -> BTreeMap<HostId, Vec<u32>> {
        let mut of_host: BTreeMap<HostId, Vec<u32>> =
            hosts.keys().map(|&host| (host, Vec::new())).collect();
        for index in self.messages.clone() {
            let message = &self.workload.messages[index];
            for host in [message.src, message.dst] {
                if let Some(messages) = of_host.get_mut(&host) {
                    messages.push(index as u32);
                }
            }
        }
        of_host
    }

    /// Returns the beginnings and ends of a rank's computations, and of its phases.
    ///
    /// A phase lasts until its last computation ends; the update follows until its last gradients
    /// and parameters have arrived.
    fn changes_of_delays(&self, delays: &[usize]) -> Vec<(Time, Change)> {
        let mut changes = Vec::with_capacity(3 * delays.len());
        let mut phases: Vec<(Time, Phase)> = Vec::new();
        for &index in delays {
            let (end, span) = (self.ends.delays[index], self.workload.delays[index].span);
            let change: fn(bool) -> Change = match self.labels.kind(index) {
                Computation(phase) => {
                    phases.extend(phase.map(|phase| (end, phase)));
                    Change::Computation
                }
                Communication | Waiting => |begins| Change::Message(OTHER, begins),
            };
            // A delay that did not end has no known beginning.
            if span > Span::ZERO && end != Time::NEVER {
                let begin = Time::from_ps(end.as_ps().saturating_sub(span.as_ps()));
                changes.extend([(begin, change(true)), (end, change(false))]);
            }
        }
        phases.sort_unstable();
        let begins = phases.iter().map(|(end, _)| *end);
        let begins = std::iter::once(Time::ZERO).chain(begins);
        let of_phases = phases.iter().map(|(_, phase)| *phase);
        let of_phases = of_phases.chain(phases.last().map(|_| Phase::Update));
        changes.extend(begins.zip(of_phases).map(|(at, phase)| (at, Change::Phase(phase))));
        changes
    }

    /// Adds the beginning and the end of a message at one of its hosts.
    fn add_message(&self, host: HostId, index: usize, changes: &mut Vec<(Time, Change)>) {
        let message = &self.workload.messages[index];
        let parallelism = self.labels.parallelisms.get(&message.stream);
        let kind = parallelism.map_or(OTHER, |it| *it as usize);
        let ends = if message.src == host { &self.ends.completed } else { &self.ends.delivered };
        changes.push((self.ends.started[index], Change::Message(kind, true)));
        changes.push((ends[index], Change::Message(kind, false)));
    }

    /// Divides the window by the state between changes, which are in order of time.
    fn divide(&self, changes: &[(Time, Change)]) -> Vec<(Option<Phase>, RankTime)> {
        let Range { start, end } = self.window;
        let mut state = State::default();
        let mut times: BTreeMap<Option<Phase>, RankTime> = BTreeMap::new();
        let mut last = start;
        for &(at, change) in changes {
            let at = at.clamp(start, end);
            if at > last {
                times.entry(state.phase).or_default().add(&state, at.since(last));
                last = at;
            }
            state.apply(change);
        }
        if end > last {
            times.entry(state.phase).or_default().add(&state, end.since(last));
        }
        times.into_iter().collect()
    }
}
