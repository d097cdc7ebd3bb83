//! `evenkeel hpcc`: an experiment of the HPCC family of simulators, from its own files.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use evenkeel::fabric::Rounding;
use evenkeel::hpcc::{Experiment, Overrides, Recorder, Table};
use evenkeel::report::{self, Identity, Writer};

use super::single::{self, Destination, Single};
use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel hpcc mix/config.txt
  evenkeel hpcc mix/config.txt --lb spray --flows mix/other.txt --out results
  evenkeel hpcc mix/config.txt --json | jq .fct_ns

Paths inside the configuration are tried relative to the working directory,
then to the configuration, then by their file names beside it. What of the
files is not modelled here is told on standard error.

With --out, the folder holds beside summary.json, flows.csv and links.csv
  fct.txt  src dst src_port dst_port bytes start_ns fct_ns standalone_fct_ns,
           a line a flow, in order of completion
  pfc.txt  time_ns node_id node_type if_index type, a line a pause or resume
each once more by the name of FCT_OUTPUT_FILE or PFC_OUTPUT_FILE where that is
another, and, while the configuration asks for them, by the file names of
  TRACE_OUTPUT_FILE  packets at the nodes of TRACE_FILE, the family's binary
                     trace (ENABLE_TRACE)
  QLEN_MON_FILE      lengths of switch queues, from QLEN_MON_START to
                     QLEN_MON_END (HPCC)
  UPLINK_MON_FILE, CONN_MON_FILE, CNP_OUTPUT_FILE    ConWeave's monitors
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
    let tables = experiment.tables();
    let names = experiment.file_names();
    let destination = Destination::open_for(arguments.out.as_deref(), arguments.json, &names)?;
    let identity = Identity {
        scenario: experiment.name.clone(),
        policy: experiment.setup.scheme.name.to_owned(),
        seed: experiment.setup.seed,
    };
    let (single, recordings) = simulate(&experiment, &identity, &destination)?;
    let fct = experiment.fct_table(single.outcome());
    let (topology, outcome) = (&experiment.setup.topology, single.outcome());
    let number = |node| experiment.node_number(node);
    let completions: Writer<'_> = &|to| to.write_all(fct.as_bytes());
    let pauses: Writer<'_> = &|to| report::write_pfc_txt(to, topology, outcome, &number);
    let copies: Vec<_> =
        recordings.iter().map(|(_, file)| move |to: &mut dyn Write| copy(file, to)).collect();
    let tables = tables.iter().map(|(table, name)| {
        let write = match table {
            Table::Completions => completions,
            Table::Pauses => pauses,
        };
        (name.as_str(), write)
    });
    let copies = recordings.iter().zip(&copies);
    let copies = copies.map(|((name, _), copy)| (name.as_str(), copy as Writer<'_>));
    single.report(&destination, &tables.chain(copies).collect::<Vec<_>>())
}

/// Runs it; with what was recorded meanwhile, by the names of the files.
fn simulate<'a>(
    experiment: &'a Experiment,
    identity: &'a Identity,
    destination: &Destination,
) -> anyhow::Result<(Single<'a>, Vec<(String, File)>)> {
    let setup = &experiment.setup;
    let mut files = Vec::new();
    for (what, name) in experiment.recorded() {
        files.extend(destination.scratch()?.map(|file| (what, name, file)));
    }
    if files.is_empty() {
        return Ok((single::simulate(identity, setup), Vec::new()));
    }
    let mut open = |what| -> io::Result<Box<dyn Write>> {
        let file = files.iter().find(|(of, ..)| *of == what);
        let (.., file) = file.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(BufWriter::new(file.try_clone()?)))
    };
    let unwritten = |reason: io::Error| anyhow!("--out: cannot write what is recorded: {reason}");
    let mut recorder = Recorder::new(experiment, &mut open).map_err(unwritten)?;
    let single = single::simulate_watched(identity, setup, &mut recorder);
    recorder.finish(single.outcome()).map_err(unwritten)?;
    Ok((single, files.into_iter().map(|(_, name, file)| (name, file)).collect()))
}

/// The whole of a file that was written before.
fn copy(mut file: &File, to: &mut dyn Write) -> io::Result<()> {
    file.rewind()?;
    io::copy(&mut file, to).map(drop)
}
