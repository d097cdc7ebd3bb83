//! `evenkeel schema`: prints the JSON Schemas of scenarios, studies and all outputs.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use evenkeel_scenario as scenario;
use evenkeel_study as study;
use evenkeel_study::report::{OUTPUT_SCHEMAS, OutputSchema};

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel schema > scenario.schema.json
  evenkeel schema study > study.schema.json
  evenkeel schema run > run.schema.json
  check-jsonschema --schemafile run.schema.json results/summary.json

Editors with a TOML language server (Even Better TOML, Taplo) complete keys and show
their meaning in a scenario whose first line is
  #:schema ./scenario.schema.json
and in a study, of `evenkeel sweep` or `evenkeel reproduce`, whose first line is
  #:schema ./study.schema.json
docs/results.md lists the schema of each file.
";

/// Print the JSON Schema of scenarios or studies, for completion in editors, or of an output
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Format to describe
    #[arg(value_name = "FORMAT", default_value = SCENARIO, value_parser = formats())]
    format: String,
}

/// Name of scenarios in this command.
const SCENARIO: &str = "scenario";

/// Name of studies in this command.
const STUDY: &str = "study";

fn formats() -> PossibleValuesParser {
    let value = |(name, of): (&'static str, &'static str)| PossibleValue::new(name).help(of);
    let read = [
        (SCENARIO, "Scenario of `run`, `compare` and other commands"),
        (STUDY, "Study of `sweep` and `reproduce`"),
    ];
    let written = OUTPUT_SCHEMAS.iter().map(|output| (output.name, output.of));
    PossibleValuesParser::new(read.into_iter().chain(written).map(value))
}

/// Prints the schema.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let written = OUTPUT_SCHEMAS.iter().find(|output| output.name == arguments.format);
    let schema = match (arguments.format.as_str(), written) {
        (_, Some(output)) => OutputSchema::schema(output),
        (STUDY, None) => study::reproduce::schema(),
        (_, None) => scenario::schema(),
    };
    output::print(&format!("{}\n", serde_json::to_string_pretty(&schema)?))?;
    Ok(Status::Done)
}
