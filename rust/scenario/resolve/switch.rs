//! `[switch]`: buffers and marking.

use super::buffering;
use crate::fabric::{Buffer, Ecn, SwitchConfig};
use crate::scenario::file::sections::{EcnSection, SwitchSection};
use crate::scenario::input::context::Context;
use crate::scenario::input::error::ScenarioError;
use crate::units::{Bytes, Fraction};

/// No buffer is larger: lengths of queues are counted in 32 bits. The largest switches of 2025
/// hold a tenth of it.
pub(in crate::scenario) const LARGEST_BUFFER: Bytes = Bytes::new(2_000_000_000);

/// The settings of every switch, and the section with its defaults. A buffer must hold at least
/// one packet of `packet` bytes.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &SwitchSection,
    packet: Bytes,
) -> Result<(SwitchSection, SwitchConfig), ScenarioError> {
    let (key, buffer, size) = match (typed.buffer, typed.port_buffer) {
        (Some(_), Some(each)) => {
            let right = "buffer and port_buffer exclude each other; leave one of them out";
            return Err(context.senseless("switch.port_buffer", each, right));
        }
        (None, Some(each)) => ("switch.port_buffer", Buffer::PerPort(each), each),
        (shared, None) => {
            let shared = shared.unwrap_or(Bytes::new(64_000_000));
            ("switch.buffer", Buffer::Shared(shared), shared)
        }
    };
    if size < packet {
        let right = format!("it must hold at least one packet (payload and header: {packet})");
        return Err(context.senseless(key, size, right));
    }
    if size > LARGEST_BUFFER {
        let right = format!("it must be at most {LARGEST_BUFFER}");
        return Err(context.senseless(key, size, right));
    }
    let (ecn_section, ecn) = marking(context, &typed.ecn)?;
    let pfc = buffering::pfc(context, typed, packet)?;
    let (trim_section, trim) = buffering::trim(context, typed, size, packet)?;
    let section = SwitchSection {
        buffer: if let Buffer::Shared(bytes) = buffer { Some(bytes) } else { None },
        port_buffer: if let Buffer::PerPort(bytes) = buffer { Some(bytes) } else { None },
        ecn: ecn_section,
        pfc: typed.pfc,
        trim: trim_section,
    };
    Ok((section, SwitchConfig { buffer, ecn, ecn_point: typed.ecn.at, pfc, trim }))
}

fn marking(context: &Context<'_>, typed: &EcnSection) -> Result<(EcnSection, Ecn), ScenarioError> {
    let ramp = typed.kmin.is_some() || typed.kmax.is_some() || typed.pmax.is_some();
    if !ramp {
        let step = typed.step.unwrap_or(Bytes::new(800_000));
        return Ok((EcnSection { step: Some(step), ..typed.clone() }, Ecn::Step(step)));
    }
    if let Some(step) = typed.step {
        let right = "a step excludes kmin, kmax and pmax; leave out the one or the others";
        return Err(context.senseless("switch.ecn.step", step, right));
    }
    let kmin = typed.kmin.unwrap_or(Bytes::new(100_000));
    let kmax = typed.kmax.unwrap_or(Bytes::new(400_000));
    let pmax = typed.pmax.unwrap_or(Fraction::new(1, 5).expect("not zero"));
    if kmin > kmax {
        let right = format!("it must be at most switch.ecn.kmax, which is {kmax}");
        return Err(context.senseless("switch.ecn.kmin", kmin, right));
    }
    context.part("switch.ecn.pmax", pmax)?;
    let section = EcnSection {
        step: None,
        kmin: Some(kmin),
        kmax: Some(kmax),
        pmax: Some(pmax),
        at: typed.at,
    };
    Ok((section, Ecn::Ramp { kmin, kmax, pmax }))
}
