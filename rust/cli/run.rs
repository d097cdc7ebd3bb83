//! `evenkeel run`: runs a scenario once.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use evenkeel_study::{Session, SessionOptions, Subject};

use super::arguments::{PolicyArgument, ResultArguments, ScenarioArguments};
use super::single::{self, Destination};
use super::threads::ThreadsArgument;
use super::{SCENARIO_HELP, Status, rails, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel run scenario.toml
  evenkeel run scenario.toml --policy ecmp --seed 7 --out results/ecmp-7
  evenkeel run scenario.toml --json | jq .cct_ns
  evenkeel run scenario.toml --threads 4
  evenkeel run scenario.toml --trace run.pftrace   # open it at ui.perfetto.dev
  evenkeel run scenario.toml --check               # verify every packet

A results folder has these files:
  summary.json   the object that --json prints, without wall_s and peak_rss_bytes
                 and with `resolved`, the scenario with every default; it is
                 byte-identical for the same scenario, seed and version
  cost.json      these two, which depend on the machine
  flows.csv      one row per flow: the times when it was posted, delivered and
                 acknowledged, in ns, its job and its step (the messages before
                 it on the longest chain of dependencies); in order of completion
                 for messages that are read or generated during the run
                 (workload.streaming)
  links.csv      bytes, longest queue and marked packets of each direction of
                 each link
  scenario.toml  the scenario with every default written out
  pfc.txt        with priority flow control, one line per pause or resume
                 in the HPCC family's format: time_ns node_id node_type
                 if_index type; switches are numbered after the hosts
  ports.csv, queue_pairs.csv, paths.csv
                 with [record], time series: see docs/recording.md
  topology.FORMAT  a copy of the topology file, if the scenario has one
A file appears only when it is complete, summary.json last.
";

/// Simulate a scenario once and report the results
///
/// Prints a table, or one object with --json. CCT is the time from the first start until every
/// message is delivered and acknowledged. The bound is a lower bound that no policy can beat. FCT
/// are the completion times of individual messages.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    #[command(flatten)]
    policy: PolicyArgument,
    #[command(flatten)]
    threads: ThreadsArgument,
    #[command(flatten)]
    results: ResultArguments,
    /// Write a timeline of the run to this file, as a trace for ui.perfetto.dev: messages, queues,
    /// rates, losses, failures (docs/recording.md); only an earlier timeline is replaced
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Check the run against a second account of every packet (docs/trust.md); a violation is a bug
    /// in evenkeel, with exit status 1; makes the run several times slower
    #[arg(long)]
    check: bool,
}

/// Simulates the scenario and reports the results.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let text = scenario::open(&arguments.scenario.scenario)?;
    let overrides = arguments.scenario.overrides(Some(&arguments.policy));
    if text.has_rails() {
        reject_rail_options(arguments)?;
        return rails::run(text, &overrides, &arguments.results);
    }
    let scenario = scenario::resolve(text, &overrides)?;
    let destination = Destination::open(&arguments.results, &[])?;
    arguments.scenario.memory.check(&scenario)?;
    let Arguments { trace, check, threads, .. } = arguments;
    trace.as_deref().map(|file| destination.expect_no_result_at(file)).transpose()?;
    let options = SessionOptions { threads: threads.get(), trace: trace.clone(), check: *check };
    let printed = scenario.warnings.len();
    let session = Session::new(Subject::Scenario(Arc::new(scenario)), options);
    let session = session.map_err(single::failed)?;
    threads.explain(&session);
    single::run(session, printed, &destination)
}

fn reject_rail_options(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.trace.is_some() {
        bail!("--trace: a scenario with [[rail]] has no packet timeline; omit the option");
    }
    if arguments.check {
        bail!("--check: it verifies the packets of one fabric, but [[rail]] has several; omit it");
    }
    Ok(())
}
