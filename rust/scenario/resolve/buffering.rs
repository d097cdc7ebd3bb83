//! `[switch] pfc` and `trim`: priority flow control and trimming.

use crate::fabric::{Buffer, FabricConfig, Headroom, PfcConfig, TrimConfig};
use crate::ids::SwitchId;
use crate::scenario::file::switch::{HeadroomName, PfcSection, SwitchSection};
use crate::scenario::file::toggle::Toggle;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::topology::Topology;
use crate::units::Bytes;

/// The largest buffer: queue lengths have 32 bits. The largest switches of 2025 have a tenth of it.
pub(super) const LARGEST_BUFFER: Bytes = Bytes::new(2_000_000_000);

/// The limits of a switch's settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub buffer: Buffer,
    /// A full packet on the wire.
    pub packet: Bytes,
}

/// Priority flow control of every switch; `packet` is a full packet on the wire.
pub(super) fn pfc(
    context: &Context<'_>,
    section: &SwitchSection,
    packet: Bytes,
) -> Result<Option<PfcConfig>, ScenarioError> {
    let Toggle::On(pfc) = &*section.pfc else { return Ok(None) };
    if let Some(each) = section.port_buffer.given() {
        let expected = "priority flow control shares a switch's memory among its links; write \
                        buffer in place of port_buffer";
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
    Ok(Some(PfcConfig { headroom, reserve, alpha, resume_offset }))
}

/// Trimming of every switch.
pub(super) fn trim(
    context: &Context<'_>,
    section: &mut SwitchSection,
    sizes: Sizes,
) -> Result<Option<TrimConfig>, ScenarioError> {
    let Toggle::On(trim) = &mut *section.trim else { return Ok(None) };
    let (size, packet) = (&trim.size, sizes.packet);
    if **size == Bytes::ZERO || **size > packet {
        let expected =
            format!("it must be from 1B to a full packet (payload and header: {packet})");
        return Err(context.invalid(size, expected));
    }
    let (Buffer::Shared(buffer) | Buffer::PerPort(buffer)) = sizes.buffer;
    let twice = Bytes::new(2 * buffer.get()).min(LARGEST_BUFFER);
    let limit = trim.limit.fill(twice);
    if *limit < **size || *limit > LARGEST_BUFFER {
        let expected = format!("it must be from {} ({size}) to {LARGEST_BUFFER}", size.key());
        return Err(context.invalid(&limit, expected));
    }
    Ok(Some(TrimConfig { size: **size, limit: *limit }))
}

/// Fails for a buffer that has no shared memory besides reserves and headrooms.
pub(in crate::scenario) fn pool(
    context: &Context<'_>,
    section: &SwitchSection,
    fabric: &FabricConfig,
    topology: &Topology,
) -> Result<(), ScenarioError> {
    let (Some(pfc), Buffer::Shared(buffer)) = (fabric.switch.pfc, fabric.switch.buffer) else {
        return Ok(());
    };
    let key = section.pfc.key();
    for (id, switch) in (0..).map(SwitchId).zip(topology.switches()) {
        let kept = pfc.private_bytes(fabric, topology, id);
        if kept < buffer {
            continue;
        }
        let fault = Fault::TooLarge {
            key: key.to_string(),
            value: context.typed(key).unwrap_or_else(|| "true".to_owned()),
            amount: format!("headroom and reserve of {}'s links are {kept}", switch.name),
            limit: format!("less than {}, which is {buffer}", section.buffer.key()),
        };
        return Err(context.fault(key, fault));
    }
    Ok(())
}
