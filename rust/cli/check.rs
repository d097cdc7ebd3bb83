//! `evenkeel check`: are these scenarios sound, and what do they say?

use std::path::{Path, PathBuf};

use clap::Args;
use evenkeel::report::human;
use evenkeel::scenario::{Overrides, RailScenario, Scenario};

use super::{SCENARIO_HELP, Status, output, rails, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel check examples/*.toml
  evenkeel check --explain scenario.toml
";

/// Check scenarios without running them
///
/// Prints a line for each sound file, and for each other its error, which names the place, the
/// value and what would be right.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub struct Arguments {
    /// The scenarios' files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print each scenario as TOML with every key, its value, and where that is from
    #[arg(long)]
    explain: bool,
}

/// Checks them all, though some be bad.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    for path in &arguments.files {
        if RailScenario::is_in(path) {
            status = match rails::check(path) {
                Ok((line, scenario)) if arguments.explain => {
                    output::print(&format!("# {line}\n{}\n", scenario.render()))?;
                    status
                }
                Ok((line, _)) => {
                    output::print(&format!("{line}\n"))?;
                    status
                }
                Err(error) => {
                    output::error(&error.to_string());
                    Status::Refused
                }
            };
            continue;
        }
        match scenario::load(path, &Overrides::default()) {
            Ok(scenario) if arguments.explain => {
                // A comment, so that the whole is TOML.
                output::print(&format!("# {}\n{}\n", verdict(path, &scenario), scenario.render()))?;
            }
            Ok(scenario) => output::print(&format!("{}\n", verdict(path, &scenario)))?,
            Err(error) => {
                output::error(&error.to_string());
                status = Status::Refused;
            }
        }
    }
    Ok(status)
}

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
    format!(
        "{}: ok ({}, {switches}, {}, {}{jobs}, policy {})",
        path.display(),
        human::plural(u64::from(topology.host_count()), "host"),
        human::plural(topology.links().len() as u64, "link"),
        human::plural(scenario.messages(), "message"),
        scenario.scheme.name
    )
}
