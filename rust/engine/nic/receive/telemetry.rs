//! Telemetry in a NIC: from a data packet to its acknowledgements, and from an acknowledgement to
//! the congestion control.
//!
//! Packets have no room for telemetry, so it travels alongside them. The driver passes it in before
//! [`Nic::handle_packet`] and takes it after [`Nic::poll_transmit`]. Only NICs whose congestion
//! control asks for telemetry have a [`Relay`].

use std::collections::VecDeque;

use crate::nic::Nic;
use crate::nic::congestion::CongestionController;
use crate::nic::qp::Slot;
use crate::nic::send::requester::SendState;
use crate::packet::{Packet, Telemetry};
use crate::units::Time;

/// The telemetry of packets on their way through a NIC.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct Relay {
    /// Telemetry of the packet that is handled next.
    arrived: Telemetry,
    /// Telemetry of each control packet that waits for the wire.
    control: VecDeque<Telemetry>,
    /// Telemetry of the packet polled last.
    departing: Telemetry,
}

impl Nic {
    /// Passes in what ports have written into the packet of the next call of
    /// [`Nic::handle_packet`].
    pub fn handle_telemetry(&mut self, telemetry: &Telemetry) {
        if let Some(relay) = &mut self.responders.relay {
            relay.arrived = *telemetry;
        }
    }

    /// Takes the telemetry of the packet polled last. A control packet has that of the packet which
    /// it answers.
    pub fn take_telemetry(&mut self) -> Telemetry {
        self.responders
            .relay
            .as_mut()
            .map_or_else(Telemetry::default, |relay| std::mem::take(&mut relay.departing))
    }

    /// Gives the control packets that were queued since the last call the telemetry of the packet
    /// that they answer.
    pub(in crate::nic) fn relay_to_control(&mut self) {
        let Some(relay) = &mut self.responders.relay else { return };
        // Both queues have the same order, so the missing entries are those of the new packets.
        relay.control.resize(self.out.control.len(), relay.arrived);
    }

    /// Records that the first control packet starts on the wire.
    pub(in crate::nic) fn relay_departing(&mut self) {
        if let Some(relay) = &mut self.responders.relay {
            relay.departing = relay.control.pop_front().unwrap_or_default();
        }
    }

    /// Passes a control packet with its telemetry to its requester, whose next packet may move.
    pub(in crate::nic) fn handle_control_with_telemetry(
        &mut self,
        now: Time,
        packet: &Packet,
        slot: Slot,
    ) {
        // First: the control reads the telemetry while it handles the acknowledgement.
        self.relay_to_sender(slot);
        self.requesters[slot].handle_control(now, packet, &mut self.out.events);
        self.follow_pace(slot);
        self.make_ready(slot);
        self.update_timer(slot);
    }

    /// Passes the telemetry of a control packet to the congestion control of the requester that is
    /// about to handle it.
    pub(in crate::nic) fn relay_to_sender(&mut self, slot: Slot) {
        if let Some(relay) = &self.responders.relay
            && let Some(controller) = self.requesters[slot].congestion.telemetry()
        {
            controller.handle_telemetry(&relay.arrived);
        }
    }

    /// Moves the next packet of a requester after its rate has changed.
    pub(in crate::nic) fn follow_pace(&mut self, slot: Slot) {
        if self.responders.relay.is_none() {
            return;
        }
        let requester = &mut self.requesters[slot];
        let before = requester.next_start();
        if let Some(start) = requester.congestion.telemetry().and_then(|it| it.next_start()) {
            requester.pacer.move_to(start);
        }
        let start = requester.next_start();
        if requester.send_state == SendState::Paced && start != before {
            // The entry of the former start is dropped when its time comes.
            self.schedule.paced.push(start, requester.turn(slot));
        }
    }

    /// True if an entry of a paced requester, whose time has come, is left over from a start that
    /// has moved since.
    pub(in crate::nic) fn is_stale_start(&mut self, now: Time, slot: Slot) -> bool {
        self.requesters[slot].send_state != SendState::Paced || self.defer_moved_start(now, slot)
    }

    /// Puts a requester whose turn it is back among the paced ones if its start has moved beyond
    /// `now`. Returns whether it did.
    pub(in crate::nic) fn defer_moved_start(&mut self, now: Time, slot: Slot) -> bool {
        let requester = &mut self.requesters[slot];
        let start = requester.next_start();
        if start <= now {
            return false;
        }
        requester.send_state = SendState::Paced;
        self.schedule.paced.push(start, requester.turn(slot));
        true
    }
}
