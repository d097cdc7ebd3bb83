//! `[topology]`: builds the graph of a section.

use super::scale_up;
use crate::file::topology::{TopologySection, WireSection};
use crate::input::context::{AtLeast, Context};
use crate::input::error::ScenarioError;
use crate::switching::LlrConfig;
use crate::topologies::BuiltFabric;
use crate::topology::Topology;
use crate::units::{Bytes, Span};

/// Returns the graph of a section, or `existing`.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &TopologySection,
    existing: Option<Topology>,
) -> Result<BuiltFabric, ScenarioError> {
    wire(context, &section.wire)?;
    let built = match existing {
        Some(_) if *section.wire.host_latency > Span::ZERO => {
            let because = "the fabric already exists, with the delays of its links";
            return Err(context.misplaced(section.wire.host_latency.key(), because));
        }
        Some(topology) => BuiltFabric::new(topology),
        None => {
            let built = section.shape.build(context, section.kind.key())?;
            let topology = built.topology.with_host_latency(*section.wire.host_latency);
            BuiltFabric { topology, ..built }
        }
    };
    scale_up::join(context, section, built)
}

fn wire(context: &Context<'_>, section: &WireSection) -> Result<(), ScenarioError> {
    context.wire_bytes(&section.gap, Bytes::ZERO)?;
    context.span(&section.forwarding_delay, AtLeast::Zero)?;
    context.span(&section.host_latency, AtLeast::Zero)?;
    Ok(())
}

/// Returns link-level retry, if enabled.
pub(crate) fn llr(
    context: &Context<'_>,
    section: &WireSection,
) -> Result<Option<LlrConfig>, ScenarioError> {
    let Some(llr) = &*section.llr else { return Ok(None) };
    if !(400..=17_296).contains(&llr.ack_spacing.get()) {
        return Err(context.invalid(&llr.ack_spacing, "it must be from 400B to 17296B"));
    }
    Ok(Some(LlrConfig {
        ack_spacing: *llr.ack_spacing,
        replays: (*llr.replays < u8::MAX).then_some((*llr.replays).into()),
        afterwards: *llr.afterwards,
    }))
}
