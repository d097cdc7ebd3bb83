//! `evenkeel demo`: a first table and a first figure, without a file.

use std::fs;
use std::iter::once;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, Parser};
use evenkeel_study::report::write_new;

use super::{Cli, Program, Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel demo
  evenkeel demo --out first
";

const SCENARIO: &str = include_str!("starters/demo.toml");

/// Compare three policies while a link fails, and draw the result
///
/// Needs no file. Runs `compare` and `plot` on an all-to-all among 32 hosts, and prints both
/// commands.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder for the scenario, its results and the figure; created if needed, and results of an
    /// earlier demo in it are replaced
    #[arg(long, value_name = "DIR", default_value = "evenkeel-demo")]
    out: PathBuf,
}

/// Writes the scenario, and runs the two commands.
pub(super) fn run(arguments: &Arguments, program: &Program) -> anyhow::Result<Status> {
    let folder = &arguments.out;
    let path = |name: &str| folder.join(name).display().to_string();
    fs::create_dir_all(folder)
        .map_err(|reason| anyhow!("--out {}: cannot create it: {reason}", folder.display()))?;
    let (scenario, figure) = (path("demo.toml"), path("demo.svg"));
    let results = path("results");
    keep_or_write(Path::new(&scenario))?;
    let compare = ["compare", &scenario, "--policies", "ecmp,spray,reps", "--out", &results];
    let status = command(&compare, program)?;
    let plot = ["plot", &results, "--figure", "by-policy", "--out", &figure];
    command(&plot, program)?;
    output::print_text(&format!("\nnext: edit {scenario}, and run the first command again\n"))?;
    Ok(status)
}

/// Writes the scenario, unless the file has it already.
fn keep_or_write(path: &Path) -> anyhow::Result<()> {
    match fs::read_to_string(path) {
        Ok(text) if text == SCENARIO => Ok(()),
        Ok(_) => bail!(
            "{}: the file differs from the demo's; to run it use evenkeel compare, or choose \
             another folder with --out DIR",
            path.display()
        ),
        Err(_) => Ok(write_new(path, SCENARIO)?),
    }
}

/// Prints a command and runs it.
fn command(words: &[&str], program: &Program) -> anyhow::Result<Status> {
    let quoted = |word: &&str| match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => (*word).to_owned(),
    };
    let shown: Vec<String> = words.iter().map(quoted).collect();
    output::print_text(&format!("$ evenkeel {}\n", shown.join(" ")))?;
    Cli::try_parse_from(once("evenkeel").chain(words.iter().copied()))?.command.run(program)
}
