//! Names that scenarios and options accept, with their sources: `evenkeel list`.

use crate::balance;
use crate::nic::{congestion, recovery};
use crate::rail;
use crate::report::list_table;
use crate::scenario::{TOPOLOGIES, WORKLOADS};
use evenkeel_traffic::{collective, training};

/// A row: a name, its description, and its source.
type Row = [&'static str; 3];

/// A category of names.
#[derive(Debug, Clone, Copy)]
pub struct Listing {
    /// Name of the category: `policies`.
    pub name: &'static str,
    /// Headings of the columns.
    pub headings: Row,
    rows: fn() -> Vec<Row>,
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

impl Listing {
    /// All categories.
    pub const ALL: [Self; 9] = [
        Self::of("policies", "policy", || {
            balance::presets().map(|it| [it.name, it.summary, it.source]).collect()
        }),
        Self::of("collectives", "collective", || {
            collective::ALL.iter().map(|it| [it.name, it.summary, it.source]).collect()
        }),
        Self::of("topologies", "topology", || TOPOLOGIES.to_vec()),
        // The first row stands for collectives, which have their own list.
        Self::of("workloads", "workload", || WORKLOADS[1..].to_vec()),
        Self::of("models", "model", || {
            training::MODELS.iter().map(|it| [it.name, it.summary, it.source]).collect()
        }),
        Self::of("allocators", "allocator", || {
            rail::PRESETS.iter().map(|it| [it.name, it.summary, it.source]).collect()
        }),
        Self::of("congestion-controls", "congestion control", || {
            congestion::CONTROLS.iter().map(|it| [it.name, it.summary, it.source]).collect()
        }),
        Self::of("recoveries", "recovery", || {
            recovery::RECOVERIES.iter().map(|it| [it.name, it.summary, it.source]).collect()
        }),
        Self {
            name: "formats",
            headings: ["format", "contents", "commands"],
            rows: || FORMATS.to_vec(),
        },
    ];

    const fn of(name: &'static str, heading: &'static str, rows: fn() -> Vec<Row>) -> Self {
        Self { name, headings: [heading, "description", "source"], rows }
    }

    /// Returns the category of a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name == name)
    }

    /// Returns the rows, in the order of the documentation.
    pub fn rows(&self) -> Vec<Row> {
        (self.rows)()
    }

    /// Returns the rows as a text table.
    pub fn table(&self) -> String {
        list_table(self.headings, self.rows().into_iter())
    }
}
