//! `scenario.toml`: the scenario of a run with every default.

use std::path::Path;

use super::Identity;
use crate::scenario::Scenario;

/// Renders the scenario with every default, ready to run from `folder`. Its paths are relative to
/// that folder, so results are byte-identical wherever a project is located.
pub fn resolved(identity: &Identity, scenario: &Scenario, folder: &Path) -> String {
    let text = scenario.render_in(folder);
    format!("{}\n# Resolved; paths are relative to this file.\n\n{text}", identity.header())
}
