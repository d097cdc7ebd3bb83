//! A report of results: one HTML page that loads nothing from the network.
//!
//! The page begins with the question, its answer in a sentence, and one chart. Below are the table
//! of policies, the fabric with its failures, the other charts, single runs, the scenario, and the
//! commands that reproduce it. Its numbers come from the files. They have full precision in the
//! `data-value` of cells and in the JSON of the charts. Charts are drawn by uPlot
//! (`assets/uPlot-LICENSE.txt`), which is embedded in the page.

mod answer;
mod charts;
mod fabric;
mod html;
mod policies;
mod question;
mod request;
mod runs;
mod tables;
mod words;

use html::{escape, skip};
pub use request::{PageError, PageRequest, WrittenPage};
use runs::shell_words;

use crate::plot::{Drawing, Figure};
use crate::report::VERSION;
use crate::results::{Results, ResultsError, RunFolder, Standings};

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");
const CHARTS_STYLE: &str = include_str!("assets/uPlot.min.css");
const CHARTS_SCRIPT: &str = include_str!("assets/uPlot.iife.min.js");
const CHARTS_LICENCE: &str = include_str!("assets/uPlot-LICENSE.txt");

/// The start of the generator tag of every page, up to the version.
const GENERATOR: &str = "<meta name=\"generator\" content=\"evenkeel ";

/// Returns true if a file that starts with these bytes is a page of results.
pub fn is_page(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    text.starts_with("<!DOCTYPE html>") && text.contains(GENERATOR)
}

/// Texts of the page that do not come from the results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageText {
    /// The question that the results answer; generated from the results if `None`.
    pub question: Option<String>,
    /// The command that writes the page.
    pub command: String,
    /// All commands that reproduce the page; those of the folders and `command` if `None`.
    pub reproduce: Option<String>,
    /// The metric that the answer ranks by: `cct_ns` if `None`.
    pub metric: Option<String>,
}

/// Number of tab stops in a section from which on a link leads over them.
const MAX_STOPS: usize = 5;

/// A section of the page.
struct Section {
    id: &'static str,
    title: &'static str,
    content: String,
}

/// Returns the page of results and their figures.
///
/// # Errors
/// Fails if a file of the results is missing or invalid.
pub fn page(
    results: &[Results],
    figures: &[Figure],
    text: &PageText,
) -> Result<String, ResultsError> {
    let runs: Vec<&RunFolder> = results
        .iter()
        .filter_map(|it| if let Results::Run(run) = it { Some(&**run) } else { None })
        .collect();
    let metric = text.metric.as_deref().unwrap_or("cct_ns");
    let standings = standings(results, metric)?;
    let generated = || question::of(results, &runs, &standings);
    let question = text.question.clone().unwrap_or_else(generated);
    let figures = charts::answer_first(figures);
    let answer = answer(&standings, metric) + &charts::first(&figures);
    let mut sections = vec![Section { id: "answer", title: "Answer", content: answer }];
    let mut add = |id, title, content: Option<String>| {
        sections.extend(content.map(|content| Section { id, title, content }));
    };
    add("results", "Comparison", comparison(&standings, metric));
    add("fabric", "Fabric", fabric::section(results, &runs)?);
    add("charts", "Charts", charts::others(&figures));
    add("runs", "Runs", tables::single_runs(results)?);
    add("scenario", "Scenario", runs::scenarios(results, &runs));
    add("again", "Reproduce", Some(runs::commands(results, text)));
    Ok(document(&question, &sections, &charts::data(&figures)))
}

/// Ranks the policies of all results.
fn standings(results: &[Results], metric: &str) -> Result<Vec<Standings>, ResultsError> {
    let mut all = Vec::from_iter(Standings::of_runs(&Results::single_runs(results), metric));
    for result in results {
        match result {
            Results::Run(_) => {}
            Results::Comparison(comparison) => all.extend(comparison.standings(metric)),
            Results::Studies(studies) => {
                for study in studies {
                    all.extend(study.standings(metric)?);
                }
            }
        }
    }
    Ok(all)
}

/// Returns the sentence on the first results. With others, it names its subject.
fn answer(standings: &[Standings], metric: &str) -> String {
    let Some(first) = standings.first() else { return String::new() };
    let sentence = escape(&answer::sentence(first, metric));
    let more = match standings.len() {
        1 => String::new(),
        count => {
            let subject = escape(of_subject(first));
            format!(
                "<p class=\"hint\">This is of {subject}, the first of {count} comparisons \
                 <a href=\"#results\">below</a>.</p>\n"
            )
        }
    };
    format!("<p class=\"answer\">{sentence}</p>\n{more}")
}

fn of_subject(of: &Standings) -> &str {
    if of.subject.is_empty() { "the comparison" } else { &of.subject }
}

/// Returns the tables of policies. With several, each has its sentence; `None` without tables.
fn comparison(standings: &[Standings], metric: &str) -> Option<String> {
    let mut text = String::new();
    for of in standings {
        let table = policies::section(of, metric);
        if standings.len() > 1 {
            let (subject, sentence) =
                (escape(of_subject(of)), escape(&answer::sentence(of, metric)));
            text += &format!("<h3>{subject}</h3>\n<p>{sentence}</p>\n");
        }
        text += &table;
    }
    (!text.is_empty()).then_some(text)
}

/// Returns true if the figure is a chart, which the script draws.
fn is_chart(figure: &Figure) -> bool {
    matches!(figure.drawing, Drawing::Chart(_))
}

fn document(question: &str, sections: &[Section], data: &str) -> String {
    let links: String = sections
        .iter()
        .map(|Section { id, title, .. }| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    let body: String = sections
        .iter()
        .enumerate()
        .map(|(index, Section { id, title, content })| {
            let stops = ["tabindex=\"0\"", "<button"].map(|stop| content.matches(stop).count());
            let has_many = stops.iter().sum::<usize>() > MAX_STOPS;
            let next = match sections.get(index + 1).filter(|_| has_many) {
                Some(next) => skip(next.id, &format!("Skip to {}", next.title)),
                None => String::new(),
            };
            format!(
                "<section id=\"{id}\" tabindex=\"-1\" aria-labelledby=\"{id}-title\">\n\
                 <h2 id=\"{id}-title\">{title}</h2>\n{next}{content}</section>\n"
            )
        })
        .collect();
    let question = escape(question);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         {GENERATOR}{VERSION}\">\n\
         <title>{question}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{CHARTS_STYLE}\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the results</a>\n\
         <header>\n<p class=\"kind\">Report of evenkeel {VERSION}</p>\n<h1>{question}</h1>\n\
         <nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n</header>\n\
         <main id=\"main\">\n{body}</main>\n\
         <footer><p>Written by evenkeel {VERSION} from the files of its runs; nothing on this page \
         is loaded from elsewhere.</p></footer>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <!-- uPlot:\n{CHARTS_LICENCE}-->\n<script>{CHARTS_SCRIPT}</script>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}
