//! Switches and links: every decision about a packet, independent of how packets are moved.
//!
//! This layer is to switches what [`crate::endpoint`] is to hosts. One [`Switching`] holds the
//! forwarding tables, every switch's policy and memory accounting, ECN markers, priority flow
//! control (PFC), lossy links and the failure plan. It is sans-IO: it has no event queue and holds
//! neither packets nor queues. A driver moves packets and time, and asks:
//!
//! - which port a packet leaves by: [`Switching::route`]. If queues must be updated before a policy
//!   looks at them, the driver first tries [`Switching::hashed_port`], which is usually enough.
//!   Otherwise it calls [`Switching::decide`] (or [`Switching::decide_detour`]),
//!   [`Switching::choose`] and [`Switching::handle_departure`];
//! - whether a packet that cannot start immediately is queued, trimmed or dropped:
//!   [`Switching::admit`], then [`Switching::account_enqueue`] and [`Switching::account_dequeue`],
//!   which return the PFC frames to send;
//! - whether a packet is marked: [`Switching::mark`];
//! - whether a link loses it: [`Switching::loses`];
//! - what changes when a failure starts, ends or becomes known: [`Switching::steps`] lists the
//!   times, and [`Switching::apply_step`] applies a step and returns the driver's remaining work.
//!
//! There are two drivers: [`crate::fabric`] in Rust, and the ns-3 module through the bridge, which
//! has its own queues, wires and events. A test compares both drivers to the picosecond.

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
pub use cbfc::{CREDIT_FRAME_BYTES, Credit, MAX_CREDITS};
pub use classes::{ClassConfig, MOST_CLASSES, Scheduling};
pub use config::{
    Buffer, CbfcConfig, Direction, Ecn, EcnPoint, FabricConfig, Failure, FailureKind, Headroom,
    PfcAdmission, PfcConfig, Rounding, SlowPorts, SwitchConfig, TrimConfig, TrimVictim,
};
pub use failure_plan::{Step, StepKind};
pub use forwarding_table::{ForwardingDecision, PolicyChoice};
pub use llr::{AfterProtection, LlrConfig};
pub use loss::Flight;
pub use pfc::PFC_FRAME_BYTES;
pub use switch::PortLoads;
pub use telemetry::TelemetryWriter;
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
    /// By switch, if every switch uses the ECMP hash for all packets; otherwise empty.
    hashes: Vec<Hash>,
    /// True if routing and these hashes alone decide: no dead port, no weights, no source routes.
    hashes_decide: bool,
    /// By port: its index among the ports of its switch; 0 for host ports.
    port_indices: Vec<u32>,
    /// By port; empty if no port marks.
    markers: Vec<Marker>,
    /// Queue lengths in bytes up to which no port marks, at enqueue and at dequeue.
    marking_floors: [u32; 2],
    /// The point at which marking is decided.
    ecn_point: EcnPoint,
    memory: PacketMemory,
    /// By port; empty unless chance decides which packet is trimmed.
    trim_draws: Vec<Stream>,
    losses: Losses,
    ties: Ties,
    llr: Option<LlrConfig>,
    plan: FailurePlan,
    /// Whether buffers and thresholds of degraded ports shrink.
    scales_ports: bool,
    uses_queue_lengths: bool,
    tracks_departures: bool,
    /// Intermediate switches of non-minimal routes; `None` if all packets take minimal routes.
    detours: Option<Detours>,
    /// Whether any switch has ever detected a port as dead.
    has_dead_ports: bool,
}

/// The driver's remaining work after a step of the failure plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEffect {
    /// Nothing: switching has handled the step.
    None,
    /// The rates of the link's two ports for packets that start from now on.
    Rate(LinkId, [BitRate; 2]),
    /// The NIC that owns this port detects that its link is down, or up again (`true`). Only for
    /// hosts with several ports.
    HostPort(PortId, bool),
    /// Routing has converged; hosts that choose paths themselves must be notified.
    Converged(LinkState),
}

impl Switching {
    /// Creates the switches of `topology` in their initial state. `seed` determines every random
    /// draw.
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
            trim_draws: trimming::trim_draws(topology, config, seed),
            losses: Losses::new(&config.failures, config.llr, seed),
            ties: Ties::new(config.ties, seed, 2 * topology.links().len()),
            llr: config.llr,
            plan: FailurePlan::new(&config.failures, scheme.weights),
            scales_ports: config.scales_ports(),
            uses_queue_lengths: scheme.switch.uses_queue_lengths(),
            tracks_departures: scheme.switch.tracks_departures(),
            detours: scheme.switch.uses_detours().then(|| Detours::of(topology)).flatten(),
            has_dead_ports: false,
            topology: topology.clone(),
        };
        switching.refresh_hash_fast_path();
        switching
    }

    /// Updates the hash fast path; called after each step of the failure plan.
    fn refresh_hash_fast_path(&mut self) {
        self.hashes_decide = !self.hashes.is_empty()
            && !self.has_dead_ports
            && !self.tracks_departures
            && self.detours.is_none()
            && self.table.follows_routing();
    }
}

/// Forwarding: the port by which a packet leaves its switch.
impl Switching {
    /// Returns the port by which `packet` leaves `switch`, or `None` if there is no path. The
    /// policy may write to the packet. For drivers whose `loads` are always up to date.
    #[inline]
    pub fn route(
        &mut self,
        now: Time,
        switch: SwitchId,
        packet: &mut Packet,
        loads: &impl PortLoads,
    ) -> Option<PortId> {
        let decision = match self.uses_detours() {
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

    /// Fast path: returns the output port if routing or a hash alone decides. `None` means that the
    /// driver must use the slow path.
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

    /// Looks up `packet` in the forwarding table of `switch`. For a source-routed packet, consumes
    /// this switch's part of the path.
    #[inline(always)]
    pub fn decide(&self, switch: SwitchId, packet: &mut Packet) -> ForwardingDecision {
        let dead = match self.has_dead_ports {
            true => self.switches[switch.index()].dead_ports(),
            false => &[],
        };
        self.table.decide(switch, dead, packet)
    }

    /// Lets a switch's policy choose among the candidate ports for `packet`.
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

    /// Notifies a switch's policy that a packet leaves by `port`. The policy may write to the
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

    /// Returns the output ports of a switch, in link order.
    #[inline]
    pub fn ports_of(&self, switch: SwitchId) -> &[PortId] {
        self.topology.ports_of(switch)
    }

    /// Returns the equal-cost ports of `switch` towards `dst` in the current routing state.
    #[inline]
    pub fn next_hops(&self, switch: SwitchId, dst: HostId) -> &[PortId] {
        self.table.next_hops(switch, dst)
    }

    /// Returns the equal-cost ports of `switch` towards `dst` that it has not detected as dead,
    /// with their weights. If all are dead, returns all of them with weight 1: packets are then
    /// lost there.
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

    /// Returns the only port by which packets to `dst` leave `switch` until the next step of the
    /// failure plan. Returns `None` if the choice depends on the packet, if the policy tracks
    /// departures, or if there is no path.
    pub fn only_next_hop(&self, switch: SwitchId, dst: HostId) -> Option<PortId> {
        // Drivers cache the answer and then skip the switch, but these policies must see every
        // packet.
        if self.tracks_departures || self.uses_detours() {
            return None;
        }
        self.table.only_next_hop(switch, self.switches[switch.index()].dead_ports(), dst)
    }

    /// Returns the index of a port among those of its switch, in link order; 0 for host ports.
    #[inline]
    pub fn port_index(&self, port: PortId) -> u32 {
        self.port_indices[port.index()]
    }

    /// Returns true if policies are notified of every packet that leaves a switch.
    #[inline]
    pub fn tracks_departures(&self) -> bool {
        self.tracks_departures
    }

    /// Returns true if policies look at port loads, which must then be up to date.
    #[inline]
    pub fn uses_queue_lengths(&self) -> bool {
        self.uses_queue_lengths
    }

    /// Returns the next hops without failures, which explicit paths refer to.
    pub fn intact_routes(&self) -> &Arc<Routes> {
        self.table.intact()
    }

    /// Returns the state size of each switch's policy, by switch.
    pub fn states(&self) -> Vec<StateSize> {
        self.switches.iter().map(Switch::state).collect()
    }
}

/// Queues: marking, admission and priority flow control.
impl Switching {
    /// Returns false if no packet that finds `waiting` bytes is marked at `point`.
    #[inline(always)]
    pub fn may_mark(&self, point: EcnPoint, waiting: u32) -> bool {
        // The floor of an unused point is the maximum, so it costs only this comparison.
        waiting > self.marking_floors[point as usize]
    }

    /// Marks `packet` if marking is decided at `point` and `waiting` calls for it. `waiting` is the
    /// data bytes queued at `port`, without the packet. Control packets are never marked.
    #[inline]
    pub fn mark(&mut self, point: EcnPoint, port: PortId, waiting: u32, packet: &mut Packet) {
        // The draw comes last: a packet that cannot be marked must not advance the port's stream.
        if self.may_mark(point, waiting)
            && !packet.is_control()
            && self.markers[port.index()].marks(Bytes::new(waiting.into()))
        {
            packet.flags = packet.flags.with(Flags::MARKED);
            self.markers[port.index()].marked += 1;
        }
    }

    /// Returns the number of marked packets by port id; empty if no port marks.
    pub fn marked(&self) -> Vec<u64> {
        self.markers.iter().map(|marker| marker.marked).collect()
    }

    /// Returns true if `port` marks a data packet that finds `waiting` data bytes. On the RED ramp
    /// this is a random draw.
    pub fn marks(&mut self, port: PortId, waiting: Bytes) -> bool {
        self.markers.get_mut(port.index()).is_some_and(|marker| marker.marks(waiting))
    }

    /// Returns true if `packet` exceeds the counted free memory of a shared buffer. A driver whose
    /// count lags behind the wires updates it then, before it calls [`Self::admit`].
    #[inline]
    pub fn exceeds_shared_buffer(&self, switch: SwitchId, packet: &Packet) -> bool {
        self.memory.exceeds_shared_buffer(switch, packet)
    }

    /// Fast path: counts a packet of `bytes` that is enqueued behind `waiting` bytes, if only
    /// buffer room matters. Returns false and counts nothing if there is no room by the current
    /// count, or with flow control or trimming.
    #[inline(always)]
    pub fn try_enqueue_fast(&mut self, switch: SwitchId, waiting: u32, bytes: u16) -> bool {
        self.memory.try_enqueue_fast(switch, waiting.into(), bytes.into())
    }

    /// Decides about a packet that cannot start immediately. Cuts a trimmed packet to its header.
    #[inline]
    pub fn admit(&self, request: &EnqueueRequest, packet: &mut Packet) -> Admission {
        if self.memory.has_room(request, packet) {
            return Admission::Admitted;
        }
        // A closure, because only trimmed packets need the topology.
        let last_hop = || matches!(self.topology.ends_of(request.port).1, Node::Host(_));
        match self.memory.trim(request, packet, last_hop) {
            true => Admission::Trimmed,
            false => Admission::Dropped,
        }
    }

    /// Counts `bytes` that are enqueued at `switch`. With PFC, packets without priority also count
    /// against `ingress`, their input link and class. A returned order is a frame to send back over
    /// that link.
    #[inline]
    pub fn account_enqueue(
        &mut self,
        switch: SwitchId,
        bytes: u64,
        ingress: Option<LinkClass>,
    ) -> Option<PauseOrder> {
        self.memory.account_enqueue(switch, bytes, ingress)
    }

    /// Counts bytes that leave a queue of `switch`; see [`Self::account_enqueue`].
    #[inline]
    pub fn account_dequeue(
        &mut self,
        switch: SwitchId,
        bytes: u64,
        ingress: Option<LinkClass>,
    ) -> Option<PauseOrder> {
        self.memory.account_dequeue(switch, bytes, ingress)
    }

    /// Returns true if links have flow control, by pauses (PFC) or credits (CBFC).
    #[inline]
    pub fn has_flow_control(&self) -> bool {
        self.memory.has_flow_control()
    }

    /// Returns the link credits, if links have credit-based flow control.
    pub fn credits(&mut self) -> Option<LinkCredits<'_>> {
        self.memory.cbfc_mut().map(LinkCredits)
    }
}
