//! Packet memory of switches: decides which packets are queued, trimmed or dropped, and accounts
//! for their bytes.

use std::collections::BTreeMap;

use super::Switching;
use super::cbfc::Cbfc;
use super::config::{Buffer, FabricConfig, TrimConfig, scale_by_rate};
use super::pfc::{Arriving, Pfc};
use crate::ids::{LinkClass, PortId, SwitchId};
use crate::packet::{Flags, Packet, PauseOrder};
use crate::topology::Topology;
use crate::units::BitRate;

/// Queued bytes at a switch port, without the packet on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Queued bytes with priority.
    pub priority: u32,
    /// Queued bytes without priority, which ECN and buffers look at.
    pub data: u32,
}

/// A packet that cannot start immediately and requests admission to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnqueueRequest {
    /// The switch that holds the packet.
    pub switch: SwitchId,
    /// The output port.
    pub port: PortId,
    /// The input port, if PFC counts the packet there.
    pub ingress: Option<PortId>,
    /// Queued bytes at `port`. With PFC and traffic classes, `data` covers only the packet's own
    /// class.
    pub waiting: Waiting,
}

/// The result of an [`EnqueueRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// The packet is enqueued unchanged.
    Admitted,
    /// The packet was cut to its header, which is enqueued with priority.
    Trimmed,
    /// The packet is dropped: not even its header fits.
    Dropped,
}

/// Limits for the fast path, where only buffer room matters.
#[derive(Debug, Clone, Copy, Default)]
struct FastPathLimits {
    switch: u64,
    queue: u64,
}

impl FastPathLimits {
    fn of(config: &FabricConfig) -> Self {
        let switch = &config.switch;
        let has_flow_control = switch.pfc.is_some() || switch.cbfc.is_some();
        // Limits of 0 admit nothing, which sends every packet to the slow path.
        if has_flow_control || switch.trim.is_some() || config.scales_ports() {
            return Self::default();
        }
        match switch.buffer {
            Buffer::Shared(limit) => Self { switch: limit.get(), queue: 0 },
            Buffer::PerPort(limit) => Self { switch: 0, queue: limit.get() },
        }
    }
}

/// Packet memory of every switch.
#[derive(Debug)]
pub(super) struct PacketMemory {
    buffer: Buffer,
    trim: Option<TrimConfig>,
    pfc: Option<Box<Pfc>>,
    cbfc: Option<Box<Cbfc>>,
    /// Byte limits of a switch and of a queue if there is neither flow control nor trimming and all
    /// ports have the same buffer. 0 otherwise, and for the limit that does not apply.
    fast_path: FastPathLimits,
    /// Buffers of degraded ports, if those shrink.
    shrunk: BTreeMap<PortId, u64>,
    /// Bytes in the queues of each switch, as far as the driver has accounted for them.
    buffered: Vec<u64>,
}

impl Switching {
    /// Returns the bytes in the queues of each switch, as far as the driver has accounted for them.
    pub(crate) fn buffered(&self) -> &[u64] {
        &self.memory.buffered
    }
}

impl PacketMemory {
    pub(super) fn new(config: &FabricConfig, topology: &Topology) -> Self {
        let switch = &config.switch;
        Self {
            buffer: switch.buffer,
            trim: switch.trim,
            fast_path: FastPathLimits::of(config),
            cbfc: switch.cbfc.map(|cbfc| Box::new(Cbfc::new(cbfc, topology))),
            shrunk: BTreeMap::new(),
            pfc: switch.pfc.map(|pfc| Box::new(Pfc::new(&pfc, config, topology))),
            buffered: vec![0; topology.switches().len()],
        }
    }

    /// Scales the buffer of a port whose rate dropped from `of` to `rate`.
    pub(super) fn scale(&mut self, port: PortId, rate: BitRate, of: BitRate) {
        if let Buffer::PerPort(limit) = self.buffer {
            self.shrunk.insert(port, scale_by_rate(limit.get(), rate, of));
        }
    }

    #[inline]
    pub(super) fn has_flow_control(&self) -> bool {
        self.pfc.is_some() || self.cbfc.is_some()
    }

    pub(super) fn cbfc_mut(&mut self) -> Option<&mut Cbfc> {
        self.cbfc.as_deref_mut()
    }

    /// Returns true if a header fits: with trimming, priority packets have separate room.
    #[inline]
    fn has_header_room(&self, waiting: Waiting, bytes: u64) -> bool {
        self.trim.is_some_and(|trim| u64::from(waiting.priority) + bytes <= trim.limit.get())
    }

    #[inline]
    pub(super) fn exceeds_shared_buffer(&self, switch: SwitchId, packet: &Packet) -> bool {
        let Buffer::Shared(limit) = self.buffer else { return false };
        // Neither case needs an exact count from the driver. Headers have separate room, and with
        // flow control every start is an event, so the counts are exact.
        let is_header = packet.flags.has(Flags::PRIORITY) && self.trim.is_some();
        let bytes = u64::from(packet.wire_bytes);
        !is_header
            && !self.has_flow_control()
            && self.buffered[switch.index()] + bytes > limit.get()
    }

    #[inline(always)]
    pub(super) fn has_room(&self, request: &EnqueueRequest, packet: &Packet) -> bool {
        // Packets without priority came with credit; those with priority need none.
        if self.cbfc.is_some() {
            return true;
        }
        let has_priority = packet.flags.has(Flags::PRIORITY);
        let (waiting, bytes) = (request.waiting, u64::from(packet.wire_bytes));
        // With trimming, `trim.limit` alone limits priority packets, acknowledgements included: a
        // header finds room even if the buffer is full.
        if has_priority && self.trim.is_some() {
            return self.has_header_room(waiting, bytes);
        }
        if let Some(pfc) = &self.pfc {
            // Only packets without priority count against their input link.
            let (queued, class) = (u64::from(waiting.data), packet.class());
            let arriving = |link| Arriving { from: LinkClass { link, class }, bytes, queued };
            return has_priority || request.ingress.is_none_or(|it| pfc.admits(arriving(it)));
        }
        match self.buffer {
            Buffer::PerPort(limit) => {
                // Each queue has the whole buffer: priority packets do not take room from data.
                let before = if has_priority { waiting.priority } else { waiting.data };
                let limit = self.shrunk.get(&request.port).copied().unwrap_or(limit.get());
                u64::from(before) + bytes <= limit
            }
            Buffer::Shared(limit) => self.buffered[request.switch.index()] + bytes <= limit.get(),
        }
    }

    /// Returns true if there is room once the last packet of the queue, of `last` bytes, is
    /// removed.
    pub(super) fn has_room_replacing_last(
        &self,
        request: &EnqueueRequest,
        packet: &Packet,
        last: u16,
    ) -> bool {
        let bytes = u64::from(packet.wire_bytes);
        match self.buffer {
            Buffer::PerPort(_) => self.has_room(&request.without_last(last), packet),
            Buffer::Shared(limit) => {
                self.buffered[request.switch.index()] + bytes <= limit.get() + u64::from(last)
            }
        }
    }

    /// Cuts a data packet to its header if switches trim and the header has room. Returns false if
    /// the packet must be dropped.
    pub(super) fn trim(
        &self,
        request: &EnqueueRequest,
        packet: &mut Packet,
        is_last_hop: impl FnOnce() -> bool,
    ) -> bool {
        let Some(trim) = self.trim else { return false };
        // A header cannot be cut again, and a control packet has no payload to cut.
        if packet.is_control() || packet.flags.has(Flags::TRIMMED) {
            return false;
        }
        // The last packet of a message may be shorter than a header of the configured size.
        let size = trim.size.get().min(u64::from(packet.wire_bytes));
        if !self.has_header_room(request.waiting, size) {
            return false;
        }
        packet.wire_bytes = u16::try_from(size).expect("a header is no longer than its packet");
        packet.flags = packet
            .flags
            .with(Flags::TRIMMED)
            .with(Flags::PRIORITY)
            .with(Flags::LAST_HOP.when(is_last_hop()));
        true
    }

    #[inline(always)]
    pub(super) fn try_enqueue_fast(&mut self, switch: SwitchId, waiting: u64, bytes: u64) -> bool {
        let buffered = &mut self.buffered[switch.index()];
        let after = *buffered + bytes;
        // At most one of the two limits is nonzero; the other comparison never admits a packet.
        let has_room = after <= self.fast_path.switch || waiting + bytes <= self.fast_path.queue;
        if has_room {
            *buffered = after;
        }
        has_room
    }

    #[inline]
    pub(super) fn account_enqueue(
        &mut self,
        switch: SwitchId,
        bytes: u64,
        ingress: Option<LinkClass>,
    ) -> Option<PauseOrder> {
        // The switch count covers every packet; PFC counts only packets with an ingress.
        self.buffered[switch.index()] += bytes;
        self.pfc.as_mut()?.add(ingress?, bytes)
    }

    #[inline]
    pub(super) fn account_dequeue(
        &mut self,
        switch: SwitchId,
        bytes: u64,
        ingress: Option<LinkClass>,
    ) -> Option<PauseOrder> {
        self.buffered[switch.index()] -= bytes;
        if let Some(cbfc) = &mut self.cbfc {
            cbfc.free(ingress?.link, bytes);
            // With CBFC, a resume order tells the driver to send an update of the freed credit.
            return Some(PauseOrder::Resume);
        }
        self.pfc.as_mut()?.remove(ingress?, bytes)
    }
}
