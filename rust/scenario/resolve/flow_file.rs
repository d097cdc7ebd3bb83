//! `[workload] kind = "flows"`, `"goal"`, `"connection-matrix"`, `"simccl"`: workloads from files
//! of other projects.

use super::site::{ResolvedWorkload, Site};
use crate::connection_matrix::{MatrixError, MatrixFailure, MatrixFault};
use crate::file::workload::recorded::{
    ConnectionMatrixSection, FlowsSection, GoalSection, SimcclSection,
};
use crate::ids::{LinkId, SwitchId};
use crate::input::context::FileText;
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::topology::{Node, Topology};
use crate::{connection_matrix, goal as schedule, hpcc, simccl as nccl};

/// Reads the flow file of a section.
pub(super) fn flows(
    site: &Site<'_>,
    section: &FlowsSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let file = read(site, &section.file, "flow.txt")?;
    let fault = |error| site.context.fault(section.file.key(), Fault::FlowFile(error));
    let flows = hpcc::flows::read(&file.text, &file.name).map_err(fault)?;
    let workload = flows.workload(site.ground.host_of_node).map_err(fault)?;
    Ok(ResolvedWorkload { warnings: flows.warnings, ..workload.into() })
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
    Ok(ResolvedWorkload { warnings: schedule.warnings, ..schedule.workload.into() })
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
    let down = failed_links(&matrix.failures, site.ground.topology).map_err(|(line, fault)| {
        let error = MatrixError { file: file.name.clone(), line, fault };
        site.context.fault(key, Fault::ConnectionMatrix(error))
    })?;
    let connection_matrix::Matrix { workload, warnings, .. } = matrix;
    Ok(ResolvedWorkload { workload, warnings, down })
}

/// The links that a matrix takes down: the first one between an aggregation switch and the core
/// that its uplink of that number leads to.
fn failed_links(
    failures: &[MatrixFailure],
    topology: &Topology,
) -> Result<Vec<LinkId>, (usize, MatrixFault)> {
    let switches: Vec<SwitchId> = (0u32..).map(SwitchId).take(topology.switches().len()).collect();
    let tier = |switch: &SwitchId| topology.switches()[switch.index()].tier;
    let uplinks = |switch: SwitchId| {
        let mut cores: Vec<(Node, LinkId)> = Vec::new();
        for port in topology.ports_of(switch) {
            let (_, core) = topology.ends_of(*port);
            let is_core = matches!(core, Node::Switch(upper) if tier(&upper) == 2);
            if is_core && cores.iter().all(|(known, _)| *known != core) {
                cores.push((core, port.link()));
            }
        }
        cores
    };
    let aggregations: Vec<SwitchId> =
        switches.into_iter().filter(|it| tier(it) == 1 && !uplinks(*it).is_empty()).collect();
    let place = |failure: &MatrixFailure| {
        let &MatrixFailure { line, switch, uplink } = failure;
        let count = aggregations.len();
        let no_switch = (line, MatrixFault::NoSwitch { switch, count });
        let &id = aggregations.get(switch as usize).ok_or(no_switch)?;
        let cores = uplinks(id);
        let (switch, count) = (topology.node_name(Node::Switch(id)).to_owned(), cores.len());
        let no_uplink = (line, MatrixFault::NoUplink { uplink, switch, count });
        cores.get(uplink as usize).map(|(_, link)| *link).ok_or(no_uplink)
    };
    failures.iter().map(place).collect()
}

/// Reads a collective of the SimCCL file of a section.
pub(super) fn simccl(
    site: &Site<'_>,
    section: &SimcclSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let key = section.file.key();
    let file = read(site, &section.file, "ncclFlowModel_detailed_flows.csv")?;
    let choice = match (*section.in_turn, section.collective.as_deref()) {
        (true, Some(_)) => {
            let because = "with in_turn = true all collectives run";
            return Err(site.context.misplaced(section.collective.key(), because));
        }
        (true, None) => nccl::Choice::InTurn,
        (false, Some(name)) => nccl::Choice::Named(name),
        (false, None) => nccl::Choice::Only,
    };
    let flows = nccl::read(&file.text, &file.name, choice)
        .map_err(|error| site.context.fault(key, Fault::Simccl(error)))?;
    enough_hosts(site, key, &file, flows.ranks)?;
    Ok(ResolvedWorkload { warnings: flows.warnings, ..flows.workload.into() })
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
