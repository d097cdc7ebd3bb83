//! `[workload]` or one `[[job]]`: resolves a section to messages.

use super::host_set;
use crate::file::workload::WorkloadSection;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::workloads::{ResolvedWorkload, SharedInputs, WorkloadInputs};

/// Returns the messages of a section on its hosts, starting at time zero.
pub(super) fn resolve(
    context: &Context<'_>,
    section: &mut WorkloadSection,
    shared: SharedInputs<'_>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let WorkloadSection { kind, common, work, .. } = section;
    let mut inputs = WorkloadInputs { context: *context, shared, kind, common, hosts: None };
    if let Some(text) = common.hosts.given() {
        if work.names_hosts() {
            let because = "a flow file names its hosts itself";
            return Err(context.misplaced(text.key(), because));
        }
        inputs.hosts = Some(host_set::resolve(context, &text, shared.topology.host_count())?);
    }
    let mut sent = work.resolve(&inputs)?;
    if let Some(hosts) = &inputs.hosts {
        sent.workload = sent.workload.remapped(hosts);
    }
    Ok(sent)
}
