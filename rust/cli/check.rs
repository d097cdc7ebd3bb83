//! `evenkeel check`: validates scenarios and explains them.

use std::path::PathBuf;

use clap::Args;
use evenkeel::report;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study;

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
/// Prints a line for each valid file, with what a run of it will take on one thread, and for each
/// invalid one its error, which names the file, the line, the value and what is expected.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    /// The scenarios' files, or - for standard input
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
        let checked = scenario::open(path).and_then(|text| match text.has_rails() {
            true => {
                let scenario = text.with_rails(&overrides)?;
                Ok((report::rails_check_line(&name, &scenario), scenario.render()))
            }
            false => {
                let scenario = scenario::resolve(text, &overrides)?;
                arguments.memory.check(&scenario)?;
                warn_of_time_limit(&name, &scenario);
                Ok((report::check_line(&name, &scenario), scenario.render()))
            }
        });
        match checked {
            // The verdict becomes a comment, so that the whole output is TOML.
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

/// Warns of a time limit that no run can meet. One that nobody wrote is not looked at: the bound of
/// a large scenario takes its time.
fn warn_of_time_limit(name: &str, scenario: &Scenario) {
    if !scenario.sets_time_limit() {
        return;
    }
    let setup = scenario.setup();
    let warning = study::short_time_limit(&setup, study::lower_bound(&setup).time);
    warning.iter().for_each(|warning| output::warning(&format!("{name}: {warning}")));
}
