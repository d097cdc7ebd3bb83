//! Parts of a scenario that are read separately: a fabric, a NIC, and failures of an existing
//! fabric.

use std::path::Path;

use super::file::{Fabric, ScenarioFile};
use super::input::context::Context;
use super::input::error::ScenarioError;
use super::input::source::Source;
use super::resolve::{failure, policy, recovery, topology, transport};
use super::resolved::Scenario;
use crate::fabric::{Failure, Setup};
use crate::nic::NicConfig;
use crate::topology::Topology;

impl Scenario {
    /// Builds the fabric described by the keys of `[topology]`, given without the heading.
    ///
    /// # Errors
    /// Fails if the section or a file that it names is invalid.
    pub fn topology(section: &str, name: &str, folder: &Path) -> Result<Topology, ScenarioError> {
        let source = read(format!("[topology]\n{section}"), name, folder)?;
        let file = ScenarioFile::read(&source, Fabric::Described)?;
        let context = Context::in_folder(&source, folder);
        Ok(topology::resolve(&context, &file.topology, None)?.topology)
    }

    /// Returns the NIC described by `[transport]` and `[policy]`, for any fabric.
    ///
    /// # Errors
    /// Fails if the text is invalid.
    pub fn nic(text: &str, name: &str, folder: &Path) -> Result<NicConfig, ScenarioError> {
        let source = read(text.to_owned(), name, folder)?;
        let written = ScenarioFile::read(&source, Fabric::Existing)?;
        let context = Context::in_folder(&source, folder);
        let mut file = written.clone();
        let scheme = policy::resolve(&context, &mut file.policy)?;
        recovery::follow(&context, &written.policy, &mut file.transport, &scheme);
        transport::resolve(&context, &mut file.transport, &scheme, &file.switch.trim)
    }

    /// Returns the failures of `[[failure]]` sections, to be added to those of a run.
    ///
    /// # Errors
    /// Fails if a section is invalid, or names something that the run's fabric does not have.
    pub fn failures(
        sections: &str,
        name: &str,
        folder: &Path,
        run: &Setup,
    ) -> Result<Vec<Failure>, ScenarioError> {
        let source = read(sections.to_owned(), name, folder)?;
        let file = ScenarioFile::read(&source, Fabric::Existing)?;
        let context = Context::in_folder(&source, folder);
        let random = failure::RandomContext { seed: run.seed, time_limit: run.time_limit };
        failure::resolve(&context, &file.failure, &run.topology, random)
    }
}

/// Reads a text as if it were the file `name`.toml in `folder`.
fn read(text: String, name: &str, folder: &Path) -> Result<Source, ScenarioError> {
    Source::read(text, folder.join(format!("{name}.toml")).display().to_string())
}
