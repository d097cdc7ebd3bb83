//! `[workload] kind = "flows"`, `"goal"`, `"connection-matrix"`: what somebody else wrote down.

use crate::scenario::file::workload::WorkloadSection;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::resolve::workload::{Place, Sent, only, plain};
use crate::workload::{Workload, connection_matrix, goal, hpcc_flows};

/// Reads the flow file of a section.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    let (text, file) = read(context, typed, (place, "flow.txt"))?;
    let fault = |error| context.fault(&place.key("file"), Fault::FlowFile(error));
    let flows = hpcc_flows::read(&text, &file).map_err(fault)?;
    let workload = flows.workload(place.host_of_node).map_err(fault)?;
    Ok(sent(typed, (workload, flows.warnings)))
}

/// Reads the GOAL schedule of a section.
pub(in crate::scenario) fn goal(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    let (text, file) = read(context, typed, (place, "schedule.goal"))?;
    let compute = typed.compute.unwrap_or_default();
    let schedule = goal::read(&text, &file, compute.into())
        .map_err(|error| context.fault(&place.key("file"), Fault::Goal(error)))?;
    enough(context, &file, (schedule.ranks, place))?;
    let mut sent = sent(typed, (schedule.workload, schedule.warnings));
    sent.section.compute = Some(compute);
    Ok(sent)
}

/// Reads the connection matrix of a section.
pub(in crate::scenario) fn connection_matrix(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    let (text, file) = read(context, typed, (place, "flows.cm"))?;
    let matrix = connection_matrix::read(&text, &file)
        .map_err(|error| context.fault(&place.key("file"), Fault::ConnectionMatrix(error)))?;
    enough(context, &file, (matrix.nodes, place))?;
    Ok(sent(typed, (matrix.workload, matrix.warnings)))
}

/// The text of the section's file, and what it is called.
fn read(
    context: &Context<'_>,
    typed: &WorkloadSection,
    (place, example): (&Place<'_>, &str),
) -> Result<(String, String), ScenarioError> {
    let keys: &[&str] = if typed.kind == "goal" { &["file", "compute"] } else { &["file"] };
    only(context, typed, place, keys)?;
    let Some(path) = &typed.file else {
        let because = format!("{} = {} reads a file", place.key("kind"), typed.kind);
        return Err(context.missing(&place.key("file"), because, &format!("file = \"{example}\"")));
    };
    context.read(&place.key("file"), path)
}

/// Refuses files for more hosts than there are.
fn enough(
    context: &Context<'_>,
    file: &str,
    (wanted, place): (u32, &Place<'_>),
) -> Result<(), ScenarioError> {
    let hosts = place.count();
    if wanted <= hosts {
        return Ok(());
    }
    let value = format!("{file} for {wanted} hosts");
    let right = match place.hosts {
        Some(_) => format!("{} names {hosts}; name {wanted} or more", place.key("hosts")),
        None => format!("the topology has {hosts}; give it {wanted} or more"),
    };
    Err(context.senseless_as(&place.key("file"), value, right))
}

fn sent(typed: &WorkloadSection, (workload, warnings): (Workload, Vec<String>)) -> Sent {
    let section = WorkloadSection { file: typed.file.clone(), ..plain(typed) };
    Sent { section, workload, warnings }
}
