//! `[transport]`: packets, acknowledgements, congestion control and loss recovery.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::{AtLeast, Context, LONGEST_PACKET};
use super::error::{Fault, ScenarioError};
use super::recovery;
use super::sections::{CongestionName, TransportSection};
use super::source::{humanised, unknown_key, unknown_name};
use crate::balance::Parameters;
use crate::nic::congestion::CongestionControl;
use crate::nic::verbs::QpConfig;
use crate::nic::{AckConfig, CacheConfig, NicConfig, Recovery};
use crate::packet::Packet;
use crate::units::{BitRate, Bytes, Fraction, Span};

/// The settings of every NIC, and the section with its defaults. `of_the_policy` is the recovery
/// that the policy is made for.
pub(super) fn resolve(
    context: &Context<'_>,
    typed: &TransportSection,
    of_the_policy: Recovery,
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
    let (congestion, parameters) = congestion(context, typed)?;
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
        queue_pairs: QpConfig { cache: cache(context, typed.qp_cache)?, ..QpConfig::default() },
    };
    Ok((TransportSection { parameters, recovery_parameters, ..typed.clone() }, nic))
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
        entropies: typed.ack_entropies,
        priority: typed.ack_priority,
    })
}

fn congestion(
    context: &Context<'_>,
    typed: &TransportSection,
) -> Result<(CongestionControl, Parameters), ScenarioError> {
    let given = &typed.parameters;
    let value = match typed.congestion_control {
        CongestionName::LineRate => {
            return configured(context, given, CongestionControl::LineRate);
        }
        CongestionName::Dcqcn => {
            return configured(context, given, CongestionControl::Dcqcn);
        }
        CongestionName::DcqcnMlx => {
            return configured(context, given, CongestionControl::DcqcnMlx);
        }
        CongestionName::DctcpRate => {
            return configured(context, given, CongestionControl::DctcpRate);
        }
        CongestionName::DctcpWindow => "dctcp-window",
        CongestionName::Nscc => "nscc",
        CongestionName::Swift => "swift",
    };
    let available = "line-rate, dcqcn, dcqcn-mlx, dctcp-rate";
    Err(context.unavailable("transport.congestion_control", value, available))
}

/// A congestion control from its keys, and all its keys with the defaults of those left out.
fn configured<C: DeserializeOwned + Serialize>(
    context: &Context<'_>,
    given: &Parameters,
    make: impl Fn(C) -> CongestionControl,
) -> Result<(CongestionControl, Parameters), ScenarioError> {
    let config: C = given.clone().try_into().map_err(|error: toml::de::Error| {
        let (key, reason) = culprit::<C>(given).unwrap_or((String::new(), error));
        let path = format!("transport.parameters.{key}");
        context.fault(&path, parameter_fault("transport.parameters", &path, reason.message()))
    })?;
    let all = Parameters::try_from(&config).expect("a configuration is a table of plain values");
    for (key, value) in &all {
        sensible(context, &format!("transport.parameters.{key}"), value.as_str())?;
    }
    Ok((make(config), all))
}

/// The first key that is wrong by itself.
pub(super) fn culprit<C: DeserializeOwned>(
    given: &Parameters,
) -> Option<(String, toml::de::Error)> {
    given.iter().find_map(|(key, value)| {
        let alone = Parameters::from_iter([(key.clone(), value.clone())]);
        alone.try_into::<C>().err().map(|error| (key.clone(), error))
    })
}

/// The fault behind serde's message about a parameter.
pub(super) fn parameter_fault(section: &str, key: &str, message: &str) -> Fault {
    match unknown_name(message, "unknown field ") {
        Some((unknown, mut known)) => {
            if section == "policy" {
                known.insert(0, "name".into());
            }
            unknown_key(section, &unknown, &known)
        }
        None => Fault::BadValue {
            key: key.to_owned(),
            reason: humanised(message.lines().next().unwrap_or_default()),
        },
    }
}

/// Refuses values that would stop a control law: all of them spell the same things alike.
fn sensible(context: &Context<'_>, key: &str, value: Option<&str>) -> Result<(), ScenarioError> {
    let Some(value) = value else {
        return Ok(());
    };
    let name = key.rsplit('.').next().unwrap_or(key);
    if name.ends_with("_timer") {
        let span = value.parse().expect("printed by the same type");
        context.span(key, span, AtLeast::OnePicosecond)?;
    }
    if name == "byte_counter" && value.parse() == Ok(Bytes::ZERO) {
        return Err(context.senseless(key, value, "it must be at least 1B"));
    }
    if matches!(name, "g" | "rate_on_first_cnp" | "share") {
        let part: Fraction = value.parse().expect("printed by the same type");
        if part.numerator() == 0 {
            return Err(context.senseless(key, value, "it must be more than 0"));
        }
        context.part(key, part)?;
    }
    if name == "min_rate" {
        let rate: BitRate = value.parse().expect("printed by the same type");
        if rate.as_bps() == 0 {
            return Err(context.senseless(key, value, "it must be at least 1bps"));
        }
    }
    Ok(())
}
