//! `evenkeel report`: writes results as one HTML page.

use std::path::PathBuf;

use clap::Args;
use evenkeel_draw::page::PageRequest;

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel run examples/recording.toml --out results/recording
  evenkeel report results/recording --out recording.html
  evenkeel report results/ecmp results/reps --out compare.html \\
    --question \"Does REPS avoid the failed link?\"

The page works offline: share it as one file. It begins with the question (the
title of a study, or --question), the answer in a sentence, and one chart.
Below are the policies by swept value with ratios and verdicts, the fabric with
its failures, zoomable charts, single runs, the scenarios, and the commands that
reproduce it (docs/plotting.md).
";

/// Write one HTML page that answers a question with results
///
/// DIR is a folder that run, compare, sweep or reproduce wrote with --out, or a table of a study.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folders of results, or tables of studies
    #[arg(value_name = "DIR", required = true)]
    results: Vec<PathBuf>,
    /// Page to write; only an earlier page is replaced
    #[arg(long, value_name = "FILE.html")]
    out: PathBuf,
    /// Question that the results answer [default: the title of the study, or a generated one]
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// Metric of the answer and of charts that compare runs: a key of summary.json, or a column of
    /// a study's table
    #[arg(long, value_name = "KEY", default_value = "cct_ns")]
    metric: String,
}

/// Reads the results and writes their page.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let request = PageRequest {
        results: &arguments.results,
        out: &arguments.out,
        question: arguments.question.as_deref(),
        metric: &arguments.metric,
        temporary: None,
    };
    let written = request.write()?;
    written.notes.iter().for_each(|note| output::note(note));
    let kilobytes = written.bytes / 1000;
    output::print_text(&format!("{}: {kilobytes} KB\n", arguments.out.display()))?;
    Ok(Status::Done)
}
