//! `evenkeel compare`: a scenario under several policies and seeds.

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

The table has a row for each policy, in the order given:
  CCT         completion time of the whole workload
  /bound      CCT over the lower bound
  p99 FCT     99th percentile of the messages' completion times
  max queue   the most bytes that waited at one switch port
  resent, dropped, out of order
              data packets
  extra QPs   queue pairs that a splitter opened beyond one for each pair of
              peers, at the NIC that has most
  wall time   duration of the simulation
With several seeds it has means, and below them standard deviations.
";

/// The most seeds of one comparison.
const MAX_SEEDS: u32 = 1_000_000;

/// Simulate a scenario under several policies and compare them
///
/// Prints a table with a row for each policy, or with --json one object whose `runs` holds the
/// objects of `evenkeel run --json`, policy by policy and seed by seed.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    /// The scenario's file
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// The policies, separated by commas (see: evenkeel list policies); jobs with a policy of
    /// their own keep it
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', required = true)]
    policies: Vec<String>,
    /// Run each policy under this many consecutive seeds
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SEEDS)))]
    seeds: u32,
    /// The first seed, instead of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Simulate this many runs at the same time; more need more memory [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print one JSON object instead of the table (times in ns, sizes in bytes)
    #[arg(long)]
    json: bool,
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Runs {
    runs: Vec<Summary>,
}

/// Simulates all runs and prints the comparison.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    check_distinct(&arguments.policies)?;
    if RailScenario::is_in(&arguments.scenario) {
        if arguments.seeds != 1 {
            bail!("--seeds: a scenario with rails has no random draws; omit the option");
        }
        let runs = rails::RailComparison {
            path: &arguments.scenario,
            policies: &arguments.policies,
            seed: arguments.seed,
            json: arguments.json,
        };
        return rails::compare(&runs);
    }
    let overrides = Overrides { policy: None, seed: arguments.seed };
    let scenario = scenario::read(&arguments.scenario, &overrides)?;
    let seeds = seeds(scenario.seed, arguments.seeds)?;
    let comparison = Comparison::new(&scenario, &arguments.policies, seeds)?;
    comparison.warnings().into_iter().for_each(output::warning);
    let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);

    let bars = Bars::of_many(comparison.runs().len());
    let finished = study::compare(&comparison, arguments.jobs.unwrap_or_else(cores), &bars)?;
    drop(bars);
    warn_of_fluid(&finished);

    let summaries: Vec<Summary> =
        finished.iter().map(|finished| finished.summary.clone()).collect();
    if arguments.json {
        output::print_json(&Runs { runs: summaries })?;
    } else {
        output::print(&report::compare_table(&summaries))?;
    }
    Ok(status(&finished))
}

/// Prints the warnings of fluid runs, each once, with its policy.
fn warn_of_fluid(finished: &[Finished]) {
    let mut known: Vec<String> = Vec::new();
    for Finished { summary, .. } in finished {
        for warning in &summary.warnings {
            let warning = format!("{}: {warning}", summary.policy);
            if !known.contains(&warning) {
                output::warning(&warning);
                known.push(warning);
            }
        }
    }
}

fn status(finished: &[Finished]) -> Status {
    // Every run that did not complete is reported, not only the first.
    let all: Vec<Status> = finished.iter().map(incomplete::report).collect();
    if all.contains(&Status::Incomplete) { Status::Incomplete } else { Status::Done }
}

fn check_distinct(policies: &[String]) -> anyhow::Result<()> {
    for (index, policy) in policies.iter().enumerate() {
        if policies[..index].contains(policy) {
            bail!("--policies: '{policy}' is repeated; expected each policy once");
        }
    }
    Ok(())
}

fn seeds(first: u64, count: u32) -> anyhow::Result<Vec<u64>> {
    let last = first.checked_add(u64::from(count) - 1).ok_or_else(|| {
        anyhow!("--seeds {count}: out of range after seed {first}; expected a smaller first seed")
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
        assert!(seeds(u64::MAX, 2).unwrap_err().to_string().contains("smaller first seed"));
    }

    #[test]
    fn a_repeated_policy_is_an_error() {
        let names = ["ecmp", "spray", "ecmp"].map(str::to_owned);
        let error = check_distinct(&names).unwrap_err().to_string();
        assert_eq!(error, "--policies: 'ecmp' is repeated; expected each policy once");
    }
}
