//! A valid scenario: the input of a run.

mod variants;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::{Environment, reject_rails};
use super::file::{Fabric, ScenarioFile};
use super::input::context::Context;
use super::input::error::{Fault, ScenarioError};
use super::input::located::Key;
use super::input::overrides::Overrides;
use super::input::source::Source;
use super::resolve::messages::Messages;
use super::resolve::{
    derived, fabric, failure, job_policy, limits, messages, planes, policy, policy_warnings,
    record, recovery, transport, unused_keys,
};
use super::topologies::Shape;
use super::topologies::file::TopologyFormat;
use crate::balance::Scheme;
use crate::chakra::{ChakraError, Streaming};
use crate::collective::MessageTally;
use crate::endpoint::{JobClass, JobPolicy, LongestPath, longest_path};
use crate::fabric::{FabricConfig, Setup};
use crate::fluid::Fidelity;
use crate::ids::{HostId, LinkId};
use crate::nic::NicConfig;
use crate::record::Recording;
use crate::topology::Topology;
use crate::units::{Bytes, Time};
use crate::workload::Workload;

/// A valid scenario. Resolution has found all faults before it exists.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use evenkeel_scenario::{Overrides, Scenario};
///
/// let text = "topology = { kind = 'leaf-spine', leaves = 4, spines = 4, hosts_per_leaf = 4 }
/// policy.name = 'ethereal'
/// workload = { kind = 'all-to-all', bytes = '16MB' }";
/// let scenario = Scenario::parse(text, "small", Path::new("."), &Overrides::default())?;
/// assert_eq!((scenario.topology.host_count(), scenario.messages()), (16, 16 * 15));
/// let setup = scenario.with_policy("spray")?.with_seed(7)?.setup();
/// assert_eq!((setup.scheme.name, setup.seed), ("spray", 7));
/// # Ok::<(), evenkeel_scenario::ScenarioError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Stem of the file name.
    pub name: String,
    /// Path of the scenario file.
    pub path: PathBuf,
    /// The resolved file: overrides and defaults filled in, keys that do not apply omitted.
    pub file: ScenarioFile,
    /// Hosts, switches and links.
    pub topology: Arc<Topology>,
    /// Messages. For traces read during the run, their load.
    pub workload: Arc<Workload>,
    /// Traces, if they are read during the run.
    pub traces: Option<Arc<Streaming>>,
    /// Totals of the messages, if this is a forecast and `workload` has only their load.
    pub tally: Option<Arc<MessageTally>>,
    /// Links, switches and failures.
    pub fabric: FabricConfig,
    /// Settings of every host's NIC.
    pub nic: NicConfig,
    /// Load-balancing scheme of the policy.
    pub scheme: Scheme,
    /// Policies of jobs that have their own.
    pub job_policies: Vec<JobPolicy>,
    /// Traffic classes of jobs, as indices into those of `fabric`.
    pub job_classes: Vec<JobClass>,
    /// Whether a run simulates packets or flows.
    pub fidelity: Fidelity,
    /// Time series to record.
    pub recordings: Vec<Recording>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Time at which an incomplete run ends.
    pub time_limit: Time,
    /// Warnings for the user: from file readers, about files without keys, unused sections and
    /// parameters, and policies without the transport they are designed for.
    pub warnings: Vec<String>,
    /// Paths of keys that the file sets and that have no effect: `transport.cnp_interval`.
    pub ignored: Vec<String>,
    /// Paths of keys that have no effect and are not set in the file.
    pub(super) omitted: Vec<String>,
    /// Warnings about files alone, which do not depend on the policy.
    file_warnings: Vec<String>,
    /// Links that workload files take down.
    down: Vec<LinkId>,
    /// Host of each node id in flow files.
    host_of_node: Arc<[Option<HostId>]>,
    /// Text of the file that the topology was read from.
    topology_text: Option<Arc<str>>,
    pub(super) origin: Arc<WrittenFile>,
}

/// The file as written, kept to resolve the scenario again with other overrides.
#[derive(Debug)]
pub(super) struct WrittenFile {
    pub source: Source,
    pub file: ScenarioFile,
    pub folder: PathBuf,
}

impl WrittenFile {
    fn context(&self) -> Context<'_> {
        Context::in_folder(&self.source, &self.folder)
    }

    /// Folder that paths in the scenario are relative to.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Scenario {
    /// Resolves a text as if it were the file `name`.toml in `folder`.
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

    /// Resolves a text as [`Self::parse`] does, on an existing fabric. `[topology]` may only set
    /// `gap` and `forwarding_delay`. Without `[workload]` and `[[job]]`, nothing is sent.
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

    /// Returns the text of the topology file as it was when read, and its format.
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
        reject_rails(&source)?;
        let fabric = existing.as_ref().map_or(Fabric::Described, |_| Fabric::Existing);
        let file = ScenarioFile::read(&source, fabric)?;
        let origin = WrittenFile { source, file, folder };
        let mut file = origin.file.clone();
        file.apply(overrides);
        let environment = Environment::new(existing, overrides);
        Self::resolve_file(path, Arc::new(origin), file, environment)
    }

    pub(super) fn resolve_file(
        path: &Path,
        origin: Arc<WrittenFile>,
        mut file: ScenarioFile,
        environment: Environment,
    ) -> Result<Self, ScenarioError> {
        let Environment { existing, limits } = environment;
        let (context, written) = (&origin.context(), &origin.file);
        let kind = existing.as_ref().map_or(Fabric::Described, |_| Fabric::Existing);
        let (time_limit, seed) = (limits::general(context, &file.general)?, *file.general.seed);
        let scheme = policy::resolve(context, &mut file.policy)?;
        if written.policy.name != file.policy.name {
            // The file's own parameters are checked even if another policy replaces them.
            policy::resolve(context, &mut written.policy.clone())?;
        }
        let built = planes::fabric(context, &file, &scheme, existing)?;
        recovery::follow(context, &written.policy, &mut file.transport, &scheme);
        let nic = transport::resolve(context, &mut file.transport, &scheme, &file.switch.trim)?;
        let of = (&nic, &scheme, time_limit);
        let mut fabric = fabric::resolve(context, &mut file, &built.topology, of)?;
        let shared = limits.shared(&built.topology, &built.host_of_node, seed);
        let Messages { sent, traces, classes } =
            messages::resolve(context, &mut file, shared, kind)?;
        failure::add_known_down(&mut fabric.failures, &sent.down);
        let (workload, topology) = (&sent.workload, &built.topology);
        let common = job_policy::Common { written, scheme: &scheme, nic: &nic, workload, topology };
        let job_policies = job_policy::resolve(context, &mut file, common)?;
        let remarks = origin.source.remarks(kind == Fabric::Described);
        let file_warnings = [built.warnings, sent.warnings, remarks].concat();
        let of = (&scheme, &nic, &built.topology);
        let known = (traces.is_none() && sent.tally.is_none()).then_some(&sent.workload);
        let checked = check_policy(context, [written, &file], of, &job_policies, known);
        Self {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            path: path.to_owned(),
            fidelity: *file.general.fidelity,
            recordings: record::resolve(context, &file, &built.topology, &fabric, kind)?,
            seed,
            time_limit,
            topology: Arc::new(built.topology),
            host_of_node: built.host_of_node.into(),
            topology_text: built.file,
            warnings: [&file_warnings[..], &checked.warnings].concat(),
            ignored: checked.ignored,
            omitted: checked.omitted,
            file_warnings,
            down: sent.down,
            workload: Arc::new(sent.workload),
            traces,
            tally: sent.tally.map(Arc::new),
            fabric,
            nic,
            scheme,
            job_policies,
            job_classes: classes,
            file,
            origin,
        }
        .derived()
    }

    /// Fills in the defaults that depend on the fabric and the workload, and checks the limits of
    /// the result.
    fn derived(mut self) -> Result<Self, ScenarioError> {
        let (origin, path) = (Arc::clone(&self.origin), self.longest_path());
        let (topology, workload, scheme) = (&*self.topology, &*self.workload, &self.scheme);
        let of = (&self.nic, scheme, &self.job_policies[..]);
        planes::check_windows(&origin.context(), &self.file, topology.planes().count(), of)?;
        let network = derived::Network { topology, workload, scheme, path };
        let filled =
            derived::Filled { file: &mut self.file, fabric: &mut self.fabric, nic: &mut self.nic };
        let warnings = derived::fill(&origin.context(), &origin.file, network, filled)?;
        // A clone that is resolved again already has some of these warnings.
        let is_new = |warning: &String| !self.warnings.contains(warning);
        let warnings: Vec<String> = warnings.into_iter().filter(is_new).collect();
        self.warnings.extend(warnings);
        limits::CandidateRun {
            file: &self.file,
            workload: &self.workload,
            longest: self.longest_message(),
            topology: &self.topology,
            nic: &self.nic,
            job_policies: &self.job_policies,
            fabric: &self.fabric,
            time_limit: self.time_limit,
        }
        .check(&origin.context())?;
        Ok(self)
    }

    /// Returns the longest message, if the workload has only the load.
    fn longest_message(&self) -> Option<Bytes> {
        let of_traces = self.traces.as_ref().map(|traces| traces.longest());
        of_traces.or(self.tally.as_ref().map(|tally| tally.longest))
    }

    /// Returns the longest idle path of the workload.
    pub(super) fn longest_path(&self) -> LongestPath {
        let delay = self.fabric.forwarding_delay;
        longest_path(&self.topology, self.topology.routes(), &self.nic, delay, &self.workload)
    }
}

impl Scenario {
    /// Returns the number of messages.
    pub fn messages(&self) -> u64 {
        if let Some(tally) = &self.tally {
            return tally.messages();
        }
        match (&self.traces, &self.workload.chains) {
            (Some(traces), _) => traces.messages(),
            (None, Some(chains)) => chains.messages(),
            (None, None) => self.workload.messages.len() as u64,
        }
    }

    /// True if the file or the command line sets the time limit, even to its default.
    pub fn sets_time_limit(&self) -> bool {
        self.origin.source.has(self.file.general.time_limit.key())
    }

    /// True if messages are read or generated during the run.
    pub fn streams(&self) -> bool {
        self.traces.is_some() || self.workload.chains.is_some()
    }

    /// Checks that all messages are known before the run, for commands that need them.
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

    /// Checks that the run simulates packets, for commands that need them.
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

    /// Returns the error of a trace fault that was found during replay.
    pub fn trace_fault(&self, error: ChakraError) -> ScenarioError {
        self.origin.context().fault(&self.trace_key("file"), Fault::Chakra(error))
    }

    /// Returns a key of the section that the traces come from.
    fn trace_key(&self, name: &str) -> Key {
        Key::ROOT.child("workload").child(name)
    }

    /// Returns the setup of a run. With `traces`, the run replays those, and the workload only
    /// serves for bounds.
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
}

/// Returns the warnings about a policy under this file, and the keys without an effect.
fn check_policy(
    context: &Context<'_>,
    files: [&ScenarioFile; 2],
    of: (&Scheme, &NicConfig, &Topology),
    jobs: &[JobPolicy],
    workload: Option<&Workload>,
) -> unused_keys::UnusedKeys {
    let remarks = policy_warnings::of(context, files, of, jobs);
    let (scheme, nic, _) = of;
    let facts = unused_keys::Facts { file: files[1], nic, scheme, jobs, workload };
    let unused_keys = unused_keys::of(context, &facts);
    unused_keys::UnusedKeys { warnings: [remarks, unused_keys.warnings].concat(), ..unused_keys }
}
