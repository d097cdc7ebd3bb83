//! Lower bounds in closed form: the least time that a workload takes on a fabric under any load
//! balancing.
//!
//! Every bound holds for any choice of paths. All of them assume the best case of the fabric:
//! nothing is lost, messages consist of full packets and a possibly shorter last one, and packets
//! take shortest paths without failures.
//!
//! If packets may take longer paths ([`Wire::takes_detours`]), all links between switches count as
//! being as fast as the fastest one, and packets overtake each other there. If messages are split
//! ([`Cuts`]), their packets leave in any order. If they are cut within packets, the last one may
//! be as short as a byte. Transmission times are exact, not truncated.

mod chain;
mod cut;
#[cfg(test)]
mod fixtures;
mod host_nic;
mod idle_path;
mod load;
mod permutation;
mod rho;
mod scale_up;
#[cfg(test)]
mod schedule_test;

pub use idle_path::{Hop, IdlePath, Path};

use crate::topology::{Routes, Topology};
use crate::units::{Bytes, Span};
use crate::workload::Workload;
use idle_path::IdlePaths;

/// The sizes of packets on the wire, and the rules for acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// Payload of a full packet; at least one byte.
    pub payload: Bytes,
    /// Headers of a data packet.
    pub header: Bytes,
    /// Size of an acknowledgement, headers included.
    pub ack: Bytes,
    /// Data packets per acknowledgement; the last packet of a message is acknowledged immediately.
    pub ack_every: u32,
    /// Whether ports transmit acknowledgements before data.
    pub ack_priority: bool,
    /// Gap after each packet, in bytes at the rate of the link.
    pub gap: Bytes,
    /// Time from the arrival of a packet's last bit at a switch until it can be transmitted.
    pub forwarding_delay: Span,
    /// How messages may be split.
    pub cuts: Cuts,
    /// Whether packets may pass through switches that are on no shortest path, as under `valiant`.
    pub takes_detours: bool,
}

/// How messages may be split into pieces, each on a separate queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cuts {
    /// Never: the packets of a message leave its sender in order.
    Never,
    /// Between packets: a message has the same packets, in any order.
    BetweenPackets,
    /// Anywhere, into pieces of at least `least` bytes: a message of twice that may have short
    /// packets.
    Anywhere {
        /// Minimum length of a piece.
        least: Bytes,
    },
}

/// A workload with the quantities that several bounds start from.
#[derive(Clone, Copy)]
struct BoundInputs<'a> {
    workload: &'a Workload,
    /// The earliest start of each message, in picoseconds from the first start.
    starts: &'a [u128],
    paths: &'a IdlePaths,
}

/// A lower bound on the completion time of a workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Least time from the first start to the last completion.
    pub time: Span,
    /// Greatest rate of each message, as a fraction of the host rate, that even splitting over all
    /// shortest paths can carry for all messages simultaneously. It is 1 if there are no messages.
    /// It is a rate of a message, not of a host. A non-blocking all-to-all among 256 hosts has
    /// 1/255 = 0.0039, because a host's link is divided among 255 messages; a permutation has 1.
    pub rho_max: f64,
    /// Name of the largest bound.
    pub binding: &'static str,
}

/// Computes all bounds and returns the largest.
///
/// Messages between hosts that `routes` does not connect are ignored. With several planes the
/// capacities of their links add up. Messages inside servers with a scale-up network load only its
/// ports.
pub fn bound(topology: &Topology, routes: &Routes, workload: &Workload, wire: &Wire) -> Bound {
    if topology.planes().count() > 1 {
        // One plane whose links have the rate of all planes together is at least as capable.
        let merged = topology.merged();
        let routes = Routes::new(&merged, &|_| true);
        return largest(&merged, &routes, workload, wire, Planes::Merged);
    }
    largest(topology, routes, workload, wire, Planes::One)
}

/// Whether each link represents the links of several planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planes {
    One,
    Merged,
}

fn largest(
    topology: &Topology,
    routes: &Routes,
    workload: &Workload,
    wire: &Wire,
    planes: Planes,
) -> Bound {
    // The messages of an exchange are not listed. A bound for part of them bounds the whole.
    let part = chain::exchange_sample(routes, workload);
    let workload = part.as_ref().unwrap_or(workload);
    let generated = chain::longest_generated(topology, routes, workload, wire);
    // With chains, a listed message sums up those of a rank and channel, so its last packet may
    // have any length.
    let of_load = Wire { cuts: Cuts::Anywhere { least: Bytes::new(1) }, ..*wire };
    let wire = if workload.chains.is_some() { &of_load } else { wire };
    let paths = IdlePaths::of(topology, routes, workload, wire);
    let starts = chain::earliest_starts(workload, &paths);
    let chain = chain::longest(workload, &starts, &paths).max(generated);
    // Only the chain bound includes delays; the others are about messages.
    let first = u128::from(workload.first_start().as_ps());
    let starts = starts[..workload.messages.len()].iter().map(|start| start.saturating_sub(first));
    let starts: Vec<u128> = starts.collect();
    let timeline = BoundInputs { workload, starts: &starts, paths: &paths };
    let bounds = [
        ("idle path", idle_path::bound_ps(timeline)),
        ("dependency chain", chain),
        ("host NIC", host_nic::bound_ps(topology, wire, timeline)),
        ("edge uplinks", cut::bound_ps(topology, routes, wire, timeline)),
        ("scale-up port", scale_up::bound_ps(topology, timeline)),
        (
            "permutation",
            match planes {
                Planes::One => permutation::bound_ps(topology, wire, timeline),
                // The bound is derived for a single port.
                Planes::Merged => 0,
            },
        ),
    ];
    let mut largest = bounds[0];
    for bound in bounds {
        // With equal bounds, the first one is reported.
        if bound.1 > largest.1 {
            largest = bound;
        }
    }
    let time = Span::from_ps(u64::try_from(largest.1).unwrap_or(u64::MAX));
    Bound { time, rho_max: rho::rho_max(topology, routes, workload), binding: largest.0 }
}

#[cfg(test)]
mod tests {
    use super::fixtures::{OFAN, fat_tree, flow, flows, leaf_spine};
    use super::*;
    use crate::extent;
    use crate::ids::{HostId, MessageId, TaskId};
    use crate::units::BitRate;
    use crate::workload::Workload;

    const RATE: BitRate = BitRate::from_gbps(800);

    fn bound_on(topology: &Topology, workload: &Workload) -> Bound {
        bound(topology, &Routes::new(topology, &|_| true), workload, &OFAN)
    }

    #[test]
    fn nothing_to_send_takes_no_time() {
        let nothing = bound_on(&leaf_spine(2, 2, 2, RATE), &Workload::default());
        assert_eq!((nothing.time, nothing.rho_max), (Span::ZERO, 1.0));
    }

    #[test]
    fn an_incast_is_bound_by_the_receiver_s_link() {
        let topology = leaf_spine(5, 4, 4, RATE);
        let incast = flows((0..8).map(|src| flow(src, 16, 10 * 4_096)));
        let bound = bound_on(&topology, &incast);
        // Three links to the last switch, 80 packets without the last gap, and the return path.
        let ps = 3 * (41_580 + 500_000) + 80 * 41_780 - 200 + 500_000 + 4 * (640 + 500_000);
        assert_eq!(bound, Bound { time: Span::from_ps(ps), rho_max: 0.125, binding: "host NIC" });
    }

    #[test]
    fn an_oversubscribed_edge_is_bound_by_its_uplinks() {
        let topology = leaf_spine(2, 2, 8, RATE);
        let across = flows((0..8).map(|src| flow(src, src + 8, 100 * 4_096)));
        let bound = bound_on(&topology, &across);
        assert_eq!((bound.binding, bound.rho_max), ("edge uplinks", 0.25));
        // 800 packets over two links, each with the first hop before and the rest after.
        let work = 400 * 41_780 - 200;
        let ways = 41_580 + 500_000 + 500_000 + 2 * (41_580 + 500_000) + 4 * (640 + 500_000);
        assert_eq!(bound.time, Span::from_ps(work + ways));
    }

    #[test]
    fn a_chain_adds_up_deliveries_and_completes_once() {
        let topology = leaf_spine(2, 2, 2, RATE);
        let messages = vec![flow(0, 1, 4_096), flow(1, 2, 4_096), flow(2, 3, 4_096)];
        let waits = [(MessageId(0), MessageId(1)), (MessageId(1), MessageId(2))];
        let chain = bound_on(&topology, &Workload::with_dependencies(messages, &waits));
        let (near, far) = (2 * 541_580, 4 * 541_580);
        assert_eq!(chain.time, Span::from_ps(near + far + near + 2 * 500_640));
        assert_eq!(chain.binding, "dependency chain");
    }

    #[test]
    fn delays_are_part_of_the_chain() {
        use crate::workload::Delay;
        let topology = leaf_spine(2, 2, 2, RATE);
        let delay = |host, us| Delay { host: HostId(host), span: Span::from_us(us) };
        let delays = vec![delay(0, 5), delay(1, 2), delay(0, 9)];
        let waits = [(1, 0), (0, 2)].map(|(before, after)| (TaskId(before), TaskId(after)));
        let workload = Workload::with_delays(vec![flow(0, 1, 4_096)], delays.clone(), &waits);
        let chain = bound_on(&topology, &workload);
        assert_eq!((chain.time, chain.binding), (Span::from_us(9), "dependency chain"));
        let workload = Workload::with_delays(vec![flow(0, 1, 4_096)], delays[..2].to_vec(), &waits);
        let chain = bound_on(&topology, &workload);
        assert_eq!(chain.time, Span::from_us(7) + Span::from_ps(2 * 541_580));
    }

    #[test]
    fn staggered_starts_count_from_the_first() {
        let topology = leaf_spine(2, 2, 2, RATE);
        let mut late = flow(0, 1, 4_096);
        let alone = bound_on(&topology, &flows([late].into_iter())).time;
        late.start = crate::units::Time::from_ps(70_000_000);
        let mut early = flow(2, 3, 4_096);
        early.start = crate::units::Time::from_ps(50_000_000);
        let both = bound_on(&topology, &flows([late, early].into_iter()));
        assert_eq!(both.time, Span::from_us(20) + alone);
    }

    #[test]
    fn all_to_all_is_bound_by_the_nic_with_its_acknowledgements() {
        let topology = leaf_spine(4, 4, 4, RATE);
        let pairs = (0..16).flat_map(|src| (1..16).map(move |by| (src, (src + by) % 16)));
        let all = flows(pairs.map(|(src, dst)| flow(src, dst, 64 * 4_096)));
        let bound = bound_on(&topology, &all);
        assert_eq!((bound.binding, bound.rho_max), ("host NIC", 1.0 / 15.0));
        let data_and_acks = 15 * 64 * (41_780 + 840);
        assert!(bound.time > Span::from_ps(data_and_acks));
        assert!(bound.time < Span::from_ps(data_and_acks + 5_000_000));
    }

    #[test]
    fn rho_max_is_the_rate_that_even_splitting_carries() {
        let topology = fat_tree(4, RATE);
        let rho = |pairs: &[(u32, u32)]| {
            let pairs = pairs.iter().map(|(src, dst)| flow(*src, *dst, 4_096));
            bound_on(&topology, &flows(pairs)).rho_max
        };
        assert_eq!(rho(&[(0, 4), (1, 5), (4, 0), (5, 1)]), 1.0);
        assert_eq!(rho(&[(0, 4), (1, 4)]), 0.5);
        let fast = leaf_spine(2, 2, 8, RATE);
        let across = flows((0..8).map(|src| flow(src, src + 8, 1)));
        assert_eq!(bound_on(&fast, &across).rho_max, 0.25);
    }

    #[test]
    fn the_capacities_of_planes_add_up() {
        use crate::topology::{LeafSpine, MultiPlane};
        let plane = |gbps| LeafSpine {
            leaves: 4,
            spines: 2,
            hosts_per_leaf: 4,
            host_rate: BitRate::from_gbps(gbps),
            fabric_rate: BitRate::from_gbps(gbps),
            delay: Span::from_ns(500),
            parallel_links: 1,
        };
        let planes = MultiPlane { planes: 4, rails: 1, plane: plane(100) }.build().unwrap();
        let one = plane(400).build().unwrap();
        let incast = flows((0..8).map(|src| flow(src, 15, 100 * 4_096)));
        assert_eq!(bound_on(&planes, &incast), bound_on(&one, &incast));
        let across = flows((0..4).map(|src| flow(src, src + 8, 100 * 4_096)));
        let bound = bound_on(&planes, &across);
        assert_eq!((bound.binding, bound), ("edge uplinks", bound_on(&one, &across)));
    }

    #[test]
    fn back_to_back_hosts_have_bounds() {
        use crate::ids::{HostId, LinkId};
        use crate::topology::{Link, Node};
        let ends = [Node::Host(HostId(0)), Node::Host(HostId(1))];
        let link = Link { ends, rate: RATE, delay: Span::from_ns(500) };
        let topology = Topology::new(vec!["a".into(), "b".into()], vec![], vec![link]).unwrap();
        assert_eq!(topology.link_name(LinkId(0)), "a-b");
        let bound = bound_on(&topology, &flows([flow(0, 1, 4_096)].into_iter()));
        assert_eq!(bound.time, Span::from_ns(1_000) + Span::from_ps(41_580 + 640));
        assert_eq!((bound.rho_max, bound.binding), (1.0, "idle path"));
    }

    #[test]
    fn unreachable_pairs_are_ignored() {
        let topology = leaf_spine(2, 1, 2, RATE);
        let cut = topology.link_named("leaf1-spine0").unwrap();
        let routes = Routes::new(&topology, &|link| link != cut);
        let apart = flows([flow(0, 3, 4_096)].into_iter());
        let bound = bound(&topology, &routes, &apart, &OFAN);
        assert_eq!((bound.time, bound.rho_max), (Span::ZERO, 1.0));
    }

    #[test]
    fn a_million_messages_take_no_noticeable_time() {
        if extent::is_left_out("bound::a_million_messages") {
            return;
        }
        let topology = leaf_spine(64, 16, 16, RATE);
        let pairs =
            (0..1_024u32).flat_map(|src| (1..1_024).map(move |by| (src, (src + by) % 1_024)));
        let all = flows(pairs.map(|(src, dst)| flow(src, dst, 15_625)));
        assert_eq!(bound_on(&topology, &all).binding, "host NIC");
    }
}
