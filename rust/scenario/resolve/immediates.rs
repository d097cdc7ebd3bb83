//! `[transport] max_wimm`: messages as WRITEs with immediate data.

use crate::file::ScenarioFile;
use crate::file::transport::TransportSection;
use crate::fluid::Fidelity;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::nic::{Delivery, Recovery};

/// Returns the maximum number of outstanding messages per queue pair, if they are WRITEs with
/// immediate data.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &TransportSection,
    recovery: Recovery,
    delivery: Option<Delivery>,
) -> Result<Option<u32>, ScenarioError> {
    let Some(most) = section.max_wimm.given() else { return Ok(None) };
    if *most == 0 {
        let expected = "it must be at least 1; omit max_wimm for plain WRITEs";
        return Err(context.invalid(&most, expected));
    }
    if delivery.unwrap_or(recovery.delivery()) == Delivery::Unordered {
        let expected = format!(
            "WRITEs with immediate data need ordered delivery, but messages are delivered \
             unordered ({} = '{}'); omit max_wimm, or use {} = 'ordered' with a recovery that \
             supports it",
            section.recovery.key(),
            recovery.name(),
            section.delivery.key()
        );
        return Err(context.invalid(&most, expected));
    }
    Ok(Some(*most))
}

/// Rejects `max_wimm` and `qp_cache` in fluid mode. Its queue pairs send all messages at once, and
/// it has no packets for cache misses to delay.
pub(crate) fn check_fidelity(
    context: &Context<'_>,
    file: &ScenarioFile,
) -> Result<(), ScenarioError> {
    match file.transport.max_wimm.given() {
        Some(most) if *file.general.fidelity == Fidelity::Fluid => {
            let expected = "the fluid mode does not limit outstanding messages; omit max_wimm, or \
                            use fidelity = 'packet'";
            Err(context.invalid(&most, expected))
        }
        _ if *file.general.fidelity == Fidelity::Fluid && file.transport.qp_cache.is_some() => {
            let expected = "the fluid mode has no packets that wait for a context; omit qp_cache, \
                            or use fidelity = 'packet'";
            Err(context.invalid_as(file.transport.qp_cache.key(), "{ ... }", expected))
        }
        _ => Ok(()),
    }
}
