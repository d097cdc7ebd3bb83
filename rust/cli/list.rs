//! `evenkeel list`: the names that scenarios and options accept, with their sources.

use anyhow::bail;
use clap::{Args, ValueEnum};
use evenkeel_engine::balance;
use evenkeel_engine::nic::{congestion, recovery};
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

/// List what a scenario can name: policies, collectives, topologies, congestion controls, ...
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What to list
    what: Category,

    /// With policies: what the public sources of MRC leave open, what `mrc` takes, and the keys by
    /// which another choice is made
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
    /// Files of other projects that are read and written: `import` and `export`
    Formats,
}

/// The kinds of topology: name, description, source. A test checks that scenarios accept the names.
const TOPOLOGIES: [[&str; 3]; 12] = [
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
        "rail-optimized",
        "Each GPU of a server is connected to another leaf, and every leaf to every spine",
        "NVIDIA, DGX SuperPOD Reference Architecture; Wang et al., Rail-only, 2023, section 2",
    ],
    [
        "multi-plane",
        "Several leaf-spines that share no switch, with a port of every host in each",
        "MRC's clusters, arXiv 2605.04333",
    ],
    ["hpn", "multi-plane with two planes, rail-optimised", "Qian et al., Alibaba HPN, 2024"],
    [
        "spectrum-x",
        "multi-plane with four planes, rail-optimised",
        "Spectrum-X's multi-plane fabrics, arXiv 2605.21187",
    ],
    [
        "dual-tor",
        "Every host has a link to both ToRs of a pair, and every ToR to every spine",
        "Qian et al., Alibaba HPN, 2024, section 4",
    ],
    [
        "rail-only",
        "Each rail a network of its own; servers join the rails (scale_up)",
        "Wang et al., Rail-only, 2024",
    ],
    [
        "torus",
        "Switches in a grid of one to three dimensions whose ends are joined",
        "Dally and Towles, Principles and Practices of Interconnection Networks, 2004",
    ],
    [
        "dragonfly",
        "Groups of routers that are all wired to each other, and links between every two groups",
        "Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology, 2008",
    ],
    [
        "dragonfly-plus",
        "Groups of leaves and spines, and links between the spines of every two groups",
        "Shpiner et al., Dragonfly+: Low Cost Topology for Scaling Datacenters, 2017",
    ],
    [
        "file",
        "A file of the HPCC family of simulators (format = \"hpcc\") or of InfraGraph",
        "Li et al., HPCC, 2019 (its simulator); Keysight, InfraGraph 3.1",
    ],
];

/// The kinds of workload that are not collectives. A test checks that scenarios accept the names.
const WORKLOADS: [[&str; 3]; 9] = [
    ["permutation", "Every host sends to another host, drawn at random", "common practice"],
    ["shift", "Host i sends to host i + shift (tornado)", "Dally and Towles, 2003, section 3.2"],
    ["incast", "fan_in hosts send to one", "common practice"],
    [
        "flows",
        "A flow file of the HPCC family of simulators",
        "Li et al., HPCC, 2019 (its simulator)",
    ],
    ["chakra", "Execution traces of MLCommons, .et files", "Sridharan et al., Chakra, 2023"],
    ["goal", "A schedule of LogGOPSim and ATLAHS", "Hoefler et al., LogGOPSim, 2010"],
    ["connection-matrix", "A connection matrix of htsim", "htsim, connection_matrix.cpp"],
    ["simccl", "A collective as SimCCL's model of NCCL sends it", "Wang et al., SimAI, 2025"],
    [
        "training",
        "Iterations of a transformer: tensor, pipeline, data and expert parallel (list models)",
        "Narayanan et al., Efficient Large-Scale Language Model Training, 2021",
    ],
];

/// The formats of other projects: name, what of a scenario they have, and what is done with them.
const FORMATS: [[&str; 3]; 6] = [
    [
        "hpcc",
        "fabric and flows of the HPCC family; in a configuration, settings",
        "import, export, hpcc",
    ],
    ["htsim", "a connection matrix: flows with starts and triggers", "import, export"],
    ["goal", "a schedule of LogGOPSim and ATLAHS: messages and computation", "import, export"],
    ["chakra", "traces of MLCommons: messages and computation", "import, export, trace"],
    ["simccl", "what NCCL sends, by SimCCL's model", "import"],
    ["infragraph", "a fabric", "import, export"],
];

/// Prints a table of the names of the category, each with a summary and its source.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    if arguments.guesses && !matches!(arguments.what, Category::Policies) {
        bail!("--guesses is for policies: evenkeel list policies --guesses");
    }
    let text = match arguments.what {
        Category::Policies if arguments.guesses => guesses::table()?,
        Category::Policies => {
            let presets = balance::presets();
            let rows = presets.map(|preset| [preset.name, preset.summary, preset.source]);
            list_table(["policy", "what it does", "source"], rows)
        }
        Category::Collectives => {
            let all = collective::ALL.iter();
            let rows = all.map(|it| [it.name, it.summary, it.source]);
            list_table(["collective", "what it does", "source"], rows)
        }
        Category::Topologies => {
            list_table(["topology", "what it is", "source"], TOPOLOGIES.into_iter())
        }
        Category::Workloads => {
            list_table(["workload", "what it is", "source"], WORKLOADS.into_iter())
        }
        Category::Models => {
            let rows = training::MODELS.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["model", "what it is", "source"], rows)
        }
        Category::Allocators => {
            let rows = rail::PRESETS.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["allocator", "what it does", "source"], rows)
        }
        Category::CongestionControls => {
            let rows = congestion::CONTROLS.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["congestion control", "what it does", "source"], rows)
        }
        Category::Recoveries => {
            let rows = recovery::RECOVERIES.iter().map(|it| [it.name, it.summary, it.source]);
            list_table(["recovery", "what it does", "source"], rows)
        }
        Category::Formats => list_table(["format", "what it has", "commands"], FORMATS.into_iter()),
    };
    output::print(&text)?;
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use evenkeel_scenario::{Overrides, Scenario};

    use super::*;

    #[test]
    fn every_listed_topology_is_accepted_by_scenarios() {
        let complaint_of = |topology: &str| {
            let text = format!("[topology]\n{topology}");
            let parsed = Scenario::parse(&text, "listed", Path::new("."), &Overrides::default());
            parsed.err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(complaint_of("kind = \"no-such-kind\"").contains("topology.kind"));
        for [kind, _, _] in TOPOLOGIES {
            // The rails of `rail-only` meet in servers alone, which it must be told.
            let servers =
                if kind == "rail-only" { "scale_up = { cross_rail = \"relay\" }" } else { "" };
            // The error may be about a missing file, but not about the kind.
            let complaint = complaint_of(&format!("kind = \"{kind}\"\n{servers}"));
            assert!(!complaint.contains("topology.kind"), "{complaint}");
        }
    }

    #[test]
    fn the_listed_workloads_are_those_that_scenarios_accept() {
        let error = Scenario::parse(
            "[workload]\nkind = \"no-such-kind\"\n",
            "listed",
            Path::new("."),
            &Overrides::default(),
        );
        let complaint = error.expect_err("the kind is unknown").to_string();
        let known = complaint.lines().next().unwrap_or_default();
        let others = known.rsplit("barrier, ").next().unwrap_or_default();
        let listed: Vec<&str> = WORKLOADS.iter().map(|row| row[0]).collect();
        assert_eq!(others.split(", ").collect::<Vec<_>>(), listed);
    }
}
