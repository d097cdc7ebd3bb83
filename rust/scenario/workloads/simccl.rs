//! Flow files of SimCCL.

use super::{Located, ResolvedWorkload, ScenarioError, Work, WorkloadInputs, section};
use crate::input::error::Fault;
use crate::simccl::{self, Choice};

section! {
    /// `kind = "simccl"`.
    pub struct SimcclSection {
        /// Flow file, relative to the scenario.
        file?: String = "required",
        /// Collective in the file, by name.
        collective?: String = "the only one",
        /// Runs all collectives in file order. Each rank starts one when it has sent and received
        /// all of the previous one.
        in_turn: bool = false,
    }
}

impl Work for SimcclSection {
    const NAME: &'static str = "simccl";
    const SUMMARY: &'static str = "A collective of a flow file of SimCCL, SimAI's model of NCCL";
    const SOURCE: &'static str = "Wang et al., SimAI, 2025";
    const IS_RECORDED: bool = true;

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let key = self.file.key();
        let file = inputs.read(&self.file, "ncclFlowModel_detailed_flows.csv")?;
        let choice = match (*self.in_turn, self.collective.as_deref()) {
            (true, Some(_)) => {
                let because = "with in_turn = true all collectives run";
                return Err(inputs.context.misplaced(self.collective.key(), because));
            }
            (true, None) => Choice::InTurn,
            (false, Some(name)) => Choice::Named(name),
            (false, None) => Choice::Only,
        };
        let flows = simccl::read(&file.text, &file.name, choice)
            .map_err(|error| inputs.context.fault(key, Fault::Simccl(error)))?;
        inputs.expect_hosts(key, &file, flows.ranks)?;
        Ok(ResolvedWorkload { warnings: flows.warnings, ..flows.workload.into() })
    }

    fn size(&self) -> Option<Located<String>> {
        self.file.given()
    }
}
