//! The command line, one subcommand per file. All computation is in the crates below; this one
//! reads arguments, shows progress, prints, and chooses the exit status.

mod allocator;
mod arguments;
mod bound;
mod check;
mod compare;
mod explain;
mod export;
mod guesses;
mod hpcc;
mod import;
mod incomplete;
mod init;
mod kept_runs;
mod list;
mod memory;
mod merge;
mod output;
mod plot;
mod progress;
mod qps;
mod rails;
mod report;
mod reproduce;
mod run;
mod scenario;
mod schema;
mod shell;
mod signals;
mod single;
mod sweep;
mod threads;
mod trace;
mod twin;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use evenkeel_engine::fabric::{Outcome, Setup};
use evenkeel_study::reproduce::BuiltIn;

const ABOUT: &str = "Compare load-balancing policies for AI-training networks";

const LONG_ABOUT: &str = "\
Compare load-balancing policies for AI-training networks.

On a given fabric, with a given workload and failures, what does each policy cost, in completion \
time and in NIC state? A scenario, one TOML file, describes the simulation; the same scenario, \
seed and version give the same results on every machine.";

const AFTER_HELP: &str = "\
Examples:
  evenkeel compare examples/all-to-all-256.toml --policies ecmp,spray,ethereal
  evenkeel sweep examples/sweeps/sizes.toml --out results/sizes
  evenkeel run examples/incast-32.toml --policy spray --out results/incast
  evenkeel hpcc mix/config.txt --lb spray --out results/mix
  evenkeel list policies
  evenkeel init failure

Exit status: 0 success; 1 a run did not complete (it stalled, or reached the
time limit of its scenario); 2 invalid input, or results could not be written.
Results go to standard output; progress, warnings and errors to standard error.";

/// A short description of scenarios, for the help of the commands that take one.
const SCENARIO_HELP: &str = "\
A scenario is a TOML file. Every key has a default, so that this is complete:

  [topology]
  kind = \"leaf-spine\"     # see: evenkeel list topologies
  leaves = 16
  spines = 16
  hosts_per_leaf = 16
  host_rate = \"400Gbps\"   # units: bps Gbps, ns us ms s, B KB MB KiB MiB
  [policy]
  name = \"ethereal\"       # see: evenkeel list policies
  [workload]
  kind = \"all-to-all\"     # see: evenkeel list collectives, list workloads
  bytes = \"16MB\"          # from each rank

`evenkeel check --explain FILE` prints a scenario with all its keys and the
origin of each value; examples/ holds scenarios to start from.";

#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about = ABOUT, long_about = LONG_ABOUT)]
#[command(after_help = AFTER_HELP, max_term_width = 80)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Compare(compare::Arguments),
    Sweep(sweep::Arguments),
    Merge(merge::Arguments),
    Reproduce(reproduce::Arguments),
    Plot(plot::Arguments),
    Report(report::Arguments),
    Hpcc(hpcc::Arguments),
    Check(check::Arguments),
    Bound(bound::Arguments),
    Qps(qps::Arguments),
    List(list::Arguments),
    Trace(trace::Arguments),
    Import(import::Arguments),
    Export(export::Arguments),
    Twin(twin::Arguments),
    Init(init::Arguments),
    Explain(explain::Arguments),
    Schema(schema::Arguments),
    Completions(shell::Completions),
    Man(shell::Man),
}

/// The result of a command without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// The command did all that was asked: exit status 0.
    Done,
    /// A run did not complete; its results are written all the same.
    Incomplete,
    /// Some input was invalid, and its errors have been printed.
    Invalid,
}

/// The parts of the program that are in the crate above.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The studies that have a name.
    pub studies: &'static [BuiltIn],
    /// Runs a setup in ns-3; `None` if the program is built without it.
    pub ns3: Option<OtherWorld>,
}

/// Runs a setup in another world.
pub type OtherWorld = fn(&Setup) -> anyhow::Result<Outcome>;

/// Runs the command that the arguments name.
pub fn main(program: &Program) -> ExitCode {
    allocator::keep_freed_memory();
    signals::watch();
    let cli = Cli::try_parse().unwrap_or_else(|error| output::end_with(&error));
    let result = match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments, program.studies),
        Command::Plot(arguments) => plot::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Hpcc(arguments) => hpcc::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Bound(arguments) => bound::run(&arguments),
        Command::Qps(arguments) => qps::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Twin(arguments) => twin::run(&arguments, program.ns3),
        Command::Init(arguments) => init::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::man(&arguments),
    };
    match result {
        Ok(Status::Done) => ExitCode::SUCCESS,
        Ok(Status::Incomplete) => ExitCode::from(1),
        Ok(Status::Invalid) => ExitCode::from(2),
        Err(error) => {
            // The message of a library error includes its causes.
            output::error(&error.to_string());
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;
    use evenkeel_scenario::{Overrides, Scenario};

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_scenario_in_the_help_is_valid() {
        let lines = SCENARIO_HELP.lines().filter_map(|line| line.strip_prefix("  "));
        let text = lines.collect::<Vec<_>>().join("\n");
        let scenario = Scenario::parse(&text, "help", Path::new("."), &Overrides::default());
        assert_eq!(scenario.expect("it is valid").topology.host_count(), 256);
    }
}
