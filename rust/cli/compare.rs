//! `evenkeel compare`: one scenario under several policies and seeds.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use anyhow::{anyhow, bail};
use clap::Args;
use evenkeel::report::{self, Summary};
use evenkeel::scenario::{Overrides, RailScenario};
use evenkeel::study::{self, Comparison, Finished};
use serde::Serialize;

use super::progress::Bars;
use super::{SCENARIO_HELP, Status, incomplete, output, rails, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel compare scenario.toml --policies ecmp,spray,ethereal
  evenkeel compare scenario.toml --policies ecmp,spray --seeds 10
  evenkeel compare scenario.toml --policies ecmp,spray --json | jq '.runs[].cct_ns'

The table has a line a policy, in the order given. CCT: completion time of the whole workload.
/bound: how many times the lower bound that is. p99 FCT: 99th percentile of the messages'
completion times. max queue: most bytes that waited at one switch port. resent, dropped, out of
order: data packets. extra QPs: queue pairs that a splitter opened beyond one per pair of peers,
at the NIC that has most. wall time: of the simulation. With several seeds, means and below them
standard deviations.
";

/// Most seeds of one comparison; more are a study of their own.
const MAX_SEEDS: u32 = 1_000_000;

/// Simulate a scenario under several policies and compare them
///
/// Prints a table with a line a policy, or with --json one object whose `runs` holds what
/// `evenkeel run --json` prints, policy by policy and seed by seed.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub struct Arguments {
    /// The scenario's file
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// The policies, separated by commas (see: evenkeel list policies)
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', required = true)]
    policies: Vec<String>,
    /// Run each policy under this many seeds, from the scenario's on
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SEEDS)))]
    seeds: u32,
    /// The first seed, in place of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Runs at the same time; more need more memory [default: one a core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print one JSON object in place of the table (times in ns, sizes in bytes)
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Runs {
    runs: Vec<Summary>,
}

/// Runs all of them.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    refuse_repetition(&arguments.policies)?;
    if RailScenario::is_in(&arguments.scenario) {
        if arguments.seeds != 1 {
            bail!("--seeds: a scenario of rails draws nothing at random; leave it out");
        }
        let print = (arguments.seed, arguments.json);
        return rails::compare(&arguments.scenario, &arguments.policies, print);
    }
    let overrides = Overrides { policy: None, seed: arguments.seed };
    let scenario = scenario::load(&arguments.scenario, &overrides)?;
    let seeds = seeds(scenario.seed, arguments.seeds)?;
    let comparison = Comparison::new(&scenario, &arguments.policies, seeds)?;
    let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);

    let bars = Bars::of_many(comparison.jobs().len());
    let finished = study::compare(&comparison, arguments.jobs.unwrap_or_else(cores), &bars)?;
    drop(bars);

    let runs: Vec<Summary> = finished.iter().map(|finished| finished.summary.clone()).collect();
    if arguments.json {
        output::print_json(&Runs { runs })?;
    } else {
        output::print(&report::compare_table(&runs))?;
    }
    Ok(status(&finished))
}

fn status(finished: &[Finished]) -> Status {
    // Every run that did not complete is told of, not the first alone.
    let all: Vec<Status> = finished.iter().map(incomplete::tell).collect();
    if all.contains(&Status::Incomplete) { Status::Incomplete } else { Status::Done }
}

fn refuse_repetition(policies: &[String]) -> anyhow::Result<()> {
    for (index, policy) in policies.iter().enumerate() {
        if policies[..index].contains(policy) {
            bail!("--policies: '{policy}' is named twice; name each policy once");
        }
    }
    Ok(())
}

fn seeds(first: u64, count: u32) -> anyhow::Result<Vec<u64>> {
    let last = first.checked_add(u64::from(count) - 1).ok_or_else(|| {
        anyhow!("--seeds {count}: from seed {first} on there are not that many; start lower")
    })?;
    Ok((first..=last).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_count_from_the_first() {
        assert_eq!(seeds(7, 3).unwrap(), [7, 8, 9]);
        assert_eq!(seeds(u64::MAX, 1).unwrap(), [u64::MAX]);
        assert!(seeds(u64::MAX, 2).unwrap_err().to_string().contains("start lower"));
    }

    #[test]
    fn a_policy_named_twice_is_refused() {
        let names = ["ecmp", "spray", "ecmp"].map(str::to_owned);
        let error = refuse_repetition(&names).unwrap_err().to_string();
        assert_eq!(error, "--policies: 'ecmp' is named twice; name each policy once");
    }
}
