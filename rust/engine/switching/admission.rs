//! The packet memory of switches: which packets are queued, trimmed or dropped, and the accounts to
//! which their bytes are charged.

use std::collections::BTreeMap;

use super::Switching;
use super::cbfc::Cbfc;
use super::config::{Buffer, FabricConfig, TrimConfig, left_of};
use super::pfc::{Arriving, Pfc};
use crate::ids::{LinkClass, PortId, SwitchId};
use crate::packet::{Flags, Packet, PauseOrder};
use crate::topology::Topology;
use crate::units::BitRate;

/// The queued bytes of a switch port, without the packet on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Bytes with priority that wait there.
    pub priority: u32,
    /// Bytes without priority that wait there: what ECN and buffers look at.
    pub data: u32,
}

/// A packet that cannot start at once and requests admission to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnqueueRequest {
    /// The switch that it is in.
    pub switch: SwitchId,
    /// The port that it is to leave by.
    pub port: PortId,
    /// The ingress port, if PFC counts the packet there.
    pub ingress: Option<PortId>,
    /// The queued bytes at `port`. With PFC and traffic classes `data` are those of the packet's
    /// own class.
    pub waiting: Waiting,
}

/// The answer to an [`EnqueueRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It joins the queue as it is.
    Admitted,
    /// It has been cut to its header, which joins the queue with priority.
    Trimmed,
    /// It is dropped: not even its header fits.
    Dropped,
}

/// Limits where nothing else has a say.
#[derive(Debug, Clone, Copy, Default)]
struct PlainLimits {
    switch: u64,
    queue: u64,
}

impl PlainLimits {
    fn of(config: &FabricConfig) -> Self {
        let switch = &config.switch;
        let has_flow_control = switch.pfc.is_some() || switch.cbfc.is_some();
        if has_flow_control || switch.trim.is_some() || config.scales_ports() {
            return Self::default();
        }
        match switch.buffer {
            Buffer::Shared(limit) => Self { switch: limit.get(), queue: 0 },
            Buffer::PerPort(limit) => Self { switch: 0, queue: limit.get() },
        }
    }
}

/// The packet memory of every switch.
#[derive(Debug)]
pub(super) struct PacketMemory {
    buffer: Buffer,
    trim: Option<TrimConfig>,
    pfc: Option<Box<Pfc>>,
    cbfc: Option<Box<Cbfc>>,
    /// The bytes that a switch and a queue may have where neither flow control nor trimming has a
    /// say, and all ports have the same buffer; 0 where one has, or where the other one limits.
    plain: PlainLimits,
    /// The buffers of ports whose links are degraded, where they shrink.
    shrunk: BTreeMap<PortId, u64>,
    /// Bytes in the queues of each switch, as far as the world has accounted for them.
    buffered: Vec<u64>,
}

impl Switching {
    /// By switch id: bytes in its queues, as far as the world has accounted for them.
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
            plain: PlainLimits::of(config),
            cbfc: switch.cbfc.map(|cbfc| Box::new(Cbfc::new(cbfc, topology))),
            shrunk: BTreeMap::new(),
            pfc: switch.pfc.map(|pfc| Box::new(Pfc::new(&pfc, config, topology))),
            buffered: vec![0; topology.switches().len()],
        }
    }

    /// Makes the buffer of a port that of one of `of` that has `rate` left.
    pub(super) fn scale(&mut self, port: PortId, rate: BitRate, of: BitRate) {
        if let Buffer::PerPort(limit) = self.buffer {
            self.shrunk.insert(port, left_of(limit.get(), rate, of));
        }
    }

    #[inline]
    pub(super) fn has_flow_control(&self) -> bool {
        self.pfc.is_some() || self.cbfc.is_some()
    }

    pub(super) fn cbfc_mut(&mut self) -> Option<&mut Cbfc> {
        self.cbfc.as_deref_mut()
    }

    pub(super) fn pfc(&self) -> Option<&Pfc> {
        self.pfc.as_deref()
    }

    /// Headers with priority have room of their own if switches trim.
    #[inline]
    fn has_header_room(&self, waiting: Waiting, bytes: u64) -> bool {
        self.trim.is_some_and(|trim| u64::from(waiting.priority) + bytes <= trim.limit.get())
    }

    #[inline]
    pub(super) fn exceeds_shared_buffer(&self, switch: SwitchId, packet: &Packet) -> bool {
        let Buffer::Shared(limit) = self.buffer else { return false };
        // Neither case needs the ports to be settled: headers have room of their own, and with PFC
        // every start is an event, so that the counts are exact.
        let is_header = packet.flags.has(Flags::PRIORITY) && self.trim.is_some();
        let bytes = u64::from(packet.wire_bytes);
        !is_header
            && !self.has_flow_control()
            && self.buffered[switch.index()] + bytes > limit.get()
    }

    #[inline(always)]
    pub(super) fn has_room(&self, request: &EnqueueRequest, packet: &Packet) -> bool {
        // What has no priority came with credit; what has needs none.
        if self.cbfc.is_some() {
            return true;
        }
        let has_priority = packet.flags.has(Flags::PRIORITY);
        let (waiting, bytes) = (request.waiting, u64::from(packet.wire_bytes));
        // With trimming all that has priority, acknowledgements too, is limited by `trim.limit`
        // alone: a header finds room where the buffer is full.
        if has_priority && self.trim.is_some() {
            return self.has_header_room(waiting, bytes);
        }
        if let Some(pfc) = &self.pfc {
            // Only packets without priority are counted against the link that they came by.
            let (queued, class) = (u64::from(waiting.data), packet.class());
            let arriving = |link| Arriving { from: LinkClass { link, class }, bytes, queued };
            return has_priority || request.ingress.is_none_or(|it| pfc.admits(arriving(it)));
        }
        match self.buffer {
            Buffer::PerPort(limit) => {
                // Each queue has the whole buffer: priority does not eat into the room of data.
                let before = if has_priority { waiting.priority } else { waiting.data };
                let limit = self.shrunk.get(&request.port).copied().unwrap_or(limit.get());
                u64::from(before) + bytes <= limit
            }
            Buffer::Shared(limit) => self.buffered[request.switch.index()] + bytes <= limit.get(),
        }
    }

    /// Whether there is room in place of the last packet of the queue, of `last` bytes.
    pub(super) fn has_room_in_place(
        &self,
        request: &EnqueueRequest,
        packet: &Packet,
        last: u16,
    ) -> bool {
        let bytes = u64::from(packet.wire_bytes);
        match self.buffer {
            Buffer::PerPort(_) => self.has_room(&request.without(last), packet),
            Buffer::Shared(limit) => {
                self.buffered[request.switch.index()] + bytes <= limit.get() + u64::from(last)
            }
        }
    }

    /// Cuts a data packet to its header if switches trim and the header has room; false if the
    /// packet is to be dropped.
    pub(super) fn trim(
        &self,
        request: &EnqueueRequest,
        packet: &mut Packet,
        is_last_hop: impl FnOnce() -> bool,
    ) -> bool {
        let Some(trim) = self.trim else { return false };
        // A header cannot be cut again, and an answer has no payload to lose.
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
    pub(super) fn adds_plainly(&mut self, switch: SwitchId, waiting: u64, bytes: u64) -> bool {
        let buffered = &mut self.buffered[switch.index()];
        let after = *buffered + bytes;
        // Each queue has the whole buffer: priority does not eat into the room of data.
        let has_room = after <= self.plain.switch || waiting + bytes <= self.plain.queue;
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
        // The count of the switch covers every packet; PFC counts only those that have an ingress.
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
            return Some(PauseOrder::Resume);
        }
        self.pfc.as_mut()?.remove(ingress?, bytes)
    }
}
