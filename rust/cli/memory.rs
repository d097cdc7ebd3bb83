//! Whether a run fits into memory.

use anyhow::anyhow;
use clap::Args;
use evenkeel_engine::units::Bytes;
use evenkeel_scenario::Scenario;
use evenkeel_study as study;

// Whether what is not expected to fit into memory is tried.
#[derive(Debug, Args)]
pub(super) struct MemoryArgument {
    /// Try also what is not expected to fit into the memory that is available
    #[arg(long)]
    force: bool,
}

impl MemoryArgument {
    /// The memory that may be taken; `None` for any.
    pub(super) fn limit(&self) -> Option<Bytes> {
        if self.force { None } else { study::available_memory() }
    }

    /// Refuses a run that does not fit.
    pub(super) fn check(&self, scenario: &Scenario) -> anyhow::Result<()> {
        let file = scenario.path.display();
        let fits = study::expect_memory(scenario, self.limit());
        fits.map_err(|shortage| anyhow!("{file}: {shortage}; --force tries it"))
    }
}
