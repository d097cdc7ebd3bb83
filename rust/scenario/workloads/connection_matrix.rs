//! Connection matrices of htsim.

use super::{Located, ResolvedWorkload, ScenarioError, Work, WorkloadInputs, section};
use crate::connection_matrix::{self, MatrixError, MatrixFailure, MatrixFault, StartUnit};
use crate::ids::{LinkId, SwitchId};
use crate::input::error::Fault;
use crate::input::section::named;
use crate::topology::{Node, Topology};

section! {
    /// `kind = "connection-matrix"`.
    pub struct ConnectionMatrixSection {
        /// Connection matrix, relative to the scenario.
        file?: String = "required",
        /// Unit of `start` in the file: microseconds (uet-htsim), or picoseconds (`htsim_ndp`,
        /// csg-htsim and `gen_*.py`).
        start_unit: StartUnit = StartUnit::default(),
    }
}

named! { StartUnit }

impl Work for ConnectionMatrixSection {
    const NAME: &'static str = "connection-matrix";
    const SUMMARY: &'static str = "A connection matrix of htsim";
    const SOURCE: &'static str = "htsim, connection_matrix.cpp";
    const IS_RECORDED: bool = true;

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let key = self.file.key();
        let file = inputs.read(&self.file, "flows.cm")?;
        let matrix = connection_matrix::read(&file.text, &file.name, *self.start_unit)
            .map_err(|error| inputs.context.fault(key, Fault::ConnectionMatrix(error)))?;
        inputs.expect_hosts(key, &file, matrix.nodes)?;
        let down =
            failed_links(&matrix.failures, inputs.shared.topology).map_err(|(line, fault)| {
                let error = MatrixError { file: file.name.clone(), line, fault };
                inputs.context.fault(key, Fault::ConnectionMatrix(error))
            })?;
        let connection_matrix::Matrix { workload, warnings, .. } = matrix;
        Ok(ResolvedWorkload { workload, warnings, down, tally: None })
    }

    fn size(&self) -> Option<Located<String>> {
        self.file.given()
    }
}

/// Returns the links that a matrix takes down. Each is the first link between an aggregation switch
/// and the core that its uplink of that number leads to.
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
