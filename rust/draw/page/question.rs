//! The question that results answer, if the user does not provide one.

use crate::report::human;
use crate::results::{Results, RunFolder};

/// Returns a question generated from the results.
pub(super) fn of(results: &[Results], runs: &[&RunFolder]) -> String {
    let Some(first) = runs.first() else { return of_studies(results) };
    let mut policies: Vec<&str> = Vec::new();
    for run in runs {
        if !policies.contains(&run.policy()) {
            policies.push(run.policy());
        }
    }
    let fabric = match (first.metric("hosts"), first.metric("links")) {
        (Some(hosts), Some(links)) => format!(
            " on {} and {}",
            human::plural(hosts as u64, "host"),
            human::plural(links as u64, "link")
        ),
        _ => String::new(),
    };
    let failures = match first.disturbances().unwrap_or_default().as_slice() {
        [] => String::new(),
        [one] => format!(", when {} is {}", one.link, one.kind),
        more => format!(", when {} links fail", more.len()),
    };
    let scenario = first.scenario();
    match policies[..] {
        [policy] => {
            format!("How long does {scenario} take with {policy}{fabric}{failures}?")
        }
        _ => {
            let last = policies.pop().unwrap_or_default();
            let others = policies.join(", ");
            format!("How do {others} and {last} compare in {scenario}{fabric}{failures}?")
        }
    }
}

fn of_studies(results: &[Results]) -> String {
    let names: Vec<&str> = results
        .iter()
        .filter_map(|it| if let Results::Studies(tables) = it { Some(tables) } else { None })
        .flatten()
        .map(|study| study.name.as_str())
        .collect();
    match names[..] {
        [] => "How do the policies compare?".to_owned(),
        [name] => format!("What does the study {name} show?"),
        _ => format!("What do the studies {} show?", names.join(", ")),
    }
}
