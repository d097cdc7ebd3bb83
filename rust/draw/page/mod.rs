//! A report of results: one HTML page that loads nothing from the network.
//!
//! The page contains the question, a table of runs, the fabric with the load of its links, zoomable
//! charts, the scenario, and the commands that reproduce it. Its numbers come from the files. They
//! have full precision in the `data-value` of cells and in the JSON of the charts. Charts are drawn
//! by uPlot (`assets/uPlot-LICENSE.txt`), which is embedded in the page.

mod charts;
mod fabric;
mod html;
mod question;
mod runs;
mod tables;

use html::escape;
pub use runs::shell_words;

use crate::plot::{Drawing, Figure};
use crate::report::VERSION;
use crate::results::{Results, ResultsError, RunFolder};

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
    let question = text.question.clone().unwrap_or_else(|| question::of(results, &runs));
    let mut sections = vec![("results", "Results", tables::results(results, &runs)?)];
    if let Some(fabrics) = fabric::section(&runs)? {
        sections.push(("fabric", "Fabric", fabrics));
    }
    sections.push(("charts", "Charts", charts::section(figures)));
    if let Some(scenarios) = runs::scenarios(&runs) {
        sections.push(("scenario", "Scenario", scenarios));
    }
    sections.push(("again", "Reproduce", runs::commands(results, &text.command)));
    Ok(document(&question, &sections, &charts::data(figures)))
}

/// Returns true if the figure is a chart, which the script draws.
fn is_chart(figure: &Figure) -> bool {
    matches!(figure.drawing, Drawing::Chart(_))
}

fn document(question: &str, sections: &[(&str, &str, String)], data: &str) -> String {
    let links: String = sections
        .iter()
        .map(|(id, title, _)| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    let body: String = sections
        .iter()
        .map(|(id, title, content)| {
            format!(
                "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n\
                 <h2 id=\"{id}-title\">{title}</h2>\n{content}</section>\n"
            )
        })
        .collect();
    let question = escape(question);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
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
