//! Random choice of the trimmed packet: the arriving one or the last one of its queue.

use super::admission::EnqueueRequest;
use super::config::{FabricConfig, TrimVictim};
use super::{Switching, Waiting};
use crate::packet::{Flags, Packet, PacketKind};
use crate::rng::{Purpose, Stream};
use crate::topology::{Node, Topology};

/// Returns one random stream per port if chance decides which packet is trimmed; otherwise empty.
pub(super) fn trim_draws(topology: &Topology, config: &FabricConfig, seed: u64) -> Vec<Stream> {
    let ports = 2 * topology.links().len() as u64;
    match config.switch.trim {
        Some(trim) if trim.victim == TrimVictim::ArrivingOrLast => {
            (0..ports).map(|port| Stream::new(seed, Purpose::Trim, port)).collect()
        }
        _ => Vec::new(),
    }
}

impl Switching {
    /// Returns true if an arriving packet may displace the last one of its queue.
    #[inline]
    pub fn may_displace(&self) -> bool {
        !self.trim_draws.is_empty()
    }

    /// Returns true if `packet` finds no room and, by a random draw, displaces the last data packet
    /// of its queue, of `last` bytes. The driver must then dequeue that packet and pass it to
    /// [`Self::trim_displaced`].
    pub fn displaces_last(&mut self, request: &EnqueueRequest, packet: &Packet, last: u16) -> bool {
        // Headers and control packets never displace data.
        let is_whole = packet.kind == PacketKind::Data && !packet.flags.has(Flags::TRIMMED);
        is_whole
            && !self.memory.has_room(request, packet)
            && self.memory.has_room_replacing_last(request, packet, last)
            // The draw comes last: the stream advances only if there is a choice.
            && self.trim_draws.get_mut(request.port.index()).is_some_and(|coin| coin.chance(1, 2))
    }

    /// Cuts a displaced data packet to its header; returns false if the header must be dropped.
    pub fn trim_displaced(&self, request: &EnqueueRequest, packet: &mut Packet) -> bool {
        let last_hop = || matches!(self.topology.ends_of(request.port).1, Node::Host(_));
        self.memory.trim(request, packet, last_hop)
    }
}

impl EnqueueRequest {
    /// Returns the request as if `last` fewer data bytes were queued.
    pub(super) fn without_last(&self, last: u16) -> Self {
        let Waiting { priority, data } = self.waiting;
        let waiting = Waiting { priority, data: data.saturating_sub(last.into()) };
        Self { waiting, ..*self }
    }
}
