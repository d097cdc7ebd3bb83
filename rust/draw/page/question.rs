//! The question that results answer, if the user does not provide one.

use super::words::{joined, short};
use crate::report::human;
use crate::results::{FabricFacts, Results, RunFolder, Standings};

/// Returns the title of the study, or a question generated from the results.
pub(super) fn of(results: &[Results], runs: &[&RunFolder], standings: &[Standings]) -> String {
    if let Some(title) = title(results) {
        return title;
    }
    let Some(first) = standings.first() else { return "How long do the runs take?".to_owned() };
    let (fabric, failures) = match runs.first() {
        Some(run) => (of_run(run), run.disturbances().unwrap_or_default()),
        None => of_fabrics(results),
    };
    let failures = match failures.as_slice() {
        [] => String::new(),
        [one] => format!(", when {} is {}", one.link, one.kind),
        more => format!(", when {} links fail", more.len()),
    };
    let subject = if first.subject.is_empty() { "it" } else { &first.subject };
    let over = match &first.keys[..] {
        [] => String::new(),
        keys => {
            let keys: Vec<&str> = keys.iter().map(|key| short(key)).collect();
            format!(" over {}", joined(&keys))
        }
    };
    // The folder of a sweep rarely has a telling name.
    let within = match over.is_empty() && !first.subject.is_empty() {
        true => format!(" in {subject}"),
        false => over.clone(),
    };
    match first.policies()[..] {
        [] | [""] => format!("How long does {subject} take{over}{fabric}{failures}?"),
        [policy] => format!("How long does {subject} take with {policy}{over}{fabric}{failures}?"),
        ref policies => {
            format!("How do {} compare{within}{fabric}{failures}?", joined(policies))
        }
    }
}

/// Returns the title of the only study.
fn title(results: &[Results]) -> Option<String> {
    let [Results::Studies(studies)] = results else { return None };
    let [study] = &studies[..] else { return None };
    (!study.title.is_empty()).then(|| study.title.clone())
}

/// Returns the size of a run's fabric in words.
fn of_run(run: &RunFolder) -> String {
    match (run.metric("hosts"), run.metric("links")) {
        (Some(hosts), Some(links)) => on(hosts as u64, links as u64),
        _ => String::new(),
    }
}

fn on(hosts: u64, links: u64) -> String {
    format!(", on {} and {}", human::plural(hosts, "host"), human::plural(links, "link"))
}

/// Returns the size and the failures of the only fabric of the results.
fn of_fabrics(results: &[Results]) -> (String, Vec<crate::results::Disturbance>) {
    let fabrics = match results {
        [Results::Comparison(comparison)] => comparison.fabrics(),
        [Results::Studies(studies)] if studies.len() == 1 => studies[0].fabrics(),
        _ => Vec::new(),
    };
    match &fabrics[..] {
        [FabricFacts { hosts, links, failures, .. }] => (on(*hosts, *links), failures.clone()),
        _ => (String::new(), Vec::new()),
    }
}
