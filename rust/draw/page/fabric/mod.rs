//! The fabrics of the results: their sizes, their failures, and for single runs the load of each
//! link.

mod drawing;

use super::html::{escape, number_cell, skip, table};
use crate::report::human;
use crate::results::{
    Disturbance, FabricFacts, FabricGraph, LinkLoad, Results, ResultsError, RunFolder,
};
use drawing::drawing;

/// Maximum number of links in a drawing. The load of larger fabrics is shown by the heat map.
const MAX_LINKS: usize = 1_200;
/// Maximum number of listed fabrics of a study.
const MAX_FABRICS: usize = 8;
/// Maximum number of rows in the table of links.
const MAX_LISTED: usize = 24;

/// Returns the fabrics of studies and comparisons, and a drawing for each run; `None` if nothing is
/// known of them.
pub(super) fn section(
    results: &[Results],
    runs: &[&RunFolder],
) -> Result<Option<String>, ResultsError> {
    let mut text = String::new();
    for result in results {
        match result {
            Results::Comparison(comparison) => text += &fabrics(&comparison.fabrics()),
            Results::Studies(studies) => {
                text.extend(studies.iter().map(|study| fabrics(&study.fabrics())));
            }
            Results::Run(_) => {}
        }
    }
    let mut drawn: Vec<&RunFolder> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let loads = run.links()?;
        // Runs with one seed differ in their settings.
        let is_alike = |it: &&RunFolder| {
            it.scenario() == run.scenario()
                && it.policy() == run.policy()
                && it.seed() != run.seed()
        };
        if !loads.is_empty() && !drawn.iter().any(is_alike) {
            drawn.push(run);
            text += &of_run(run, &loads, index);
        }
    }
    let others = runs.len() - drawn.len();
    if others > 0 && !drawn.is_empty() {
        let others = human::plural(others as u64, "run");
        text += &format!("<p class=\"hint\">Under other seeds: {others}, not drawn.</p>\n");
    }
    Ok((!text.is_empty()).then_some(text))
}

/// Lists fabrics with their failures.
fn fabrics(all: &[FabricFacts]) -> String {
    let item = |of: &FabricFacts| format!("<p>{}</p>\n{}", size(of), failures(&of.failures));
    let text: String = all.iter().take(MAX_FABRICS).map(item).collect();
    match all.len() {
        count if count > MAX_FABRICS => {
            text + &format!("<p>and {} other fabrics</p>\n", count - MAX_FABRICS)
        }
        _ => text,
    }
}

/// Returns the size of a fabric in words.
fn size(of: &FabricFacts) -> String {
    format!(
        "{}, {} switch{} and {}{}",
        human::plural(of.hosts, "host"),
        of.switches,
        if of.switches == 1 { "" } else { "es" },
        human::plural(of.links, "link"),
        if of.failures.is_empty() { ", without failures" } else { ". Failures:" }
    )
}

fn of_run(run: &RunFolder, loads: &[LinkLoad], index: usize) -> String {
    let graph = FabricGraph::of(loads);
    let (failed, unknown) = match run.disturbances() {
        Ok(failed) => (failed, None),
        Err(error) => (Vec::new(), run.scenario_text().map(|_| error.to_string())),
    };
    let name = format!("{}, {}, seed {}", run.scenario(), run.policy(), run.seed());
    let end = format!("fabric-end-{index}");
    let drawing = match graph.links.len() > MAX_LINKS {
        true => format!(
            "<p>The fabric has too many links to draw ({}); see the heat map below.</p>\n",
            graph.links.len()
        ),
        false => skip(&end, "Skip the links of the drawing") + &drawing(&graph, &failed, &name),
    };
    let unknown = unknown.map_or_else(String::new, |reason| {
        format!("<p class=\"bad\">The failures are unknown: {}</p>\n", escape(&reason))
    });
    let switches = graph.nodes.iter().filter(|node| node.tier > 0).count();
    let count = |key: &str, drawn: usize| run.metric(key).map_or(drawn as u64, |it| it as u64);
    let facts = FabricFacts {
        hosts: count("hosts", graph.nodes.len() - switches),
        switches: count("switches", switches),
        links: count("links", graph.links.len()),
        failures: failed,
    };
    let size = if unknown.is_empty() { size(&facts) } else { String::new() };
    let (name, failures, links) = (escape(&name), failures(&facts.failures), links(loads));
    let open = if index == 0 { " open" } else { "" };
    format!(
        "<details{open}><summary>{name}</summary>\n<p>{size}</p>\n{unknown}{failures}{drawing}\
         <div id=\"{end}\" tabindex=\"-1\">{links}</div></details>\n"
    )
}

/// Returns the list of failures.
fn failures(failed: &[Disturbance]) -> String {
    let items: String = failed
        .iter()
        .take(MAX_LISTED)
        .map(|it| {
            let until = it.until_ns.map_or("until the end".to_owned(), |until| {
                format!("until {}", human::nanoseconds(until))
            });
            let (link, from) = (escape(&it.link), human::nanoseconds(it.at_ns));
            format!("<li><strong>{link}</strong> {}: from {from} {until}</li>", it.kind)
        })
        .collect();
    match (items.is_empty(), failed.len()) {
        (true, _) => String::new(),
        (false, count) if count > MAX_LISTED => {
            format!("<ul class=\"failures\">{items}<li>and {} more</li></ul>\n", count - MAX_LISTED)
        }
        _ => format!("<ul class=\"failures\">{items}</ul>\n"),
    }
}

/// Returns the table of the links with the most bytes.
fn links(loads: &[LinkLoad]) -> String {
    let mut sorted: Vec<&LinkLoad> = loads.iter().collect();
    sorted.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    let rows: Vec<String> = sorted
        .iter()
        .take(MAX_LISTED)
        .map(|load| {
            let (from, to) = (escape(&load.from), escape(&load.to));
            let ends = format!("<th scope=\"row\">{from} to {to}</th>");
            ends + &number_cell(Some(load.bytes), human::bytes)
                + &number_cell(load.queue_bytes_max, human::bytes)
                + &number_cell(load.marked, human::count)
        })
        .collect();
    let caption = match loads.len() > MAX_LISTED {
        true => format!(
            "The {MAX_LISTED} of {} link directions that carried the most bytes",
            loads.len()
        ),
        false => "Link directions by bytes carried".to_owned(),
    };
    let columns = ["link", "carried", "longest queue", "marked"];
    let table = table(&caption, &columns, &rows);
    format!("<details><summary>Show numbers</summary>\n{table}</details>\n")
}
