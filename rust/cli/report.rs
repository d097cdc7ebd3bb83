//! `evenkeel report`: writes results as one HTML page.

use std::path::PathBuf;

use clap::Args;
use evenkeel_draw::page::{self, PageText};
use evenkeel_draw::plot::{self, Request};
use evenkeel_study::report::{OutputKind, write_output};
use evenkeel_study::results::Results;

use super::plot::not_written;
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

/// Kind of file that a page may replace.
const PAGE: OutputKind = OutputKind { name: "a page", is_own: page::is_page };

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
    let results = arguments.results.iter().map(|path| Results::open(path));
    let results = results.collect::<Result<Vec<_>, _>>()?;
    let request = Request { metric: arguments.metric.clone(), ..Request::default() };
    let (figures, notes) = plot::figures(&results, &request)?;
    notes.iter().for_each(|note| output::note(note));
    let text = PageText {
        question: arguments.question.clone(),
        command: command(arguments),
        metric: Some(arguments.metric.clone()),
    };
    let html = page::page(&results, &figures, &text)?;
    write_output(&arguments.out, &PAGE, html.as_bytes()).map_err(not_written)?;
    let kilobytes = html.len() / 1000;
    output::print_text(&format!("{}: {kilobytes} KB\n", arguments.out.display()))?;
    Ok(Status::Done)
}

/// Returns the command that writes the same page.
fn command(arguments: &Arguments) -> String {
    let mut words = vec!["evenkeel".to_owned(), "report".to_owned()];
    words.extend(arguments.results.iter().map(|path| path.display().to_string()));
    words.extend(["--out".to_owned(), arguments.out.display().to_string()]);
    if let Some(question) = &arguments.question {
        words.extend(["--question".to_owned(), question.clone()]);
    }
    if arguments.metric != "cct_ns" {
        words.extend(["--metric".to_owned(), arguments.metric.clone()]);
    }
    page::shell_words(&words)
}
