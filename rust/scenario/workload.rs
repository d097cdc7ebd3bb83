//! `[workload]`: from the section to messages.

use super::context::{AtLeast, Context};
use super::error::{Fault, ScenarioError, nearest};
use super::file::WorkloadSection;
use super::limits;
use crate::ids::HostId;
use crate::topology::Topology;
use crate::units::{Bytes, Span, Time};
use crate::workload::{Message, Workload};

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
const FLOW_KINDS: [&str; 4] = ["permutation", "shift", "incast", "flows"];
/// Kinds that the format has and this version has not.
const LATER_KINDS: [&str; 4] = ["chakra", "goal", "connection-matrix", "training"];

/// The messages of a section.
pub(super) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    let kind = typed.kind.as_str();
    if LATER_KINDS.contains(&kind) {
        return Err(context.unavailable("workload.kind", kind, known_kinds()));
    }
    if FLOW_KINDS.contains(&kind) {
        return Err(context.unavailable("workload.kind", kind, "all-to-all"));
    }
    collective(context, typed, place)
}

fn known_kinds() -> String {
    [&["all-to-all"], &FLOW_KINDS[..]].concat().join(", ")
}

fn collective(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    let kind = typed.kind.as_str();
    if kind != "all-to-all" {
        let known = known_kinds();
        let fault = Fault::UnknownName {
            key: "workload.kind".into(),
            what: "workload",
            name: kind.to_owned(),
            nearest: nearest(kind, known.split(", ")),
            known,
        };
        return Err(context.fault("workload.kind", fault));
    }
    context.only("workload", kind, &["bytes", "algorithm", "ranks", "start_jitter"])?;
    let hosts = place.topology.host_count();
    let ranks = typed.ranks.unwrap_or(hosts);
    if ranks < 2 || ranks > hosts {
        let right = format!("it must be from 2 to the number of hosts, {hosts}");
        return Err(context.senseless("workload.ranks", ranks, right));
    }
    let bytes = payload(context, typed)?;
    let messages = u128::from(ranks) * u128::from(ranks) * 2;
    limits::messages(context, "workload.ranks", &ranks.to_string(), messages)?;
    limits::total(context, bytes, messages)?;
    let start_jitter = jitter(context, typed)?;
    let mut messages = Vec::new();
    for src in 0..ranks {
        for step in 1..ranks {
            let dst = HostId((src + step) % ranks);
            let bytes = Bytes::new(bytes.get() / u64::from(ranks));
            messages.push(Message { src: HostId(src), dst, bytes, stream: 0, start: Time::ZERO });
        }
    }
    let section = WorkloadSection {
        kind: typed.kind.clone(),
        bytes: Some(bytes),
        ranks: Some(ranks),
        start_jitter: Some(start_jitter),
        ..WorkloadSection::default()
    };
    Ok(Sent { section, workload: Workload::independent(messages), warnings: Vec::new() })
}

fn payload(context: &Context<'_>, typed: &WorkloadSection) -> Result<Bytes, ScenarioError> {
    let bytes = typed.bytes.unwrap_or(Bytes::new(16_000_000));
    if bytes == Bytes::ZERO {
        return Err(context.senseless("workload.bytes", bytes, "it must be at least 1B"));
    }
    Ok(bytes)
}

fn jitter(context: &Context<'_>, typed: &WorkloadSection) -> Result<Span, ScenarioError> {
    let jitter = typed.start_jitter.unwrap_or(Span::ZERO);
    context.span("workload.start_jitter", jitter, AtLeast::Zero)
}
