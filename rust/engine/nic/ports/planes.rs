//! Several ports on one NIC, each in its own plane.
//!
//! The plane of an entropy value is the value modulo the number of planes. With source routes, the
//! quotient is the path within the plane. A policy that does not choose among free ports draws a
//! value first. Its packet then waits for the port of that plane, or takes the next free port
//! ([`SenderPolicy::TAKES_ANY_PLANE`]). While the plane of a value is unusable, its values are
//! shared among the remaining planes (as a bond does after losing a port \[inferred\]).
//!
//! [`SenderPolicy::TAKES_ANY_PLANE`]: crate::balance::sender::SenderPolicy::TAKES_ANY_PLANE
//!
//! A plane is unusable for a peer if the port at either end is dead. This NIC detects its own dead
//! ports ([`Nic::handle_plane`]); the peer reports its own by a port status. If no plane is left,
//! all of them count as usable, so that loss recovery keeps trying.

use std::collections::BTreeMap;

use crate::balance::sender::{PathSignal, SenderPolicy as _};
use crate::ids::{HostId, QpId};
use crate::nic::Nic;
use crate::nic::ports::control_paths::ControlPaths;
use crate::nic::ports::reverse::{ReversePaths, is_acknowledgement};
use crate::nic::qp::{Qp, Slot, reverse_label};
use crate::nic::send::requester::{Next, SendState};
use crate::packet::{EndpointView, Flags, Packet, PacketKind, PlaneMask, Stamp};
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// The state of a NIC with several ports, apart from its queue pairs.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Planes {
    count: u32,
    answers: ControlPaths,
    /// The planes of ports that are not known to be dead.
    up: PlaneMask,
    /// The usable planes of peers that reported dead ports.
    peers: BTreeMap<HostId, PlaneMask>,
    /// By requester: the value that waits for the port of its plane.
    pending_values: Vec<Option<u16>>,
    /// The plane at which the search for the next control packet's plane starts.
    next_plane: u32,
    /// The reverse paths of queue pairs that only receive, if they are probed.
    reverse: Option<ReversePaths>,
}

/// The ports whose wires are free. A pause holds data but not control packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreePorts {
    /// Ports free for data.
    pub data: PlaneMask,
    /// Ports free for control packets.
    pub control: PlaneMask,
}

/// The outcome of a requester's turn.
enum Turn {
    /// It waits for another port.
    Waiting,
    /// It has no packet, or waits for its context to be loaded.
    Done,
    /// Its packet leaves by this plane.
    Sends { next: Next, plane: u32 },
}

impl Planes {
    /// Number of planes.
    pub(in crate::nic) const fn count(&self) -> u32 {
        self.count
    }

    /// The planes by which packets reach `peer`; never empty.
    fn usable(&self, peer: HostId) -> PlaneMask {
        let known = self.up.or(PlaneMask::all(self.count));
        // Usually no port is dead: skips the map.
        if self.peers.is_empty() {
            return known;
        }
        self.peers.get(&peer).map_or(known, |theirs| known.and(*theirs).or(known))
    }

    /// The plane of an entropy value. The values of an unusable plane are spread over the usable
    /// ones.
    #[inline]
    fn plane_of(&self, entropy: u16, usable: PlaneMask) -> u32 {
        // The quotient spreads them evenly; the remainder is the same for all values of a plane.
        let (rest, plane) = (u32::from(entropy) / self.count, u32::from(entropy) % self.count);
        match usable.has(plane) {
            true => plane,
            false => usable.nth(rest % usable.count()).expect("a plane is usable"),
        }
    }

    /// The value in the same row (same quotient) of another plane.
    fn in_plane(&self, entropy: u16, plane: u32) -> u16 {
        let row = u32::from(entropy) - u32::from(entropy) % self.count;
        // The last row may be incomplete; the row before it has a value for every plane.
        let row = if row + plane > u16::MAX.into() { row - self.count } else { row };
        u16::try_from(row + plane).expect("entropy values have 16 bits")
    }

    /// The reverse paths that probes found; `None` if the NIC does not probe for them.
    #[inline]
    pub(in crate::nic) fn reverse(&self) -> Option<&ReversePaths> {
        self.reverse.as_ref()
    }

    /// Sets the packet's route to the path within its plane, as used behind the host's port.
    fn with_route(&self, packet: Packet) -> Packet {
        let planes = u16::try_from(self.count).expect("at most 32 planes");
        Packet { route: packet.entropy / planes, ..packet }
    }

    fn pending_value(&mut self, slot: Slot) -> &mut Option<u16> {
        // Grown on demand: queue pairs may be added at any time.
        if self.pending_values.len() <= slot.index() {
            self.pending_values.resize(slot.index() + 1, None);
        }
        &mut self.pending_values[slot.index()]
    }
}

impl Nic {
    /// Gives the NIC one port in each of `count` planes; its line rate is their sum. Must be called
    /// before it has queue pairs. Values to probe are drawn from `seed`.
    pub fn set_planes(&mut self, count: u32, answers: ControlPaths, seed: u64) {
        let random = Stream::new(seed, Purpose::Reverse, u64::from(self.host.0));
        let reverse = ReversePaths::new(answers, count, self.port.base_rtt, random);
        // With one plane the NIC keeps the path for a single port.
        self.planes = (count > 1).then(|| {
            Box::new(Planes {
                count,
                answers,
                up: PlaneMask::all(count),
                peers: BTreeMap::new(),
                pending_values: Vec::new(),
                next_plane: 0,
                reverse,
            })
        });
    }

    /// Returns the packet that starts at `now` on a free port, and its plane. Control packets go
    /// first. Queue pairs follow round-robin, except those whose packet waits for another port.
    pub fn poll_transmit_on(&mut self, now: Time, free: FreePorts) -> Option<(Packet, u32)> {
        if let Some(packet) = self.poll_control_on(free.control) {
            return Some(packet);
        }
        if free.data.is_empty() || self.is_held(now) {
            return None;
        }
        self.end_pauses(now);
        let mut index = 0;
        while let Some(&slot) = self.schedule.ready.get(index) {
            match self.with_windows(slot, |nic| nic.take_turn(now, slot, free.data)) {
                // It keeps its position in the queue, but does not block those behind it.
                Turn::Waiting => index += 1,
                Turn::Done => drop(self.schedule.ready.remove(index)),
                Turn::Sends { next, plane } => {
                    self.schedule.ready.remove(index);
                    // Removed first: `transmit` may enqueue the requester again, at the end.
                    let mut packet = Packet::default();
                    self.with_windows(slot, |nic| nic.transmit(now, slot, next, &mut packet));
                    self.requesters.end_turn(slot);
                    let planes = self.planes.as_ref().expect("a NIC with several ports");
                    return Some((planes.with_route(packet), plane));
                }
            }
        }
        None
    }

    /// Handles a packet on a NIC with several ports.
    // Out of line: NICs with one port should not pay for this code.
    #[inline(never)]
    pub(in crate::nic) fn handle_packet_from_plane(&mut self, now: Time, packet: &Packet) {
        if let Some(reverse) = self.planes.as_ref().and_then(|planes| planes.reverse()) {
            let packet = reverse.restore_echo(packet);
            self.handle_received(now, &packet);
            if !packet.is_control() {
                self.probe_reverse_path(now, packet.qp);
            }
            return;
        }
        self.handle_received(now, packet);
    }

    /// Takes the turn of a requester that holds its windows.
    #[inline(always)]
    fn take_turn(&mut self, now: Time, slot: Slot, free: PlaneMask) -> Turn {
        let requester = &mut self.requesters[slot];
        // Its window may have closed, or acknowledgements left it nothing to send.
        let Some(next) = requester.next_packet() else {
            requester.send_state = SendState::Idle;
            return Turn::Done;
        };
        if let Some(cache) = &mut self.cache
            && let Some(miss) = cache.send(self.requesters.qp_of(slot))
        {
            let requester = &mut self.requesters[slot];
            requester.send_state = SendState::Paced;
            // A context-cache miss delays the packet; the requester is queued again when it is
            // loaded.
            let turn = requester.turn(slot);
            self.schedule.paced.push(now.saturating_add(miss), turn);
            return Turn::Done;
        }
        match self.choose(now, slot, free) {
            Some((entropy, plane)) => {
                Turn::Sends { next: Next { entropy: Some(entropy), ..next }, plane }
            }
            None => Turn::Waiting,
        }
    }

    /// Returns the entropy value of a requester's next packet, and its plane; `None` if the packet
    /// waits for a port.
    fn choose(&mut self, now: Time, slot: Slot, free: PlaneMask) -> Option<(u16, u32)> {
        let requester = &mut self.requesters[slot];
        let planes = self.planes.as_mut().expect("a NIC with several ports");
        let usable = planes.usable(requester.peer());
        // A value that was drawn in an earlier turn is kept: the policy chooses once per packet.
        let entropy = match planes.pending_value(slot).take() {
            Some(entropy) => entropy,
            None => requester.choose(now, free.and(usable))?,
        };
        let plane = planes.plane_of(entropy, usable);
        // Always with a window for each path: its policy chose among those of free planes.
        if free.has(plane) {
            return Some((entropy, plane));
        }
        let alternatives = || requester.open_among(free).and(usable);
        if requester.policy.takes_any_plane()
            && let Some(other) = alternatives().next_from(plane)
        {
            return Some((planes.in_plane(entropy, other), other));
        }
        *planes.pending_value(slot) = Some(entropy);
        None
    }

    /// Returns the first control packet that may leave by a free plane.
    fn poll_control_on(&mut self, free: PlaneMask) -> Option<(Packet, u32)> {
        let planes = self.planes.as_mut()?;
        // The common case: nothing to send, so no plane is looked up.
        if free.is_empty() || self.out.control.is_empty() {
            return None;
        }
        let free_plane_for = |packet: &Packet| {
            let usable = planes.usable(packet.dst);
            // A probe tests the path of its own value, so it cannot move to another plane.
            let keeps_own_plane = matches!(packet.kind, PacketKind::Probe | PacketKind::ProbeReply);
            if planes.answers == ControlPaths::Echo || keeps_own_plane {
                return Some(planes.plane_of(packet.entropy, usable)).filter(|&it| free.has(it));
            }
            free.and(usable).next_from(planes.next_plane)
        };
        // The first that can leave, not the head: a busy plane does not block the others.
        let found = self
            .out
            .control
            .iter()
            .map(free_plane_for)
            .enumerate()
            .find_map(|(index, plane)| plane.map(|plane| (index, plane)));
        let (index, plane) = found?;
        let packet = self.out.control.remove(index)?;
        // Round-robin: the next search starts behind this plane.
        planes.next_plane = (plane + 1) % planes.count;
        self.out.counters.control_sent += 1;
        // Probes and their replies are not redirected: `is_acknowledgement` is false for them.
        match &planes.reverse {
            Some(reverse) if is_acknowledgement(&packet) => {
                Some((reverse.set_reverse_path(packet, plane), plane))
            }
            _ => Some((planes.with_route(packet), plane)),
        }
    }

    /// The NIC has detected that its port in `plane` is dead, or works again. It notifies its
    /// queue pairs, and its peers by a port status.
    pub fn handle_plane(&mut self, now: Time, plane: u32, is_up: bool) {
        let Some(planes) = &mut self.planes else { return };
        let before = planes.up;
        planes.up = if is_up { before.with(plane) } else { before.without(plane) };
        // Already known: peers need no second port status.
        if planes.up == before {
            return;
        }
        let status = planes.up;
        self.notify_requesters(now, None);
        for peer in self.peers() {
            self.push_endpoint(peer, Packet::port_status(status));
        }
    }

    /// The hosts at the other ends of its queue pairs, without duplicates.
    fn peers(&self) -> Vec<HostId> {
        let ids = self.qps.iter().map(|(number, _)| QpId(number as u32));
        let mut peers: Vec<HostId> =
            ids.filter(|&id| self.live(id).is_ok()).map(|id| self.peer_of(id)).collect();
        peers.sort_unstable();
        peers.dedup();
        peers
    }

    /// Notifies the policies of all requesters, or only those to `peer`, of the usable planes.
    fn notify_requesters(&mut self, now: Time, peer: Option<HostId>) {
        let Some(planes) = &self.planes else { return };
        for requester in self.requesters.iter_mut() {
            if peer.is_none_or(|peer| peer == requester.peer()) {
                requester.policy.handle_planes(now, planes.usable(requester.peer()));
            }
        }
        // The policies may have changed the times of their next probes.
        for count in 1..=self.requesters.len() {
            self.update_timer(Slot::last_of(count));
        }
    }

    /// Notifies the policy of a new requester of planes that are already known to be unusable.
    pub(in crate::nic) fn notify_new_requester(&mut self, slot: Slot) {
        let Some(planes) = &self.planes else { return };
        let requester = &mut self.requesters[slot];
        let usable = planes.usable(requester.peer());
        // All planes usable is what a new policy assumes.
        if usable != PlaneMask::all(planes.count) {
            requester.policy.handle_planes(Time::ZERO, usable);
        }
    }

    fn push_endpoint(&mut self, to: HostId, packet: Packet) {
        let flags = Flags::PRIORITY.when(self.config.ack.priority);
        let wire_bytes = self.config.ack.wire_bytes(0);
        self.out.control.push_back(Packet { src: self.host, dst: to, wire_bytes, flags, ..packet });
    }

    /// Handles a packet that is addressed to the NIC, not to a queue pair.
    pub(in crate::nic) fn handle_endpoint(&mut self, now: Time, packet: EndpointView<'_>) {
        self.out.counters.control_received += 1;
        match packet.kind {
            PacketKind::Probe => {
                let reply = Packet::probe_reply(packet);
                // The reply returns by the same entropy value: both directions of the path are
                // tested.
                let (label, route) = (reverse_label(packet.label), packet.entropy);
                self.push_endpoint(packet.src, Packet { label, route, ..reply });
            }
            PacketKind::ProbeReply => self.handle_probe_reply(now, packet),
            PacketKind::CreditRequest => self.handle_credit_request(now, packet),
            PacketKind::PortStatus => {
                let Some(planes) = &mut self.planes else { return };
                match packet.usable() == PlaneMask::all(planes.count) {
                    // The map holds only peers with dead ports, so that `usable` can skip an empty
                    // one.
                    true => drop(planes.peers.remove(&packet.src)),
                    false => drop(planes.peers.insert(packet.src, packet.usable())),
                }
                self.notify_requesters(now, Some(packet.src));
            }
            _ => unreachable!("the view has only these kinds"),
        }
    }

    fn handle_probe_reply(&mut self, now: Time, packet: EndpointView<'_>) {
        let Some(qp) = self.qps.get(packet.prober()) else { return };
        // A queue pair that only receives probes its reverse path; senders leave it to the policy.
        let slot = qp.requester;
        if slot.is_none() {
            let responder = self.responders.get(qp.responder);
            let reverse = self.planes.as_mut().and_then(|planes| planes.reverse.as_mut());
            if let (Some(responder), Some(reverse)) = (responder, reverse) {
                let endpoints = responder.endpoints();
                reverse.handle_reply((endpoints.peer, endpoints.peer_qp), packet.entropy);
            }
            return;
        }
        let signal = match packet.flags.has(Flags::MARKED) {
            true => PathSignal::Marked,
            false => PathSignal::Good,
        };
        if let Some(prober) = self.requesters[slot].policy.prober() {
            prober.handle_probe(now, packet.entropy, signal);
        }
        // The probe may have given the policy a path to send on, or changed its next probe time.
        self.make_ready(slot);
        self.update_timer(slot);
    }

    /// Called when data has arrived for the responder of `qp`. Sends a probe of the reverse path if
    /// the queue pair only receives and a probe is due.
    pub(in crate::nic) fn probe_reverse_path(&mut self, now: Time, qp: QpId) {
        let Some(Qp { requester, responder, .. }) = self.qps.get(qp).copied() else {
            return;
        };
        let Some(responder) = self.responders.get(responder) else { return };
        let Some(planes) = self.planes.as_mut().filter(|_| requester.is_none()) else { return };
        let endpoints = responder.endpoints();
        let usable = planes.usable(endpoints.peer);
        let of = (endpoints.peer, endpoints.peer_qp);
        let due = planes.reverse.as_mut().and_then(|it| it.poll_probe(now, of, usable));
        let Some(entropy) = due else { return };
        let probe = Packet::probe(qp, Stamp::at(now));
        self.push_endpoint(
            endpoints.peer,
            Packet { label: endpoints.label, entropy, route: entropy, ..probe },
        );
    }

    /// Sends the due probes of a requester.
    pub(in crate::nic) fn push_probes(&mut self, now: Time, slot: Slot) {
        let own = self.requesters.qp_of(slot);
        while let Some(probe) = self.requesters[slot].poll_probe(now, own) {
            let flags = probe.flags.with(Flags::PRIORITY.when(self.config.ack.priority));
            let wire_bytes = self.config.ack.wire_bytes(0);
            self.out.control.push_back(Packet { src: self.host, wire_bytes, flags, ..probe });
        }
    }
}
