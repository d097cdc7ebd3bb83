//! Queue pairs that report by events: the short way for a world that posts WRITEs alone and must
//! know when they are delivered.

use crate::balance::sender::Sender;
use crate::ids::{HostId, QpId};
use crate::nic::Nic;
use crate::nic::qp::settings::QpSettings;
use crate::nic::qp::{Origin, Qp, QpAttributes, QpState, Reporting, answer_label};
use crate::units::Bytes;

/// What a new sending half is made of.
#[derive(Debug, Clone)]
pub struct SendHalf {
    /// The host that its packets go to.
    pub peer: HostId,
    /// Hash of the 5-tuple without the entropy value.
    pub label: u32,
    /// The cookie of its events.
    pub cookie: u32,
    /// True for a queue pair that a splitter asked for beyond one a pair and stream.
    pub extra: bool,
    /// What picks its entropy values.
    pub policy: Sender,
}

/// What a new receiving half is made of.
#[derive(Debug, Clone, Copy)]
pub struct ReceiveHalf {
    /// The host of the sender.
    pub peer: HostId,
    /// The number of the sender's queue pair.
    pub peer_qp: QpId,
    /// The label of the sender's packets.
    pub label: u32,
    /// The cookie of its events.
    pub cookie: u32,
    /// Its settings, unless they are those of the NIC.
    pub settings: Option<QpSettings>,
}

impl Nic {
    /// Makes room for `count` more queue pairs to send on, if there is none for one: where a
    /// message is cut into many flows, their memory is not copied again and again as they come.
    pub(crate) fn expect_senders(&mut self, count: usize) {
        if self.qps.free.requesters.is_empty() {
            self.requesters.expect(count);
        }
        self.qps.expect(count);
    }

    /// The same for queue pairs that only receive.
    pub(crate) fn expect_receivers(&mut self, count: usize) {
        if self.qps.free.responders.is_empty() {
            self.responders.expect(count);
        }
        self.qps.expect(count);
    }

    /// Makes a queue pair to send on; [`Nic::connect`] completes it. With [`Nic::open_receiver`]
    /// it is the short way to a queue pair that reports by events, and takes an MTU of any size.
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
        self.modify_qp(qp, QpState::Init).expect("it is new");
        qp
    }

    /// Makes the queue pair at the other end of the sender `peer_qp` at `peer`, whose packets have
    /// `label`. It only receives, and is ready to.
    ///
    /// # Panics
    /// As [`Nic::open_sender`].
    pub fn open_receiver(&mut self, peer: HostId, peer_qp: QpId, label: u32, cookie: u32) -> QpId {
        self.open_receiving(ReceiveHalf { peer, peer_qp, label, cookie, settings: None })
    }

    /// As [`Nic::open_receiver`], where the queue pair may have settings of its own.
    ///
    /// # Panics
    /// As [`Nic::open_sender`] and [`Nic::set_settings`].
    pub fn open_receiving(&mut self, half: ReceiveHalf) -> QpId {
        let ReceiveHalf { peer, peer_qp, label, cookie, settings } = half;
        let qp = self.add_qp(QpAttributes {
            peer,
            label: answer_label(label),
            policy: None,
            reporting: Reporting::Events(cookie),
            origin: Origin::Regular,
        });
        let qp = qp.unwrap_or_else(|error| panic!("{error}"));
        if let Some(settings) = settings {
            self.set_settings(qp, settings);
        }
        let ready = |nic: &mut Self| {
            nic.modify_qp(qp, QpState::Init)?;
            nic.set_peer_qp(qp, peer_qp)?;
            nic.modify_qp(qp, QpState::ReadyToReceive)
        };
        ready(self).expect("it is new");
        qp
    }

    /// Connects a queue pair of [`Nic::open_sender`] to its other end, which makes it ready to
    /// send.
    ///
    /// # Panics
    /// If the queue pair is connected already.
    pub fn connect(&mut self, qp: QpId, peer_qp: QpId) {
        let ready = |nic: &mut Self| {
            nic.set_peer_qp(qp, peer_qp)?;
            nic.modify_qp(qp, QpState::ReadyToReceive)?;
            nic.modify_qp(qp, QpState::ReadyToSend)
        };
        ready(self).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Gives the packets that a connected queue pair sends from now on another number of its other
    /// end: the one that was given to [`Nic::connect`] was provisional.
    pub(crate) fn set_receiver(&mut self, qp: QpId, peer_qp: QpId) {
        let slot = self.qps[qp].requester;
        self.requesters[slot].connect(peer_qp);
    }

    /// Puts a WRITE of `bytes` on `qp`, which reports by events; `work` is its name in them, `path`
    /// where it is pinned if the policy pins and the queue pair is idle.
    ///
    /// # Panics
    /// If `qp` is not ready to send or has completions: [`Nic::post_send`] is the verb for those.
    #[inline]
    pub fn post(&mut self, qp: QpId, bytes: Bytes, work: u64, path: u16) {
        let Qp { state, requester: slot, queues, .. } = self.qps[qp];
        assert!(queues.is_none() && state == QpState::ReadyToSend, "{qp} must be ready to send");
        self.requesters[slot].post(bytes, work, path, &self.config);
        self.make_ready(slot);
        if self.responders.credits.is_some() {
            self.update_timer(slot);
        }
    }
}
