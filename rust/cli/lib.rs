//! The command line, one subcommand per file. It reads arguments, shows progress, prints, and
//! chooses the exit status. The crates below do all computation.
//!
//! For those who add a command, or build the program with studies or a driver of their own. A
//! program without either:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use evenkeel_cli::Program;
//!
//! fn main() -> ExitCode {
//!     evenkeel_cli::main(&Program { studies: &[], ns3: None })
//! }
//! ```

mod allocator;
mod arguments;
mod bound;
mod check;
mod compare;
mod demo;
mod explain;
mod export;
mod gates;
mod guesses;
mod hpcc;
mod import;
mod incomplete;
mod init;
mod kept_runs;
mod list;
mod memory;
mod merge;
mod nccl_tests;
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
  evenkeel demo
  evenkeel compare examples/all-to-all-256.toml --policies ecmp,spray,ethereal
  evenkeel sweep examples/sweeps/sizes.toml --out results/sizes
  evenkeel run examples/incast-32.toml --policy spray --out results/incast
  evenkeel hpcc mix/config.txt --lb spray --out results/mix
  evenkeel list policies
  evenkeel init failure

Exit status: 0 success; 1 a run did not complete (it stalled, or reached the
time limit of its scenario), or an --assert or a claim of --strict does not
hold; 2 invalid input, or results could not be written.
Results go to standard output; progress, warnings and errors to standard error.";

/// Short description of scenarios, for the help of commands that take one.
const SCENARIO_HELP: &str = "\
A scenario is a TOML file. Every key has a default, so this is complete:

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

/// Registers commands. A command is a file, its `mod` line and a line here. Brackets name the part
/// of [`Program`] that it needs; empty ones stand for all of it.
macro_rules! commands {
    ($($command:ident($arguments:ty) => $run:path $([$($part:ident)?])?),* $(,)?) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($command($arguments),)*
        }

        impl Command {
            fn run(&self, program: &Program) -> anyhow::Result<Status> {
                match self { $(Self::$command(it) => $run(it $(, program$(.$part)?)?),)* }
            }
        }
    };
}

commands! {
    Demo(demo::Arguments) => demo::run[],
    Run(run::Arguments) => run::run,
    Compare(compare::Arguments) => compare::run,
    Sweep(sweep::Arguments) => sweep::run,
    Merge(merge::Arguments) => merge::run,
    Reproduce(reproduce::Arguments) => reproduce::run[studies],
    Plot(plot::Arguments) => plot::run,
    Report(report::Arguments) => report::run,
    Hpcc(hpcc::Arguments) => hpcc::run,
    Check(check::Arguments) => check::run,
    Bound(bound::Arguments) => bound::run,
    Qps(qps::Arguments) => qps::run,
    NcclTests(nccl_tests::Arguments) => nccl_tests::run,
    List(list::Arguments) => list::run,
    Trace(trace::Arguments) => trace::run,
    Import(import::Arguments) => import::run,
    Export(export::Arguments) => export::run,
    Twin(twin::Arguments) => twin::run[ns3],
    Init(init::Arguments) => init::run,
    Explain(explain::Arguments) => explain::run,
    Schema(schema::Arguments) => schema::run,
    Completions(shell::Completions) => shell::completions,
    Man(shell::Man) => shell::man,
}

/// Result of a command that returns no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// Everything requested was done: exit status 0.
    Done,
    /// A run is incomplete; its results are written nevertheless.
    Incomplete,
    /// An assertion or a claim does not hold; the results are written nevertheless.
    DoesNotHold,
    /// Some input was invalid, and its errors are printed.
    Invalid,
}

/// Parts of the program that the crate above provides.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Built-in studies.
    pub studies: &'static [BuiltIn],
    /// Runs a setup in ns-3; `None` if the program is built without it.
    pub ns3: Option<OtherWorld>,
}

/// Function that runs a setup in another world.
pub type OtherWorld = fn(&Setup) -> anyhow::Result<Outcome>;

/// Runs the command that the arguments name.
pub fn main(program: &Program) -> ExitCode {
    allocator::keep_freed_memory();
    signals::watch();
    let cli = Cli::try_parse().unwrap_or_else(|error| output::end_with(&error));
    match cli.command.run(program) {
        Ok(Status::Done) => ExitCode::SUCCESS,
        Ok(Status::Incomplete | Status::DoesNotHold) => ExitCode::from(1),
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
