//! `[transport]`: packets, acknowledgements, congestion control and loss recovery.

use super::{congestion, recovery};
use crate::nic::verbs::QpConfig;
use crate::nic::{AckConfig, AckRange, CacheConfig, Delivery, NicConfig, Recovery};
use crate::packet::Packet;
use crate::scenario::file::switch::TrimSection;
use crate::scenario::file::toggle::Toggle;
use crate::scenario::file::transport::{DeliveryName, TransportSection};
use crate::scenario::input::context::{AtLeast, Context, LONGEST_PACKET};
use crate::scenario::input::error::ScenarioError;
use crate::scenario::input::located::Located;
use crate::units::{Bytes, Span};

/// The settings of every NIC. `of_the_policy` is the recovery for which the policy is designed; the
/// preset of the congestion control may depend on whether switches trim.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    section: &mut TransportSection,
    of_the_policy: Recovery,
    trim: &Toggle<TrimSection>,
) -> Result<NicConfig, ScenarioError> {
    let timer = |span: &Located<Span>| context.span(span, AtLeast::OnePicosecond);
    let payload = context.wire_bytes(&section.payload, Bytes::new(1))?;
    let header = context.wire_bytes(&section.header, Bytes::ZERO)?;
    if payload + header > LONGEST_PACKET {
        let expected = format!(
            "with {} = {header} a packet would be {}B, and the longest is {}B",
            section.header.key(),
            (payload + header).get(),
            LONGEST_PACKET.get()
        );
        return Err(context.invalid(&section.payload, expected));
    }
    let ack = acknowledgements(context, section)?;
    let congestion = congestion::resolve(context, section, trim)?;
    let recovery = recovery::resolve(context, section, of_the_policy)?;
    check_ack_range(context, section, recovery)?;
    Ok(NicConfig {
        payload,
        header,
        ack,
        congestion,
        recovery,
        retransmit_timeout: timer(&section.retransmit_timeout)?,
        nack_interval: timer(&section.nack_interval)?,
        cnp_interval: timer(&section.cnp_interval)?,
        queue_pairs: QpConfig {
            cache: cache(context, section)?,
            delivery: delivery(context, section, recovery)?,
            ..QpConfig::default()
        },
    })
}

/// Refuses acknowledgements of one packet where the recovery needs the cumulative number, or where
/// they answer several.
fn check_ack_range(
    context: &Context<'_>,
    section: &TransportSection,
    recovery: Recovery,
) -> Result<(), ScenarioError> {
    let (range, every) = (&section.ack_range, &section.ack_every);
    if !recovery.can_read(**range) {
        let expected = format!(
            "{} needs the cumulative number alone: it must be 'cumulative', or {} 'per-packet'",
            recovery.name(),
            section.recovery.key()
        );
        let name = if **range == AckRange::Packet { "packet" } else { "last-64" };
        return Err(context.invalid_as(range.key(), name, expected));
    }
    if **range == AckRange::Packet && **every > 1 {
        let expected = format!("an acknowledgement of one packet needs {} = 1", every.key());
        return Err(context.invalid_as(range.key(), "packet", expected));
    }
    Ok(())
}

/// The order of delivery, if the section names one that the recovery supports.
fn delivery(
    context: &Context<'_>,
    section: &TransportSection,
    recovery: Recovery,
) -> Result<Option<Delivery>, ScenarioError> {
    let delivery = match *section.delivery {
        DeliveryName::Auto => return Ok(None),
        DeliveryName::Ordered => Delivery::Ordered,
        DeliveryName::Unordered => Delivery::Unordered,
    };
    if !recovery.can_deliver(delivery) {
        let (name, only) = (recovery.name(), recovery.delivery());
        let expected = format!(
            "{name} has {only} delivery only; it must be 'auto' or '{only}', or {} must name \
             another recovery",
            section.recovery.key()
        );
        return Err(context.invalid(&section.delivery.with(delivery), expected));
    }
    Ok(Some(delivery))
}

fn cache(
    context: &Context<'_>,
    section: &TransportSection,
) -> Result<Option<CacheConfig>, ScenarioError> {
    let Some(cache) = &*section.qp_cache else { return Ok(None) };
    let Some(entries) = cache.entries.given() else {
        let because = "a cache has a size in contexts";
        return Err(context.missing(cache.entries.key(), because, "entries = 1024"));
    };
    if *entries == 0 {
        let expected = "it must be at least 1; omit qp_cache to cache every context";
        return Err(context.invalid(&entries, expected));
    }
    Ok(Some(CacheConfig { entries: *entries, miss: *cache.miss }))
}

fn acknowledgements(
    context: &Context<'_>,
    section: &TransportSection,
) -> Result<AckConfig, ScenarioError> {
    let (every, most) = (&section.ack_every, Packet::MOST_REPORTED);
    if !(1..=most).contains(&**every) {
        return Err(context.invalid(every, format!("it must be from 1 to {most} packets")));
    }
    // The first limit that is reached applies, and none is reached before the first packet.
    let never_counts =
        || format!("with {} = 1 it is never reached; write a larger number there", every.key());
    if let Some(bytes) = section.ack_bytes.given() {
        if **every == 1 {
            return Err(context.invalid(&bytes, never_counts()));
        }
        if *bytes == Bytes::ZERO {
            return Err(context.invalid(&bytes, "it must be at least 1B"));
        }
    }
    if let Some(time) = section.ack_time.given() {
        if **every == 1 {
            return Err(context.invalid(&time, never_counts()));
        }
        context.span(&time, AtLeast::OnePicosecond)?;
    }
    Ok(AckConfig {
        bytes: context.wire_bytes(&section.ack, Bytes::new(1))?,
        every: **every,
        every_bytes: section.ack_bytes.unwrap_or(Bytes::new(u64::MAX)),
        within: section.ack_time.unwrap_or(Span::MAX),
        marked: *section.ack_marked,
        range: *section.ack_range,
        entropies: *section.ack_entropies,
        priority: *section.ack_priority,
    })
}
