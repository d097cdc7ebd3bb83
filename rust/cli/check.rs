//! `evenkeel check`: validates scenarios and explains them.

use std::path::PathBuf;

use clap::Args;
use evenkeel::report;
use evenkeel::scenario::{Overrides, RailScenario};

use super::arguments::SetArguments;
use super::memory::MemoryArgument;
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
        let name = path.display().to_string();
        let checked = match RailScenario::is_in(path) {
            true => rails::load(path, &overrides)
                .map(|it| (report::rails_check_line(&name, &it), it.render())),
            false => scenario::load(path, &overrides)
                .map(|it| (report::check_line(&name, &it), it.render())),
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
