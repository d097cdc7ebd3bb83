//! Reading the scenario of a command.

use std::path::Path;

use anyhow::bail;
use evenkeel::scenario::{Overrides, Scenario};

use super::output;

/// Reads and resolves the scenario at `path`, and prints its warnings.
pub(super) fn load(path: &Path, overrides: &Overrides) -> anyhow::Result<Scenario> {
    let scenario = read(path, overrides)?;
    scenario.warnings.iter().for_each(|warning| output::warning(warning));
    Ok(scenario)
}

/// Reads and resolves the scenario at `path`, or with `-` the one on standard input, whose paths
/// are relative to the working directory.
pub(super) fn read(path: &Path, overrides: &Overrides) -> anyhow::Result<Scenario> {
    if path == Path::new("-") {
        return Ok(Scenario::from_reader(std::io::stdin(), "stdin", overrides)?);
    }
    if path.extension().is_some_and(|extension| extension == "txt") {
        let file = path.display();
        bail!(
            "{file}: expected a scenario, which is a TOML file; `evenkeel hpcc {file}` runs a \
             configuration of the HPCC family of simulators"
        );
    }
    Ok(Scenario::load(path, overrides)?)
}
