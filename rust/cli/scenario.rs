//! Reading the scenario that a command names.

use std::path::Path;

use anyhow::bail;
use evenkeel::report::Identity;
use evenkeel::scenario::{Overrides, Scenario};

use super::output;

/// Reads and resolves it, and passes on what its readers warn of.
pub fn load(path: &Path, overrides: &Overrides) -> anyhow::Result<Scenario> {
    if path.extension().is_some_and(|extension| extension == "txt") {
        let file = path.display();
        bail!(
            "{file}: a scenario is a TOML file; a configuration of the HPCC family of simulators \
             is run by `evenkeel hpcc {file}`"
        );
    }
    let scenario = Scenario::load(path, overrides)?;
    for warning in &scenario.warnings {
        output::warning(warning);
    }
    Ok(scenario)
}

/// What its results carry.
pub fn identity(scenario: &Scenario) -> Identity {
    Identity {
        scenario: scenario.name.clone(),
        policy: scenario.scheme.name.to_owned(),
        seed: scenario.seed,
    }
}
