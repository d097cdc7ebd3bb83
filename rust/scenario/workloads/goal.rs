//! GOAL schedules of LogGOPSim or ATLAHS.

use super::{Located, ResolvedWorkload, ScenarioError, Work, WorkloadInputs, section};
use crate::goal::{self, Layout};
use crate::input::error::Fault;
use crate::input::section::named;
use crate::workload::Compute;

section! {
    /// `kind = "goal"`.
    pub struct GoalSection {
        /// Schedule, relative to the scenario.
        file?: String = "required",
        /// Runs a host's computations one at a time (`serial`) or in `parallel`.
        compute: Compute = Compute::default(),
        /// Rank type: a node whose NICs are hosts `rank x NICs + nic` (version 1), or a GPU, host
        /// `rank` (version 2).
        layout?: Layout = "`node-nic` if some `nic` is above 0, with a warning, and else `gpu`",
    }
}

named! { Layout }

impl Work for GoalSection {
    const NAME: &'static str = "goal";
    const SUMMARY: &'static str = "A GOAL schedule of LogGOPSim or ATLAHS";
    const SOURCE: &'static str = "Hoefler et al., LogGOPSim, 2010";
    const IS_RECORDED: bool = true;

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let key = self.file.key();
        let file = inputs.read(&self.file, "schedule.goal")?;
        let options = goal::Options { compute: *self.compute, layout: *self.layout };
        let schedule = goal::read(&file.text, &file.name, options)
            .map_err(|error| inputs.context.fault(key, Fault::Goal(error)))?;
        inputs.expect_hosts(key, &file, schedule.hosts)?;
        Ok(ResolvedWorkload { warnings: schedule.warnings, ..schedule.workload.into() })
    }

    fn size(&self) -> Option<Located<String>> {
        self.file.given()
    }
}
