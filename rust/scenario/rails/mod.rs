//! Scenarios of hosts with several rails: converts a file with `[[rail]]` sections to a setup.

mod failure;
pub(super) mod file;
mod kind;
mod work;

use std::path::{Path, PathBuf};

use super::file::PolicySection;
use super::input::context::{AtLeast, Context, Lookup};
use super::input::error::ScenarioError;
use super::input::located::Key;
use super::input::overrides::Overrides;
use super::input::source::Source;
use super::resolve::{limits, policy};
use crate::balance::SchemeError;
use crate::fluid::Fidelity;
use crate::multirail::{RailConfig, RailFailure, RailSetup};
use crate::rail::{self, AllocatorConfig};
use crate::units::Time;
use file::{RailFile, RailSection};

/// Most hosts, because each has a processor and connections on every rail.
const MAX_HOSTS: u32 = 256;
/// Most rails: the number of bits in an allocator's set.
const MAX_RAILS: usize = 64;

/// A valid scenario of hosts with several rails.
#[derive(Debug, Clone)]
pub struct RailScenario {
    /// Stem of the file name.
    pub name: String,
    /// Path of the scenario file.
    pub path: PathBuf,
    /// The resolved file, with overrides and defaults filled in.
    pub file: RailFile,
    /// Setup of a run.
    pub setup: RailSetup,
    /// Allocator that divides operations among rails.
    pub allocator: AllocatorConfig,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl RailScenario {
    /// True if a file has `[[rail]]` sections; false if it cannot be read or is not TOML. Only
    /// regular files are read: a pipe can be read just once, when it is resolved.
    pub fn is_in(path: &Path) -> bool {
        path.is_file()
            && Self::is_in_text(&crate::text_file::read_description(path).unwrap_or_default())
    }

    /// True if a text has `[[rail]]` sections; false if it is not TOML.
    pub fn is_in_text(text: &str) -> bool {
        // Numbers out of range pass here; resolution reports them.
        toml::de::DeTable::parse(text).is_ok_and(|table| table.get_ref().contains_key("rail"))
    }

    /// Reads and resolves a file.
    ///
    /// # Errors
    /// Fails if the file or an override is invalid.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = crate::text_file::read_description(path);
        let text = text.map_err(|reason| ScenarioError::unreadable(file, reason))?;
        Self::parse(text, path, overrides)
    }

    /// Resolves a text as if it were the file `path`.
    ///
    /// # Errors
    /// As [`RailScenario::load`].
    pub fn parse(text: String, path: &Path, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let source = Source::read(text, path.display().to_string())?.with(&overrides.settings)?;
        let context = Context::of(&source);
        let mut file = RailFile::read(&source)?;
        let written = file.policy.clone();
        file.apply(overrides);
        let warnings = written.unused(&context, &file.policy, &[]);
        let setup = resolve(&context, &mut file)?;
        let allocator = allocator(&context, &file.policy)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, path: path.to_owned(), file, setup, allocator, warnings })
    }

    /// Returns the resolved scenario as a table.
    pub fn as_table(&self) -> toml::Table {
        toml::Table::try_from(&self.file).expect("a scenario is a TOML table")
    }

    /// Renders the resolved scenario as TOML.
    pub fn render(&self) -> String {
        toml::to_string(&self.file).expect("a scenario is a TOML table")
    }
}

fn resolve(context: &Context<'_>, file: &mut RailFile) -> Result<RailSetup, ScenarioError> {
    let general = &file.general;
    if *general.fidelity == Fidelity::Fluid {
        let expected = "hosts with several rails are simulated by packets; it must be 'packet'";
        return Err(context.invalid_as(general.fidelity.key(), "fluid", expected));
    }
    let seed = limits::seed(context, &general.seed)?;
    limits::version(context, &general.schema_version)?;
    let limit = context.span(&general.time_limit, AtLeast::OnePicosecond)?;
    let ranks = *file.hosts.count;
    if !(2..=MAX_HOSTS).contains(&ranks) {
        let expected = format!("it must be from 2 to {MAX_HOSTS}");
        return Err(context.invalid(&file.hosts.count, expected));
    }
    let add_rate = kind::rate(context, &file.hosts.add_rate)?;
    let rails = rails(context, &mut file.rail)?;
    let operations = work::operations(context, &file.workload, ranks)?;
    let window = context.positive(&file.workload.window)?;
    let handler = work::handler(context, &file.handler)?;
    let network = failure::FailureTargets { rails: &rails, ranks };
    let failures = file.failure.iter().map(|section| failure::resolve(context, section, network));
    let failures = failures.collect::<Result<Vec<RailFailure>, ScenarioError>>()?;
    Ok(RailSetup {
        ranks,
        rails,
        add_rate: Some(add_rate),
        window,
        handler,
        operations,
        failures,
        seed,
        time_limit: Time::ZERO.saturating_add(limit),
    })
}

fn rails(
    context: &Context<'_>,
    sections: &mut [RailSection],
) -> Result<Vec<RailConfig>, ScenarioError> {
    if sections.len() > MAX_RAILS {
        let (key, count) = (Key::ROOT.child("rail"), sections.len());
        let expected = format!("there are at most {MAX_RAILS} rails");
        return Err(context.invalid_as(&key, count.to_string(), expected));
    }
    let mut rails: Vec<RailConfig> = Vec::new();
    for (index, section) in sections.iter_mut().enumerate() {
        let name = section.common.name.fill(format!("rail{index}"));
        context.name(&name)?;
        let rail = kind::resolve(context, section, &name)?;
        if rails.iter().any(|other| other.name == rail.name) {
            return Err(context.invalid(&name, "another rail has this name; names must be unique"));
        }
        rails.push(rail);
    }
    Ok(rails)
}

/// Resolves the allocator of a file, with its parameters.
fn allocator(
    context: &Context<'_>,
    section: &PolicySection,
) -> Result<AllocatorConfig, ScenarioError> {
    let key = section.name.key();
    rail::allocator_config(&section.name, &section.parameters).map_err(|error| match error {
        SchemeError::Unknown { name, known } => {
            let known: Vec<&str> = known.split(", ").collect();
            context.unknown(key, Lookup { what: "allocator", name: &name, known: &known })
        }
        SchemeError::Malformed { error, .. } => {
            context.unreadable(section.parameters.key(), error, &["name"])
        }
        SchemeError::Parameter { reason, .. } => {
            policy::fault_of(context, section, reason, |given| {
                rail::allocator_config(&section.name, given).err()
            })
        }
    })
}
