//! Means over ranks of the time that they compute, communicate, or do neither.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::cells::Cell;
use super::jobs::Ends;
use super::rank_times::{RankRow, Tasks};
use crate::fabric::{Outcome, Setup};
use crate::units::Span;
use crate::workload::{Parallelism, Phase};

/// Division of the completion time of hosts that compute. Times are means over these hosts, in
/// nanoseconds; compute, exposed and idle time add up to the completion time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Breakdown {
    /// Hosts that compute.
    pub ranks: u64,
    /// The whole time.
    #[serde(flatten)]
    pub time: TimeShares,
    /// Communication by kind of parallelism. A rank may communicate for several kinds at the same
    /// time, so their times can add up to more than the whole. Absent if the kinds are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallelisms: Option<Parallelisms>,
    /// Time of each phase, at each rank from the end of the phase before it: waiting counts for the
    /// computation that follows. Absent if the phases are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
}

/// Communication by kind of parallelism; kinds without messages are absent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Parallelisms {
    /// Activations among ranks that share a layer's matrices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<Communication>,
    /// Activations and their gradients between stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Communication>,
    /// Gradients and parameters among replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Communication>,
    /// Tokens to their experts and back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert: Option<Communication>,
}

/// Division of the time by phase; phases that do not occur are absent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Phases {
    /// Forward passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Option<TimeShares>,
    /// Backward passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backward: Option<TimeShares>,
    /// The ends of iterations: gradients are reduced and parameters updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<TimeShares>,
}

impl Parallelisms {
    fn new(of: impl Fn(Parallelism) -> Communication) -> Option<Self> {
        let [tensor, pipeline, data, expert] =
            Parallelism::ALL.map(|kind| Some(of(kind)).filter(|it| it.bytes > 0));
        let all = Self { tensor, pipeline, data, expert };
        all.each().next().is_some().then_some(all)
    }

    /// Returns the name and the time of each kind that has messages.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, Communication)> {
        let all = [self.tensor, self.pipeline, self.data, self.expert];
        Parallelism::ALL.into_iter().zip(all).filter_map(|(kind, it)| Some((kind.name(), it?)))
    }
}

impl Phases {
    fn new(of: impl Fn(Phase) -> Option<TimeShares>) -> Option<Self> {
        let [forward, backward, update] = Phase::ALL.map(of);
        let all = Self { forward, backward, update };
        all.each().next().is_some().then_some(all)
    }

    /// Returns the name and the time of each phase that occurs.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, TimeShares)> {
        let all = [self.forward, self.backward, self.update];
        Phase::ALL.into_iter().zip(all).filter_map(|(phase, it)| Some((phase.name(), it?)))
    }
}

/// Division of a time: means over ranks, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TimeShares {
    /// Computing.
    pub compute_ns: f64,
    /// Communicating without computing.
    pub exposed_ns: f64,
    /// Communicating while computing; a part of `compute_ns`.
    pub overlapped_ns: f64,
    /// Neither computing nor communicating.
    pub idle_ns: f64,
}

/// Communication for a kind of parallelism: means over ranks, in nanoseconds, and total bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Communication {
    /// Time without computing.
    pub exposed_ns: f64,
    /// Time while computing.
    pub overlapped_ns: f64,
    /// Bytes of all messages.
    pub bytes: u64,
}

impl Breakdown {
    /// Returns the division of a run; `None` if its hosts do not compute, or if it has jobs.
    pub(crate) fn of_run(outcome: &Outcome, setup: &Setup) -> Option<Self> {
        let workload = &setup.workload;
        let computes = workload.delays.iter().any(|delay| delay.span > Span::ZERO);
        if workload.labels.is_none() || !computes || !workload.jobs.is_empty() {
            return None;
        }
        Self::of(&Tasks::of_all(outcome, workload, &Ends::of(outcome, workload))?)
    }

    pub(super) fn of(tasks: &Tasks<'_>) -> Option<Self> {
        let rows = tasks.rows();
        let mut ranks: Vec<_> = rows.iter().map(|row| row.rank).collect();
        ranks.dedup();
        if ranks.is_empty() {
            return None;
        }
        let mean = Mean { ranks: ranks.len() as u128 };
        let of_kind = |kind: Parallelism| Communication {
            exposed_ns: mean.of(&rows, |row| row.time.of_kind[kind as usize].0),
            overlapped_ns: mean.of(&rows, |row| row.time.of_kind[kind as usize].1),
            bytes: tasks.bytes(kind),
        };
        let of_phase = |phase: Phase| {
            let own: Vec<RankRow> =
                rows.iter().filter(|row| row.phase == Some(phase)).copied().collect();
            (!own.is_empty()).then(|| mean.shares(&own))
        };
        Some(Self {
            ranks: ranks.len() as u64,
            time: mean.shares(&rows),
            parallelisms: Parallelisms::new(of_kind),
            phases: Phases::new(of_phase),
        })
    }
}

/// Computes means over ranks.
#[derive(Debug, Clone, Copy)]
struct Mean {
    ranks: u128,
}

impl Mean {
    /// Returns the mean in nanoseconds, rounded down to a picosecond.
    fn of(self, rows: &[RankRow], time: impl Fn(&RankRow) -> Span) -> f64 {
        let sum: u128 = rows.iter().map(|row| u128::from(time(row).as_ps())).sum();
        let mean = u64::try_from(sum / self.ranks).expect("it is at most the longest");
        Span::from_ps(mean).as_ns_f64()
    }

    fn shares(self, rows: &[RankRow]) -> TimeShares {
        TimeShares {
            compute_ns: self.of(rows, |row| row.time.compute),
            exposed_ns: self.of(rows, |row| row.time.exposed),
            overlapped_ns: self.of(rows, |row| row.time.overlapped),
            idle_ns: self.of(rows, |row| row.time.idle),
        }
    }
}

/// Columns of `ranks.csv`.
const COLUMNS: [&str; 15] = [
    "rank",
    "job",
    "phase",
    "compute_ns",
    "exposed_ns",
    "overlapped_ns",
    "idle_ns",
    "tensor_exposed_ns",
    "tensor_overlapped_ns",
    "pipeline_exposed_ns",
    "pipeline_overlapped_ns",
    "data_exposed_ns",
    "data_overlapped_ns",
    "expert_exposed_ns",
    "expert_overlapped_ns",
];

/// Writes `ranks.csv`: the time of each rank in each phase.
///
/// # Errors
/// Fails if writing to `to` fails.
pub fn write_ranks_csv(to: &mut dyn Write, setup: &Setup, outcome: &Outcome) -> io::Result<()> {
    let workload = &setup.workload;
    let ends = Ends::of(outcome, workload);
    let mut csv = csv::Writer::from_writer(to);
    csv.write_record(COLUMNS)?;
    let jobs = workload
        .jobs
        .iter()
        .filter_map(|job| Some((job.name.as_str(), Tasks::of_job(outcome, workload, &ends, job)?)));
    let whole = workload.jobs.is_empty().then(|| Tasks::of_all(outcome, workload, &ends));
    for (job, tasks) in whole.flatten().map(|tasks| ("", tasks)).into_iter().chain(jobs) {
        for RankRow { rank, phase, time } in tasks.rows() {
            let names = [
                setup.topology.host_names()[rank.index()].as_str(),
                job,
                phase.map_or("", Phase::name),
            ];
            let names = names.map(|name| Cell::Text(name.into()));
            let kinds = time.of_kind.iter().flat_map(|(exposed, overlapped)| [exposed, overlapped]);
            let times = [time.compute, time.exposed, time.overlapped, time.idle];
            let times = times.iter().chain(kinds).map(|span| Cell::Time(Some(span.as_ps())));
            csv.write_record(names.into_iter().chain(times).map(|cell| cell.csv().into_owned()))?;
        }
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::ids::HostId;
    use crate::units::{Bytes, Time};
    use crate::workload::graph::TaskGraph;
    use crate::workload::{DelayKind, Message, Workload};

    /// Two hosts compute for 10 us and 5 us forwards, then 20 us backwards; an empty delay ends the
    /// update. Host 0 sends two messages.
    fn workload() -> Workload {
        let mut graph = TaskGraph::default();
        let labels = graph.labels.get_or_insert_default();
        labels.parallelisms.extend([(0, Parallelism::Tensor), (1, Parallelism::Data)]);
        let phases = [(0, Phase::Forward), (2, Phase::Backward), (4, Phase::Update)];
        for (delay, phase) in phases {
            labels.begin(delay, DelayKind::Computation(Some(phase)));
        }
        let spans = [(0, 10), (1, 5), (0, 20), (1, 20), (0, 0), (1, 0)];
        for (host, span) in spans {
            graph.delay(HostId(host), Span::from_us(span));
        }
        for stream in [0, 1] {
            let (src, dst) = (HostId(0), HostId(1));
            graph.message(Message {
                stream,
                ..Message::starting_at_zero(0, src, dst, Bytes::new(9))
            });
        }
        graph.finish().unwrap()
    }

    fn at(us: u64) -> Time {
        Time::from_ps(us * 1_000_000)
    }

    /// The forward passes end at 10 and 5 us. The first message is on the way from 10 to 13 us at
    /// its receiver, to 15 us at its sender. The backward passes end at 36 and 33 us. The second
    /// message is on the way from 30 to 38 and 40 us, when the update ends.
    fn ends() -> Ends {
        Ends {
            started: vec![at(10), at(30)],
            delivered: vec![at(13), at(38)],
            completed: vec![at(15), at(40)],
            delays: [10, 5, 36, 33, 40, 38].map(at).to_vec(),
        }
    }

    fn shares(compute: f64, exposed: f64, overlapped: f64, idle: f64) -> TimeShares {
        let [compute_ns, exposed_ns, overlapped_ns, idle_ns] =
            [compute, exposed, overlapped, idle].map(|us| us * 1_000.0);
        TimeShares { compute_ns, exposed_ns, overlapped_ns, idle_ns }
    }

    #[test]
    fn the_time_of_two_ranks_is_divided_by_state_phase_and_parallelism() {
        let workload = workload();
        let outcome = Outcome { cct: Some(Span::from_us(40)), ..sample::completed() };
        let ends = ends();
        let found = Breakdown::of(&Tasks::of_all(&outcome, &workload, &ends).unwrap()).unwrap();
        // Rank 0 idles from 15 to 16 us; rank 1 from 5 to 10 and from 38 to 40 us. The second
        // message overlaps the backward passes for 6 and 3 us.
        assert_eq!(found.ranks, 2);
        assert_eq!(found.time, shares(27.5, 8.5, 4.5, 4.0));
        let phases = Phases {
            forward: Some(shares(7.5, 0.0, 0.0, 0.0)),
            backward: Some(shares(20.0, 4.0, 4.5, 3.0)),
            update: Some(shares(0.0, 4.5, 0.0, 1.0)),
        };
        assert_eq!(found.phases, Some(phases));
        let of = |exposed_ns: f64, overlapped_ns: f64| {
            Some(Communication { exposed_ns, overlapped_ns, bytes: 9 })
        };
        let (tensor, data) = (of(4_000.0, 0.0), of(4_500.0, 4_500.0));
        let kinds = Parallelisms { tensor, data, pipeline: None, expert: None };
        assert_eq!(found.parallelisms, Some(kinds));
    }

    #[test]
    fn workloads_without_computation_have_no_breakdown() {
        let outcome = sample::completed();
        let mut workload = sample::workload();
        let ends = Ends::of(&outcome, &workload);
        assert!(Tasks::of_all(&outcome, &workload, &ends).is_none());
        workload.labels = Some(crate::workload::Labels::default());
        assert_eq!(Breakdown::of(&Tasks::of_all(&outcome, &workload, &ends).unwrap()), None);
    }
}
