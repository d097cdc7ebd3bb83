//! `evenkeel trace`: a scenario's workload as Chakra traces.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use evenkeel::report::{human, trace_files};
use evenkeel::scenario::Overrides;
use evenkeel::workload::chakra::Traces;

use super::{SCENARIO_HELP, Status, output, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel trace examples/ring-all-reduce.toml --out traces
  # traces/ring-all-reduce.0.et and so on; a scenario reads them back with
  #   [workload] kind = \"chakra\", file = \"traces/ring-all-reduce\"
";

/// Write the workload of a scenario as Chakra traces, without a simulation
///
/// A file a rank (rank i is host i), of sends, receives and computation with their dependencies,
/// in schema 0.0.4: other simulators that read Chakra then send what this scenario sends.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub struct Arguments {
    /// The scenario's file
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// The folder for the files SCENARIO.RANK.et, which are replaced if they are there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Draw the workload from this seed in place of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Writes them.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let overrides = Overrides { policy: None, seed: arguments.seed };
    let scenario = scenario::load(&arguments.scenario, &overrides)?;
    scenario.expect_known()?;
    let traces = Traces::of(&scenario.workload).map_err(|error| {
        anyhow!("{}: cannot be written as a trace: {error}", arguments.scenario.display())
    })?;
    let out = arguments.out.display();
    trace_files::write(&arguments.out, &scenario.name, &traces)
        .with_context(|| format!("--out {out}: cannot write"))
        .map_err(|error| anyhow!("{error:#}"))?;
    let prefix = arguments.out.join(&scenario.name);
    output::print(&format!(
        "{}.RANK.et: {}, {}\n",
        prefix.display(),
        human::plural(u64::from(traces.ranks()), "rank"),
        human::plural(scenario.workload.messages.len() as u64, "message")
    ))?;
    Ok(Status::Done)
}
