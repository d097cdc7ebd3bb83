//! Ports, switches and the packets between NICs.

use super::config::{Buffer, Ecn, EcnPoint, FabricConfig, TrimConfig};
use super::ecn::Marker;
use super::event::{Event, EventQueue};
use super::fault::Faults;
use super::pfc::Pfc;
use super::pool::{Place, Pool};
use super::port::{Noted, Port, PortParts};
use super::prefetch::{prefetch, prefetch_lines};
use super::switch::{Queues, Switch};
use super::tape::Tape;
use super::ways::{Candidates, Way, Ways};
use crate::balance::Scheme;
use crate::balance::switch::SwitchContext;
use crate::ids::{HostId, PortId, SwitchId};
use crate::packet::{Flags, Packet};
use crate::topology::{Node, Topology};
use crate::units::{BitRate, Bytes, Span, Time};

/// What the network counts, over all ports.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NetworkCounters {
    /// Data packets lost.
    pub data_dropped: u64,
    /// Acknowledgements, NACKs and CNPs lost.
    pub control_dropped: u64,
    /// Packets that reached the end of a wire.
    pub hops: u64,
    /// Sum of the bytes that data packets found waiting at switch ports, and how many they were.
    pub waiting_found: u128,
    pub arrivals: u64,
    /// Data packets cut to their header.
    pub trimmed: u64,
    /// Pause frames sent.
    pub pauses: u64,
}

/// Everything between the NICs.
#[derive(Debug)]
pub(super) struct Network {
    pub ports: Vec<Port>,
    pub pool: Pool,
    pub queue: EventQueue,
    pub counters: NetworkCounters,
    pub switches: Vec<Switch>,
    /// What routing knows.
    pub ways: Ways,
    markers: Vec<Marker>,
    pub(super) buffer: Buffer,
    marking: Option<EcnPoint>,
    /// What links that fail do.
    pub faults: Faults,
    /// Flow control, if there is any.
    pub pfc: Option<Box<Pfc>>,
    pub(super) trim: Option<TrimConfig>,
    /// What happens to packets at ports that are noted.
    pub tape: Option<Box<Tape>>,
    /// Whether switch policies ask for queue lengths, and whether they watch what leaves.
    looks: bool,
    watches: bool,
}

impl Network {
    pub fn new(topology: &Topology, config: &FabricConfig, scheme: &Scheme, seed: u64) -> Self {
        let mut ports: Vec<Port> =
            all_ports(topology).map(|id| port(topology, config, id)).collect();
        number(topology, &mut ports);
        let horizon = ports.iter().map(|port| port.flight(1 << 14).as_ps()).max().unwrap_or(0);
        let ecn = |port: &Port| config.ecn_at(port.rate());
        let marks = ports.iter().any(|port| ecn(port) != Ecn::Off);
        let markers = if marks {
            let ids = all_ports(topology).zip(&ports);
            ids.map(|(id, port)| Marker::new(ecn(port), seed, id)).collect()
        } else {
            Vec::new()
        };
        let switches = (0u32..).zip(topology.switches()).map(|(id, _)| {
            let context = switch_context(topology, config, seed, SwitchId(id));
            Switch::new(&scheme.switch, &context, topology.ports_of(SwitchId(id)))
        });
        Self {
            switches: switches.collect(),
            queue: EventQueue::new(horizon),
            pool: Pool::default(),
            counters: NetworkCounters::default(),
            ways: Ways::new(topology, scheme),
            markers,
            buffer: config.switch.buffer,
            marking: marks.then_some(config.switch.ecn_point),
            faults: Faults::new(seed, config.forwarding_delay),
            pfc: config.switch.pfc.map(|pfc| Box::new(Pfc::new(&pfc, config, topology))),
            trim: config.switch.trim,
            tape: None,
            looks: scheme.switch.uses_queue_lengths(),
            watches: scheme.switch.tracks_departures(),
            ports,
        }
    }

    /// Asks for the memory of coming events, in steps as each step needs the one before.
    #[inline]
    pub fn look_ahead(&self) {
        if let Some(port) = self.queue.port_ahead(12) {
            prefetch_lines(&self.ports[port.index()]);
        }
        if let Some(port) = self.queue.port_ahead(6) {
            let heads = self.ports[port.index()].heads();
            heads.into_iter().flatten().for_each(|place| prefetch(self.pool.get(place)));
        }
        if let Some(port) = self.queue.port_ahead(2)
            && let Some(next) = self.pool.second(self.ports[port.index()].wire)
        {
            prefetch(self.pool.get(next));
        }
    }

    /// The packet at the head of the port's wire, if it arrives at `now`.
    #[inline]
    pub fn take_arrival(&mut self, now: Time, id: PortId) -> Option<Place> {
        let port = &mut self.ports[id.index()];
        port.armed = false;
        let first = port.wire.first()?;
        let arrives = self.pool.get(first).arrives;
        if arrives > now {
            return None;
        }
        debug_assert_eq!(arrives, now, "an arrival was missed");
        self.pool.pop_front(&mut port.wire);
        self.counters.hops += 1;
        Some(first)
    }

    /// Starts every waiting packet whose turn came by `now` (switch ports).
    #[inline]
    pub fn settle(&mut self, now: Time, id: PortId) {
        while self.ports[id.index()].free <= now && self.ports[id.index()].has_waiting() {
            self.start_next(id);
        }
    }

    fn start_next(&mut self, id: PortId) {
        let port = &mut self.ports[id.index()];
        let Some(place) = port.next_waiting(&self.pool) else { return };
        let start = port.free;
        let told = if self.pfc.is_some() { self.leave(place) } else { None };
        self.ports[id.index()].transmit(&mut self.pool, place, start);
        let packet = self.pool.get(place).packet;
        if let Node::Switch(switch) = self.ports[id.index()].start.node() {
            self.switches[switch.index()].buffered -= u64::from(packet.wire_bytes);
        }
        self.mark_if(EcnPoint::Dequeue, id, place);
        if self.ports[id.index()].noted.at(Noted::START) {
            self.note_start(start, id, place);
        }
        if let Some((link, order)) = told {
            self.tell(start, link, order);
        }
    }

    /// Puts a packet from a NIC on its wire, which is free at `start`.
    pub fn inject(&mut self, id: PortId, start: Time, packet: Packet) {
        let place = self.pool.insert(packet);
        self.ports[id.index()].transmit(&mut self.pool, place, start);
        if self.ports[id.index()].noted.at(Noted::START) {
            self.note_start(start, id, place);
        }
    }

    /// Makes sure that an event comes when this port needs one: at the next arrival, or when the
    /// wire is free and something waits for it (`more`) that no arrival would wake.
    #[inline]
    pub fn arm(&mut self, id: PortId, more: impl FnOnce() -> bool) {
        let port = &mut self.ports[id.index()];
        if port.armed {
            return;
        }
        let due = match port.wire.first() {
            Some(first) => self.pool.get(first).arrives,
            None if port.has_waiting() || more() => port.free,
            None => return,
        };
        port.armed = true;
        self.queue.push(due, Event::Port(id));
    }

    /// A packet came into `switch`: chooses a port and puts the packet there.
    #[inline]
    pub fn forward(&mut self, now: Time, switch: SwitchId, place: Place) {
        match self.choose(now, switch, place) {
            Some(port) => {
                if self.watches {
                    self.pass(now, switch, port, place);
                }
                self.enqueue(now, switch, port, place);
            }
            None => {
                let port = self.switches[switch.index()].ports[0];
                self.note_drop(now, port, place);
                self.drop_packet(place);
            }
        }
    }

    #[inline]
    fn choose(&mut self, now: Time, switch: SwitchId, place: Place) -> Option<PortId> {
        let packet = &mut self.pool.get_mut(place).packet;
        match self.ways.of(switch, &self.switches[switch.index()].dead, packet) {
            Way::None => None,
            Way::Port(port) => Some(port),
            Way::Ask(which) => Some(self.ask_policy(now, switch, place, which)),
        }
    }

    fn ask_policy(
        &mut self,
        now: Time,
        switch: SwitchId,
        place: Place,
        which: Candidates,
    ) -> PortId {
        if self.looks {
            self.settle_candidates(now, switch, self.pool.get(place).packet.dst);
        }
        let choice = self.ways.choice(switch, &self.pool.get(place).packet);
        let queues = AtPorts { ports: &self.ports, pool: &self.pool };
        self.switches[switch.index()].choose(now, which, &choice, &queues)
    }

    /// Starts what started by now at the ports that a policy is about to look at.
    fn settle_candidates(&mut self, now: Time, switch: SwitchId, dst: HostId) {
        for candidate in 0..self.ways.routes.next_hops(switch, dst).len() {
            let port = self.ways.routes.next_hops(switch, dst)[candidate];
            self.settle(now, port);
        }
    }

    /// Shows a switch's policy what leaves by `port`.
    fn pass(&mut self, now: Time, switch: SwitchId, port: PortId, place: Place) {
        let packet = &mut self.pool.get_mut(place).packet;
        let passage = self.ways.passage(u32::from(self.ports[port.index()].number), packet);
        self.switches[switch.index()].pass(now, packet, &passage);
    }

    #[inline]
    fn enqueue(&mut self, now: Time, switch: SwitchId, id: PortId, place: Place) {
        self.settle(now, id);
        let packet = self.pool.get(place).packet;
        if !packet.is_control() {
            let found = self.ports[id.index()].data_waiting();
            self.counters.waiting_found += u128::from(found);
            self.counters.arrivals += 1;
        }
        if self.ports[id.index()].is_clear(now, packet.flags) {
            // An empty queue: the packet passes through without being stored.
            self.mark_if(EcnPoint::Enqueue, id, place);
            self.ports[id.index()].transmit(&mut self.pool, place, now);
            self.mark_if(EcnPoint::Dequeue, id, place);
            if self.ports[id.index()].noted.at(Noted::START) {
                self.note_passage(now, id, place);
            }
        } else {
            if !self.admits(now, switch, id, place) && !self.trims(id, place) {
                self.note_drop(now, id, place);
                self.drop_packet(place);
                return;
            }
            self.mark_if(EcnPoint::Enqueue, id, place);
            let bytes = u64::from(self.pool.get(place).packet.wire_bytes);
            self.switches[switch.index()].buffered += bytes;
            self.ports[id.index()].wait(&mut self.pool, place);
            if self.ports[id.index()].noted.at(Noted::START) {
                self.note_wait(now, id, place);
            }
            if self.pfc.is_some() {
                self.stay(now, id, place);
            }
        }
        self.arm(id, || false);
    }

    #[inline]
    fn mark_if(&mut self, point: EcnPoint, id: PortId, place: Place) {
        if self.marking != Some(point) {
            return;
        }
        let slot = self.pool.get_mut(place);
        let port = &self.ports[id.index()];
        if slot.packet.is_control() || matches!(port.start.node(), Node::Host(_)) {
            return;
        }
        if self.markers[id.index()].marks(Bytes::new(u64::from(port.data_waiting()))) {
            slot.packet.flags = slot.packet.flags.with(Flags::MARKED);
        }
    }

    /// Data packets in queues and on wires, counted one by one.
    pub fn data_in_flight(&self) -> u64 {
        let packets = self.ports.iter().flat_map(|port| port.packets(&self.pool));
        packets.filter(|packet| !packet.is_control()).count() as u64
    }
}

/// Queues as they stand.
struct AtPorts<'a> {
    ports: &'a [Port],
    pool: &'a Pool,
}

impl Queues for AtPorts<'_> {
    #[inline]
    fn number(&self, port: PortId) -> u32 {
        u32::from(self.ports[port.index()].number)
    }

    #[inline]
    fn bytes(&self, now: Time, port: PortId) -> u64 {
        u64::from(self.ports[port.index()].load(now, self.pool))
    }
}

fn all_ports(topology: &Topology) -> impl Iterator<Item = PortId> + use<> {
    (0..u32::try_from(2 * topology.links().len()).expect("ids are 32 bits")).map(PortId)
}

/// Numbers the ports of each switch from 0.
fn number(topology: &Topology, ports: &mut [Port]) {
    for switch in (0u32..).zip(topology.switches()).map(|(id, _)| SwitchId(id)) {
        for (number, id) in topology.ports_of(switch).iter().enumerate() {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            ports[id.index()].number = number;
        }
    }
}

/// What the policy of a switch may know of it.
pub(crate) fn switch_context(
    topology: &Topology,
    config: &FabricConfig,
    seed: u64,
    id: SwitchId,
) -> SwitchContext {
    let ids = topology.ports_of(id);
    let rate = ids.iter().map(|port| topology.link(port.link()).rate).max();
    let ports = u32::try_from(ids.len()).expect("ids are 32 bits");
    SwitchContext {
        seed,
        id,
        tier: topology.switches()[id.index()].tier,
        ports,
        port_rate: rate.unwrap_or(BitRate::from_bps(1)),
        port_buffer: match config.switch.buffer {
            Buffer::PerPort(bytes) => bytes,
            Buffer::Shared(bytes) => Bytes::new(bytes.get() / u64::from(ports.max(1))),
        },
    }
}

fn port(topology: &Topology, config: &FabricConfig, id: PortId) -> Port {
    let (start, end) = topology.ends_of(id);
    let link = topology.link(id.link());
    let forwarding = match end {
        Node::Switch(_) => config.forwarding_delay,
        Node::Host(_) => Span::ZERO,
    };
    Port::new(&PortParts {
        start,
        end,
        rate: link.rate,
        delay: link.delay + forwarding,
        gap: config.gap,
        rounding: config.rounding,
    })
}
