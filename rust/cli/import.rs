//! `evenkeel import`: writes a scenario that runs a file of another project.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use evenkeel_scenario::Setting;
use evenkeel_study::report::write_new;
use evenkeel_study::{Import, Source};

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel import schedule.goal --out schedule.toml
  evenkeel import mix/flow.txt --topology mix/topology.txt --out mix.toml
  evenkeel import mix/config.txt --set policy.name=ecmp --out mix.toml
  evenkeel import traces/ring.0.et --topology fabric.yaml
  evenkeel import flows.csv --set workload.collective=TP_0_0_0_3_1000000

The scenario refers to the file in place. What the file does not specify (a
fabric with enough hosts in two leaves or more, or messages) is an example to
change, marked by a comment and a note on standard error. The configuration of
an experiment (hpcc) becomes a scenario only if its run is the same; otherwise,
the error says what a scenario cannot express.
";

/// Write a scenario that runs a file of another simulator
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// File to import; for Chakra traces, the file of one rank or the prefix of all
    file: PathBuf,
    /// Format of the file; by default from its extension: .goal, .cm, .et, .csv, .yaml or .json,
    /// and .txt for the HPCC family
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// File of the fabric: a topology file of the HPCC family or of InfraGraph (.yaml, .json)
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Set a key of a section of the scenario, such as topology.delay=500ns; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<Setting>,
    /// Write the scenario to this new file instead of standard output
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Configuration or flow file of the HPCC family of ns-3 simulators
    Hpcc,
    /// Connection matrix of htsim
    Htsim,
    /// Schedule of LogGOPSim and ATLAHS
    Goal,
    /// Execution traces of MLCommons
    Chakra,
    /// Collective flows of SimCCL
    Simccl,
    /// Fabric of InfraGraph
    Infragraph,
}

impl From<Format> for Source {
    fn from(format: Format) -> Self {
        match format {
            Format::Hpcc => Self::Hpcc,
            Format::Htsim => Self::Htsim,
            Format::Goal => Self::Goal,
            Format::Chakra => Self::Chakra,
            Format::Simccl => Self::Simccl,
            Format::Infragraph => Self::Infragraph,
        }
    }
}

/// Writes the scenario.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let Arguments { file, topology, settings, out, .. } = arguments;
    let Some(source) = arguments.format.map(Source::from).or_else(|| Source::of(file)) else {
        bail!(
            "{}: unknown file extension; use --format with hpcc, htsim, goal, chakra, simccl or \
             infragraph (see: evenkeel list formats)",
            file.display()
        );
    };
    let folder = out.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() && !folder.is_dir() {
        bail!("--out {}: the folder does not exist", folder.display());
    }
    let topology = topology.as_deref();
    let imported = Import { file, source, topology, settings, folder }
        .scenario()
        .map_err(|error| anyhow!("{error}"))?;
    imported.warnings.iter().for_each(|warning| output::warning(warning));
    let note = || imported.notes.iter().for_each(|note| output::note(note));
    let Some(out) = out else {
        output::print(&imported.text)?;
        note();
        return Ok(Status::Done);
    };
    write_new(out, &imported.text)?;
    note();
    let path = out.display();
    output::print_text(&format!("{path}: written; next: evenkeel run {path}\n"))?;
    Ok(Status::Done)
}
