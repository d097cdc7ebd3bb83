//! Scenarios: the TOML file that describes a run, parsed once into something sound.
//!
//! What was typed is a [`ScenarioFile`]; what a run is made from is a [`Scenario`]. Between the
//! two every fault is found, each with its file, line, key and value and what would be right
//! ([`ScenarioError`]). A scenario knows how to become a [`Setup`]; it does not run.

mod explain;
mod file;
mod input;
mod rail;
mod resolve;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use explain::{Explained, Origin};
pub use file::replay::{ComputeName, StreamingName};
pub use file::sections::{
    CongestionName, EcnSection, FailureName, FailureSection, RecoveryName, SpanOrNever,
    SwitchSection, TransportSection,
};
pub use file::workload::{DependenciesName, WorkloadSection};
pub use file::{
    PolicySection, SCHEMA_VERSION, ScenarioFile, TopologyFormat, TopologyKind, TopologySection,
};
pub use input::error::{Fault, Place, ScenarioError};
pub use rail::RailScenario;
pub use rail::file::{
    HostsSection, RailFailureName, RailFailureSection, RailFile, RailKindName, RailSection,
    RailWorkloadSection, Sizes,
};
pub use resolve::buffering::{HeadroomName, PfcSection, Toggle, TrimSection};

pub use resolve::training::{
    FamilyName, ModelChoice, ModelSection, ShardingName, TensorTrafficName,
};

use crate::balance::Scheme;
use crate::fabric::{FabricConfig, Rounding, Setup};
use crate::ids::HostId;
use crate::nic::NicConfig;
use crate::topology::Topology;
use crate::units::Time;
use crate::workload::Workload;
use crate::workload::chakra::{ChakraError, Streaming};
use input::context::Context;
use input::source::Source;
use resolve::{buffering, topology};
use resolve::{failure, job, limits, policy, switch, trace_file, transport, workload};

/// What the command line says in place of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The policy, with its default parameters unless it is the file's own.
    pub policy: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
}

/// A sound scenario: whatever can be wrong with it has been found.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The stem of its file's name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The file as resolved: overrides and defaults filled in, keys that do not apply left out.
    pub file: ScenarioFile,
    /// Who is wired to whom.
    pub topology: Arc<Topology>,
    /// What is sent; of traces that are read while the run goes on, their load.
    pub workload: Arc<Workload>,
    /// Traces that are read while the run goes on, if they are what is sent.
    pub traces: Option<Arc<Streaming>>,
    /// Links, switches and failures.
    pub fabric: FabricConfig,
    /// Every host's NIC.
    pub nic: NicConfig,
    /// How load is balanced.
    pub scheme: Scheme,
    /// Where every random draw comes from.
    pub seed: u64,
    /// A run past it did not complete.
    pub time_limit: Time,
    /// What readers of files want people to know.
    pub warnings: Vec<String>,
    /// By the number that flow files use: which host that is.
    host_of_node: Arc<[Option<HostId>]>,
    origin: Arc<Typed>,
    overrides: Overrides,
}

/// Where the fabric of a scenario is from.
enum Ground {
    /// Its section `[topology]`.
    Described,
    /// It is there already.
    Wired(Box<Topology>),
}

/// The file as typed, kept so that a scenario can be resolved again with other overrides.
#[derive(Debug)]
struct Typed {
    source: Source,
    file: ScenarioFile,
    folder: PathBuf,
}

impl Scenario {
    /// Reads and resolves a scenario's file.
    ///
    /// # Errors
    /// Whatever is wrong with the file, with the files that it names, or with the overrides.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(path).map_err(|reason| {
            let file = path.display().to_string();
            ScenarioError {
                place: Box::new(Place::File { file: file.clone() }),
                fault: Box::new(Fault::Unreadable { path: file, reason }),
            }
        })?;
        Self::resolve(text, path, overrides, Ground::Described)
    }

    /// Resolves a scenario's text as if it stood in the file `name`.toml in `folder`.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(
        text: &str,
        name: &str,
        folder: &Path,
        overrides: &Overrides,
    ) -> Result<Self, ScenarioError> {
        let path = folder.join(format!("{name}.toml"));
        Self::resolve(text.to_owned(), &path, overrides, Ground::Described)
    }

    /// The same on a fabric that is there already: of `[topology]` the text has `gap` and
    /// `forwarding_delay` alone, and without a section `[workload]` nothing is sent.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn on(
        topology: Topology,
        text: &str,
        name: &str,
        folder: &Path,
        overrides: &Overrides,
    ) -> Result<Self, ScenarioError> {
        let path = folder.join(format!("{name}.toml"));
        Self::resolve(text.to_owned(), &path, overrides, Ground::Wired(Box::new(topology)))
    }

    /// The fabric that a section `[topology]` describes, given without its heading.
    ///
    /// # Errors
    /// Whatever is wrong with the section, or with a file that it names.
    pub fn topology(section: &str, name: &str, folder: &Path) -> Result<Topology, ScenarioError> {
        let path = folder.join(format!("{name}.toml"));
        let text = format!("[topology]\n{section}");
        let source = Source::read(text, path.display().to_string())?;
        let overrides = Overrides::default();
        let context = Context { source: &source, overrides: &overrides, folder };
        Ok(topology::resolve(&context, &source.typed()?.topology)?.topology)
    }

    fn resolve(
        text: String,
        path: &Path,
        overrides: &Overrides,
        ground: Ground,
    ) -> Result<Self, ScenarioError> {
        let source = Source::read(text, path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let typed = one_network(&source, &folder)?;
        let context = Context { source: &source, overrides, folder: &folder };
        let mut file = typed.clone();
        file.seed = limits::seed(&context, overrides.seed.unwrap_or(typed.seed))?;
        let time_limit = limits::general(&context, &file)?;

        let chosen = policy::chosen(&typed.policy, overrides.policy.as_deref());
        let scheme;
        (file.policy, scheme) = policy::resolve(&context, chosen)?;
        let sends = match &ground {
            Ground::Described => Sends::Anything,
            Ground::Wired(_) if source.has("workload") => Sends::Known,
            Ground::Wired(_) => Sends::Nothing,
        };
        let built = match ground {
            Ground::Described => topology::resolve(&context, &file.topology)?,
            Ground::Wired(graph) => topology::wired(&context, &file.topology, *graph)?,
        };
        let (transport, nic) =
            transport::resolve(&context, &file.transport, scheme.recovery, &file.switch.trim)?;
        let packet = nic.payload + nic.header;
        let (switch, switch_config) = switch::resolve(&context, &file.switch, packet)?;
        let run = failure::Run { seed: file.seed, time_limit };
        let failures = failure::resolve(&context, &file.failure, &built.topology, run)?;
        let fabric = FabricConfig {
            switch: switch_config,
            ecn_by_rate: Vec::new(),
            gap: built.section.gap.unwrap_or_default(),
            forwarding_delay: built.section.forwarding_delay.unwrap_or_default(),
            rounding: Rounding::default(),
            failures,
        };
        buffering::pool(&context, &fabric, &built.topology)?;
        let place = workload::Place {
            section: "workload".to_owned(),
            topology: &built.topology,
            host_of_node: &built.host_of_node,
            seed: file.seed,
            hosts: None,
        };
        let (sent, traces) = sent(&context, (&file, sends), &place)?;
        let workload = sent.workload;
        let warnings = [built.warnings, sent.warnings].concat();
        (file.topology, file.transport, file.switch) = (built.section, transport, switch);
        (file.workload, file.job) = (sent.workload_section, sent.jobs);
        limits::whole_run(
            &context,
            (&file, &workload),
            (traces.as_ref().map(|traces| traces.longest()), &built.topology),
            (&nic, &fabric, time_limit),
        )?;
        Ok(Self {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            path: path.to_owned(),
            seed: file.seed,
            time_limit,
            topology: Arc::new(built.topology),
            host_of_node: built.host_of_node.into(),
            warnings,
            workload: Arc::new(workload),
            traces,
            fabric,
            nic,
            scheme,
            file,
            overrides: overrides.clone(),
            origin: Arc::new(Typed { source, file: typed, folder }),
        })
    }

    /// How many messages are sent.
    pub fn messages(&self) -> u64 {
        let known = || self.workload.messages.len() as u64;
        self.traces.as_ref().map_or_else(known, |traces| traces.messages())
    }

    /// Refuses traces that are read while a run goes on, for whoever has to know all messages
    /// before.
    ///
    /// # Errors
    /// Its messages are not known.
    pub fn expect_known(&self) -> Result<(), ScenarioError> {
        if self.traces.is_none() {
            return Ok(());
        }
        let right = "here all messages have to be known before; with false, the traces are read as \
                     a whole";
        let context = self.origin.context(&self.overrides);
        Err(context.senseless_as("workload.streaming", "true".to_owned(), right.to_owned()))
    }

    /// A fault of its traces that showed when they were replayed.
    pub fn trace_fault(&self, error: ChakraError) -> ScenarioError {
        let context = self.origin.context(&self.overrides);
        context.fault("workload.file", Fault::Chakra(error))
    }

    /// What a run is given. Where there are `traces`, it is given those, and the workload is for
    /// bounds.
    pub fn setup(&self) -> Setup {
        Setup {
            topology: Arc::clone(&self.topology),
            fabric: self.fabric.clone(),
            nic: self.nic.clone(),
            scheme: self.scheme.clone(),
            workload: Arc::clone(&self.workload),
            seed: self.seed,
            time_limit: self.time_limit,
            probes: Vec::new(),
        }
    }

    /// The same scenario under another policy, with that policy's default parameters unless it
    /// is the file's own; topology and workload are shared with this one.
    ///
    /// # Errors
    /// No policy has that name, or the file's parameters are wrong.
    pub fn with_policy(&self, name: &str) -> Result<Self, ScenarioError> {
        let mut other = self.clone();
        other.overrides.policy = Some(name.to_owned());
        let context = self.origin.context(&other.overrides);
        let chosen = policy::chosen(&self.origin.file.policy, Some(name));
        (other.file.policy, other.scheme) = policy::resolve(&context, chosen)?;
        let typed = &self.origin.file;
        let (recovery, trim) = (other.scheme.recovery, &typed.switch.trim);
        (other.file.transport, other.nic) =
            transport::resolve(&context, &typed.transport, recovery, trim)?;
        Ok(other)
    }

    /// The same scenario with another seed: random workloads and failures are drawn again, the
    /// topology is shared with this one.
    ///
    /// # Errors
    /// The seed is beyond what TOML can write.
    pub fn with_seed(&self, seed: u64) -> Result<Self, ScenarioError> {
        let mut other = self.clone();
        other.overrides.seed = Some(seed);
        let context = self.origin.context(&other.overrides);
        other.seed = limits::seed(&context, seed)?;
        other.file.seed = seed;
        let typed = &self.origin.file;
        let run = failure::Run { seed, time_limit: self.time_limit };
        other.fabric.failures = failure::resolve(&context, &typed.failure, &self.topology, run)?;
        // What is in a file draws nothing, and the file may have changed since it was read.
        if self.file.workload.iter().chain(&self.file.job).all(|it| it.file.is_some()) {
            return Ok(other);
        }
        let place = workload::Place {
            section: "workload".to_owned(),
            topology: &self.topology,
            host_of_node: &self.host_of_node,
            seed,
            hosts: None,
        };
        other.workload = Arc::new(job::resolve(&context, typed, &place)?.workload);
        Ok(other)
    }
}

/// What a scenario may send.
enum Sends {
    Anything,
    /// What is known before it runs.
    Known,
    Nothing,
}

/// What the sections send, and the traces that are read while it runs.
fn sent(
    context: &Context<'_>,
    (file, sends): (&ScenarioFile, Sends),
    place: &workload::Place<'_>,
) -> Result<(job::AllSent, Option<Arc<Streaming>>), ScenarioError> {
    let streamed = match sends {
        Sends::Nothing => return Ok((job::nothing(file), None)),
        Sends::Known => None,
        Sends::Anything => trace_file::stream(context, file, place)?,
    };
    match streamed {
        Some((sent, traces)) => Ok((sent, Some(traces))),
        None => Ok((job::resolve(context, file, place)?, None)),
    }
}

/// What a file of hosts on one network says; those with rails are read by [`RailScenario`].
fn one_network(source: &Source, folder: &Path) -> Result<ScenarioFile, ScenarioError> {
    if source.has("rail") {
        let overrides = Overrides::default();
        let context = Context { source, overrides: &overrides, folder };
        let because =
            "hosts with several rails are for `run`, `compare` and `check`, because each \
                       rail is a network of its own; give one network: a scenario of one rail, or \
                       topology.kind = 'rail-optimized' for servers with several NICs"
                .to_owned();
        return Err(context.fault("rail", Fault::Misplaced { key: "rail".to_owned(), because }));
    }
    source.typed()
}

impl Typed {
    fn context<'a>(&'a self, overrides: &'a Overrides) -> Context<'a> {
        Context { source: &self.source, overrides, folder: &self.folder }
    }
}
