//! `[switch] pfc`, `cbfc` and `trim`: link flow control and trimming.

use crate::fabric::{
    Buffer, CbfcConfig, FabricConfig, Headroom, PfcAdmission, PfcConfig, TrimConfig, TrimVictim,
};
use crate::file::switch::{AdmissionName, CbfcSection, HeadroomName, PfcSection, SwitchSection};
use crate::file::toggle::Toggle;
use crate::ids::SwitchId;
use crate::input::context::{AtLeast, Context};
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::switching::MAX_CREDITS;
use crate::topology::Topology;
use crate::units::Bytes;

/// Largest buffer: queue lengths have 32 bits. The largest switches of 2025 have a tenth of it.
pub(super) const MAX_BUFFER: Bytes = Bytes::new(2_000_000_000);

/// Sizes that bound the settings of a switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub buffer: Buffer,
    /// Full packet on the wire.
    pub packet: Bytes,
    /// Default length of a trimmed packet.
    pub trimmed: Bytes,
}

/// Resolves priority flow control; `packet` is a full packet on the wire.
pub(super) fn pfc(
    context: &Context<'_>,
    section: &SwitchSection,
    packet: Bytes,
) -> Result<Option<PfcConfig>, ScenarioError> {
    let Toggle::On(pfc) = &*section.pfc else { return Ok(None) };
    if let Some(each) = section.port_buffer.given() {
        let expected = "priority flow control shares a switch's memory among its links; set buffer \
                        instead of port_buffer";
        return Err(context.invalid(&each, expected));
    }
    context.at_most_one(&pfc.alpha)?;
    let headroom = match *pfc.headroom {
        HeadroomName::Hpcc => Headroom::Hpcc,
        HeadroomName::ConWeave => Headroom::ConWeave { packet },
        HeadroomName::WorstCase => Headroom::WorstCase { packet },
        HeadroomName::Bytes(bytes) => Headroom::Fixed(bytes),
    };
    let PfcSection { reserve, alpha, resume_offset, .. } = pfc;
    let (reserve, alpha, resume_offset) = (**reserve, **alpha, **resume_offset);
    let admission = match *pfc.admission {
        AdmissionName::Hpcc => PfcAdmission::Hpcc,
        AdmissionName::Conweave => PfcAdmission::ConWeave { packet },
    };
    let pause_time = match pfc.pause_time.given() {
        Some(time) => Some(context.span(&time, AtLeast::OnePicosecond)?),
        None => None,
    };
    Ok(Some(PfcConfig { headroom, reserve, alpha, resume_offset, admission, pause_time }))
}

/// Resolves credit-based flow control of links to switches; `packet` is a full packet on the wire.
pub(super) fn cbfc(
    context: &Context<'_>,
    section: &SwitchSection,
    packet: Bytes,
) -> Result<Option<CbfcConfig>, ScenarioError> {
    let Toggle::On(cbfc) = &*section.cbfc else { return Ok(None) };
    if let Toggle::On(_) = &*section.pfc {
        let expected = "a link has flow control by pauses (pfc) or by credit (cbfc), never both; \
                        omit one of them";
        return Err(context.invalid_as(section.cbfc.key(), "true", expected));
    }
    if let Some(each) = section.port_buffer.given() {
        let expected = "credit is for the memory of a link; set buffer instead of port_buffer, and \
                        cbfc.memory for each link";
        return Err(context.invalid(&each, expected));
    }
    let CbfcSection { memory, credit, overhead, correction } = cbfc;
    if !(32..=2_048).contains(&credit.get()) || !credit.get().is_power_of_two() {
        return Err(context.invalid(credit, "it must be 32B, 64B, 128B, ... or 2048B"));
    }
    let bytes = i8::try_from(**overhead).ok().filter(|&bytes| bytes >= -16);
    let bytes = bytes.ok_or_else(|| context.invalid(overhead, "it must be from -16 to 127"))?;
    context.span(correction, AtLeast::OnePicosecond)?;
    let config = CbfcConfig {
        memory: **memory,
        credit: u16::try_from(credit.get()).expect("at most 2,048"),
        overhead: bytes,
        packet: u16::try_from(packet.get()).unwrap_or(u16::MAX),
        correction: **correction,
    };
    if config.limit() < config.cost(config.packet) {
        let expected =
            format!("it must hold a full packet, {packet}; otherwise nothing can be sent");
        return Err(context.invalid(memory, expected));
    }
    if config.limit() > MAX_CREDITS {
        let expected = format!(
            "it must be at most {MAX_CREDITS} credits of {} = {credit}: counters have 15 bits",
            credit.key()
        );
        return Err(context.invalid(memory, expected));
    }
    Ok(Some(config))
}

/// Resolves trimming.
pub(super) fn trim(
    context: &Context<'_>,
    section: &mut SwitchSection,
    sizes: Sizes,
) -> Result<Option<TrimConfig>, ScenarioError> {
    let Toggle::On(trim) = &mut *section.trim else { return Ok(None) };
    // Only the transport's own header may be empty. A policy's length of trimmed packets never is.
    if trim.size.is_none() && sizes.trimmed == Bytes::ZERO {
        let header = Key::ROOT.child("transport").child("header");
        let expected = "it is the size of trimmed packets, so it must be at least 1B; or set \
                        switch.trim.size";
        return Err(context.invalid(&Located::of(sizes.trimmed, header), expected));
    }
    let (size, packet) = (&trim.size.fill(sizes.trimmed.min(sizes.packet)), sizes.packet);
    if **size == Bytes::ZERO || **size > packet {
        let expected =
            format!("it must be from 1B to a full packet (payload and header: {packet})");
        return Err(context.invalid(size, expected));
    }
    let (Buffer::Shared(buffer) | Buffer::PerPort(buffer)) = sizes.buffer;
    let twice = Bytes::new(2 * buffer.get()).min(MAX_BUFFER);
    let limit = trim.limit.fill(twice);
    if *limit < **size || *limit > MAX_BUFFER {
        let expected = format!("it must be from {} ({size}) to {MAX_BUFFER}", size.key());
        return Err(context.invalid(&limit, expected));
    }
    let victim = &trim.victim;
    let is_lossless =
        matches!(*section.pfc, Toggle::On(_)) || matches!(*section.cbfc, Toggle::On(_));
    if **victim == TrimVictim::ArrivingOrLast && is_lossless {
        let expected = "it must be 'arriving' with pfc or cbfc, which count queued packets by \
                        input link";
        return Err(context.invalid_as(victim.key(), "arriving-or-last", expected));
    }
    Ok(Some(TrimConfig { size: **size, limit: *limit, victim: **victim }))
}

/// Fails if reserves and headrooms leave no shared memory, or if the links of a switch have more
/// credit than there is memory.
pub(crate) fn pool(
    context: &Context<'_>,
    section: &SwitchSection,
    fabric: &FabricConfig,
    topology: &Topology,
) -> Result<(), ScenarioError> {
    let Buffer::Shared(buffer) = fabric.switch.buffer else { return Ok(()) };
    let of_classes = match fabric.classes.iter().filter(|class| class.pfc).count() {
        0 | 1 => String::new(),
        count => format!(", of each of {count} classes,"),
    };
    let of_links = |id| topology.ports_of(id).len() as u64;
    let key = if fabric.switch.cbfc.is_some() { section.cbfc.key() } else { section.pfc.key() };
    for (id, switch) in (0..).map(SwitchId).zip(topology.switches()) {
        let (kept, what, fits) = match (fabric.switch.pfc, fabric.switch.cbfc) {
            (Some(pfc), _) => {
                let kept = pfc.reserved_bytes(fabric, topology, id);
                (kept, "headroom and reserve", kept < buffer)
            }
            (None, Some(cbfc)) => {
                let kept = Bytes::new(cbfc.memory.get().saturating_mul(of_links(id)));
                (kept, "the credit", kept <= buffer)
            }
            (None, None) => return Ok(()),
        };
        if fits {
            continue;
        }
        let at_most = if fabric.switch.cbfc.is_some() { "at most" } else { "less than" };
        let fault = Fault::TooLarge {
            key: key.to_string(),
            value: context.as_written(key).unwrap_or_else(|| "true".to_owned()),
            amount: format!("{what} of {}'s links{of_classes} are {kept}", switch.name),
            limit: format!("{at_most} {}, which is {buffer}", section.buffer.key()),
        };
        return Err(context.fault(key, fault));
    }
    Ok(())
}
