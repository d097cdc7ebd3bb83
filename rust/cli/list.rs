//! `evenkeel list`: the names that scenarios and options accept, with their sources.

use anyhow::bail;
use clap::{Args, ValueEnum};
use evenkeel_study::Listing;

use super::{Status, guesses, output};

const EXAMPLES: &str = "\
Examples:
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
";

/// List the names a scenario can use: policies, collectives, topologies, congestion controls, ...
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Category to list
    what: Category,

    /// With policies: list the open questions in the public sources of MRC, the answers that `mrc`
    /// uses, and the keys that select others
    #[arg(long)]
    guesses: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Category {
    /// Load-balancing policies: `name` in a scenario's [policy], and --policy
    Policies,
    /// Collective operations: `kind` in a scenario's [workload]
    Collectives,
    /// Fabrics: `kind` in a scenario's [topology]
    Topologies,
    /// Other workloads: `kind` in a scenario's [workload] or [[job]]
    Workloads,
    /// Transformers: `model` of kind = "training"
    Models,
    /// Allocators of rails: `name` in the [policy] of a scenario with [[rail]] sections
    Allocators,
    /// Congestion controls: `congestion_control` in a scenario's [transport]
    CongestionControls,
    /// Loss recoveries: `recovery` in a scenario's [transport]
    Recoveries,
    /// File formats of other projects: `import` and `export`
    Formats,
}

impl Category {
    fn listing(self) -> Listing {
        let name = self.to_possible_value().map(|it| it.get_name().to_owned());
        let listing = name.and_then(|name| Listing::find(&name));
        listing.expect("every category has a listing")
    }
}

/// Prints a table of the names of the category, with summaries and sources.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    if arguments.guesses && !matches!(arguments.what, Category::Policies) {
        bail!("--guesses applies only to policies; use evenkeel list policies --guesses");
    }
    let text = match arguments.guesses {
        true => guesses::table()?,
        false => arguments.what.listing().table(),
    };
    output::print(&text)?;
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_a_listing() {
        let names = Category::value_variants().iter().map(|it| it.listing().name);
        assert!(names.eq(Listing::ALL.iter().map(|it| it.name)));
    }
}
