//! `[workload] kind = "flows"`: flows that somebody else wrote down.

use super::context::Context;
use super::error::ScenarioError;
use super::file::WorkloadSection;
use super::workload::{Place, Sent};

/// Reads the file of a section.
pub(super) fn resolve(
    context: &Context<'_>,
    _typed: &WorkloadSection,
    _place: Place<'_>,
) -> Result<Sent, ScenarioError> {
    Err(context.unavailable("workload.kind", "flows", "permutation"))
}
