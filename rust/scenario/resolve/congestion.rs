//! `[transport] congestion_control` and its parameters.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::parameters::{configured, table};
use crate::balance::Parameters;
use crate::nic::congestion::{CongestionControl, Preset, Presets};
use crate::scenario::file::switch::TrimSection;
use crate::scenario::file::toggle::Toggle;
use crate::scenario::file::transport::{CongestionName, TransportSection};
use crate::scenario::input::context::{AtLeast, Context, Lookup};
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::input::located::Located;
use crate::units::{BitRate, Bytes, Fraction};

/// The key that names a set of parameters.
const PRESET: &str = "preset";

/// The congestion control of a section, whose parameters become all of them.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    section: &mut TransportSection,
    trim: &Toggle<TrimSection>,
) -> Result<CongestionControl, ScenarioError> {
    let given = &mut section.parameters;
    match *section.congestion_control {
        CongestionName::LineRate => control(context, given, CongestionControl::LineRate),
        CongestionName::Dcqcn => control(context, given, CongestionControl::Dcqcn),
        CongestionName::DcqcnMlx => control(context, given, CongestionControl::DcqcnMlx),
        CongestionName::DctcpRate => control(context, given, CongestionControl::DctcpRate),
        CongestionName::DctcpWindow => control(context, given, CongestionControl::DctcpWindow),
        CongestionName::Nscc => {
            // Where switches trim and no preset is named, the one made for that is the default.
            if matches!(trim, Toggle::On(_)) {
                given.entry(PRESET).or_insert("trimming".into());
            }
            control(context, given, CongestionControl::Nscc)
        }
        CongestionName::Swift => control(context, given, CongestionControl::Swift),
        CongestionName::NewReno => control(context, given, CongestionControl::NewReno),
    }
}

/// A congestion control from its preset and its keys; those left out have the preset's values.
fn control<C: DeserializeOwned + Serialize + Presets>(
    context: &Context<'_>,
    given: &mut Located<Parameters>,
    make: impl Fn(C) -> CongestionControl,
) -> Result<CongestionControl, ScenarioError> {
    let preset = preset::<C>(context, given)?;
    let values = preset.map_or_else(C::default, |preset| (preset.config)());
    let beside: &[&str] = if preset.is_some() { &[PRESET] } else { &[] };
    let config: C = configured(context, given, &values, beside)?;
    let all = table(&config);
    for (name, value) in &all {
        check(context, given, name, value.as_str())?;
    }
    let name = preset.map(|preset| (PRESET.to_owned(), preset.name.into()));
    **given = name.into_iter().chain(all).collect();
    Ok(make(config))
}

/// The preset that `given` names, which is taken out of it, or the first one. `None` where there
/// are no presets.
fn preset<C: Presets>(
    context: &Context<'_>,
    given: &mut Located<Parameters>,
) -> Result<Option<&'static Preset<C>>, ScenarioError> {
    let Some(default) = C::PRESETS.first() else { return Ok(None) };
    let Some(value) = given.remove(PRESET) else { return Ok(Some(default)) };
    let key = given.key().child(PRESET);
    let Some(name) = value.as_str() else {
        let reason = format!("{value} is not a name; write for example \"{}\"", default.name);
        return Err(context.fault(&key, Fault::BadValue { key: key.to_string(), reason }));
    };
    let known: Vec<&str> = C::PRESETS.iter().map(|preset| preset.name).collect();
    let preset = C::PRESETS.iter().find(|preset| preset.name == name);
    let unknown = || context.unknown(&key, Lookup { what: "preset", name, known: &known });
    preset.map(Some).ok_or_else(unknown)
}

/// Refuses values that would stop a control law: a name means the same in all of them.
fn check(
    context: &Context<'_>,
    given: &Located<Parameters>,
    name: &str,
    value: Option<&str>,
) -> Result<(), ScenarioError> {
    let Some(value) = value else {
        return Ok(());
    };
    let printed = "printed by the same type";
    let fraction = || given.with_child(name, value.parse::<Fraction>().expect(printed));
    match name {
        "alpha_timer" | "rate_timer" | "decrease_timer" | "increase_timer" | "longest_pause" => {
            let span = given.with_child(name, value.parse().expect(printed));
            context.span(&span, AtLeast::OnePicosecond)?;
        }
        "byte_counter" if value.parse() == Ok(Bytes::ZERO) => {
            let value = given.with_child(name, value);
            return Err(context.invalid(&value, "it must be at least 1B"));
        }
        "min_rate" if value.parse() == Ok(BitRate::from_bps(0)) => {
            let value = given.with_child(name, value);
            return Err(context.invalid(&value, "it must be at least 1bps"));
        }
        "target" | "base_target" | "start_window" | "max_window" => positive(context, &fraction())?,
        "g" | "rate_on_first_cnp" | "share" | "delay_gain" => {
            positive(context, &fraction())?;
            context.at_most_one(&fraction())?;
        }
        "initial_alpha" | "gamma" | "beta" | "cut" | "max_cut" => {
            context.at_most_one(&fraction())?;
        }
        _ => {}
    }
    Ok(())
}

/// Refuses zero.
fn positive(context: &Context<'_>, fraction: &Located<Fraction>) -> Result<(), ScenarioError> {
    match fraction.numerator() {
        0 => Err(context.invalid(fraction, "it must be more than 0")),
        _ => Ok(()),
    }
}
