//! Warnings about servers without NVLink: groups of ranks that share a server talk over the fabric.

use super::host_set;
use crate::file::ScenarioFile;
use crate::file::workload::WorkloadSection;
use crate::ids::HostId;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::input::located::Key;
use crate::topology::Topology;
use crate::workloads::WorkloadKeys;

/// Warns about each group of ranks that lies in servers without a scale-up network. Only fabrics
/// with rails say which GPUs a server has; on others, such a group is a server in practice.
pub(crate) fn warnings(
    context: &Context<'_>,
    file: &ScenarioFile,
    topology: &Topology,
) -> Result<Vec<String>, ScenarioError> {
    if topology.scale_up().is_some() {
        return Ok(Vec::new());
    }
    let gpus = file.topology.shape.rails().filter(|rails| *rails > 1);
    let mut warnings = Vec::new();
    for section in file.workload.iter().chain(&file.job) {
        let Some((key, size)) = group(section) else { continue };
        let Some(gpus) = gpus else {
            let warning = format!(
                "groups of {size} ranks exchange their messages over the fabric; if they share a \
                 server with NVLink, write scale_up = {{ gpus = {size} }} under [topology]"
            );
            warnings.push(context.warning(&key, &warning));
            continue;
        };
        let hosts = section.common.hosts.given();
        let hosts = hosts.map(|text| host_set::resolve(context, &text, topology.host_count()));
        let first = match hosts.transpose()? {
            Some(hosts) => hosts.first().copied().zip(hosts.get(1).copied()),
            None => Some((HostId(0), HostId(1))),
        };
        // Groups are consecutive ranks, so the first two ranks are in one group.
        if first.is_some_and(|(one, other)| one.0 / gpus == other.0 / gpus) {
            let warning = format!(
                "groups of {size} ranks span GPUs of one server, and without NVLink their messages \
                 cross the fabric; write scale_up = {{ gpus = {gpus} }} under [topology]"
            );
            warnings.push(context.warning(&key, &warning));
        }
    }
    Ok(warnings)
}

/// Returns the key and the size of the groups of consecutive ranks in a workload.
fn group(section: &WorkloadSection) -> Option<(Key, u32)> {
    match &section.work {
        WorkloadKeys::Training(training) if *training.tensor > 1 => {
            Some((training.tensor.key().clone(), *training.tensor))
        }
        // Hierarchical algorithms of a training have its group.
        WorkloadKeys::Training(training) => {
            let group = training.group.given()?;
            (*group > 1).then(|| (group.key().clone(), *group))
        }
        // Only hierarchical collectives have a group.
        WorkloadKeys::Collective(collective) => {
            Some((collective.group.key().clone(), (*collective.group)?))
        }
        _ => None,
    }
}
