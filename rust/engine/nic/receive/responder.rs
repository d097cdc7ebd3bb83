//! The receiving half of a queue pair.
//!
//! Which packets it accepts and when it answers depends on the loss recovery ([`Receiving`]). A
//! packet that a switch trimmed to its header carries nothing; whatever the recovery, it is
//! answered with a NACK that has its PSN and whether the last switch on its path trimmed it.

use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::receiver::{Answers, Outbox, Peer, ReceiveRecovery, Receiving};
use crate::nic::recovery::Recovery;
use crate::packet::{DataView, Flags, RefusalReason};
use crate::units::Time;

/// The receiving half: made for the first data packet, or before where there is no sending half.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(in crate::nic) struct Responder {
    /// When its entry among the NIC's acknowledgement timers is due; `NEVER` if it has none.
    pub timer_entry: Time,
    answers: Answers,
    receiving: Receiving,
}

// A run may have a million responders: three cache lines each.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Responder>() == 3 * 64);

impl Responder {
    pub(in crate::nic) fn new(peer: Peer, recovery: Recovery, delivery: Delivery) -> Self {
        let receiving = recovery.receiver(delivery);
        Self { timer_entry: Time::NEVER, answers: Answers::new(peer), receiving }
    }

    /// The same for a peer whose congestion control wants no congestion notification packets.
    pub(in crate::nic) fn without_notifications(mut self) -> Self {
        self.answers.stop_notifications();
        self
    }

    /// The ends of its queue pair.
    pub(in crate::nic) fn as_peer(&self) -> Peer {
        self.answers.peer()
    }

    /// What it has accepted.
    pub(in crate::nic) fn receiving(&self) -> &Receiving {
        &self.receiving
    }

    /// Refuses a packet for a reason of the verbs.
    pub(in crate::nic) fn refuse(
        &self,
        packet: DataView<'_>,
        reason: RefusalReason,
        out: &mut Outbox,
    ) {
        self.answers.refuse(packet, reason, out);
    }

    /// Takes a data packet.
    pub(in crate::nic) fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        out: &mut Outbox,
    ) {
        out.counters.data_received += 1;
        // A mark counts whatever becomes of the packet: a trimmed or refused one met the same
        // queue. The CNP is enqueued before the answer to the packet.
        if packet.flags.has(Flags::MARKED) {
            out.counters.marked += 1;
            self.answers.notify_congestion(now, packet, out);
        }
        out.counters.trimmed += u64::from(packet.is_trimmed());
        self.receiving.handle_data(now, packet, &mut self.answers, out);
    }

    /// When what has arrived must be acknowledged; `NEVER` if all is.
    #[inline]
    pub(in crate::nic) fn deadline(&self) -> Time {
        self.answers.deadline()
    }

    /// Acknowledges what has arrived, if that is due.
    pub(in crate::nic) fn handle_timeout(&mut self, now: Time, out: &mut Outbox) {
        if self.answers.deadline() <= now {
            self.answers.report(self.receiving.answer(), out);
        }
    }
}
