//! `evenkeel sweep`: simulates every point of a study and writes a table.

use std::env;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use evenkeel_study::report::human;
use evenkeel_study::reproduce::StudyError;
use evenkeel_study::{self as study, Shard, Sweep, SweepFolder, SweepTable};

use super::memory::MemoryArgument;
use super::progress::Bars;
use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel sweep study.toml --out results/sweep
  evenkeel sweep study.toml --out results/2 --shard 2/4
  evenkeel merge results/1 results/2 results/3 results/4 --out results/all
  evenkeel sweep study.toml --list | jq .point
  evenkeel sweep study.toml --out results/point-7 --point 7

A study is a TOML file; docs/sweeps.md describes the format. A complete study:

  [scenario.topology]
  leaves = 8
  [[run]]
  name = \"sizes\"
  seeds = 5
  [run.over]                # every combination of these
  policy = [\"ecmp\", \"spray\"]
  \"workload.bytes\" = { from = \"1MB\", to = \"64MB\", times = 4 }

DIR gets study.toml (a copy), sweep.runs.jsonl (one line per finished run) and,
after the last run, results.csv (one row per point and seed). After a kill or a
full disk, the same command resumes. A run that is invalid, does not fit into
memory or does not complete is a row with its `error`.

In a Slurm array, or in a Kubernetes indexed Job with --shards N, the task
selects the shard; --shard 1/1 simulates everything anyway.
";

/// Simulate every point of a study under every seed
///
/// Results are byte-identical for any number of threads, shards and interruptions. The exit status
/// is 1 if a row has an error, and 2 if all have one.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Study file
    #[arg(value_name = "STUDY.toml")]
    study: PathBuf,
    /// Write the results to this folder, or continue the sweep that is in it
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// Print a JSON object per point, with its number, keys and seeds, and simulate nothing
    #[arg(long, conflicts_with_all = ["out", "jobs", "point", "shard", "shards"])]
    list: bool,
    /// Simulate only this point, all its seeds; merge combines the folders of all points
    #[arg(long, value_name = "N", conflicts_with_all = ["shard", "shards"])]
    point: Option<usize>,
    /// Simulate this many runs at the same time; more use more memory [default: one per core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Simulate the K-th of N parts [default: from the Slurm array or the indexed Job]
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Number of completions of the Kubernetes Job (JOB_COMPLETION_INDEX has the index)
    #[arg(long, value_name = "N", conflicts_with = "shard")]
    shards: Option<NonZeroUsize>,
    #[command(flatten)]
    memory: MemoryArgument,
}

/// Simulates the missing runs and writes the results.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    expect_study(&arguments.study)?;
    let sweep = Sweep::load(&arguments.study)?.with_memory_limit(arguments.memory.limit());
    let Some(out) = &arguments.out else { return list(&sweep) };
    let (shard, sweep) = match arguments.point {
        Some(point) => (Shard::ALL, sweep.only(point)?),
        None => (arguments.shard()?, sweep),
    };
    let folder = SweepFolder::open(out, sweep.text())?;
    let log = SweepFolder::log(out)?;
    let (rows, known) = (sweep.rows(shard), sweep.known(shard, &log));
    if known > 0 {
        let name = out.display();
        output::note(&format!("{name}: {known} of {rows} runs are already finished"));
    }
    // Rows of the log may be of an earlier version of the study, which is known only once they are
    // compared.
    folder.remove_results()?;
    let bars = Bars::of_many(rows - known);
    let table = sweep.run(shard, arguments.jobs.unwrap_or_else(cores), &bars, &log);
    drop(bars);
    let table = table.map_err(|error| match error {
        StudyError::Log { .. } => anyhow!("{error}; the same command resumes"),
        other => other.into(),
    })?;
    finish(&folder, &table, &out.display().to_string())
}

/// Prints the points.
fn list(sweep: &Sweep) -> anyhow::Result<Status> {
    let lines: String = sweep.points().iter().map(|point| format!("{}\n", point.json())).collect();
    output::print(&lines)?;
    Ok(Status::Done)
}

/// Fails if the path is not a file.
fn expect_study(path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    if path.is_dir() {
        bail!("{name}: it is a folder; expected a study (a TOML file)");
    }
    if !path.exists() {
        bail!("{name}: it does not exist; expected a study (a TOML file)");
    }
    Ok(())
}

/// Returns the cores that the process may use; those of its Slurm task if nothing else confines it.
fn cores() -> NonZeroUsize {
    let cores = study::cores();
    let of_task = env::var("SLURM_CPUS_PER_TASK").ok().and_then(|count| count.parse().ok());
    of_task.map_or(cores, |of_task| cores.min(of_task))
}

/// Writes the results and prints a summary.
pub(super) fn finish(
    folder: &SweepFolder,
    table: &SweepTable,
    name: &str,
) -> anyhow::Result<Status> {
    folder.write_results(table)?;
    let failed = table.failed().count();
    let points = table.rows.iter().map(|row| row.point);
    let points = points.collect::<std::collections::BTreeSet<_>>().len();
    let runs = human::plural(table.rows.len() as u64, "run");
    let points = human::plural(points as u64, "point");
    let files = folder.results().into_iter().map(|file| format!("{name}/{file}"));
    let files = files.collect::<Vec<_>>().join(", ");
    output::print_text(&format!(
        "{runs} of {points}, {failed} with an error\nresults   {files}\n"
    ))?;
    if let Some(first) = table.failed().next() {
        let labels: Vec<String> =
            first.keys.iter().map(|(key, label)| format!("{key} {label}")).collect();
        output::warning(&format!(
            "point {} ({}), seed {}: {}",
            first.point,
            labels.join(", "),
            first.seed,
            first.error()
        ));
    }
    Ok(match failed {
        0 => Status::Done,
        failed if failed == table.rows.len() => Status::Invalid,
        _ => Status::Incomplete,
    })
}

impl Arguments {
    fn shard(&self) -> anyhow::Result<Shard> {
        if let Some(shard) = self.shard {
            return Ok(shard);
        }
        let variable = |name: &str| env::var(name).ok();
        let shards = self.shards.map(NonZeroUsize::get);
        let Some((shard, name)) = Shard::from_environment(variable, shards)? else {
            if let Some(count) = shards {
                output::warning(&format!(
                    "--shards {count} has no effect: no task index is set (JOB_COMPLETION_INDEX, \
                     SLURM_ARRAY_TASK_ID); use --shard I/{count} to run one shard"
                ));
            }
            return Ok(Shard::ALL);
        };
        output::note(&format!("shard {shard}, by {name}"));
        Ok(shard)
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_study::reproduce::{Scale, Study};

    use super::*;

    #[test]
    fn the_study_in_the_help_is_valid() {
        let lines = EXAMPLES.lines().skip_while(|line| !line.starts_with("  [scenario"));
        let lines = lines.take_while(|line| line.starts_with("  "));
        let text = lines.collect::<Vec<_>>().join("\n");
        let study = Study::parse(&text, Path::new("help.toml"), Scale::Paper).unwrap();
        study.check().unwrap();
        assert_eq!(study.runs(), 2 * 4 * 5);
    }
}
