//! From Reset to Error: creating queue pairs, moving them through their states, destroying them.

use std::collections::BTreeMap;

use super::{Life, Origin, Qp, QpState, Role, Slot};
use crate::balance::sender::{
    NetworkParameters, PathSpace, QpContext, Sender, SenderConfig, SenderPolicy as _, ecmp,
};
use crate::ids::{ClassId, HostId, IdMap, QpId};
use crate::nic::Nic;
use crate::nic::congestion::new_controls::NewControls;
use crate::nic::event::Owner;
use crate::nic::qp::settings::QpSettings;
use crate::nic::receive::receiver::QpEndpoints;
use crate::nic::receive::responder::Responder;
use crate::nic::send::requester::{Requester, RequesterParts, SendState};
use crate::nic::verbs::{CompletionStatus, MAX_MTU, MIN_MTU, VerbsError, WorkQueues};
use crate::packet::{Flags, Psn};
use crate::rng::mix32;
use crate::units::Span;

/// Attributes of a new queue pair.
#[derive(Debug, Clone)]
pub struct QpAttributes {
    /// The host at its other end.
    pub peer: HostId,
    /// Hash of the 5-tuple of its packets, without the entropy value.
    pub label: u32,
    /// The policy that picks entropy values; without one the queue pair only receives.
    pub policy: Option<Sender>,
    /// How the progress of its work is reported.
    pub reporting: Reporting,
    /// Whether it is the regular one of its pair of peers and message stream.
    pub origin: Origin,
}

impl QpAttributes {
    /// Returns the usual attributes of a queue pair from `host` to `peer`: its packets carry one
    /// entropy value (ECMP), and its work requests have completions.
    pub fn single_path(host: HostId, peer: HostId) -> Self {
        let context = QpContext {
            seed: 0,
            src: host,
            dst: peer,
            stream: 0,
            qp_index: 0,
            paths: PathSpace::SINGLE,
            path: 0,
            network: NetworkParameters::default(),
        };
        Self {
            peer,
            // Rotated, so that the two directions have different labels.
            label: mix32(host.0 ^ peer.0.rotate_left(16)),
            policy: Some(SenderConfig::Ecmp(ecmp::Config {}).build(&context)),
            reporting: Reporting::Completions,
            origin: Origin::Regular,
        }
    }
}

/// How the progress of a queue pair's work is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporting {
    /// By completions of its work requests ([`Nic::poll_completion`]).
    Completions,
    /// By events that carry this cookie ([`Nic::poll_event`]), for a driver that posts only WRITEs
    /// and must know when they are delivered.
    Events(u32),
}

impl Reporting {
    /// Returns the owner of the work of queue pair `id`.
    const fn owner(self, id: QpId) -> Owner {
        match self {
            Self::Completions => Owner::Program(id),
            Self::Events(cookie) => Owner::Driver(cookie),
        }
    }
}

/// A queue pair whose halves do not exist yet.
#[derive(Debug, Clone)]
pub(in crate::nic) struct PendingQp {
    attributes: QpAttributes,
    peer_qp: Option<QpId>,
    /// Base round trip, and whether all paths have it; `None` to use the NIC's.
    round_trip: Option<(Span, bool)>,
}

impl PendingQp {
    /// Passes the weights of paths to the policy of the future requester.
    pub(crate) fn handle_weights(&mut self, weights: &[u32]) {
        if let Some(policy) = &mut self.attributes.policy {
            policy.handle_weights(weights);
        }
    }
}

/// Returns the label of the control packets that answer packets with this label. A hashing switch
/// sees another flow, because ports and addresses are swapped.
pub const fn reverse_label(label: u32) -> u32 {
    mix32(label ^ 0x5f35_6495)
}

/// The queue pairs that are being set up, and the settings of single queue pairs.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct QpSetup {
    /// Queue pairs without halves.
    pending: IdMap<QpId, PendingQp>,
    /// The settings of queue pairs that differ from the NIC's.
    pub settings: BTreeMap<QpId, QpSettings>,
    /// The congestion control of the next queue pair.
    controls: NewControls,
}

impl Nic {
    /// Informs `qp` of the share of traffic that routing gives to each of its paths; see
    /// [`SenderPolicy::handle_weights`].
    ///
    /// [`SenderPolicy::handle_weights`]: crate::balance::sender::SenderPolicy::handle_weights
    pub fn handle_weights(&mut self, qp: QpId, weights: &[u32]) {
        if let Some(requester) = self.requesters.get_mut(self.qps[qp].requester) {
            requester.handle_weights(weights);
        }
        if let Some(pending) = self.qp_setup.pending.get_mut(&qp) {
            pending.handle_weights(weights);
        }
    }

    /// Gives a queue pair its own settings. Both ends must use the same recovery.
    ///
    /// # Panics
    /// If the queue pair is already connected, or its recovery cannot deliver in the configured
    /// order.
    pub fn set_settings(&mut self, qp: QpId, settings: QpSettings) {
        let delivery = self.config.delivery_with(settings.recovery);
        assert!(
            settings.recovery.supports_delivery(delivery),
            "the recovery does not support {delivery} delivery"
        );
        assert!(self.qp_setup.pending.contains_key(&qp), "{qp} is already connected");
        self.qp_setup.settings.insert(qp, settings);
    }

    /// Returns the settings of a queue pair: its own, or the NIC's.
    pub(in crate::nic) fn settings_of(&self, qp: QpId) -> QpSettings {
        let common = || {
            let (recovery, flags) = (self.config.recovery, Flags::NONE);
            QpSettings { recovery, flags, class: ClassId::default() }
        };
        self.qp_setup.settings.get(&qp).copied().unwrap_or_else(common)
    }

    /// Creates a queue pair in state Reset.
    ///
    /// # Errors
    /// If the NIC's MTU is out of range, its loss recovery cannot deliver in the configured order,
    /// or all queue pair numbers are in use.
    pub fn create_qp(&mut self, attributes: QpAttributes) -> Result<QpId, VerbsError> {
        let mtu = self.config.payload;
        if mtu < MIN_MTU || mtu > MAX_MTU {
            return Err(VerbsError::Mtu { mtu });
        }
        self.add_qp(attributes)
    }

    /// Creates a queue pair whatever the MTU is: simulators use packets of any size.
    pub(in crate::nic) fn add_qp(&mut self, attributes: QpAttributes) -> Result<QpId, VerbsError> {
        let (delivery, recovery) = (self.config.delivery(), self.config.recovery);
        if !recovery.supports_delivery(delivery) {
            let recovery = recovery.name();
            return Err(VerbsError::UnsupportedDelivery { recovery, delivery });
        }
        // Queue pair numbers have 24 bits, like PSNs (specification, volume 1, section 9.2).
        if self.qps.len() as u64 >= Psn::MODULUS {
            return Err(VerbsError::TooManyQueuePairs);
        }
        let id = QpId(Slot::last_of(self.qps.len() + 1).0);
        let queues = match attributes.reporting {
            Reporting::Events(_) => Slot::NONE,
            Reporting::Completions => {
                self.verbs.queues.push(WorkQueues::new(id));
                Slot::last_of(self.verbs.queues.len())
            }
        };
        self.qps.push(Qp {
            state: QpState::Reset,
            life: Life::Live,
            origin: attributes.origin,
            role: if attributes.policy.is_some() { Role::Both } else { Role::ReceiveOnly },
            requester: Slot::NONE,
            responder: Slot::NONE,
            queues,
        });
        self.qp_setup.pending.insert(id, PendingQp { attributes, peer_qp: None, round_trip: None });
        Ok(id)
    }

    /// Sets the longest idle round trip between the two hosts of a queue pair that is not ready
    /// yet, and whether all of their paths have it.
    pub(crate) fn set_round_trip(&mut self, qp: QpId, longest: Span, has_equal_paths: bool) {
        if let Some(pending) = self.qp_setup.pending.get_mut(&qp) {
            pending.round_trip = Some((longest, has_equal_paths));
        }
    }

    /// Sets the number of the other end of a queue pair. It must be set before it becomes ready.
    ///
    /// # Errors
    /// If there is no such queue pair, or it is already ready.
    pub fn set_peer_qp(&mut self, qp: QpId, peer_qp: QpId) -> Result<(), VerbsError> {
        let state = self.live(qp)?.state;
        match self.qp_setup.pending.get_mut(&qp) {
            Some(pending) if state <= QpState::Init => pending.peer_qp = Some(peer_qp),
            _ => return Err(VerbsError::WrongState { qp, state, verb: "set_peer_qp" }),
        }
        Ok(())
    }

    /// Moves a queue pair to another state.
    ///
    /// # Errors
    /// If there is no such queue pair, the transition is not legal, the queue pair is to receive
    /// without knowing its other end, or is to send and only receives.
    pub fn modify_qp(&mut self, qp: QpId, next: QpState) -> Result<(), VerbsError> {
        let from = self.live(qp)?.state;
        if !from.can_transition_to(next) {
            return Err(VerbsError::InvalidTransition { qp, from, to: next });
        }
        match next {
            QpState::Reset => self.reset(qp),
            QpState::ReadyToReceive => self.make_halves(qp)?,
            // No work request has this number, so all of them are flushed.
            QpState::Error => self.fail(qp, u64::MAX, CompletionStatus::Flushed),
            QpState::ReadyToSend if self.qps[qp].role == Role::ReceiveOnly => {
                return Err(VerbsError::ReceiveOnly { qp });
            }
            QpState::SendQueueDrained => self.withdraw_unstarted(qp),
            _ => {}
        }
        // Last: a transition that fails leaves the state as it was.
        self.qps[qp].state = next;
        // Only SQD lets posted work wait; after RTR and SQE there is nothing to begin.
        if next == QpState::ReadyToSend {
            self.start_queued_work(qp);
        }
        Ok(())
    }

    /// Returns the state of a queue pair.
    ///
    /// # Errors
    /// If there is no such queue pair.
    pub fn query_qp(&self, qp: QpId) -> Result<QpState, VerbsError> {
        Ok(self.live(qp)?.state)
    }

    /// Destroys a queue pair. Packets for it are dropped from now on, and its number is not reused.
    /// Work that has not completed is discarded.
    ///
    /// # Errors
    /// If there is no such queue pair.
    pub fn destroy_qp(&mut self, qp: QpId) -> Result<(), VerbsError> {
        // First: once it is destroyed, its halves could no longer be found and silenced.
        self.modify_qp(qp, QpState::Reset)?;
        self.requesters.leave_destination(self.qps[qp].requester);
        self.qps.destroy(qp);
        Ok(())
    }

    /// Returns the queue pair with this number, if it is live.
    pub(in crate::nic) fn live(&self, qp: QpId) -> Result<Qp, VerbsError> {
        let found = self.qps.get(qp).filter(|it| it.life == Life::Live);
        found.copied().ok_or(VerbsError::UnknownQp { qp })
    }

    /// Returns the host at the other end of `id`, which must exist.
    pub(in crate::nic) fn peer_of(&self, id: QpId) -> HostId {
        self.qp_setup
            .pending
            .get(&id)
            .map_or_else(|| self.endpoints_of(id).peer, |pending| pending.attributes.peer)
    }

    /// Returns the ends of `id` as its halves know them; at least one half must exist.
    fn endpoints_of(&self, id: QpId) -> QpEndpoints {
        let Qp { requester, responder, .. } = self.qps[id];
        match self.requesters.get(requester) {
            Some(requester) => requester.endpoints(),
            None => self.responders[responder].endpoints(),
        }
    }

    /// Creates the half that the queue pair needs. That is the requester if it sends: a responder
    /// can be derived from it if data ever arrives. Otherwise it is the responder.
    fn make_halves(&mut self, id: QpId) -> Result<(), VerbsError> {
        let pending = self.qp_setup.pending.get(&id).expect("pending until it is ready to receive");
        // Checked before the removal: without a peer the queue pair stays in Init.
        let peer_qp = pending.peer_qp.ok_or(VerbsError::NotConnected { qp: id })?;
        let PendingQp { attributes, round_trip, .. } =
            self.qp_setup.pending.remove(&id).expect("looked up above");
        let QpAttributes { peer, label, policy, reporting, .. } = attributes;
        let owner = reporting.owner(id);
        let Some(policy) = policy else {
            self.install_responder(
                id,
                QpEndpoints { host: self.host, peer, peer_qp, label, owner },
            );
            return Ok(());
        };
        let (host, mut port, settings) = (self.host, self.port, self.settings_of(id));
        let configured = self.config.round_trips.as_ref();
        let configured = configured.and_then(|trips| trips.between(host, peer));
        let (own, has_equal_paths) = round_trip.unwrap_or((port.base_rtt, true));
        // A configured round trip overrides the one that the driver has set.
        port.base_rtt = configured.unwrap_or(own);
        let planes = self.planes.as_ref().map_or(1, |planes| planes.count());
        let ack = self.config.ack_of(peer);
        let parts = RequesterParts {
            host,
            peer,
            label,
            owner,
            port,
            has_equal_paths,
            planes,
            policy,
            settings,
            ack,
        };
        let mut requester = Requester::new(parts, &self.config, &mut self.qp_setup.controls);
        requester.connect(peer_qp);
        // A queue pair that was reset keeps its slot, so the tables do not grow with resets. Timer
        // entries of the old requester name a slot that still exists.
        let slot = self.qps[id].requester;
        match slot.is_none() {
            true => self.qps[id].requester = self.store_requester(id, requester),
            false => {
                // The age orders events at equal times: a reset must not change it.
                requester.age = self.requesters[slot].age;
                self.requesters[slot] = requester;
            }
        }
        self.notify_new_requester(self.qps[id].requester);
        self.requesters.join_destination(self.qps[id].requester);
        Ok(())
    }

    /// Creates the responder of a queue pair whose requester exists.
    pub(in crate::nic) fn make_responder(&mut self, id: QpId) {
        let endpoints = self.endpoints_of(id);
        self.install_responder(id, endpoints);
    }

    fn new_responder(&self, id: QpId, endpoints: QpEndpoints) -> Responder {
        let recovery = self.settings_of(id).recovery;
        let responder = Responder::new(endpoints, recovery, self.config.delivery_with(recovery));
        match self.config.notifies(endpoints.peer) {
            true => responder,
            false => responder.without_notifications(),
        }
    }

    fn install_responder(&mut self, id: QpId, endpoints: QpEndpoints) {
        let responder = self.new_responder(id, endpoints);
        self.qps[id].responder = self.store_responder(responder);
    }

    /// Returns to Reset: both halves lose their state, and all work is discarded without
    /// completions.
    fn reset(&mut self, id: QpId) {
        let qp = self.qps[id];
        // A queue pair without halves was never ready: only its peer number is cleared.
        if let Some(pending) = self.qp_setup.pending.get_mut(&id) {
            pending.peer_qp = None;
        } else {
            // The facts in the halves go back into a setup, from which both can be made again.
            let QpEndpoints { peer, label, owner, .. } = self.endpoints_of(id);
            let sender = self.requesters.get(qp.requester);
            let reporting = match owner {
                Owner::Program(_) => Reporting::Completions,
                Owner::Driver(cookie) => Reporting::Events(cookie),
            };
            let attributes = QpAttributes {
                peer,
                label,
                policy: sender.map(|it| it.policy.clone()),
                reporting,
                origin: qp.origin,
            };
            self.qp_setup
                .pending
                .insert(id, PendingQp { attributes, peer_qp: None, round_trip: None });
        }
        self.reset_requester(id);
        if let Some(queues) = self.verbs.queues.get_mut(qp.queues.index()) {
            *queues = WorkQueues::new(id);
        }
        if let Some(responder) = self.responders.get(qp.responder) {
            // Arrivals that wait to be acknowledged are discarded.
            self.responders[qp.responder] = self.new_responder(id, responder.endpoints());
        }
        // The slot is not reused: the acknowledgement timers may still have an entry for it.
        self.qps[id].responder = Slot::NONE;
    }

    /// Discards the work and the packets in flight of the requester.
    pub(in crate::nic) fn reset_requester(&mut self, id: QpId) {
        let (slot, settings) = (self.qps[id].requester, self.settings_of(id));
        // First, while the requester still counts its packets in flight.
        self.requesters.forget_in_flight(slot);
        if let Some(hardware) = &mut self.hardware {
            hardware.forget_attempts(slot);
        }
        let Some(requester) = self.requesters.get_mut(slot) else { return };
        // The policy stays, with what it has learned of paths. Sequence numbers, window, rate and
        // timer start anew. A leftover timer entry no longer matches `timer_entry`.
        let ack = self.config.ack_of(requester.endpoints().peer);
        let (parts, age) = (requester.as_parts(self.port, settings, ack), requester.age);
        *requester = Requester::new(parts, &self.config, &mut self.qp_setup.controls);
        requester.age = age;
        self.unschedule(slot);
        self.make_sharers_ready(slot);
    }

    /// Removes a requester from the queue of those that may send.
    pub(in crate::nic) fn unschedule(&mut self, slot: Slot) {
        self.requesters[slot].send_state = SendState::Idle;
        self.schedule.remove(slot);
    }
}
