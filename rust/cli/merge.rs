//! `evenkeel merge`: combines the shards of a sweep.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use evenkeel_study::report::human;
use evenkeel_study::{Sweep, SweepFolder};

use super::{Status, sweep};

const EXAMPLES: &str = "\
Examples:
  evenkeel merge results/1 results/2 results/3 results/4 --out results/all

The results are byte-identical to those of a sweep without shards. Each run of
the study must be in a folder; one that is in several is used once. The merged
folder is a sweep folder with study.toml and sweep.runs.jsonl: `evenkeel sweep`
continues it after a change of the study, and it can be merged again.
";

/// Merge the shards of a sweep
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folders of the shards
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Write the merged results to this folder
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Reads the logs of all folders and writes the results.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let study = study(&arguments.folders)?;
    let sweep = Sweep::load(&study)?;
    let logs = arguments.folders.iter().map(|folder| SweepFolder::read_log(folder));
    let logs = logs.collect::<Result<Vec<_>, _>>()?;
    let (table, log) = sweep.merge(&logs)?;
    let lost = SweepFolder::read_log(&arguments.out)?.runs_missing_in(&logs);
    if lost > 0 {
        bail!(
            "--out {}: its sweep.runs.jsonl has {} that none of the folders has; merge this folder \
             too, or use another --out",
            arguments.out.display(),
            human::plural(lost as u64, "run")
        );
    }
    let folder = SweepFolder::open(&arguments.out, sweep.text())?;
    folder.write_log(&log)?;
    sweep::finish(&folder, &table, &arguments.out.display().to_string())
}

/// Returns the study of all folders; fails if they differ.
fn study(folders: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let read = |folder: &Path| {
        let path = SweepFolder::study(folder);
        SweepFolder::study_text(folder).map_err(|error| {
            anyhow!(
                "{}: cannot be read: {error}; expected a folder written by `sweep`",
                path.display()
            )
        })
    };
    let first = &folders[0];
    let text = read(first)?;
    for other in &folders[1..] {
        if read(other)? != text {
            bail!(
                "{} and {}: their study.toml files differ; expected shards of one study",
                first.display(),
                other.display()
            );
        }
    }
    Ok(SweepFolder::study(first))
}
