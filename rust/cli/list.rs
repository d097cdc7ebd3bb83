//! `evenkeel list`: the names that scenarios and options accept, with their sources.

use anyhow::bail;
use clap::{Args, ValueEnum};
use evenkeel_engine::balance;
use evenkeel_engine::nic::{congestion, recovery};
use evenkeel_scenario::{TOPOLOGIES, WORKLOADS};
use evenkeel_study::report::list_table;
use evenkeel_traffic::collective;
use evenkeel_traffic::training;
use evenkeel_worlds::rail;

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

/// Formats of other projects: name, contents, and the commands that use them.
const FORMATS: [[&str; 3]; 6] = [
    [
        "hpcc",
        "fabric and flows of the HPCC family; settings in a configuration",
        "import, export, hpcc",
    ],
    ["htsim", "a connection matrix: flows with starts and triggers", "import, export"],
    ["goal", "a schedule of LogGOPSim and ATLAHS: messages and computation", "import, export"],
    ["chakra", "traces of MLCommons: messages and computation", "import, export, trace"],
    ["simccl", "messages of NCCL, by SimCCL's model", "import"],
    ["infragraph", "a fabric", "import, export"],
];

/// Prints a table of the names of the category, with summaries and sources.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    if arguments.guesses && !matches!(arguments.what, Category::Policies) {
        bail!("--guesses applies only to policies; use evenkeel list policies --guesses");
    }
    let text = match arguments.what {
        Category::Policies if arguments.guesses => guesses::table()?,
        Category::Policies => {
            let presets = balance::presets();
            let rows = presets.map(|preset| [preset.name, preset.summary, preset.source]);
            list_table(["policy", "description", "source"], rows)
        }
        Category::Collectives => {
            let all = collective::ALL.iter();
            let rows = all.map(|it| [it.name, it.summary, it.source]);
            list_table(["collective", "description", "source"], rows)
        }
        Category::Topologies => {
            list_table(["topology", "description", "source"], TOPOLOGIES.iter().copied())
        }
        Category::Workloads => {
            // The first row stands for collectives, which have their own list.
            list_table(["workload", "description", "source"], WORKLOADS[1..].iter().copied())
        }
        Category::Models => {
            let rows = training::MODELS.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["model", "description", "source"], rows)
        }
        Category::Allocators => {
            let rows = rail::PRESETS.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["allocator", "description", "source"], rows)
        }
        Category::CongestionControls => {
            let rows = congestion::CONTROLS.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["congestion control", "description", "source"], rows)
        }
        Category::Recoveries => {
            let rows = recovery::RECOVERIES.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["recovery", "description", "source"], rows)
        }
        Category::Formats => list_table(["format", "contents", "commands"], FORMATS.into_iter()),
    };
    output::print(&text)?;
    Ok(Status::Done)
}
