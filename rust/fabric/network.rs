//! Ports, switches and the packets between NICs.

use super::config::{Buffer, Ecn, EcnPoint, FabricConfig};
use super::ecn::Marker;
use super::event::{Event, EventQueue};
use super::pool::{Place, Pool};
use super::port::{Port, PortParts};
use super::prefetch::{prefetch, prefetch_lines};
use super::switch::Switch;
use crate::balance::{Forwarding, Scheme};
use crate::ids::{LinkId, PortId, SwitchId};
use crate::packet::{Flags, Packet};
use crate::topology::{Node, Routes, Topology};
use crate::units::{Bytes, Span, Time};

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
}

/// Everything between the NICs.
#[derive(Debug)]
pub(super) struct Network {
    pub ports: Vec<Port>,
    pub pool: Pool,
    pub queue: EventQueue,
    pub counters: NetworkCounters,
    pub switches: Vec<Switch>,
    /// Next hops as routing knows them now.
    pub routes: Routes,
    /// Next hops of the fabric without failures: what source routes are numbers in.
    pub intact: Routes,
    markers: Vec<Marker>,
    buffer: Buffer,
    marking: Option<EcnPoint>,
    forwarding: Forwarding,
    /// From a packet's arrival in a switch to its event, which is part of the wire's delay.
    forwarding_delay: Span,
    /// Outages of links, in order of links and times: from, until.
    pub outages: Vec<(LinkId, Time, Time)>,
}

impl Network {
    pub fn new(topology: &Topology, config: &FabricConfig, scheme: &Scheme, seed: u64) -> Self {
        let ports: Vec<Port> = all_ports(topology).map(|id| port(topology, config, id)).collect();
        let horizon = ports.iter().map(|port| port.flight(1 << 14).as_ps()).max().unwrap_or(0);
        let ecn = |port: &Port| {
            let by_rate = config.ecn_by_rate.iter().find(|(rate, _)| *rate == port.rate());
            by_rate.map_or(config.switch.ecn, |&(_, ecn)| ecn)
        };
        let marks = ports.iter().any(|port| ecn(port) != Ecn::Off);
        let markers = if marks {
            let ids = all_ports(topology).zip(&ports);
            ids.map(|(id, port)| Marker::new(ecn(port), seed, id)).collect()
        } else {
            Vec::new()
        };
        let switches = (0u32..).zip(topology.switches());
        let switches = switches.map(|(id, _)| {
            let id = SwitchId(id);
            Switch::new(&scheme.switch, seed, id, topology.ports_of(id))
        });
        let routes = Routes::new(topology, &|_| true);
        Self {
            switches: switches.collect(),
            queue: EventQueue::new(horizon),
            pool: Pool::default(),
            counters: NetworkCounters::default(),
            intact: routes.clone(),
            routes,
            markers,
            buffer: config.switch.buffer,
            marking: marks.then_some(config.switch.ecn_point),
            forwarding: scheme.forwarding,
            forwarding_delay: config.forwarding_delay,
            outages: Vec::new(),
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
        port.transmit(&mut self.pool, place, start);
        let packet = self.pool.get(place).packet;
        if let Node::Switch(switch) = self.ports[id.index()].start.node() {
            self.switches[switch.index()].buffered -= u64::from(packet.wire_bytes);
        }
        self.mark_if(EcnPoint::Dequeue, id, place);
    }

    /// Puts a packet from a NIC on its wire, which is free at `start`.
    pub fn inject(&mut self, id: PortId, start: Time, packet: Packet) {
        let place = self.pool.insert(packet);
        self.ports[id.index()].transmit(&mut self.pool, place, start);
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
            Some(port) => self.enqueue(now, switch, port, place),
            None => self.drop_packet(place),
        }
    }

    #[inline]
    fn choose(&mut self, now: Time, switch: SwitchId, place: Place) -> Option<PortId> {
        let dst = self.pool.get(place).packet.dst;
        if !self.switches[switch.index()].dead.is_empty() {
            return self.choose_around(now, switch, place);
        }
        if self.forwarding == Forwarding::SourceRouted {
            return self.follow_route(now, switch, place);
        }
        let candidates = self.routes.next_hops(switch, dst);
        match candidates {
            [] => None,
            [only] => Some(*only),
            _ => Some(self.ask_policy(now, switch, place, Candidates::All)),
        }
    }

    /// The port that the packet's source chose; the policy's choice if routing has left it.
    fn follow_route(&mut self, now: Time, switch: SwitchId, place: Place) -> Option<PortId> {
        let packet = &mut self.pool.get_mut(place).packet;
        let (dst, intact) = (packet.dst, self.intact.next_hops(switch, packet.dst));
        let chosen = match intact {
            [] => return None,
            [only] => *only,
            _ => {
                let count = u16::try_from(intact.len()).expect("paths are 16 bits");
                let digit = packet.route % count;
                packet.route /= count;
                intact[usize::from(digit)]
            }
        };
        let known = self.routes.next_hops(switch, dst);
        let dead = &self.switches[switch.index()].dead;
        if known.contains(&chosen) && !dead.contains(&chosen) {
            return Some(chosen);
        }
        match known.len() {
            0 => None,
            1 => Some(known[0]),
            _ => Some(self.ask_policy(now, switch, place, Candidates::Alive)),
        }
    }

    /// With ports that the switch knows to be dead: the choice among the others. If none is
    /// left, the packet goes where routing says, and is lost.
    fn choose_around(&mut self, now: Time, switch: SwitchId, place: Place) -> Option<PortId> {
        if self.forwarding == Forwarding::SourceRouted {
            return self.follow_route(now, switch, place);
        }
        let dst = self.pool.get(place).packet.dst;
        match self.routes.next_hops(switch, dst) {
            [] => None,
            [only] => Some(*only),
            _ => Some(self.ask_policy(now, switch, place, Candidates::Alive)),
        }
    }

    fn ask_policy(
        &mut self,
        now: Time,
        switch: SwitchId,
        place: Place,
        which: Candidates,
    ) -> PortId {
        let packet = self.pool.get(place).packet;
        if self.switches[switch.index()].looks_at_queues() {
            self.settle_switch(now, switch);
        }
        let all = self.routes.next_hops(switch, packet.dst);
        let state = &mut self.switches[switch.index()];
        match which {
            Candidates::All => state.ask(&packet, all, &self.ports),
            Candidates::Alive => state.ask_alive(&packet, all, &self.ports),
        }
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
        let port = &self.ports[id.index()];
        if port.free <= now && !port.has_waiting() {
            // An empty queue: the packet passes through without being stored.
            self.mark_if(EcnPoint::Enqueue, id, place);
            self.ports[id.index()].transmit(&mut self.pool, place, now);
            self.mark_if(EcnPoint::Dequeue, id, place);
        } else {
            if !self.admits(now, switch, id, &packet) {
                self.drop_packet(place);
                return;
            }
            self.mark_if(EcnPoint::Enqueue, id, place);
            self.switches[switch.index()].buffered += u64::from(packet.wire_bytes);
            self.ports[id.index()].wait(&mut self.pool, place);
        }
        self.arm(id, || false);
    }

    /// Whether the buffer has room for `bytes` more.
    fn admits(&mut self, now: Time, switch: SwitchId, id: PortId, packet: &Packet) -> bool {
        let (bytes, flags) = (u64::from(packet.wire_bytes), packet.flags);
        match self.buffer {
            Buffer::PerPort(limit) => {
                let waiting = self.ports[id.index()].bytes_waiting(flags);
                u64::from(waiting) + bytes <= limit.get()
            }
            Buffer::Shared(limit) => {
                // The count may lag behind packets that have left; only near the limit is it
                // worth a look at every port.
                if self.switches[switch.index()].buffered + bytes > limit.get() {
                    self.settle_switch(now, switch);
                }
                self.switches[switch.index()].buffered + bytes <= limit.get()
            }
        }
    }

    fn settle_switch(&mut self, now: Time, switch: SwitchId) {
        for index in 0..self.switches[switch.index()].ports.len() {
            let id = self.switches[switch.index()].ports[index];
            self.settle(now, id);
            self.arm(id, || false);
        }
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

    /// A packet is lost.
    pub fn drop_packet(&mut self, place: Place) {
        let packet = self.pool.remove(place);
        if packet.is_control() {
            self.counters.control_dropped += 1;
        } else {
            self.counters.data_dropped += 1;
        }
    }

    /// True if the link behind `id` was down at any time while a packet of `bytes` that arrives
    /// at `now` was on it.
    pub fn lost_on_the_way(&self, now: Time, id: PortId, bytes: u16) -> bool {
        let port = &self.ports[id.index()];
        let flight = port.flight(u32::from(bytes)).as_ps();
        let start = Time::from_ps(now.as_ps() - flight);
        // What a switch is at work on is off the wire.
        let inside = match port.end.node() {
            Node::Switch(_) => self.forwarding_delay.as_ps(),
            Node::Host(_) => 0,
        };
        let end = Time::from_ps(now.as_ps() - inside);
        let first = self.outages.partition_point(|&(link, ..)| link < id.link());
        let before = |&&(link, from, _): &&(LinkId, Time, Time)| link == id.link() && from < end;
        let mut outages = self.outages[first..].iter().take_while(before);
        outages.any(|&(_, _, until)| until > start)
    }

    /// Data packets in queues and on wires, counted one by one.
    pub fn data_in_flight(&self) -> u64 {
        let packets = self.ports.iter().flat_map(|port| port.packets(&self.pool));
        packets.filter(|packet| !packet.is_control()).count() as u64
    }
}

/// Which of the equal-cost ports a policy is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Candidates {
    All,
    Alive,
}

fn all_ports(topology: &Topology) -> impl Iterator<Item = PortId> + use<> {
    (0..u32::try_from(2 * topology.links().len()).expect("ids are 32 bits")).map(PortId)
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
