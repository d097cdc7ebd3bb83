//! Which of two packets is trimmed: the one that finds no room, or the last one of its queue.

use super::admission::EnqueueRequest;
use super::config::{FabricConfig, TrimVictim};
use super::{Switching, Waiting};
use crate::packet::{Flags, Packet, PacketKind};
use crate::rng::{Purpose, Stream};
use crate::topology::{Node, Topology};

/// A stream of draws for each port, where chance decides which packet is trimmed; else none.
pub(super) fn coins(topology: &Topology, config: &FabricConfig, seed: u64) -> Vec<Stream> {
    let ports = 2 * topology.links().len() as u64;
    match config.switch.trim {
        Some(trim) if trim.victim == TrimVictim::ArrivingOrLast => {
            (0..ports).map(|port| Stream::new(seed, Purpose::Trim, port)).collect()
        }
        _ => Vec::new(),
    }
}

impl Switching {
    /// Whether a packet that finds no room may take the place of the last one of its queue.
    #[inline]
    pub fn may_displace(&self) -> bool {
        !self.coins.is_empty()
    }

    /// Whether `packet` takes the place of the last data packet of its queue, of `last` bytes,
    /// because it finds no room and the draw of the port is against the other. That one is then to
    /// leave the queue, and to be given to [`Self::trim_displaced`].
    pub fn displaces(&mut self, request: &EnqueueRequest, packet: &Packet, last: u16) -> bool {
        let is_whole = packet.kind == PacketKind::Data && !packet.flags.has(Flags::TRIMMED);
        is_whole
            && !self.memory.has_room(request, packet)
            && self.memory.has_room_in_place(request, packet, last)
            && self.coins.get_mut(request.port.index()).is_some_and(|coin| coin.chance(1, 2))
    }

    /// Cuts a data packet that another one displaces to its header; false if the header is to be
    /// dropped.
    pub fn trim_displaced(&self, request: &EnqueueRequest, packet: &mut Packet) -> bool {
        let last_hop = || matches!(self.topology.ends_of(request.port).1, Node::Host(_));
        self.memory.trim(request, packet, last_hop)
    }
}

impl EnqueueRequest {
    /// The request as if `last` bytes less waited without priority.
    pub(super) fn without(&self, last: u16) -> Self {
        let Waiting { priority, data } = self.waiting;
        let waiting = Waiting { priority, data: data.saturating_sub(last.into()) };
        Self { waiting, ..*self }
    }
}
