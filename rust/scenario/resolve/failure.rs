//! `[[failure]]`: from names and probabilities to links.

use crate::fabric::{Failure, FailureKind};
use crate::ids::LinkId;
use crate::rng::{Purpose, Stream};
use crate::scenario::file::sections::{FailureName, FailureSection, SpanOrNever};
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::topology::{Node, Topology};
use crate::units::{Fraction, Span, Time};

/// Most times that a section takes links down, over all links that it may hit: what each costs in
/// memory and in computations of routes stays bounded.
const MOST_OUTAGES: u64 = 1 << 20;

/// What failures are drawn and counted by.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario) struct Run {
    pub seed: u64,
    pub time_limit: Time,
}

/// The failures of all links, in order of link ids and times; those of one link may overlap.
///
/// A section with a probability draws once for each link between switches, from the link's own
/// stream; the n-th such section takes the n-th draw, so that adding one moves no other.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    sections: &[FailureSection],
    topology: &Topology,
    run: Run,
) -> Result<Vec<Failure>, ScenarioError> {
    let mut failures = Vec::new();
    let mut streams: Vec<(LinkId, Stream)> = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        let key = |name: &str| format!("failure[{index}].{name}");
        let model = timing(context, section, &key)?;
        let (links, of) = match target(context, section, &key)? {
            Target::Link(name) => (vec![link_named(context, &key("link"), name, topology)?], 1),
            Target::Switch(name) => {
                let links = links_of(context, &key("switch"), name, topology)?;
                let count = links.len();
                (links, count)
            }
            Target::Each(probability) => {
                context.part(&key("probability"), probability)?;
                if streams.is_empty() {
                    streams = link_streams(topology, run.seed);
                }
                (drawn(&mut streams, probability), streams.len())
            }
        };
        let times = times(context, section, &key, (model, of as u64, run.time_limit))?;
        for link in links {
            failures.extend(times.iter().map(|time| (Failure { link, ..*time }, index)));
        }
    }
    failures.sort_by_key(|(failure, index)| (failure.link, failure.at, *index));
    let is_down = |it: &(Failure, usize)| it.0.kind == FailureKind::Down;
    let (down, others): (Vec<_>, Vec<_>) = failures.into_iter().partition(is_down);
    let mut failures = joined(&down);
    failures.extend(others.into_iter().map(|(failure, _)| failure));
    failures.sort_by_key(|failure| (failure.link, failure.at));
    Ok(failures)
}

/// Makes one of the times in which a link is down that overlap: it is up when none holds. Those
/// of which others learn at different times stay apart, each with its own: who knows of one of
/// them takes the link for dead.
fn joined(failures: &[(Failure, usize)]) -> Vec<Failure> {
    let mut apart: Vec<Failure> = Vec::new();
    for &(failure, _) in failures {
        let learned = |it: &Failure| (it.link, it.detection, it.convergence);
        let before = apart.last_mut();
        match before.filter(|it| learned(it) == learned(&failure) && it.until >= failure.at) {
            Some(before) => before.until = before.until.max(failure.until),
            None => apart.push(failure),
        }
    }
    apart
}

/// What a section is about.
enum Target<'a> {
    Link(&'a str),
    Switch(&'a str),
    Each(Fraction),
}

fn target<'a>(
    context: &Context<'_>,
    section: &'a FailureSection,
    key: &dyn Fn(&str) -> String,
) -> Result<Target<'a>, ScenarioError> {
    let right = "a failure has exactly one of link, switch and probability; leave out the others";
    match (section.link.as_deref(), section.switch.as_deref(), section.probability) {
        (Some(link), None, None) => Ok(Target::Link(link)),
        (None, Some(switch), None) => Ok(Target::Switch(switch)),
        (None, None, Some(probability)) => Ok(Target::Each(probability)),
        (None, None, None) => {
            let because = "a failure needs one of link, switch and probability".to_owned();
            Err(context.missing(&key("link"), because, "link = \"leaf0-spine0\""))
        }
        (_, _, Some(probability)) => {
            Err(context.senseless(&key("probability"), probability, right))
        }
        (_, Some(switch), None) => Err(context.senseless(&key("switch"), switch, right)),
    }
}

/// Kind and times of a section, on no particular link.
fn timing(
    context: &Context<'_>,
    section: &FailureSection,
    key: &dyn Fn(&str) -> String,
) -> Result<Failure, ScenarioError> {
    let kind = kind(context, section, key)?;
    let at = Time::ZERO + context.span(&key("at"), section.at, AtLeast::Zero)?;
    let until = match section.until {
        SpanOrNever::Never => Time::NEVER,
        SpanOrNever::Span(span) => {
            Time::ZERO + context.span(&key("until"), span, AtLeast::OnePicosecond)?
        }
    };
    if until <= at {
        let right = format!("it must be later than {}, which is {at}", key("at"));
        return Err(context.senseless(&key("until"), until, right));
    }
    let delay = |name: &str, delay: SpanOrNever| match delay {
        SpanOrNever::Never => Ok(Span::MAX),
        SpanOrNever::Span(span) => context.span(&key(name), span, AtLeast::Zero),
    };
    let detection = delay("detection", section.detection)?;
    let convergence = delay("convergence", section.convergence)?;
    Ok(Failure { link: LinkId::default(), kind, at, until, detection, convergence })
}

/// What a section makes of one link: `model` once, or for a link that flaps, each time that it is
/// down until the failure or the run ends. `of` links may be hit.
fn times(
    context: &Context<'_>,
    section: &FailureSection,
    key: &dyn Fn(&str) -> String,
    (model, of, time_limit): (Failure, u64, Time),
) -> Result<Vec<Failure>, ScenarioError> {
    let (FailureName::Flap, Some(down), Some(up)) =
        (section.kind, section.down_for, section.up_for)
    else {
        return Ok(vec![model]);
    };
    let down = context.span(&key("down_for"), down, AtLeast::OnePicosecond)?;
    let up = context.span(&key("up_for"), up, AtLeast::OnePicosecond)?;
    let period = (down + up).as_ps();
    let end = model.until.min(time_limit);
    let count = end.as_ps().saturating_sub(model.at.as_ps()).div_ceil(period);
    if count.saturating_mul(of) > MOST_OUTAGES {
        let links = if of == 1 { "1 link".to_owned() } else { format!("up to {of} links") };
        let fault = Fault::TooLarge {
            key: key("up_for"),
            value: context.shown(&key("up_for"), up),
            amount: format!("{count} times down until {end}, on {links}"),
            limit: format!("{MOST_OUTAGES} in all; let it last longer, or end earlier"),
        };
        return Err(context.fault(&key("up_for"), fault));
    }
    let outage = |nth: u64| {
        let at = Time::from_ps(model.at.as_ps() + nth * period);
        Failure { at, until: (at + down).min(model.until), ..model }
    };
    Ok((0..count).map(outage).collect())
}

fn kind(
    context: &Context<'_>,
    section: &FailureSection,
    key: &dyn Fn(&str) -> String,
) -> Result<FailureKind, ScenarioError> {
    let (name, needs): (_, &[&str]) = match section.kind {
        FailureName::Down => ("down", &[]),
        FailureName::Degrade => ("degrade", &["factor"]),
        FailureName::Loss => ("loss", &["rate"]),
        FailureName::Flap => ("flap", &["down_for", "up_for"]),
    };
    let given = [
        ("factor", section.factor.map(|it| it.to_string()), "factor = \"1/4\""),
        ("rate", section.rate.map(|it| it.to_string()), "rate = \"1/1000\""),
        ("down_for", section.down_for.map(|it| it.to_string()), "down_for = \"100us\""),
        ("up_for", section.up_for.map(|it| it.to_string()), "up_for = \"900us\""),
    ];
    for (of, value, example) in given {
        match value {
            Some(value) if !needs.contains(&of) => {
                let because = format!("{} = {name} has no {of} (it would be {value})", key("kind"));
                return Err(context.fault(&key(of), Fault::Misplaced { key: key(of), because }));
            }
            None if needs.contains(&of) => {
                let because = format!("{} = {name} needs it", key("kind"));
                return Err(context.missing(&key(of), because, example));
            }
            _ => {}
        }
    }
    if let Some(factor) = section.factor {
        let factor = context.part(&key("factor"), factor)?;
        if factor.numerator() == 0 {
            let right = "something must be left of the rate; a link without any is kind = down";
            return Err(context.senseless(&key("factor"), factor, right));
        }
        return Ok(FailureKind::Degrade { factor });
    }
    if let Some(rate) = section.rate {
        return Ok(FailureKind::Loss { rate: context.part(&key("rate"), rate)? });
    }
    Ok(FailureKind::Down)
}

fn link_named(
    context: &Context<'_>,
    key: &str,
    name: &str,
    topology: &Topology,
) -> Result<LinkId, ScenarioError> {
    topology.link_named(name).ok_or_else(|| {
        let examples = topology.link_names();
        context.fault(key, unknown(key, "link", name, &topology.links_like(name), examples))
    })
}

fn links_of(
    context: &Context<'_>,
    key: &str,
    name: &str,
    topology: &Topology,
) -> Result<Vec<LinkId>, ScenarioError> {
    let Some(switch) = topology.switch_named(name) else {
        let names: Vec<String> = topology.switches().iter().map(|s| s.name.clone()).collect();
        let fault = unknown(key, "switch", name, &topology.switches_like(name), &names);
        return Err(context.fault(key, fault));
    };
    Ok(topology.links_of(switch).collect())
}

/// The fault of a name that is not in the topology; of long lists only the ends are shown.
fn unknown(key: &str, what: &'static str, name: &str, like: &[&str], all: &[String]) -> Fault {
    let known = match all {
        [first, second, .., last] if all.len() > 6 => {
            format!("{first}, {second}, ... {last} ({} in all)", all.len())
        }
        few => few.join(", "),
    };
    Fault::UnknownName {
        key: key.to_owned(),
        what,
        name: name.to_owned(),
        nearest: like.first().map(|&name| name.to_owned()),
        known,
    }
}

/// The stream of each link between switches.
fn link_streams(topology: &Topology, seed: u64) -> Vec<(LinkId, Stream)> {
    let links = topology.links().iter().zip(0..);
    links
        .filter(|(link, _)| link.ends.iter().all(|end| matches!(end, Node::Switch(_))))
        .map(|(_, id)| (LinkId(id), Stream::new(seed, Purpose::Failure, u64::from(id))))
        .collect()
}

fn drawn(streams: &mut [(LinkId, Stream)], probability: Fraction) -> Vec<LinkId> {
    let (numerator, denominator) = (probability.numerator(), probability.denominator());
    streams
        .iter_mut()
        .filter_map(|(link, stream)| stream.chance(numerator, denominator).then_some(*link))
        .collect()
}
