//! `evenkeel qps`: the number of queue pairs of a scenario.

use clap::Args;
use evenkeel::report::{Qps, human};
use evenkeel::study;
use serde::Serialize;

use super::arguments::{PolicyArgument, ScenarioArguments};
use super::{SCENARIO_HELP, Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel qps scenario.toml
  evenkeel qps scenario.toml --policy subflow-8
  evenkeel qps scenario.toml --json | jq .qps.per_nic_max
";

/// Count the queue pairs that a scenario's messages need, without a simulation
///
/// A queue pair is counted at the NIC that sends on it: one for each receiver and message stream,
/// and the extra ones that the policy's splitter opens. A run in which no path fails has the same
/// counts. Contexts are counted at both ends.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCENARIO_HELP}"))]
pub(super) struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    #[command(flatten)]
    policy: PolicyArgument,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Printed {
    scenario: String,
    policy: String,
    qps: Qps,
}

/// Counts the queue pairs and prints them.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let scenario = arguments.scenario.load(Some(&arguments.policy))?;
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
