//! `evenkeel hpcc`: an experiment of the HPCC family of simulators, from its own files.

use std::path::PathBuf;

use clap::Args;
use evenkeel::fabric::Rounding;
use evenkeel::hpcc::{Experiment, Overrides};
use evenkeel::report::{self, Identity};

use super::single::{self, Destination};
use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel hpcc mix/config.txt
  evenkeel hpcc mix/config.txt --lb spray --flows mix/other-flows.txt --out results/spray
  evenkeel hpcc mix/config.txt --json | jq .fct_ns

Paths inside the configuration are tried relative to the working directory, then to the
configuration, then by their file names beside it. What of the files is not modelled here is told
on standard error. With --out, the folder holds fct.txt in the family's own columns (src dst
src_port dst_port bytes start_ns fct_ns standalone_fct_ns, in order of completion) and pfc.txt
(time_ns node_id node_type if_index type, a line a pause or resume) beside summary.json, flows.csv
and links.csv.
";

/// Run an experiment of the HPCC family of ns-3 simulators
///
/// Takes the configuration, topology and flow files of HPCC, ConWeave and their relatives as
/// they are, and prints what `evenkeel run` prints.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The experiment's configuration
    #[arg(value_name = "CONFIG.txt")]
    config: PathBuf,
    /// Balance load by this policy in place of the configuration's (see: evenkeel list policies);
    /// LB_MODE 0, or none, is ecmp-murmur, the family's own hash
    #[arg(long, value_name = "POLICY")]
    lb: Option<String>,
    /// Use this topology file in place of the configuration's
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Use this flow file in place of the configuration's
    #[arg(long, value_name = "FILE")]
    flows: Option<PathBuf>,
    /// Draw from this seed in place of the configuration's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Truncate transmission times to whole nanoseconds, as the family does; they are exact
    /// otherwise
    #[arg(long)]
    truncate_ns: bool,
    /// Keep the results in this folder; it is made unless it exists, earlier results in it are
    /// replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object in place of the table (times in ns, sizes in bytes)
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
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
    let destination = Destination::open(arguments.out.as_deref(), arguments.json)?;
    let identity = Identity {
        scenario: experiment.name.clone(),
        policy: experiment.setup.scheme.name.to_owned(),
        seed: experiment.setup.seed,
    };
    let single = single::simulate(&identity, &experiment.setup);
    let fct = experiment.fct_table(single.outcome());
    let (topology, outcome) = (&experiment.setup.topology, single.outcome());
    let number = |node| experiment.node_number(node);
    single.report(
        &destination,
        &[
            ("fct.txt", &|to| to.write_all(fct.as_bytes())),
            ("pfc.txt", &|to| report::write_pfc_txt(to, topology, outcome, &number)),
        ],
    )
}
