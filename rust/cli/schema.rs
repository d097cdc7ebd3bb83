//! `evenkeel schema`: the JSON Schema of scenarios and of studies.

use clap::{Args, ValueEnum};
use evenkeel::{scenario, study};

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel schema > scenario.schema.json
  evenkeel schema study > study.schema.json

Editors with a TOML language server (Even Better TOML, Taplo) complete keys and show
their meaning in a scenario whose first line is
  #:schema ./scenario.schema.json
and in a study, of `evenkeel sweep` or `evenkeel reproduce`, whose first line is
  #:schema ./study.schema.json
";

/// Print the JSON Schema of scenarios or of studies, from which editors complete
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The format
    #[arg(value_enum, default_value_t = Format::Scenario)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Of `run`, `compare` and all commands that take a scenario
    Scenario,
    /// Of `sweep` and `reproduce`
    Study,
}

/// Prints the schema.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let schema = match arguments.format {
        Format::Scenario => scenario::schema(),
        Format::Study => study::reproduce::schema(),
    };
    output::print(&format!("{}\n", serde_json::to_string_pretty(&schema)?))?;
    Ok(Status::Done)
}
