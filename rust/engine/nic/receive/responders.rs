//! The responders of a NIC, and the state that they share.

use std::ops::{Index, IndexMut};

use crate::ids::HostId;
use crate::nic::output::Output;
use crate::nic::qp::Slot;
use crate::nic::qp::table::reserve_if_full;
use crate::nic::receive::credits::Credits;
use crate::nic::receive::receiver::{Outbox, ReceiverSettings};
use crate::nic::receive::responder::Responder;
use crate::nic::receive::telemetry::Relay;
use crate::nic::{NicConfig, PortFacts};
use crate::packet::DataView;
use crate::prefetch::prefetch_next_slot;
use crate::units::Time;

/// The responders of a NIC, by slot.
#[derive(Debug, Clone)]
#[repr(C)]
pub(in crate::nic) struct Responders {
    pub(super) list: Vec<Responder>,
    /// Present if the congestion control asks for telemetry.
    pub relay: Option<Box<Relay>>,
    /// Present if the congestion control uses credit: grants to the senders.
    pub credits: Option<Box<Credits>>,
    // One copy per NIC: a run may have a million responders.
    pub settings: ReceiverSettings,
}

impl Responders {
    pub(in crate::nic) fn new(host: HostId, port: PortFacts, config: &NicConfig) -> Self {
        Self {
            list: Vec::new(),
            relay: config.congestion.telemetry().map(|_| Box::default()),
            credits: Credits::of(host, port, config),
            settings: config.receiver_settings(),
        }
    }

    #[inline]
    pub(in crate::nic) fn get(&self, slot: Slot) -> Option<&Responder> {
        self.list.get(slot.index())
    }

    #[cfg(test)]
    pub(in crate::nic) fn len(&self) -> usize {
        self.list.len()
    }

    /// Appends a responder and returns its slot.
    pub(in crate::nic) fn push(&mut self, responder: Responder) -> Slot {
        self.list.push(responder);
        Slot::last_of(self.list.len())
    }

    /// Returns the responder in `slot` together with the settings that all share.
    pub(in crate::nic) fn with_settings(
        &mut self,
        slot: Slot,
    ) -> (&mut Responder, &ReceiverSettings) {
        (&mut self.list[slot.index()], &self.settings)
    }

    /// Reserves room for `count` responders, unless there is room for one.
    pub(in crate::nic) fn reserve(&mut self, count: usize) {
        reserve_if_full(&mut self.list, count);
    }

    pub(in crate::nic) fn prefetch_next_slot(&self) {
        prefetch_next_slot(&self.list);
    }

    /// Handles a data packet for the responder in `slot`.
    #[inline]
    pub(in crate::nic) fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        slot: Slot,
        out: &mut Output,
    ) {
        let mut out = Outbox::new(&self.settings, out);
        self.list[slot.index()].handle_data(now, packet, &mut out);
    }

    /// Sends a congestion notification packet about a packet that the NIC dropped.
    pub(in crate::nic) fn notify_congestion(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        slot: Slot,
        out: &mut Output,
    ) {
        let mut out = Outbox::new(&self.settings, out);
        self.list[slot.index()].notify_congestion(now, packet, &mut out);
    }

    /// Handles the acknowledgement timer of the responder in `slot`.
    pub(in crate::nic) fn handle_timeout(&mut self, now: Time, slot: Slot, out: &mut Output) {
        let responder = &mut self.list[slot.index()];
        // If the deadline has moved, nothing is due, and the caller pushes a new entry.
        responder.timer_entry = Time::NEVER;
        responder.handle_timeout(now, &mut Outbox::new(&self.settings, out));
    }
}

impl Index<Slot> for Responders {
    type Output = Responder;

    #[inline]
    fn index(&self, slot: Slot) -> &Responder {
        &self.list[slot.index()]
    }
}

impl IndexMut<Slot> for Responders {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Responder {
        &mut self.list[slot.index()]
    }
}
