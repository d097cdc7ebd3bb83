//! `[transport]`: limits and costs of NICs, and the adapters that have them.
//!
//! Sources of the presets, as *measured*, *documented* or *assumed*:
//!
//! - `connectx-5` (ConnectX-5 Ex, 100 GbE, firmware 16.3x; simllm, pull requests 189 to 196):
//!   `pool` measured; `stall` inferred from bursts of 73 lost packets; `stall_above` and
//!   `stall_after` chosen for 0.18 % of lost packets above about 94 Gb/s of goodput; `rate` assumed
//!   (PCIe Gen4 x16); `message`: the sum with the path measured, its split assumed; `packet_rate`
//!   measured.
//! - `connectx-6` (ConnectX-6 VPI, firmware 20.43.4100; rdma-fault-characterization): the series of
//!   `ack_timeout` measured; `message` and `packet_rate` assumed to be those of `connectx-5`; no
//!   pool.
//! - `connectx-7`: nothing measured. All of it is assumed to be that of `connectx-6`, without
//!   ceilings.
//! - All: `cnp_on_nack` measured on ConnectX-5 and ConnectX-6 Dx (Lumina); `cnp_on_discard`,
//!   `cnp_limiter` and `qp_turns` assumed; `cnp_interval` and the parameters of `dcqcn-mlx`
//!   documented (`mlxconfig`); `recovery` documented; `ack_timeout.code` is that of the
//!   measurements.

use serde::Serialize;

use crate::file::ScenarioFile;
use crate::file::hardware::{
    AckTimeoutSection, MessageSection, NicPreset, PacketRateSection, ReceiveSection,
};
use crate::file::transport::TransportSection;
use crate::fluid::Fidelity;
use crate::ids::HostId;
use crate::input::context::{AtLeast, Context};
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::nic::congestion::{CongestionName, dcqcn_mlx};
use crate::nic::recovery::RecoveryName;
use crate::nic::{
    AckTimeout, CnpLimiter, CnpSources, HardwareConfig, MessageCost, PacketRate, QpTurns,
    ReceivePool, Recovery,
};
use crate::topology::Topology;
use crate::units::{BitRate, Bytes, Span};

/// Default interval of notifications (Zhu et al., SIGCOMM 2015).
const CNP_INTERVAL: Span = Span::from_us(50);
/// Interval in the registers of the adapters.
const CNP_INTERVAL_OF_PRESETS: Span = Span::from_us(4);
/// Set of parameters of `dcqcn-mlx` with the adapters' registers.
const REGISTERS: &str = "connectx-registers";

/// Fills in the values of the preset that the section names. `policy_recovery` is the recovery
/// that the policy is designed for.
pub(crate) fn fill_preset(
    context: &Context<'_>,
    section: &mut TransportSection,
    policy_recovery: Recovery,
) {
    let preset = match section.preset.given() {
        Some(preset) => *preset,
        None => {
            section.cnp_interval.fill(CNP_INTERVAL);
            return;
        }
    };
    let control = CongestionName::of::<dcqcn_mlx::Config>();
    let names_none = !section.parameters.contains_key("preset");
    if *section.congestion_control.fill(control) == control && names_none {
        section.parameters.insert("preset".to_owned(), REGISTERS.into());
    }
    if *section.recovery == RecoveryName::default() && !context.is_given(section.recovery.key()) {
        *section.recovery = RecoveryName::of(Recovery::GO_BACK_N);
    }
    section.cnp_interval.fill(CNP_INTERVAL_OF_PRESETS);
    section.cnp_on_nack.fill(true);
    section.cnp_on_discard.fill(true);
    section.cnp_limiter.fill(CnpLimiter::Port);
    section.qp_turns.fill(QpTurns::Packet);
    section.message.fill(MessageSection {
        start: Located::new(Span::from_ns(600)),
        complete: Located::new(Span::from_ns(300)),
    });
    let recovery = section.recovery.recovery(policy_recovery);
    if section.retransmit_timeout.is_none() && matches!(recovery, Recovery::GoBackN(_)) {
        section.ack_timeout.fill(AckTimeoutSection::default());
    }
    if preset != NicPreset::ConnectX7 {
        section.packet_rate.fill(PacketRateSection {
            qp: Located::new(Some(3_870_000)),
            nic: Located::new(Some(16_600_000)),
        });
    }
    if preset == NicPreset::ConnectX5 {
        section.receive.fill(ReceiveSection {
            pool: Located::new(Some(Bytes::new(262_016))),
            rate: Located::new(Some(BitRate::from_gbps(200))),
            stall: Located::new(Span::from_ns(45_500)),
            stall_above: Located::new(Some(BitRate::from_bps(95_400_000_000))),
            stall_after: Located::new(Some(Bytes::new(6_100_000))),
        });
    }
}

/// Resolves the limits and costs of a section, whose packets take at most `packet` on the wire.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &TransportSection,
    recovery: Recovery,
    packet: Bytes,
) -> Result<HardwareConfig, ScenarioError> {
    let message = match &*section.message {
        None => MessageCost::default(),
        Some(message) => MessageCost {
            start: context.span(&message.start, AtLeast::Zero)?,
            complete: context.span(&message.complete, AtLeast::Zero)?,
        },
    };
    Ok(HardwareConfig {
        receive: receive(context, section, packet)?,
        message,
        packet_rate: packet_rate(context, section)?,
        turns: section.qp_turns.unwrap_or_default(),
        cnp: CnpSources {
            on_nack: section.cnp_on_nack.unwrap_or(false),
            on_discard: section.cnp_on_discard.unwrap_or(false),
            limiter: section.cnp_limiter.unwrap_or_default(),
        },
        ack_timeout: ack_timeout(context, section, recovery)?,
    })
}

fn receive(
    context: &Context<'_>,
    section: &TransportSection,
    packet: Bytes,
) -> Result<Option<ReceivePool>, ScenarioError> {
    let Some(receive) = &*section.receive else { return Ok(None) };
    let missing = |key: &Key, because: &str, example: &str| context.missing(key, because, example);
    let Some(pool) = receive.pool.given() else {
        let because = "a pool has a size";
        return Err(missing(receive.pool.key(), because, "pool = \"262016B\""));
    };
    if *pool < packet {
        let expected = format!(
            "it must hold a packet of {}B: {} = {} and headers; use a larger pool or a smaller \
             payload",
            packet.get(),
            section.payload.key(),
            *section.payload
        );
        return Err(context.invalid(&pool, expected));
    }
    let stall = context.span(&receive.stall, AtLeast::Zero)?;
    if stall > Span::ZERO && receive.stall_above.is_none() {
        let because = "a stall follows load above a rate";
        return Err(missing(receive.stall_above.key(), because, "stall_above = \"95Gbps\""));
    }
    if stall > Span::ZERO && receive.stall_after.is_none() {
        let because = "a stall follows an excess of arrivals";
        return Err(missing(receive.stall_after.key(), because, "stall_after = \"7MB\""));
    }
    for rate in [receive.rate.given(), receive.stall_above.given()].iter().flatten() {
        if rate.as_bps() == 0 {
            return Err(context.invalid(rate, "it must be at least 1bps"));
        }
    }
    Ok(Some(ReceivePool {
        pool: *pool,
        rate: *receive.rate,
        stall,
        stall_above: receive.stall_above.unwrap_or(BitRate::MAX),
        stall_after: receive.stall_after.unwrap_or(Bytes::ZERO),
    }))
}

fn packet_rate(
    context: &Context<'_>,
    section: &TransportSection,
) -> Result<PacketRate, ScenarioError> {
    let Some(rates) = &*section.packet_rate else { return Ok(PacketRate::default()) };
    for rate in [rates.qp.given(), rates.nic.given()].iter().flatten() {
        if **rate == 0 {
            return Err(context.invalid(rate, "it must be at least 1 packet per second"));
        }
    }
    Ok(PacketRate { qp: *rates.qp, nic: *rates.nic })
}

fn ack_timeout(
    context: &Context<'_>,
    section: &TransportSection,
    recovery: Recovery,
) -> Result<Option<AckTimeout>, ScenarioError> {
    let Some(timeout) = &*section.ack_timeout else { return Ok(None) };
    if let Some(given) = section.retransmit_timeout.given() {
        return Err(context.invalid(&given, "ack_timeout replaces it; omit one of the two"));
    }
    if !matches!(recovery, Recovery::GoBackN(_)) {
        let expected = format!(
            "it requires {} = 'go-back-n'; omit ack_timeout, or use that recovery",
            section.recovery.key()
        );
        return Err(context.invalid_as(section.ack_timeout.key(), "{ ... }", expected));
    }
    if !(1..=31).contains(&*timeout.code) {
        return Err(context.invalid(&timeout.code, "it must be from 1 to 31"));
    }
    if *timeout.retries > 7 {
        return Err(context.invalid(&timeout.retries, "it must be at most 7"));
    }
    let (code, retries) = (*timeout.code, *timeout.retries);
    Ok(Some(AckTimeout { code, floor: *timeout.floor, adaptive: *timeout.adaptive, retries }))
}

/// Rejects limits and costs in fluid mode, whose messages have no packets.
pub(crate) fn check_fidelity(
    context: &Context<'_>,
    file: &ScenarioFile,
) -> Result<(), ScenarioError> {
    let section = &file.transport;
    let keys = [
        given(&section.receive),
        given(&section.message),
        given(&section.packet_rate),
        given(&section.qp_turns),
        given(&section.ack_timeout),
        given(&section.cnp_on_nack),
        given(&section.cnp_on_discard),
        given(&section.cnp_limiter),
    ];
    match keys.into_iter().flatten().next() {
        Some((key, value)) if *file.general.fidelity == Fidelity::Fluid => {
            let expected = "the fluid mode has no packets in NICs; omit it and preset, or use \
                            fidelity = 'packet'";
            Err(context.invalid_as(key, value, expected))
        }
        _ => Ok(()),
    }
}

/// Returns the key of a value with the value as TOML, if it is set.
fn given<T: Serialize>(located: &Located<Option<T>>) -> Option<(&Key, String)> {
    let value = toml::Value::try_from((**located).as_ref()?).ok()?;
    let text = if value.is_table() { "{ ... }".to_owned() } else { value.to_string() };
    Some((located.key(), text))
}

/// Warns about a preset of 100 GbE in hosts with ports of another rate.
pub(crate) fn other_rate(
    context: &Context<'_>,
    section: &TransportSection,
    topology: &Topology,
) -> Option<String> {
    let preset = section.preset.given()?;
    // Its values are assumed, and it has no ceilings.
    if *preset == NicPreset::ConnectX7 {
        return None;
    }
    let hosts = (0..topology.host_count()).map(HostId);
    let ports = hosts.flat_map(|host| topology.planes().ports_of(host));
    let mut rates = ports.map(|port| topology.link(port.link()).rate);
    let rate = rates.find(|rate| *rate != BitRate::from_gbps(100))?;
    let warning = format!(
        "its ceilings, pool and DCQCN registers are those of a 100 Gbps adapter, but hosts have \
         ports of {rate}; set these keys for that rate"
    );
    Some(context.warning(section.preset.key(), &warning))
}
