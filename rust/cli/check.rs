//! `evenkeel check`: validates scenarios and explains them.

use std::path::{Path, PathBuf};

use clap::Args;
use evenkeel::report::human;
use evenkeel::scenario::{Overrides, RailScenario, Scenario};

use super::arguments::SetArguments;
use super::memory::{self, MemoryArgument};
use super::{SCENARIO_HELP, Status, output, rails, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel check examples/*.toml
  evenkeel check --explain scenario.toml
";

/// Check scenarios without running them
///
/// Prints a line for each valid file, with what a run of it will take on one thread, and for each
/// invalid one its error, which names the file, the line, the value and what is expected.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    /// The scenarios' files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    memory: MemoryArgument,
    /// Print each scenario as TOML with every key, its value, and the origin of the value
    #[arg(long)]
    explain: bool,
}

/// Checks every file, also after an invalid one.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    let settings = arguments.set.settings.clone();
    let most_memory = arguments.memory.limit();
    let overrides = Overrides { settings, most_memory, ..Overrides::default() };
    for path in &arguments.files {
        let checked = match RailScenario::is_in(path) {
            true => {
                rails::load(path, &overrides).map(|it| (rails::verdict(path, &it), it.render()))
            }
            false => scenario::load(path, &overrides).map(|it| (verdict(path, &it), it.render())),
        };
        match checked {
            // The verdict becomes a comment, so that the whole output is TOML.
            Ok((line, rendered)) if arguments.explain => {
                output::print(&format!("# {line}\n{rendered}\n"))?;
            }
            Ok((line, _)) => output::print(&format!("{line}\n"))?,
            Err(error) => {
                output::error(&error.to_string());
                status = Status::Invalid;
            }
        }
    }
    Ok(status)
}

/// The line for a valid scenario: its size and its policy.
fn verdict(path: &Path, scenario: &Scenario) -> String {
    let topology = &scenario.topology;
    let switches = match topology.switches().len() {
        1 => "1 switch".to_owned(),
        count => format!("{count} switches"),
    };
    let jobs = match scenario.workload.jobs.len() {
        0 => String::new(),
        count => format!(" in {count} jobs"),
    };
    let own = scenario.job_policies.iter().map(|own| {
        let name = &scenario.workload.jobs[own.job].name;
        format!(", policy {} for {name}", own.scheme.name)
    });
    format!(
        "{}: ok ({}, {switches}, {}, {}{jobs}, policy {}{}{})",
        path.display(),
        human::plural(u64::from(topology.host_count()), "host"),
        human::plural(topology.links().len() as u64, "link"),
        human::plural(scenario.messages(), "message"),
        scenario.scheme.name,
        own.collect::<String>(),
        effort(scenario)
    )
}

/// What a run will take, roughly; empty where that is not estimated.
fn effort(scenario: &Scenario) -> String {
    let Some(run) = memory::estimate(scenario) else { return String::new() };
    format!(
        ", about {} and {}",
        human::bytes(run.memory.get() as f64),
        human::seconds(run.cpu.as_secs_f64())
    )
}
