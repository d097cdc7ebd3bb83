//! The responder, the receiving half of a queue pair.
//!
//! The loss recovery determines which packets it accepts and when it acknowledges ([`Receiving`]).
//! A packet that a switch trimmed to its header has no payload. Whatever the recovery, it is
//! answered with a NACK that has its PSN and whether the last switch on its path trimmed it.

use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::receiver::{AckState, Outbox, QpEndpoints, ReceiveRecovery, Receiving};
use crate::nic::recovery::Recovery;
use crate::packet::{DataView, Flags, RefusalReason};
use crate::units::Time;

/// The receiving half, created for the first data packet, or earlier without a requester.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(in crate::nic) struct Responder {
    /// Due time of its entry among the NIC's acknowledgement timers; `NEVER` without one.
    pub timer_entry: Time,
    acks: AckState,
    receiving: Receiving,
}

// A run may have a million responders: three cache lines each.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Responder>() == 3 * 64);

impl Responder {
    pub(in crate::nic) fn new(
        endpoints: QpEndpoints,
        recovery: Recovery,
        delivery: Delivery,
    ) -> Self {
        let receiving = recovery.receiver(delivery);
        Self { timer_entry: Time::NEVER, acks: AckState::new(endpoints), receiving }
    }

    /// Disables notifications, for a peer whose congestion control uses no CNPs.
    pub(in crate::nic) fn without_notifications(mut self) -> Self {
        self.acks.stop_notifications();
        self
    }

    /// Returns the ends of its queue pair.
    pub(in crate::nic) fn endpoints(&self) -> QpEndpoints {
        self.acks.endpoints()
    }

    /// Returns the receiving side of its recovery.
    pub(in crate::nic) fn receiving(&self) -> &Receiving {
        &self.receiving
    }

    /// Refuses a packet for a reason that the verbs give.
    pub(in crate::nic) fn refuse(
        &self,
        packet: DataView<'_>,
        reason: RefusalReason,
        out: &mut Outbox,
    ) {
        self.acks.refuse(packet, reason, out);
    }

    /// Handles a data packet.
    pub(in crate::nic) fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        out: &mut Outbox,
    ) {
        out.counters.data_received += 1;
        // A mark counts whatever happens to the packet: a trimmed or refused one met the same
        // queue. The CNP is enqueued before the packet's acknowledgement.
        if packet.flags.has(Flags::MARKED) {
            out.counters.marked += 1;
            self.acks.notify_congestion(now, packet, out);
        }
        out.counters.trimmed += u64::from(packet.is_trimmed());
        self.receiving.handle_data(now, packet, &mut self.acks, out);
    }

    /// Sends a congestion notification packet about a packet that the NIC dropped.
    pub(in crate::nic) fn notify_congestion(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        out: &mut Outbox,
    ) {
        self.acks.notify_congestion(now, packet, out);
    }

    /// Returns when arrivals must be acknowledged; `NEVER` if all are.
    #[inline]
    pub(in crate::nic) fn deadline(&self) -> Time {
        self.acks.deadline()
    }

    /// Acknowledges arrivals, if that is due.
    pub(in crate::nic) fn handle_timeout(&mut self, now: Time, out: &mut Outbox) {
        if self.acks.deadline() <= now {
            self.acks.report(self.receiving.reply(), out);
        }
    }
}
