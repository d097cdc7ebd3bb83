//! The part of a flow's duration that its rate does not cover: the latency of its first and last
//! packets.
//!
//! A flow of `W` bytes on the wire has been sent after `W / rate`. An idle path takes longer. The
//! last packet still crosses the links behind the slowest one, each link adds its delay, and the
//! acknowledgement returns. These times are added to every flow, so a flow without competition
//! takes as long as the closed form says ([`IdlePath`]).

use super::links::bytes_per_ps;
use super::paths::{FlowPath, PathCount};
use crate::bound::{Cuts, IdlePath, Path, Wire};
use crate::fabric::Setup;
use crate::ids::HostId;
use crate::nic::congestion::CongestionControl;
use crate::units::{BitRate, Bytes, Span, Time};

/// The size of a flow on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    /// Bytes of data packets, including gaps.
    pub(super) data: f64,
    /// Fraction of `data` that is not gaps.
    pub(super) without_gaps: f64,
    /// Bytes of acknowledgements with gaps, for each byte of `data`.
    pub(super) acks: f64,
    /// Fraction of the acknowledgements that is not gaps.
    pub(super) acks_without_gaps: f64,
}

/// Delivery and completion of a flow, in picoseconds after its last byte was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tail {
    delivered: i64,
    completed: i64,
}

/// Returns the packet format and link properties of a run.
pub(super) fn wire(setup: &Setup) -> Wire {
    let (nic, fabric) = (&setup.nic, &setup.fabric);
    let packet = (nic.payload + nic.header).get().max(1);
    // An acknowledgement is due after a number of packets or of bytes, whichever comes first.
    let by_bytes = nic.ack.every_bytes.get().div_ceil(packet);
    Wire {
        payload: nic.payload,
        header: nic.header,
        ack: nic.ack.bytes,
        ack_every: nic.ack.every.min(u32::try_from(by_bytes).unwrap_or(u32::MAX)),
        ack_priority: nic.ack.priority,
        gap: fabric.gap,
        forwarding_delay: fabric.forwarding_delay,
        // The splitter has divided messages into flows already; detours are not modelled.
        cuts: Cuts::Never,
        takes_detours: false,
    }
}

/// Returns the pacing rate of a host's queue pairs in bytes per picosecond, if it is below the rate
/// of its port.
pub(super) fn pace(setup: &Setup, host: HostId) -> Option<f64> {
    let CongestionControl::LineRate(config) = setup.nic_of(host).congestion else { return None };
    let rate = setup.topology.link(setup.topology.host_port(host).link()).rate;
    let paced = rate.scaled(config.share).max(BitRate::from_bps(1));
    (paced < rate).then(|| bytes_per_ps(paced))
}

impl Size {
    /// Returns the size on the wire of a flow of `bytes`.
    pub(super) fn of(bytes: Bytes, wire: &Wire) -> Self {
        let packets = bytes.get().div_ceil(wire.payload.get().max(1)).max(1);
        let acks = packets.div_ceil(u64::from(wire.ack_every.max(1))) as f64;
        let bare = bytes.get() as f64 + packets as f64 * wire.header.get() as f64;
        let data = bare + packets as f64 * wire.gap.get() as f64;
        Self {
            data,
            without_gaps: bare / data,
            acks: acks * (wire.ack + wire.gap).get() as f64 / data,
            acks_without_gaps: wire.ack.get() as f64 / (wire.ack + wire.gap).get() as f64,
        }
    }
}

impl Tail {
    /// Returns the tail of a flow of `bytes` on its path. `pace` is in bytes per picosecond,
    /// without gaps.
    pub(super) fn of(
        path: &FlowPath,
        bytes: Bytes,
        size: &Size,
        wire: &Wire,
        pace: Option<f64>,
    ) -> Self {
        // With any count above 1, the last packet may overtake others.
        let count = if path.count == PathCount::One { 1 } else { 2 };
        let idle = IdlePath::new(&Path { hops: path.hops.clone(), count }, bytes, wire);
        let rates = || path.hops.iter().map(|hop| hop.rate);
        // Together, several paths are at least as fast as the host's own link.
        let rate = match path.count {
            PathCount::One => rates().min(),
            PathCount::Several => rates().next().min(rates().next_back()),
        };
        // Without pacing the last packet is sent at the rate of the links.
        let payload = (bytes.get().max(1) - 1) % wire.payload.get().max(1) + 1;
        let last = (Bytes::new(payload) + wire.header + wire.gap).get() as f64;
        let sent = rate.map_or(0.0, |rate| {
            let rate = bytes_per_ps(rate);
            let paced = pace.map_or(rate, |pace| rate.min(pace / size.without_gaps));
            (size.data - last) / rate + last / paced
        });
        let after = |span: Span| span.as_ps() as i64 - sent.round() as i64;
        Self { delivered: after(idle.delivered), completed: after(idle.completed) }
    }

    /// Returns the delivery and completion times of a flow whose last packet was sent at `sent`.
    pub(super) fn after(self, sent: Time) -> [Time; 2] {
        // With zero delays, the gap after the last packet ends after the packet's delivery.
        let after = |by| Time::from_ps(sent.as_ps().saturating_add_signed(by)).max(sent);
        [self.delivered, self.completed].map(after)
    }
}
