//! Switches and links: everything they decide about a packet, in whatever world packets move.
//!
//! This layer is to switches what [`crate::endpoint`] is to hosts. One [`Switching`] holds the
//! forwarding tables, every switch's policy and memory accounting, ECN markers, priority flow
//! control (PFC), lossy links and the plan of failures. It is sans-IO: it has no event queue, holds
//! no packet and knows no port's queue. A world moves packets and time, and asks:
//!
//! - which port a packet leaves by: [`Switching::route`]; or, where queues have to be brought up to
//!   date before a policy looks at them, [`Switching::decide`] (or [`Switching::decide_detour`]),
//!   [`Switching::choose`] and [`Switching::handle_departure`], after
//!   [`Switching::hashed_port`], which mostly is enough;
//! - whether a packet that cannot start at once is queued, trimmed or dropped:
//!   [`Switching::admit`], then [`Switching::account_enqueue`] and [`Switching::account_dequeue`],
//!   whose answers are the PFC frames to send;
//! - whether a packet is marked: [`Switching::mark`];
//! - whether a link loses it: [`Switching::loses`];
//! - what changes when a failure starts, ends or becomes known: [`Switching::steps`] lists the
//!   times, [`Switching::apply_step`] carries one out and returns what is left for the world to do.
//!
//! Two worlds own such a value: [`crate::fabric`] in Rust, and through the bridge the ns-3 module.
//! The ns-3 module asks for routes, marks, draws of losses and failures. Some rules it has of its
//! own in C++, because a call across the language border for each packet that joins a queue, leaves
//! one or arrives would cost more than the rule:
//!
//! - buffers and trimming (`fabric-switch-port.cc`), and the counters of PFC (`fabric-pfc.cc`),
//!   from the limits of [`Switching::ingress_limits`] and [`Switching::shared_pool`];
//! - outages (`fabric-faults.cc`): it merges those of a link that overlap, and tests the time of
//!   each packet against them; only the draws of lossy links are asked for.
//!
//! A test of both worlds compares them to the picosecond.

mod admission;
mod cbfc;
mod classes;
mod config;
mod detours;
mod ecn;
mod failing;
mod failure_plan;
mod forwarding_table;
mod llr;
mod loss;
mod pfc;
mod switch;
mod telemetry;
mod ties;
mod trimming;

use std::sync::Arc;

pub use admission::{Admission, EnqueueRequest, Waiting};
pub use cbfc::{CREDIT_FRAME_BYTES, Credit, MOST_CREDITS};
pub use classes::{ClassConfig, MOST_CLASSES, Scheduling};
pub use config::{
    Buffer, CbfcConfig, Direction, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Headroom,
    PfcAdmission, PfcConfig, Rounding, SlowPorts, SwitchConfig, TrimConfig, TrimVictim,
};
pub use failure_plan::{Step, StepKind};
pub use forwarding_table::{ForwardingDecision, PolicyChoice};
pub use llr::{Afterwards, LlrConfig};
pub use loss::Flight;
pub use pfc::{IngressLimits, PFC_FRAME_BYTES};
pub use switch::PortLoads;
pub use telemetry::Telemeter;
pub use ties::{TieOrder, Ties};

pub use cbfc::LinkCredits;

use admission::PacketMemory;
use detours::Detours;
use ecn::Marker;
use failure_plan::FailurePlan;
use forwarding_table::ForwardingTable;
use loss::Losses;
use switch::Switch;

use crate::balance::Scheme;
use crate::balance::switch::StateSize;
use crate::balance::switch::hash::Hash;
use crate::ids::{HostId, LinkClass, LinkId, PortId, SwitchId};
use crate::packet::{Flags, Packet, PauseOrder};
use crate::rng::Stream;
use crate::topology::{LinkState, Node, Routes, Topology};
use crate::units::{BitRate, Bytes, Time};

/// All switches of a fabric, and the failures of its links.
#[derive(Debug)]
pub struct Switching {
    topology: Arc<Topology>,
    table: ForwardingTable,
    switches: Vec<Switch>,
    /// By switch, where every switch chooses by the hash of ECMP alone; else empty.
    hashes: Vec<Hash>,
    /// Whether routing and these hashes alone decide: no dead port, no weights, no path that a
    /// source chose.
    hashes_decide: bool,
    /// By port: its index among the ports of its switch; 0 for ports of hosts.
    port_indices: Vec<u32>,
    /// By port; empty if no port marks.
    markers: Vec<Marker>,
    /// No port marks a packet at the start of its wait that finds no more bytes than these, nor at
    /// the end of it.
    marking_floors: [u32; 2],
    /// Where marking is decided.
    ecn_point: EcnPoint,
    memory: PacketMemory,
    /// By port; empty unless chance decides which packet is trimmed.
    coins: Vec<Stream>,
    losses: Losses,
    ties: Ties,
    llr: Option<LlrConfig>,
    plan: FailurePlan,
    /// Whether buffers and thresholds of degraded ports shrink.
    scales_ports: bool,
    uses_queue_lengths: bool,
    tracks_departures: bool,
    /// Where packets may go first; `None` if they take minimal routes.
    detours: Option<Detours>,
    /// Whether any switch has ever detected a port as dead.
    has_dead_ports: bool,
}

/// The work of a world after a step of the failure plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEffect {
    /// Nothing: switching has dealt with the step.
    None,
    /// Packets that start on the link from now on are sent at these rates, by its ports.
    Rate(LinkId, [BitRate; 2]),
    /// The NIC of the host that this port is of detects that its link is down, or (`true`) up
    /// again; only of hosts with several ports.
    HostPort(PortId, bool),
    /// Routing has converged: hosts that choose paths themselves are to be informed.
    Converged(LinkState),
}

impl Switching {
    /// The switches of `topology` before anything has happened, balancing by `scheme`; every
    /// random draw comes from `seed`.
    pub fn new(
        topology: &Arc<Topology>,
        config: &FabricConfig,
        scheme: &Scheme,
        seed: u64,
    ) -> Self {
        let ids = || (0u32..).map(SwitchId).take(topology.switches().len());
        let mut port_indices = vec![0; 2 * topology.links().len()];
        for switch in ids() {
            for (index, port) in (0u32..).zip(topology.ports_of(switch)) {
                port_indices[port.index()] = index;
            }
        }
        let switches = ids().map(|id| {
            let context = switch::context(topology, config, seed, id);
            Switch::new(scheme, &context)
        });
        let switches: Vec<Switch> = switches.collect();
        let hashes = switches.iter().map(Switch::hash).collect::<Option<Vec<_>>>();
        let markers = ecn::markers(topology, config, seed);
        let mut switching = Self {
            hashes: hashes.unwrap_or_default(),
            hashes_decide: false,
            switches,
            table: ForwardingTable::new(topology, scheme),
            port_indices,
            marking_floors: ecn::floors(&markers, config.switch.ecn_point),
            ecn_point: config.switch.ecn_point,
            markers,
            memory: PacketMemory::new(config, topology),
            coins: trimming::coins(topology, config, seed),
            losses: Losses::new(&config.failures, config.llr, seed),
            ties: Ties::new(config.ties, seed, 2 * topology.links().len()),
            llr: config.llr,
            plan: FailurePlan::new(&config.failures, scheme.weights),
            scales_ports: config.scales_ports(),
            uses_queue_lengths: scheme.switch.uses_queue_lengths(),
            tracks_departures: scheme.switch.tracks_departures(),
            detours: scheme.switch.takes_detours().then(|| Detours::of(topology)).flatten(),
            has_dead_ports: false,
            topology: topology.clone(),
        };
        switching.refresh_hash_fast_path();
        switching
    }

    /// Recomputes the fast path where hashes alone decide, after each step of the failure plan.
    fn refresh_hash_fast_path(&mut self) {
        self.hashes_decide = !self.hashes.is_empty()
            && !self.has_dead_ports
            && !self.tracks_departures
            && self.detours.is_none()
            && self.table.follows_routing();
    }
}

/// Forwarding: the port that a packet leaves its switch by.
impl Switching {
    /// The port by which `packet` leaves `switch`, where the switch's policy may have written to
    /// it; `None` if there is no path. For worlds whose `loads` are always up to date.
    #[inline]
    pub fn route(
        &mut self,
        now: Time,
        switch: SwitchId,
        packet: &mut Packet,
        loads: &impl PortLoads,
    ) -> Option<PortId> {
        let decision = match self.takes_detours() {
            true => self.decide_detour(switch, packet, loads),
            false => self.decide(switch, packet),
        };
        let port = match decision {
            ForwardingDecision::Drop => return None,
            ForwardingDecision::Port(port) => port,
            ForwardingDecision::Choose(choice) => self.choose(now, choice, packet, loads),
        };
        self.handle_departure(now, port, packet);
        Some(port)
    }

    /// The port by which `packet` leaves `switch`, where that is what routing or a hash says and
    /// nothing else has a say; `None` where the other calls are to be asked.
    #[inline(always)]
    pub fn hashed_port(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        if !self.hashes_decide {
            return None;
        }
        let pick = |ports: &[PortId]| {
            let hash = self.hashes[switch.index()];
            ports[hash.pick(packet.label, packet.entropy, ports.len() as u32) as usize]
        };
        self.table.port_by(switch, packet.dst, pick)
    }

    /// The result of the forwarding table for a packet in `switch`. From a source-routed packet it
    /// removes the part of the path that was for this switch.
    #[inline(always)]
    pub fn decide(&self, switch: SwitchId, packet: &mut Packet) -> ForwardingDecision {
        let dead = match self.has_dead_ports {
            true => self.switches[switch.index()].dead_ports(),
            false => &[],
        };
        self.table.decide(switch, dead, packet)
    }

    /// The choice of a switch's policy among the candidate ports for `packet`.
    #[inline]
    pub fn choose(
        &mut self,
        now: Time,
        choice: PolicyChoice,
        packet: &Packet,
        loads: &impl PortLoads,
    ) -> PortId {
        let candidates = self.table.candidates(choice, packet);
        let (indices, topology) = (&self.port_indices, &self.topology);
        let ports = switch::Ports { loads, indices, topology };
        let switch = &mut self.switches[choice.switch.index()];
        switch.choose(now, choice.among, &candidates, &ports)
    }

    /// Shows a switch's policy a packet that leaves by `port`; the policy may write to the
    /// packet's load-balancing fields. Does nothing for policies that do not track departures.
    #[cold]
    pub fn handle_departure(&mut self, now: Time, port: PortId, packet: &mut Packet) {
        if !self.tracks_departures {
            return;
        }
        if let Node::Switch(switch) = self.topology.ends_of(port).0 {
            let departure = self.table.departure(self.port_indices[port.index()], packet);
            self.switches[switch.index()].handle_departure(now, packet, &departure);
        }
    }

    /// The output ports of a switch, in order of its links.
    #[inline]
    pub fn ports_of(&self, switch: SwitchId) -> &[PortId] {
        self.topology.ports_of(switch)
    }

    /// The equal-cost ports of `switch` towards `dst`, as routing has them now.
    #[inline]
    pub fn next_hops(&self, switch: SwitchId, dst: HostId) -> &[PortId] {
        self.table.next_hops(switch, dst)
    }

    /// The equal-cost ports of `switch` towards `dst` that it has not detected as dead, each with
    /// its weight; if all of them are dead, all with the weight 1: packets are then lost there.
    pub fn weighted_next_hops(&self, switch: SwitchId, dst: HostId) -> Vec<(PortId, u32)> {
        let (ports, weights) = self.table.weighted(switch, dst);
        let weight = |index: usize| weights.map_or(1, |weights| weights[index]);
        let dead = self.switches[switch.index()].dead_ports();
        let all = ports.iter().enumerate().map(|(index, &port)| (port, weight(index)));
        let alive: Vec<_> =
            all.filter(|(port, weight)| *weight > 0 && !dead.contains(port)).collect();
        match alive.is_empty() {
            true => ports.iter().map(|&port| (port, 1)).collect(),
            false => alive,
        }
    }

    /// The port that every packet to `dst` leaves `switch` by until the next step of the failure
    /// plan; `None` if the choice depends on the packet, if the policy tracks departures, or if
    /// there is no path.
    pub fn only_next_hop(&self, switch: SwitchId, dst: HostId) -> Option<PortId> {
        // The answer is cached by worlds that then skip the switch; a policy that tracks departures
        // has to see every packet.
        if self.tracks_departures || self.takes_detours() {
            return None;
        }
        self.table.only_next_hop(switch, self.switches[switch.index()].dead_ports(), dst)
    }

    /// The index of a port among those of its switch, in order of its links; 0 for ports of hosts.
    #[inline]
    pub fn port_index(&self, port: PortId) -> u32 {
        self.port_indices[port.index()]
    }

    /// True if policies are shown every packet that leaves a switch.
    #[inline]
    pub fn tracks_departures(&self) -> bool {
        self.tracks_departures
    }

    /// True if policies look at the loads of ports, which then have to be up to date.
    #[inline]
    pub fn uses_queue_lengths(&self) -> bool {
        self.uses_queue_lengths
    }

    /// Next hops without failures, to which explicit paths refer.
    pub fn intact_routes(&self) -> &Arc<Routes> {
        self.table.intact()
    }

    /// The state of each switch's policy, by switch.
    pub fn states(&self) -> Vec<StateSize> {
        self.switches.iter().map(Switch::state).collect()
    }
}

/// Queues: marking, admission and priority flow control.
impl Switching {
    /// False if no packet that finds `waiting` bytes is marked at `point`.
    #[inline(always)]
    pub fn may_mark(&self, point: EcnPoint, waiting: u32) -> bool {
        // A point that is never in use costs this comparison alone.
        waiting > self.marking_floors[point as usize]
    }

    /// Marks `packet` if marking is decided at `point` and `waiting` bytes without priority at
    /// `port`, not counting the packet, call for it. Control packets are never marked.
    #[inline]
    pub fn mark(&mut self, point: EcnPoint, port: PortId, waiting: u32, packet: &mut Packet) {
        // The draw comes last: a packet that cannot be marked must not advance the stream of its
        // port.
        if self.may_mark(point, waiting)
            && !packet.is_control()
            && self.markers[port.index()].marks(Bytes::new(waiting.into()))
        {
            packet.flags = packet.flags.with(Flags::MARKED);
            self.markers[port.index()].marked += 1;
        }
    }

    /// How many packets were marked at each port, by port id; empty if no port marks.
    pub fn marked(&self) -> Vec<u64> {
        self.markers.iter().map(|marker| marker.marked).collect()
    }

    /// Whether `port` marks a data packet that finds `waiting` bytes without priority. On the
    /// ramp of RED this is a random draw.
    pub fn marks(&mut self, port: PortId, waiting: Bytes) -> bool {
        self.markers.get_mut(port.index()).is_some_and(|marker| marker.marks(waiting))
    }

    /// True if `packet` exceeds the free memory of `switch` in a shared buffer by the count so far.
    /// A world whose count lags behind the wires brings it up to date then, before it asks to
    /// [`Self::admit`] the packet.
    #[inline]
    pub fn exceeds_shared_buffer(&self, switch: SwitchId, packet: &Packet) -> bool {
        self.memory.exceeds_shared_buffer(switch, packet)
    }

    /// Counts a packet of `bytes` that cannot start at once and is to join a queue of `waiting`
    /// bytes, where nothing but the room in the buffer has a say; false, and nothing counted, if
    /// there is none by the count so far, or with flow control or trimming.
    #[inline(always)]
    pub fn adds_plainly(&mut self, switch: SwitchId, waiting: u32, bytes: u16) -> bool {
        self.memory.adds_plainly(switch, waiting.into(), bytes.into())
    }

    /// Decides about a packet that cannot start at once. A trimmed packet is cut to its header by
    /// this call.
    #[inline]
    pub fn admit(&self, request: &EnqueueRequest, packet: &mut Packet) -> Admission {
        if self.memory.has_room(request, packet) {
            return Admission::Admitted;
        }
        // Asked only for packets that are trimmed, so that admission needs no look at the topology.
        let last_hop = || matches!(self.topology.ends_of(request.port).1, Node::Host(_));
        match self.memory.trim(request, packet, last_hop) {
            true => Admission::Trimmed,
            false => Admission::Dropped,
        }
    }

    /// Counts `bytes` that join a queue of `switch`. With PFC, packets without priority count
    /// against the link that they came by and their class, `ingress`; a frame is then to be sent
    /// back over that link if the answer is an order.
    #[inline]
    pub fn account_enqueue(
        &mut self,
        switch: SwitchId,
        bytes: u64,
        ingress: Option<LinkClass>,
    ) -> Option<PauseOrder> {
        self.memory.account_enqueue(switch, bytes, ingress)
    }

    /// Counts bytes that start from a queue of `switch`, as [`Self::account_enqueue`].
    #[inline]
    pub fn account_dequeue(
        &mut self,
        switch: SwitchId,
        bytes: u64,
        ingress: Option<LinkClass>,
    ) -> Option<PauseOrder> {
        self.memory.account_dequeue(switch, bytes, ingress)
    }

    /// True if links have flow control, by pauses (PFC) or by credit (CBFC).
    #[inline]
    pub fn has_flow_control(&self) -> bool {
        self.memory.has_flow_control()
    }

    /// The credits of links, if links have credit-based flow control.
    pub fn credits(&mut self) -> Option<LinkCredits<'_>> {
        self.memory.cbfc_mut().map(LinkCredits)
    }

    /// The memory that is kept for a class of a link that ends at a switch; `None` without PFC.
    pub fn ingress_limits(&self, from: LinkClass) -> Option<IngressLimits> {
        self.memory.pfc().map(|pfc| pfc.limits(from))
    }
}
