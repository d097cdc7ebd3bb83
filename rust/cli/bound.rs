//! `evenkeel bound`: what no policy can beat.

use std::path::PathBuf;

use clap::Args;
use evenkeel::report::human;
use evenkeel::scenario::Overrides;
use evenkeel::study;
use serde::Serialize;

use super::{SCENARIO_HELP, Status, output, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel bound scenario.toml
  evenkeel bound scenario.toml --json | jq .bound_ns
";

/// Compute the lower bound of a scenario's completion time, without a simulation
///
/// The bound is the largest of several closed forms (idle paths, host links, cuts of the fabric,
/// chains of dependent messages); the output names the one it is. rho_max is the largest load,
/// as a share of the hosts' line rate, that the fabric carries when every flow is divided evenly
/// over its equal-cost paths.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub struct Arguments {
    /// The scenario's file
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// Draw the workload from this seed in place of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed {
    scenario: String,
    bound_ns: f64,
    rho_max: f64,
}

/// Computes and prints it.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let overrides = Overrides { policy: None, seed: arguments.seed };
    let scenario = scenario::load(&arguments.scenario, &overrides)?;
    let bound = study::lower_bound(&scenario.setup());
    let bound_ns = bound.time.as_ns_f64();
    if arguments.json {
        let printed = Printed { scenario: scenario.name, bound_ns, rho_max: bound.rho_max };
        output::print_json(&printed)?;
    } else {
        output::print(&format!(
            "scenario  {} (seed {})\nbound     {} ({bound_ns} ns), by {}\nrho_max   {:.4}\n",
            scenario.name,
            scenario.seed,
            human::span(bound.time),
            bound.binding,
            bound.rho_max
        ))?;
    }
    Ok(Status::Done)
}
