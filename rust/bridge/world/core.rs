//! The moving parts of an experiment: hosts, switch policies and random draws.

use evenkeel_engine::endpoint::{Endpoints, MessageEvent, PortPolls, PortStart, Ports};
use evenkeel_engine::fabric::Setup;
use evenkeel_engine::ids::{HostId, PortId, SwitchId};
use evenkeel_engine::nic::Mismatch;
use evenkeel_engine::packet::{Packet, PlaneMask};
use evenkeel_engine::switching::{PortLoads, StepEffect, Switching};
use evenkeel_engine::topology::Node;
use evenkeel_engine::units::{Bytes, Span, Time};
use evenkeel_engine::workload::Message;

use super::classes::PortSchedulers;
use super::contract::{Graph, Measured};
use super::graph::graph;
use super::mismatch::mismatch_text;
use super::records::{FabricMessageEvent, FabricPacket, FabricSettings};
use super::verbs::Verbs;

/// Stands for no host or no port.
pub(super) const NONE: u32 = u32::MAX;

/// Why a message cannot be sent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PostError {
    /// There is no such host.
    #[error("message from host {src} to host {dst}: there are {hosts} hosts, numbered from 0")]
    NoHost {
        /// Number of the sending host.
        src: u32,
        /// Number of the receiving host.
        dst: u32,
        /// The number of hosts.
        hosts: u32,
    },
    /// Both ends are the same host.
    #[error("message from host {0} to itself: expected two different hosts")]
    ToItself(u32),
    /// The message has no payload.
    #[error("message of 0 bytes: it must have at least one byte")]
    Empty,
    /// The NICs at its ends cannot have a queue pair.
    #[error("{}", mismatch_text(*.src, *.dst, .mismatch))]
    Mismatch {
        /// Number of the sending host.
        src: u32,
        /// Number of the receiving host.
        dst: u32,
        /// The difference.
        mismatch: Mismatch,
    },
    /// The workload has delays. Their ids follow those of messages, so no message can be added.
    #[error("messages cannot be added to a workload that computes between messages")]
    Delays,
}

/// Every NIC, every switch decision and every random draw of a run.
#[derive(Debug)]
pub(crate) struct Core {
    pub(super) setup: Setup,
    pub(super) endpoints: Endpoints,
    pub(super) switching: Switching,
    /// The time up to which each NIC has been polled, by host; empty unless hosts are multi-port.
    polls: Vec<PortPolls>,
    /// The queue pairs of programs: open work and completions.
    pub(super) verbs: Verbs,
    /// The simulator's measurements.
    pub(super) measured: Measured,
    /// The class scheduling of switch ports, if data has traffic classes.
    pub(super) schedulers: Option<PortSchedulers>,
}

/// The loads of a switch's ports as the simulator reports them, by index.
struct ReportedLoads<'a>(&'a [u64]);

impl PortLoads for ReportedLoads<'_> {
    #[inline]
    fn bytes(&self, _port: PortId, index: u32) -> u64 {
        self.0.get(index as usize).copied().unwrap_or(0)
    }
}

impl Core {
    pub(super) fn new(setup: &Setup) -> Self {
        let switching = setup.switching();
        let several = match setup.topology.planes().count() {
            0 | 1 => 0,
            _ => setup.topology.host_count() as usize,
        };
        Self {
            endpoints: Endpoints::new(setup.site(&switching)),
            switching,
            polls: vec![PortPolls::from(Time::ZERO); several],
            verbs: Verbs::default(),
            measured: Measured::default(),
            schedulers: PortSchedulers::of(setup),
            setup: setup.clone(),
        }
    }

    pub(super) fn graph(&self) -> Graph {
        graph(&self.setup.topology)
    }

    pub(super) fn settings(&self) -> FabricSettings {
        let Setup { fabric, nic, own_nics, time_limit, .. } = &self.setup;
        let pfc = fabric.switch.pfc;
        FabricSettings {
            pfc: pfc.is_some(),
            pfc_pause_time_ps: pfc.and_then(|pfc| pfc.pause_time).map_or(u64::MAX, Span::as_ps),
            gap_bytes: u32::try_from(fabric.gap.get()).unwrap_or(u32::MAX),
            forwarding_delay_ps: fabric.forwarding_delay.as_ps(),
            rounding: fabric.rounding.into(),
            ack_priority: nic.ack.priority || own_nics.values().any(|nic| nic.ack.priority),
            looks_at_queues: self.setup.policies().for_switches().switch.uses_queue_lengths(),
            time_limit_ps: time_limit.as_ps(),
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
                // The pacer permits a packet only from `start` on: poll again at that time.
                (None, Some(start)) if start.as_ps() <= now_ps => *free_ps = start.as_ps(),
                (None, _) => return false,
            }
        }
        false
    }

    pub(super) fn poll_transmit_control(&mut self, host: u32, packet: &mut FabricPacket) -> bool {
        let nic = &mut self.endpoints.host_mut(HostId(host)).nic;
        // Without priority, control packets wait behind paused data.
        if !nic.control_has_priority() {
            return false;
        }
        let Some(next) = nic.poll_transmit_control() else { return false };
        *packet = FabricPacket::from(&next);
        true
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one call of the contract, all of it plain numbers"
    )]
    pub(super) fn poll_transmit_on(
        &mut self,
        host: u32,
        now_ps: u64,
        free_ps: &[u64],
        paused: u32,
        start_ps: &mut u64,
        plane: &mut u32,
        packet: &mut FabricPacket,
    ) -> bool {
        let host = HostId(host);
        let Some(polls) = self.polls.get_mut(host.index()) else { return false };
        let nic = &mut self.endpoints.host_mut(host).nic;
        let ports = Ports {
            free: free_ps.iter().copied().map(Time::from_ps),
            paused: PlaneMask::from_bits(paused),
            answers_pass: nic.control_has_priority(),
        };
        let Some(start) = polls.poll(Time::from_ps(now_ps), nic, ports) else { return false };
        let PortStart { at, plane: of, packet: next } = start;
        (*start_ps, *plane, *packet) = (at.as_ps(), of, FabricPacket::from(&next));
        true
    }

    pub(super) fn poll_anew(&mut self, host: u32, now_ps: u64) {
        if let Some(polls) = self.polls.get_mut(HostId(host).index()) {
            *polls = PortPolls::from(Time::from_ps(now_ps));
        }
    }

    pub(super) fn has_packets(&self, host: u32) -> bool {
        self.endpoints.host(HostId(host)).nic.has_packets()
    }

    pub(super) fn handle_packet(&mut self, host: u32, now_ps: u64, packet: &FabricPacket) -> bool {
        let (host, now) = (HostId(host), Time::from_ps(now_ps));
        let packet = Packet::from(packet);
        self.endpoints.handle_packet(now, host, &packet);
        self.endpoints.follow_up(now, host);
        self.collect(host, now);
        self.has_results()
    }

    pub(super) fn handle_timeout(&mut self, host: u32, now_ps: u64) -> bool {
        let (host, now) = (HostId(host), Time::from_ps(now_ps));
        self.endpoints.handle_timeout(now, host);
        self.endpoints.follow_up(now, host);
        self.collect(host, now);
        self.has_results()
    }

    /// True if a poll has something to return, or everything is finished.
    fn has_results(&self) -> bool {
        self.endpoints.has_pending_reports() || self.verbs.has_completions() || self.is_finished()
    }

    pub(super) fn next_wake(&self, host: u32, now_ps: u64, free_ps: u64) -> u64 {
        // A verb may have completed work without a packet, so the host must be woken to report it.
        if self.verbs.has_completions_of(HostId(host)) {
            return now_ps;
        }
        let (now, free) = (Time::from_ps(now_ps), Time::from_ps(free_ps));
        // Packets polled up to this time wait for a port, not for their time: do not wake earlier.
        let polled = self.polls.get(HostId(host).index()).map_or(Time::ZERO, PortPolls::at);
        let free = free.max(polled);
        let wake = self.endpoints.host(HostId(host)).next_wake(now, free);
        wake.map_or(u64::MAX, Time::as_ps)
    }

    pub(super) fn poll_touched(&mut self) -> u32 {
        self.endpoints.poll_touched().map_or(NONE, |host| host.0)
    }

    pub(super) fn poll_message_event(&mut self, event: &mut FabricMessageEvent) -> bool {
        let Some(next) = self.endpoints.poll_message_event() else { return false };
        let MessageEvent { message, at, kind } = next;
        let Message { src, dst, bytes, .. } = *self.endpoints.message(message);
        *event = FabricMessageEvent {
            kind: kind.into(),
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
        self.endpoints.report_all_messages();
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
        if let Some(mismatch) = self.endpoints.mismatch(HostId(src), HostId(dst), stream) {
            return Err(PostError::Mismatch { src, dst, mismatch });
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
        let mut routed = packet.as_data();
        let (switch, now) = (SwitchId(switch_number), Time::from_ps(now_ps));
        let port = self.switching.route(now, switch, &mut routed, &ReportedLoads(loads));
        *packet = FabricPacket { kind: packet.kind, ..FabricPacket::from(&routed) };
        port.map_or(NONE, |port| self.switching.port_index(port))
    }

    pub(super) fn only_port(&self, switch_number: u32, dst: u32) -> u32 {
        let only = self.switching.only_next_hop(SwitchId(switch_number), HostId(dst));
        only.map_or(NONE, |port| self.switching.port_index(port))
    }

    pub(super) fn place(&self, now_ps: u64, port: u32) -> u32 {
        self.switching.ties().rank_of(now_ps, port)
    }

    pub(super) fn apply_step(&mut self, step: u32, now_ps: u64) {
        let at = self.switching.steps()[step as usize].at;
        debug_assert_eq!(at.as_ps(), now_ps, "a step takes effect at its time");
        match self.switching.apply_step(step) {
            // The simulator has the wires and applies rate changes itself.
            StepEffect::None | StepEffect::Rate(..) => {}
            StepEffect::HostPort(port, is_up) => {
                self.handle_host_port(Time::from_ps(now_ps), port, is_up);
            }
            StepEffect::Converged(state) => self.endpoints.handle_routing(state),
        }
    }

    /// Notifies a host's NIC that its port is dead, or works again.
    fn handle_host_port(&mut self, now: Time, port: PortId, is_up: bool) {
        let topology = &self.setup.topology;
        let Node::Host(host) = topology.ends_of(port).0 else { return };
        let ports = topology.planes().ports_of(host);
        if let Some((plane, _)) = (0u32..).zip(ports).find(|&(_, &other)| other == port) {
            self.endpoints.handle_plane(now, host, plane, is_up);
        }
    }

    pub(super) fn record(&mut self, measured: &Measured) {
        self.measured = measured.clone();
    }
}
