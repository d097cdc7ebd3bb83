//! `evenkeel bound`: computes a lower bound for a scenario.

use clap::Args;
use evenkeel_study::report::human;
use evenkeel_study::{self as study, BoundSummary};

use super::arguments::ScenarioArguments;
use super::{SCENARIO_HELP, Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel bound scenario.toml
  evenkeel bound scenario.toml --json | jq .bound_ns
";

/// Compute a lower bound of a scenario's completion time without simulating
///
/// The bound is the largest of several closed forms: idle paths, host links, cuts of the fabric,
/// and chains of dependent messages. The output names the one that applies. The policy matters only
/// by how it may split messages.
///
/// rho_max is the largest rate that the fabric carries for every message at once, as a fraction of
/// the hosts' line rate. Every message is divided evenly over its equal-cost paths. It is 1 for a
/// permutation. It is 1/255 = 0.0039 for a non-blocking all-to-all among 256 hosts, because 255
/// messages share a host's link.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Computes and prints the bound.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let scenario = arguments.scenario.load(None)?;
    let bound = study::lower_bound(&scenario.setup());
    let bound_ns = bound.time.as_ns_f64();
    if arguments.json {
        output::print_json(&BoundSummary::new(scenario.name, &bound))?;
    } else {
        output::print_text(&format!(
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
