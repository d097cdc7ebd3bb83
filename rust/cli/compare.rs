//! `evenkeel compare`: a scenario under several policies and seeds.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use evenkeel::report::{self, AllRuns, ComparisonFolder, Interrupted, Summary};
use evenkeel::scenario::{Overrides, Scenario, ScenarioText};
use evenkeel::study::{self, Comparison, Finished, Indicators, Planned, RunNumbers, Statistics};
use serde::Serialize;

use super::arguments::SetArguments;
use super::kept_runs::{self, Runs};
use super::memory::MemoryArgument;
use super::{SCENARIO_HELP, Status, incomplete, output, rails, scenario, single};

const EXAMPLES: &str = "\
Examples:
  evenkeel compare scenario.toml --policies ecmp,spray,ethereal
  evenkeel compare scenario.toml --policies ecmp,spray,reps --seeds 10 --baseline ecmp
  evenkeel compare scenario.toml --policies ecmp,spray --seeds 10 --format markdown
  evenkeel compare scenario.toml --policies ecmp,spray,reps --kpi bmwg
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
With several seeds it has means, and below them ± half their 95 % intervals
(Student's t), and a second table has the paired differences from --baseline:
each seed gives all policies the same workload, so that differences seed by seed
show what the means alone cannot. The best policy is marked; a policy is tied
with it if the 95 % interval of their paired difference contains zero.

--format csv and jsonl have a row for each policy and metric: runs, mean, low and
high (the 95 % interval), and the same of the difference. --kpi bmwg shows the
indicators of the IETF's draft for AI fabrics; docs/compare.md explains both.
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
    /// The scenario's file, or - for standard input
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// The policies, separated by commas (see: evenkeel list policies); jobs with a policy of
    /// their own keep it
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', required = true)]
    #[arg(value_parser = trimmed)]
    policies: Vec<String>,
    /// Run each policy under this many consecutive seeds
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SEEDS)))]
    seeds: u32,
    /// The first seed, instead of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    memory: MemoryArgument,
    /// Simulate this many runs at the same time; more need more memory [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The policy that the others are compared with [default: the first]
    #[arg(long, value_name = "POLICY")]
    baseline: Option<String>,
    /// How to print the statistics
    #[arg(long, value_enum, default_value_t = Format::Table, conflicts_with = "json")]
    format: Format,
    /// Show the key performance indicators of this draft of the IETF in place of the usual columns
    #[arg(long, value_enum, value_name = "DRAFT", conflicts_with = "json")]
    kpi: Option<Kpi>,
    /// Keep the results in this folder: comparison.csv, as --format csv prints it, runs.json, the
    /// object of --json without wall_s and peak_rss_bytes, and cost.json with these; after SIGINT
    /// or SIGTERM, those of the runs that are finished, with what is missing; it is created if it
    /// does not exist, and earlier results of a comparison in it are replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object with all runs instead of the table (times in ns, sizes in bytes)
    #[arg(long)]
    json: bool,
}

/// How statistics are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal of 80 columns
    Table,
    /// For a page
    Markdown,
    /// A row for each policy and metric
    Csv,
    /// An object for each policy and metric
    Jsonl,
}

/// Tables of key performance indicators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kpi {
    /// The IETF's Benchmarking Methodology Working Group, for AI training fabrics
    Bmwg,
}

/// A name of a list, which may have spaces after its commas.
#[expect(clippy::unnecessary_wraps, reason = "a parser of values may fail")]
fn trimmed(name: &str) -> Result<String, Infallible> {
    Ok(name.trim().to_owned())
}

/// Simulates all runs and prints the comparison.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    check_distinct(&arguments.policies)?;
    arguments.check_baseline()?;
    let text = scenario::open(&arguments.scenario)?;
    if text.has_rails() {
        return arguments.compare_rails(&text);
    }
    let scenario = text.scenario(&arguments.overrides())?;
    arguments.memory.check(&scenario)?;
    let seeds = seeds(scenario.seed, arguments.seeds)?;
    let comparison = Comparison::new(&scenario, &arguments.policies, seeds)?;
    comparison.warnings().into_iter().for_each(output::warning);

    let folder = arguments.folder()?;
    let report = |runs: Runs| arguments.report(&scenario, runs.finished, folder.as_ref());
    let runs = kept_runs::simulate(&comparison, arguments.threads(), |runs| {
        let (done, all) = (runs.finished.len(), runs.all);
        if let Err(error) = report(runs) {
            output::error(&error.to_string());
            return 2;
        }
        output::error(&format!("interrupted: {done} of {all} runs finished; the rest is missing"));
        1
    })?;
    report(runs)
}

impl Arguments {
    /// Prints the comparison of finished runs, and keeps it.
    fn report(
        &self,
        scenario: &Scenario,
        runs: Vec<(Finished, Indicators)>,
        folder: Option<&ComparisonFolder>,
    ) -> anyhow::Result<Status> {
        let (finished, indicators): (Vec<Finished>, Vec<Indicators>) = runs.into_iter().unzip();
        warn(&finished);
        let summaries: Vec<Summary> =
            finished.iter().map(|finished| finished.summary.clone()).collect();
        let statistics = self.statistics(&summaries, RunNumbers::OF_FABRIC);
        let all = AllRuns { runs: &summaries, interrupted: Interrupted::of(&statistics) };
        // What an earlier comparison left is better than nothing.
        if let Some(folder) = folder.filter(|_| !summaries.is_empty()) {
            folder.keep(&statistics, &all)?;
        }
        if self.json {
            output::print_json(&all)?;
        } else if summaries.is_empty() {
            return Ok(Status::Incomplete);
        } else if self.kpi.is_some() {
            let statistics = self.indicators(&summaries, &indicators);
            let title = format!(
                "Indicators of draft-calabria-bmwg-ai-fabric-training-bench\n{}: topology {}",
                scenario.name,
                study::reference_topology(scenario)
            );
            let table = || report::indicator_table(&statistics, &title);
            self.print(&statistics, table)?;
        } else {
            let table =
                || report::compare_table(&summaries, &statistics) + &self.below(&statistics);
            self.print(&statistics, table)?;
        }
        Ok(status(&finished))
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            policy: None,
            seed: self.seed,
            most_memory: self.memory.limit(),
            settings: self.set.settings.clone(),
        }
    }

    /// The runs, of which some are missing if the comparison is interrupted.
    fn planned(&self) -> Planned {
        Planned { policies: self.policies.clone(), seeds: self.seeds as usize }
    }

    fn threads(&self) -> NonZeroUsize {
        self.jobs.unwrap_or_else(study::cores)
    }

    /// The folder of the results, if they are kept.
    fn folder(&self) -> anyhow::Result<Option<ComparisonFolder>> {
        let Some(path) = &self.out else { return Ok(None) };
        let folder = ComparisonFolder::open(path)?;
        single::note_kept(path, folder.kept(), "comparison");
        Ok(Some(folder))
    }

    fn check_baseline(&self) -> anyhow::Result<()> {
        match &self.baseline {
            Some(baseline) if !self.policies.contains(baseline) => bail!(
                "--baseline: '{baseline}' is not compared; expected one of --policies: {}",
                self.policies.join(", ")
            ),
            _ => Ok(()),
        }
    }

    fn baseline(&self) -> &str {
        self.baseline.as_ref().unwrap_or(&self.policies[0])
    }

    fn compare_rails(&self, text: &ScenarioText) -> anyhow::Result<Status> {
        if self.seeds != 1 {
            bail!("--seeds: a scenario with rails has no random draws; omit the option");
        }
        if self.kpi.is_some() {
            bail!("--kpi: a scenario with rails has no links between switches; omit the option");
        }
        let runs = rails::RailComparison {
            text,
            policies: &self.policies,
            overrides: &self.overrides(),
            threads: self.threads(),
        };
        let folder = self.folder()?;
        rails::compare(&runs, |runs| {
            if let Some(folder) = &folder {
                let statistics = self.statistics(&runs, RunNumbers::OF_RAILS);
                folder.keep(&statistics, &AllRuns { runs: &runs, interrupted: None })?;
            }
            if self.json {
                return output::print_json(&AllRuns { runs: &runs, interrupted: None });
            }
            let statistics = self.statistics(&runs, RunNumbers::OF_RAILS);
            let table = || report::rails_compare_table(&runs) + &self.below(&statistics);
            self.print(&statistics, table)
        })
    }

    fn statistics(&self, runs: &[impl Serialize], metrics: &[&'static str]) -> Statistics {
        let numbers = RunNumbers::of_summaries(runs, metrics);
        Statistics::of_planned(metrics, &numbers, self.baseline(), &self.planned())
    }

    /// The statistics of the draft's indicators, after the completion time.
    fn indicators(&self, runs: &[Summary], indicators: &[Indicators]) -> Statistics {
        let numbers = runs.iter().zip(indicators).map(|(run, indicators)| RunNumbers {
            policy: run.policy.clone(),
            seed: run.seed,
            numbers: [vec![run.cct_ns], indicators.numbers().to_vec()].concat(),
        });
        let metrics = [vec!["cct_ns"], Indicators::NAMES.to_vec()].concat();
        let numbers = numbers.collect::<Vec<_>>();
        Statistics::of_planned(&metrics, &numbers, self.baseline(), &self.planned())
    }

    /// What follows the table of a comparison.
    fn below(&self, statistics: &Statistics) -> String {
        let below = match statistics.seeds {
            1 if self.baseline.is_none() => report::best_line(statistics),
            _ => report::difference_table(statistics),
        };
        format!("\n{below}")
    }

    fn print(&self, of: &Statistics, table: impl FnOnce() -> String) -> anyhow::Result<()> {
        output::print(&match self.format {
            Format::Table => output::escaped(&table()),
            Format::Markdown => report::comparison_markdown(of),
            Format::Csv => report::comparison_csv(of)?,
            Format::Jsonl => report::comparison_json_lines(of),
        })
    }
}

/// Prints the warnings of runs, each once, with its policy.
fn warn(finished: &[Finished]) {
    let mut known: Vec<String> = Vec::new();
    for Finished { summary, fault, .. } in finished {
        for warning in summary.warnings.iter().filter(|it| fault.as_ref() != Some(*it)) {
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
    let all: Vec<Status> =
        finished.iter().map(|it| incomplete::report(it, incomplete::TIME_LIMIT)).collect();
    if all.contains(&Status::Incomplete) { Status::Incomplete } else { Status::Done }
}

fn check_distinct(policies: &[String]) -> anyhow::Result<()> {
    if policies.iter().any(|policy| policy.trim().is_empty()) {
        let given = policies.join(",");
        bail!("--policies: a name is missing in '{given}'; expected for example ecmp,spray");
    }
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
        for names in [&["", ""][..], &[""], &["ecmp", " "]] {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let error = check_distinct(&names).unwrap_err().to_string();
            assert!(error.starts_with("--policies: a name is missing in '"), "{error}");
        }
    }
}
