//! `[[rail]]`: resolves the kinds of rail.

use super::file::{InNetworkSection, RailKeys, RailSection, RdmaSection, TcpSection};
use crate::input::context::{AtLeast, Context, MAX_PACKET};
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::multirail::{ELEMENT, RailConfig, RailKind, Software, Transport, TreeConfig};
use crate::nic::congestion::{CongestionControl, line_rate, new_reno};
use crate::nic::recovery::sack;
use crate::nic::{AckConfig, NicConfig, Recovery};
use crate::units::{BitRate, Bytes, Span};

/// Most links of a host per rail.
const MAX_LINKS: u32 = 16;

/// Checksum rate of one core: one pass over memory \[inferred\].
const CORE_CHECKSUM_RATE: BitRate = BitRate::from_gbps(64);

/// Resolves the rail of a section.
pub(super) fn resolve(
    context: &Context<'_>,
    section: &mut RailSection,
    name: &str,
) -> Result<RailConfig, ScenarioError> {
    let link_rate = match &section.keys {
        RailKeys::Tcp(TcpSection { rate, .. })
        | RailKeys::Rdma(RdmaSection { rate, .. })
        | RailKeys::InNetwork(InNetworkSection { rate, .. }) => rate,
    };
    let link_rate = rate(context, link_rate)?;
    let delay = match &section.keys {
        RailKeys::Tcp(TcpSection { delay, .. })
        | RailKeys::Rdma(RdmaSection { delay, .. })
        | RailKeys::InNetwork(InNetworkSection { delay, .. }) => delay,
    };
    let delay = context.span(delay, AtLeast::Zero)?;
    let kind = match &mut section.keys {
        RailKeys::Tcp(section) => RailKind::Tcp(tcp(context, section)?),
        RailKeys::Rdma(section) => RailKind::Rdma(rdma(context, section)?),
        RailKeys::InNetwork(section) => RailKind::InNetwork(tree(context, section)?),
    };
    Ok(RailConfig { name: name.to_owned(), rate: link_rate, delay, kind })
}

/// Returns a kernel transport: three later arrivals indicate a loss, and two segments trigger an
/// acknowledgement.
fn tcp(context: &Context<'_>, section: &mut TcpSection) -> Result<Transport, ScenarioError> {
    let (payload, header) = packet(context, &section.payload, &section.header)?;
    let slice = slice(context, &section.slice)?;
    let links = context.positive(&section.links)?;
    if links > MAX_LINKS {
        let expected = format!("it must be at most {MAX_LINKS}");
        return Err(context.invalid(&section.links, expected));
    }
    let checksum_rate = checksum_rate(context, section)?;
    let send_rate = Some(rate(context, &section.send_rate)?);
    let receive_rate = Some(rate(context, &section.receive_rate)?);
    let timeout = context.span(&section.retransmit_timeout, AtLeast::OnePicosecond)?;
    let nic = NicConfig {
        payload,
        header,
        retransmit_timeout: timeout,
        ack: AckConfig {
            bytes: Bytes::new(70),
            every: 2,
            within: Span::from_ms(40),
            priority: false,
            ..AckConfig::default()
        },
        congestion: CongestionControl::NewReno(new_reno::Config::default()),
        recovery: Recovery::Sack(sack::Config {
            reordering: 3,
            flow_control: sack::Window::Off,
            rto_low: timeout,
            ..sack::Config::default()
        }),
        ..NicConfig::default()
    };
    let software = Software {
        send_message: context.span(&section.send_message, AtLeast::Zero)?,
        receive_message: context.span(&section.receive_message, AtLeast::Zero)?,
        send_rate,
        receive_rate,
        checksum_rate,
        slice,
    };
    Ok(Transport { links, nic, software, buffer: *section.buffer, gap: Bytes::new(20) })
}

/// Returns the checksum rate of the CPU. With one link, the adapter computes checksums.
fn checksum_rate(
    context: &Context<'_>,
    section: &mut TcpSection,
) -> Result<Option<BitRate>, ScenarioError> {
    if *section.links > 1 {
        return rate(context, &section.checksum_rate.fill(CORE_CHECKSUM_RATE)).map(Some);
    }
    match section.checksum_rate.given() {
        None => Ok(None),
        Some(given) => {
            let because = "with one link the adapter computes checksums";
            Err(context.misplaced(given.key(), because))
        }
    }
}

/// Returns this project's NIC at line rate, because a single ring has no congestion.
fn rdma(context: &Context<'_>, section: &RdmaSection) -> Result<Transport, ScenarioError> {
    let (payload, header) = packet(context, &section.payload, &section.header)?;
    let slice = slice(context, &section.slice)?;
    let nic = NicConfig {
        payload,
        header,
        retransmit_timeout: context.span(&section.retransmit_timeout, AtLeast::OnePicosecond)?,
        congestion: CongestionControl::LineRate(line_rate::Config::default()),
        recovery: Recovery::GO_BACK_N,
        ..NicConfig::default()
    };
    let software = Software {
        send_message: context.span(&section.send_message, AtLeast::Zero)?,
        receive_message: context.span(&section.receive_message, AtLeast::Zero)?,
        send_rate: None,
        receive_rate: None,
        checksum_rate: None,
        slice,
    };
    Ok(Transport { links: 1, nic, software, buffer: *section.buffer, gap: Bytes::new(20) })
}

/// Returns payload and header of a full packet.
fn packet(
    context: &Context<'_>,
    payload: &Located<Bytes>,
    header: &Located<Bytes>,
) -> Result<(Bytes, Bytes), ScenarioError> {
    let header = context.wire_bytes(header, Bytes::ZERO)?;
    if context.wire_bytes(payload, Bytes::new(1))? + header > MAX_PACKET {
        let expected = format!("with its header a packet is at most {}B", MAX_PACKET.get());
        return Err(context.invalid(payload, expected));
    }
    Ok((**payload, header))
}

fn slice(context: &Context<'_>, slice: &Located<Bytes>) -> Result<Bytes, ScenarioError> {
    if **slice < ELEMENT {
        return Err(context.invalid(slice, format!("it must be at least {ELEMENT}")));
    }
    Ok(**slice)
}

fn tree(context: &Context<'_>, section: &InNetworkSection) -> Result<TreeConfig, ScenarioError> {
    let radix = *section.radix;
    if radix < 2 {
        return Err(context.invalid(&section.radix, "it must be at least 2"));
    }
    let segment = context.wire_bytes(&section.segment, ELEMENT)?;
    if !segment.get().is_multiple_of(ELEMENT.get()) {
        let expected = format!("it must be a multiple of {ELEMENT}");
        return Err(context.invalid(&section.segment, expected));
    }
    Ok(TreeConfig {
        radix,
        segment,
        header: context.wire_bytes(&section.header, Bytes::ZERO)?,
        slots: context.positive(&section.slots)?,
        switch_latency: context.span(&section.switch_latency, AtLeast::Zero)?,
        chunk_overhead: context.span(&section.chunk_overhead, AtLeast::Zero)?,
    })
}

/// Checks that a chunk's time at this rate fits into 64 bits of picoseconds.
pub(super) fn rate(
    context: &Context<'_>,
    rate: &Located<BitRate>,
) -> Result<BitRate, ScenarioError> {
    let least = BitRate::from_bps(1_000_000);
    if **rate < least {
        return Err(context.invalid(rate, format!("it must be at least {least}")));
    }
    Ok(**rate)
}
