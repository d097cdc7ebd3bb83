//! `[workload]`: from the section to messages.

use super::context::{AtLeast, Context};
use super::error::{Fault, ScenarioError, nearest};
use super::file::WorkloadSection;
use crate::collective::{self, Collective, CollectiveError, Operation, Plan};
use crate::ids::HostId;
use crate::topology::Topology;
use crate::units::{Bytes, Span};
use crate::workload::{Incast, Permutation, Shift, StartJitter, Workload, WorkloadError};

/// Payload a rank or a flow, where the section does not say.
const DEFAULT_BYTES: Bytes = Bytes::new(16_000_000);

/// What a message of a barrier carries, where the section does not say: a counter.
const BARRIER_BYTES: Bytes = Bytes::new(8);

/// What a workload is laid over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The hosts.
    pub topology: &'a Topology,
    /// By the number that flow files use: which host that is.
    pub host_of_node: &'a [Option<HostId>],
    /// Where draws come from.
    pub seed: u64,
}

/// What a section comes to.
pub(super) struct Sent {
    /// The section with its defaults.
    pub section: WorkloadSection,
    /// Its messages.
    pub workload: Workload,
    /// What a reader of files wants people to know.
    pub warnings: Vec<String>,
}

/// Kinds of workloads that are no collectives.
const FLOW_KINDS: [&str; 7] =
    ["permutation", "shift", "incast", "flows", "chakra", "goal", "connection-matrix"];
/// Kinds that the format has and this version has not.
const LATER_KINDS: [&str; 1] = ["training"];

/// The messages of a section.
pub(super) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    let kind = typed.kind.as_str();
    match kind {
        "permutation" => permutation(context, typed, place),
        "shift" => shift(context, typed, place),
        "incast" => incast(context, typed, place),
        "flows" => super::flow_file::resolve(context, typed, place),
        "goal" => super::flow_file::goal(context, typed, place),
        "connection-matrix" => super::flow_file::connection_matrix(context, typed, place),
        "chakra" => super::trace_file::resolve(context, typed, place),
        _ if LATER_KINDS.contains(&kind) => {
            Err(context.unavailable("workload.kind", kind, known_kinds()))
        }
        _ => collective(context, typed, place),
    }
}

/// No messages at all: somebody posts them as a run goes on.
pub(super) fn nothing(typed: &WorkloadSection) -> Sent {
    Sent { section: plain(typed), workload: Workload::default(), warnings: Vec::new() }
}

fn permutation(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    context.only("workload", &typed.kind, &["bytes", "start_jitter"])?;
    let bytes = typed.bytes.unwrap_or(DEFAULT_BYTES);
    let pattern = Permutation { hosts: place.topology.host_count(), bytes, seed: place.seed };
    let built = pattern.build().map_err(|error| refused(context, error))?;
    put_off(
        context,
        typed,
        place.seed,
        (WorkloadSection { bytes: Some(bytes), ..plain(typed) }, built),
    )
}

fn shift(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    context.only("workload", &typed.kind, &["bytes", "shift", "start_jitter"])?;
    let bytes = typed.bytes.unwrap_or(DEFAULT_BYTES);
    let shift = typed.shift.unwrap_or(1);
    let pattern = Shift { hosts: place.topology.host_count(), shift, bytes };
    let built = pattern.build().map_err(|error| refused(context, error))?;
    let section = WorkloadSection { bytes: Some(bytes), shift: Some(shift), ..plain(typed) };
    put_off(context, typed, place.seed, (section, built))
}

fn incast(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    context.only("workload", &typed.kind, &["bytes", "fan_in", "start_jitter"])?;
    let bytes = typed.bytes.unwrap_or(DEFAULT_BYTES);
    let fan_in = typed.fan_in.unwrap_or(8);
    let pattern = Incast { hosts: place.topology.host_count(), fan_in, receiver: None, bytes };
    let built = pattern.build().map_err(|error| refused(context, error))?;
    let section = WorkloadSection { bytes: Some(bytes), fan_in: Some(fan_in), ..plain(typed) };
    put_off(context, typed, place.seed, (section, built))
}

fn collective(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    let (algorithm, collective) = algorithm(context, typed)?;
    const KEYS: [&str; 8] =
        ["bytes", "algorithm", "ranks", "channels", "chunks", "group", "gap", "start_jitter"];
    context.only("workload", &typed.kind, &KEYS)?;
    let hosts = place.topology.host_count();
    let ranks = typed.ranks.unwrap_or(hosts);
    if ranks < 2 || ranks > hosts {
        let right = format!("it must be from 2 to the number of hosts, {hosts}");
        return Err(context.senseless("workload.ranks", ranks, right));
    }
    let bytes = typed.bytes.unwrap_or(match collective.operation {
        Operation::Barrier => BARRIER_BYTES,
        _ => DEFAULT_BYTES,
    });
    let gap = typed.gap.unwrap_or(Span::ZERO);
    let hierarchical = collective.name.starts_with("hierarchical");
    if typed.group.is_some() && !hierarchical {
        let key = "workload.group".to_owned();
        let because = format!("{} has no groups", collective.name);
        return Err(context.fault(&key.clone(), Fault::Misplaced { key, because }));
    }
    let plain_plan = Plan::new((0..ranks).map(HostId).collect(), bytes);
    let plan = Plan {
        channels: typed.channels.unwrap_or(plain_plan.channels),
        chunks: typed.chunks.unwrap_or(plain_plan.chunks),
        group: typed.group.unwrap_or(plain_plan.group),
        gap: context.span("workload.gap", gap, AtLeast::Zero)?,
        ..plain_plan
    };
    let built = collective.build(&plan).map_err(|error| {
        let key = match error {
            CollectiveError::NoBytes | CollectiveError::TooManyBytes { .. } => "workload.bytes",
            CollectiveError::TooFewRanks { .. } | CollectiveError::TooManyMessages { .. } => {
                "workload.ranks"
            }
            CollectiveError::NoParts { what: "chunks" } => "workload.chunks",
            CollectiveError::NoParts { .. } => "workload.channels",
            CollectiveError::Groups { .. } => "workload.group",
            _ => "workload.kind",
        };
        context.fault(key, Fault::Collective { key: key.to_owned(), error })
    })?;
    let section = WorkloadSection {
        bytes: Some(bytes),
        algorithm,
        ranks: Some(ranks),
        channels: Some(plan.channels),
        chunks: Some(plan.chunks),
        group: hierarchical.then_some(plan.group),
        gap: Some(plan.gap),
        ..plain(typed)
    };
    put_off(context, typed, place.seed, (section, built))
}

/// The collective of a kind, which is a collective's whole name (`ring-all-reduce`) or what it
/// does (`all-reduce`) with an `algorithm` (`ring`): the first of the registry if it is not said.
fn algorithm(
    context: &Context<'_>,
    typed: &WorkloadSection,
) -> Result<(Option<String>, &'static Collective), ScenarioError> {
    let kind = typed.kind.as_str();
    let with_algorithm = typed.algorithm.as_deref().map(|algorithm| format!("{algorithm}-{kind}"));
    let named = with_algorithm.as_deref().and_then(|name| collective::find(name).ok());
    if let (None, Ok(collective)) = (named, collective::find(kind)) {
        if typed.algorithm.is_some() {
            let key = "workload.algorithm".to_owned();
            let because = format!("workload.kind = {kind} names the algorithm already");
            return Err(context.fault(&key.clone(), Fault::Misplaced { key, because }));
        }
        return Ok((None, collective));
    }
    let suffix = format!("-{kind}");
    let choices: Vec<(&str, &'static Collective)> = collective::ALL
        .iter()
        .filter_map(|each| Some((each.name.strip_suffix(&suffix)?, each)))
        .collect();
    let Some(&(first, _)) = choices.first() else {
        return Err(unknown(context, "workload.kind", ("workload", kind), known_kinds()));
    };
    let wanted = typed.algorithm.as_deref().unwrap_or(first);
    let found = choices.iter().find(|(name, _)| *name == wanted);
    found.map(|&(name, each)| (Some(name.to_owned()), each)).ok_or_else(|| {
        let known = choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        unknown(context, "workload.algorithm", ("algorithm", wanted), known)
    })
}

fn known_kinds() -> String {
    let collectives = collective::ALL.iter().map(|collective| collective.name);
    collectives.chain(FLOW_KINDS).collect::<Vec<_>>().join(", ")
}

/// The fault of a name that nothing has.
pub(super) fn unknown(
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
fn refused(context: &Context<'_>, error: WorkloadError) -> ScenarioError {
    let key = match error {
        WorkloadError::NoBytes { .. } | WorkloadError::TooManyBytes { .. } => "workload.bytes",
        WorkloadError::ShiftToSelf { .. } => "workload.shift",
        WorkloadError::FanIn { .. } => "workload.fan_in",
        _ => "workload.kind",
    };
    context.fault(key, Fault::Workload { key: key.to_owned(), error })
}

/// A section of the same kind and no other key.
pub(super) fn plain(typed: &WorkloadSection) -> WorkloadSection {
    WorkloadSection { kind: typed.kind.clone(), ..WorkloadSection::default() }
}

/// Applies the section's start jitter.
fn put_off(
    context: &Context<'_>,
    typed: &WorkloadSection,
    seed: u64,
    (section, mut workload): (WorkloadSection, Workload),
) -> Result<Sent, ScenarioError> {
    let jitter = typed.start_jitter.unwrap_or(Span::ZERO);
    let at_most = context.span("workload.start_jitter", jitter, AtLeast::Zero)?;
    StartJitter { at_most, seed }.apply(&mut workload);
    let section = WorkloadSection { start_jitter: Some(at_most), ..section };
    Ok(Sent { section, workload, warnings: Vec::new() })
}
