//! Queue pairs that report by events: the short path for a driver that posts only WRITEs and must
//! know when they are delivered.

use crate::balance::sender::Sender;
use crate::ids::{HostId, QpId};
use crate::nic::Nic;
use crate::nic::qp::settings::QpSettings;
use crate::nic::qp::{Origin, Qp, QpAttributes, QpState, Reporting, reverse_label};
use crate::units::{Bytes, Time};

/// Attributes of a new requester.
#[derive(Debug, Clone)]
pub struct SendHalf {
    /// Destination host.
    pub peer: HostId,
    /// Hash of the 5-tuple without the entropy value.
    pub label: u32,
    /// Cookie of its events.
    pub cookie: u32,
    /// True if a splitter asked for it beyond the one per pair of peers and stream.
    pub extra: bool,
    /// The policy that picks its entropy values.
    pub policy: Sender,
}

/// Attributes of a new responder.
#[derive(Debug, Clone, Copy)]
pub struct ReceiveHalf {
    /// Host of the sender.
    pub peer: HostId,
    /// Number of the sender's queue pair.
    pub peer_qp: QpId,
    /// Label of the sender's packets.
    pub label: u32,
    /// Cookie of its events.
    pub cookie: u32,
    /// Its settings, if they differ from the NIC's.
    pub settings: Option<QpSettings>,
}

/// A message for [`Nic::post_at`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// Its length.
    pub bytes: Bytes,
    /// Id in its events.
    pub work: u64,
    /// Path that it is pinned to, if the policy pins and the queue pair is idle.
    pub path: u16,
}

impl Nic {
    /// Reserves room for `count` more queue pairs that send once the tables are full. A message
    /// that is split into many flows then does not reallocate them again and again.
    pub(crate) fn reserve_senders(&mut self, count: usize) {
        // Free slots are used first, so the list of requesters does not grow yet.
        if self.qps.free.requesters.is_empty() {
            self.requesters.reserve(count);
        }
        self.qps.reserve(count);
    }

    /// Reserves room for `count` more queue pairs that only receive once the tables are full.
    pub(crate) fn reserve_receivers(&mut self, count: usize) {
        if self.qps.free.responders.is_empty() {
            self.responders.reserve(count);
        }
        self.qps.reserve(count);
    }

    /// Creates a queue pair that sends; [`Nic::connect`] completes it. Together with
    /// [`Nic::open_receiver`] it is the short path to a queue pair that reports by events. It
    /// accepts an MTU of any size.
    ///
    /// # Panics
    /// If all queue pair numbers are in use, or the loss recovery cannot deliver in the configured
    /// order; [`Nic::create_qp`] returns these as errors.
    pub fn open_sender(&mut self, half: SendHalf) -> QpId {
        let qp = self.add_qp(QpAttributes {
            peer: half.peer,
            label: half.label,
            policy: Some(half.policy),
            reporting: Reporting::Events(half.cookie),
            origin: if half.extra { Origin::Extra } else { Origin::Regular },
        });
        let qp = qp.unwrap_or_else(|error| panic!("{error}"));
        self.modify_qp(qp, QpState::Init).expect("the queue pair is new");
        qp
    }

    /// Creates the other end of the sender `peer_qp` at `peer`, whose packets have `label`. It only
    /// receives, and is ready to.
    ///
    /// # Panics
    /// As [`Nic::open_sender`].
    pub fn open_receiver(&mut self, peer: HostId, peer_qp: QpId, label: u32, cookie: u32) -> QpId {
        self.open_receiving(ReceiveHalf { peer, peer_qp, label, cookie, settings: None })
    }

    /// Creates a receiving end like [`Nic::open_receiver`], optionally with its own settings.
    ///
    /// # Panics
    /// As [`Nic::open_sender`] and [`Nic::set_settings`].
    pub fn open_receiving(&mut self, half: ReceiveHalf) -> QpId {
        let ReceiveHalf { peer, peer_qp, label, cookie, settings } = half;
        let qp = self.add_qp(QpAttributes {
            peer,
            // It sends only control packets, which hash as the reverse flow.
            label: reverse_label(label),
            policy: None,
            reporting: Reporting::Events(cookie),
            origin: Origin::Regular,
        });
        let qp = qp.unwrap_or_else(|error| panic!("{error}"));
        // Before it becomes ready: the responder is created with them.
        if let Some(settings) = settings {
            self.set_settings(qp, settings);
        }
        let ready = |nic: &mut Self| {
            nic.modify_qp(qp, QpState::Init)?;
            nic.set_peer_qp(qp, peer_qp)?;
            nic.modify_qp(qp, QpState::ReadyToReceive)
        };
        ready(self).expect("the queue pair is new");
        qp
    }

    /// Connects a queue pair of [`Nic::open_sender`] to its other end and makes it ready to send.
    ///
    /// # Panics
    /// If the queue pair is already connected.
    pub fn connect(&mut self, qp: QpId, peer_qp: QpId) {
        let ready = |nic: &mut Self| {
            // RTR requires the number of the other end.
            nic.set_peer_qp(qp, peer_qp)?;
            nic.modify_qp(qp, QpState::ReadyToReceive)?;
            nic.modify_qp(qp, QpState::ReadyToSend)
        };
        ready(self).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Replaces the number of the other end in packets sent from now on: the one that was given to
    /// [`Nic::connect`] was provisional.
    pub(crate) fn set_receiver(&mut self, qp: QpId, peer_qp: QpId) {
        let slot = self.qps[qp].requester;
        self.requesters[slot].connect(peer_qp);
    }

    /// Posts a WRITE of `bytes` to `qp`, which reports by events that carry `work`. The message is
    /// pinned to `path` if the policy pins and the queue pair is idle.
    ///
    /// Work posted after the retries were exceeded is flushed without an event.
    ///
    /// # Panics
    /// If `qp` is not ready to send or has completions: [`Nic::post_send`] is the verb for those.
    #[inline]
    pub fn post(&mut self, qp: QpId, bytes: Bytes, work: u64, path: u16) {
        let Qp { state, requester: slot, queues, .. } = self.qps[qp];
        if self.flushes(qp) {
            return;
        }
        assert!(queues.is_none() && state == QpState::ReadyToSend, "{qp} must be ready to send");
        self.requesters[slot].post(bytes, work, path, &self.config);
        self.make_ready(slot);
        // A requester without credit sends nothing: only its timer can ask for some.
        if self.responders.credits.is_some() {
            self.update_timer(slot);
        }
    }

    /// Posts a message as [`Nic::post`] does, at a time from which its initiation counts.
    ///
    /// # Panics
    /// As [`Nic::post`].
    pub fn post_at(&mut self, now: Time, qp: QpId, write: Write) {
        let is_held = self.hardware.as_mut().is_some_and(|it| it.hold_start(now, qp, write));
        if !is_held {
            self.post(qp, write.bytes, write.work, write.path);
        }
    }
}
