//! Links, switches and failures of a file, except what depends on the workload
//! ([`super::derived`]).

use super::{buffering, class, failure, hardware, immediates, switch};
use crate::balance::Scheme;
use crate::fabric::{FabricConfig, Rounding};
use crate::file::ScenarioFile;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::nic::NicConfig;
use crate::topology::Topology;
use crate::units::Time;

/// Returns the frame sizes that switches see.
pub(crate) fn frames(nic: &NicConfig, scheme: &Scheme) -> switch::Frames {
    let trimmed = scheme.transport.trimmed.unwrap_or(nic.header);
    switch::Frames { packet: nic.payload + nic.header, trimmed }
}

/// Resolves the links, switches and failures of a file.
pub(crate) fn resolve(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    topology: &Topology,
    (nic, scheme, time_limit): (&NicConfig, &Scheme, Time),
) -> Result<FabricConfig, ScenarioError> {
    immediates::check_fidelity(context, file)?;
    hardware::check_fidelity(context, file)?;
    let switch = switch::resolve(context, &mut file.switch, frames(nic, scheme))?;
    let run = failure::RandomContext { seed: *file.general.seed, time_limit };
    let fabric = FabricConfig {
        switch,
        ecn_by_rate: Vec::new(),
        ecn_at_hosts: *file.switch.ecn_at_hosts,
        gap: *file.topology.wire.gap,
        forwarding_delay: *file.topology.wire.forwarding_delay,
        rounding: Rounding::default(),
        ties: *file.switch.ties,
        llr: super::topology::llr(context, &file.topology.wire)?,
        failures: failure::resolve(context, &file.failure, topology, run)?,
        classes: class::resolve(context, file, topology)?,
    };
    buffering::pool(context, &file.switch, &fabric, topology)?;
    Ok(fabric)
}
