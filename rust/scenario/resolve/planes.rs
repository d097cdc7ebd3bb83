//! The fabric of a policy, and settings that fabrics of several planes do not support.

use super::{networks, topology};
use crate::balance::sender::PathSpace;
use crate::balance::{Forwarding, Scheme};
use crate::endpoint::JobPolicy;
use crate::file::ScenarioFile;
use crate::fluid::Fidelity;
use crate::ids::HostId;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::nic::congestion::Scope;
use crate::nic::{ControlPaths, NicConfig};
use crate::topologies::BuiltFabric;
use crate::topology::Topology;

/// Returns the fabric of a file (or `existing`), after checking that it supports the policy.
pub(crate) fn fabric(
    context: &Context<'_>,
    file: &ScenarioFile,
    scheme: &Scheme,
    existing: Option<Topology>,
) -> Result<BuiltFabric, ScenarioError> {
    let mut built = topology::resolve(context, &file.topology, existing)?;
    check(context, file, &built.topology, scheme)?;
    built.warnings.extend(networks::warning(context, file, &built.topology));
    Ok(built)
}

/// Fails for settings that a fabric of several planes does not support.
pub(crate) fn check(
    context: &Context<'_>,
    file: &ScenarioFile,
    topology: &Topology,
    scheme: &Scheme,
) -> Result<(), ScenarioError> {
    networks::check(context, file, topology, scheme)?;
    check_paths(context, &file.policy.name, topology, scheme)?;
    let planes = topology.planes().count();
    if planes == 1 {
        return check_way_back(context, file, scheme);
    }
    if *file.general.fidelity == Fidelity::Fluid {
        let expected = format!(
            "it must be 'packet' with planes = {planes}: the fluid mode supports only one port per \
             host"
        );
        return Err(context.invalid_as(file.general.fidelity.key(), "fluid", expected));
    }
    if scheme.switch.tracks_departures() {
        let expected = format!(
            "its switches identify hosts by one edge switch, but with planes = {planes} hosts have \
             one in each plane"
        );
        return Err(context.invalid(&file.policy.name, expected));
    }
    Ok(())
}

/// Most pairs of edge switches whose paths are all counted. Beyond it, a sample of switches stands
/// for all, because fabrics of that size are regular.
const MAX_PAIRS: usize = 1 << 20;

/// Fails if a policy that numbers paths meets a fabric with more paths than 16 bits can count.
pub(super) fn check_paths(
    context: &Context<'_>,
    name: &Located<String>,
    topology: &Topology,
    scheme: &Scheme,
) -> Result<(), ScenarioError> {
    if scheme.forwarding == Forwarding::Hashed {
        return Ok(());
    }
    let routes = topology.routes();
    let mut hosts: Vec<HostId> = (0..topology.host_count()).map(HostId).collect();
    hosts.dedup_by_key(|host| routes.edge_of(*host));
    let sources = (MAX_PAIRS / hosts.len().max(1)).max(1);
    for src in hosts.iter().step_by(hosts.len().div_ceil(sources).max(1)) {
        for dst in &hosts {
            let choices = routes.choices(*src, *dst);
            let add = |paths: PathSpace, &count: &u32| paths.with_tier(count as usize);
            if choices.iter().try_fold(PathSpace::SINGLE, add).is_none() {
                let names = topology.host_names();
                let counts = choices.iter().filter(|count| **count > 1);
                let counts: Vec<String> = counts.map(u32::to_string).collect();
                let expected = format!(
                    "it numbers the paths of a pair of hosts, at most 65,536 in four tiers, but \
                     from {} to {} there are {}; use fewer spines or parallel links, or a policy \
                     that hashes, such as ecmp or spray",
                    names[src.index()],
                    names[dst.index()],
                    counts.join(" x ")
                );
                return Err(context.invalid(name, expected));
            }
        }
    }
    Ok(())
}

/// Fails if each path has a window, and the policy has no fixed number of paths, equally many in
/// each plane.
pub(crate) fn check_windows(
    context: &Context<'_>,
    file: &ScenarioFile,
    planes: u32,
    (nic, scheme, jobs): (&NicConfig, &Scheme, &[JobPolicy]),
) -> Result<(), ScenarioError> {
    if nic.congestion.scope() != Scope::Path {
        return Ok(());
    }
    let own = jobs.iter().map(|job| (&job.scheme, file.job[job.job].job.policy.as_ref()));
    let own = own.filter_map(|(scheme, section)| Some((scheme, &section?.name)));
    for (scheme, name) in [(scheme, &file.policy.name)].into_iter().chain(own) {
        if scheme.paths().is_some_and(|paths| paths % planes == 0) {
            continue;
        }
        let expected = format!(
            "with scope = 'path' each path has a window, so the policy must have a fixed number of \
             paths, equally many in each of {planes} planes; use spray-rr with entropies = 2, 4, \
             8, 16 or 32, or another scope"
        );
        return Err(context.invalid(name, expected));
    }
    Ok(())
}

/// Fails for return paths found by probes on a fabric of one plane.
fn check_way_back(
    context: &Context<'_>,
    file: &ScenarioFile,
    scheme: &Scheme,
) -> Result<(), ScenarioError> {
    match scheme.control_paths {
        ControlPaths::Echo | ControlPaths::Rotate => Ok(()),
        ControlPaths::ProbedHash | ControlPaths::ProbedRoute => {
            let expected = "reverse = 'probe' needs a return path in each of several planes, but \
                            hosts have one port here; omit reverse, or use a topology with several \
                            planes";
            Err(context.invalid(&file.policy.name, expected))
        }
    }
}
