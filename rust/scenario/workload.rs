//! `[workload]`: from the section to messages.

use super::context::{AtLeast, Context};
use super::error::ScenarioError;
use super::file::WorkloadSection;
use super::limits;
use crate::ids::HostId;
use crate::topology::Topology;
use crate::units::{Bytes, Span, Time};
use crate::workload::{Message, Workload};

/// The messages of a section, and the section with its defaults.
pub(super) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    topology: &Topology,
    _seed: u64,
) -> Result<(WorkloadSection, Workload), ScenarioError> {
    let bytes = typed.bytes.unwrap_or(Bytes::new(16_000_000));
    let ranks = typed.ranks.unwrap_or(topology.host_count());
    let pairs = u128::from(ranks) * u128::from(ranks);
    limits::messages(context, "workload.ranks", &ranks.to_string(), pairs)?;
    limits::total(context, bytes, u128::from(ranks))?;
    let jitter = typed.start_jitter.unwrap_or(Span::ZERO);
    context.span("workload.start_jitter", jitter, AtLeast::Zero)?;
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
        start_jitter: Some(jitter),
        ..WorkloadSection::default()
    };
    Ok((section, Workload::independent(messages)))
}
