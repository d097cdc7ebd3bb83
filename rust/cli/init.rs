//! `evenkeel init`: writes a starter scenario.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use evenkeel_study::report::write_new;

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel init
  evenkeel init incast --out study
  evenkeel compare failure.toml --policies ecmp,spray,reps
";

/// Write a commented scenario to start from
///
/// Existing files are not replaced.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Question that the scenario asks
    #[arg(value_enum, default_value_t = Question::Failure)]
    question: Question,
    /// Folder for the file QUESTION.toml; created if needed
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Question {
    /// What does a failed link cost?
    Failure,
    /// How long is the queue when many hosts send to one?
    Incast,
    /// How much of a training step is communication?
    Training,
    /// How do files of the HPCC family behave under another policy?
    Hpcc,
}

impl Question {
    /// Returns the files, the scenario first.
    fn files(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Failure => vec![("failure.toml", include_str!("starters/failure.toml"))],
            Self::Incast => vec![("incast.toml", include_str!("starters/incast.toml"))],
            Self::Training => vec![("training.toml", include_str!("starters/training.toml"))],
            Self::Hpcc => vec![
                ("hpcc.toml", include_str!("starters/hpcc.toml")),
                ("topology.txt", include_str!("starters/topology.txt")),
                ("flows.txt", include_str!("starters/flows.txt")),
            ],
        }
    }
}

/// Writes all files, or none if one exists.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let folder = &arguments.out;
    let files = arguments.question.files();
    let is_here = folder == Path::new(".");
    let place = |name: &str| if is_here { PathBuf::from(name) } else { folder.join(name) };
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| place(name)).collect();
    if let Some(path) = paths.iter().find(|path| path.exists()) {
        bail!("{}: the file already exists; move it, or use --out DIR", path.display());
    }
    let absent: Vec<&Path> = folder.ancestors().take_while(|it| !it.exists()).collect();
    let mut written: Vec<&Path> = Vec::new();
    let mut write = || -> anyhow::Result<()> {
        fs::create_dir_all(folder)
            .map_err(|reason| anyhow!("--out {}: cannot create it: {reason}", folder.display()))?;
        for ((_, text), path) in files.iter().zip(&paths) {
            write_new(path, &text.replace("FILE", &paths[0].display().to_string()))?;
            written.push(path);
        }
        Ok(())
    };
    if let Err(error) = write() {
        // After a failure, remove everything that was created.
        written.iter().for_each(|path| drop(fs::remove_file(path)));
        absent.iter().for_each(|folder| drop(fs::remove_dir(folder)));
        return Err(error);
    }
    let scenario = paths[0].display();
    output::print_text(&format!("{scenario}: written; next: evenkeel run {scenario}\n"))?;
    Ok(Status::Done)
}
