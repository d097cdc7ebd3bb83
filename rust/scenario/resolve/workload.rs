//! `[workload]` or one `[[job]]`: resolves a section to messages.

use super::host_set;
use crate::file::workload::WorkloadSection;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::workloads::{Ground, ResolvedWorkload, Site};

/// Returns the messages of a section on its hosts, starting at time zero.
pub(super) fn resolve(
    context: &Context<'_>,
    section: &mut WorkloadSection,
    ground: Ground<'_>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let WorkloadSection { kind, common, work, .. } = section;
    let mut site = Site { context: *context, ground, kind, common, hosts: None };
    if let Some(text) = common.hosts.given() {
        if work.names_hosts() {
            let because = "a flow file names its hosts itself";
            return Err(context.misplaced(text.key(), because));
        }
        site.hosts = Some(host_set::resolve(context, &text, ground.topology.host_count())?);
    }
    let mut sent = work.resolve(&site)?;
    if let Some(hosts) = &site.hosts {
        sent.workload = sent.workload.moved(hosts);
    }
    Ok(sent)
}
