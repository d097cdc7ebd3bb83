//! `evenkeel qps`: counts the queue pairs of a scenario.

use clap::Args;
use evenkeel_engine::fabric::Verdict;
use evenkeel_study::report::human;
use evenkeel_study::{self as study, CountMethod, QpsSummary};

use super::arguments::{PolicyArgument, ScenarioArguments};
use super::progress::Bars;
use super::{SCENARIO_HELP, Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel qps scenario.toml
  evenkeel qps scenario.toml --policy subflow-8
  evenkeel qps scenario.toml --json | jq .qps.per_nic_max
";

/// Count the queue pairs that a scenario opens
///
/// A queue pair is counted at the sending NIC: one per receiver and message stream, plus those that
/// the policy's splitter opens. Contexts are counted at both ends. The counts equal those of a run.
/// Most policies need no simulation. With one queue pair per flow (ethereal, line-cut), the number
/// depends on which flows overlap, and the scenario is simulated.
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

/// Counts the queue pairs and prints them.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let scenario = arguments.scenario.load(Some(&arguments.policy))?;
    scenario.expect_known()?;
    let setup = scenario.setup();
    let bars = Bars::of_one();
    let bar = bars.start(setup.scheme.name.to_owned());
    let found = study::queue_pairs(&setup, &mut |progress| bar.update(progress));
    bar.end();
    let counts = found.counts;
    let status = status(&scenario.name, found.method);
    if arguments.json {
        output::print_json(&QpsSummary::new(scenario.name, &setup, &found))?;
        return Ok(status);
    }
    output::print_text(&format!(
        "scenario  {} ({}, {} NICs)\n\
         QPs       {} at most per NIC, {:.1} on average, {} in total\n\
         extra     {} at most per NIC, {} in total\n\
         contexts  {} at most per NIC, both ends counted: {}\n",
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
    if let CountMethod::Simulation(_) = found.method {
        output::print_text(&format!(
            "in use    {} at most per NIC at once, {} to one peer (from a simulation)\n",
            counts.in_use_per_nic_max, counts.in_use_per_peer_max,
        ))?;
    }
    Ok(status)
}

/// Reports an incomplete simulation as an error. Returns the status of the command.
fn status(scenario: &str, method: CountMethod) -> Status {
    let reason = match method {
        CountMethod::Messages | CountMethod::Simulation(Verdict::Completed) => return Status::Done,
        CountMethod::Simulation(Verdict::Stalled) => "stalled",
        CountMethod::Simulation(Verdict::TimeLimit) => "reached its time limit",
    };
    output::error(&format!(
        "the simulation of {scenario} {reason}; its queue pairs are counted up to then"
    ));
    Status::Incomplete
}
