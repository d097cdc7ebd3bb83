//! `[switch]`: buffers and marking.

use super::buffering::{self, LARGEST_BUFFER};
use crate::fabric::{Buffer, Ecn, SwitchConfig};
use crate::scenario::file::switch::{EcnSection, SwitchSection};
use crate::scenario::input::context::Context;
use crate::scenario::input::error::ScenarioError;
use crate::scenario::input::located::Located;
use crate::units::{Bytes, Fraction};

/// The frames of a transport.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario) struct Frames {
    /// A full packet on the wire.
    pub packet: Bytes,
    /// A packet that is cut to its headers.
    pub trimmed: Bytes,
}

/// The settings of every switch. A buffer must hold at least one packet of `packet` bytes; packets
/// are trimmed to `trimmed` where the section does not say.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    section: &mut SwitchSection,
    Frames { packet, trimmed }: Frames,
) -> Result<SwitchConfig, ScenarioError> {
    let buffer = buffer(context, section, packet)?;
    let ecn = marking(context, &mut section.ecn)?;
    let pfc = buffering::pfc(context, section, packet)?;
    let trim = buffering::trim(context, section, buffering::Sizes { buffer, packet, trimmed })?;
    let cbfc = buffering::cbfc(context, section, packet)?;
    let slow_ports = *section.slow_ports;
    Ok(SwitchConfig { buffer, ecn, ecn_point: *section.ecn.at, pfc, cbfc, trim, slow_ports })
}

fn buffer(
    context: &Context<'_>,
    section: &mut SwitchSection,
    packet: Bytes,
) -> Result<Buffer, ScenarioError> {
    match section.port_buffer.given() {
        Some(each) if section.buffer.is_some() => {
            let expected = "buffer and port_buffer exclude each other; leave one of them out";
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
    if **size > LARGEST_BUFFER {
        return Err(context.invalid(size, format!("it must be at most {LARGEST_BUFFER}")));
    }
    Ok(**size)
}

fn marking(context: &Context<'_>, section: &mut EcnSection) -> Result<Ecn, ScenarioError> {
    let ramp = section.kmin.is_some() || section.kmax.is_some() || section.pmax.is_some();
    if !ramp {
        return Ok(Ecn::Step(*section.step.fill(Bytes::new(800_000))));
    }
    if let Some(step) = section.step.given() {
        let expected = "a step excludes kmin, kmax and pmax; omit either the step or the others";
        return Err(context.invalid(&step, expected));
    }
    let kmin = section.kmin.fill(Bytes::new(100_000));
    let kmax = section.kmax.fill(Bytes::new(400_000));
    let pmax = section.pmax.fill(Fraction::new(1, 5).expect("not zero"));
    if *kmin > *kmax {
        let expected = format!("it must be at most {}, which is {kmax}", kmax.key());
        return Err(context.invalid(&kmin, expected));
    }
    context.at_most_one(&pmax)?;
    Ok(Ecn::Ramp { kmin: *kmin, kmax: *kmax, pmax: *pmax })
}
