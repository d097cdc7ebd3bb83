//! Failures and fabric of a run, from the scenario next to its results.

use std::path::Path;

use super::ResultsError;
use crate::fabric::Setup;
use crate::report::TOPOLOGIES;
use crate::scenario::{Overrides, Scenario};
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

/// Returns the setup of a run without its workload: the fabric, its failures and the NICs.
pub(super) fn setup(path: &Path) -> Result<Setup, ResultsError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = crate::text_file::read_results(path);
    let text = text.map_err(|reason| ResultsError::unreadable(path, reason))?;
    let file = path.display();
    let invalid = |reason: String| ResultsError::Scenario(format!("{file}: {reason}"));
    let mut sections: toml::Table =
        text.parse().map_err(|error: toml::de::Error| invalid(error.to_string()))?;
    // The files of the workload may have moved, and building the workload takes time.
    sections.remove("workload");
    sections.remove("job");
    sections.remove("record");
    let (fabric, name) = (sections.remove("topology"), "scenario");
    let mut fabric = fabric.as_ref().and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let is_file = fabric.get("kind").and_then(toml::Value::as_str) == Some("file");
    if let Some(copy) = TOPOLOGIES.iter().find(|copy| is_file && folder.join(copy).is_file()) {
        // The original file may have moved or changed; the folder has a copy.
        fabric.insert("path".to_owned(), (*copy).into());
    }
    let topology = Scenario::topology(&fabric.to_string(), name, folder)
        .map_err(|error| invalid(format!("its fabric cannot be rebuilt: {error}")))?;
    let mut wire = toml::Table::new();
    for key in ["gap", "forwarding_delay"] {
        wire.extend(fabric.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    sections.insert("topology".to_owned(), wire.into());
    let text = sections.to_string();
    Scenario::on(topology, &text, name, folder, &Overrides::default())
        .map(|scenario| scenario.setup())
        .map_err(|error| invalid(format!("it cannot be read: {error}")))
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
        FailureKind::Down => "down",
        FailureKind::Degrade { .. } => "degraded",
        FailureKind::Loss { .. } => "lossy",
    };
    let nanoseconds = |time: Time| time.as_ps() as f64 / 1e3;
    Disturbance {
        link: topology.link_name(failure.link).to_owned(),
        kind,
        at_ns: nanoseconds(failure.at),
        until_ns: (failure.until != Time::NEVER).then(|| nanoseconds(failure.until)),
    }
}
