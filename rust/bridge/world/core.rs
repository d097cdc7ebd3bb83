//! What moves in an experiment: hosts, policies of switches, draws.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::contract::Measured;
use super::recording::Recording;
use super::records::{FabricMessageEvent, FabricPacket};
use super::verbs::Verbs;
use crate::balance::switch::StateSize;
use crate::endpoint::{Endpoints, Over};
use crate::fabric::parts::{Effect, Marker, Plan, PortState, Queues, Switch, Way, Ways};
use crate::fabric::parts::{link_ports, site, switch_context};
use crate::fabric::{Ecn, Setup};
use crate::ids::{HostId, PortId, SwitchId};
use crate::packet::Packet;
use crate::rng::{Purpose, Stream};
use crate::topology::Node;
use crate::units::{Bytes, Time};
use crate::workload::Message;

/// No host, and no port.
pub(super) const NONE: u32 = u32::MAX;

/// Why a message cannot be sent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PostError {
    /// There is no such host.
    #[error("message from host {src} to host {dst}: there are {hosts} hosts, from 0 on")]
    NoHost {
        /// Sender.
        src: u32,
        /// Receiver.
        dst: u32,
        /// How many there are.
        hosts: u32,
    },
    /// Nobody sends to itself.
    #[error("message from host {0} to itself: what stays in a host needs no network")]
    ToItself(u32),
    /// A message has a length.
    #[error("message of 0 bytes: it must have at least one")]
    Empty,
    /// Delays are numbered after messages.
    #[error("the workload computes between messages, so none can be added: take one that does not")]
    Delays,
}

/// Every NIC, every policy of a switch, and every draw of a run.
#[derive(Debug)]
pub(in crate::bridge) struct Core {
    pub(super) setup: Setup,
    pub(super) endpoints: Endpoints,
    ways: Ways,
    switches: Vec<Switch>,
    /// Of each port, its number in its switch.
    numbers: Vec<u32>,
    markers: Vec<Marker>,
    losses: BTreeMap<PortId, Stream>,
    plan: Plan,
    watches: bool,
    /// What programs with queue pairs of their own wait for.
    pub(super) verbs: Verbs,
    /// What the world measured.
    pub(super) measured: Measured,
    /// What is written while it runs.
    pub(super) recording: Option<Box<Recording>>,
}

/// Queues as the world tells of them.
struct Told<'a> {
    numbers: &'a [u32],
    loads: &'a [u64],
}

impl Queues for Told<'_> {
    #[inline]
    fn number(&self, port: PortId) -> u32 {
        self.numbers[port.index()]
    }

    #[inline]
    fn bytes(&self, _now: Time, port: PortId) -> u64 {
        self.loads.get(self.number(port) as usize).copied().unwrap_or(0)
    }
}

impl Core {
    pub(super) fn new(setup: &Setup) -> Self {
        let Setup { topology, fabric, scheme, seed, .. } = setup;
        let ways = Ways::new(topology, scheme);
        let ids = || (0u32..).zip(topology.switches()).map(|(id, _)| SwitchId(id));
        let ports = 2 * topology.links().len();
        let mut numbers = vec![0; ports];
        for id in ids() {
            for (number, port) in (0u32..).zip(topology.ports_of(id)) {
                numbers[port.index()] = number;
            }
        }
        let switches = ids().map(|id| {
            let context = switch_context(topology, fabric, *seed, id);
            Switch::new(&scheme.switch, &context, topology.ports_of(id))
        });
        let markers = (0u32..).take(ports).map(PortId).map(|port| {
            let ecn = match topology.ends_of(port).0 {
                Node::Switch(_) => fabric.ecn_at(topology.link(port.link()).rate),
                Node::Host(_) => Ecn::Off,
            };
            Marker::new(ecn, *seed, port)
        });
        Self {
            endpoints: Endpoints::new(site(setup, &ways.intact)),
            switches: switches.collect(),
            markers: markers.collect(),
            losses: BTreeMap::new(),
            plan: Plan::new(&fabric.failures, scheme.weights),
            watches: scheme.switch.tracks_departures(),
            verbs: Verbs::default(),
            measured: Measured::default(),
            recording: None,
            setup: setup.clone(),
            ways,
            numbers,
        }
    }

    pub(super) fn poll_transmit(
        &mut self,
        host: u32,
        now_ps: u64,
        free_ps: &mut u64,
        packet: &mut FabricPacket,
    ) -> bool {
        let nic = &mut self.endpoints.host_mut(HostId(host)).nic;
        while *free_ps <= now_ps && nic.has_packets() {
            match (nic.poll_transmit(Time::from_ps(*free_ps)), nic.next_paced()) {
                (Some(next), _) => {
                    *packet = FabricPacket::from(&next);
                    return true;
                }
                (None, Some(start)) if start.as_ps() <= now_ps => *free_ps = start.as_ps(),
                (None, _) => return false,
            }
        }
        false
    }

    pub(super) fn poll_transmit_control(&mut self, host: u32, packet: &mut FabricPacket) -> bool {
        let nic = &mut self.endpoints.host_mut(HostId(host)).nic;
        let Some(next) = nic.poll_transmit_control() else { return false };
        *packet = FabricPacket::from(&next);
        true
    }

    pub(super) fn has_packets(&self, host: u32) -> bool {
        self.endpoints.host(HostId(host)).nic.has_packets()
    }

    pub(super) fn handle_packet(&mut self, host: u32, now_ps: u64, packet: &FabricPacket) -> bool {
        let (host, now) = (HostId(host), Time::from_ps(now_ps));
        let packet = Packet::from(packet);
        match &mut self.recording {
            Some(recording) if recording.follows(host) => {
                recording.handle_packet(now, (&mut self.endpoints, host), &packet);
            }
            _ => self.endpoints.handle_packet(now, host, &packet),
        }
        self.endpoints.follow_up(now, host);
        self.collect(host, now);
        self.has_something_to_tell()
    }

    pub(super) fn handle_timeout(&mut self, host: u32, now_ps: u64) -> bool {
        let (host, now) = (HostId(host), Time::from_ps(now_ps));
        self.endpoints.handle_timeout(now, host);
        self.endpoints.follow_up(now, host);
        self.collect(host, now);
        self.has_something_to_tell()
    }

    fn has_something_to_tell(&self) -> bool {
        self.endpoints.has_something_to_tell()
            || self.verbs.has_something_to_tell()
            || self.is_finished()
    }

    pub(super) fn next_wake(&self, host: u32, now_ps: u64, free_ps: u64) -> u64 {
        if self.verbs.has_something_for(HostId(host)) {
            return now_ps;
        }
        let (now, free) = (Time::from_ps(now_ps), Time::from_ps(free_ps));
        let wake = self.endpoints.host(HostId(host)).next_wake(now, free);
        // A timer shorter than a packet can run out before anybody looks; it is late, not lost.
        wake.map_or(u64::MAX, |wake| wake.max(now).as_ps())
    }

    pub(super) fn poll_touched(&mut self) -> u32 {
        self.endpoints.poll_touched().map_or(NONE, |host| host.0)
    }

    pub(super) fn poll_message_event(&mut self, event: &mut FabricMessageEvent) -> bool {
        let Some(Over { message, at, stage }) = self.endpoints.poll_over() else { return false };
        let Message { src, dst, bytes, .. } = self.endpoints.workload().messages[message.index()];
        *event = FabricMessageEvent {
            kind: stage.into(),
            message: message.0,
            src: src.0,
            dst: dst.0,
            bytes: bytes.get(),
            start_ps: self.endpoints.ledger().started(message).as_ps(),
            at_ps: at.as_ps(),
        };
        true
    }

    pub(super) fn report_all_messages(&mut self) {
        self.endpoints.tell_all();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.endpoints.ledger().open == 0 && self.verbs.is_done()
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one call of the contract, all of it plain numbers"
    )]
    pub(super) fn post(
        &mut self,
        src: u32,
        dst: u32,
        bytes: u64,
        now_ps: u64,
        start_ps: u64,
        stream: u32,
    ) -> Result<u32, PostError> {
        let hosts = self.setup.topology.host_count();
        if src >= hosts || dst >= hosts {
            return Err(PostError::NoHost { src, dst, hosts });
        }
        if src == dst {
            return Err(PostError::ToItself(src));
        }
        if bytes == 0 {
            return Err(PostError::Empty);
        }
        if !self.endpoints.workload().delays.is_empty() {
            return Err(PostError::Delays);
        }
        let message = Message {
            src: HostId(src),
            dst: HostId(dst),
            bytes: Bytes::new(bytes),
            stream,
            start: Time::from_ps(start_ps),
        };
        Ok(self.endpoints.post(Time::from_ps(now_ps), message).0)
    }

    pub(super) fn route(
        &mut self,
        switch_number: u32,
        now_ps: u64,
        packet: &mut FabricPacket,
        loads: &[u64],
    ) -> u32 {
        let (id, now) = (SwitchId(switch_number), Time::from_ps(now_ps));
        let mut seen = Packet::from(&*packet);
        let switch = &mut self.switches[id.index()];
        let port = match self.ways.of(id, &switch.dead, &mut seen) {
            Way::None => return NONE,
            Way::Port(port) => port,
            Way::Ask(which) => {
                let queues = Told { numbers: &self.numbers, loads };
                switch.choose(now, which, &self.ways.choice(id, &seen), &queues)
            }
        };
        packet.route = seen.route;
        let number = self.numbers[port.index()];
        if self.watches {
            let passage = self.ways.passage(number, &seen);
            switch.pass(now, &mut seen, &passage);
            *packet = FabricPacket::from(&seen);
        }
        number
    }

    pub(super) fn only_port(&self, switch_number: u32, dst: u32) -> u32 {
        let id = SwitchId(switch_number);
        let dead = &self.switches[id.index()].dead;
        let only = self.ways.only(id, dead, HostId(dst)).filter(|_| !self.watches);
        only.map_or(NONE, |port| self.numbers[port.index()])
    }

    pub(super) fn marks(&mut self, port: u32, waiting_bytes: u64) -> bool {
        self.markers[port as usize].marks(Bytes::new(waiting_bytes))
    }

    pub(super) fn loses(&mut self, port: u32, numerator: u32, denominator: u32) -> bool {
        let port = PortId(port);
        let made = || Stream::new(self.setup.seed, Purpose::Loss, u64::from(port.0));
        self.losses.entry(port).or_insert_with(made).chance(numerator, denominator.max(1))
    }

    pub(super) fn apply_step(&mut self, step: u32, now_ps: u64) {
        let topology = Arc::clone(&self.setup.topology);
        match self.plan.carry_out(step, &topology, &mut self.ways) {
            // Wires are the world's.
            Effect::None | Effect::Rate(..) => {}
            Effect::Ends(link, state) => self.tell_ends(&link_ports(link), state),
            Effect::Converged => {
                self.switches.iter_mut().for_each(|switch| switch.epoch += 1);
                let now = Time::from_ps(now_ps);
                self.plan.tell_hosts(now, &topology, &self.ways, &mut self.endpoints);
            }
        }
    }

    fn tell_ends(&mut self, ports: &[PortId], state: PortState) {
        for &port in ports {
            if let Node::Switch(switch) = self.setup.topology.ends_of(port).0 {
                self.switches[switch.index()].hear(port, state);
            }
        }
    }

    /// What the policy of each switch keeps.
    pub(super) fn switch_states(&self) -> Vec<StateSize> {
        self.switches.iter().map(Switch::state).collect()
    }

    pub(super) fn record(&mut self, measured: &Measured) {
        self.measured = measured.clone();
    }
}
