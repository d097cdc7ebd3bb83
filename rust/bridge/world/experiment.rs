//! What there is: where an experiment is from, and what a world must know to build it.

use std::fmt;
use std::path::Path;

use super::contract::{
    EcnFacts, FaultFacts, Graph, InPlace, IngressFacts, Settings, StepFacts, SwitchNode, WireLink,
};
use super::core::Core;
use crate::fabric::parts::{Pfc, Plan, Witness};
use crate::fabric::{Buffer, Ecn, EcnPoint, FailureKind, Rounding, Setup};
use crate::hpcc::{self, HpccError};
use crate::ids::{HostId, PortId, SwitchId};
use crate::scenario::{Overrides, Scenario, ScenarioError};
use crate::topology::{Link, Node, Switch, Topology, TopologyError};
use crate::units::{BitRate, Span};

/// Why there is no experiment.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExperimentError {
    /// A scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A configuration of the HPCC family, or a file that it names.
    #[error(transparent)]
    Hpcc(#[from] HpccError),
    /// A graph is no fabric.
    #[error("the graph: {0}")]
    Graph(#[from] TopologyError),
    /// Results of that family are asked for, and the experiment is none of it.
    #[error("fct.txt is written for experiments from a configuration of the HPCC family alone")]
    NotHpcc,
    /// A file cannot be written.
    #[error("{path} cannot be written: {reason}")]
    Unwritable {
        /// Which.
        path: String,
        /// Why.
        reason: std::io::Error,
    },
}

/// What determines a run.
pub(in crate::bridge) struct Experiment {
    pub(super) setup: Setup,
    plan: Plan,
    pfc: Option<Pfc>,
    pub(super) hpcc: Option<Box<hpcc::Experiment>>,
    warnings: Vec<String>,
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an experiment under {}", self.setup.scheme.name)
    }
}

/// What a scenario's text is called in errors, where it stands in no file.
const NAME: &str = "scenario";

fn overrides(in_place: &InPlace) -> Overrides {
    Overrides {
        policy: Some(in_place.policy.clone()).filter(|name| !name.is_empty()),
        seed: in_place.has_seed.then_some(in_place.seed),
    }
}

pub(super) fn experiment_of_scenario(
    path: &str,
    in_place: &InPlace,
) -> Result<Box<Experiment>, ExperimentError> {
    let scenario = Scenario::load(Path::new(path), &overrides(in_place))?;
    scenario.expect_known()?;
    Ok(Box::new(scenario.into()))
}

pub(super) fn experiment_of_text(
    text: &str,
    folder: &str,
    in_place: &InPlace,
) -> Result<Box<Experiment>, ExperimentError> {
    let scenario = Scenario::parse(text, NAME, Path::new(folder), &overrides(in_place))?;
    scenario.expect_known()?;
    Ok(Box::new(scenario.into()))
}

pub(super) fn experiment_on_graph(
    graph: &Graph,
    text: &str,
    folder: &str,
    in_place: &InPlace,
) -> Result<Box<Experiment>, ExperimentError> {
    let topology = topology(graph)?;
    let (folder, overrides) = (Path::new(folder), overrides(in_place));
    Ok(Box::new(Scenario::on(topology, text, NAME, folder, &overrides)?.into()))
}

pub(super) fn experiment_of_hpcc(
    path: &str,
    in_place: &InPlace,
    truncate_ns: bool,
) -> Result<Box<Experiment>, ExperimentError> {
    let Overrides { policy, seed } = overrides(in_place);
    let rounding = if truncate_ns { Rounding::TruncateNs } else { Rounding::Exact };
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
        let Setup { fabric, topology, scheme, .. } = &setup;
        Self {
            plan: Plan::new(&fabric.failures, scheme.weights),
            pfc: fabric.switch.pfc.map(|pfc| Pfc::new(&pfc, fabric, topology)),
            hpcc: None,
            warnings,
            setup,
        }
    }

    pub(super) fn graph(&self) -> Graph {
        graph(&self.setup.topology)
    }

    pub(super) fn settings(&self) -> Settings {
        let Setup { fabric, nic, scheme, seed, time_limit, .. } = &self.setup;
        let switch = &fabric.switch;
        let (shared_buffer, buffer) = match switch.buffer {
            Buffer::Shared(bytes) => (true, bytes),
            Buffer::PerPort(bytes) => (false, bytes),
        };
        Settings {
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
            truncate_ns: fabric.rounding == Rounding::TruncateNs,
            ack_priority: nic.ack.priority,
            looks_at_queues: scheme.switch.uses_queue_lengths(),
            time_limit_ps: time_limit.as_ps(),
            seed: *seed,
        }
    }

    pub(super) fn ecn(&self, port: u32) -> EcnFacts {
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
        EcnFacts {
            kmin,
            kmax,
            pmax_numerator: numerator.into(),
            pmax_denominator: denominator.into(),
        }
    }

    pub(super) fn ingress(&self, port: u32) -> IngressFacts {
        let Some(pfc) = &self.pfc else { return IngressFacts::default() };
        let (reserve, headroom, alpha) = pfc.kept_for(PortId(port));
        let (alpha_numerator, alpha_denominator) = alpha;
        IngressFacts { reserve, headroom, alpha_numerator, alpha_denominator }
    }

    pub(super) fn pool_size(&self, switch_number: u32) -> u64 {
        self.pfc.as_ref().map_or(0, |pfc| pfc.pool_size(SwitchId(switch_number)))
    }

    pub(super) fn faults(&self) -> Vec<FaultFacts> {
        let failures = self.setup.fabric.failures.iter();
        let mut faults: Vec<FaultFacts> = failures
            .filter_map(|failure| {
                let rate = match failure.kind {
                    FailureKind::Down => None,
                    FailureKind::Loss { rate } => Some(rate),
                    FailureKind::Degrade { .. } => return None,
                };
                Some(FaultFacts {
                    link: failure.link.0,
                    is_loss: rate.is_some(),
                    from_ps: failure.at.as_ps(),
                    until_ps: failure.until.as_ps(),
                    numerator: rate.map_or(1, |rate| rate.numerator()),
                    denominator: rate.map_or(1, |rate| rate.denominator()),
                })
            })
            .collect();
        // Draws are made cause by cause, in the order in which they were written down.
        faults.sort_by_key(|fault| fault.link);
        faults
    }

    pub(super) fn steps(&self) -> Vec<StepFacts> {
        let steps = self.plan.steps().iter().map(|step| StepFacts {
            at_ps: step.at.as_ps(),
            witness: match step.witness {
                Witness::Wire => 0,
                Witness::Ends => 1,
                Witness::Routing => 2,
            },
            link: step.link.0,
            rate_bps: self.plan.rate_after(step, &self.setup.topology).as_bps(),
        });
        steps.collect()
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
    let end = |number: u32, is_host: bool| match is_host {
        true => Node::Host(HostId(number)),
        false => Node::Switch(SwitchId(number)),
    };
    let switches = graph.switches.iter().map(|switch| Switch {
        name: switch.name.clone(),
        tier: u8::try_from(switch.tier).unwrap_or(u8::MAX),
    });
    let links = graph.links.iter().map(|link| Link {
        ends: [end(link.a, link.a_is_host), end(link.b, link.b_is_host)],
        rate: BitRate::from_bps(link.rate_bps),
        delay: Span::from_ps(link.delay_ps),
    });
    Topology::new(graph.hosts.clone(), switches.collect(), links.collect())
}

fn graph(topology: &Topology) -> Graph {
    let number = |node: Node| match node {
        Node::Host(host) => (host.0, true),
        Node::Switch(switch) => (switch.0, false),
    };
    let switches = topology.switches().iter();
    let links = topology.links().iter().map(|link| {
        let [(a, a_is_host), (b, b_is_host)] = link.ends.map(number);
        let (rate_bps, delay_ps) = (link.rate.as_bps(), link.delay.as_ps());
        WireLink { a, b, a_is_host, b_is_host, rate_bps, delay_ps }
    });
    Graph {
        hosts: topology.host_names().to_vec(),
        switches: switches
            .map(|switch| SwitchNode { name: switch.name.clone(), tier: switch.tier.into() })
            .collect(),
        links: links.collect(),
    }
}
