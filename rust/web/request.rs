//! Requests of the page, checked before anything runs.

use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use evenkeel_engine::ids::LinkId;
use evenkeel_engine::units::Bytes;
use evenkeel_scenario::{Overrides, Scenario, ScenarioError, ScenarioText, Setting};
use evenkeel_study::{Comparison, ComparisonRun, Planned, Seeds, estimate_scenario, expect_memory};

/// Memory that a run may need. A page has at most 4 GiB, and estimates are accurate within a factor
/// of two.
const MAX_MEMORY: Bytes = Bytes::new(2 << 30);

/// Maximum number of links among which the page offers to choose one that fails.
const MAX_LINKS: usize = 2_000;

/// Time of a run in the page over that of the program. A test measures it: at most 2.
const SLOWER: f64 = 1.8;

/// Folder of the results in commands.
pub(crate) const FOLDER: &str = "results";

/// Error of the standard library for every file in a page.
const NO_FILES: &str = "operation not supported on this platform";

/// A scenario, and how to run it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Name of the scenario: that of its file without `.toml`.
    pub(crate) name: String,
    /// Text of the scenario.
    pub(crate) text: String,
    /// Keys to set, as `--set` does: `topology.k=6`.
    pub(crate) settings: Vec<String>,
    /// Policies; if empty, the scenario's policy runs.
    pub(crate) policies: Vec<String>,
    /// Number of seeds; `None` is 1 for one policy, otherwise the default of `evenkeel compare`.
    pub(crate) seeds: Option<NonZeroU32>,
}

/// A scenario with the policies and seeds to run it with.
pub(crate) struct Asked {
    scenarios: Vec<Scenario>,
    comparison: Comparison,
}

/// Runs of a request, described before they start.
#[derive(Debug, Serialize)]
pub(crate) struct Plan {
    /// Policies.
    policies: Vec<String>,
    /// Number of runs.
    runs: usize,
    /// Number of hosts of the fabric.
    hosts: u32,
    /// Number of messages of one run.
    messages: u64,
    /// Estimated time of all runs in the page, in seconds, if it is known.
    seconds: Option<f64>,
    /// Commands that do the same on a machine.
    commands: String,
    /// Names of the links between switches.
    links: Vec<String>,
    /// Warnings about the scenario.
    warnings: Vec<String>,
}

impl Request {
    /// Reads a request.
    pub(crate) fn read(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|error| format!("the request: {error}"))
    }

    /// Checks the scenario under each policy.
    pub(crate) fn comparison(&self) -> Result<Asked, String> {
        let path = PathBuf::from(format!("{}.toml", self.name));
        let text = ScenarioText::new(self.text.clone(), path);
        if text.has_rails() {
            return Err(self.only_program("a scenario with [[rail]]"));
        }
        if text.is_study() {
            return Err(self.only_program("a study with [[run]]"));
        }
        let settings = self.settings.iter().map(|text| text.parse::<Setting>());
        let overrides = Overrides {
            most_memory: Some(MAX_MEMORY),
            settings: settings.collect::<Result<_, _>>()?,
            ..Overrides::default()
        };
        let scenario = text.scenario(&overrides).map_err(reason)?;
        let policies = self.policies.iter().map(|name| scenario.with_policy(name));
        let mut scenarios = policies.collect::<Result<Vec<_>, _>>().map_err(reason)?;
        if scenarios.is_empty() {
            scenarios.push(scenario.clone());
        }
        for scenario in &scenarios {
            expect_memory(scenario, Some(MAX_MEMORY))?;
        }
        let count = if scenarios.len() == 1 { Some(NonZeroU32::MIN) } else { None };
        let seeds = Seeds { first: scenario.seed, count: self.seeds.or(count) };
        let comparison = Comparison::of(scenarios.clone(), seeds).map_err(reason)?;
        Ok(Asked { scenarios, comparison })
    }

    /// Returns the commands that make the same report, once the scenario is in a file.
    pub(crate) fn commands(&self, planned: &Planned) -> String {
        let Planned { policies, seeds, .. } = planned;
        let name = &self.name;
        let command = match (&policies[..], seeds) {
            ([policy], 1) => format!("run {name}.toml --policy {policy}"),
            _ => {
                format!("compare {name}.toml --policies {} --seeds {seeds}", policies.join(","))
            }
        };
        let settings: String = self.settings.iter().map(|it| format!(" --set '{it}'")).collect();
        format!(
            "evenkeel {command}{settings} --out {FOLDER}\n\
             evenkeel report {FOLDER} --out {name}.html"
        )
    }

    fn only_program(&self, what: &str) -> String {
        format!("{}.toml: {what} does not run in the page; run it on your machine", self.name)
    }
}

impl Asked {
    /// Returns all runs: policy by policy, and seed by seed within a policy.
    pub(crate) fn runs(&self) -> Vec<ComparisonRun> {
        self.comparison.runs()
    }

    /// Returns the policies and the number of seeds.
    pub(crate) fn planned(&self) -> Planned {
        self.comparison.planned()
    }

    /// Returns the scenario of a run.
    pub(crate) fn scenario(&self, run: ComparisonRun) -> Result<Scenario, String> {
        self.scenarios[run.policy].with_seed(run.seed).map_err(reason)
    }
}

impl Plan {
    /// Describes the runs of a request.
    pub(crate) fn of(request: &Request, asked: &Asked) -> Self {
        let planned = asked.planned();
        let commands = request.commands(&planned);
        let Planned { policies, seeds, .. } = planned;
        let first = &asked.scenarios[0];
        let topology = &first.topology;
        let links = (0..topology.links().len() as u32).map(LinkId);
        let links = links.filter(|&link| topology.is_fabric_link(link)).take(MAX_LINKS);
        let times = asked.scenarios.iter().map(|it| Some(estimate_scenario(it)?.cpu.as_secs_f64()));
        let seconds: Option<f64> = times.sum();
        Self {
            runs: policies.len() * seeds,
            policies,
            commands,
            hosts: topology.host_count(),
            messages: first.messages(),
            seconds: seconds.map(|one| SLOWER * one * seeds as f64),
            links: links.map(|link| topology.link_name(link).to_owned()).collect(),
            warnings: asked.comparison.warnings().into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Returns the reason why a scenario does not run. Those about files say what to do.
fn reason(error: ScenarioError) -> String {
    let hint = "a page has no files; run this scenario on your machine";
    error.to_string().replace(NO_FILES, hint)
}
