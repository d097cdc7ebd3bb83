//! Scenarios of hosts with several rails, for the commands that take scenarios.

use std::path::Path;

use anyhow::bail;
use evenkeel::multirail::Verdict;
use evenkeel::report::{self, Folder, RailSummary, Writer};
use evenkeel::scenario::{Overrides, RailScenario};
use evenkeel::study;
use serde::Serialize;

use super::{Status, output};

/// What `compare --json` prints.
#[derive(Serialize)]
struct Runs {
    runs: Vec<RailSummary>,
}

/// `evenkeel run`.
pub fn run(
    path: &Path,
    overrides: &Overrides,
    (out, json): (Option<&Path>, bool),
) -> anyhow::Result<Status> {
    let scenario = RailScenario::load(path, overrides)?;
    let folder = out.map(Folder::open).transpose()?;
    let (summary, outcome) = study::run_rails(&scenario)?;
    let verdict = outcome.verdict;
    if let Some(folder) = &folder {
        keep(folder, &scenario, &summary)?;
    }
    if json {
        output::print_json(&summary)?;
    } else {
        output::print(&report::rails_table(&summary))?;
        let place = folder.as_ref().map(|folder| folder.path().display().to_string());
        let place = place.unwrap_or_else(|| "not kept; --out DIR keeps them".to_owned());
        output::print(&format!("\nresults   {place}\n"))?;
    }
    status(&[(summary, verdict)])
}

/// `evenkeel compare`, under one seed.
pub fn compare(
    path: &Path,
    policies: &[String],
    (seed, json): (Option<u64>, bool),
) -> anyhow::Result<Status> {
    let scenarios = policies
        .iter()
        .map(|policy| RailScenario::load(path, &Overrides { policy: Some(policy.clone()), seed }));
    let scenarios = scenarios.collect::<Result<Vec<RailScenario>, _>>()?;
    let mut finished: Vec<(RailSummary, Verdict)> = Vec::new();
    for scenario in &scenarios {
        let (summary, outcome) = study::run_rails(scenario)?;
        finished.push((summary, outcome.verdict));
    }
    let runs: Vec<RailSummary> = finished.iter().map(|(summary, _)| summary.clone()).collect();
    if json {
        output::print_json(&Runs { runs })?;
    } else {
        output::print(&report::rails_compare_table(&runs))?;
    }
    status(&finished)
}

/// `evenkeel check`.
pub fn check(path: &Path) -> anyhow::Result<(String, RailScenario)> {
    let scenario = RailScenario::load(path, &Overrides::default())?;
    let setup = &scenario.setup;
    let line = format!(
        "{}: ok ({} hosts, {}, {}, policy {})",
        path.display(),
        setup.ranks,
        report::human::plural(setup.rails.len() as u64, "rail"),
        report::human::plural(setup.operations.len() as u64, "all-reduce"),
        scenario.file.policy.name
    );
    Ok((line, scenario))
}

fn keep(folder: &Folder, scenario: &RailScenario, summary: &RailSummary) -> anyhow::Result<()> {
    let identity = study::rail_identity(scenario);
    let resolved = format!("{}\n# Resolved.\n\n{}", identity.header(), scenario.render());
    let operations: Writer<'_> = &|to| report::write_operations_csv(to, &identity, summary);
    let timeline: Writer<'_> = &|to| report::write_timeline_csv(to, &identity, summary);
    let toml: Writer<'_> = &|to| to.write_all(resolved.as_bytes());
    let files =
        [("operations.csv", operations), ("timeline.csv", timeline), ("scenario.toml", toml)];
    folder.replace(&files, &|to| {
        serde_json::to_writer(&mut *to, summary)?;
        writeln!(to)
    })?;
    Ok(())
}

/// A sum that is wrong is an error, whatever else there is to say.
fn status(finished: &[(RailSummary, Verdict)]) -> anyhow::Result<Status> {
    if let Some((run, _)) = finished.iter().find(|(run, _)| !run.exact) {
        bail!("{}: under {} a rank had wrong sums: this is a bug", run.scenario, run.policy);
    }
    let mut status = Status::Done;
    for (run, verdict) in finished {
        if *verdict != Verdict::Completed {
            let done = run.operations.iter().filter(|it| it.took_ns.is_some()).count();
            output::warning(&format!(
                "{} under {}: {done} all-reduces completed, then nothing was left to happen or \
                 the time limit came",
                run.scenario, run.policy
            ));
            status = Status::Incomplete;
        }
    }
    Ok(status)
}
