//! Warnings about policies: unused parameters, and a transport or fabric other than the one that
//! the policy is designed for.

use super::hardware;
use crate::balance::sender::Trimming;
use crate::balance::{SHARED_PARAMETERS, Scheme, Transport, Weights};
use crate::endpoint::JobPolicy;
use crate::file::ScenarioFile;
use crate::file::toggle::Toggle;
use crate::input::context::Context;
use crate::input::located::Key;
use crate::nic::NicConfig;
use crate::topology::Topology;

/// Returns warnings about a file as written, and about differences from the policy's own transport.
pub(crate) fn of(
    context: &Context<'_>,
    [written, file]: [&ScenarioFile; 2],
    (scheme, nic, topology): (&Scheme, &NicConfig, &Topology),
    jobs: &[JobPolicy],
) -> Vec<String> {
    let whole = (scheme, file.policy.name.key().clone());
    let key_of = |own: &JobPolicy| file.job[own.job].job.policy.key().clone();
    let others = jobs.iter().filter(|own| own.scheme.transport != scheme.transport);
    let others = others.filter(|own| own.scheme.transport == Transport::default());
    let others: Vec<String> = others
        .map(|own| {
            let warning = format!(
                "all jobs share the NICs: '{}' runs with the transport of '{}'; use [transport] to \
                 change it",
                own.scheme.name, scheme.name
            );
            context.warning(&key_of(own), &warning)
        })
        .collect();
    let jobs = jobs.iter().map(|own| (&own.scheme, key_of(own)));
    let trims = matches!(*file.switch.trim, Toggle::On(_));
    let all: Vec<_> = std::iter::once(whole).chain(jobs).collect();
    let planes = topology.planes().count();
    let shares = all.iter().flat_map(|(scheme, key)| {
        shares(scheme, planes).map(|warning| context.warning(key, &warning))
    });
    let mut shares: Vec<String> = shares.collect();
    let direct = all.iter().filter(|(scheme, _)| scheme.switch.uses_detours());
    let direct = direct.filter(|_| topology.direct().is_none());
    shares.extend(direct.map(|(scheme, key)| {
        let warning = format!(
            "'{}' takes detours through other groups of switches, but this fabric has no groups: \
             its paths are minimal",
            scheme.name
        );
        context.warning(key, &warning)
    }));
    let all = all.into_iter();
    let missing = all.flat_map(|(scheme, key)| missing(context, scheme, &key, (nic, trims)));
    let unused = written.policy.unused(context, &file.policy, &SHARED_PARAMETERS);
    let (before, now) = (&written.transport, &file.transport);
    // A resolved file omits some keys of the control at their defaults.
    let mut known = nic.congestion.control().defaults(Trimming::Off);
    known.extend((*now.parameters).clone());
    let dropped = [
        (&before.parameters, &known, "congestion control"),
        (&before.recovery_parameters, &*now.recovery_parameters, "loss recovery"),
    ];
    let dropped = dropped.into_iter().flat_map(|(before, now, of)| {
        let warning = format!("a parameter of another {of}, not used by '{}'", *file.policy.name);
        let keys = before.keys().filter(|key| !now.contains_key(*key));
        let keys = keys.map(|key| context.warning(&before.key().child(key), &warning));
        keys.collect::<Vec<_>>()
    });
    let other_rate = hardware::other_rate(context, now, topology);
    let all = unused.into_iter().chain(dropped).chain(missing).chain(others);
    all.chain(shares).chain(other_rate).collect()
}

/// Warns about links that a scheme leaves idle or loads unevenly.
fn shares(scheme: &Scheme, planes: u32) -> impl Iterator<Item = String> {
    let name = scheme.name;
    let unweighed = has_unused_weights(scheme)
        .then(|| format!("'{name}' ignores weights = \"capacity\": slow links get equal shares"));
    let confined = (planes > 1 && scheme.sender.pins_plane()).then(|| {
        format!(
            "'{name}' keeps the packets of a queue pair in one of {planes} planes, at most \
             1/{planes} of the host's rate; policies that balance per packet use all planes"
        )
    });
    unweighed.into_iter().chain(confined)
}

/// True if the scheme's switches or senders ignore the weights that it asks for.
fn has_unused_weights(scheme: &Scheme) -> bool {
    let is_blind = matches!(scheme.name, "ethereal" | "line-cut" | "conga" | "letflow");
    is_blind && scheme.weights == Weights::Capacity
}

/// Returns the missing parts of a scheme's transport.
fn missing(
    context: &Context<'_>,
    scheme: &Scheme,
    key: &Key,
    (nic, trims): (&NicConfig, bool),
) -> Vec<String> {
    if scheme.transport == Transport::default() {
        return Vec::new();
    }
    let (policy, control) = (scheme.name, nic.congestion.name());
    let own = scheme.transport.congestion_control.name();
    let mut missing = Vec::new();
    if control != own {
        missing.push(format!(
            "'{policy}' is designed for the congestion control '{own}' and runs under '{control}': \
             results are not those of its transport"
        ));
    }
    if !trims {
        missing.push(format!(
            "'{policy}' is designed for switches that trim, but these do not: a full queue looks \
             like a broken path; set switch.trim = true (for all policies)"
        ));
    }
    missing.iter().map(|text| context.warning(key, text)).collect()
}
