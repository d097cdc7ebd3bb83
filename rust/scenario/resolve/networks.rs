//! Settings unsupported by fabrics without a common top tier.

use crate::balance::{self, Forwarding, Parameters, Scheme, Weights};
use crate::file::ScenarioFile;
use crate::file::toggle::Toggle;
use crate::fluid::Fidelity;
use crate::input::context::Context;
use crate::input::error::{Fault, ScenarioError};
use crate::topology::{CrossRail, Topology};

/// Fails for settings that the fabric does not support because its rails are separate networks or
/// its switches have no common top tier.
pub(super) fn check(
    context: &Context<'_>,
    file: &ScenarioFile,
    topology: &Topology,
    scheme: &Scheme,
) -> Result<(), ScenarioError> {
    let joins = topology.scale_up().is_some_and(|it| it.cross_rail == CrossRail::Relay);
    if topology.separate_rails() > 1 && !joins {
        let expected = "its rails share no switch; set scale_up = { cross_rail = \"relay\" } \
                        under [topology], so that messages change rails inside servers";
        return Err(context.invalid_as(file.topology.kind.key(), "rail-only", expected));
    }
    if topology.planes().share_fabric() && scheme.weights == Weights::Capacity {
        let expected = "weights by capacity need planes that share no switch, but the ToRs of a \
                        pair share their spines";
        return Err(context.invalid(&file.policy.name, expected));
    }
    let takes_detours = scheme.switch.uses_detours();
    let Some(direct) = topology.direct() else { return Ok(()) };
    if counts_tiers(scheme) {
        return Err(needs_tiers(context, file));
    }
    if scheme.weights == Weights::Capacity {
        let expected = "weights by capacity are computed tier by tier, but this fabric has no \
                        tiers";
        return Err(context.invalid(&file.policy.name, expected));
    }
    if takes_detours && *file.general.fidelity == Fidelity::Fluid {
        let expected = format!(
            "it must be 'packet' under {}: the fluid mode has only minimal routes",
            *file.policy.name
        );
        return Err(context.invalid_as(file.general.fidelity.key(), "fluid", expected));
    }
    let most = u32::from(u16::MAX >> 2);
    if takes_detours && direct.groups.len() > most as usize {
        let expected = format!("a packet header can name at most {most} switches");
        return Err(context.invalid(&file.policy.name, expected));
    }
    Ok(())
}

/// True if the scheme counts paths tier by tier.
fn counts_tiers(scheme: &Scheme) -> bool {
    scheme.forwarding == Forwarding::SourceRouted || scheme.switch.tracks_departures()
}

/// Returns the fault of such a policy in a fabric without tiers.
fn needs_tiers(context: &Context<'_>, file: &ScenarioFile) -> ScenarioError {
    let (name, kind) = (&file.policy.name, &file.topology.kind);
    let fitting = balance::presets().map(|preset| preset.name).filter(|name| {
        let scheme = balance::build_scheme(name, &Parameters::new());
        scheme.is_ok_and(|it| !counts_tiers(&it) && it.weights == Weights::Equal)
    });
    let fitting = fitting.collect::<Vec<_>>().join(", ");
    let none = format!("this fabric has no tiers; expected one of {fitting}");
    if context.as_written(name.key()).is_some() || name.key().is_overridden() {
        return context.invalid(name, format!("it counts paths tier by tier, and {none}"));
    }
    let fault = Fault::Missing {
        key: name.key().to_string(),
        because: format!("the default, {}, counts paths tier by tier, and {none}", **name),
        example: "[policy] and below it name = \"ecmp\"".to_owned(),
    };
    context.fault(kind.key(), fault)
}

/// Warns of deadlocks. These fabrics have cyclic dependencies between links and no virtual channels
/// to break them.
pub(super) fn warning(
    context: &Context<'_>,
    file: &ScenarioFile,
    topology: &Topology,
) -> Option<String> {
    if topology.direct().is_none() || *file.switch.pfc == Toggle::Off {
        return None;
    }
    let warning = "in a fabric with cycles of links, priority flow control can deadlock: there are \
                   no virtual channels to break them; a run that deadlocks names the cycle";
    Some(context.warning(file.switch.pfc.key(), warning))
}
