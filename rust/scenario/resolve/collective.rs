//! `[workload]` with the kind of a collective.

use crate::collective::{self, Collective, CollectiveError, CollectiveKind, Plan};
use crate::ids::HostId;
use crate::scenario::file::workload::WorkloadSection;
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::resolve::workload::{
    DEFAULT_BYTES, Place, Sent, known_kinds, only, plain, put_off, unknown,
};
use crate::units::{Bytes, Span};

/// What a message of a barrier carries, where the section does not say: a counter.
const BARRIER_BYTES: Bytes = Bytes::new(8);

/// The messages of a collective.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    let (algorithm, collective) = algorithm(context, typed, place)?;
    const KEYS: [&str; 8] =
        ["bytes", "algorithm", "ranks", "channels", "chunks", "group", "gap", "start_jitter"];
    only(context, typed, place, &KEYS)?;
    let ranks = ranks(context, typed, place)?;
    let bytes = typed.bytes.unwrap_or(match collective.operation {
        CollectiveKind::Barrier => BARRIER_BYTES,
        _ => DEFAULT_BYTES,
    });
    let gap = typed.gap.unwrap_or(Span::ZERO);
    let hierarchical = collective.is_hierarchical();
    if typed.group.is_some() && !hierarchical {
        let key = place.key("group");
        let because = format!("{} has no groups", collective.name);
        return Err(context.fault(&key.clone(), Fault::Misplaced { key, because }));
    }
    let plain_plan = Plan::new((0..ranks).map(HostId).collect(), bytes);
    let plan = Plan {
        channels: typed.channels.unwrap_or(plain_plan.channels),
        chunks: typed.chunks.unwrap_or(plain_plan.chunks),
        group: typed.group.unwrap_or(plain_plan.group),
        gap: context.span(&place.key("gap"), gap, AtLeast::Zero)?,
        ..plain_plan
    };
    let built = collective.build(&plan).map_err(|error| {
        let key = place.key(match error {
            CollectiveError::NoBytes | CollectiveError::TooManyBytes { .. } => "bytes",
            CollectiveError::TooFewRanks { .. } | CollectiveError::TooManyMessages { .. } => {
                "ranks"
            }
            CollectiveError::ZeroCount { what: "chunks" } => "chunks",
            CollectiveError::ZeroCount { .. } => "channels",
            CollectiveError::InvalidGroup { .. } => "group",
            _ => "kind",
        });
        context.fault(&key.clone(), Fault::Collective { key, error })
    })?;
    let section = WorkloadSection {
        bytes: Some(bytes),
        algorithm,
        ranks: Some(ranks),
        channels: Some(plan.channels),
        chunks: Some(plan.chunks),
        group: hierarchical.then_some(plan.group),
        gap: Some(plan.gap),
        ..plain(typed)
    };
    put_off(context, typed, place, (section, built))
}

/// How many take part: of the hosts that are meant, the first.
fn ranks(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<u32, ScenarioError> {
    let hosts = place.count();
    let ranks = typed.ranks.unwrap_or(hosts);
    if ranks < 2 || ranks > hosts {
        let (key, what) = match (typed.ranks, &typed.hosts) {
            (None, Some(_)) => ("hosts", format!("{ranks} of them")),
            _ => ("ranks", ranks.to_string()),
        };
        let right = format!("it must be from 2 to the number of hosts, {hosts}");
        return Err(match key {
            "ranks" => context.senseless(&place.key(key), what, right),
            _ => {
                let right = "a collective needs 2 hosts or more".to_owned();
                context.senseless_as(&place.key(key), what, right)
            }
        });
    }
    Ok(ranks)
}

/// The collective of a kind, which is a collective's whole name (`ring-all-reduce`) or what it
/// does (`all-reduce`) with an `algorithm` (`ring`): the first of the registry if it is not said.
fn algorithm(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<(Option<String>, &'static Collective), ScenarioError> {
    let kind = typed.kind.as_str();
    let with_algorithm = typed.algorithm.as_deref().map(|algorithm| format!("{algorithm}-{kind}"));
    let named = with_algorithm.as_deref().and_then(|name| collective::find(name).ok());
    if let (None, Ok(collective)) = (named, collective::find(kind)) {
        if typed.algorithm.is_some() {
            let key = place.key("algorithm");
            let because = format!("{} = {kind} names the algorithm already", place.key("kind"));
            return Err(context.fault(&key.clone(), Fault::Misplaced { key, because }));
        }
        return Ok((None, collective));
    }
    let suffix = format!("-{kind}");
    let choices: Vec<(&str, &'static Collective)> = collective::ALL
        .iter()
        .filter_map(|each| Some((each.name.strip_suffix(&suffix)?, each)))
        .collect();
    let Some(&(first, _)) = choices.first() else {
        return Err(unknown(context, &place.key("kind"), ("workload", kind), known_kinds()));
    };
    let wanted = typed.algorithm.as_deref().unwrap_or(first);
    let found = choices.iter().find(|(name, _)| *name == wanted);
    found.map(|&(name, each)| (Some(name.to_owned()), each)).ok_or_else(|| {
        let known = choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        unknown(context, &place.key("algorithm"), ("algorithm", wanted), known)
    })
}
