//! Flow files of the HPCC family of simulators.

use super::{Located, ResolvedWorkload, ScenarioError, Work, WorkloadInputs, section};
use crate::hpcc;
use crate::input::error::Fault;

section! {
    /// `kind = "flows"`.
    pub struct FlowsSection {
        /// Flow file, relative to the scenario.
        file?: String = "required",
    }
}

impl Work for FlowsSection {
    const NAME: &'static str = "flows";
    const SUMMARY: &'static str = "A flow file of the HPCC family of simulators";
    const SOURCE: &'static str = "Li et al., HPCC, 2019 (its simulator)";
    const IS_RECORDED: bool = true;
    const NAMES_HOSTS: bool = true;

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let file = inputs.read(&self.file, "flow.txt")?;
        let fault = |error| inputs.context.fault(self.file.key(), Fault::FlowFile(error));
        let flows = hpcc::flows::read(&file.text, &file.name).map_err(fault)?;
        let workload = flows.workload(inputs.shared.host_of_node).map_err(fault)?;
        Ok(ResolvedWorkload { warnings: flows.warnings, ..workload.into() })
    }

    fn size(&self) -> Option<Located<String>> {
        self.file.given()
    }
}
