//! `evenkeel explain`: explains keys and names of scenarios.

use clap::Args;

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel explain failure.convergence
  evenkeel explain ecn
  evenkeel explain reps
  evenkeel explain packets.dropped
";

/// Explain a key of a scenario, a name in one, or a metric of results
///
/// KEY is a key with or without its section (`switch.ecn.step`, `step`), a section (`record`), or a
/// parameter (`policy.evs`). It may also be the name of a policy, congestion control, loss recovery
/// or collective, or a metric (`cct_ns`). docs/scenario.md lists all keys.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Key or name to explain
    key: String,
}

/// Prints every key and name that the word may refer to.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    output::print(&evenkeel_study::explain(&arguments.key)?.join("\n"))?;
    Ok(Status::Done)
}
