//! `evenkeel run`: a single run of a scenario.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use evenkeel::fabric::{Setup, Watch};
use evenkeel::fluid::Fidelity;
use evenkeel::invariants::{Invariants, Report};
use evenkeel::report::{self, Identity, Writer, human};
use evenkeel::scenario::Scenario;
use evenkeel::study;
use evenkeel::timeline::Watches;

use super::arguments::{PolicyArgument, ResultArguments, ScenarioArguments};
use super::record::{Recorded, Recordings};
use super::single::{self, Destination, Kind, Single};
use super::threads::ThreadsArgument;
use super::timeline::Timeline;
use super::{SCENARIO_HELP, Status, hpcc, incomplete, output, rails, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel run scenario.toml
  evenkeel run scenario.toml --policy ecmp --seed 7 --out results/ecmp-7
  evenkeel run scenario.toml --json | jq .cct_ns
  evenkeel run scenario.toml --threads 4
  evenkeel run scenario.toml --trace run.pftrace   # open it at ui.perfetto.dev
  evenkeel run scenario.toml --check               # before a decision rests on it

A results folder has these files:
  summary.json   the object that --json prints, without wall_s and peak_rss_bytes
                 and with `resolved`, the scenario with every default: the same
                 bytes for the same scenario, seed and version
  cost.json      these two, which are those of the machine
  flows.csv      a row for each flow: when it was posted, delivered and
                 acknowledged, in ns, its job and its step (the messages before
                 it on the longest chain of dependencies); in order of completion
                 for messages that are read or generated during the run
                 (workload.streaming)
  links.csv      the bytes that each direction of each link carried, its longest
                 queue and the packets that were marked there
  scenario.toml  the scenario with every default written out
  pfc.txt        with priority flow control, a line for each pause or resume
                 in the HPCC family's format: time_ns node_id node_type
                 if_index type; switches are numbered after the hosts
  ports.csv, queue_pairs.csv, paths.csv
                 with [record], time series: see docs/recording.md
  topology.FORMAT  a copy of the file that the topology was read from, if it was
They appear complete or not at all, summary.json last.
";

/// Simulate a scenario once and report the results
///
/// Prints a table, or with --json one object. CCT is the time from the first start until every
/// message is delivered and acknowledged; the bound is a lower bound that no policy can beat; FCT
/// are the messages' own completion times.
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
    /// Write the course of the run to this file, as a trace for ui.perfetto.dev: messages, queues,
    /// rates, losses, failures (docs/timeline.md); an earlier one is replaced, and another file is
    /// not; not to be confused with `evenkeel trace`
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Check the run against a second account of every packet (docs/trust.md): what it finds is a
    /// fault of evenkeel, an error and exit status 1; takes several times the run itself
    #[arg(long)]
    check: bool,
}

/// Simulates the scenario and reports the results.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let text = scenario::open(&arguments.scenario.scenario)?;
    let overrides = arguments.scenario.overrides(Some(&arguments.policy));
    if text.has_rails() {
        refuse_for_rails(arguments)?;
        return rails::run(text, &overrides, &arguments.results);
    }
    let scenario = scenario::resolve(text, &overrides)?;
    let destination = Destination::open(&arguments.results, &[])?;
    let identity = study::identity(&scenario);
    let setup = scenario.setup();
    arguments.scenario.memory.check(&scenario)?;
    let beside = Beside::of(&identity, &scenario, &destination);
    let mut recordings = Recordings::begin(&scenario, &destination)?;
    let other = on_one_thread(arguments, &scenario);
    let threads = arguments.threads.for_run(&setup, other);
    let trace = arguments.trace.as_deref();
    trace.map(|file| destination.expect_no_result_at(file)).transpose()?;
    let mut timeline = trace.map(|file| Timeline::begin(file, &scenario, &setup)).transpose()?;
    let mut watches = recordings.watches();
    watches.extend(timeline.as_mut().map(Timeline::watch));
    let mut checked = begin_check(arguments, &scenario, &setup)?;
    watches.extend(checked.as_mut().map(|it| it as &mut dyn Watch));
    let mut several;
    let watch = match watches.len() {
        0 | 1 => watches.pop(),
        _ => {
            several = Watches::new(&setup.topology, watches);
            Some(&mut several as &mut dyn Watch)
        }
    };
    let kind = match (&scenario.traces, watch) {
        (None, _) if scenario.fidelity == Fidelity::Fluid => Kind::Fluid,
        (None, watch) if scenario.streams() => Kind::Generated(watch),
        (None, None) => Kind::Workload(threads),
        (None, Some(watch)) => Kind::Watched(watch),
        (Some(traces), watch) => Kind::Traces(&scenario, traces, watch),
    };
    let mut single = single::simulate(&identity, &setup, kind, &destination)?;
    timeline.map(|timeline| timeline.end(&setup, single.outcome())).transpose()?;
    let Recorded { courses, tables } = recordings.end(single.outcome())?;
    single.add_courses(courses);
    single.add_resolved(&scenario);
    single.add_printed_warnings(&scenario.warnings);
    let status = beside.report(&single, &setup, &tables, &destination)?;
    match checked {
        None => Ok(status),
        Some(invariants) => {
            let report = invariants.finish(single.outcome(), single.bound());
            Ok(end_check(&report, status))
        }
    }
}

fn refuse_for_rails(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.trace.is_some() {
        bail!("--trace: a scenario with [[rail]] has no time-line of packets; omit the option");
    }
    if arguments.check {
        bail!("--check: it follows the packets of one fabric, and [[rail]] has several; omit it");
    }
    Ok(())
}

/// The observer of a run that is to be checked.
fn begin_check(
    arguments: &Arguments,
    scenario: &Scenario,
    setup: &Setup,
) -> anyhow::Result<Option<Invariants>> {
    if arguments.check && scenario.fidelity == Fidelity::Fluid {
        bail!("--check: it follows packets, and fidelity = \"fluid\" has none; omit one of them");
    }
    Ok(arguments.check.then(|| Invariants::new(setup)))
}

/// Reports what the check of a run has found.
fn end_check(report: &Report, status: Status) -> Status {
    if report.count == 0 {
        let records = report.records;
        output::note(&format!("check: {records} events of packets, no invariant is violated"));
        return status;
    }
    for violation in &report.violations {
        output::error(&violation.to_string());
    }
    output::error(&format!(
        "--check: {} of invariants: this is a fault of evenkeel, not of the scenario; please \
         report it with the scenario's file",
        human::plural(report.count, "violation")
    ));
    Status::Incomplete
}

/// What the results have beside the numbers of the run.
struct Beside {
    /// The scenario with every default, which runs again from where it is written: paths are
    /// relative to that, so that results are the same bytes wherever a project lies.
    scenario: String,
    /// The file that the topology was read from, if it was.
    topology: Option<(&'static str, String)>,
}

impl Beside {
    fn of(identity: &Identity, scenario: &Scenario, to: &Destination) -> Self {
        let topology = scenario
            .topology_text()
            .map(|(text, format)| (report::TOPOLOGIES[format as usize], text.to_owned()));
        let in_folder = |folder| report::resolved(identity, scenario, folder);
        Self { scenario: to.folder().map_or_else(String::new, in_folder), topology }
    }

    /// Reports a run with all its files.
    fn report(
        &self,
        single: &Single<'_>,
        setup: &Setup,
        tables: &[(String, File)],
        to: &Destination,
    ) -> anyhow::Result<Status> {
        let (wiring, outcome) = (&setup.topology, single.outcome());
        let number = report::hosts_then_switches(wiring);
        let scenario: Writer<'_> = &|to| to.write_all(self.scenario.as_bytes());
        let copy = self.topology.as_ref();
        let text = copy.map_or("", |(_, text)| text);
        let topology: Writer<'_> = &|to| to.write_all(text.as_bytes());
        let pfc: Writer<'_> = &|to| report::write_pfc_txt(to, wiring, outcome, &number);
        let mut files = vec![("scenario.toml", scenario)];
        files.extend(copy.map(|&(name, _)| (name, topology)));
        files.extend(setup.fabric.switch.pfc.is_some().then_some(("pfc.txt", pfc)));
        let copies = tables.iter().map(|(_, file)| move |to: &mut dyn Write| hpcc::copy(file, to));
        let copies: Vec<_> = copies.collect();
        let written = tables.iter().zip(&copies);
        files.extend(written.map(|((name, _), copy)| (name.as_str(), copy as Writer<'_>)));
        single.report(to, &files, incomplete::TIME_LIMIT)
    }
}

/// Why a run is not divided among threads, if there is a reason.
fn on_one_thread(arguments: &Arguments, scenario: &Scenario) -> Option<&'static str> {
    match (&scenario.traces, scenario.recordings.first(), &arguments.trace) {
        _ if arguments.check => Some("--check observes it"),
        _ if scenario.fidelity == Fidelity::Fluid => Some("fidelity = \"fluid\""),
        (Some(_), _, _) => Some("workload.streaming reads traces during it"),
        _ if scenario.streams() => Some("workload.streaming generates messages during it"),
        (None, Some(_), _) => Some("[record] observes it"),
        (None, None, Some(_)) => Some("--trace observes it"),
        (None, None, None) => None,
    }
}
