//! The timing of a single message on an idle path: its completion time, and the earliest times of
//! its packets at each link.
//!
//! On a path of H links of rate R and delay p, consider a message of n equal packets of D bytes
//! whose last packet is acknowledged by A bytes. It takes
//! `n·(D + gap)/R − gap/R + (H−1)·D/R + H·p + H·A/R + H·p`. This module generalises the formula to
//! links of different rates and delays and to a shorter last packet.
//!
//! If several paths exist, packets share only the first and the last link. Each hop is assumed to
//! be as fast as the fastest link that any of the paths has there. If packets may take longer
//! paths, it is as fast as the fastest link between switches. If a message is split, the shortest
//! possible packet may be the first and the last on a link that carries all of its bytes.

use std::collections::BTreeMap;

use super::{BoundInputs, Cuts, Wire};
use crate::ids::{HostId, PortId, SwitchId};
use crate::topology::{HostPath, Link, Routes, ScaleUp, Topology};
use crate::units::{BitRate, Bytes, Span};
use crate::workload::{Message, Workload};

/// One hop of a path: the best rate and delay among the links that packets may take there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// The highest rate of these links.
    pub rate: BitRate,
    /// The smallest delay of these links.
    pub delay: Span,
}

/// The best case of the shortest paths between two hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Every hop from the sender to the receiver; never empty.
    pub hops: Vec<Hop>,
    /// Number of paths, see [`Routes::path_count`]. On a single path packets cannot overtake each
    /// other.
    pub count: u32,
}

/// The time before and after a message's packets at one link, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LinkTiming {
    /// Least time from the message's start to the first packet's first bit.
    pub head: u128,
    /// Least time from the last packet's last bit to the message's completion.
    pub tail: u128,
}

/// The timing of a single message on an idle path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdlePath {
    /// Number of data packets; more if the message is cut within packets.
    pub packets: u64,
    /// Number of acknowledgements: one for every `ack_every` packets, rounded up.
    pub acks: u64,
    /// Number of acknowledgements that have crossed every link when the message completes: all on a
    /// single path, one on several paths, where the last may overtake the others.
    pub(super) acks_through: u64,
    /// Time from start to delivery.
    pub delivered: Span,
    /// Time from start to completion at the sender.
    pub completed: Span,
    /// All data packets with their gaps, in bytes on the wire.
    pub(super) wire_bytes: u128,
    /// All data packets but the last with their gaps, in bytes on the wire.
    pub(super) wire_bytes_before_last: u128,
    /// Time from the last packet's delivery to the completion, in picoseconds.
    pub(super) ack_delay: u128,
    /// True if the shortest packet may leave before others.
    pub(super) is_reordered: bool,
    /// Timing of data at the sender's link, the link after it, the link before the receiver's, and
    /// the receiver's.
    pub(super) data: [LinkTiming; 4],
    /// Timing of acknowledgements at the same links.
    pub(super) ack: [LinkTiming; 4],
}

impl Path {
    /// Returns the best case of the paths from `src` to `dst`; `None` if there is no path.
    pub fn between(topology: &Topology, routes: &Routes, src: HostId, dst: HostId) -> Option<Self> {
        let count = routes.path_count(src, dst);
        if count == 0 {
            return None;
        }
        let hop = |port: PortId| Hop::of(topology.link(port.link()));
        let mut hops = vec![hop(topology.host_port(src))];
        let mut at: Vec<SwitchId> = topology.edge_of(src).into_iter().collect();
        while !at.is_empty() {
            // All switches of `at` are equally far from `dst`, so their ports form one hop.
            let ports = || at.iter().flat_map(|switch| routes.next_hops(*switch, dst)).copied();
            hops.extend(ports().map(hop).reduce(Hop::best));
            let mut next: Vec<SwitchId> =
                ports().filter_map(|port| topology.ends_of(port).1.switch()).collect();
            next.sort_unstable();
            next.dedup();
            at = next;
        }
        Some(Self { hops, count })
    }

    /// Extends the best case to longer paths. `best` is the best link between any two switches.
    fn with_detours(mut self, best: Option<Hop>) -> Self {
        if let ([_, between @ .., _], Some(best)) = (&mut self.hops[..], best)
            && !between.is_empty()
        {
            between.fill(best);
            self.count = self.count.max(2);
        }
        self
    }
}

impl Hop {
    fn of(link: &Link) -> Self {
        Self { rate: link.rate, delay: link.delay }
    }

    fn best(self, other: Self) -> Self {
        Self { rate: self.rate.max(other.rate), delay: self.delay.min(other.delay) }
    }

    /// Returns the best rate and delay of all links between switches.
    fn between_switches(topology: &Topology) -> Option<Self> {
        let links = topology.links().iter();
        let between = links.filter(|link| link.ends.iter().all(|end| end.switch().is_some()));
        between.map(Self::of).reduce(Self::best)
    }
}

/// Transmission times of the packets of one message, by hop of one path, in picoseconds.
///
/// `full` and `last` are for a full and for the last data packet; `_busy` includes the gap.
struct Times {
    full: Vec<u128>,
    full_busy: Vec<u128>,
    last: Vec<u128>,
    last_busy: Vec<u128>,
    ack: Vec<u128>,
    /// Propagation delay only, without the forwarding delay of the switch behind the hop.
    delay: Vec<u128>,
    forwarding: u128,
}

impl Times {
    fn new(path: &Path, wire: &Wire, last: Bytes) -> Self {
        let full = wire.payload + wire.header;
        let over = |bytes: Bytes| path.hops.iter().map(|hop| ps(hop.rate, bytes)).collect();
        Self {
            full: over(full),
            full_busy: over(full + wire.gap),
            last: over(last),
            last_busy: over(last + wire.gap),
            ack: over(wire.ack),
            delay: path.hops.iter().map(|hop| u128::from(hop.delay.as_ps())).collect(),
            forwarding: u128::from(wire.forwarding_delay.as_ps()),
        }
    }

    /// Returns the time from a packet's first bit on the first of `hops` until it can start on the
    /// hop after the last.
    fn transit(&self, packet: &[u128], hops: std::ops::Range<usize>) -> u128 {
        hops.map(|hop| packet[hop] + self.delay[hop] + self.forwarding).sum()
    }

    /// Returns the time from a packet's first bit on the first of `hops` to its arrival at the host
    /// where they end. A host adds no forwarding delay.
    fn transit_to_end(&self, packet: &[u128], hops: std::ops::Range<usize>) -> u128 {
        let transit = self.transit(packet, hops.clone());
        if hops.is_empty() { 0 } else { transit - self.forwarding }
    }
}

impl IdlePath {
    /// Computes the timing of a message of `bytes` on an idle `path`. An empty message is one
    /// packet of headers.
    pub fn new(path: &Path, bytes: Bytes, wire: &Wire) -> Self {
        let payload = wire.payload.get().max(1);
        let packets = bytes.get().div_ceil(payload).max(1);
        let last_payload = bytes.get() - (packets - 1) * payload;
        let last = Bytes::new(last_payload) + wire.header;
        let shortest = shortest_of_split(bytes, packets, last, wire);
        let times = Times::new(path, wire, shortest.unwrap_or(last));
        let hops = path.hops.len();
        let before =
            u128::from(packets - 1) * u128::from((wire.payload + wire.header + wire.gap).get());
        let wire_bytes = before + u128::from((last + wire.gap).get());
        let delivered = if shortest.is_some() {
            let total = wire_bytes - u128::from(wire.gap.get());
            in_any_order(path, &times, Bytes::new(u64::try_from(total).unwrap_or(u64::MAX)))
        } else if packets == 1 {
            times.transit_to_end(&times.last, 0..hops)
        } else if path.count == 1 {
            in_order(&times, packets)
        } else {
            overtaking(&times, packets)
        };
        let ack_delay = times.transit_to_end(&times.ack, 0..hops);
        let acks = packets.div_ceil(u64::from(wire.ack_every.max(1)));
        let head = |hop: usize| match shortest {
            Some(_) => times.transit(&times.last, 0..hop),
            None => first_arrival(&times, packets, hop),
        };
        // On a short path some of the four are the same link.
        let links = [0, 1.min(hops - 1), hops.saturating_sub(2), hops - 1];
        Self {
            packets,
            acks,
            acks_through: if path.count == 1 { acks } else { 1 },
            delivered: span(delivered),
            completed: span(delivered + ack_delay),
            wire_bytes,
            wire_bytes_before_last: before,
            ack_delay,
            is_reordered: shortest.is_some_and(|shortest| shortest < wire.payload + wire.header),
            data: links
                .map(|hop| LinkTiming { head: head(hop), tail: data_tail(&times, hop, ack_delay) }),
            ack: links.map(|hop| ack_timing(&times, head(hops - 1), hop)),
        }
    }
}

/// Returns the delivery time if all packets take the same links. The slowest hop so far sets the
/// spacing of full packets, and the last packet never overtakes them.
fn in_order(times: &Times, packets: u64) -> u128 {
    let between = u128::from(packets - 2);
    let (mut first, mut spacing, mut last) = (0, 0, 0);
    let hops = times.full.len();
    for hop in 0..hops {
        // A faster link behind a slow one cannot close the gaps between packets.
        spacing = times.full_busy[hop].max(spacing);
        let last_full = first + between * spacing;
        last = (last_full + times.full_busy[hop]).max(last);
        first += times.transit(&times.full, hop..hop + 1);
        last += times.transit(&times.last, hop..hop + 1);
    }
    last - times.forwarding
}

/// Returns the delivery time if the last packet may overtake full ones between the first and last
/// link.
fn overtaking(times: &Times, packets: u64) -> u128 {
    let down = times.full.len() - 1;
    let transit_full = times.transit(&times.full, 0..down);
    let full = u128::from(packets - 2) * times.full_busy[0] + transit_full;
    let last = u128::from(packets - 1) * times.full_busy[0] + times.transit(&times.last, 0..down);
    // The shorter last packet may reach the last link first. The better of both orders counts, but
    // never less than the work of that link.
    let full_first = (full + times.full_busy[down]).max(last) + times.last[down];
    let last_first = (last + times.last_busy[down]).max(full) + times.full[down];
    // The last link carries all packets, starting at the earliest arrival of any of them.
    let work = u128::from(packets - 1) * times.full_busy[down] + times.last[down];
    full_first.min(last_first).max(transit_full.min(last) + work) + times.delay[down]
}

/// Returns the earliest time of any packet at `hop`: the first packet's, or the last one's if it is
/// short enough to overtake.
fn first_arrival(times: &Times, packets: u64, hop: usize) -> u128 {
    let last = u128::from(packets - 1) * times.full_busy[0] + times.transit(&times.last, 0..hop);
    if packets == 1 { last } else { last.min(times.transit(&times.full, 0..hop)) }
}

/// Returns the size on the wire of the shortest possible packet of a split message; `None` if the
/// message cannot be split.
fn shortest_of_split(bytes: Bytes, packets: u64, last: Bytes, wire: &Wire) -> Option<Bytes> {
    match wire.cuts {
        Cuts::BetweenPackets if packets > 1 => Some(last),
        Cuts::Anywhere { least } if bytes.get() / 2 >= least.get() => {
            Some(Bytes::new(1) + wire.header)
        }
        _ => None,
    }
}

/// Returns the delivery time of a split message. `total` bytes, with all gaps but the last, cross
/// the links that all packets share. On each of these links a packet of the shortest length may be
/// both the first and the last.
fn in_any_order(path: &Path, times: &Times, total: Bytes) -> u128 {
    let hops = path.hops.len();
    let carries_all = |hop: &usize| path.count == 1 || *hop == 0 || *hop + 1 == hops;
    let through = (0..hops).filter(carries_all).map(|hop| {
        let rest = hop + 1..hops;
        let forwarded = if rest.is_empty() { 0 } else { times.forwarding };
        let behind = times.delay[hop] + forwarded + times.transit_to_end(&times.last, rest);
        times.transit(&times.last, 0..hop) + ps(path.hops[hop].rate, total) + behind
    });
    through.max().unwrap_or(0)
}

/// Returns the least time from the last packet's last bit on `hop` to the message's completion.
fn data_tail(times: &Times, hop: usize, ack_delay: u128) -> u128 {
    let rest = hop + 1..times.last.len();
    let forwarded = if rest.is_empty() { 0 } else { times.forwarding };
    times.delay[hop] + forwarded + times.transit_to_end(&times.last, rest) + ack_delay
}

/// Returns the timing of acknowledgements at `hop`. The first data packet reaches the last link at
/// `arrival`.
fn ack_timing(times: &Times, arrival: u128, hop: usize) -> LinkTiming {
    let hops = times.last.len();
    let last = hops - 1;
    let shorter = times.last[last].min(times.full[last]);
    let delivered = arrival + shorter + times.delay[last];
    let forwarded = if hop == 0 { 0 } else { times.forwarding };
    LinkTiming {
        head: delivered + times.transit(&times.ack, hop + 1..hops),
        tail: times.delay[hop] + forwarded + times.transit_to_end(&times.ack, 0..hop),
    }
}

/// The idle path of every message. Messages of equal size between equivalent hosts share one.
pub(super) struct IdlePaths {
    kinds: Vec<IdlePath>,
    of_message: Vec<Option<u32>>,
    scale_up: Option<ScaleUp>,
    /// Length of the shortest generated message, if the workload generates messages in chains.
    shortest: Option<Bytes>,
}

impl IdlePaths {
    /// Computes the idle path of every message of `workload`.
    pub(super) fn of(
        topology: &Topology,
        routes: &Routes,
        workload: &Workload,
        wire: &Wire,
    ) -> Self {
        let host_kinds = host_kinds(topology);
        let by_detours = Hop::between_switches(topology).filter(|_| wire.takes_detours);
        let mut paths: BTreeMap<_, Option<(usize, Path)>> = BTreeMap::new();
        let mut known: BTreeMap<(usize, Bytes), u32> = BTreeMap::new();
        let mut kinds = Vec::new();
        let mut find = |message: &Message| {
            let dst = message.dst;
            let src = topology.sender_over_fabric(message.src, dst)?;
            let ends = [src, dst].map(|host| (routes.edge_of(host), host_kinds[host.index()]));
            let number = paths.len();
            let path = paths.entry(ends).or_insert_with(|| {
                let path = Path::between(topology, routes, src, dst)?;
                Some((number, path.with_detours(by_detours)))
            });
            let (number, path) = path.as_ref()?;
            // An all-to-all has millions of messages of a handful of kinds.
            let kind = known.entry((*number, message.bytes)).or_insert_with(|| {
                kinds.push(IdlePath::new(path, message.bytes, wire));
                u32::try_from(kinds.len() - 1).expect("message ids are 32 bits")
            });
            Some(*kind)
        };
        let of_message = workload.messages.iter().map(&mut find).collect();
        // A listed message represents generated messages that may be relayed one by one.
        let shortest = workload.chains.as_deref().and_then(|it| it.lengths().first().copied());
        Self { kinds, of_message, scale_up: topology.scale_up().copied(), shortest }
    }

    /// Returns the idle path of a message over the fabric, by index. `None` if no route connects
    /// its hosts or if the message does not use the fabric.
    pub(super) fn get(&self, message: usize) -> Option<&IdlePath> {
        self.of_message[message].map(|kind| &self.kinds[kind as usize])
    }

    /// Returns the host whose NIC sends a message over the fabric, and the least time in
    /// picoseconds from the message's start until that NIC can begin.
    pub(super) fn sender(&self, message: &Message) -> (HostId, u128) {
        let Some(scale_up) = &self.scale_up else { return (message.src, 0) };
        match scale_up.host_path(message.src, message.dst) {
            HostPath::Relayed(by) => (by, self.to_relay(scale_up, message.bytes)),
            HostPath::Fabric | HostPath::ScaleUp => (message.src, 0),
        }
    }

    /// Returns the least times from a message's start to its completion and to its delivery, in
    /// picoseconds. `index` is the message's index. `None` if no route connects its hosts.
    pub(super) fn ends(&self, index: usize, message: &Message) -> Option<(u128, u128)> {
        if let Some(scale_up) = &self.scale_up {
            let latency = u128::from(scale_up.latency.as_ps());
            let first = || scale_up.delivery(message.bytes);
            match scale_up.host_path(message.src, message.dst) {
                HostPath::ScaleUp => return Some((first() + latency, first())),
                HostPath::Relayed(_) => {
                    let (completed, delivered) = self.over_fabric(index)?;
                    let first = self.to_relay(scale_up, message.bytes);
                    return Some((first + completed + latency, first + delivered));
                }
                HostPath::Fabric => {}
            }
        }
        self.over_fabric(index)
    }

    /// Returns the least time until a relay holds the first whole message that it can forward.
    fn to_relay(&self, scale_up: &ScaleUp, bytes: Bytes) -> u128 {
        scale_up.delivery(self.shortest.map_or(bytes, |shortest| bytes.min(shortest)))
    }

    fn over_fabric(&self, index: usize) -> Option<(u128, u128)> {
        let idle = self.get(index)?;
        Some((idle.completed.as_ps().into(), idle.delivered.as_ps().into()))
    }
}

/// Groups hosts by the rate and delay of their links. Returns the index of each host's group.
fn host_kinds(topology: &Topology) -> Vec<usize> {
    let mut kinds = BTreeMap::new();
    let hosts = (0..topology.host_count()).map(HostId);
    hosts
        .map(|host| {
            let link = topology.link(topology.host_port(host).link());
            let next = kinds.len();
            *kinds.entry((link.rate, link.delay)).or_insert(next)
        })
        .collect()
}

/// Returns the earliest completion of the last independent message, in picoseconds from the first
/// start, if each message has the fabric to itself.
pub(super) fn bound_ps(BoundInputs { workload, starts, paths }: BoundInputs<'_>) -> u128 {
    let waits = |message: usize| workload.waits_for.get(message).is_some_and(|count| *count > 0);
    let alone = starts.iter().enumerate().filter(|(message, _)| !waits(*message));
    let ends = alone.filter_map(|(message, start)| {
        Some(start + paths.ends(message, &workload.messages[message])?.0)
    });
    ends.max().unwrap_or(0)
}

fn ps(rate: BitRate, bytes: Bytes) -> u128 {
    u128::from(rate.time_for(bytes).as_ps())
}

fn span(ps: u128) -> Span {
    Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
