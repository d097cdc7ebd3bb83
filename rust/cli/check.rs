//! `evenkeel check`: validates scenarios and explains them.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use evenkeel_engine::ids::HostId;
use evenkeel_scenario::{Overrides, Scenario, ScenarioError, ScenarioText, WorkloadSection};
use evenkeel_study as study;
use evenkeel_study::report::{
    self, CheckError, CheckSummary, CheckedFile, MendedTraces, human, trace_files,
};
use evenkeel_study::reproduce::{Scale, Study, StudyError};

use super::arguments::SetArguments;
use super::memory::MemoryArgument;
use super::{SCENARIO_HELP, Status, output, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel check examples/*.toml
  evenkeel check --explain scenario.toml
  evenkeel check study.toml
  evenkeel check examples/*.toml --json | jq '.files[].forecast.cpu_s'
  evenkeel check scenario.toml --explain --json | jq '.files[0].values'
";

/// Maximum number of invalid points of a study that are reported one by one.
const MAX_SHOWN_POINTS: usize = 5;

/// Check scenarios and studies without running them
///
/// Prints a line for each valid file, with the estimated cost of a run on one thread, or of all
/// runs of a study. For an invalid file, it prints an error that names the file, line and value,
/// and says what is expected.
/// Workloads from files are audited for known faults of converters. Warnings report what is lost or
/// unordered, notes what may be wrong.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    /// Files of scenarios or studies, or - for standard input
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
    /// Print one JSON object with errors, content and estimated cost of each file; with --explain,
    /// its values
    #[arg(long)]
    json: bool,
}

/// A valid file, or a study with invalid points.
struct Checked {
    line: String,
    /// The scenario as TOML; `None` for a study.
    rendered: Option<String>,
    facts: CheckedFile,
}

/// Checks every file, even after an invalid one.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let mut files = Vec::new();
    for path in &arguments.files {
        let name = path.display().to_string();
        let facts = match arguments.check(path, &name) {
            Ok(checked) => {
                arguments.print(&checked)?;
                checked.facts
            }
            Err(error) => {
                output::error(&error.to_string());
                CheckedFile::invalid(&name, place_of(&error))
            }
        };
        files.push(facts);
    }
    let is_valid = files.iter().all(|file| file.valid);
    if arguments.json {
        output::print_json(&CheckSummary { files })?;
    }
    Ok(if is_valid { Status::Done } else { Status::Invalid })
}

/// Returns an error with its place, if it has one.
fn place_of(error: &anyhow::Error) -> CheckError {
    let of_scenario = error.downcast_ref::<ScenarioError>().map(CheckError::from);
    let of_study = || error.downcast_ref::<StudyError>().map(CheckError::from);
    of_scenario.or_else(of_study).unwrap_or_else(|| CheckError::without_place(error.to_string()))
}

impl Arguments {
    fn check(&self, path: &Path, name: &str) -> anyhow::Result<Checked> {
        let text = scenario::open(path)?;
        if text.is_study() {
            return self.check_study(text, name);
        }
        let overrides = Overrides {
            settings: self.set.settings.clone(),
            most_memory: self.memory.limit(),
            is_forecast: true,
            ..Overrides::default()
        };
        if text.has_rails() {
            let scenario = text.with_rails(&overrides)?;
            let line = report::rails_check_line(name, &scenario);
            scenario.warnings.iter().for_each(|warning| output::warning(warning));
            let mut facts = CheckedFile::of_rails(name, &scenario);
            if self.explain {
                facts = facts.with_rail_values(&scenario);
            }
            return Ok(Checked { line, rendered: Some(scenario.render()), facts });
        }
        let scenario = scenario::resolve(text, &overrides)?;
        self.memory.check(&scenario)?;
        let mut facts = CheckedFile::of_scenario(name, &scenario);
        if let Some(warning) = time_limit_warning(&scenario) {
            output::warning(&format!("{name}: {warning}"));
            facts.warnings.push(warning);
        }
        facts.notes = notes_on_files(&scenario);
        facts.notes.iter().for_each(|note| output::note(&format!("{name}: {note}")));
        if let Some(folder) = &self.mend {
            let mended = repair(folder, path, &scenario)?;
            if !self.json {
                output::print_text(&mended_line(&mended))?;
            }
            facts.mended = Some(mended);
        }
        if self.json {
            facts = facts.with_forecast(&scenario);
        }
        if self.json && self.explain {
            facts = facts.with_values(&scenario);
        }
        let line = if self.json { String::new() } else { report::check_line(name, &scenario) };
        Ok(Checked { line, rendered: Some(scenario.render()), facts })
    }

    /// Forecasts all runs of a study, and reports the points that cannot run.
    fn check_study(&self, text: ScenarioText, name: &str) -> anyhow::Result<Checked> {
        if self.explain || self.mend.is_some() || !self.set.settings.is_empty() {
            bail!("{name}: it is a study; --explain, --mend and --set apply to scenarios");
        }
        let (text, path) = text.into_parts();
        let study = Study::parse(&text, &path, Scale::Paper)?;
        let study = study.with_memory_limit(self.memory.limit());
        let forecast = study.forecast(study::cores())?;
        for point in forecast.invalid.iter().take(MAX_SHOWN_POINTS) {
            output::error(&format!("point {}: {}", point.point, point.error));
        }
        let more = forecast.invalid.len().saturating_sub(MAX_SHOWN_POINTS);
        if more > 0 {
            output::error(&format!("{name}: {more} more points cannot run; --json lists them"));
        }
        let facts = CheckedFile::of_study(name, &study, &forecast);
        Ok(Checked { line: report::study_check_line(name, &forecast), rendered: None, facts })
    }

    fn print(&self, checked: &Checked) -> anyhow::Result<()> {
        let line = &checked.line;
        match &checked.rendered {
            _ if self.json => Ok(()),
            // The verdict becomes a comment, so that the whole output is valid TOML.
            Some(rendered) if self.explain => {
                let line = output::escaped(line);
                output::print(&format!("# {line}\n{rendered}\n"))
            }
            _ => output::print_text(&format!("{line}\n")),
        }
    }
}

/// Returns signs of converter faults in workloads from files.
fn notes_on_files(scenario: &Scenario) -> Vec<String> {
    let sections = scenario.file.workload.iter().chain(&scenario.file.job);
    if scenario.traces.is_some() {
        let note = "traces read during the run are audited in part, without stream order and \
                    messages; use streaming = false to audit them";
        return vec![note.to_owned()];
    }
    if !sections.into_iter().any(WorkloadSection::is_recorded) {
        return Vec::new();
    }
    let name_of = |host: HostId| scenario.topology.host_names()[host.index()].clone();
    study::audit(&scenario.workload, &name_of)
}

/// Writes the traces with the order of their streams added.
fn repair(folder: &Path, file: &Path, scenario: &Scenario) -> anyhow::Result<MendedTraces> {
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
    let first = folder.join(traces.name(0)).display().to_string();
    Ok(MendedTraces { first, traces: traces.files().into(), kernels })
}

/// Returns the line about written traces.
fn mended_line(mended: &MendedTraces) -> String {
    format!(
        "{} and so on: {}; {} now follow the previous one in their stream, by recorded times\n",
        mended.first,
        human::plural(mended.traces, "trace"),
        human::plural(mended.kernels, "kernel"),
    )
}

/// Returns a warning about a time limit that no run can meet. The default limit is not checked,
/// because the bound of a large scenario takes time.
fn time_limit_warning(scenario: &Scenario) -> Option<String> {
    if !scenario.sets_time_limit() || scenario.tally.is_some() {
        return None;
    }
    let setup = scenario.setup();
    study::short_time_limit(&setup, study::lower_bound(&setup).time)
}
