//! `[[failure]]` of hosts with several rails.

use super::file::{RailFailureName, RailFailureSection};
use crate::file::failure::SpanOrNever;
use crate::input::context::{AtLeast, Context, Lookup};
use crate::input::error::ScenarioError;
use crate::multirail::{RailConfig, RailFailure, RailFailureKind};
use crate::units::{Fraction, Time};

/// Rails and hosts that can fail.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailureTargets<'a> {
    pub rails: &'a [RailConfig],
    /// Number of hosts.
    pub ranks: u32,
}

/// Resolves the failure of a section.
pub(super) fn resolve(
    context: &Context<'_>,
    section: &RailFailureSection,
    network: FailureTargets<'_>,
) -> Result<RailFailure, ScenarioError> {
    let rail = rail(context, section, network.rails)?;
    let kind = kind(context, section, network.ranks)?;
    let at = Time::ZERO.saturating_add(context.span(&section.at, AtLeast::Zero)?);
    let until = match *section.until {
        SpanOrNever::Never => Time::NEVER,
        SpanOrNever::Span(span) => {
            Time::ZERO.saturating_add(context.span(&section.until.with(span), AtLeast::Zero)?)
        }
    };
    if until <= at {
        let expected = format!("it must be later than {}, which is {at}", section.at.key());
        return Err(context.invalid(&section.until.with(until), expected));
    }
    Ok(RailFailure { rail, kind, at, until })
}

/// Returns the index of the failing rail.
fn rail(
    context: &Context<'_>,
    section: &RailFailureSection,
    rails: &[RailConfig],
) -> Result<u32, ScenarioError> {
    let Some(name) = section.rail.given() else {
        let because = "a failure needs the name of a rail";
        return Err(context.missing(section.rail.key(), because, "rail = \"rail0\""));
    };
    let known: Vec<&str> = rails.iter().map(|rail| rail.name.as_str()).collect();
    let index = known.iter().position(|known| *known == *name);
    let unknown =
        || context.unknown(name.key(), Lookup { what: "rail", name: &name, known: &known });
    index.map(|index| index as u32).ok_or_else(unknown)
}

fn kind(
    context: &Context<'_>,
    section: &RailFailureSection,
    ranks: u32,
) -> Result<RailFailureKind, ScenarioError> {
    let host = section.host.with(section.host.unwrap_or(0));
    if *host >= ranks {
        let expected = format!("hosts are numbered from 0 to {}", ranks - 1);
        return Err(context.invalid(&host, expected));
    }
    if *section.kind == RailFailureName::Switch && section.host.is_some() {
        return Err(context.misplaced(host.key(), "a switch serves every host"));
    }
    if *section.kind != RailFailureName::Crawl && section.left.is_some() {
        return Err(context.misplaced(section.left.key(), "it is for kind = \"crawl\""));
    }
    Ok(match *section.kind {
        RailFailureName::Link => RailFailureKind::Link { host: *host },
        RailFailureName::Error => RailFailureKind::Error { host: *host },
        RailFailureName::Switch => RailFailureKind::Switch,
        RailFailureName::Crawl => {
            let left = section.left.or(Fraction::new(1, 1_000)).unwrap_or(Fraction::ONE);
            let parts = left.of(1 << 16);
            if !(1..1 << 16).contains(&parts) {
                let expected = "it must be more than 1/65536 and less than 1";
                return Err(context.invalid(&section.left.with(left), expected));
            }
            RailFailureKind::Degraded { host: *host, remaining: parts as u16 }
        }
    })
}
