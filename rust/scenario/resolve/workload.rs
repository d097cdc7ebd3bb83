//! `[workload]`, or one of `[[job]]`: from the section to messages.

use super::site::{Ground, ResolvedWorkload, Site};
use super::{collective, flow_file, host_set, pattern, trace_file, training};
use crate::file::workload::{WorkloadKeys, WorkloadSection};
use crate::input::context::Context;
use crate::input::error::ScenarioError;

/// The messages of a section, on the hosts that it names, from time zero on.
pub(super) fn resolve(
    context: &Context<'_>,
    section: &mut WorkloadSection,
    ground: Ground<'_>,
) -> Result<ResolvedWorkload, ScenarioError> {
    let WorkloadSection { kind, common, work, .. } = section;
    let mut site = Site { context: *context, ground, kind, common, hosts: None };
    if let Some(text) = common.hosts.given() {
        if let WorkloadKeys::Flows(_) = work {
            let because = "a flow file names its hosts itself";
            return Err(context.misplaced(text.key(), because));
        }
        site.hosts = Some(host_set::resolve(context, &text, ground.topology.host_count())?);
    }
    let mut sent = match work {
        WorkloadKeys::Collective(section) => collective::resolve(&site, section),
        WorkloadKeys::Permutation(section) => pattern::permutation(&site, section),
        WorkloadKeys::Shift(section) => pattern::shift(&site, section),
        WorkloadKeys::Incast(section) => pattern::incast(&site, section),
        WorkloadKeys::Flows(section) => flow_file::flows(&site, section),
        WorkloadKeys::Goal(section) => flow_file::goal(&site, section),
        WorkloadKeys::ConnectionMatrix(section) => flow_file::connection_matrix(&site, section),
        WorkloadKeys::Simccl(section) => flow_file::simccl(&site, section),
        WorkloadKeys::Chakra(section) => trace_file::resolve(&site, section),
        WorkloadKeys::Training(section) => training::resolve(&site, section),
    }?;
    if let Some(hosts) = &site.hosts {
        sent.workload = sent.workload.moved(hosts);
    }
    Ok(sent)
}
