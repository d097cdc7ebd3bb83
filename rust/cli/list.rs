//! `evenkeel list`: what there is to choose from.

use clap::{Args, ValueEnum};
use evenkeel::report::list_table;
use evenkeel::{balance, collective, rail};

use super::{Status, output};

const EXAMPLES: &str = "\
Examples:
  evenkeel list policies
  evenkeel list collectives
  evenkeel list topologies
  evenkeel list allocators
";

/// List the policies, collectives, topologies or allocators that there are
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// What to list
    what: What,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// Ways of balancing load: `name` in a scenario's [policy], and --policy
    Policies,
    /// Collective operations: `kind` in a scenario's [workload]
    Collectives,
    /// Fabrics: `kind` in a scenario's [topology]
    Topologies,
    /// Ways of dividing an all-reduce over several rails
    Allocators,
}

/// Kinds of topology. The names are those that scenarios are parsed by; a test holds the two
/// together.
const TOPOLOGIES: [[&str; 3]; 3] = [
    [
        "leaf-spine",
        "Every leaf has links to every spine",
        "Alizadeh and Edsall, On the Data Path Performance of Leaf-Spine Fabrics, 2013",
    ],
    [
        "fat-tree",
        "k-ary fat-tree of two or three tiers, with any oversubscription",
        "Al-Fares et al., A Scalable, Commodity Data Center Network Architecture, 2008",
    ],
    [
        "file",
        "A topology file of the HPCC family of simulators (format = \"hpcc\")",
        "Li et al., HPCC: High Precision Congestion Control, 2019 (its simulator)",
    ],
];

/// Lists them.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let text = match arguments.what {
        What::Policies => {
            let presets = balance::presets();
            let rows = presets.map(|preset| [preset.name, preset.summary, preset.source]);
            list_table(["policy", "what it does", "source"], rows)
        }
        What::Collectives => {
            let all = collective::ALL.iter();
            let rows = all.map(|it| [it.name, it.summary, it.source]);
            list_table(["collective", "what it does", "source"], rows)
        }
        What::Topologies => {
            list_table(["topology", "what it is", "source"], TOPOLOGIES.into_iter())
        }
        What::Allocators => {
            let rows = rail::PRESETS.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["allocator", "what it does", "source"], rows)
        }
    };
    output::print(&text)?;
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use evenkeel::scenario::{Overrides, Scenario};

    use super::*;

    #[test]
    fn every_topology_listed_is_known_to_scenarios() {
        for [kind, _, _] in TOPOLOGIES {
            let text = format!("[topology]\nkind = \"{kind}\"\n");
            let parsed = Scenario::parse(&text, "listed", Path::new("."), &Overrides::default());
            // A file must be named; the kind itself is right.
            let complaint = parsed.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!complaint.contains("topology.kind"), "{complaint}");
        }
    }
}
