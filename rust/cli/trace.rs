//! `evenkeel trace`: writes the workload of a scenario as Chakra traces.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use evenkeel_study::report::{self, ExportError, Inputs, human};

use super::arguments::ScenarioArguments;
use super::{SCENARIO_HELP, Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel trace examples/ring-all-reduce.toml --out traces
  # writes traces/ring-all-reduce.0.et and so on; a scenario reads them with
  #   [workload] kind = \"chakra\", file = \"traces/ring-all-reduce\"
";

/// Write the workload of a scenario as Chakra traces, without simulating
///
/// Writes one file per rank (rank i is host i) with sends, receives, computation and their
/// dependencies, in schema 0.0.4. Other simulators that read Chakra traces can then send the same
/// messages.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Folder for the files SCENARIO.RANK.et; existing files are replaced, except those that the
    /// scenario reads
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes the workload of the scenario as Chakra traces, one file per rank.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let scenario = arguments.scenario.load(None)?;
    scenario.expect_packets()?;
    scenario.expect_known()?;
    let inputs = Inputs::of(&scenario, &arguments.scenario.scenario);
    let ranks = report::export_traces(&scenario, &inputs, &arguments.out).map_err(|error| {
        let file = arguments.scenario.scenario.display();
        match error {
            ExportError::NotATrace(reason) => {
                anyhow!("{file}: the workload cannot be written as traces: {reason}")
            }
            error => error.into(),
        }
    })?;
    let prefix = arguments.out.join(&scenario.name);
    output::print_text(&format!(
        "{}.RANK.et: {}, {}\n",
        prefix.display(),
        human::plural(u64::from(ranks), "rank"),
        human::plural(scenario.workload.messages.len() as u64, "message")
    ))?;
    report::late_start(&scenario.workload).iter().for_each(|note| output::warning(note));
    Ok(Status::Done)
}
