//! The report of all runs, by the code that draws `evenkeel report`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use evenkeel_draw::page::{PageText, page};
use evenkeel_draw::plot::{self, Request as Figures};
use evenkeel_study::report::{AllRuns, RUNS, STATISTICS, Summary, comparison_csv};
use evenkeel_study::results::{ResultFiles, Results};
use evenkeel_study::{Finished, RunNumbers, Statistics};

use crate::request::{Asked, FOLDER, Request};
use crate::runs::{self, Share};

/// A report.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The page.
    pub(crate) html: String,
    /// Reasons why figures were left out.
    pub(crate) notes: Vec<String>,
}

/// Simulates all runs of a request and returns their report. `show` gets the share that is done and
/// the name of the current run.
pub(crate) fn report(request: &Request, show: &mut dyn FnMut(f64, &str)) -> Result<Report, String> {
    let asked = request.comparison()?;
    let all = asked.runs();
    let mut share = Share::new(all.len(), show);
    let (mut finished, mut folders) = (Vec::new(), Vec::new());
    for &run in &all {
        // The report draws one run of each policy.
        let ended = if run.seed == all[0].seed {
            let (ended, texts) = runs::run_with_files(&asked, run, Path::new(FOLDER), &mut share)?;
            folders.push(texts);
            ended
        } else {
            runs::run(&asked, run, &mut share)?
        };
        finished.push(ended.finished);
    }
    let mut results = Vec::new();
    if all.len() > 1 {
        folders.insert(0, comparison(&asked, &finished)?);
    }
    for texts in folders {
        let files = ResultFiles::in_memory(Path::new(FOLDER), texts);
        results.extend(Results::of(files).map_err(|error| error.to_string())?);
    }
    draw(request, &asked, &results)
}

/// Returns the files of the comparison of all runs.
fn comparison(asked: &Asked, finished: &[Finished]) -> Result<BTreeMap<String, String>, String> {
    let summaries: Vec<&Summary> = finished.iter().map(|it| &it.summary).collect();
    let metrics = RunNumbers::FABRIC_METRICS;
    let numbers = RunNumbers::of_summaries(&summaries, metrics);
    let statistics = Statistics::of(metrics, &numbers, None, &asked.planned());
    let statistics = statistics.with_reasons(finished);
    let all = AllRuns { reasons: statistics.reasons.clone(), ..AllRuns::of(summaries) };
    let runs = serde_json::to_string(&all).map_err(|error| error.to_string())?;
    let table = comparison_csv(&statistics).map_err(|error| error.to_string())?;
    Ok([(RUNS, runs), (STATISTICS, table)].map(|(name, text)| (name.to_owned(), text)).into())
}

fn draw(request: &Request, asked: &Asked, results: &[Results]) -> Result<Report, String> {
    let (figures, notes) =
        plot::figures(results, &Figures::default()).map_err(|error| error.to_string())?;
    let reproduce = Some(request.commands(&asked.planned()));
    let text = PageText { reproduce, ..PageText::default() };
    let html = page(results, &figures, &text).map_err(|error| error.to_string())?;
    Ok(Report { html, notes })
}
