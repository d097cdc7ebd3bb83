//! `[transport]`: packets, acknowledgements, congestion control and loss recovery.

use super::{congestion, hardware, immediates, recovery};
use crate::balance::{AckFrequency, Scheme};
use crate::file::switch::TrimSection;
use crate::file::toggle::Toggle;
use crate::file::transport::{DeliveryName, TransportSection};
use crate::input::context::{AtLeast, Context, MAX_PACKET};
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::nic::congestion::{CongestionControl, Scope};
use crate::nic::recovery::Numbering;
use crate::nic::verbs::QpConfig;
use crate::nic::{
    AckConfig, AckRange, AckSpan, CacheConfig, Delivery, First, NicConfig, Recovery, Resent,
};
use crate::packet::Packet;
use crate::units::{Bytes, Span};

/// Resolves the settings of every NIC. The policy selects the loss recovery and may set defaults
/// ([`Transport`](crate::balance::Transport)). The congestion control's preset may depend on
/// whether switches trim.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &mut TransportSection,
    policy: &Scheme,
    trim: &Toggle<TrimSection>,
) -> Result<NicConfig, ScenarioError> {
    let timer = |span: &Located<Span>| context.span(span, AtLeast::OnePicosecond);
    hardware::fill_preset(context, section, policy.recovery);
    let payload = context.wire_bytes(&section.payload, Bytes::new(1))?;
    let header = context.wire_bytes(&section.header.fill(policy.transport.header), Bytes::ZERO)?;
    let ack = acknowledgements(context, section, policy)?;
    let default = policy.transport.congestion_control;
    let congestion = congestion::resolve(context, section, default, trim)?;
    check_paths(context, section, &congestion, policy)?;
    let overhead = congestion.overhead();
    if payload + header + overhead > MAX_PACKET {
        let more = match overhead {
            Bytes::ZERO => String::new(),
            bytes => format!(" and {bytes} for {}", congestion.name()),
        };
        let expected = format!(
            "with {} = {header}{more} a packet would be {}B, and the maximum is {}B",
            section.header.key(),
            (payload + header + overhead).get(),
            MAX_PACKET.get()
        );
        return Err(context.invalid(&section.payload, expected));
    }
    let recovery = recovery::resolve(context, section, policy.recovery)?;
    check_scope(context, section, &congestion, recovery)?;
    let (range, span, (first, resent)) = reports(context, section, &congestion, recovery)?;
    let delivery = delivery(context, section, recovery)?;
    check_credit(context, section, (&congestion, recovery, delivery))?;
    let immediate_messages = immediates::resolve(context, section, recovery, delivery)?;
    let cache = cache(context, section)?;
    let hardware = hardware::resolve(context, section, recovery, payload + header + overhead)?;
    Ok(NicConfig {
        payload,
        header: header + overhead,
        ack: AckConfig { bytes: ack.bytes + overhead, range, span, first, resent, ..ack },
        congestion,
        recovery,
        // The default depends on the fabric and is set in [`super::derived`].
        retransmit_timeout: match (hardware.ack_timeout, section.retransmit_timeout.given()) {
            (Some(timeout), _) => timeout.first(),
            (None, Some(span)) => timer(&span)?,
            (None, None) => Span::ZERO,
        },
        nack_interval: timer(&section.nack_interval)?,
        cnp_interval: cnp_interval(context, section)?,
        hardware,
        queue_pairs: QpConfig { cache, delivery, immediate_messages, ..QpConfig::default() },
        pace_unit: Span::from_ps(1),
        round_trips: None,
        peers: None,
    })
}

/// Returns the interval between notifications, which a preset may have set.
fn cnp_interval(context: &Context<'_>, section: &TransportSection) -> Result<Span, ScenarioError> {
    let interval = section.cnp_interval.given();
    let interval = interval.expect("filled in with the preset");
    context.span(&interval, AtLeast::OnePicosecond)
}

/// Rejects a congestion control that compares samples of one path under a policy that uses several.
fn check_paths(
    context: &Context<'_>,
    section: &TransportSection,
    congestion: &CongestionControl,
    policy: &Scheme,
) -> Result<(), ScenarioError> {
    if congestion.telemetry().is_none() || policy.pins_path() {
        return Ok(());
    }
    let expected = format!(
        "it compares two samples of the same ports, but the policy '{}' sends the packets of a \
         queue pair over several paths; use a policy that keeps the path, such as ecmp, \
         subflow-k or ethereal, or another congestion control",
        policy.name
    );
    Err(context.invalid_as(section.congestion_control.key(), congestion.name(), expected))
}

/// Rejects a window for each plane or path if the recovery does not count packets by them.
fn check_scope(
    context: &Context<'_>,
    section: &TransportSection,
    congestion: &CongestionControl,
    recovery: Recovery,
) -> Result<(), ScenarioError> {
    if !congestion.scope().is_partial() || recovery.counts_planes() {
        return Ok(());
    }
    let (scope, part, other) = match congestion.scope() {
        Scope::DestinationPlane => ("destination-plane", "plane", "destination"),
        Scope::Path => ("path", "path", "qp"),
        _ => ("plane", "plane", "qp"),
    };
    let expected = format!(
        "with scope = '{scope}' each {part} has a window, and {} does not count packets by \
         {part}s; it must be 'mrc', 'sack', 'per-packet' or 'rudi', or the scope '{other}'",
        recovery.name()
    );
    Err(context.invalid_as(section.recovery.key(), recovery.name(), expected))
}

/// Rejects receiver credit if packets carry their message's length: the sender's demand uses the
/// same header field.
fn check_credit(
    context: &Context<'_>,
    section: &TransportSection,
    (congestion, recovery, delivery): (&CongestionControl, Recovery, Option<Delivery>),
) -> Result<(), ScenarioError> {
    if congestion.credit().is_none() {
        return Ok(());
    }
    let name = congestion.name();
    if recovery.numbering() == Numbering::Message || !recovery.supports_delivery(Delivery::Ordered)
    {
        let expected = format!(
            "with {} = '{name}', the packet field for the sender's demand holds the message length \
             with '{}'; use another recovery, such as per-packet",
            section.congestion_control.key(),
            recovery.name()
        );
        return Err(context.invalid_as(section.recovery.key(), recovery.name(), expected));
    }
    if delivery == Some(Delivery::Unordered) {
        let expected = format!(
            "with {} = '{name}', the packet field for the sender's demand holds the message length \
             with unordered delivery; it must be 'auto' or 'ordered'",
            section.congestion_control.key()
        );
        return Err(context.invalid_as(section.delivery.key(), "unordered", expected));
    }
    Ok(())
}

/// Resolves what acknowledgements report and which are immediate. With a congestion control of
/// Ultra Ethernet, the defaults are those of its simulator, if the recovery can read them.
fn reports(
    context: &Context<'_>,
    section: &mut TransportSection,
    congestion: &CongestionControl,
    recovery: Recovery,
) -> Result<(AckRange, AckSpan, (First, Resent)), ScenarioError> {
    let is_uet = congestion.is_ultra_ethernet();
    let repeats = is_uet && recovery.supports_ack_range(AckRange::Last64);
    let range = if repeats { AckRange::Last64 } else { recovery.default_ack_range() };
    let range = section.ack_range.fill(range);
    check_ack_range(context, section, &range, recovery)?;
    let is_unlimited = is_uet && *range == AckRange::Last64;
    let span = if is_unlimited { AckSpan::Unlimited } else { AckSpan::Bitmap };
    let span = section.ack_span.fill(span);
    if *span == AckSpan::Unlimited && *range != AckRange::Last64 {
        let expected = format!("it requires {} = 'last-64'", range.key());
        return Err(context.invalid_as(span.key(), "unlimited", expected));
    }
    let first = section.ack_first.fill(if is_uet { First::AtOnce } else { First::Wait });
    let resent = if is_unlimited { Resent::AtOnce } else { Resent::Wait };
    let resent = section.ack_resent.fill(resent);
    Ok((*range, *span, (*first, *resent)))
}

/// Rejects per-packet acknowledgements if the recovery needs the cumulative number, or if an
/// acknowledgement covers several packets.
fn check_ack_range(
    context: &Context<'_>,
    section: &TransportSection,
    range: &Located<AckRange>,
    recovery: Recovery,
) -> Result<(), ScenarioError> {
    let every = section.ack_every.unwrap_or(1);
    if !recovery.supports_ack_range(**range) && !recovery.supports_ack_range(AckRange::Cumulative) {
        let expected = format!("{} responds to each packet; it must be 'packet'", recovery.name());
        let name = if **range == AckRange::Cumulative { "cumulative" } else { "last-64" };
        return Err(context.invalid_as(range.key(), name, expected));
    }
    if !recovery.supports_ack_range(**range) {
        let expected = format!(
            "{} uses only the cumulative number; it must be 'cumulative', or {} 'per-packet'",
            recovery.name(),
            section.recovery.key()
        );
        let name = if **range == AckRange::Packet { "packet" } else { "last-64" };
        return Err(context.invalid_as(range.key(), name, expected));
    }
    if **range == AckRange::Packet && every > 1 {
        let every = section.ack_every.key();
        let expected = format!("an acknowledgement of one packet needs {every} = 1");
        return Err(context.invalid_as(range.key(), "packet", expected));
    }
    Ok(())
}

/// Returns the delivery order, if the section names one that the recovery supports.
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
    if !recovery.supports_delivery(delivery) {
        let (name, only) = (recovery.name(), recovery.delivery());
        let expected = format!(
            "{name} supports only {only} delivery; it must be 'auto' or '{only}', or {} must name \
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
        let because = "the size of a cache is its number of contexts";
        return Err(context.missing(cache.entries.key(), because, "entries = 1024"));
    };
    if *entries == 0 {
        let expected = "it must be at least 1; omit qp_cache to cache every context";
        return Err(context.invalid(&entries, expected));
    }
    Ok(Some(CacheConfig { entries: *entries, miss: *cache.miss }))
}

/// Resolves the acknowledgement settings. The default frequency is that of the policy's transport
/// if the recovery is the policy's own. Setting the count or the bytes drops the default of the
/// other.
fn acknowledgements(
    context: &Context<'_>,
    section: &mut TransportSection,
    policy: &Scheme,
) -> Result<AckConfig, ScenarioError> {
    let is_own = section.recovery.recovery(policy.recovery).name() == policy.recovery.name();
    let ack_frequency =
        if is_own { policy.transport.ack_frequency } else { AckFrequency::EACH_PACKET };
    let most = Packet::MAX_REPORTED;
    let every = match (ack_frequency.bytes, section.ack_bytes.given(), section.ack_every.given()) {
        (Some(bytes), None, None) => {
            section.ack_bytes.fill(bytes);
            ack_frequency.every
        }
        (Some(_), Some(_), None) => most,
        _ => ack_frequency.every,
    };
    let every = section.ack_every.fill(every);
    let marked = section.ack_marked.fill(ack_frequency.marked);
    if !(1..=most).contains(&*every) {
        return Err(context.invalid(&every, format!("it must be from 1 to {most} packets")));
    }
    // The first limit reached applies. With `ack_every = 1` a packet reaches that one immediately.
    let never_counts =
        || format!("with {} = 1 it is never reached; use a larger number there", every.key());
    if let Some(bytes) = section.ack_bytes.given() {
        if *every == 1 {
            return Err(context.invalid(&bytes, never_counts()));
        }
        if *bytes == Bytes::ZERO {
            return Err(context.invalid(&bytes, "it must be at least 1B"));
        }
    }
    if let Some(time) = section.ack_time.given() {
        if *every == 1 {
            return Err(context.invalid(&time, never_counts()));
        }
        context.span(&time, AtLeast::OnePicosecond)?;
    }
    let length = section.ack.fill(policy.transport.ack);
    Ok(AckConfig {
        bytes: context.wire_bytes(&length, Bytes::new(1))?,
        every: *every,
        every_bytes: section.ack_bytes.unwrap_or(Bytes::new(u64::MAX)),
        within: section.ack_time.unwrap_or(Span::MAX),
        marked: *marked,
        entropies: *section.ack_entropies,
        nacks: *section.nack_signal,
        priority: *section.ack_priority,
        ..AckConfig::default()
    })
}
