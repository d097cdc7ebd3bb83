//! Experiments: how they are read, and their description for the simulator that runs them.

mod error;

use std::fmt;
use std::path::Path;

pub(crate) use error::{ExperimentError, UnknownValue};

use evenkeel_engine::fabric::Setup;
use evenkeel_engine::ids::HostId;
use evenkeel_engine::nic::NicConfig;
use evenkeel_engine::switching::{Direction, Failure, TrimVictim};
use evenkeel_engine::topology::Topology;
use evenkeel_scenario::{self as scenario, Scenario, ScenarioError};

use super::classes::assign_class_streams;
use super::contract::{Graph, Overrides};
use super::core::Core;
use super::graph::{graph, topology};

/// Everything that determines a run.
pub(crate) struct Experiment {
    pub(super) setup: Setup,
    warnings: Vec<String>,
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an experiment under {}", self.setup.scheme.name)
    }
}

/// A text that is in no file. Scenario messages begin with the path of the file, so these have the
/// name of the text there instead.
#[derive(Debug, Clone, Copy)]
pub(super) struct InlineText {
    /// The name of the text, for messages.
    name: &'static str,
}

/// The text of a scenario made by a program.
const SCENARIO: InlineText = InlineText { name: "the text of the scenario" };
/// The attributes of NICs and switches, and the sections that a script added.
const SETTINGS: InlineText = InlineText { name: "the settings of the fabric" };
/// The section of a fabric that is made in one call.
const TOPOLOGY: InlineText = InlineText { name: "[topology]" };
/// The attributes of a NIC that differ from the common ones.
pub(super) const NIC: InlineText = InlineText { name: "the settings of a NIC (its attributes)" };
/// The failures that a program adds during a run.
pub(super) const FAILURE: InlineText = InlineText { name: "the failure" };

impl InlineText {
    /// The file stem that stands for the text while it is read; no real file has it.
    pub(super) const STEM: &str = "\u{1}";

    /// Replaces the path in a message with the name of the text.
    fn named(self, folder: &Path, message: &str) -> String {
        let path = folder.join(format!("{}.toml", Self::STEM)).display().to_string();
        message.replace(&path, self.name)
    }

    pub(super) fn error(self, folder: &Path, error: &ScenarioError) -> ExperimentError {
        ExperimentError::Text(self.named(folder, &error.to_string()))
    }

    /// Makes the experiment of a scenario that was read from the text.
    fn experiment(self, folder: &Path, mut read: Scenario) -> Experiment {
        for warning in &mut read.warnings {
            *warning = self.named(folder, warning);
        }
        read.into()
    }
}

impl From<&Overrides> for scenario::Overrides {
    fn from(overrides: &Overrides) -> Self {
        Self {
            policy: Some(overrides.policy.clone()).filter(|name| !name.is_empty()),
            seed: overrides.has_seed.then_some(overrides.seed),
            ..Self::default()
        }
    }
}

pub(super) fn experiment_of_scenario(
    path: &str,
    overrides: &Overrides,
) -> Result<Box<Experiment>, ExperimentError> {
    let scenario = Scenario::load(Path::new(path), &overrides.into())?;
    scenario.expect_known()?;
    scenario.expect_packets()?;
    supported(scenario.into())
}

pub(super) fn experiment_of_text(
    text: &str,
    folder: &str,
    overrides: &Overrides,
) -> Result<Box<Experiment>, ExperimentError> {
    let folder = Path::new(folder);
    let read = || -> Result<Scenario, ScenarioError> {
        let scenario = Scenario::parse(text, InlineText::STEM, folder, &overrides.into())?;
        scenario.expect_known()?;
        scenario.expect_packets()?;
        Ok(scenario)
    };
    let scenario = read().map_err(|error| SCENARIO.error(folder, &error))?;
    supported(SCENARIO.experiment(folder, scenario))
}

/// Rejects settings that ns-3's fabric does not simulate.
///
/// # Panics
/// With invalid traffic classes, as evenkeel's own fabric does.
pub(crate) fn expect_supported_by_ns3(setup: &Setup) -> Result<(), ExperimentError> {
    setup.check_classes();
    expect_priority_of_acks(setup)?;
    let Setup { topology, fabric, nic, own_nics, .. } = setup;
    for NicConfig { congestion, .. } in std::iter::once(nic).chain(own_nics.values()) {
        if congestion.telemetry().is_some() {
            return Err(ExperimentError::Telemetry { name: congestion.name() });
        }
        if congestion.credit().is_some() {
            return Err(ExperimentError::Credit { name: congestion.name() });
        }
    }
    if fabric.switch.cbfc.is_some() {
        return Err(ExperimentError::LinkCredit);
    }
    if fabric.llr.is_some() {
        return Err(ExperimentError::Retry);
    }
    if topology.scale_up().is_some() {
        return Err(ExperimentError::ScaleUp);
    }
    let policies = setup.policies();
    let detours = policies.all().iter().find(|it| it.scheme.switch.uses_detours());
    if let Some(policy) = detours.filter(|_| topology.direct().is_some()) {
        return Err(ExperimentError::Detours { name: policy.scheme.name });
    }
    let displaces = fabric.switch.trim.is_some_and(|it| it.victim == TrimVictim::ArrivingOrLast);
    if displaces {
        return Err(ExperimentError::TrimVictim);
    }
    expect_both_directions(topology, &fabric.failures)
}

/// Rejects acknowledgements that are sent as data if data has traffic classes.
fn expect_priority_of_acks(setup: &Setup) -> Result<(), ExperimentError> {
    let mut hosts = (0..setup.topology.host_count()).map(HostId);
    let as_data = hosts.find(|&host| !setup.nic_of(host).ack.priority);
    match as_data.filter(|_| setup.fabric.has_classes()) {
        Some(HostId(host)) => Err(ExperimentError::Acknowledgements { host }),
        None => Ok(()),
    }
}

/// Rejects failures of one direction of a link.
pub(super) fn expect_both_directions(
    topology: &Topology,
    failures: &[Failure],
) -> Result<(), ExperimentError> {
    match failures.iter().find(|failure| failure.direction != Direction::Both) {
        Some(failure) => {
            let link = topology.link_names()[failure.link.index()].clone();
            Err(ExperimentError::OneDirection { link })
        }
        None => Ok(()),
    }
}

/// Returns a script's experiment, or an error if ns-3's fabric does not simulate its settings.
fn supported(mut experiment: Experiment) -> Result<Box<Experiment>, ExperimentError> {
    expect_supported_by_ns3(&experiment.setup)?;
    assign_class_streams(&mut experiment.setup)?;
    Ok(Box::new(experiment))
}

pub(super) fn experiment_on_graph(
    graph: &Graph,
    text: &str,
    folder: &str,
    overrides: &Overrides,
) -> Result<Box<Experiment>, ExperimentError> {
    let topology = topology(graph)?;
    let folder = Path::new(folder);
    let read = || -> Result<Scenario, ScenarioError> {
        let scenario = Scenario::on(topology, text, InlineText::STEM, folder, &overrides.into())?;
        scenario.expect_packets()?;
        Ok(scenario)
    };
    let scenario = read().map_err(|error| SETTINGS.error(folder, &error))?;
    supported(SETTINGS.experiment(folder, scenario))
}

pub(super) fn graph_of(section: &str, folder: &str) -> Result<Graph, ExperimentError> {
    let folder = Path::new(folder);
    let topology = Scenario::topology(section, InlineText::STEM, folder);
    Ok(graph(&topology.map_err(|error| TOPOLOGY.error(folder, &error))?))
}

impl From<Scenario> for Experiment {
    fn from(scenario: Scenario) -> Self {
        Self::new(scenario.setup(), scenario.warnings)
    }
}

impl Experiment {
    pub(crate) fn new(setup: Setup, warnings: Vec<String>) -> Self {
        Self { setup, warnings }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    pub(super) fn policy(&self) -> String {
        self.setup.scheme.name.to_owned()
    }

    pub(crate) fn core(&self) -> Box<Core> {
        Box::new(Core::new(&self.setup))
    }
}
