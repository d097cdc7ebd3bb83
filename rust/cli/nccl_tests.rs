//! `evenkeel nccl-tests`: prints the table that users of nccl-tests know.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use evenkeel_engine::units::Bytes;
use evenkeel_scenario::{Overrides, Scenario, Setting};
use evenkeel_study::report::human;
use evenkeel_study::{self as study, NcclOperation, NcclRow, NcclSizes, NcclStep, NcclTable};

use super::arguments::SetArguments;
use super::memory::MemoryArgument;
use super::{Status, output, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel nccl-tests all_reduce -b 8 -e 8G -f 2 -g 16 --cluster examples/clusters/h100.toml
  evenkeel nccl-tests all_gather -g 64 --cluster examples/clusters/h100.toml --choice
  evenkeel nccl-tests alltoall -g 144 --cluster examples/clusters/gb200-nvl72.toml --json

A cluster is a scenario; the command sets `kind`, `operation`, `bytes` and
`ranks` of its [workload]. --set sets other keys of kind = \"nccl\", such as
`algorithm`; docs/keys-workload.md lists them.
";

/// Print the table of nccl-tests for a cluster, by simulation
///
/// Sizes run in parallel on all cores. Each row is one run of the operation, out-of-place, without
/// warm-up: time, algorithm bandwidth and bus bandwidth as nccl-tests defines them, and the
/// algorithm, protocol and number of channels that NCCL's cost model chooses. docs/workloads.md
/// says how close that is to published tables.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Operation: all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall or sendrecv,
    /// with or without _perf
    #[arg(value_parser = operation)]
    operation: NcclOperation,
    /// Scenario of the cluster (see examples/clusters)
    #[arg(long, value_name = "FILE")]
    cluster: PathBuf,
    /// Smallest size: bytes, or with K, M or G (powers of 1,024)
    #[arg(short = 'b', long, value_name = "SIZE", default_value = "32M", value_parser = size)]
    minbytes: Bytes,
    /// Largest size
    #[arg(short = 'e', long, value_name = "SIZE", default_value = "32M", value_parser = size)]
    maxbytes: Bytes,
    /// Factor between sizes
    #[arg(short = 'f', long, value_name = "N", conflicts_with = "stepbytes")]
    #[arg(value_parser = clap::value_parser!(u64).range(2..))]
    stepfactor: Option<u64>,
    /// Difference between sizes [default: 1M, as in nccl-tests]
    #[arg(short = 'i', long, value_name = "SIZE", value_parser = size)]
    stepbytes: Option<Bytes>,
    /// Number of GPUs, the first of the cluster [default: those of the scenario]
    #[arg(short = 'g', long, value_name = "N")]
    ngpus: Option<u32>,
    /// Print the time of every algorithm and protocol by NCCL's cost model too
    #[arg(long, conflicts_with = "json")]
    choice: bool,
    /// Print one JSON object instead of the table (times in ns, sizes in bytes)
    #[arg(long)]
    json: bool,
    /// Simulate up to this many sizes at once [default: all cores]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    memory: MemoryArgument,
}

/// Most sizes of a table.
const MAX_ROWS: usize = 4_096;

/// Simulates every size and prints the table.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    arguments.check_settings()?;
    let sizes = arguments.sizes()?;
    let source = scenario::open(&arguments.cluster)?;
    let at = |bytes: Bytes| source.clone().scenario(&arguments.overrides(bytes));
    let warnings = |scenario: &Scenario| {
        scenario.warnings.iter().for_each(|warning| output::warning(warning));
    };
    let largest = at(sizes[sizes.len() - 1])?;
    warnings(&largest);
    arguments.memory.check(&largest)?;
    if largest.nccl().is_none() {
        let file = arguments.cluster.display();
        bail!("{file}: workload.hosts: the first GPUs of the cluster are the ranks; omit it");
    }
    let threads = arguments.jobs.unwrap_or_else(study::cores);
    let table = study::nccl_tests(&sizes, threads, &at)?;
    let is_complete = table.rows.iter().all(|row| row.time_ns.is_some());
    match arguments.json {
        true => output::print_json(&table)?,
        false => output::print_text(&text(arguments.operation, &table, arguments.choice))?,
    }
    if !is_complete {
        output::error("some sizes did not complete within the scenario's time limit");
        return Ok(Status::Incomplete);
    }
    Ok(Status::Done)
}

impl Arguments {
    fn sizes(&self) -> anyhow::Result<Vec<Bytes>> {
        let step = match (self.stepfactor, self.stepbytes) {
            (Some(factor), _) => NcclStep::Factor(factor),
            (None, step) => NcclStep::Add(step.unwrap_or(Bytes::new(1 << 20))),
        };
        let (from, to) = (self.minbytes, self.maxbytes);
        if to < from {
            let [from, to] = [from, to].map(|bytes| human::bytes(bytes.get() as f64));
            bail!("--maxbytes {to}: it must be at least --minbytes, {from}");
        }
        if let NcclStep::Add(by) = step
            && (to.get() - from.get()) / by.get() >= MAX_ROWS as u64
        {
            bail!("--stepbytes: more than {MAX_ROWS} sizes; use a larger step, or -f 2");
        }
        Ok(NcclSizes { from, to, step }.list())
    }

    fn overrides(&self, bytes: Bytes) -> Overrides {
        let set = |key: &str, value: String| -> Setting {
            format!("workload.{key}={value}").parse().expect("a key and a value")
        };
        let mut settings = vec![set("kind", "\"nccl\"".to_owned())];
        settings.extend(self.set.settings.iter().cloned());
        settings.push(set("operation", format!("\"{}\"", self.operation.name())));
        settings.push(set("bytes", format!("\"{}B\"", bytes.get())));
        settings.extend(self.ngpus.map(|ranks| set("ranks", ranks.to_string())));
        Overrides { settings, most_memory: self.memory.limit(), ..Overrides::default() }
    }

    /// Rejects a `--set` of a key that another argument sets.
    fn check_settings(&self) -> anyhow::Result<()> {
        let own = [
            ("workload.kind", "the command runs kind = \"nccl\""),
            ("workload.operation", "the first argument is the operation"),
            ("workload.bytes", "use -b and -e"),
        ];
        for setting in &self.set.settings {
            if let Some((key, instead)) = own.iter().find(|(key, _)| *key == setting.key) {
                bail!("--set {key}: {instead}");
            }
        }
        Ok(())
    }
}

/// Reads the name of an operation.
fn operation(text: &str) -> Result<NcclOperation, String> {
    let name = text.strip_suffix("_perf").unwrap_or(text);
    let found = NcclOperation::ALL.into_iter();
    let names: Vec<&str> = found.clone().map(NcclOperation::test_name).collect();
    let mut found = found.filter(|it| it.test_name() == name || it.name() == name);
    found.next().ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

/// Reads a size as nccl-tests does.
fn size(text: &str) -> Result<Bytes, String> {
    let expected = || "expected bytes, or a number with K, M or G, such as 8G".to_owned();
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() {
        return Err(expected());
    }
    let too_large = || "expected less than 16E bytes (2^64)".to_owned();
    let number: u64 = number.parse().map_err(|_| too_large())?;
    let shift = match unit {
        "" | "B" => 0,
        "K" | "k" | "KiB" => 10,
        "M" | "m" | "MiB" => 20,
        "G" | "g" | "GiB" => 30,
        _ => return Err(expected()),
    };
    match number.checked_mul(1 << shift) {
        Some(0) => Err("expected at least 1 byte".to_owned()),
        Some(bytes) => Ok(Bytes::new(bytes)),
        None => Err(too_large()),
    }
}

/// Returns the table in the columns of nccl-tests, then NCCL's choice.
fn text(operation: NcclOperation, table: &NcclTable, choice: bool) -> String {
    let NcclTable { cluster, ranks, ranks_per_server, .. } = table;
    let servers = ranks / ranks_per_server;
    let mut text = format!(
        "# evenkeel nccl-tests {}: {cluster}, {ranks} GPUs, {ranks_per_server} per server \
         ({servers}), simulated\n\
         #\n\
         #       size         count    type   redop    root     time   algbw   busbw       algo  \
         proto  channels\n\
         #        (B)    (elements)                             (us)  (GB/s)  (GB/s)\n",
        operation.test_name()
    );
    for row in &table.rows {
        text += &line(operation, table.ranks, row);
        if choice {
            text += &estimates(row);
        }
    }
    let mean = table.mean_busbw_bytes_per_s.unwrap_or(0.0) / 1e9;
    let _ = writeln!(text, "# Avg bus bandwidth    : {mean:.3}");
    text
}

fn line(operation: NcclOperation, ranks: u32, row: &NcclRow) -> String {
    let elements = match operation {
        NcclOperation::AllGather | NcclOperation::ReduceScatter | NcclOperation::AllToAll => {
            row.bytes / 4 / u64::from(ranks)
        }
        _ => row.bytes / 4,
    };
    let reduces = matches!(
        operation,
        NcclOperation::AllReduce | NcclOperation::ReduceScatter | NcclOperation::Reduce
    );
    let redop = if reduces { "sum" } else { "none" };
    let root = match operation {
        NcclOperation::Broadcast | NcclOperation::Reduce => 0,
        _ => -1,
    };
    let time = row.time_ns.map_or_else(|| "-".to_owned(), |ns| significant(ns / 1e3));
    let rate = |of: fn(&study::report::Rates) -> f64| {
        row.rates.as_ref().map_or_else(|| "-".to_owned(), |it| format!("{:.2}", of(it) / 1e9))
    };
    let bytes = row.bytes;
    let (algbw, busbw) = (rate(|it| it.algbw_bytes_per_s), rate(|it| it.busbw_bytes_per_s));
    let (algo, proto) =
        (row.algorithm.as_deref().unwrap_or("-"), row.protocol.as_deref().unwrap_or("-"));
    let channels = row.channels;
    format!(
        "{bytes:>12}  {elements:>12}   float  {redop:>6}  {root:>6}  {time:>7}  {algbw:>6}  \
         {busbw:>6}  {algo:>9}  {proto:>5}  {channels:>8}\n"
    )
}

/// Returns the estimates of a row, one per line.
fn estimates(row: &NcclRow) -> String {
    let mut lines = String::new();
    for it in &row.estimates {
        let chosen = row.algorithm.as_deref() == Some(it.algorithm)
            && row.protocol.as_deref() == Some(it.protocol);
        let mark = if chosen { "chosen" } else { "" };
        let (time, latency) = (significant(it.time_ns / 1e3), significant(it.latency_ns / 1e3));
        let rate = it.algbw_bytes_per_s / 1e9;
        let _ = writeln!(
            lines,
            "#   model: {:>9} {:>6}  {time:>8} us = {latency:>7} us + size / {rate:>6.1} GB/s  \
             {mark}",
            it.algorithm, it.protocol
        );
    }
    lines
}

/// Returns a time with as many digits as nccl-tests prints.
fn significant(us: f64) -> String {
    match us {
        us if us >= 10_000.0 => format!("{us:.0}"),
        us if us >= 100.0 => format!("{us:.1}"),
        us => format!("{us:.2}"),
    }
}
