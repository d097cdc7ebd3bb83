//! `[workload] kind = "flows"`, `"goal"`, `"connection-matrix"`, `"simccl"`: workloads from files
//! of other projects.

use super::site::{ResolvedWorkload, Site};
use crate::scenario::file::workload::recorded::{
    ConnectionMatrixSection, FlowsSection, GoalSection, SimcclSection,
};
use crate::scenario::input::context::FileText;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::input::located::{Key, Located};
use crate::workload::{connection_matrix, goal as schedule, hpcc_flows, simccl as nccl};

/// Reads the flow file of a section.
pub(super) fn flows(
    site: &Site<'_>,
    section: &FlowsSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let file = read(site, &section.file, "flow.txt")?;
    let fault = |error| site.context.fault(section.file.key(), Fault::FlowFile(error));
    let flows = hpcc_flows::read(&file.text, &file.name).map_err(fault)?;
    let workload = flows.workload(site.ground.host_of_node).map_err(fault)?;
    Ok(ResolvedWorkload { workload, warnings: flows.warnings })
}

/// Reads the GOAL schedule of a section.
pub(super) fn goal(
    site: &Site<'_>,
    section: &GoalSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let key = section.file.key();
    let file = read(site, &section.file, "schedule.goal")?;
    let layout = section.layout.map(Into::into);
    let options = schedule::Options { compute: (*section.compute).into(), layout };
    let schedule = schedule::read(&file.text, &file.name, options)
        .map_err(|error| site.context.fault(key, Fault::Goal(error)))?;
    enough_hosts(site, key, &file, schedule.hosts)?;
    Ok(ResolvedWorkload { workload: schedule.workload, warnings: schedule.warnings })
}

/// Reads the connection matrix of a section.
pub(super) fn connection_matrix(
    site: &Site<'_>,
    section: &ConnectionMatrixSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let key = section.file.key();
    let file = read(site, &section.file, "flows.cm")?;
    let matrix = connection_matrix::read(&file.text, &file.name, (*section.start_unit).into())
        .map_err(|error| site.context.fault(key, Fault::ConnectionMatrix(error)))?;
    enough_hosts(site, key, &file, matrix.nodes)?;
    Ok(ResolvedWorkload { workload: matrix.workload, warnings: matrix.warnings })
}

/// Reads a collective of the SimCCL file of a section.
pub(super) fn simccl(
    site: &Site<'_>,
    section: &SimcclSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let key = section.file.key();
    let file = read(site, &section.file, "ncclFlowModel_detailed_flows.csv")?;
    let flows = nccl::read(&file.text, &file.name, section.collective.as_deref())
        .map_err(|error| site.context.fault(key, Fault::Simccl(error)))?;
    enough_hosts(site, key, &file, flows.ranks)?;
    Ok(ResolvedWorkload { workload: flows.workload, warnings: flows.warnings })
}

/// Reads the file that the section names; `example` is the name in the error if it names none.
fn read(
    site: &Site<'_>,
    file: &Located<Option<String>>,
    example: &str,
) -> Result<FileText, ScenarioError> {
    let Some(path) = file.given() else {
        let because = format!("{} = {} reads a file", site.kind.key(), site.kind);
        return Err(site.context.missing(file.key(), because, format!("file = \"{example}\"")));
    };
    site.context.read(&path)
}

/// Fails for files with more hosts than the scenario.
fn enough_hosts(
    site: &Site<'_>,
    key: &Key,
    file: &FileText,
    wanted: u32,
) -> Result<(), ScenarioError> {
    let hosts = site.count();
    if wanted <= hosts {
        return Ok(());
    }
    let value = format!("{} for {wanted} hosts", file.name);
    let expected = match site.hosts {
        Some(_) => format!("{} names {hosts}; name {wanted} or more", site.common.hosts.key()),
        None => format!("the topology has {hosts}; give it {wanted} or more"),
    };
    Err(site.context.invalid_as(key, value, expected))
}
