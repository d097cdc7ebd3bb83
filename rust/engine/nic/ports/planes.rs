//! Several ports under one NIC, each in a plane of its own.
//!
//! The plane of an entropy value is its remainder by the number of planes; under source routes the
//! quotient is the path within the plane. A policy that does not choose among free ports draws a
//! value, and its packet waits until the port of that plane is free, or takes the next free one
//! ([`SenderPolicy::TAKES_ANY_PLANE`]). While the plane of a value is unusable, the remaining ones
//! share its values (as ports of a bond do after one is lost \[inferred\]).
//!
//! [`SenderPolicy::TAKES_ANY_PLANE`]: crate::balance::sender::SenderPolicy::TAKES_ANY_PLANE
//!
//! A plane is unusable for a peer from when this NIC has detected that its own port is dead, or
//! the peer has reported that of its port ([`Nic::handle_plane`], port status). If no plane is
//! left, all of them count as usable, so that loss recovery goes on to try them.

use std::collections::BTreeMap;

use crate::balance::sender::{PathSignal, SenderPolicy as _};
use crate::ids::{HostId, QpId};
use crate::nic::Nic;
use crate::nic::ports::answer_planes::AnswerPlanes;
use crate::nic::ports::reverse::{Reverse, is_answer};
use crate::nic::qp::{Qp, Slot, answer_label};
use crate::nic::send::requester::{Next, SendState};
use crate::packet::{EndpointView, Flags, Packet, PacketKind, PlaneMask, Stamp};
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// What a NIC with several ports keeps beside its queue pairs.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Planes {
    count: u32,
    answers: AnswerPlanes,
    /// The planes of ports that are not known to be dead.
    up: PlaneMask,
    /// The usable planes of peers that reported some of their ports dead.
    peers: BTreeMap<HostId, PlaneMask>,
    /// By sending half: the value that waits for the port of its plane.
    drawn: Vec<Option<u16>>,
    /// The plane at which the search for that of the next answer begins.
    turn: u32,
    /// The ways back of queue pairs that only receive, if they probe for them.
    reverse: Option<Reverse>,
}

/// The ports whose wires are free: for data, and for answers, which a pause does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreePorts {
    /// For data.
    pub data: PlaneMask,
    /// For answers.
    pub answers: PlaneMask,
}

/// What becomes of the turn of a sending half.
enum Turn {
    /// It waits for another port.
    Waits,
    /// It has no packet, or waits for its context.
    Over,
    /// Its packet leaves by that plane.
    Sends { next: Next, plane: u32 },
}

impl Planes {
    /// How many there are.
    pub(in crate::nic) const fn count(&self) -> u32 {
        self.count
    }

    /// The planes by which packets reach `peer`.
    fn usable(&self, peer: HostId) -> PlaneMask {
        let known = self.up.or(PlaneMask::all(self.count));
        if self.peers.is_empty() {
            return known;
        }
        self.peers.get(&peer).map_or(known, |theirs| known.and(*theirs).or(known))
    }

    /// The plane of an entropy value.
    #[inline]
    fn of_entropy(&self, entropy: u16, usable: PlaneMask) -> u32 {
        let (rest, plane) = (u32::from(entropy) / self.count, u32::from(entropy) % self.count);
        match usable.has(plane) {
            true => plane,
            false => usable.nth(rest % usable.count()).expect("a plane is usable"),
        }
    }

    /// The value of the same row in another plane.
    fn moved(&self, entropy: u16, plane: u32) -> u16 {
        let row = u32::from(entropy) - u32::from(entropy) % self.count;
        // The last row has no value for some planes; the row before it has.
        let row = if row + plane > u16::MAX.into() { row - self.count } else { row };
        u16::try_from(row + plane).expect("a value of 16 bits")
    }

    /// The ways back that are found by probes, if any are.
    #[inline]
    pub(in crate::nic) fn reverse(&self) -> Option<&Reverse> {
        self.reverse.as_ref()
    }

    /// A packet with the route that is left behind the host's port.
    fn routed(&self, packet: Packet) -> Packet {
        let planes = u16::try_from(self.count).expect("at most 32");
        Packet { route: packet.entropy / planes, ..packet }
    }

    fn drawn(&mut self, slot: Slot) -> &mut Option<u16> {
        if self.drawn.len() <= slot.index() {
            self.drawn.resize(slot.index() + 1, None);
        }
        &mut self.drawn[slot.index()]
    }
}

impl Nic {
    /// Gives the NIC, which has no queue pairs yet, a port in each of `count` planes; its line rate
    /// is that of all of them. Ways back that are found by probes are drawn from `seed`.
    pub fn set_planes(&mut self, count: u32, answers: AnswerPlanes, seed: u64) {
        let random = Stream::new(seed, Purpose::Reverse, u64::from(self.host.0));
        let reverse = Reverse::new(answers, count, self.port.base_rtt, random);
        self.planes = (count > 1).then(|| {
            Box::new(Planes {
                count,
                answers,
                up: PlaneMask::all(count),
                peers: BTreeMap::new(),
                drawn: Vec::new(),
                turn: 0,
                reverse,
            })
        });
    }

    /// The packet that starts at `now` on one of the free ports, and its plane: answers first, then
    /// queue pairs in turn, without those whose packet waits for another port.
    pub fn poll_transmit_on(&mut self, now: Time, free: FreePorts) -> Option<(Packet, u32)> {
        if let Some(answer) = self.poll_answer_on(free.answers) {
            return Some(answer);
        }
        if free.data.is_empty() {
            return None;
        }
        self.end_pauses(now);
        let mut index = 0;
        while let Some(&slot) = self.schedule.ready.get(index) {
            match self.with_windows(slot, |nic| nic.take_turn(now, slot, free.data)) {
                Turn::Waits => index += 1,
                Turn::Over => drop(self.schedule.ready.remove(index)),
                Turn::Sends { next, plane } => {
                    self.schedule.ready.remove(index);
                    let mut packet = Packet::default();
                    self.with_windows(slot, |nic| nic.transmit(now, slot, next, &mut packet));
                    self.requesters.end_turn(slot);
                    let planes = self.planes.as_ref().expect("a NIC with several ports");
                    return Some((planes.routed(packet), plane));
                }
            }
        }
        None
    }

    /// Takes a packet that came by one of several ports.
    #[inline(never)]
    pub(in crate::nic) fn handle_packet_of_plane(&mut self, now: Time, packet: &Packet) {
        if let Some(reverse) = self.planes.as_ref().and_then(|planes| planes.reverse()) {
            let packet = reverse.received(packet);
            self.handle_received(now, &packet);
            if !packet.is_control() {
                self.probe_way_back(now, packet.qp);
            }
            return;
        }
        self.handle_received(now, packet);
    }

    /// What becomes of the turn of a sending half, which has its windows.
    #[inline(always)]
    fn take_turn(&mut self, now: Time, slot: Slot, free: PlaneMask) -> Turn {
        let requester = &mut self.requesters[slot];
        let Some(next) = requester.next_packet() else {
            requester.send_state = SendState::Idle;
            return Turn::Over;
        };
        if let Some(cache) = &mut self.cache
            && let Some(miss) = cache.send(self.requesters.qp_of(slot))
        {
            let requester = &mut self.requesters[slot];
            requester.send_state = SendState::Paced;
            let turn = requester.turn(slot);
            self.schedule.paced.push(now.saturating_add(miss), turn);
            return Turn::Over;
        }
        match self.choose(now, slot, free) {
            Some((entropy, plane)) => {
                Turn::Sends { next: Next { entropy: Some(entropy), ..next }, plane }
            }
            None => Turn::Waits,
        }
    }

    /// The entropy value of the next packet of a sending half, and its plane; `None` if that
    /// packet waits for a port.
    fn choose(&mut self, now: Time, slot: Slot, free: PlaneMask) -> Option<(u16, u32)> {
        let requester = &mut self.requesters[slot];
        let planes = self.planes.as_mut().expect("a NIC with several ports");
        let usable = planes.usable(requester.peer());
        let entropy = match planes.drawn(slot).take() {
            Some(entropy) => entropy,
            None => requester.choose(now, free.and(usable))?,
        };
        let plane = planes.of_entropy(entropy, usable);
        if free.has(plane) {
            return Some((entropy, plane));
        }
        let others = || requester.open(free).and(usable);
        if requester.policy.takes_any_plane()
            && let Some(other) = others().next_from(plane)
        {
            return Some((planes.moved(entropy, other), other));
        }
        *planes.drawn(slot) = Some(entropy);
        None
    }

    /// The first answer that may leave by one of these planes.
    fn poll_answer_on(&mut self, free: PlaneMask) -> Option<(Packet, u32)> {
        let planes = self.planes.as_mut()?;
        if free.is_empty() || self.out.control.is_empty() {
            return None;
        }
        let plane_of = |packet: &Packet| {
            let usable = planes.usable(packet.dst);
            let of_its_own = matches!(packet.kind, PacketKind::Probe | PacketKind::ProbeReply);
            if planes.answers == AnswerPlanes::Echo || of_its_own {
                return Some(planes.of_entropy(packet.entropy, usable)).filter(|&it| free.has(it));
            }
            free.and(usable).next_from(planes.turn)
        };
        let found = self
            .out
            .control
            .iter()
            .map(plane_of)
            .enumerate()
            .find_map(|(index, plane)| plane.map(|plane| (index, plane)));
        let (index, plane) = found?;
        let packet = self.out.control.remove(index)?;
        planes.turn = (plane + 1) % planes.count;
        self.out.counters.control_sent += 1;
        match &planes.reverse {
            Some(reverse) if is_answer(&packet) => Some((reverse.directed(packet, plane), plane)),
            _ => Some((planes.routed(packet), plane)),
        }
    }

    /// The NIC detects that its port in `plane` is dead, or works again: it tells its queue pairs,
    /// and its peers by a port status.
    pub fn handle_plane(&mut self, now: Time, plane: u32, is_up: bool) {
        let Some(planes) = &mut self.planes else { return };
        let before = planes.up;
        planes.up = if is_up { before.with(plane) } else { before.without(plane) };
        if planes.up == before {
            return;
        }
        let status = planes.up;
        self.inform_senders(now, None);
        for peer in self.peers() {
            self.push_endpoint(peer, Packet::port_status(status));
        }
    }

    /// The hosts at the other ends of its queue pairs.
    fn peers(&self) -> Vec<HostId> {
        let ids = self.qps.iter().map(|(number, _)| QpId(number as u32));
        let mut peers: Vec<HostId> =
            ids.filter(|&id| self.live(id).is_ok()).map(|id| self.peer_of(id)).collect();
        peers.sort_unstable();
        peers.dedup();
        peers
    }

    /// Informs the policies of sending halves, those to `peer` or all, of usable planes.
    fn inform_senders(&mut self, now: Time, peer: Option<HostId>) {
        let Some(planes) = &self.planes else { return };
        for requester in self.requesters.iter_mut() {
            if peer.is_none_or(|peer| peer == requester.peer()) {
                requester.policy.handle_planes(now, planes.usable(requester.peer()));
            }
        }
        for count in 1..=self.requesters.len() {
            self.update_timer(Slot::last_of(count));
        }
    }

    /// Informs the policy of a new sending half of planes that are already known to be unusable.
    pub(in crate::nic) fn inform_new_sender(&mut self, slot: Slot) {
        let Some(planes) = &self.planes else { return };
        let requester = &mut self.requesters[slot];
        let usable = planes.usable(requester.peer());
        if usable != PlaneMask::all(planes.count) {
            requester.policy.handle_planes(Time::ZERO, usable);
        }
    }

    fn push_endpoint(&mut self, to: HostId, packet: Packet) {
        let flags = Flags::PRIORITY.when(self.config.ack.priority);
        let wire_bytes = self.config.ack.wire_bytes(0);
        self.out.control.push_back(Packet { src: self.host, dst: to, wire_bytes, flags, ..packet });
    }

    /// Takes a packet that is for no queue pair.
    pub(in crate::nic) fn handle_endpoint(&mut self, now: Time, packet: EndpointView<'_>) {
        self.out.counters.control_received += 1;
        match packet.kind {
            PacketKind::Probe => {
                let reply = Packet::probe_reply(packet);
                let (label, route) = (answer_label(packet.label), packet.entropy);
                self.push_endpoint(packet.src, Packet { label, route, ..reply });
            }
            PacketKind::ProbeReply => self.handle_probe_reply(now, packet),
            PacketKind::CreditRequest => self.handle_credit_request(now, packet),
            PacketKind::PortStatus => {
                let Some(planes) = &mut self.planes else { return };
                match packet.usable() == PlaneMask::all(planes.count) {
                    true => drop(planes.peers.remove(&packet.src)),
                    false => drop(planes.peers.insert(packet.src, packet.usable())),
                }
                self.inform_senders(now, Some(packet.src));
            }
            _ => unreachable!("the view has these kinds alone"),
        }
    }

    fn handle_probe_reply(&mut self, now: Time, packet: EndpointView<'_>) {
        let Some(qp) = self.qps.get(packet.prober()) else { return };
        let slot = qp.requester;
        if slot.is_none() {
            let responder = self.responders.get(qp.responder);
            let reverse = self.planes.as_mut().and_then(|planes| planes.reverse.as_mut());
            if let (Some(responder), Some(reverse)) = (responder, reverse) {
                let peer = responder.as_peer();
                reverse.handle_reply((peer.peer, peer.peer_qp), packet.entropy);
            }
            return;
        }
        let signal = match packet.flags.has(Flags::MARKED) {
            true => PathSignal::Marked,
            false => PathSignal::Good,
        };
        self.requesters[slot].policy.handle_probe(now, packet.entropy, signal);
        self.make_ready(slot);
        self.update_timer(slot);
    }

    /// Data has come in for the receiving half of `qp`: if it only receives, and a probe of its way
    /// back is due, sends that.
    pub(in crate::nic) fn probe_way_back(&mut self, now: Time, qp: QpId) {
        let Some(Qp { requester, responder, .. }) = self.qps.get(qp).copied() else {
            return;
        };
        let Some(responder) = self.responders.get(responder) else { return };
        let Some(planes) = self.planes.as_mut().filter(|_| requester.is_none()) else { return };
        let peer = responder.as_peer();
        let usable = planes.usable(peer.peer);
        let of = (peer.peer, peer.peer_qp);
        let due = planes.reverse.as_mut().and_then(|it| it.poll_probe(now, of, usable));
        let Some(entropy) = due else { return };
        let probe = Packet::probe(qp, Stamp::at(now));
        self.push_endpoint(
            peer.peer,
            Packet { label: peer.label, entropy, route: entropy, ..probe },
        );
    }

    /// Sends the probes of a sending half that are due.
    pub(in crate::nic) fn push_probes(&mut self, now: Time, slot: Slot) {
        let own = self.requesters.qp_of(slot);
        while let Some(probe) = self.requesters[slot].poll_probe(now, own) {
            let flags = probe.flags.with(Flags::PRIORITY.when(self.config.ack.priority));
            let wire_bytes = self.config.ack.wire_bytes(0);
            self.out.control.push_back(Packet { src: self.host, wire_bytes, flags, ..probe });
        }
    }
}
