//! `[record]`: resolves names to ports and hosts.

use super::{failure, host_set};
use crate::fabric::FabricConfig;
use crate::file::record::{RecordOn, RecordSection};
use crate::file::{Fabric, ScenarioFile};
use crate::fluid::Fidelity;
use crate::ids::{HostId, PortId};
use crate::input::context::{AtLeast, Context};
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::record::{On, Recording};
use crate::switching::SwitchConfig;
use crate::topology::Topology;
use crate::units::Span;

/// Shortest interval.
const MIN_INTERVAL: Span = Span::from_ns(1);

/// Longest name of a recording.
const MAX_NAME_LEN: usize = 32;

/// Resolves the recordings of a file.
pub(crate) fn resolve(
    context: &Context<'_>,
    file: &ScenarioFile,
    topology: &Topology,
    fabric: &FabricConfig,
    fabric_is: Fabric,
) -> Result<Vec<Recording>, ScenarioError> {
    if file.record.is_empty() {
        return Ok(Vec::new());
    }
    if fabric_is == Fabric::Existing {
        let because = "time series need this simulator's own fabric; in another simulator, use its \
                       trace sources";
        return Err(context.misplaced(&Key::ROOT.child("record"), because));
    }
    if *file.general.fidelity == Fidelity::Fluid {
        let because = "time series need packets and queues, which fidelity = 'fluid' does not \
                       have; omit one of them";
        return Err(context.misplaced(&Key::ROOT.child("record"), because));
    }
    let sections = &file.record;
    let mut recordings: Vec<Recording> = Vec::new();
    for section in sections {
        let recording = one(context, section, topology, fabric)?;
        let name = &section.name;
        match &recording.name {
            None if sections.len() > 1 => {
                let because = "each of several [[record]] writes its own files";
                return Err(context.missing(name.key(), because, "name = \"uplinks\""));
            }
            Some(own) if recordings.iter().any(|other| other.name.as_ref() == Some(own)) => {
                let expected = "another [[record]] has this name; names must be unique";
                return Err(context.invalid_as(name.key(), format!("\"{own}\""), expected));
            }
            _ => recordings.push(recording),
        }
    }
    Ok(recordings)
}

fn one(
    context: &Context<'_>,
    section: &RecordSection,
    topology: &Topology,
    fabric: &FabricConfig,
) -> Result<Recording, ScenarioError> {
    let every = context.span(&section.every, AtLeast::OnePicosecond)?;
    if every < MIN_INTERVAL {
        let expected = format!("it must be at least {MIN_INTERVAL}: a packet takes longer");
        return Err(context.invalid(&section.every, expected));
    }
    let on = match *section.on {
        RecordOn::Interval => On::Interval,
        RecordOn::Change => On::Change,
    };
    let recording = Recording {
        name: name(context, section)?,
        on,
        every,
        ports: ports(context, &section.ports, topology)?,
        queue_pairs: hosts(context, &section.queue_pairs, topology)?,
        paths: hosts(context, &section.paths, topology)?,
        pauses: pauses(context, &section.pauses, topology, &fabric.switch)?,
        classes: fabric.classes.iter().map(|class| class.name.clone()).collect(),
    };
    if recording.tables().is_empty() {
        let expected = "nothing is recorded; set ports, queue_pairs, paths or (with switch.pfc) \
                        pauses, or omit [record]";
        return Err(context.invalid(&section.ports, expected));
    }
    Ok(recording)
}

/// Returns the name of a section, which becomes part of file names.
fn name(context: &Context<'_>, section: &RecordSection) -> Result<Option<String>, ScenarioError> {
    let Some(name) = section.name.given() else { return Ok(None) };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > MAX_NAME_LEN || !name.chars().all(is_plain) {
        let expected = format!(
            "expected letters, digits, '-' and '_', at most {MAX_NAME_LEN}, because it becomes \
             part of file names"
        );
        return Err(context.invalid_as(name.key(), format!("\"{name}\""), expected));
    }
    Ok(Some((*name).clone()))
}

/// Returns the ports whose pauses are recorded.
fn pauses(
    context: &Context<'_>,
    text: &Located<String>,
    topology: &Topology,
    switch: &SwitchConfig,
) -> Result<Vec<PortId>, ScenarioError> {
    let ports = ports(context, text, topology)?;
    match (&switch.pfc, text.trim()) {
        (Some(_), _) => Ok(ports),
        (None, "all" | "none") => Ok(Vec::new()),
        (None, _) => {
            let expected = "without switch.pfc nothing is paused: expected switch.pfc, or \"none\"";
            Err(context.invalid_as(text.key(), format!("\"{text}\""), expected))
        }
    }
}

/// Returns both directions of the links in a text.
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

/// Returns the hosts in a text.
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
