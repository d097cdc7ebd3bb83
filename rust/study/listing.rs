//! Names that scenarios and options accept, with their sources: `evenkeel list`.

use crate::balance;
use crate::explanation::{Explanation, ListSummary};
use crate::nic::{congestion, recovery};
use crate::rail;
use crate::report::list_table;
use crate::scenario::{KeyEntry, ParameterEntry, TOPOLOGIES, WORKLOADS, catalogue, parameters};
use evenkeel_traffic::{collective, training};

/// A row: a name, its description, and its source.
type Row = [&'static str; 3];

/// A category of names.
#[derive(Debug, Clone, Copy)]
pub struct Listing {
    /// Name of the category: `policies`.
    pub name: &'static str,
    /// Names of the category, and the option or key that accepts them.
    pub about: &'static str,
    /// Headings of the columns; the first is the kind of its names.
    pub headings: Row,
    /// Start of the keys that belong to a name; empty if names have no keys.
    section: &'static str,
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

/// Heading of the last column of formats.
const COMMANDS: &str = "commands";

impl Listing {
    /// All categories.
    pub const ALL: [Self; 9] = [
        Self::of(
            ["policies", "policy", "policy."],
            "Load-balancing policies: `name` in a scenario's [policy], and --policy",
            || balance::presets().map(|it| [it.name, it.summary, it.source]).collect(),
        ),
        Self::of(
            ["collectives", "collective", ""],
            "Collective operations: `kind` in a scenario's [workload]",
            || collective::ALL.iter().map(|it| [it.name, it.summary, it.source]).collect(),
        ),
        Self::of(
            ["topologies", "topology", "topology."],
            "Fabrics: `kind` in a scenario's [topology]",
            || TOPOLOGIES.to_vec(),
        ),
        // The first row stands for collectives, which have their own list.
        Self::of(
            ["workloads", "workload", "workload."],
            "Other workloads: `kind` in a scenario's [workload] or [[job]]",
            || WORKLOADS[1..].to_vec(),
        ),
        Self::of(["models", "model", ""], "Transformers: `model` of kind = \"training\"", || {
            training::MODELS.iter().map(|it| [it.name, it.summary, it.source]).collect()
        }),
        Self::of(
            ["allocators", "allocator", "policy."],
            "Allocators of rails: `name` in the [policy] of a scenario with [[rail]] sections",
            || rail::PRESETS.iter().map(|it| [it.name, it.summary, it.source]).collect(),
        ),
        Self::of(
            ["congestion-controls", "congestion control", "transport.parameters."],
            "Congestion controls: `congestion_control` in a scenario's [transport]",
            || congestion::CONTROLS.iter().map(|it| [it.name, it.summary, it.source]).collect(),
        ),
        Self::of(
            ["recoveries", "loss recovery", "transport.recovery_parameters."],
            "Loss recoveries: `recovery` in a scenario's [transport]",
            || recovery::RECOVERIES.iter().map(|it| [it.name, it.summary, it.source]).collect(),
        ),
        Self {
            name: "formats",
            about: "File formats of other projects: `import` and `export`",
            headings: ["format", "contents", COMMANDS],
            section: "",
            rows: || FORMATS.to_vec(),
        },
    ];

    const fn of(
        [name, kind, section]: [&'static str; 3],
        about: &'static str,
        rows: fn() -> Vec<Row>,
    ) -> Self {
        Self { name, about, headings: [kind, "description", "source"], section, rows }
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

    /// Returns the rows with their keys.
    pub fn summary(&self) -> ListSummary {
        let (keys, parameters) = (catalogue(), parameters());
        let rows = self.rows().into_iter();
        let entries = rows.map(|row| self.entry(row, &keys, &parameters)).collect();
        ListSummary { category: self.name.to_owned(), entries, guesses: None }
    }

    /// Returns the row of a name, if it has one.
    pub(crate) fn named(
        &self,
        name: &str,
        keys: &[KeyEntry],
        parameters: &[ParameterEntry],
    ) -> Option<Explanation> {
        let row = self.rows().into_iter().find(|[it, ..]| *it == name)?;
        Some(self.entry(row, keys, parameters))
    }

    fn entry(
        &self,
        [name, description, origin]: Row,
        keys: &[KeyEntry],
        parameters: &[ParameterEntry],
    ) -> Explanation {
        let mut entry = Explanation::new(self.headings[0], name, description);
        match self.headings[2] {
            COMMANDS => entry.commands = Some(origin.split(", ").map(str::to_owned).collect()),
            _ => entry.source = Some(origin.to_owned()),
        }
        if self.section.is_empty() {
            return entry;
        }
        let only = format!("kind = \"{name}\"");
        let is_in = |key: &str| key.starts_with(self.section);
        entry.with_keys(
            keys.iter().filter(|it| is_in(&it.key) && it.only == only),
            parameters.iter().filter(|it| is_in(&it.key) && it.of.iter().any(|of| of == name)),
        )
    }
}

/// Returns the categories as a text table.
pub fn category_table() -> String {
    list_table(["category", "names", ""], Listing::ALL.iter().map(|it| [it.name, it.about, ""]))
}

/// Returns the categories as a list of their own.
pub fn categories() -> ListSummary {
    let entries = Listing::ALL.iter().map(|it| Explanation::new("category", it.name, it.about));
    ListSummary { category: "categories".to_owned(), entries: entries.collect(), guesses: None }
}
