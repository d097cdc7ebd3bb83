//! `evenkeel list`: the names that scenarios and options accept, with their sources.

use anyhow::bail;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use evenkeel_study::{Listing, categories, category_table};

use super::{Status, guesses, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel list
  evenkeel list policies
  evenkeel list policies --guesses
  evenkeel list collectives
  evenkeel list topologies
  evenkeel list workloads
  evenkeel list models
  evenkeel list allocators
  evenkeel list congestion-controls
  evenkeel list recoveries
  evenkeel list formats
  evenkeel list policies --json | jq -r '.entries[].name'
";

/// List the names a scenario can use: policies, collectives, topologies, congestion controls, ...
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Category to list; by default the categories
    #[arg(value_parser = names())]
    what: Option<String>,

    /// With policies: list what the public sources of MRC leave open, and the keys that decide it
    #[arg(long)]
    guesses: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn names() -> PossibleValuesParser {
    let value = |listing: Listing| PossibleValue::new(listing.name).help(listing.about);
    PossibleValuesParser::new(Listing::ALL.map(value))
}

/// Prints a table of the names of the category, with summaries and sources.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let what = arguments.what.as_deref();
    if arguments.guesses && what != Some("policies") {
        bail!("--guesses applies only to policies; use evenkeel list policies --guesses");
    }
    let listing = what.and_then(Listing::find);
    if arguments.json {
        let mut summary = listing.map_or_else(categories, |listing| listing.summary());
        summary.guesses = arguments.guesses.then(guesses::questions).transpose()?;
        output::print_json(&summary)?;
        return Ok(Status::Done);
    }
    let text = match listing {
        Some(_) if arguments.guesses => guesses::table()?,
        Some(listing) => listing.table(),
        None => category_table(),
    };
    output::print(&text)?;
    Ok(Status::Done)
}
