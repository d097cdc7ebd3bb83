//! The physical values of links.

use std::collections::BTreeMap;

use serde::Deserialize;
use yaml_serde::Value;

use super::error::InfragraphFault;
use super::{Defaults, PlacedFault};
use crate::units::{BitRate, Span};

/// The longest delay, 100,000 s, so that sums of a few delays fit 64 bits of picoseconds.
const MAX_DELAY: Span = Span::from_ms(100_000_000);

/// A link type that edges refer to by name.
#[derive(Debug, Deserialize)]
pub(super) struct LinkKind {
    name: String,
    physical: Option<Physical>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Physical {
    bandwidth: Option<Quantity>,
    latency: Option<Quantity>,
}

/// A value keyed by its unit; the key `choice` names that unit again.
type Quantity = BTreeMap<String, Value>;

/// Returns the rate and the delay of the link type `name`.
pub(super) fn of(
    links: &[LinkKind],
    name: &str,
    defaults: Defaults,
) -> Result<(BitRate, Span), PlacedFault> {
    let place = format!("links '{name}'");
    let at = |fault| (place.clone(), fault);
    let found = links.iter().find(|link| link.name == name);
    let none = || at(InfragraphFault::Unknown { what: "link", name: name.to_owned() });
    let physical = found.ok_or_else(none)?.physical.as_ref();
    let bandwidth = physical.and_then(|it| it.bandwidth.as_ref());
    let latency = physical.and_then(|it| it.latency.as_ref());
    let rate = match bandwidth.map(value_and_unit).transpose().map_err(at)?.flatten() {
        Some((value, unit)) => rate(&value, &unit).map_err(at)?,
        None => defaults.rate.ok_or_else(|| at(InfragraphFault::NoRate))?,
    };
    let delay = match latency.map(value_and_unit).transpose().map_err(at)?.flatten() {
        Some((value, unit)) => delay(&value, &unit).map_err(at)?,
        None => defaults.delay.ok_or_else(|| at(InfragraphFault::NoDelay))?,
    };
    Ok((rate, delay))
}

/// Returns the number and the unit of a value; `None` if the file omits it.
fn value_and_unit(quantity: &Quantity) -> Result<Option<(String, String)>, InfragraphFault> {
    let chosen = quantity.get("choice").and_then(Value::as_str);
    let is_unit = |unit: &str| unit != "choice" && chosen.is_none_or(|chosen| chosen == unit);
    let Some((unit, value)) = quantity.iter().find(|(unit, _)| is_unit(unit)) else {
        let mut others = quantity.keys().filter(|unit| *unit != "choice");
        return match (chosen, others.next()) {
            (Some(chosen), Some(found)) => {
                Err(InfragraphFault::Choice { chosen: chosen.to_owned(), found: found.clone() })
            }
            _ => Ok(None),
        };
    };
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => Ok(Some((number.to_string(), unit.clone()))),
        _ => Err(InfragraphFault::NoNumber(unit.clone())),
    }
}

fn rate(value: &str, unit: &str) -> Result<BitRate, InfragraphFault> {
    let factor = match unit {
        "gigabits_per_second" => 1,
        "gigabytes_per_second" => 8,
        _ => return Err(InfragraphFault::Unit(unit.to_owned())),
    };
    let invalid = || InfragraphFault::Value(format!("{unit} {value}"));
    let gbps: BitRate = format!("{value}Gbps").parse().map_err(|_| invalid())?;
    let bps = gbps.as_bps().checked_mul(factor).filter(|&bps| bps > 0);
    bps.map(BitRate::from_bps).ok_or_else(invalid)
}

fn delay(value: &str, unit: &str) -> Result<Span, InfragraphFault> {
    if !["ms", "us", "ns"].contains(&unit) {
        return Err(InfragraphFault::Unit(unit.to_owned()));
    }
    let delay = format!("{value}{unit}").parse().ok();
    let valid = delay.filter(|&delay| delay <= MAX_DELAY);
    valid.ok_or_else(|| InfragraphFault::Value(format!("{unit} {value}")))
}
