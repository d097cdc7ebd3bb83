//! `evenkeel explain`: explains keys and names of scenarios.

use clap::Args;
use evenkeel_study::report::CheckError;
use evenkeel_study::{ExplainSummary, Explanation};

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel explain failure.convergence
  evenkeel explain ecn
  evenkeel explain reps
  evenkeel explain packets.dropped
  evenkeel explain policy.evs --json | jq '.entries[0].maximum'
";

/// Explain a key of a scenario, a name in one, or a metric of results
///
/// KEY is a key with or without its section (`switch.ecn.step`, `step`), a section (`record`), or a
/// parameter (`policy.evs`). It may also be a name of `evenkeel list`, such as a policy, or a
/// metric (`cct_ns`). docs/scenario.md lists all keys.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Key or name to explain
    key: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints every key and name that the word may refer to.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let word = arguments.key.clone();
    let found = evenkeel_study::explain(&word);
    if !arguments.json {
        let texts: Vec<String> = found?.iter().map(Explanation::to_string).collect();
        output::print(&texts.join("\n"))?;
        return Ok(Status::Done);
    }
    let (entries, errors) = match found {
        Ok(entries) => (entries, Vec::new()),
        Err(error) => {
            output::error(&error.to_string());
            (Vec::new(), vec![CheckError::from(error)])
        }
    };
    let status = if errors.is_empty() { Status::Done } else { Status::Invalid };
    output::print_json(&ExplainSummary { word, entries, errors })?;
    Ok(status)
}
