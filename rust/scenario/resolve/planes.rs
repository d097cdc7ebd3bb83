//! Fabrics under a policy, and what one of several planes does not support.

use super::site::Built;
use super::{networks, topology};
use crate::balance::Scheme;
use crate::fluid::Fidelity;
use crate::nic::AnswerPlanes;
use crate::scenario::file::ScenarioFile;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::ScenarioError;
use crate::topology::Topology;

/// The fabric of a file, or `existing` if there is one already, for a policy that it supports.
pub(in crate::scenario) fn fabric(
    context: &Context<'_>,
    file: &ScenarioFile,
    scheme: &Scheme,
    existing: Option<Topology>,
) -> Result<Built, ScenarioError> {
    let mut built = topology::resolve(context, &file.topology, existing)?;
    check(context, file, &built.topology, scheme)?;
    built.warnings.extend(networks::warning(context, file, &built.topology));
    Ok(built)
}

/// Fails for settings that a fabric of several planes does not support.
pub(in crate::scenario) fn check(
    context: &Context<'_>,
    file: &ScenarioFile,
    topology: &Topology,
    scheme: &Scheme,
) -> Result<(), ScenarioError> {
    networks::check(context, file, topology, scheme)?;
    let planes = topology.planes().count();
    if planes == 1 {
        return check_way_back(context, file, scheme);
    }
    if *file.general.fidelity == Fidelity::Fluid {
        let expected = format!(
            "it must be 'packet' with planes = {planes}: the fluid mode has hosts with one port"
        );
        return Err(context.invalid_as(file.general.fidelity.key(), "fluid", expected));
    }
    if scheme.switch.tracks_departures() {
        let expected = format!(
            "its switches know hosts by one edge switch; with planes = {planes} hosts have one in \
             each plane"
        );
        return Err(context.invalid(&file.policy.name, expected));
    }
    Ok(())
}

/// Fails for ways back that are found by probes, on a fabric of one plane.
fn check_way_back(
    context: &Context<'_>,
    file: &ScenarioFile,
    scheme: &Scheme,
) -> Result<(), ScenarioError> {
    match scheme.answers {
        AnswerPlanes::Echo | AnswerPlanes::Rotate => Ok(()),
        AnswerPlanes::ProbedHash | AnswerPlanes::ProbedRoute => {
            let expected = "its reverse = 'probe' keeps a way back in each of several planes, and \
                            hosts have one port here; omit reverse, or choose a topology of \
                            several planes";
            Err(context.invalid(&file.policy.name, expected))
        }
    }
}
