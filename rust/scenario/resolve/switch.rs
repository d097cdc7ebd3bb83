//! `[switch]`: buffers. [`super::derived`] resolves the ECN thresholds.

use super::buffering::{self, MAX_BUFFER};
use crate::fabric::{Buffer, Ecn, SwitchConfig};
use crate::file::switch::SwitchSection;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::units::Bytes;

/// Frame sizes of a transport.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frames {
    /// Full packet on the wire.
    pub packet: Bytes,
    /// Packet trimmed to its headers.
    pub trimmed: Bytes,
}

/// Resolves the settings of every switch, with marking off. A buffer must hold at least one packet
/// of `packet` bytes. Packets are trimmed to `trimmed` bytes unless the section sets a size.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &mut SwitchSection,
    Frames { packet, trimmed }: Frames,
) -> Result<SwitchConfig, ScenarioError> {
    let buffer = buffer(context, section, packet)?;
    let pfc = buffering::pfc(context, section, packet)?;
    let trim = buffering::trim(context, section, buffering::Sizes { buffer, packet, trimmed })?;
    let cbfc = buffering::cbfc(context, section, packet)?;
    let slow_ports = *section.slow_ports;
    let ecn_point = *section.ecn.at;
    Ok(SwitchConfig { buffer, ecn: Ecn::Off, ecn_point, pfc, cbfc, trim, slow_ports })
}

fn buffer(
    context: &Context<'_>,
    section: &mut SwitchSection,
    packet: Bytes,
) -> Result<Buffer, ScenarioError> {
    match section.port_buffer.given() {
        Some(each) if section.buffer.is_some() => {
            let expected = "buffer and port_buffer exclude each other; omit one of them";
            Err(context.invalid(&each, expected))
        }
        Some(each) => buffer_size(context, &each, packet).map(Buffer::PerPort),
        None => {
            let shared = section.buffer.fill(Bytes::new(64_000_000));
            buffer_size(context, &shared, packet).map(Buffer::Shared)
        }
    }
}

fn buffer_size(
    context: &Context<'_>,
    size: &Located<Bytes>,
    packet: Bytes,
) -> Result<Bytes, ScenarioError> {
    if **size < packet {
        let expected = format!("it must hold at least one packet (payload and header: {packet})");
        return Err(context.invalid(size, expected));
    }
    if **size > MAX_BUFFER {
        return Err(context.invalid(size, format!("it must be at most {MAX_BUFFER}")));
    }
    Ok(**size)
}
