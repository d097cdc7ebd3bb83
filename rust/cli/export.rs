//! `evenkeel export`: writes the fabric and the messages of a scenario in another project's format.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use evenkeel_study::report::{self, ExportFormat, Inputs};

use super::arguments::ScenarioArguments;
use super::{SCENARIO_HELP, Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel export examples/ring-all-reduce.toml --format goal --out files
  evenkeel export examples/permutation-1024.toml --format hpcc --out files
  evenkeel import files/ring-all-reduce.goal --out again.toml

Each format covers a part of a scenario (see: evenkeel list formats). That part
is written exactly, and verified by reading it back. If the format cannot
express it, nothing is written, and the error says why. No format has the
settings of switches, NICs and the policy.
";

/// Write the fabric and the messages of a scenario in another simulator's format
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Format of the files
    #[arg(long, value_name = "FORMAT")]
    format: Format,
    /// Folder for the files; existing files are replaced, except those that the scenario reads
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// topology.txt and flow.txt of the HPCC family of ns-3 simulators
    Hpcc,
    /// SCENARIO.cm, a connection matrix of htsim
    Htsim,
    /// SCENARIO.goal, a schedule of LogGOPSim and ATLAHS
    Goal,
    /// SCENARIO.RANK.et, the same traces as `evenkeel trace` writes
    Chakra,
    /// SCENARIO.yaml, the fabric for InfraGraph
    Infragraph,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Hpcc => Self::Hpcc,
            Format::Htsim => Self::Htsim,
            Format::Goal => Self::Goal,
            Format::Chakra => Self::Chakra,
            Format::Infragraph => Self::Infragraph,
        }
    }
}

/// Writes the files.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let scenario = arguments.scenario.load(None)?;
    scenario.expect_known()?;
    let file = arguments.scenario.scenario.display();
    let inputs = Inputs::of(&scenario, &arguments.scenario.scenario);
    let exported = report::export(&scenario, &inputs, arguments.format.into(), &arguments.out)
        .map_err(|error| anyhow!("{file}: {error}"))?;
    for path in exported.files {
        output::print_text(&format!("{}: written\n", path.display()))?;
    }
    exported.notes.iter().for_each(|note| output::warning(note));
    Ok(Status::Done)
}
