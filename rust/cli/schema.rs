//! `evenkeel schema`: the JSON Schema of scenarios.

use clap::Args;
use evenkeel::scenario;

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel schema > scenario.schema.json

Editors with a TOML language server (Even Better TOML, Taplo) complete keys and show
their meaning in a scenario whose first line is
  #:schema ./scenario.schema.json
";

/// Print the JSON Schema of scenarios, from which editors complete
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {}

/// Prints the schema.
pub(super) fn run(_: &Arguments) -> anyhow::Result<Status> {
    let text = serde_json::to_string_pretty(&scenario::schema())?;
    output::print(&format!("{text}\n"))?;
    Ok(Status::Done)
}
