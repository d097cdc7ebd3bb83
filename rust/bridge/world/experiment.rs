//! Experiments: where they come from, and their description for the world that runs them.

use std::fmt;
use std::path::Path;

use super::contract::{Graph, Overrides, SwitchNode};
use super::convert::{Known as _, UnknownValue};
use super::core::Core;
use super::enumerations::{FabricFaultKind, FabricRounding};
use super::records::{FabricEcn, FabricFault, FabricLink, FabricSettings};
use crate::fabric::Setup;
use crate::hpcc::{self, HpccError};
use crate::ids::PortId;
use crate::scenario::{self, Scenario, ScenarioError};
use crate::switching::{Buffer, Direction, Ecn, EcnPoint, FailureKind, Rounding};
use crate::topology::{Link, Node, Switch, Topology, TopologyError};
use crate::units::{BitRate, Span};

/// Why an experiment cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExperimentError {
    /// A scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A configuration of the HPCC family, or a file that it names, is invalid.
    #[error(transparent)]
    Hpcc(#[from] HpccError),
    /// A graph is not a fabric.
    #[error("the graph: {0}")]
    Graph(#[from] TopologyError),
    /// A value that an enumeration does not have.
    #[error(transparent)]
    Unknown(#[from] UnknownValue),
    /// A link fails in one direction only.
    #[error(
        "link {link} fails in one direction only (`from`), which only the fabric of evenkeel \
         simulates; leave `from` out, or run it with `evenkeel run`"
    )]
    OneDirection {
        /// The name of the link.
        link: String,
    },
    /// The experiment does not come from a configuration of the HPCC family.
    #[error("fct.txt is written only for experiments from a configuration of the HPCC family")]
    NotHpcc,
    /// A file cannot be written.
    #[error("{path} cannot be written: {reason}")]
    Unwritable {
        /// Path of the file that could not be written.
        path: String,
        /// The error of the operating system.
        reason: std::io::Error,
    },
}

/// Everything that determines a run.
pub(in crate::bridge) struct Experiment {
    pub(super) setup: Setup,
    pub(super) hpcc: Option<Box<hpcc::Experiment>>,
    warnings: Vec<String>,
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an experiment under {}", self.setup.scheme.name)
    }
}

/// The name of a scenario in errors if its text is not from a file.
const NAME: &str = "scenario";

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
    let scenario = Scenario::parse(text, NAME, Path::new(folder), &overrides.into())?;
    scenario.expect_known()?;
    scenario.expect_packets()?;
    supported(scenario.into())
}

/// The experiment, unless it has what the world of ns-3 does not simulate.
fn supported(experiment: Experiment) -> Result<Box<Experiment>, ExperimentError> {
    let Setup { topology, fabric, .. } = &experiment.setup;
    match fabric.failures.iter().find(|failure| failure.direction != Direction::Both) {
        Some(failure) => {
            let link = topology.link_names()[failure.link.index()].clone();
            Err(ExperimentError::OneDirection { link })
        }
        None => Ok(Box::new(experiment)),
    }
}

pub(super) fn experiment_on_graph(
    graph: &Graph,
    text: &str,
    folder: &str,
    overrides: &Overrides,
) -> Result<Box<Experiment>, ExperimentError> {
    let topology = topology(graph)?;
    let scenario = Scenario::on(topology, text, NAME, Path::new(folder), &overrides.into())?;
    scenario.expect_packets()?;
    supported(scenario.into())
}

pub(super) fn experiment_of_hpcc(
    path: &str,
    overrides: &Overrides,
    rounding: FabricRounding,
) -> Result<Box<Experiment>, ExperimentError> {
    let scenario::Overrides { policy, seed, .. } = overrides.into();
    let rounding: Rounding = rounding.known()?;
    let overrides = hpcc::Overrides { lb: policy, seed, rounding, ..hpcc::Overrides::default() };
    Ok(Box::new(hpcc::Experiment::load(Path::new(path), &overrides)?.into()))
}

impl From<hpcc::Experiment> for Experiment {
    fn from(read: hpcc::Experiment) -> Self {
        let experiment = Self::new(read.setup.clone(), read.warnings.clone());
        Self { hpcc: Some(Box::new(read)), ..experiment }
    }
}

pub(super) fn graph_of(section: &str, folder: &str) -> Result<Graph, ExperimentError> {
    Ok(graph(&Scenario::topology(section, NAME, Path::new(folder))?))
}

impl From<Scenario> for Experiment {
    fn from(scenario: Scenario) -> Self {
        Self::new(scenario.setup(), scenario.warnings)
    }
}

impl Experiment {
    pub(in crate::bridge) fn new(setup: Setup, warnings: Vec<String>) -> Self {
        Self { setup, hpcc: None, warnings }
    }

    pub(super) fn graph(&self) -> Graph {
        graph(&self.setup.topology)
    }

    pub(super) fn settings(&self) -> FabricSettings {
        let Setup { fabric, nic, time_limit, .. } = &self.setup;
        let switch = &fabric.switch;
        let (shared_buffer, buffer) = match switch.buffer {
            Buffer::Shared(bytes) => (true, bytes),
            Buffer::PerPort(bytes) => (false, bytes),
        };
        FabricSettings {
            shared_buffer,
            buffer_bytes: buffer.get(),
            ecn_at_dequeue: switch.ecn_point == EcnPoint::Dequeue,
            pfc: switch.pfc.is_some(),
            pfc_resume_offset: switch.pfc.map_or(0, |pfc| pfc.resume_offset.get()),
            trim: switch.trim.is_some(),
            trim_size: switch.trim.map_or(0, |trim| trim.size.get()),
            trim_limit: switch.trim.map_or(0, |trim| trim.limit.get()),
            gap_bytes: u32::try_from(fabric.gap.get()).unwrap_or(u32::MAX),
            forwarding_delay_ps: fabric.forwarding_delay.as_ps(),
            rounding: fabric.rounding.into(),
            ack_priority: nic.ack.priority,
            looks_at_queues: self.setup.policies().for_switches().switch.uses_queue_lengths(),
            time_limit_ps: time_limit.as_ps(),
        }
    }

    pub(super) fn ecn(&self, port: u32) -> FabricEcn {
        let topology = &self.setup.topology;
        let port = PortId(port);
        let ecn = match topology.ends_of(port).0 {
            Node::Switch(_) => self.setup.fabric.ecn_at(topology.link(port.link()).rate),
            Node::Host(_) => Ecn::Off,
        };
        let (kmin, kmax, (numerator, denominator)) = match ecn {
            Ecn::Off => (u64::MAX, u64::MAX, (0, 1)),
            Ecn::Step(step) => (step.get(), step.get(), (1, 1)),
            Ecn::Ramp { kmin, kmax, pmax } => {
                (kmin.get(), kmax.get(), (pmax.numerator(), pmax.denominator()))
            }
        };
        FabricEcn {
            kmin,
            kmax,
            pmax_numerator: numerator.into(),
            pmax_denominator: denominator.into(),
        }
    }

    pub(super) fn faults(&self) -> Vec<FabricFault> {
        let failures = self.setup.fabric.failures.iter();
        let mut faults: Vec<FabricFault> = failures
            .filter_map(|failure| {
                let (kind, numerator, denominator) = match failure.kind {
                    FailureKind::Down => (FabricFaultKind::DOWN, 1, 1),
                    FailureKind::Loss { rate } => {
                        (FabricFaultKind::LOSS, rate.numerator(), rate.denominator())
                    }
                    FailureKind::Degrade { .. } => return None,
                };
                Some(FabricFault {
                    link: failure.link.0,
                    kind,
                    from_ps: failure.at.as_ps(),
                    until_ps: failure.until.as_ps(),
                    numerator,
                    denominator,
                })
            })
            .collect();
        // The faults of a link keep the order of the scenario, because each makes its own draws.
        faults.sort_by_key(|fault| fault.link);
        faults
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    pub(super) fn policy(&self) -> String {
        self.setup.scheme.name.to_owned()
    }

    pub(in crate::bridge) fn core(&self) -> Box<Core> {
        Box::new(Core::new(&self.setup))
    }
}

fn topology(graph: &Graph) -> Result<Topology, TopologyError> {
    let switches = graph.switches.iter().map(|switch| Switch {
        name: switch.name.clone(),
        tier: u8::try_from(switch.tier).unwrap_or(u8::MAX),
    });
    let links = graph.links.iter().map(|link| Link {
        ends: [link.a.into(), link.b.into()],
        rate: BitRate::from_bps(link.rate_bps),
        delay: Span::from_ps(link.delay_ps),
    });
    Topology::new(graph.hosts.clone(), switches.collect(), links.collect())
}

fn graph(topology: &Topology) -> Graph {
    let switches = topology.switches().iter();
    let links = topology.links().iter().map(|link| {
        let [a, b] = link.ends.map(Into::into);
        FabricLink { a, b, rate_bps: link.rate.as_bps(), delay_ps: link.delay.as_ps() }
    });
    Graph {
        hosts: topology.host_names().to_vec(),
        switches: switches
            .map(|switch| SwitchNode { name: switch.name.clone(), tier: switch.tier.into() })
            .collect(),
        links: links.collect(),
    }
}
