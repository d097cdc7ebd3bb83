//! The results of a run over several rails: the JSON object and the CSV files. Keys, their order
//! and their units are a contract, as in `summary.json`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::{CostSummary, write_without_costs};
use super::own_files::COST;
use super::{Cost, Folder, FolderError, Identity, VERSION, Writer};
use crate::fabric::Verdict;
use crate::multirail::{RailOutcome, RailSetup};
use crate::record::{csv_field, csv_text};
use crate::units::{Span, Time};

/// Results of a run. Times are nanoseconds with picoseconds as decimals.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RailSummary {
    /// Name of the scenario: the stem of its file's name.
    pub scenario: String,
    /// Name of the allocator that divided the operations.
    pub policy: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// Version of this program.
    pub version: &'static str,
    /// Number of hosts.
    pub hosts: u32,
    /// Time from the start of the first operation to the end of the last; `None` unless all
    /// operations completed.
    pub cct_ns: Option<f64>,
    /// True if every rank has the exact sum of every completed operation.
    pub exact: bool,
    /// Bytes of completed operations per second of their duration.
    pub bytes_per_s: f64,
    /// Number of operations of the scenario.
    pub operations_planned: usize,
    /// All operations that started, in order.
    pub operations: Vec<OperationSummary>,
    /// All rails, by index.
    pub rails: Vec<RailLine>,
    /// Failures, recoveries and the reactions to them, in order of time.
    pub timeline: Vec<TimelineLine>,
    /// Longest busy time of a host's processor.
    pub cpu_busy_ns_max: f64,
    /// Sums that arrived after their operation had completed.
    pub late_sums: u64,
    /// Scenario with every default; only in `summary.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub resolved: Option<toml::Table>,
    /// Events of the simulation.
    pub events: u64,
    /// Wall time of the simulation, seconds; a results folder has it in `cost.json`.
    pub wall_s: f64,
    /// Peak memory of the process; `None` if the system does not report it. A results folder has it
    /// in `cost.json`.
    pub peak_rss_bytes: Option<u64>,
}

/// Results of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OperationSummary {
    /// Length of each rank's vector.
    pub bytes: u64,
    /// Start of the operation, from the start of the run.
    pub start_ns: f64,
    /// Time from its start until every rank had all sums; `None` if it did not complete.
    pub took_ns: Option<f64>,
    /// Difference between the longest and the shortest time of a rail, relative to the longest.
    pub spread: f64,
    /// Bytes of each rail.
    pub share_bytes: Vec<u64>,
    /// Time of each rail; `None` for a rail without bytes.
    pub rail_ns: Vec<Option<f64>>,
    /// Chunks that were reissued on another rail.
    pub reissued_chunks: u64,
}

/// Results of a rail.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RailLine {
    /// Name of the rail in the scenario.
    pub name: String,
    /// Kind of the rail: `tcp`, `rdma` or `in-network`.
    pub kind: &'static str,
    /// Rate of its links.
    pub rate_bps: u64,
    /// Bytes of operations that were assigned to it.
    pub assigned_bytes: u64,
    /// Bytes that hosts sent over it, counted at each hop.
    pub carried_bytes: u64,
    /// Bytes of operations per second of the time during which the rail had chunks; `None` if it
    /// had no chunks.
    pub bytes_per_s: Option<f64>,
}

/// An event on the timeline of a rail.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimelineLine {
    /// Time of the event, from the start of the run.
    pub at_ns: f64,
    /// Name of the rail in the scenario.
    pub rail: String,
    /// The event, in words.
    pub what: String,
}

fn ns(time: Time) -> f64 {
    time.since(Time::ZERO).as_ns_f64()
}

impl RailSummary {
    /// Summarizes a run of `setup`.
    pub fn new(identity: &Identity, setup: &RailSetup, outcome: &RailOutcome, cost: Cost) -> Self {
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
            name: config.name.clone(),
            kind: config.kind.name(),
            rate_bps: config.rate.as_bps(),
            assigned_bytes: rail.assigned.get(),
            carried_bytes: rail.carried.get(),
            bytes_per_s: busy_rate(outcome, index),
        });
        let timeline = outcome.timeline.iter().map(|entry| TimelineLine {
            at_ns: ns(entry.at),
            rail: setup.rails[entry.rail as usize].name.clone(),
            what: entry.event.to_string(),
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
            operations_planned: setup.operations.len(),
            operations: operations.collect(),
            rails: rails.collect(),
            timeline: timeline.collect(),
            cpu_busy_ns_max: busy.as_ns_f64(),
            late_sums: outcome.late,
            resolved: None,
            events: outcome.events,
            wall_s: cost.wall.as_secs_f64(),
            peak_rss_bytes: cost.peak_rss_bytes,
        }
    }
}

/// Returns the rate of a rail over the time during which it had chunks, in bytes per second. Leaves
/// out operations that a failure affected.
fn busy_rate(outcome: &RailOutcome, rail: usize) -> Option<f64> {
    let whole = outcome.operations.iter().filter(|operation| operation.reissued == 0);
    let pairs = whole.filter_map(|it| Some((it.shares[rail].get(), it.times[rail]?.as_ps())));
    let (bytes, ps) = pairs.fold((0, 0), |(b, t), (bytes, ps)| (b + bytes, t + ps));
    (ps > 0).then(|| bytes as f64 / (ps as f64 * 1e-12))
}

/// Writes `operations.csv`, a row for each operation and rail.
///
/// # Errors
/// Fails if the writer fails.
pub fn write_operations_csv(to: &mut dyn Write, summary: &RailSummary) -> io::Result<()> {
    writeln!(to, "operation,bytes,start_ns,took_ns,rail,share_bytes,rail_ns,reissued_chunks")?;
    let names: Vec<String> = summary.rails.iter().map(|rail| csv_field(&rail.name)).collect();
    for (index, operation) in summary.operations.iter().enumerate() {
        let OperationSummary { bytes, start_ns, reissued_chunks, .. } = operation;
        let took = shown(operation.took_ns);
        let rails = names.iter().zip(&operation.share_bytes).zip(&operation.rail_ns);
        for ((name, share), time) in rails {
            let time = shown(*time);
            writeln!(
                to,
                "{index},{bytes},{start_ns},{took},{name},{share},{time},{reissued_chunks}"
            )?;
        }
    }
    Ok(())
}

/// Writes `timeline.csv`, a row for each event on the timeline.
///
/// # Errors
/// Fails if the writer fails.
pub fn write_timeline_csv(to: &mut dyn Write, summary: &RailSummary) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(to);
    csv.write_record(["at_ns", "rail", "what"])?;
    for TimelineLine { at_ns, rail, what } in &summary.timeline {
        csv.write_record([&*at_ns.to_string(), &csv_text(rail), &csv_text(what)])?;
    }
    csv.flush()
}

/// Replaces the content of a folder with the results of a run; `rendered` is its scenario.
///
/// # Errors
/// Fails if the folder cannot be written.
pub fn write_rail_results(
    folder: &Folder,
    identity: &Identity,
    summary: &RailSummary,
    rendered: &str,
) -> Result<(), FolderError> {
    let resolved = format!("{}\n# Resolved.\n\n{rendered}", identity.header());
    let operations: Writer<'_> = &|to| write_operations_csv(to, summary);
    let timeline: Writer<'_> = &|to| write_timeline_csv(to, summary);
    let toml: Writer<'_> = &|to| to.write_all(resolved.as_bytes());
    let RailSummary { wall_s, peak_rss_bytes, .. } = *summary;
    let cost: Writer<'_> = &|to| CostSummary { wall_s, peak_rss_bytes }.write(to);
    let files = [
        ("operations.csv", operations),
        ("timeline.csv", timeline),
        ("scenario.toml", toml),
        (COST, cost),
    ];
    folder.replace(&files, &|to| write_without_costs(to, summary))
}

fn shown(ns: Option<f64>) -> String {
    ns.map_or_else(String::new, |ns| ns.to_string())
}
