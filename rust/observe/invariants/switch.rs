//! A model of a switch: packets received and not yet forwarded, and queued bytes.

use super::port::Queued;
use crate::fabric::Buffer;
use crate::ids::{ClassId, PortId};
use crate::packet::{Flags, Packet};
use crate::units::Bytes;

/// The buffer limits of switches.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    pub(super) buffer: Buffer,
    /// Limit of a port's priority queue, if switches trim.
    pub(super) trim: Option<Bytes>,
    pub(super) has_flow_control: bool,
    /// By class: whether flow control protects its data from drops.
    pub(super) lossless: Vec<bool>,
    /// By class: whether it may be paused.
    pub(super) protected: Vec<bool>,
}

impl Limits {
    /// Returns true if flow control protects the data of a class from drops.
    pub(super) fn is_lossless(&self, class: ClassId) -> bool {
        self.lossless.get(class.index()) == Some(&true)
    }

    /// Returns true if a class may be paused.
    pub(super) fn is_protected(&self, class: ClassId) -> bool {
        self.protected.get(class.index()) == Some(&true)
    }

    /// Checks the queued bytes of a port. Returns the violation, if any.
    pub(super) fn exceeded_by_port(&self, queued: Queued) -> Option<String> {
        let own = match (self.buffer, self.has_flow_control) {
            (Buffer::PerPort(limit), false) => Some(limit),
            _ => None,
        };
        let of = |class: &str, bytes: u64, limit: Option<Bytes>| {
            let limit = limit.filter(|limit| bytes > limit.get())?;
            Some(format!(
                "{bytes} B of {class} are queued, over the port's limit of {}",
                limit.get()
            ))
        };
        let priority = of("priority", queued.priority, self.trim.or(own));
        priority.or_else(|| of("data", queued.data, own))
    }

    /// Checks the queued bytes of a switch. Returns the violation, if any.
    pub(super) fn exceeded_by_switch(&self, queued: Queued) -> Option<String> {
        let Buffer::Shared(limit) = self.buffer else { return None };
        // Trimmed headers have a separate buffer, and flow control counts only data.
        let bytes = match self.trim.is_some() || self.has_flow_control {
            true => queued.data,
            false => queued.data + queued.priority,
        };
        let is_more = bytes > limit.get();
        is_more
            .then(|| format!("{bytes} B are queued in a switch with a buffer of {}", limit.get()))
    }
}

/// The state of a switch.
#[derive(Debug, Clone, Default)]
pub(super) struct SwitchModel {
    /// Packets that arrived at the current time and have not been forwarded or dropped yet.
    received: Vec<Packet>,
    /// Ports whose queues changed at the current time.
    pub(super) changed: Vec<PortId>,
    bytes: Queued,
    is_touched: bool,
}

/// Returns the fields that a switch never changes. Policies write to others, and trimming cuts the
/// payload.
pub(super) fn identity(packet: &Packet) -> impl PartialEq + use<> {
    let raw = packet.fields.raw();
    let ends = (packet.src, packet.dst, packet.qp);
    (ends, packet.kind, packet.class(), raw.psn, raw.ack, raw.sack)
}

impl SwitchModel {
    /// Marks the switch as active. Returns true for its first event at the current time.
    pub(super) fn touch(&mut self) -> bool {
        !std::mem::replace(&mut self.is_touched, true)
    }

    pub(super) fn receive(&mut self, packet: &Packet) {
        self.received.push(*packet);
    }

    /// Removes and returns the received packet that is forwarded or dropped as `packet`.
    ///
    /// If two copies arrived at the same time and an earlier switch trimmed one, the copy with the
    /// same trim state as `packet` is preferred.
    pub(super) fn take(&mut self, packet: &Packet) -> Option<Packet> {
        let is_cut = |it: &Packet| it.flags.has(Flags::TRIMMED);
        let of_packet = |it: &Packet| identity(it) == identity(packet);
        let unchanged = |it: &Packet| of_packet(it) && is_cut(it) == is_cut(packet);
        let index = self.received.iter().position(unchanged);
        let index = index.or_else(|| self.received.iter().position(of_packet))?;
        Some(self.received.swap_remove(index))
    }

    /// Adds a packet that joins the queue of a port.
    pub(super) fn add(&mut self, port: PortId, packet: &Packet) {
        *self.of(packet) += u64::from(packet.wire_bytes);
        if !self.changed.contains(&port) {
            self.changed.push(port);
        }
    }

    /// Removes a packet that leaves a queue.
    pub(super) fn remove(&mut self, packet: &Packet) {
        let bytes = self.of(packet);
        *bytes = bytes.saturating_sub(packet.wire_bytes.into());
    }

    fn of(&mut self, packet: &Packet) -> &mut u64 {
        match packet.flags.has(Flags::PRIORITY) {
            true => &mut self.bytes.priority,
            false => &mut self.bytes.data,
        }
    }

    pub(super) fn bytes(&self) -> Queued {
        self.bytes
    }

    /// Ends the current time. Returns a violation if a received packet was neither forwarded nor
    /// dropped.
    pub(super) fn end_time(&mut self) -> Option<String> {
        self.is_touched = false;
        let left = std::mem::take(&mut self.received).len();
        (left > 0).then(|| {
            format!("{left} received packets have no record of being forwarded or dropped")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet is retransmitted too early, an earlier switch has trimmed one of the copies, and
    /// both arrive at the same time.
    #[test]
    fn the_copy_with_the_same_trim_state_is_taken() {
        let whole = Packet::default();
        let cut = Packet { flags: Flags::TRIMMED, ..whole };
        for [first, second] in [[whole, cut], [cut, whole]] {
            let mut switch = SwitchModel::default();
            [whole, cut].iter().for_each(|packet| switch.receive(packet));
            assert_eq!(switch.take(&first), Some(first));
            assert_eq!(switch.take(&second), Some(second));
            assert_eq!(switch.take(&second), None);
        }
        // The switch also trims the whole copy.
        let mut switch = SwitchModel::default();
        [whole, cut].iter().for_each(|packet| switch.receive(packet));
        assert_eq!([switch.take(&cut), switch.take(&cut)], [Some(cut), Some(whole)]);
    }

    #[test]
    fn a_switch_does_not_change_the_class_of_a_packet() {
        let mut packet = Packet::default();
        let mut switch = SwitchModel::default();
        switch.receive(&packet);
        packet.set_class(ClassId(1));
        assert_eq!(switch.take(&packet), None);
    }
}
