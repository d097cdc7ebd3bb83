//! `evenkeel hpcc`: runs an experiment of the HPCC family of simulators from its own files.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use evenkeel_engine::fabric::Rounding;
use evenkeel_formats::hpcc::{Experiment, Overrides};
use evenkeel_study::{Session, SessionOptions, Subject};

use super::arguments::ResultArguments;
use super::single::{self, Destination};
use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel hpcc mix/config.txt
  evenkeel hpcc mix/config.txt --lb spray --flows mix/other.txt --out results
  evenkeel hpcc mix/config.txt --json | jq .fct_ns

Paths in the configuration are tried relative to the working directory, then
relative to the configuration, then by their file names next to it. Settings
that are not modelled cause warnings on standard error.

With --out, the folder has these files in addition to summary.json, flows.csv
and links.csv:
  fct.txt  one line per flow, in order of completion: src dst src_port
           dst_port bytes start_ns fct_ns standalone_fct_ns
  pfc.txt  one line per pause or resume: time_ns node_id node_type
           if_index type
Each is also written under the name of FCT_OUTPUT_FILE or PFC_OUTPUT_FILE. If
the configuration asks for them, there are also files under the names of
  TRACE_OUTPUT_FILE  packet events at the nodes of TRACE_FILE, in the family's
                     binary format (ENABLE_TRACE)
  QLEN_MON_FILE      lengths of switch queues, from QLEN_MON_START to
                     QLEN_MON_END (HPCC)
  UPLINK_MON_FILE, CONN_MON_FILE, CNP_OUTPUT_FILE    ConWeave's monitors
There is no scenario.toml, and no `resolved` in summary.json: the configuration
and its files describe the run, with settings that scenarios do not have.
`evenkeel import CONFIG.txt` writes a scenario if one can express the run.
";

/// Run an experiment of the HPCC family of ns-3 simulators
///
/// Reads the unmodified configuration, topology and flow files of HPCC, ConWeave and their
/// relatives, and prints the table of `evenkeel run`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Configuration of the experiment
    #[arg(value_name = "CONFIG.txt")]
    config: PathBuf,
    /// Use this policy instead of the configuration's (see: evenkeel list policies); LB_MODE 0 or
    /// no LB_MODE is ecmp-murmur, the family's own hash
    #[arg(long, value_name = "POLICY")]
    lb: Option<String>,
    /// Use this topology file instead of the configuration's
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Use this flow file instead of the configuration's
    #[arg(long, value_name = "FILE")]
    flows: Option<PathBuf>,
    /// Use this random seed instead of the configuration's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Truncate transmission times to whole nanoseconds, as the family does; exact by default
    #[arg(long)]
    truncate_ns: bool,
    #[command(flatten)]
    results: ResultArguments,
}

/// Simulates the experiment and reports the results.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let rounding = if arguments.truncate_ns { Rounding::TruncateNs } else { Rounding::Exact };
    let overrides = Overrides {
        lb: arguments.lb.clone(),
        topology: arguments.topology.clone(),
        flows: arguments.flows.clone(),
        rounding,
        seed: arguments.seed,
    };
    let experiment = Experiment::load(&arguments.config, &overrides)?;
    for warning in &experiment.warnings {
        output::warning(warning);
    }
    let printed = experiment.warnings.len();
    let subject = Subject::Experiment(Arc::new(experiment));
    let destination = Destination::open(&arguments.results, &subject.file_names())?;
    let session = Session::new(subject, SessionOptions::default()).map_err(single::failed)?;
    single::run(session, printed, &destination)
}
