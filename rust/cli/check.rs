//! `evenkeel check`: validates scenarios and explains them.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use evenkeel_engine::ids::HostId;
use evenkeel_scenario::{Overrides, Scenario, WorkloadSection};
use evenkeel_study as study;
use evenkeel_study::report::{self, human, trace_files};

use super::arguments::SetArguments;
use super::memory::MemoryArgument;
use super::{SCENARIO_HELP, Status, output, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel check examples/*.toml
  evenkeel check --explain scenario.toml
";

/// Check scenarios without running them
///
/// Prints a line for each valid file, with the estimated cost of a run on one thread. For an
/// invalid file, it prints an error that names the file, line and value, and says what is expected.
/// Workloads from files are audited for known faults of converters. Warnings report what is lost or
/// unordered, notes what may be wrong.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    /// Scenario files, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    memory: MemoryArgument,
    /// Write the Chakra traces of a scenario to this folder, adding the order of their streams by
    /// recorded times where it is missing; nothing else changes
    #[arg(long, value_name = "DIR", conflicts_with = "explain")]
    mend: Option<PathBuf>,
    /// Print each scenario as TOML with every key that has an effect, its value and the value's
    /// origin
    #[arg(long)]
    explain: bool,
}

/// Checks every file, even after an invalid one.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    let settings = arguments.set.settings.clone();
    let most_memory = arguments.memory.limit();
    let overrides = Overrides { settings, most_memory, ..Overrides::default() };
    for path in &arguments.files {
        let name = path.display().to_string();
        let checked = scenario::open(path).and_then(|text| match text.has_rails() {
            true => {
                let scenario = text.with_rails(&overrides)?;
                Ok((report::rails_check_line(&name, &scenario), scenario.render()))
            }
            false => {
                let scenario = scenario::resolve(text, &overrides)?;
                arguments.memory.check(&scenario)?;
                warn_of_time_limit(&name, &scenario);
                note_of_files(&name, &scenario);
                if let Some(folder) = &arguments.mend {
                    repair(folder, path, &scenario)?;
                }
                Ok((report::check_line(&name, &scenario), scenario.render()))
            }
        });
        match checked {
            // The verdict becomes a comment, so that the whole output is valid TOML.
            Ok((line, rendered)) if arguments.explain => {
                let line = output::escaped(&line);
                output::print(&format!("# {line}\n{rendered}\n"))?;
            }
            Ok((line, _)) => output::print_text(&format!("{line}\n"))?,
            Err(error) => {
                output::error(&error.to_string());
                status = Status::Invalid;
            }
        }
    }
    Ok(status)
}

/// Reports signs of converter faults in workloads from files.
fn note_of_files(name: &str, scenario: &Scenario) {
    let sections = scenario.file.workload.iter().chain(&scenario.file.job);
    if scenario.traces.is_some() {
        let note = "traces read during the run are audited in part, without stream order and \
                    messages; use streaming = false to audit them";
        output::note(&format!("{name}: {note}"));
        return;
    }
    if !sections.into_iter().any(WorkloadSection::is_recorded) {
        return;
    }
    let name_of = |host: HostId| scenario.topology.host_names()[host.index()].clone();
    let notes = study::audit(&scenario.workload, &name_of);
    notes.iter().for_each(|note| output::note(&format!("{name}: {note}")));
}

/// Writes the traces with the order of their streams added.
fn repair(folder: &Path, file: &Path, scenario: &Scenario) -> anyhow::Result<()> {
    let name = file.display();
    let traces = scenario.recorded().ok_or_else(|| {
        anyhow!(
            "--mend: {name}: expected a [workload] of Chakra traces; other workloads have no \
             streams"
        )
    })?;
    let mut kernels = 0;
    let failed = |error: &dyn std::fmt::Display| anyhow!("--mend: {name}: {error}");
    if traces.are_in(folder) {
        bail!("--mend {}: the traces are read from this folder; use another one", folder.display());
    }
    if let Some(prefix) = traces.prefix() {
        trace_files::reject_other_ranks(folder, &prefix, traces.files())
            .map_err(|error| failed(&error))?;
    }
    for rank in 0..traces.files() {
        let path = folder.join(traces.name(rank));
        let repaired = traces.repaired(rank).map_err(|error| failed(&error))?;
        kernels += repaired.kernels() as u64;
        let write = |to: &mut dyn io::Write| repaired.write(to).map_err(io::Error::other);
        trace_files::write_one(&path, write).map_err(|error| failed(&error))?;
    }
    let all = human::plural(u64::from(traces.files()), "trace");
    output::print_text(&format!(
        "{} and so on: {all}; {} now follow the previous one in their stream, by recorded times\n",
        folder.join(traces.name(0)).display(),
        human::plural(kernels, "kernel"),
    ))
}

/// Warns about a time limit that no run can meet. The default limit is not checked, because the
/// bound of a large scenario takes time.
fn warn_of_time_limit(name: &str, scenario: &Scenario) {
    if !scenario.sets_time_limit() {
        return;
    }
    let setup = scenario.setup();
    let warning = study::short_time_limit(&setup, study::lower_bound(&setup).time);
    warning.iter().for_each(|warning| output::warning(&format!("{name}: {warning}")));
}
