//! `[topology] scale_up`: the network within each server.

use crate::file::topology::TopologySection;
use crate::input::context::{AtLeast, Context};
use crate::input::error::{Fault, ScenarioError};
use crate::topologies::BuiltFabric;
use crate::topology::{ScaleUp, TopologyError};

/// Adds the scale-up networks of the servers to a fabric, if it has any.
pub(super) fn join(
    context: &Context<'_>,
    section: &TopologySection,
    built: BuiltFabric,
) -> Result<BuiltFabric, ScenarioError> {
    let Some(keys) = &*section.wire.scale_up else { return Ok(built) };
    if let Some(rails) = section.shape.rails().filter(|rails| *rails > 1 && rails != &*keys.gpus) {
        let expected = format!("a server of this fabric has rails = {rails} GPUs; write {rails}");
        return Err(context.invalid(&keys.gpus, expected));
    }
    if keys.rate.as_bps() == 0 {
        return Err(context.invalid(&keys.rate, "a port must have a rate"));
    }
    context.span(&keys.latency, AtLeast::Zero)?;
    let scale_up = ScaleUp {
        gpus: *keys.gpus,
        rate: *keys.rate,
        latency: *keys.latency,
        cross_rail: *keys.cross_rail,
    };
    let joined = built.topology.with_scale_up(scale_up);
    let fault = |error: TopologyError| context.fault(keys.gpus.key(), Fault::Topology(error));
    Ok(BuiltFabric { topology: joined.map_err(fault)?, ..built })
}
