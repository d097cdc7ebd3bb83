//! Failures of a run, from its summary, and its fabric, from the scenario next to its results.

use serde_json::Value;

use super::{ResultFiles, ResultsError};
use crate::fabric::Setup;
use crate::report::{SCENARIO, TOPOLOGIES};
use crate::scenario::{Overrides, ScenarioText, Setting};
use crate::switching::{Failure, FailureKind};
use crate::topology::Topology;
use crate::units::Time;

/// A temporary or permanent impairment of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Disturbance {
    /// Name of the link.
    pub link: String,
    /// Kind: `down`, `degraded` or `lossy`.
    pub kind: &'static str,
    /// Start, in nanoseconds.
    pub at_ns: f64,
    /// End, in nanoseconds; `None` if it does not end.
    pub until_ns: Option<f64>,
}

const DOWN: &str = "down";
const DEGRADED: &str = "degraded";
const LOSSY: &str = "lossy";

/// Returns the setup of a run without its workload: the fabric, its failures and the NICs. The
/// files of the workload may have moved, and building the workload takes time.
pub(super) fn setup(files: &ResultFiles) -> Result<Setup, ResultsError> {
    let (text, path) = (files.text(SCENARIO)?, files.path().join(SCENARIO));
    let settings = topology_copy(files, &text).into_iter().collect();
    let overrides = Overrides { settings, ..Overrides::default() };
    let scenario = ScenarioText::new(text, path.clone()).without_messages(&overrides);
    scenario.map(|scenario| scenario.setup()).map_err(|error| {
        let file = path.display();
        ResultsError::Scenario(format!("{file}: its fabric cannot be rebuilt: {error}"))
    })
}

/// Returns the setting that reads the fabric from its copy in the folder of the results: the
/// original file may have moved or changed.
fn topology_copy(files: &ResultFiles, text: &str) -> Option<Setting> {
    let copy = TOPOLOGIES.iter().find(|copy| files.has(copy))?;
    let sections: toml::Table = text.parse().ok()?;
    let is_file = sections.get("topology")?.get("kind")?.as_str()? == "file";
    is_file.then(|| Setting { key: "topology.path".to_owned(), value: format!("\"{copy}\"") })
}

/// Returns a failure that a summary lists; `None` if it is invalid.
pub(super) fn listed(failure: &Value) -> Option<Disturbance> {
    let kind = match failure["kind"].as_str()? {
        "down" => DOWN,
        "degrade" => DEGRADED,
        "loss" => LOSSY,
        _ => return None,
    };
    let link = failure["link"].as_str()?.to_owned();
    let at_ns = failure["at_ns"].as_f64()?;
    Some(Disturbance { link, kind, at_ns, until_ns: failure["until_ns"].as_f64() })
}

/// Returns the failures of a setup, in order of their starts.
pub(super) fn of(setup: &Setup) -> Vec<Disturbance> {
    let one = |failure: &Failure| disturbance(failure, &setup.topology);
    let mut all: Vec<Disturbance> = setup.fabric.failures.iter().map(one).collect();
    all.sort_by(|a, b| a.at_ns.total_cmp(&b.at_ns));
    all
}

fn disturbance(failure: &Failure, topology: &Topology) -> Disturbance {
    let kind = match failure.kind {
        FailureKind::Down => DOWN,
        FailureKind::Degrade { .. } => DEGRADED,
        FailureKind::Loss { .. } => LOSSY,
    };
    let nanoseconds = |time: Time| time.as_ps() as f64 / 1e3;
    Disturbance {
        link: topology.link_name(failure.link).to_owned(),
        kind,
        at_ns: nanoseconds(failure.at),
        until_ns: (failure.until != Time::NEVER).then(|| nanoseconds(failure.until)),
    }
}
