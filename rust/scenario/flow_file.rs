//! `[workload] kind = "flows"`: flows that somebody else wrote down.

use super::context::Context;
use super::error::{Fault, ScenarioError};
use super::file::WorkloadSection;
use super::workload::{Place, Sent, plain};
use crate::workload::hpcc_flows;

/// Reads the file of a section.
pub(super) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    context.only("workload", "flows", &["file"])?;
    let Some(path) = &typed.file else {
        let because = "flows come from a file".to_owned();
        return Err(context.missing("workload.file", because, "file = \"flow.txt\""));
    };
    let (text, file) = context.read("workload.file", path)?;
    let fault = |error| context.fault("workload.file", Fault::FlowFile(error));
    let flows = hpcc_flows::read(&text, &file).map_err(fault)?;
    let workload = flows.workload(place.host_of_node).map_err(fault)?;
    let section = WorkloadSection { file: Some(path.clone()), ..plain(typed) };
    Ok(Sent { section, workload, warnings: flows.warnings })
}
