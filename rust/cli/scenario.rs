//! Reads the scenario of a command.

use std::path::Path;

use anyhow::bail;
use evenkeel_scenario::{Overrides, Scenario, ScenarioText};

use super::output;

/// Reads and resolves the scenario at `path`, and prints its warnings.
pub(super) fn load(path: &Path, overrides: &Overrides) -> anyhow::Result<Scenario> {
    resolve(open(path)?, overrides)
}

/// Resolves a scenario, and prints its warnings.
pub(super) fn resolve(text: ScenarioText, overrides: &Overrides) -> anyhow::Result<Scenario> {
    let scenario = text.scenario(overrides)?;
    scenario.warnings.iter().for_each(|warning| output::warning(warning));
    Ok(scenario)
}

/// Reads the scenario at `path`, or from standard input for `-`, with paths relative to the working
/// directory.
pub(super) fn open(path: &Path) -> anyhow::Result<ScenarioText> {
    if path == Path::new("-") {
        return Ok(ScenarioText::from_reader(std::io::stdin(), "stdin")?);
    }
    if path.extension().is_some_and(|extension| extension == "txt") {
        let file = path.display();
        bail!(
            "{file}: expected a scenario, which is a TOML file; `evenkeel hpcc {file}` runs a \
             configuration of the HPCC family of simulators"
        );
    }
    if path.is_dir() {
        let folder = path.display();
        bail!(
            "{folder}: it is a folder; expected a scenario file, such as the scenario.toml in a \
             results folder"
        );
    }
    Ok(ScenarioText::read(path)?)
}
