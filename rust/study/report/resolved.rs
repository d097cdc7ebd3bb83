//! `scenario.toml`: the scenario of a run with every default.

use std::path::Path;

use super::Identity;
use crate::scenario::Scenario;

/// The scenario with every default, which runs again from the folder that it is written into: paths
/// are relative to that, so that results are the same bytes wherever a project lies.
pub fn resolved(identity: &Identity, scenario: &Scenario, folder: &Path) -> String {
    let text = scenario.render_in(folder);
    format!("{}\n# Resolved; paths are relative to this file.\n\n{text}", identity.header())
}
