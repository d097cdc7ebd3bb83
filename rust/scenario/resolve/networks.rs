//! `[topology]` of fabrics without a common top tier, and what they do not support.

use super::site::Built;
use super::topology::{built, links};
use crate::balance::{self, Forwarding, Parameters, Scheme, Weights};
use crate::file::ScenarioFile;
use crate::file::networks::{
    DragonflyPlusSection, DragonflySection, DualTorSection, RailOnlySection, TorusSection,
};
use crate::file::toggle::Toggle;
use crate::file::topology::Generated;
use crate::fluid::Fidelity;
use crate::input::context::{AtLeast, Context};
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::topology::{
    CrossRail, Dragonfly, DualTor, Group, RailOnly, Topology, TopologyError, Torus,
};
use crate::units::{BitRate, Span};

pub(super) fn dual_tor(
    context: &Context<'_>,
    generated: &Generated<DualTorSection>,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    let Generated { shape: section, links: wires } = generated;
    links(context, wires)?;
    let shape = DualTor {
        pairs: context.positive(&section.pairs)?,
        spines: context.positive(&section.spines)?,
        hosts_per_pair: context.positive(&section.hosts_per_pair)?,
        rails: context.positive(&section.rails)?,
        host_rate: *wires.host_rate,
        fabric_rate: *wires.fabric_rate,
        delay: *wires.delay,
        parallel_links: *wires.parallel_links,
    };
    let key = |error: &TopologyError| match error {
        TopologyError::TooLarge { .. } => section.pairs.key(),
        TopologyError::RailsOfLeaves { .. } => section.rails.key(),
        _ => kind,
    };
    built(context, shape.build(), key)
}

pub(super) fn rail_only(
    context: &Context<'_>,
    generated: &Generated<RailOnlySection>,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    let Generated { shape: section, links: wires } = generated;
    links(context, wires)?;
    let shape = RailOnly {
        rails: context.positive(&section.rails)?,
        servers: context.positive(&section.servers)?,
        units: context.positive(&section.units)?,
        spines: context.positive(&section.spines)?,
        host_rate: *wires.host_rate,
        fabric_rate: *wires.fabric_rate,
        delay: *wires.delay,
        parallel_links: *wires.parallel_links,
    };
    let key = |error: &TopologyError| match error {
        TopologyError::TooLarge { .. } => section.units.key(),
        _ => kind,
    };
    built(context, shape.build(), key)
}

pub(super) fn torus(
    context: &Context<'_>,
    generated: &Generated<TorusSection>,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    let Generated { shape: section, links: wires } = generated;
    links(context, wires)?;
    let positive = |count| context.positive(count);
    let shape = Torus {
        sizes: [positive(&section.x)?, positive(&section.y)?, positive(&section.z)?],
        hosts_per_switch: positive(&section.hosts_per_switch)?,
        host_rate: *wires.host_rate,
        fabric_rate: *wires.fabric_rate,
        delay: *wires.delay,
        parallel_links: *wires.parallel_links,
    };
    let key = |error: &TopologyError| match error {
        TopologyError::TooLarge { .. } => section.x.key(),
        _ => kind,
    };
    built(context, shape.build(), key)
}

/// The links of a dragonfly.
struct Wires<'a> {
    host_rate: &'a Located<BitRate>,
    fabric_rate: &'a Located<BitRate>,
    delay: &'a Located<Span>,
    global_delay: &'a Located<Span>,
}

/// Checks and builds a dragonfly, of which `shape` has the counts.
fn with_wires<'a>(
    context: &Context<'_>,
    shape: Dragonfly,
    wires: &Wires<'_>,
    key: impl Fn(&TopologyError) -> &'a Key,
) -> Result<Built, ScenarioError> {
    for rate in [wires.host_rate, wires.fabric_rate] {
        if rate.as_bps() == 0 {
            return Err(context.invalid(rate, "a link must have a rate"));
        }
    }
    for delay in [wires.delay, wires.global_delay] {
        context.span(delay, AtLeast::Zero)?;
    }
    built(context, shape.build(), key)
}

pub(super) fn dragonfly(
    context: &Context<'_>,
    section: &DragonflySection,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    let DragonflySection { host_rate, fabric_rate, delay, global_delay, .. } = section;
    let shape = Dragonfly {
        group: Group::Routers { routers: context.positive(&section.routers)? },
        groups: context.positive(&section.groups)?,
        hosts_per_switch: context.positive(&section.hosts_per_router)?,
        global_links: context.positive(&section.global_links)?,
        host_rate: **host_rate,
        fabric_rate: **fabric_rate,
        delay: **delay,
        global_delay: **global_delay,
    };
    let key = |error: &TopologyError| match error {
        TopologyError::TooLarge { .. } => section.routers.key(),
        TopologyError::TooManyGroups { .. } => section.groups.key(),
        _ => kind,
    };
    let wires = Wires { host_rate, fabric_rate, delay, global_delay };
    with_wires(context, shape, &wires, key)
}

pub(super) fn dragonfly_plus(
    context: &Context<'_>,
    section: &DragonflyPlusSection,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    let DragonflyPlusSection { host_rate, fabric_rate, delay, global_delay, .. } = section;
    let (leaves, spines) = (context.positive(&section.leaves)?, context.positive(&section.spines)?);
    let shape = Dragonfly {
        group: Group::LeafSpine { leaves, spines },
        groups: context.positive(&section.groups)?,
        hosts_per_switch: context.positive(&section.hosts_per_leaf)?,
        global_links: context.positive(&section.global_links)?,
        host_rate: **host_rate,
        fabric_rate: **fabric_rate,
        delay: **delay,
        global_delay: **global_delay,
    };
    let key = |error: &TopologyError| match error {
        TopologyError::TooLarge { .. } => section.leaves.key(),
        TopologyError::TooManyGroups { .. } => section.groups.key(),
        _ => kind,
    };
    let wires = Wires { host_rate, fabric_rate, delay, global_delay };
    with_wires(context, shape, &wires, key)
}

/// Fails for settings that a fabric does not support whose rails are networks of their own, or
/// whose switches have no common top tier.
pub(super) fn check(
    context: &Context<'_>,
    file: &ScenarioFile,
    topology: &Topology,
    scheme: &Scheme,
) -> Result<(), ScenarioError> {
    let joins = topology.scale_up().is_some_and(|it| it.cross_rail == CrossRail::Relay);
    if topology.separate_rails() > 1 && !joins {
        let expected = "its rails share no switch: write scale_up = { cross_rail = \"relay\" } \
                        under [topology], so that messages change rails inside servers";
        return Err(context.invalid_as(file.topology.kind.key(), "rail-only", expected));
    }
    if topology.planes().are_joined() && scheme.weights == Weights::Capacity {
        let expected = "weights by capacity are those of planes that share no switch, and the ToRs \
                        of a pair share their spines";
        return Err(context.invalid(&file.policy.name, expected));
    }
    let takes_detours = scheme.switch.takes_detours();
    let Some(direct) = topology.direct() else { return Ok(()) };
    if counts_tiers(scheme) {
        return Err(needs_tiers(context, file));
    }
    if scheme.weights == Weights::Capacity {
        let expected = "weights by capacity are counted tier by tier, and this fabric has no tiers";
        return Err(context.invalid(&file.policy.name, expected));
    }
    if takes_detours && *file.general.fidelity == Fidelity::Fluid {
        let expected = format!(
            "it must be 'packet' under {}: the fluid mode has minimal routes",
            *file.policy.name
        );
        return Err(context.invalid_as(file.general.fidelity.key(), "fluid", expected));
    }
    let most = u32::from(u16::MAX >> 2);
    if takes_detours && direct.groups.len() > most as usize {
        let expected = format!("a packet's header names one of {most} switches at most");
        return Err(context.invalid(&file.policy.name, expected));
    }
    Ok(())
}

/// Whether the paths of a scheme are counted tier by tier.
fn counts_tiers(scheme: &Scheme) -> bool {
    scheme.forwarding == Forwarding::SourceRouted || scheme.switch.tracks_departures()
}

/// The fault of a policy whose paths are counted tier by tier, in a fabric without tiers.
fn needs_tiers(context: &Context<'_>, file: &ScenarioFile) -> ScenarioError {
    let (name, kind) = (&file.policy.name, &file.topology.kind);
    let fitting = balance::presets().map(|preset| preset.name).filter(|name| {
        let scheme = balance::build_scheme(name, &Parameters::new());
        scheme.is_ok_and(|it| !counts_tiers(&it) && it.weights == Weights::Equal)
    });
    let fitting = fitting.collect::<Vec<_>>().join(", ");
    let none = format!("this fabric has no tiers; expected one of {fitting}");
    if context.typed(name.key()).is_some() || name.key().is_overridden() {
        return context.invalid(name, format!("its paths are counted tier by tier, and {none}"));
    }
    let fault = Fault::Missing {
        key: name.key().to_string(),
        because: format!("the default, {}, counts paths tier by tier, and {none}", **name),
        example: "[policy] and below it name = \"ecmp\"".to_owned(),
    };
    context.fault(kind.key(), fault)
}

/// Warns of deadlocks: these fabrics have cycles of links, and no virtual channels to break them.
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
