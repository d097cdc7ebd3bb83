//! Round-trip times of idle paths. Windows and delay targets are computed from them.

use std::collections::BTreeMap;

use crate::ids::{HostId, PortId, SwitchId};
use crate::nic::NicConfig;
use crate::topology::{Node, Routes, Topology};
use crate::units::{BitRate, Bytes, Span};
use crate::workload::Workload;

/// Number of host pairs up to which [`longest_path`] checks every pair. Above it, two sweeps find
/// the farthest pair.
const MAX_EXHAUSTIVE_PAIRS: usize = 4_096;

/// A host's links, by plane: the node at the other end, the rate and the delay.
type Attachment = Vec<(Node, BitRate, Span)>;

/// Groups of hosts that are attached identically and therefore have the same round-trip times.
#[derive(Debug, Clone)]
struct AttachmentKinds {
    of_host: Vec<u32>,
    /// Up to two hosts of each kind, because two hosts of one kind are a path too.
    examples: Vec<Vec<HostId>>,
}

impl AttachmentKinds {
    /// Groups all hosts. Examples are taken only from hosts for which `is_busy` is true.
    fn new(topology: &Topology, is_busy: &dyn Fn(HostId) -> bool) -> Self {
        let mut numbers = BTreeMap::<Attachment, u32>::new();
        let mut kinds = Self { of_host: Vec::new(), examples: Vec::new() };
        for host in (0..topology.host_count()).map(HostId) {
            let ports = topology.planes().ports_of(host).iter();
            let attachment = ports.map(|&port| {
                let link = topology.link(port.link());
                (topology.ends_of(port).1, link.rate, link.delay)
            });
            // A new attachment gets the next number. `kind == next` then means that it was new.
            let next = numbers.len() as u32;
            let kind = *numbers.entry(attachment.collect()).or_insert(next);
            if kind == next {
                kinds.examples.push(Vec::new());
            }
            let examples = &mut kinds.examples[kind as usize];
            if examples.len() < 2 && is_busy(host) {
                examples.push(host);
            }
            kinds.of_host.push(kind);
        }
        kinds
    }

    fn examples(&self) -> impl Iterator<Item = HostId> + '_ {
        self.examples.iter().flatten().copied()
    }
}

/// Idle round-trip times between two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    /// Round-trip time of a full packet and its acknowledgement on the longest path.
    pub(crate) longest: Span,
    /// Maximum number of switches on a path of the packet.
    pub(crate) switches: u32,
    /// True if every path has the same round-trip time.
    pub(crate) is_even: bool,
}

/// One-way times of a packet over all idle paths between two nodes.
#[derive(Debug, Clone, Copy, Default)]
struct OneWay {
    shortest: Span,
    longest: Span,
    /// Maximum number of switches on a path.
    switches: u32,
}

impl OneWay {
    fn after(self, hop: Span) -> Self {
        Self { shortest: hop + self.shortest, longest: hop + self.longest, ..self }
    }

    fn through_switch(self) -> Self {
        Self { switches: self.switches + 1, ..self }
    }

    fn and(self, other: Self) -> Self {
        Self {
            shortest: self.shortest.min(other.shortest),
            longest: self.longest.max(other.longest),
            switches: self.switches.max(other.switches),
        }
    }

    fn is_even(self) -> bool {
        self.shortest == self.longest
    }
}

/// Inputs of the idle-path computation.
#[derive(Clone, Copy)]
struct IdlePaths<'a> {
    topology: &'a Topology,
    routes: &'a Routes,
    forwarding_delay: Span,
}

/// The longest idle path between the hosts of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LongestPath {
    /// Round-trip time of a full packet and its acknowledgement.
    pub round_trip: Span,
    /// Number of switches on the path.
    pub switches: u32,
    /// Rate of the slowest host link.
    pub slowest: BitRate,
}

/// Returns the round-trip time of [`longest_path`].
pub fn base_rtt(
    topology: &Topology,
    routes: &Routes,
    nic: &NicConfig,
    forwarding_delay: Span,
    workload: &Workload,
) -> Span {
    longest_path(topology, routes, nic, forwarding_delay, workload).round_trip
}

/// Returns the longest idle path between hosts that send or receive messages of `workload`. If the
/// workload has no messages, all hosts count. `forwarding_delay` is the delay of each switch.
pub fn longest_path(
    topology: &Topology,
    routes: &Routes,
    nic: &NicConfig,
    forwarding_delay: Span,
    workload: &Workload,
) -> LongestPath {
    let paths = IdlePaths { topology, routes, forwarding_delay };
    let mut busy = vec![workload.messages.is_empty(); topology.host_count() as usize];
    for message in &workload.messages {
        busy[message.src.index()] = true;
        busy[message.dst.index()] = true;
    }
    // Hosts of one kind have equal round trips, so one or two examples of each suffice.
    let kinds = AttachmentKinds::new(topology, &|host| busy[host.index()]);
    let hosts: Vec<HostId> = kinds.examples().collect();
    let links = hosts.iter().flat_map(|&host| topology.planes().ports_of(host));
    let slowest = links.map(|port| topology.link(port.link()).rate).min().unwrap_or_default();
    let trip = |from: HostId, to: HostId| {
        let RoundTrip { longest, switches, .. } = paths.round_trip(nic, from, to);
        LongestPath { round_trip: longest, switches, slowest }
    };
    if hosts.len() * hosts.len() <= MAX_EXHAUSTIVE_PAIRS {
        let pairs = hosts.iter().flat_map(|&from| hosts.iter().map(move |&to| (from, to)));
        // `LongestPath` orders by round trip first.
        return pairs.map(|(from, to)| trip(from, to)).max().unwrap_or_default();
    }
    // One sweep computes the paths from every host to `to`. The way back is assumed to be as long.
    let farthest = |to: HostId| {
        let mut known = BTreeMap::new();
        let packet = nic.payload + nic.header;
        let times = hosts.iter().map(|&from| (paths.one_way(from, to, packet, &mut known), from));
        times.max_by_key(|(times, _)| times.longest).map_or(to, |(_, from)| from)
    };
    // As in the double sweep for the diameter of a tree: the farthest host from any start is one
    // end.
    hosts.first().map_or(LongestPath::default(), |&first| {
        let end = farthest(first);
        trip(farthest(end), end)
    })
}

/// Round-trip times of host pairs, computed on first use.
#[derive(Debug, Clone)]
pub(super) struct PairRoundTrips {
    kinds: AttachmentKinds,
    forwarding_delay: Span,
    /// By kind of the sender and of the receiver, bytes of a packet, and bytes of an
    /// acknowledgement.
    known: BTreeMap<(u32, u32, u64, u64), RoundTrip>,
}

impl PairRoundTrips {
    pub(super) fn new(topology: &Topology, forwarding_delay: Span) -> Self {
        Self {
            kinds: AttachmentKinds::new(topology, &|_| true),
            forwarding_delay,
            known: BTreeMap::new(),
        }
    }

    /// Returns the round-trip times of a full packet and its acknowledgement between two hosts.
    pub(super) fn between(
        &mut self,
        [from, to]: [HostId; 2],
        topology: &Topology,
        routes: &Routes,
        nic: &NicConfig,
    ) -> RoundTrip {
        let [src, dst] = [from, to].map(|host| self.kinds.of_host[host.index()]);
        let packet = nic.payload + nic.header;
        let paths = IdlePaths { topology, routes, forwarding_delay: self.forwarding_delay };
        let key = (src, dst, packet.get(), nic.ack.bytes.get());
        *self.known.entry(key).or_insert_with(|| paths.round_trip(nic, from, to))
    }
}

impl IdlePaths<'_> {
    fn round_trip(&self, nic: &NicConfig, from: HostId, to: HostId) -> RoundTrip {
        let forward = self.one_way(from, to, nic.payload + nic.header, &mut BTreeMap::new());
        let reverse = self.one_way(to, from, nic.ack.bytes, &mut BTreeMap::new());
        let sum = |a: OneWay, b: OneWay| a.longest + b.longest;
        let is_even = forward.is_even() && reverse.is_even();
        RoundTrip { longest: sum(forward, reverse), switches: forward.switches, is_even }
    }

    /// Returns the one-way times of a packet over the paths that routing uses; zero if there is
    /// none. `known` caches the times from switches, for the same destination and packet size.
    fn one_way(
        &self,
        from: HostId,
        to: HostId,
        bytes: Bytes,
        known: &mut BTreeMap<SwitchId, Option<OneWay>>,
    ) -> OneWay {
        if from == to {
            return OneWay::default();
        }
        let ports = self.topology.planes().ports_of(from).iter();
        let times = ports.filter_map(|&port| self.times_from_port(port, to, bytes, known));
        times.reduce(OneWay::and).unwrap_or_default()
    }

    /// Returns the times from the start of transmission at `port`; `None` if `to` is not reachable.
    fn times_from_port(
        &self,
        port: PortId,
        to: HostId,
        bytes: Bytes,
        known: &mut BTreeMap<SwitchId, Option<OneWay>>,
    ) -> Option<OneWay> {
        let link = self.topology.link(port.link());
        let hop = link.rate.time_for(bytes) + link.delay;
        match self.topology.ends_of(port).1 {
            Node::Host(host) => (host == to).then_some(OneWay::default().after(hop)),
            Node::Switch(switch) => {
                // Memoized per switch, because the number of paths multiplies with every tier.
                let rest = match known.get(&switch) {
                    Some(rest) => *rest,
                    None => {
                        let ports = self.routes.next_hops(switch, to).iter();
                        let rest =
                            ports.filter_map(|&it| self.times_from_port(it, to, bytes, known));
                        let rest = rest.reduce(OneWay::and);
                        known.insert(switch, rest);
                        rest
                    }
                };
                Some(rest?.through_switch().after(hop + self.forwarding_delay))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::AckConfig;
    use crate::topology::{Link, Switch};
    use crate::units::Time;
    use crate::workload::Message;

    /// 10 bytes take 1 ns.
    const RATE: BitRate = BitRate::from_gbps(80);

    /// Hosts 0 and 1 are at switch 0, host 2 is at switch 1. Host 3 is at switch 0, `far_us` away.
    /// Two paths connect the switches, with links of 1 us and 30 us. `swapped` exchanges the
    /// numbers of the two paths.
    fn topology(swapped: bool, far_us: u64) -> Topology {
        let switch = |id: u32| Switch { name: format!("s{id}"), tier: u8::from(id > 1) };
        let (short, long) = if swapped { (3, 2) } else { (2, 3) };
        let [host, at] = [|id| Node::Host(HostId(id)), |id| Node::Switch(SwitchId(id))];
        let link = |(a, b, us)| Link { ends: [a, b], rate: RATE, delay: Span::from_us(us) };
        let links = [
            (host(0), at(0), 1),
            (host(1), at(0), 1),
            (host(2), at(1), 1),
            (host(3), at(0), far_us),
            (at(0), at(short), 1),
            (at(1), at(short), 1),
            (at(0), at(long), 30),
            (at(1), at(long), 30),
        ];
        let names = (0..4).map(|id| format!("h{id}")).collect();
        Topology::new(names, (0..4).map(switch).collect(), links.map(link).to_vec()).unwrap()
    }

    fn between(topology: &Topology, from: u32, to: u32) -> RoundTrip {
        let routes = Routes::new(topology, &|_| true);
        let mut round_trips = PairRoundTrips::new(topology, Span::from_ns(100));
        round_trips.between([from, to].map(HostId), topology, &routes, &nic())
    }

    fn nic() -> NicConfig {
        let [payload, header, bytes] = [960, 40, 50].map(Bytes::new);
        let ack = AckConfig { bytes, ..AckConfig::default() };
        NicConfig { payload, header, ack, ..NicConfig::default() }
    }

    #[test]
    fn a_pair_has_the_round_trip_of_its_longest_path() {
        // A packet takes 100 ns a link, an acknowledgement 5 ns, and a switch adds 100 ns.
        let (near, across) = (4_000 + 2 * 105 + 200, 2 * 62_000 + 4 * 105 + 600);
        for swapped in [false, true] {
            for far_us in [1, 300] {
                let topology = topology(swapped, far_us);
                let trip = |ns, switches, is_even| RoundTrip {
                    longest: Span::from_ns(ns),
                    switches,
                    is_even,
                };
                assert_eq!(between(&topology, 0, 1), trip(near, 1, true));
                assert_eq!(between(&topology, 0, 2), trip(across, 3, false));
                assert_eq!(between(&topology, 2, 1), trip(across, 3, false));
            }
        }
    }

    #[test]
    fn base_rtt_is_that_of_the_longest_pair_for_any_numbering() {
        for swapped in [false, true] {
            let topology = topology(swapped, 300);
            let routes = Routes::new(&topology, &|_| true);
            let of = |pairs: &[(u32, u32)]| {
                let message = |&(src, dst): &(u32, u32)| Message {
                    src: HostId(src),
                    dst: HostId(dst),
                    bytes: Bytes::new(1),
                    stream: 0,
                    start: Time::ZERO,
                };
                let workload = Workload::independent(pairs.iter().map(message).collect());
                base_rtt(&topology, &routes, &nic(), Span::from_ns(100), &workload)
            };
            assert_eq!(of(&[]), between(&topology, 3, 2).longest);
            // Hosts without messages are ignored.
            assert_eq!(of(&[(0, 1), (1, 2)]), between(&topology, 0, 2).longest);
        }
    }
}
