//! `[workload]`, or one of `[[job]]`: from the section to messages.

use super::{collective, flow_file, host_set, trace_file, training};
use crate::ids::HostId;
use crate::scenario::file::workload::WorkloadSection;
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::{Fault, ScenarioError, nearest};
use crate::topology::Topology;
use crate::units::{Bytes, Span};
use crate::workload::{Incast, Permutation, Shift, StartJitter, Workload, WorkloadError};

/// Payload a rank or a flow, where the section does not say.
pub(in crate::scenario) const DEFAULT_BYTES: Bytes = Bytes::new(16_000_000);

/// Keys that every kind takes.
const COMMON_KEYS: [&str; 4] = ["hosts", "start", "name", "after"];

/// What a workload is laid over.
#[derive(Debug, Clone)]
pub(in crate::scenario) struct Place<'a> {
    /// `workload`, or `job[2]`.
    pub section: String,
    /// All hosts.
    pub topology: &'a Topology,
    /// By the number that flow files use: which host that is.
    pub host_of_node: &'a [Option<HostId>],
    /// Where draws come from.
    pub seed: u64,
    /// Those that take part, by rank; none means all.
    pub hosts: Option<Vec<HostId>>,
}

impl Place<'_> {
    /// The whole name of a key of the section.
    pub(in crate::scenario) fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.section)
    }

    /// How many hosts may take part.
    pub(in crate::scenario) fn count(&self) -> u32 {
        let chosen = self.hosts.as_ref().map(|hosts| hosts.len() as u32);
        chosen.unwrap_or_else(|| self.topology.host_count())
    }
}

/// What a section comes to.
pub(in crate::scenario) struct Sent {
    /// The section with its defaults.
    pub section: WorkloadSection,
    /// Its messages.
    pub workload: Workload,
    /// What a reader of files wants people to know.
    pub warnings: Vec<String>,
}

/// Kinds of workloads that are no collectives.
const OTHER_KINDS: [&str; 8] = [
    "permutation",
    "shift",
    "incast",
    "flows",
    "chakra",
    "goal",
    "connection-matrix",
    training::KIND,
];

/// The messages of a section, on the hosts that it names, from time zero on.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    let mut place = place;
    if let Some(text) = &typed.hosts {
        if typed.kind == "flows" {
            let key = place.key("hosts");
            let because = "a flow file names its hosts itself".to_owned();
            return Err(context.fault(&key.clone(), Fault::Misplaced { key, because }));
        }
        let all = place.topology.host_count();
        place.hosts = Some(host_set::resolve(context, &place.key("hosts"), (text, all))?);
    }
    let place = &place;
    let mut sent = match typed.kind.as_str() {
        "permutation" => permutation(context, typed, place),
        "shift" => shift(context, typed, place),
        "incast" => incast(context, typed, place),
        "flows" => flow_file::resolve(context, typed, place),
        "goal" => flow_file::goal(context, typed, place),
        "connection-matrix" => flow_file::connection_matrix(context, typed, place),
        "chakra" => trace_file::resolve(context, typed, place),
        training::KIND => training::resolve(context, typed, place),
        _ => collective::resolve(context, typed, place),
    }?;
    if let Some(hosts) = &place.hosts {
        sent.workload = sent.workload.moved(hosts);
    }
    Ok(sent)
}

fn permutation(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    only(context, typed, place, &["bytes", "start_jitter"])?;
    let bytes = typed.bytes.unwrap_or(DEFAULT_BYTES);
    let pattern = Permutation { hosts: place.count(), bytes, seed: place.seed };
    let built = pattern.build().map_err(|error| refused(context, place, error))?;
    let section = WorkloadSection { bytes: Some(bytes), ..plain(typed) };
    put_off(context, typed, place, (section, built))
}

fn shift(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    only(context, typed, place, &["bytes", "shift", "start_jitter"])?;
    let bytes = typed.bytes.unwrap_or(DEFAULT_BYTES);
    let shift = typed.shift.unwrap_or(1);
    let pattern = Shift { hosts: place.count(), shift, bytes };
    let built = pattern.build().map_err(|error| refused(context, place, error))?;
    let section = WorkloadSection { bytes: Some(bytes), shift: Some(shift), ..plain(typed) };
    put_off(context, typed, place, (section, built))
}

fn incast(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    only(context, typed, place, &["bytes", "fan_in", "start_jitter"])?;
    let bytes = typed.bytes.unwrap_or(DEFAULT_BYTES);
    let fan_in = typed.fan_in.unwrap_or(8);
    let pattern = Incast { hosts: place.count(), fan_in, receiver: None, bytes };
    let built = pattern.build().map_err(|error| refused(context, place, error))?;
    let section = WorkloadSection { bytes: Some(bytes), fan_in: Some(fan_in), ..plain(typed) };
    put_off(context, typed, place, (section, built))
}

/// Refuses keys that the kind does not take.
pub(in crate::scenario) fn only(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
    keys: &[&str],
) -> Result<(), ScenarioError> {
    context.only_beside(&place.section, &typed.kind, (keys, &COMMON_KEYS))
}

/// Every kind that there is.
pub(in crate::scenario) fn known_kinds() -> String {
    let collectives = crate::collective::ALL.iter().map(|collective| collective.name);
    collectives.chain(OTHER_KINDS).collect::<Vec<_>>().join(", ")
}

/// The fault of a name that nothing has.
pub(in crate::scenario) fn unknown(
    context: &Context<'_>,
    key: &str,
    (what, name): (&'static str, &str),
    known: String,
) -> ScenarioError {
    let nearest = nearest(name, known.split(", "));
    let (key_text, name) = (key.to_owned(), name.to_owned());
    context.fault(key, Fault::UnknownName { key: key_text, what, name, nearest, known })
}

/// The error of a pattern, at the key that it is about.
fn refused(context: &Context<'_>, place: &Place<'_>, error: WorkloadError) -> ScenarioError {
    let key = place.key(match error {
        WorkloadError::NoBytes { .. } | WorkloadError::TooManyBytes { .. } => "bytes",
        WorkloadError::ShiftToSelf { .. } => "shift",
        WorkloadError::FanIn { .. } => "fan_in",
        _ => "kind",
    });
    context.fault(&key.clone(), Fault::Workload { key, error })
}

/// A section of the same kind and, beside what every kind takes, no other key.
pub(in crate::scenario) fn plain(typed: &WorkloadSection) -> WorkloadSection {
    WorkloadSection {
        kind: typed.kind.clone(),
        name: typed.name.clone(),
        hosts: typed.hosts.clone(),
        start: typed.start,
        after: typed.after.clone(),
        ..WorkloadSection::default()
    }
}

/// Applies the section's start jitter.
pub(in crate::scenario) fn put_off(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
    (section, mut workload): (WorkloadSection, Workload),
) -> Result<Sent, ScenarioError> {
    let jitter = typed.start_jitter.unwrap_or(Span::ZERO);
    let at_most = context.span(&place.key("start_jitter"), jitter, AtLeast::Zero)?;
    StartJitter { at_most, seed: place.seed }.apply(&mut workload);
    let section = WorkloadSection { start_jitter: Some(at_most), ..section };
    Ok(Sent { section, workload, warnings: Vec::new() })
}
