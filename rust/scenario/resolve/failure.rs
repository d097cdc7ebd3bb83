//! `[[failure]]`: maps names and probabilities to links.

use crate::fabric::{Direction, Failure, FailureKind};
use crate::file::failure::{FailureName, FailureSection, SpanOrNever};
use crate::ids::{LinkId, PortId};
use crate::input::context::{AtLeast, Context};
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::rng::{Purpose, Stream};
use crate::topology::{Node, Topology};
use crate::units::{Fraction, Span, Time};

/// Most outages of a section over all links it may select. Bounds memory and route computation.
const MAX_OUTAGES: u64 = 1 << 20;

/// Inputs of random failures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomContext {
    pub seed: u64,
    pub time_limit: Time,
}

/// A failure of a link, and the index of its section.
#[derive(Debug, Clone, Copy)]
struct Scheduled {
    failure: Failure,
    section: usize,
}

/// Links that a section selects, and the number of candidates.
struct Selection {
    links: Vec<LinkId>,
    candidates: usize,
}

/// A link and its random stream.
type LinkStream = (LinkId, Stream);

/// Resolves the failures of all links, ordered by link id and time. Failures of one link may
/// overlap.
///
/// A section with a probability draws once for each link between switches, from the link's own
/// stream. The n-th such section uses the n-th draw, so that adding one leaves the others
/// unchanged.
pub(crate) fn resolve(
    context: &Context<'_>,
    sections: &[FailureSection],
    topology: &Topology,
    run: RandomContext,
) -> Result<Vec<Failure>, ScenarioError> {
    let mut scheduled = Vec::new();
    let mut streams: Vec<LinkStream> = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        let mut model = timing(context, section)?;
        let selection = match target(context, section)? {
            Target::Link(name) => {
                let link = link_named(context, &name, topology)?;
                model.direction = direction(context, section, topology, link)?;
                Selection { links: vec![link], candidates: 1 }
            }
            Target::Switch(name) => {
                let links = links_of(context, &name, topology)?;
                Selection { candidates: links.len(), links }
            }
            Target::Plane(plane) => {
                let links = links_of_plane(context, &plane, topology)?;
                Selection { candidates: links.len(), links }
            }
            Target::Each(probability) => {
                context.at_most_one(&probability)?;
                if streams.is_empty() {
                    streams = link_streams(topology, run.seed);
                }
                Selection {
                    links: random_links(&mut streams, *probability),
                    candidates: streams.len(),
                }
            }
        };
        let times = times(
            context,
            section,
            model,
            Bounds { candidates: selection.candidates, end: run.time_limit },
        )?;
        for link in selection.links {
            let failure = |time: &Failure| Failure { link, ..*time };
            scheduled.extend(
                times.iter().map(|time| Scheduled { failure: failure(time), section: index }),
            );
        }
    }
    scheduled.sort_by_key(|it| (it.failure.link, it.failure.at, it.section));
    Ok(merge_outages(scheduled.into_iter().map(|it| it.failure)))
}

/// Adds links that are down from the start and already known to routing.
pub(crate) fn add_known_down(failures: &mut Vec<Failure>, down: &[LinkId]) {
    if down.is_empty() {
        return;
    }
    failures.extend(down.iter().map(|&link| Failure {
        link,
        direction: Direction::Both,
        kind: FailureKind::Down,
        at: Time::ZERO,
        until: Time::NEVER,
        detection: Span::ZERO,
        convergence: Span::ZERO,
    }));
    failures.sort_by_key(|it| (it.link, it.at));
    *failures = merge_outages(std::mem::take(failures).into_iter());
}

/// Merges overlapping outages of a link, which is up only when no outage is in effect. Outages with
/// different detection or convergence times stay separate. A switch that has detected one of them
/// treats the link as dead.
fn merge_outages(failures: impl Iterator<Item = Failure>) -> Vec<Failure> {
    let (down, others): (Vec<_>, Vec<_>) = failures.partition(|it| it.kind == FailureKind::Down);
    // Sorted by link and time, so that an overlapping outage is the previous one.
    let mut merged: Vec<Failure> = Vec::new();
    for failure in down {
        let informed = |it: &Failure| (it.link, it.direction, it.detection, it.convergence);
        let before = merged.last_mut();
        match before.filter(|it| informed(it) == informed(&failure) && it.until >= failure.at) {
            Some(before) => before.until = before.until.max(failure.until),
            None => merged.push(failure),
        }
    }
    merged.extend(others);
    merged.sort_by_key(|failure| (failure.link, failure.at));
    merged
}

/// Target of a section.
enum Target {
    Link(Located<String>),
    Switch(Located<String>),
    Plane(Located<u32>),
    Each(Located<Fraction>),
}

fn target(context: &Context<'_>, section: &FailureSection) -> Result<Target, ScenarioError> {
    let expected =
        "a failure has exactly one of link, switch, plane and probability; omit the others";
    if let (None, Some(from)) = (section.link.given(), section.from.given()) {
        let because = format!("it is an end of {}, which is not set", section.link.key());
        return Err(context.misplaced(from.key(), because));
    }
    let one = (section.link.given(), section.switch.given(), section.probability.given());
    match (one, section.plane.given()) {
        ((Some(link), None, None), None) => Ok(Target::Link(link)),
        ((None, Some(switch), None), None) => Ok(Target::Switch(switch)),
        ((None, None, Some(probability)), None) => Ok(Target::Each(probability)),
        ((None, None, None), Some(plane)) => Ok(Target::Plane(plane)),
        ((None, None, None), None) => {
            let because = "a failure needs one of link, switch, plane and probability";
            Err(context.missing(section.link.key(), because, "link = \"leaf0-spine0\""))
        }
        ((_, _, Some(probability)), _) => Err(context.invalid(&probability, expected)),
        ((_, Some(switch), None), _) => Err(context.invalid(&switch, expected)),
        ((Some(_), None, None), Some(plane)) => Err(context.invalid(&plane, expected)),
    }
}

/// Returns the direction of the link that a section affects.
fn direction(
    context: &Context<'_>,
    section: &FailureSection,
    topology: &Topology,
    link: LinkId,
) -> Result<Direction, ScenarioError> {
    let Some(from) = section.from.given() else { return Ok(Direction::Both) };
    let start_of = |port: &PortId| topology.node_name(topology.ends_of(*port).0);
    let ports = link.ports();
    if let Some(&port) = ports.iter().find(|port| start_of(port) == from.as_str()) {
        return Ok(Direction::From(port));
    }
    let [a, b] = ports.each_ref().map(start_of);
    Err(context.invalid(&from, format!("it must be an end of the link: \"{a}\" or \"{b}\"")))
}

/// Returns the kind and times of a section, without a link.
fn timing(context: &Context<'_>, section: &FailureSection) -> Result<Failure, ScenarioError> {
    let kind = kind(context, section)?;
    let at = Time::ZERO + context.span(&section.at, AtLeast::Zero)?;
    let until = match *section.until {
        SpanOrNever::Never => Time::NEVER,
        SpanOrNever::Span(span) => {
            Time::ZERO + context.span(&section.until.with(span), AtLeast::OnePicosecond)?
        }
    };
    if until <= at {
        let expected = format!("it must be later than {}, which is {at}", section.at.key());
        return Err(context.invalid(&section.until.with(until), expected));
    }
    let delay = |delay: &Located<SpanOrNever>| match **delay {
        SpanOrNever::Never => Ok(Span::MAX),
        SpanOrNever::Span(span) => context.span(&delay.with(span), AtLeast::Zero),
    };
    let detection = delay(&section.detection)?;
    let convergence = delay(&section.convergence)?;
    let (link, direction) = (LinkId::default(), Direction::Both);
    Ok(Failure { link, direction, kind, at, until, detection, convergence })
}

/// Limits of a flapping link.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Number of candidate links.
    candidates: usize,
    /// End of the run.
    end: Time,
}

/// Returns the failures of one link that a section causes: `model` once, or every outage of a
/// flapping link until the failure or the run ends.
fn times(
    context: &Context<'_>,
    section: &FailureSection,
    model: Failure,
    bounds: Bounds,
) -> Result<Vec<Failure>, ScenarioError> {
    let (FailureName::Flap, Some(down), Some(up)) =
        (*section.kind, section.down_for.given(), section.up_for.given())
    else {
        return Ok(vec![model]);
    };
    let (up_key, up_shown) = (up.key(), context.shown(&up));
    let down = context.span(&down, AtLeast::OnePicosecond)?;
    let up = context.span(&up, AtLeast::OnePicosecond)?;
    let period = (down + up).as_ps();
    let end = model.until.min(bounds.end);
    // A failure that starts after the run has no outage. A last partial period counts.
    let count = end.as_ps().saturating_sub(model.at.as_ps()).div_ceil(period);
    if count.saturating_mul(bounds.candidates as u64) > MAX_OUTAGES {
        let links = match bounds.candidates {
            1 => "1 link".to_owned(),
            count => format!("up to {count} links"),
        };
        let fault = Fault::TooLarge {
            key: up_key.to_string(),
            value: up_shown,
            amount: format!("{count} outages until {end}, on {links}"),
            limit: format!("{MAX_OUTAGES} in total; use longer times, or an earlier end"),
        };
        return Err(context.fault(up_key, fault));
    }
    let outage = |index: u64| {
        let at = Time::from_ps(model.at.as_ps() + index * period);
        Failure { at, until: (at + down).min(model.until), ..model }
    };
    Ok((0..count).map(outage).collect())
}

/// A key that only some kinds of failure have.
struct KindKey<'a> {
    key: &'a Key,
    name: &'static str,
    is_set: bool,
    example: &'static str,
}

impl<'a> KindKey<'a> {
    fn new<T>(name: &'static str, value: &'a Located<Option<T>>, example: &'static str) -> Self {
        Self { key: value.key(), name, is_set: value.is_some(), example }
    }
}

fn kind(context: &Context<'_>, section: &FailureSection) -> Result<FailureKind, ScenarioError> {
    let (kind, needs): (_, &[&str]) = match *section.kind {
        FailureName::Down => ("down", &[]),
        FailureName::Degrade => ("degrade", &["factor"]),
        FailureName::Loss => ("loss", &["rate"]),
        FailureName::Flap => ("flap", &["down_for", "up_for"]),
    };
    for KindKey { key, name, is_set, example } in [
        KindKey::new("factor", &section.factor, "factor = \"1/4\""),
        KindKey::new("rate", &section.rate, "rate = \"1/1000\""),
        KindKey::new("down_for", &section.down_for, "down_for = \"100us\""),
        KindKey::new("up_for", &section.up_for, "up_for = \"900us\""),
    ] {
        let kind_key = section.kind.key();
        match (is_set, needs.contains(&name)) {
            (true, false) => {
                let because = format!("{kind_key} = {kind} has no {name}");
                return Err(context.misplaced(key, because));
            }
            (false, true) => {
                let because = format!("{kind_key} = {kind} needs it");
                return Err(context.missing(key, because, example));
            }
            _ => {}
        }
    }
    if let Some(factor) = section.factor.given() {
        let share = context.at_most_one(&factor)?;
        if share.numerator() == 0 {
            let expected = "some of the rate must remain; use kind = down for a link without any";
            return Err(context.invalid(&factor, expected));
        }
        return Ok(FailureKind::Degrade { factor: share });
    }
    if let Some(rate) = section.rate.given() {
        return Ok(FailureKind::Loss { rate: context.at_most_one(&rate)? });
    }
    Ok(FailureKind::Down)
}

/// Finds a link by name.
pub(super) fn link_named(
    context: &Context<'_>,
    name: &Located<String>,
    topology: &Topology,
) -> Result<LinkId, ScenarioError> {
    topology.link_named(name).ok_or_else(|| {
        let like = topology.links_like(name);
        unknown(context, "link", name, Names { like: &like, all: topology.link_names() })
    })
}

fn links_of(
    context: &Context<'_>,
    name: &Located<String>,
    topology: &Topology,
) -> Result<Vec<LinkId>, ScenarioError> {
    let Some(switch) = topology.switch_named(name) else {
        let all: Vec<String> = topology.switches().iter().map(|s| s.name.clone()).collect();
        let like = topology.switches_like(name);
        return Err(unknown(context, "switch", name, Names { like: &like, all: &all }));
    };
    Ok(topology.links_of(switch).collect())
}

fn links_of_plane(
    context: &Context<'_>,
    plane: &Located<u32>,
    topology: &Topology,
) -> Result<Vec<LinkId>, ScenarioError> {
    let planes = topology.planes().count();
    if **plane >= planes {
        let expected = match planes {
            1 => {
                "the fabric has one plane, 0: topology.kind = 'multi-plane' has several".to_owned()
            }
            _ => format!("the fabric has the planes 0 to {}", planes - 1),
        };
        return Err(context.invalid(plane, expected));
    }
    Ok(topology.links_of_plane(**plane).collect())
}

/// Names in a topology.
struct Names<'a> {
    /// Names similar to an unknown one, most similar first.
    like: &'a [&'a str],
    all: &'a [String],
}

/// Returns the fault of a name that is not in the topology. Long lists are abbreviated to their
/// ends.
fn unknown(
    context: &Context<'_>,
    what: &'static str,
    name: &Located<String>,
    names: Names<'_>,
) -> ScenarioError {
    let known = match names.all {
        [first, second, .., last] if names.all.len() > 6 => {
            format!("{first}, {second}, ... {last} ({} in all)", names.all.len())
        }
        few => few.join(", "),
    };
    let fault = Fault::UnknownName {
        key: name.key().to_string(),
        what,
        name: name.to_string(),
        nearest: names.like.first().map(|&name| name.to_owned()),
        known,
    };
    context.fault(name.key(), fault)
}

/// Returns the random stream of each link between switches.
fn link_streams(topology: &Topology, seed: u64) -> Vec<LinkStream> {
    let links = topology.links().iter().zip(0..);
    links
        .filter(|(link, _)| link.ends.iter().all(|end| matches!(end, Node::Switch(_))))
        .map(|(_, id)| (LinkId(id), Stream::new(seed, Purpose::Failure, u64::from(id))))
        .collect()
}

fn random_links(streams: &mut [LinkStream], probability: Fraction) -> Vec<LinkId> {
    let (numerator, denominator) = (probability.numerator(), probability.denominator());
    streams
        .iter_mut()
        .filter_map(|(link, stream)| stream.chance(numerator, denominator).then_some(*link))
        .collect()
}
