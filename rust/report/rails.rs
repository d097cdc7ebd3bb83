//! What a run over several rails leaves behind: the JSON object and the CSV files. Keys, their
//! order and their units are a contract, as those of `summary.json` are.

use std::io::{self, Write};

use serde::Serialize;

use super::{Cost, Identity, VERSION};
use crate::multirail::{Outcome, Setup, Verdict};
use crate::units::{Span, Time};

/// One run in numbers. Times are nanoseconds with the picoseconds as decimals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RailSummary {
    /// The scenario's name.
    pub scenario: String,
    /// The allocator.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// Of this program.
    pub version: &'static str,
    /// How many there are.
    pub hosts: u32,
    /// From the start of the first operation to the end of the last; none unless all completed.
    pub cct_ns: Option<f64>,
    /// True if every rank had the exact sum of every operation that completed.
    pub exact: bool,
    /// Bytes of operations a second, over the time of those that completed.
    pub bytes_per_s: f64,
    /// Every operation.
    pub operations: Vec<OperationSummary>,
    /// Every rail.
    pub rails: Vec<RailLine>,
    /// What happened to rails.
    pub timeline: Vec<TimelineLine>,
    /// The most that a host's processor worked.
    pub cpu_busy_ns_max: f64,
    /// Sums that came when nobody wanted them any more.
    pub late_sums: u64,
    /// Events of the simulation.
    pub events: u64,
    /// Seconds that the simulation took.
    pub wall_s: f64,
    /// Most memory that the process held; none where the system does not tell.
    pub peak_rss_bytes: Option<u64>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationSummary {
    /// Its length.
    pub bytes: u64,
    /// When it started.
    pub start_ns: f64,
    /// From then until every rank had all sums.
    pub took_ns: Option<f64>,
    /// How far the rails' times are apart, as a part of the longest.
    pub spread: f64,
    /// By rail: its bytes.
    pub share_bytes: Vec<u64>,
    /// By rail: its time; none for one that had nothing.
    pub rail_ns: Vec<Option<f64>>,
    /// Chunks that were issued again.
    pub reissued_chunks: u64,
}

/// One rail.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RailLine {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// Rate of its links.
    pub rate_bps: u64,
    /// Bytes of operations that were its.
    pub assigned_bytes: u64,
    /// Bytes that hosts sent over it, each hop counted.
    pub carried_bytes: u64,
    /// What it did in the time that it had chunks: bytes of operations a second.
    pub bytes_per_s: Option<f64>,
}

/// Something that happened to a rail.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineLine {
    /// When.
    pub at_ns: f64,
    /// The rail's name.
    pub rail: String,
    /// What, in words.
    pub what: String,
}

fn ns(time: Time) -> f64 {
    time.since(Time::ZERO).as_ns_f64()
}

impl RailSummary {
    /// Of a run of `setup` with that identity, which cost so much.
    pub fn new(identity: &Identity, setup: &Setup, outcome: &Outcome, cost: Cost) -> Self {
        let done = outcome.verdict == Verdict::Completed;
        let operations = outcome.operations.iter().map(|operation| OperationSummary {
            bytes: operation.bytes.get(),
            start_ns: ns(operation.started),
            took_ns: operation.took.map(Span::as_ns_f64),
            spread: operation.spread(),
            share_bytes: operation.shares.iter().map(|share| share.get()).collect(),
            rail_ns: operation.times.iter().map(|time| time.map(Span::as_ns_f64)).collect(),
            reissued_chunks: operation.reissued,
        });
        let rails = setup.rails.iter().zip(&outcome.rails).enumerate();
        let rails = rails.map(|(index, (config, rail))| RailLine {
            name: rail.name.clone(),
            kind: rail.kind,
            rate_bps: config.rate.as_bps(),
            assigned_bytes: rail.assigned.get(),
            carried_bytes: rail.carried.get(),
            bytes_per_s: speed(outcome, index),
        });
        let timeline = outcome.timeline.iter().map(|entry| TimelineLine {
            at_ns: ns(entry.at),
            rail: setup.rails[entry.rail as usize].name.clone(),
            what: entry.what.to_string(),
        });
        let busy = outcome.cpu_busy.iter().max().copied().unwrap_or(Span::ZERO);
        Self {
            scenario: identity.scenario.clone(),
            policy: identity.policy.clone(),
            seed: identity.seed,
            version: VERSION,
            hosts: setup.ranks,
            cct_ns: done.then(|| ns(outcome.last_end())),
            exact: outcome.operations.iter().all(|operation| operation.wrong == 0),
            bytes_per_s: outcome.rate(),
            operations: operations.collect(),
            rails: rails.collect(),
            timeline: timeline.collect(),
            cpu_busy_ns_max: busy.as_ns_f64(),
            late_sums: outcome.late,
            events: outcome.events,
            wall_s: cost.wall.as_secs_f64(),
            peak_rss_bytes: cost.peak_rss_bytes,
        }
    }
}

/// What a rail did in the time that it had chunks, over operations without a failure.
fn speed(outcome: &Outcome, rail: usize) -> Option<f64> {
    let whole = outcome.operations.iter().filter(|operation| operation.reissued == 0);
    let pairs = whole.filter_map(|it| Some((it.shares[rail].get(), it.times[rail]?.as_ps())));
    let (bytes, ps) = pairs.fold((0, 0), |(b, t), (bytes, ps)| (b + bytes, t + ps));
    (ps > 0).then(|| bytes as f64 / (ps as f64 * 1e-12))
}

/// `operations.csv`: a line an operation and rail.
///
/// # Errors
/// Those of the writer.
pub fn write_operations_csv(
    to: &mut dyn Write,
    identity: &Identity,
    summary: &RailSummary,
) -> io::Result<()> {
    writeln!(to, "{}", identity.header())?;
    writeln!(to, "operation,bytes,start_ns,took_ns,rail,share_bytes,rail_ns,reissued_chunks")?;
    for (number, operation) in summary.operations.iter().enumerate() {
        let OperationSummary { bytes, start_ns, reissued_chunks, .. } = operation;
        let took = shown(operation.took_ns);
        let rails = summary.rails.iter().zip(&operation.share_bytes).zip(&operation.rail_ns);
        for ((rail, share), time) in rails {
            let time = shown(*time);
            let name = &rail.name;
            writeln!(
                to,
                "{number},{bytes},{start_ns},{took},{name},{share},{time},{reissued_chunks}"
            )?;
        }
    }
    Ok(())
}

/// `timeline.csv`: what happened to rails.
///
/// # Errors
/// Those of the writer.
pub fn write_timeline_csv(
    to: &mut dyn Write,
    identity: &Identity,
    summary: &RailSummary,
) -> io::Result<()> {
    writeln!(to, "{}", identity.header())?;
    writeln!(to, "at_ns,rail,what")?;
    for TimelineLine { at_ns, rail, what } in &summary.timeline {
        writeln!(to, "{at_ns},{rail},{what}")?;
    }
    Ok(())
}

fn shown(ns: Option<f64>) -> String {
    ns.map_or_else(String::new, |ns| ns.to_string())
}
