//! Checks whether a run fits into memory.

use anyhow::anyhow;
use clap::Args;
use evenkeel_engine::units::Bytes;
use evenkeel_scenario::Scenario;
use evenkeel_study as study;

// Option to skip the memory estimate.
#[derive(Debug, Args)]
pub(super) struct MemoryArgument {
    /// Run even if the estimated memory exceeds what is available
    #[arg(long)]
    force: bool,
}

impl MemoryArgument {
    /// Returns the memory that may be used; `None` for unlimited.
    pub(super) fn limit(&self) -> Option<Bytes> {
        if self.force { None } else { study::available_memory() }
    }

    /// Rejects a run that does not fit.
    pub(super) fn check(&self, scenario: &Scenario) -> anyhow::Result<()> {
        let file = scenario.path.display();
        let fits = study::expect_memory(scenario, self.limit());
        fits.map_err(|shortage| anyhow!("{file}: {shortage}; use --force to run anyway"))
    }
}
