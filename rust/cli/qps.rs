//! `evenkeel qps`: queue pairs, counted without a simulation.

use std::path::PathBuf;

use clap::Args;
use evenkeel::report::{Qps, human};
use evenkeel::scenario::Overrides;
use evenkeel::study;
use serde::Serialize;

use super::{SCENARIO_HELP, Status, output, scenario};

const EXAMPLES: &str = "\
Examples:
  evenkeel qps scenario.toml
  evenkeel qps scenario.toml --policy subflow-8
  evenkeel qps scenario.toml --json | jq .qps.per_nic_max
";

/// Count the queue pairs that a scenario's messages need, without a simulation
///
/// A queue pair is counted at the NIC that sends on it: one for each receiver and message stream,
/// and those that the policy's splitter asks for beyond (extra). A run in which no path fails
/// counts the same. Contexts are counted at both ends.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub struct Arguments {
    /// The scenario's file
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// Count for this policy in place of the scenario's
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Draw from this seed in place of the scenario's
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
    policy: String,
    qps: Qps,
}

/// Counts and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let overrides = Overrides { policy: arguments.policy.clone(), seed: arguments.seed };
    let scenario = scenario::load(&arguments.scenario, &overrides)?;
    scenario.expect_known()?;
    let setup = scenario.setup();
    let found = study::queue_pairs(&setup);
    let counts = found.counts;
    if arguments.json {
        let policy = setup.scheme.name.to_owned();
        let printed = Printed { scenario: scenario.name, policy, qps: counts.into() };
        output::print_json(&printed)?;
        return Ok(Status::Done);
    }
    output::print(&format!(
        "scenario  {} ({}, {} NICs)\n\
         QPs       {} at most in a NIC, {:.1} on average, {} in all\n\
         extra     {} at most in a NIC, {} in all\n\
         contexts  {} at most in a NIC, both ends counted: {}\n",
        scenario.name,
        setup.scheme.name,
        setup.topology.host_count(),
        counts.per_nic_max,
        found.per_nic_mean,
        counts.total,
        counts.extra_per_nic_max,
        counts.extra_total,
        found.both_ends_max,
        human::bytes(found.context_bytes.get() as f64),
    ))?;
    Ok(Status::Done)
}
