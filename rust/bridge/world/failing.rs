//! Link failures: those of the experiment, and those that a program adds or ends during a run.

use std::path::Path;

use evenkeel_engine::ids::LinkId;
use evenkeel_engine::switching::Failure;
use evenkeel_engine::units::Time;
use evenkeel_scenario::Scenario;

use super::core::Core;
use super::experiment::{ExperimentError, FAILURE, InlineText, expect_both_directions};
use super::records::FabricStep;

impl Core {
    pub(super) fn failing_links(&self) -> Vec<u32> {
        self.switching.failures().iter().map(|failure| failure.link.0).collect()
    }

    pub(super) fn steps(&self) -> Vec<FabricStep> {
        let steps = self.switching.steps().iter().map(|step| FabricStep {
            at_ps: step.at.as_ps(),
            witness: step.kind.into(),
            link: step.link.0,
            // Both directions have the same rate, because failures of one direction are rejected.
            rate_bps: self.switching.rates_after(step)[0].as_bps(),
        });
        steps.collect()
    }

    pub(super) fn add_failures(
        &mut self,
        sections: &str,
        applied: u32,
        now_ps: u64,
    ) -> Result<(), ExperimentError> {
        let failures = self.failures_of(sections)?;
        expect_both_directions(&self.setup.topology, &failures)?;
        let first = failures.iter().map(|failure| failure.at).min();
        expect_ahead(first.unwrap_or(Time::NEVER), now_ps)?;
        failures.into_iter().for_each(|failure| self.switching.add_failure(applied, failure));
        Ok(())
    }

    pub(super) fn end_failures(
        &mut self,
        target: &str,
        at_ps: u64,
        applied: u32,
        now_ps: u64,
    ) -> Result<(), ExperimentError> {
        let at = Time::from_ps(at_ps);
        expect_ahead(at, now_ps)?;
        let failures = self.failures_of(&format!("[[failure]]\n{target}\n"))?;
        let links: Vec<LinkId> = failures.iter().map(|failure| failure.link).collect();
        if !self.switching.end_failures(applied, &links, at) {
            let what = target.trim().replacen(" = ", " ", 1).replace('"', "'");
            return Err(ExperimentError::NothingFails { what, at });
        }
        Ok(())
    }

    fn failures_of(&self, sections: &str) -> Result<Vec<Failure>, ExperimentError> {
        let folder = Path::new("");
        let failures = Scenario::failures(sections, InlineText::STEM, folder, &self.setup);
        failures.map_err(|error| FAILURE.error(folder, &error))
    }
}

fn expect_ahead(at: Time, now_ps: u64) -> Result<(), ExperimentError> {
    let now = Time::from_ps(now_ps);
    match at < now {
        true => Err(ExperimentError::Past { at, now }),
        false => Ok(()),
    }
}
