//! Lines of `evenkeel check`: the size of a scenario or a study, and its estimated cost.

use super::human;
use crate::reproduce::StudyForecast;
use crate::scenario::{RailScenario, Scenario};

/// Returns the line of `evenkeel check` for the valid scenario `name`.
pub fn check_line(name: &str, scenario: &Scenario) -> String {
    let topology = &scenario.topology;
    let switches = match topology.switches().len() {
        1 => "1 switch".to_owned(),
        count => format!("{count} switches"),
    };
    let jobs = match scenario.workload.jobs.len() {
        0 => String::new(),
        count => format!(" in {count} jobs"),
    };
    let own = scenario.job_policies.iter().map(|own| {
        let name = &scenario.workload.jobs[own.job].name;
        format!(", policy {} for {name}", own.scheme.name)
    });
    format!(
        "{name}: ok ({}, {switches}, {}, {}{jobs}, policy {}{}{})",
        human::plural(u64::from(topology.host_count()), "host"),
        human::plural(topology.links().len() as u64, "link"),
        human::plural(scenario.messages(), "message"),
        scenario.scheme.name,
        own.collect::<String>(),
        effort(scenario)
    )
}

/// Returns the estimated memory and time of the run; empty if there is no estimate.
fn effort(scenario: &Scenario) -> String {
    let Some(run) = crate::estimate_scenario(scenario) else { return String::new() };
    let (memory, time) = (human::bytes(run.memory.get() as f64), human::duration(run.cpu));
    format!(", about {memory} and {time}")
}

/// Returns the line of `evenkeel check` for a study: its points, its runs, and their cost.
pub fn study_check_line(name: &str, forecast: &StudyForecast) -> String {
    let StudyForecast { points, runs, invalid, not_estimated, memory, cpu } = forecast;
    let verdict = match invalid.len() {
        0 => "ok".to_owned(),
        count => format!("{count} of its points cannot run"),
    };
    let cost = match memory.get() {
        0 => String::new(),
        memory => {
            let (memory, time) = (human::bytes(memory as f64), human::duration(*cpu));
            format!(", about {memory} for the largest and {time} for all on one core")
        }
    };
    let without = match not_estimated {
        0 => String::new(),
        count => format!(", without an estimate for {}", human::plural(*count as u64, "point")),
    };
    let points = human::plural(*points as u64, "point");
    let runs = human::plural(*runs as u64, "run");
    format!("{name}: {verdict} (study, {points}, {runs}{cost}{without})")
}

/// Returns the line of `evenkeel check` for a scenario with several rails.
pub fn rails_check_line(name: &str, scenario: &RailScenario) -> String {
    let setup = &scenario.setup;
    format!(
        "{name}: ok ({} hosts, {}, {}, policy {})",
        setup.ranks,
        human::plural(setup.rails.len() as u64, "rail"),
        human::plural(setup.operations.len() as u64, "all-reduce"),
        scenario.file.policy.name
    )
}
