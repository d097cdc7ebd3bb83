//! `[transport]`: packets, acknowledgements, congestion control and loss recovery.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::recovery;
use crate::balance::Parameters;
use crate::nic::congestion::{CongestionControl, Preset, Presets};
use crate::nic::verbs::QpConfig;
use crate::nic::{AckConfig, CacheConfig, Delivery, NicConfig, Recovery};
use crate::packet::Packet;
use crate::scenario::file::sections::{CongestionName, DeliveryName, TransportSection};
use crate::scenario::input::context::{AtLeast, Context, LONGEST_PACKET};
use crate::scenario::input::error::{Fault, ScenarioError, nearest};
use crate::scenario::input::source::{from_serde, unknown_key, unknown_name};
use crate::scenario::resolve::buffering::{Toggle, TrimSection};
use crate::units::{BitRate, Bytes, Fraction, Span};

/// The settings of every NIC, and the section with its defaults. `of_the_policy` is the recovery
/// that the policy is made for; whether switches trim decides which preset of `nscc` is the default.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &TransportSection,
    of_the_policy: Recovery,
    trim: &Toggle<TrimSection>,
) -> Result<(TransportSection, NicConfig), ScenarioError> {
    let one = Bytes::new(1);
    let span = |name: &str, span: Span| {
        context.span(&format!("transport.{name}"), span, AtLeast::OnePicosecond)
    };
    let payload = context.wire_bytes("transport.payload", typed.payload, one)?;
    let header = context.wire_bytes("transport.header", typed.header, Bytes::ZERO)?;
    if payload + header > LONGEST_PACKET {
        let right = format!(
            "with transport.header = {header} a packet would be {}B, and the longest is {}B",
            (payload + header).get(),
            LONGEST_PACKET.get()
        );
        return Err(context.senseless("transport.payload", payload, right));
    }
    let ack = acknowledgements(context, typed)?;
    let (congestion, parameters) = congestion(context, typed, trim)?;
    let (recovery, recovery_parameters) = recovery::resolve(context, typed, of_the_policy)?;
    let nic = NicConfig {
        payload,
        header,
        ack,
        congestion,
        recovery,
        retransmit_timeout: span("retransmit_timeout", typed.retransmit_timeout)?,
        nack_interval: span("nack_interval", typed.nack_interval)?,
        cnp_interval: span("cnp_interval", typed.cnp_interval)?,
        queue_pairs: QpConfig {
            cache: cache(context, typed.qp_cache)?,
            delivery: delivery(context, typed.delivery, recovery)?,
            ..QpConfig::default()
        },
    };
    Ok((TransportSection { parameters, recovery_parameters, ..typed.clone() }, nic))
}

/// The order of delivery, if the section names one that the recovery can keep.
fn delivery(
    context: &Context<'_>,
    typed: DeliveryName,
    recovery: Recovery,
) -> Result<Option<Delivery>, ScenarioError> {
    let delivery = match typed {
        DeliveryName::Auto => return Ok(None),
        DeliveryName::Ordered => Delivery::Ordered,
        DeliveryName::Unordered => Delivery::Unordered,
    };
    if !delivery.is_possible(recovery) {
        let right = "go-back-n takes packets in order alone: it must be 'auto' or 'ordered', or \
                     transport.recovery another";
        return Err(context.senseless("transport.delivery", delivery, right));
    }
    Ok(Some(delivery))
}

fn cache(
    context: &Context<'_>,
    typed: Option<CacheConfig>,
) -> Result<Option<CacheConfig>, ScenarioError> {
    let Some(cache) = typed else { return Ok(None) };
    if cache.entries == 0 {
        let right = "it must be at least 1; leave qp_cache out for one that never misses";
        return Err(context.senseless("transport.qp_cache.entries", cache.entries, right));
    }
    Ok(Some(cache))
}

fn acknowledgements(
    context: &Context<'_>,
    typed: &TransportSection,
) -> Result<AckConfig, ScenarioError> {
    let most = Packet::MOST_REPORTED;
    if !(1..=most).contains(&typed.ack_every) {
        let right = format!("it must be from 1 to {most} packets");
        return Err(context.senseless("transport.ack_every", typed.ack_every, right));
    }
    // Whatever comes first counts, and nothing comes before the first packet.
    let sooner = |key: &str| {
        let right = "with transport.ack_every = 1 it never counts: set that to more".to_owned();
        context.senseless(key, context.shown(key, ""), right)
    };
    let each = typed.ack_every == 1;
    if let Some(bytes) = typed.ack_bytes {
        let key = "transport.ack_bytes";
        if each {
            return Err(sooner(key));
        }
        if bytes == Bytes::ZERO {
            return Err(context.senseless(key, bytes, "it must be at least 1B"));
        }
    }
    if let Some(time) = typed.ack_time {
        let key = "transport.ack_time";
        if each {
            return Err(sooner(key));
        }
        context.span(key, time, AtLeast::OnePicosecond)?;
    }
    Ok(AckConfig {
        bytes: context.wire_bytes("transport.ack", typed.ack, Bytes::new(1))?,
        every: typed.ack_every,
        every_bytes: typed.ack_bytes.unwrap_or(Bytes::new(u64::MAX)),
        within: typed.ack_time.unwrap_or(Span::MAX),
        marked: typed.ack_marked,
        entropies: typed.ack_entropies,
        priority: typed.ack_priority,
    })
}

fn congestion(
    context: &Context<'_>,
    typed: &TransportSection,
    trim: &Toggle<TrimSection>,
) -> Result<(CongestionControl, Parameters), ScenarioError> {
    let given = &typed.parameters;
    match typed.congestion_control {
        CongestionName::LineRate => configured(context, given, CongestionControl::LineRate),
        CongestionName::Dcqcn => configured(context, given, CongestionControl::Dcqcn),
        CongestionName::DcqcnMlx => configured(context, given, CongestionControl::DcqcnMlx),
        CongestionName::DctcpRate => configured(context, given, CongestionControl::DctcpRate),
        CongestionName::DctcpWindow => configured(context, given, CongestionControl::DctcpWindow),
        CongestionName::Nscc => {
            let given = &of_trimming(given, trim);
            configured(context, given, CongestionControl::Nscc)
        }
        CongestionName::Swift => configured(context, given, CongestionControl::Swift),
        CongestionName::NewReno => configured(context, given, CongestionControl::NewReno),
    }
}

/// The parameters of `nscc`: where switches trim and no preset is named, the one made for that.
fn of_trimming(given: &Parameters, trim: &Toggle<TrimSection>) -> Parameters {
    let mut given = given.clone();
    if matches!(trim, Toggle::On(_)) {
        given.entry("preset").or_insert("trimming".into());
    }
    given
}

/// A congestion control from its preset and its keys, and all its keys: those left out have the
/// preset's values.
fn configured<C: DeserializeOwned + Serialize + Presets>(
    context: &Context<'_>,
    given: &Parameters,
    make: impl Fn(C) -> CongestionControl,
) -> Result<(CongestionControl, Parameters), ScenarioError> {
    let mut given = given.clone();
    let preset = preset::<C>(context, &mut given)?;
    let values = preset.map_or_else(C::default, |preset| (preset.config)());
    let mut all = Parameters::try_from(&values).expect("a configuration is a table of values");
    all.extend(given.clone());
    let config: C = all.try_into().map_err(|error: toml::de::Error| {
        let (key, reason) = culprit::<C>(&given).unwrap_or((String::new(), error));
        let path = format!("transport.parameters.{key}");
        let beside: &[&str] = if preset.is_some() { &["preset"] } else { &[] };
        let fault = parameter_fault("transport.parameters", beside, &path, reason.message());
        context.fault(&path, fault)
    })?;
    let all = Parameters::try_from(&config).expect("a configuration is a table of plain values");
    for (key, value) in &all {
        sensible(context, &format!("transport.parameters.{key}"), value.as_str())?;
    }
    let name = preset.map(|preset| ("preset".to_owned(), preset.name.into()));
    Ok((make(config), name.into_iter().chain(all).collect()))
}

/// The preset that `given` names, which is taken out of it, or the first one. `None` where there
/// are no presets.
fn preset<C: Presets>(
    context: &Context<'_>,
    given: &mut Parameters,
) -> Result<Option<&'static Preset<C>>, ScenarioError> {
    let Some(default) = C::PRESETS.first() else { return Ok(None) };
    let Some(value) = given.remove("preset") else { return Ok(Some(default)) };
    let key = "transport.parameters.preset".to_owned();
    let Some(name) = value.as_str() else {
        let reason = format!("{value} is no name; write for example \"{}\"", default.name);
        return Err(context.fault(&key.clone(), Fault::BadValue { key, reason }));
    };
    if let Some(preset) = C::PRESETS.iter().find(|preset| preset.name == name) {
        return Ok(Some(preset));
    }
    let names = || C::PRESETS.iter().map(|preset| preset.name);
    let (nearest, known) = (nearest(name, names()), names().collect::<Vec<_>>().join(", "));
    let name = name.to_owned();
    let fault = Fault::UnknownName { key: key.clone(), what: "preset", name, nearest, known };
    Err(context.fault(&key, fault))
}

/// The first key that is wrong by itself.
pub(in crate::scenario) fn culprit<C: DeserializeOwned>(
    given: &Parameters,
) -> Option<(String, toml::de::Error)> {
    given.iter().find_map(|(key, value)| {
        let alone = Parameters::from_iter([(key.clone(), value.clone())]);
        alone.try_into::<C>().err().map(|error| (key.clone(), error))
    })
}

/// The fault behind serde's message about a parameter; `beside` is a key of the section that is
/// no parameter.
pub(in crate::scenario) fn parameter_fault(
    section: &str,
    beside: &[&str],
    key: &str,
    message: &str,
) -> Fault {
    if let Some((unknown, known)) = unknown_name(message, "unknown field ") {
        let known: Vec<String> = beside.iter().map(|&it| it.to_owned()).chain(known).collect();
        return unknown_key(section, &unknown, &known);
    }
    from_serde(key, message.lines().next().unwrap_or_default())
}

/// Refuses values that would stop a control law: all of them spell the same things alike.
fn sensible(context: &Context<'_>, key: &str, value: Option<&str>) -> Result<(), ScenarioError> {
    let Some(value) = value else {
        return Ok(());
    };
    let printed = "printed by the same type";
    match key.rsplit('.').next().unwrap_or(key) {
        "alpha_timer" | "rate_timer" | "decrease_timer" | "increase_timer" | "longest_pause" => {
            context.span(key, value.parse().expect(printed), AtLeast::OnePicosecond)?;
        }
        "byte_counter" if value.parse() == Ok(Bytes::ZERO) => {
            return Err(context.senseless(key, value, "it must be at least 1B"));
        }
        "min_rate" if value.parse() == Ok(BitRate::from_bps(0)) => {
            return Err(context.senseless(key, value, "it must be at least 1bps"));
        }
        "target" | "base_target" | "start_window" | "max_window" => {
            positive(context, key, value.parse().expect(printed))?;
        }
        "g" | "rate_on_first_cnp" | "share" | "delay_gain" => {
            let part = positive(context, key, value.parse().expect(printed))?;
            context.part(key, part)?;
        }
        "initial_alpha" | "gamma" | "beta" | "cut" | "max_cut" => {
            context.part(key, value.parse().expect(printed))?;
        }
        _ => {}
    }
    Ok(())
}

/// `fraction`, which must not be zero.
fn positive(
    context: &Context<'_>,
    key: &str,
    fraction: Fraction,
) -> Result<Fraction, ScenarioError> {
    if fraction.numerator() == 0 {
        return Err(context.senseless(key, fraction, "it must be more than 0"));
    }
    Ok(fraction)
}
