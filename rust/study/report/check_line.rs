//! Line of `evenkeel check` for a valid scenario: its size and its policy.

use super::human;
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
    format!(
        ", about {} and {}",
        human::bytes(run.memory.get() as f64),
        human::seconds(run.cpu.as_secs_f64())
    )
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
