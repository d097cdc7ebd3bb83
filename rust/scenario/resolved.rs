//! A valid scenario: the input of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{Fabric, ScenarioFile};
use super::input::context::Context;
use super::input::error::{Fault, ScenarioError};
use super::input::located::Key;
use super::input::overrides::Overrides;
use super::input::source::Source;
use super::resolve::messages::Messages;
use super::resolve::{
    buffering, class, derived, fabric, failure, inert, job, job_policy, limits, messages, planes,
    policy, policy_warnings, record, recovery, switch, transport,
};
use super::topologies::Shape;
use super::topologies::file::TopologyFormat;
use super::workloads::Ground;
use crate::balance::{SHARED_PARAMETERS, Scheme};
use crate::chakra::{ChakraError, Streaming};
use crate::endpoint::{JobClass, JobPolicy, LongestPath, longest_path};
use crate::fabric::{FabricConfig, Setup};
use crate::fluid::Fidelity;
use crate::ids::{HostId, LinkId};
use crate::nic::NicConfig;
use crate::record::Recording;
use crate::topology::Topology;
use crate::units::{Bytes, Time};
use crate::workload::Workload;

/// A valid scenario: all faults have been found before it exists.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The stem of its file's name.
    pub name: String,
    /// Path of the scenario's file.
    pub path: PathBuf,
    /// The file as resolved: overrides and defaults filled in, keys that do not apply left out.
    pub file: ScenarioFile,
    /// Hosts, switches and links.
    pub topology: Arc<Topology>,
    /// The messages; of traces that are read during the run, their load.
    pub workload: Arc<Workload>,
    /// The traces, if they are read during the run.
    pub traces: Option<Arc<Streaming>>,
    /// Links, switches and failures.
    pub fabric: FabricConfig,
    /// The settings of every host's NIC.
    pub nic: NicConfig,
    /// The load-balancing scheme that the policy names.
    pub scheme: Scheme,
    /// The policies of jobs with one of their own.
    pub job_policies: Vec<JobPolicy>,
    /// The traffic classes of jobs, by index among those of `fabric`.
    pub job_classes: Vec<JobClass>,
    /// Whether a run moves packets or flows of bytes.
    pub fidelity: Fidelity,
    /// What is recorded over time.
    pub recordings: Vec<Recording>,
    /// The seed of every random draw.
    pub seed: u64,
    /// The time at which a run ends that has not completed.
    pub time_limit: Time,
    /// What a user should know: warnings of readers of files, a file without keys, sections and
    /// parameters that are not used, and policies without what their transport is made for.
    pub warnings: Vec<String>,
    /// The paths of keys without effect, which the file does not give.
    pub(super) left_out: Vec<String>,
    /// The warnings of files alone, which no other policy changes.
    file_warnings: Vec<String>,
    /// The links that files of workloads take down.
    down: Vec<LinkId>,
    /// The host of each node id of flow files.
    host_of_node: Arc<[Option<HostId>]>,
    /// The file that the topology was read from.
    topology_text: Option<Arc<str>>,
    pub(super) origin: Arc<Typed>,
}

/// The file as typed, kept so that a scenario can be resolved again with other overrides.
#[derive(Debug)]
pub(super) struct Typed {
    pub source: Source,
    pub file: ScenarioFile,
    pub folder: PathBuf,
}

impl Typed {
    fn context(&self) -> Context<'_> {
        Context::in_folder(&self.source, &self.folder)
    }

    /// The folder to which paths in the scenario are relative.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Scenario {
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
        Self::resolve(text.to_owned(), &path, overrides, None)
    }

    /// The same on a fabric that exists already: of `[topology]` the text has `gap` and
    /// `forwarding_delay` alone, and without `[workload]` and `[[job]]` nothing is sent.
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
        Self::resolve(text.to_owned(), &path, overrides, Some(topology))
    }

    /// The text of the file that the fabric was read from, as it was then, and its format.
    pub fn topology_text(&self) -> Option<(&str, TopologyFormat)> {
        let Shape::File(section) = &self.file.topology.shape else { return None };
        Some((self.topology_text.as_deref()?, *section.format))
    }

    pub(super) fn resolve(
        text: String,
        path: &Path,
        overrides: &Overrides,
        existing: Option<Topology>,
    ) -> Result<Self, ScenarioError> {
        let source = Source::read(text, path.display().to_string())?.with(&overrides.settings)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        refuse_rails(&source)?;
        let fabric = existing.as_ref().map_or(Fabric::Described, |_| Fabric::Existing);
        let file = ScenarioFile::read(&source, fabric)?;
        let origin = Typed { source, file, folder };
        let mut file = origin.file.clone();
        file.apply(overrides);
        let world = World { existing, most_memory: overrides.most_memory };
        Self::resolve_file(path, Arc::new(origin), file, world)
    }

    pub(super) fn resolve_file(
        path: &Path,
        origin: Arc<Typed>,
        mut file: ScenarioFile,
        world: World,
    ) -> Result<Self, ScenarioError> {
        let (context, typed, existing) = (&origin.context(), &origin.file, world.existing);
        let kind = existing.as_ref().map_or(Fabric::Described, |_| Fabric::Existing);
        let (time_limit, seed) = (limits::general(context, &file.general)?, *file.general.seed);
        let scheme = policy::resolve(context, &mut file.policy)?;
        if typed.policy.name != file.policy.name {
            // The parameters in the file are checked even if another policy replaces theirs.
            policy::resolve(context, &mut typed.policy.clone())?;
        }
        let built = planes::fabric(context, &file, &scheme, existing)?;
        recovery::follow(context, &typed.policy, &mut file.transport, &scheme);
        let nic = transport::resolve(context, &mut file.transport, &scheme, &file.switch.trim)?;
        let of = (&nic, &scheme, time_limit);
        let mut fabric = fabric::resolve(context, &mut file, &built.topology, of)?;
        let ground = Ground::new(&built.topology, &built.host_of_node, seed, world.most_memory);
        let Messages { sent, traces, classes } =
            messages::resolve(context, &mut file, ground, kind)?;
        failure::take_down(&mut fabric.failures, &sent.down);
        let (workload, topology) = (&sent.workload, &built.topology);
        let common = job_policy::Common { typed, scheme: &scheme, nic: &nic, workload, topology };
        let job_policies = job_policy::resolve(context, &mut file, common)?;
        let recordings = record::resolve(context, &file, &built.topology, &fabric, kind)?;
        let remarks = origin.source.remarks(kind == Fabric::Described);
        let file_warnings = [built.warnings, sent.warnings, remarks].concat();
        let of = (&scheme, &nic, &built.topology);
        let known = traces.is_none().then_some(&sent.workload);
        let told = told(context, [typed, &file], of, &job_policies, known);
        Self {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            path: path.to_owned(),
            fidelity: *file.general.fidelity,
            seed,
            time_limit,
            topology: Arc::new(built.topology),
            host_of_node: built.host_of_node.into(),
            topology_text: built.file,
            warnings: [&file_warnings[..], &told.warnings].concat(),
            left_out: told.left_out,
            file_warnings,
            down: sent.down,
            workload: Arc::new(sent.workload),
            traces,
            fabric,
            nic,
            scheme,
            job_policies,
            job_classes: classes,
            recordings,
            file,
            origin,
        }
        .derived()
    }

    /// Fills in the defaults that follow from the fabric and the workload together, and checks the
    /// limits of what there is now.
    fn derived(mut self) -> Result<Self, ScenarioError> {
        let (origin, path) = (Arc::clone(&self.origin), self.longest_path());
        let (topology, workload, scheme) = (&*self.topology, &*self.workload, &self.scheme);
        let network = derived::Network { topology, workload, scheme, path };
        let filled =
            derived::Filled { file: &mut self.file, fabric: &mut self.fabric, nic: &mut self.nic };
        let warnings = derived::fill(&origin.context(), &origin.file, network, filled)?;
        let is_new = |warning: &String| !self.warnings.contains(warning);
        let warnings: Vec<String> = warnings.into_iter().filter(is_new).collect();
        self.warnings.extend(warnings);
        limits::CandidateRun {
            file: &self.file,
            workload: &self.workload,
            longest: self.traces.as_ref().map(|traces| traces.longest()),
            topology: &self.topology,
            nic: &self.nic,
            job_policies: &self.job_policies,
            fabric: &self.fabric,
            time_limit: self.time_limit,
        }
        .check(&origin.context())?;
        Ok(self)
    }

    /// The longest idle path of its workload.
    pub(super) fn longest_path(&self) -> LongestPath {
        let delay = self.fabric.forwarding_delay;
        longest_path(&self.topology, self.topology.routes(), &self.nic, delay, &self.workload)
    }
}

impl Scenario {
    /// The number of messages.
    pub fn messages(&self) -> u64 {
        match (&self.traces, &self.workload.chains) {
            (Some(traces), _) => traces.messages(),
            (None, Some(chains)) => chains.messages(),
            (None, None) => self.workload.messages.len() as u64,
        }
    }

    /// True if the file or the command line sets the time limit, be it to its default.
    pub fn sets_time_limit(&self) -> bool {
        self.origin.source.has(self.file.general.time_limit.key())
    }

    /// True if messages come to be during the run: traces are read, or messages are generated.
    pub fn streams(&self) -> bool {
        self.traces.is_some() || self.workload.chains.is_some()
    }

    /// Fails for messages that are read or generated during the run, for commands that need all of
    /// them before it.
    ///
    /// # Errors
    /// Fails if the messages are read or generated during the run.
    pub fn expect_known(&self) -> Result<(), ScenarioError> {
        let expected = match (&self.traces, &self.workload.chains) {
            (None, None) => return Ok(()),
            (Some(_), _) => {
                "this command needs all messages before it starts; with false, the traces are read \
                 as a whole"
            }
            (None, Some(_)) => {
                "this command needs all messages before it starts; with false, all are generated \
                 first"
            }
        };
        Err(self.origin.context().invalid_as(&self.trace_key("streaming"), "true", expected))
    }

    /// Fails for a fluid run, for commands that need packets.
    ///
    /// # Errors
    /// Fails if the scenario has `fidelity = "fluid"`.
    pub fn expect_packets(&self) -> Result<(), ScenarioError> {
        if self.fidelity == Fidelity::Packet {
            return Ok(());
        }
        let expected = "it must be 'packet' for this command; `run` and `compare` accept 'fluid'";
        let key = self.file.general.fidelity.key();
        Err(self.origin.context().invalid_as(key, "fluid", expected))
    }

    /// A fault of its traces that was found when they were replayed.
    pub fn trace_fault(&self, error: ChakraError) -> ScenarioError {
        self.origin.context().fault(&self.trace_key("file"), Fault::Chakra(error))
    }

    /// A key of the section that its traces are from.
    fn trace_key(&self, name: &str) -> Key {
        Key::ROOT.child("workload").child(name)
    }

    /// The setup of a run. With `traces`, the run replays those, and the workload is for bounds
    /// only.
    pub fn setup(&self) -> Setup {
        Setup {
            topology: Arc::clone(&self.topology),
            fabric: self.fabric.clone(),
            nic: self.nic.clone(),
            scheme: self.scheme.clone(),
            own_nics: BTreeMap::new(),
            job_policies: self.job_policies.clone(),
            job_classes: self.job_classes.clone(),
            workload: Arc::clone(&self.workload),
            seed: self.seed,
            time_limit: self.time_limit,
            probes: Vec::new(),
        }
    }

    /// The same scenario under another policy, with that policy's default parameters unless it
    /// is the file's own; topology and workload are shared with this one. Jobs with a policy of
    /// their own keep it.
    ///
    /// # Errors
    /// Fails if no policy has that name, if the file's parameters are invalid, or if switches
    /// cannot serve both that policy and those of the jobs.
    pub fn with_policy(&self, name: &str) -> Result<Self, ScenarioError> {
        let mut other = self.clone();
        let (context, typed) = (self.origin.context(), &self.origin.file);
        let file = &mut other.file;
        file.policy = typed.policy.clone();
        file.policy.override_with(name, &SHARED_PARAMETERS);
        file.transport = typed.transport.clone();
        file.switch = typed.switch.clone();
        other.scheme = policy::resolve(&context, &mut file.policy)?;
        planes::check(&context, file, &self.topology, &other.scheme)?;
        let trim = &typed.switch.trim;
        recovery::follow(&context, &typed.policy, &mut file.transport, &other.scheme);
        other.nic = transport::resolve(&context, &mut file.transport, &other.scheme, trim)?;
        let (scheme, nic, workload) = (&other.scheme, &other.nic, &*other.workload);
        // The fabric stays as it is, but for what it computes from the length of packets.
        other.fabric.switch =
            switch::resolve(&context, &mut file.switch, fabric::frames(nic, scheme))?;
        buffering::pool(&context, &file.switch, &other.fabric, &self.topology)?;
        let common = job_policy::Common { typed, scheme, nic, workload, topology: &self.topology };
        other.job_policies = job_policy::resolve(&context, file, common)?;
        let jobs = &other.job_policies;
        let of = (scheme, nic, &*self.topology);
        let known = other.traces.is_none().then_some(workload);
        let told = told(&context, [typed, &*file], of, jobs, known);
        other.warnings = [&self.file_warnings[..], &told.warnings].concat();
        other.left_out = told.left_out;
        other.derived()
    }

    /// The same scenario with another seed: random workloads and failures are drawn again, the
    /// topology is shared with this one.
    ///
    /// # Errors
    /// Fails if the seed exceeds TOML's largest number.
    pub fn with_seed(&self, seed: u64) -> Result<Self, ScenarioError> {
        let mut other = self.clone();
        let (context, typed) = (self.origin.context(), &self.origin.file);
        other.file.general.seed.override_with(seed);
        other.seed = limits::seed(&context, &other.file.general.seed)?;
        let run = failure::DrawContext { seed, time_limit: self.time_limit };
        other.fabric.failures = failure::resolve(&context, &typed.failure, &self.topology, run)?;
        failure::take_down(&mut other.fabric.failures, &self.down);
        // Workloads from files have no random draws, and a file may have changed since it was read.
        if self.file.workload.iter().chain(&self.file.job).all(|it| it.is_recorded()) {
            return other.derived();
        }
        let ground = Ground {
            may_generate: self.workload.chains.is_some(),
            ..Ground::new(&self.topology, &self.host_of_node, seed, None)
        };
        other.workload = Arc::new(job::resolve(&context, &mut typed.clone(), ground)?.workload);
        for own in &mut other.job_policies {
            own.streams = other.workload.jobs[own.job].streams(&other.workload);
        }
        other.job_classes = class::of_jobs(&context, &mut typed.clone(), &other.workload)?;
        other.derived()
    }
}

/// Where a file is resolved.
pub(super) struct World {
    /// The fabric, if it exists already.
    pub existing: Option<Topology>,
    /// The memory that the messages of a collective may take; any if `None`.
    pub most_memory: Option<Bytes>,
}

/// Refuses scenarios whose hosts have several rails: [`RailScenario`](super::RailScenario) reads
/// those.
pub(super) fn refuse_rails(source: &Source) -> Result<(), ScenarioError> {
    let key = Key::ROOT.child("rail");
    if !source.has(&key) {
        return Ok(());
    }
    let because = "hosts with several rails are for `run`, `compare` and `check`, because each \
                   rail is a network of its own; give one network: a scenario of one rail, or \
                   topology.kind = 'rail-optimized' for servers with several NICs";
    Err(Context::of(source).misplaced(&key, because))
}

/// Warnings about a policy under this file.
fn told(
    context: &Context<'_>,
    files: [&ScenarioFile; 2],
    of: (&Scheme, &NicConfig, &Topology),
    jobs: &[JobPolicy],
    workload: Option<&Workload>,
) -> inert::Inert {
    let remarks = policy_warnings::of(context, files, of, jobs);
    let (scheme, nic, _) = of;
    let facts = inert::Facts { file: files[1], nic, scheme, jobs, workload };
    let inert = inert::of(context, &facts);
    inert::Inert { warnings: [remarks, inert.warnings].concat(), ..inert }
}
