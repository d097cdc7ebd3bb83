//! `[record]`: from names to ports and hosts.

use super::{failure, host_set};
use crate::ids::{HostId, PortId};
use crate::record::Recording;
use crate::scenario::file::record::RecordSection;
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::ScenarioError;
use crate::scenario::input::located::Located;
use crate::topology::Topology;
use crate::units::Span;

/// The shortest interval.
const SHORTEST: Span = Span::from_ns(1);

/// What a section records of a run in `topology`.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    section: &RecordSection,
    topology: &Topology,
) -> Result<Recording, ScenarioError> {
    let every = context.span(&section.every, AtLeast::OnePicosecond)?;
    if every < SHORTEST {
        let expected = format!("it must be at least {SHORTEST}: a packet takes longer");
        return Err(context.invalid(&section.every, expected));
    }
    let recording = Recording {
        every,
        ports: ports(context, &section.ports, topology)?,
        queue_pairs: hosts(context, &section.queue_pairs, topology)?,
        paths: hosts(context, &section.paths, topology)?,
    };
    if recording.tables().is_empty() {
        let expected = "with queue_pairs = \"none\" and paths = \"none\" nothing is recorded: \
                        record one of them, or leave out [record]";
        return Err(context.invalid(&section.ports, expected));
    }
    Ok(recording)
}

/// Both directions of the links that a text names.
fn ports(
    context: &Context<'_>,
    text: &Located<String>,
    topology: &Topology,
) -> Result<Vec<PortId>, ScenarioError> {
    match text.trim() {
        "none" => return Ok(Vec::new()),
        "all" => return Ok((0..2 * topology.links().len() as u32).map(PortId).collect()),
        _ => {}
    }
    let mut ports = Vec::new();
    for name in text.split(',').map(str::trim) {
        let mut one = text.clone();
        name.clone_into(&mut one);
        ports.extend(failure::link_named(context, &one, topology)?.ports());
    }
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

/// The hosts that a text names.
fn hosts(
    context: &Context<'_>,
    text: &Located<String>,
    topology: &Topology,
) -> Result<Vec<HostId>, ScenarioError> {
    match text.trim() {
        "none" => Ok(Vec::new()),
        "all" => Ok((0..topology.host_count()).map(HostId).collect()),
        _ => host_set::resolve(context, text, topology.host_count()),
    }
}
