//! `evenkeel compare`: runs a scenario under several policies and seeds.

use std::convert::Infallible;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use evenkeel_scenario::{Overrides, Scenario, ScenarioText};
use evenkeel_study::metrics::INDICATORS;
use evenkeel_study::report::{self, AllRuns, ComparisonFolder, Interrupted, Summary};
use evenkeel_study::{
    self as study, AssertedRun, AssertionOutcome, Comparison, Finished, Indicators, Planned,
    RunNumbers, Seeds, Statistics,
};
use serde::Serialize;

use super::arguments::SetArguments;
use super::gates::{GateArguments, Gates, Judged};
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
  evenkeel compare scenario.toml --policies ecmp,reps --junit results.xml \
    --assert 'reps.slowdown < 1.3' --assert 'reps.packets.dropped == 0'

The table has a row for each policy, in the order given:
  CCT         completion time of the whole workload
  /bound      CCT over the lower bound above the table; 'own' is over the run's
              own bound, if policies or seeds have different bounds
  p99 FCT     99th percentile of the messages' completion times
  max queue   most bytes queued at one switch port
  resent, dropped, out of order
              data packets
  extra QPs   queue pairs that a splitter opened beyond one per pair of peers,
              at the NIC with the most
  wall time   duration of the simulation
With several seeds, the columns are medians. Below the table are the interval of
each median CCT, the ratio to the best policy (or to --baseline) with its
interval, and the number of seeds in which the policy was slower than the best.
Each seed gives all policies the same workload and failures, so ratios are
computed per seed. Intervals lie between two of the values and assume no
distribution. With fewer than 5 seeds, policies are not ranked unless nothing is
random.

--format csv and jsonl have one row per policy and metric. --kpi bmwg shows
the indicators of the IETF's draft for AI fabrics; docs/compare.md covers both.
";

/// Most seeds of one comparison.
const MAX_SEEDS: u32 = 1_000_000;

/// Simulate a scenario under several policies and compare them
///
/// Prints a table with one row per policy. With --json, it prints one object whose `runs` lists the
/// objects of `evenkeel run --json` by policy and seed.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    /// Scenario file, or - for standard input
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// Policies, separated by commas (see: evenkeel list policies); jobs with their own policy keep
    /// it
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', required = true)]
    #[arg(value_parser = trimmed)]
    policies: Vec<String>,
    /// Run each policy under this many consecutive seeds [default: 5, or 1 if nothing is random]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SEEDS)))]
    seeds: Option<u32>,
    /// First seed, instead of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    memory: MemoryArgument,
    /// Simulate this many runs at the same time; more use more memory [default: one per core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Policy that ratios refer to [default: the best]
    #[arg(long, value_name = "POLICY")]
    baseline: Option<String>,
    /// Output format of the statistics
    #[arg(long, value_enum, default_value_t = Format::Table, conflicts_with = "json")]
    format: Format,
    /// Show the key performance indicators of this IETF draft instead of the usual columns
    #[arg(long, value_enum, value_name = "DRAFT", conflicts_with = "json")]
    kpi: Option<Kpi>,
    /// Write the results to this folder: comparison.csv (as with --format csv), runs.json (as with
    /// --json, without wall_s and peak_rss_bytes) and cost.json (those two). On SIGINT, SIGTERM or
    /// SIGHUP, the finished runs and a list of the missing ones are written, unless the folder has
    /// a complete comparison. It is created if needed, and earlier comparison results in it are
    /// replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    gates: GateArguments,
    /// Print one JSON object with all runs instead of the table (times in ns, sizes in bytes)
    #[arg(long)]
    json: bool,
}

/// Output format of the statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal of 80 columns
    Table,
    /// For a Markdown page
    Markdown,
    /// One row per policy and metric
    Csv,
    /// One object per policy and metric
    Jsonl,
}

/// Tables of key performance indicators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kpi {
    /// The IETF's Benchmarking Methodology Working Group, for AI training fabrics
    Bmwg,
}

/// Trims a name in a list, which may have spaces after its commas.
#[expect(clippy::unnecessary_wraps, reason = "a parser of values may fail")]
fn trimmed(name: &str) -> Result<String, Infallible> {
    Ok(name.trim().to_owned())
}

/// Simulates all runs and prints the comparison.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    check_distinct(&arguments.policies)?;
    arguments.check_baseline()?;
    let gates = arguments.gates.gates(&arguments.policies)?;
    let text = scenario::open(&arguments.scenario)?;
    if text.has_rails() {
        return arguments.compare_rails(&text, &gates);
    }
    let scenario = text.scenario(&arguments.overrides())?;
    arguments.memory.check(&scenario)?;
    let seeds = Seeds { first: scenario.seed, count: arguments.seeds.and_then(NonZeroU32::new) };
    let comparison = Comparison::new(&scenario, &arguments.policies, seeds)?;
    let planned = comparison.planned();
    comparison.warnings().into_iter().for_each(output::warning);

    let folder = arguments.folder()?;
    let to = Destination { folder: folder.as_ref(), gates: &gates };
    let report = |runs: Runs| arguments.report((&scenario, &planned), runs.finished, &to);
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

/// Where the results of a comparison go, besides standard output.
struct Destination<'a> {
    folder: Option<&'a ComparisonFolder>,
    gates: &'a Gates<'a>,
}

/// Contents of the tables of a comparison.
struct Tables<'a> {
    scenario: &'a Scenario,
    planned: &'a Planned,
    runs: &'a [Summary],
    indicators: &'a [Indicators],
}

impl Arguments {
    /// Prints the comparison of finished runs, and writes it to the folder.
    fn report(
        &self,
        (scenario, planned): (&Scenario, &Planned),
        runs: Vec<(Finished, Indicators)>,
        to: &Destination<'_>,
    ) -> anyhow::Result<Status> {
        let (finished, indicators): (Vec<Finished>, Vec<Indicators>) = runs.into_iter().unzip();
        warn(&finished, planned.seeds);
        let summaries: Vec<Summary> =
            finished.iter().map(|finished| finished.summary.clone()).collect();
        let statistics = self.statistics(&summaries, RunNumbers::FABRIC_METRICS, planned);
        let statistics = statistics.with_reasons(&finished);
        let pairs = summaries.iter().zip(&indicators);
        let judged = Judged {
            scenario: &scenario.name,
            policies: &planned.policies,
            seeds: planned.seeds,
            runs: pairs.map(|(run, indicators)| AssertedRun::of(run, Some(*indicators))).collect(),
        };
        let outcomes = to.gates.judge(&judged);
        let all = AllRuns {
            runs: &summaries,
            reasons: statistics.reasons.clone(),
            assertions: outcomes,
            interrupted: Interrupted::of(&statistics),
        };
        // An earlier comparison stays if this one has no finished run, or if it is partial and the
        // earlier one whole.
        if let Some(folder) = to.folder.filter(|_| !summaries.is_empty()) {
            match all.interrupted.is_some() && folder.has_complete_results() {
                true => output::note("--out keeps the earlier comparison because it is complete"),
                false => folder.write_results(&statistics, &all)?,
            }
        }
        if self.json {
            output::print_json(&all)?;
        } else if summaries.is_empty() {
            return Ok(Status::Incomplete);
        } else {
            let tables = Tables { scenario, planned, runs: &summaries, indicators: &indicators };
            self.print_tables(&tables, &statistics, &all.assertions)?;
        }
        to.gates.report(&judged, &all.assertions, status(&finished))
    }

    /// Prints the statistics, and below a table the verdicts on assertions.
    fn print_tables(
        &self,
        of: &Tables<'_>,
        statistics: &Statistics,
        assertions: &[AssertionOutcome],
    ) -> anyhow::Result<()> {
        let Tables { scenario, planned, runs: summaries, indicators } = of;
        if self.kpi.is_some() {
            let statistics = self.indicators(summaries, indicators, planned);
            let title = format!(
                "Indicators of draft-calabria-bmwg-ai-fabric-training-bench\n{}: topology {}",
                scenario.name,
                study::reference_topology(scenario)
            );
            let table = || report::indicator_table(&statistics, &title);
            self.print(&statistics, table)?;
        } else {
            let table = || {
                let table = report::compare_table(summaries, statistics);
                format!("{table}\n{}", report::verdicts(statistics))
            };
            self.print(statistics, table)?;
        }
        self.print_assertions(assertions)
    }

    /// Prints the verdicts on assertions, unless the format has no place for them.
    fn print_assertions(&self, assertions: &[AssertionOutcome]) -> anyhow::Result<()> {
        if assertions.is_empty() || self.format != Format::Table {
            return Ok(());
        }
        output::print_text(&format!("\n{}", report::assertion_table(assertions)))
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            policy: None,
            seed: self.seed,
            most_memory: self.memory.limit(),
            settings: self.set.settings.clone(),
            ..Overrides::default()
        }
    }

    fn threads(&self) -> NonZeroUsize {
        self.jobs.unwrap_or_else(study::cores)
    }

    /// Returns the folder of the results, if requested.
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

    fn compare_rails(&self, text: &ScenarioText, gates: &Gates<'_>) -> anyhow::Result<Status> {
        if self.seeds.is_some_and(|seeds| seeds != 1) {
            bail!("--seeds: a scenario with rails is not random; omit the option");
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
        let planned = Planned { policies: self.policies.clone(), seeds: 1, is_random: false };
        rails::compare(&runs, |runs| {
            let statistics = self.statistics(&runs, RunNumbers::RAIL_METRICS, &planned);
            let judged = Judged {
                scenario: runs.first().map_or("", |run| &run.scenario),
                policies: &self.policies,
                seeds: 1,
                runs: runs.iter().map(|run| AssertedRun::of(run, None)).collect(),
            };
            let all = AllRuns { assertions: gates.judge(&judged), ..AllRuns::of(&runs) };
            if let Some(folder) = &folder {
                folder.write_results(&statistics, &all)?;
            }
            if self.json {
                output::print_json(&all)?;
            } else {
                let table = || {
                    let table = report::rails_compare_table(&runs);
                    format!("{table}\n{}", report::verdicts(&statistics))
                };
                self.print(&statistics, table)?;
                self.print_assertions(&all.assertions)?;
            }
            gates.report(&judged, &all.assertions, Status::Done)
        })
    }

    fn statistics(
        &self,
        runs: &[impl Serialize],
        metrics: &[&'static str],
        planned: &Planned,
    ) -> Statistics {
        let numbers = RunNumbers::of_summaries(runs, metrics);
        Statistics::of(metrics, &numbers, self.baseline.as_deref(), planned)
    }

    /// Returns the statistics of the draft's indicators, after the completion time.
    fn indicators(
        &self,
        runs: &[Summary],
        indicators: &[Indicators],
        planned: &Planned,
    ) -> Statistics {
        let numbers = runs.iter().zip(indicators).map(|(run, indicators)| RunNumbers {
            policy: run.policy.clone(),
            seed: run.seed,
            numbers: [vec![run.cct_ns], indicators.numbers().to_vec()].concat(),
        });
        let metrics =
            [vec!["cct_ns"], INDICATORS.iter().map(|metric| metric.name).collect()].concat();
        let numbers = numbers.collect::<Vec<_>>();
        Statistics::of(&metrics, &numbers, self.baseline.as_deref(), planned)
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

/// Prints the warnings of runs with their policy, and with the number of seeds if there are
/// several. Warnings of one policy that differ only in numbers are merged.
fn warn(finished: &[Finished], seeds: usize) {
    let mut known: Vec<(String, String, u32)> = Vec::new();
    for Finished { summary, internal_error, .. } in finished {
        for warning in summary.warnings.iter().filter(|it| internal_error.as_ref() != Some(*it)) {
            let warning = format!("{}: {warning}", summary.policy);
            let words = warning.replace(|it: char| it.is_ascii_digit(), "");
            match known.iter_mut().find(|(it, ..)| *it == words) {
                Some((.., count)) => *count += 1,
                None => known.push((words, warning, 1)),
            }
        }
    }
    for (_, warning, count) in known {
        output::warning(&match seeds {
            1 => warning,
            _ => format!("{warning} ({count} of {seeds} seeds)"),
        });
    }
}

fn status(finished: &[Finished]) -> Status {
    // Reports every incomplete run, not only the first.
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

#[cfg(test)]
mod tests {
    use super::*;

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
