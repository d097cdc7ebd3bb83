//! Closed forms: what no load balancing can beat, for a workload on a fabric.
//!
//! Every bound holds for any choice of paths. All of them assume what the fabric does at its
//! best: nothing is lost, every message is cut into full packets and one that may be shorter, in
//! order, and every packet takes a shortest path of the fabric without failures. (A splitter
//! whose pieces end in short packets may gain up to one packet's store-and-forward delay on the
//! bounds' tails, in a chain of messages at each step; it is not modelled.) Transmission times are exact, not truncated.

mod chain;
mod cut;
#[cfg(test)]
mod fixtures;
mod host_nic;
mod idle_path;
mod load;
mod permutation;
mod rho;
#[cfg(test)]
mod schedule_test;

pub use idle_path::{Hop, IdlePath, Path};

use crate::topology::{Routes, Topology};
use crate::units::{Bytes, Span};
use crate::workload::Workload;
use idle_path::Catalogue;

/// What packets look like on the wire, and when they are acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// Payload of a full packet; at least one byte.
    pub payload: Bytes,
    /// Headers of a data packet.
    pub header: Bytes,
    /// An acknowledgement.
    pub ack: Bytes,
    /// Data packets an acknowledgement; the last of a message is acknowledged at once.
    pub ack_every: u32,
    /// Whether acknowledgements go before data.
    pub ack_priority: bool,
    /// What the wire is busy for beyond each packet.
    pub gap: Bytes,
    /// From a packet's last bit in to when it can leave, in each switch.
    pub forwarding_delay: Span,
}

/// What no scheme can beat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Least time from the first start to the last completion.
    pub time: Span,
    /// Greatest common rate, as a part of the host rate, that even splitting of every message
    /// over its shortest paths can carry, all messages at once; 1 if there are none.
    pub rho_max: f64,
    /// Which bound is the largest.
    pub because: &'static str,
}

/// The largest of all bounds.
///
/// Messages between hosts that `routes` does not join are left out: nothing is known of them.
pub fn bound(topology: &Topology, routes: &Routes, workload: &Workload, wire: &Wire) -> Bound {
    let paths = Catalogue::of(topology, routes, workload, wire);
    let starts = chain::earliest_starts(workload, &paths);
    let chain = chain::longest(workload, &starts, &paths);
    // The others know of messages alone.
    let starts = &starts[..workload.messages.len()];
    let bounds = [
        ("idle path", idle_path::longest(workload, starts, &paths)),
        ("dependency chain", chain),
        ("host NIC", host_nic::busiest(topology, workload, wire, (starts, &paths))),
        ("edge uplinks", cut::busiest(topology, routes, workload, wire, (starts, &paths))),
        ("permutation", permutation::slowest(topology, workload, wire, (starts, &paths))),
    ];
    let mut largest = bounds[0];
    for bound in bounds {
        if bound.1 > largest.1 {
            largest = bound;
        }
    }
    let time = Span::from_ps(u64::try_from(largest.1).unwrap_or(u64::MAX));
    Bound { time, rho_max: rho::rho_max(topology, routes, workload), because: largest.0 }
}

#[cfg(test)]
mod tests {
    use super::fixtures::{OFAN, fat_tree, flow, flows, leaf_spine};
    use super::*;
    use crate::ids::{HostId, MessageId};
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
        // Three links to the last switch, 80 packets without the last gap, and the way back.
        let ps = 3 * (41_580 + 500_000) + 80 * 41_780 - 200 + 500_000 + 4 * (640 + 500_000);
        assert_eq!(bound, Bound { time: Span::from_ps(ps), rho_max: 0.125, because: "host NIC" });
    }

    #[test]
    fn an_oversubscribed_edge_is_bound_by_its_uplinks() {
        let topology = leaf_spine(2, 2, 8, RATE);
        let across = flows((0..8).map(|src| flow(src, src + 8, 100 * 4_096)));
        let bound = bound_on(&topology, &across);
        assert_eq!((bound.because, bound.rho_max), ("edge uplinks", 0.25));
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
        assert_eq!(chain.because, "dependency chain");
    }

    #[test]
    fn delays_are_a_part_of_the_chain() {
        use crate::workload::Delay;
        let topology = leaf_spine(2, 2, 2, RATE);
        let delay = |host, us| Delay { host: HostId(host), span: Span::from_us(us) };
        let delays = vec![delay(0, 5), delay(1, 2), delay(0, 9)];
        let waits = [(1, 0), (0, 2)].map(|(before, after)| (MessageId(before), MessageId(after)));
        let workload = Workload::with_delays(vec![flow(0, 1, 4_096)], delays.clone(), &waits);
        let chain = bound_on(&topology, &workload);
        assert_eq!((chain.time, chain.because), (Span::from_us(9), "dependency chain"));
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
        assert_eq!((bound.because, bound.rho_max), ("host NIC", 1.0 / 15.0));
        let data_and_acks = 15 * 64 * (41_780 + 840);
        assert!(bound.time > Span::from_ps(data_and_acks));
        assert!(bound.time < Span::from_ps(data_and_acks + 5_000_000));
    }

    #[test]
    fn rho_max_is_what_even_splitting_carries() {
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
    fn back_to_back_hosts_have_bounds_too() {
        use crate::ids::{HostId, LinkId};
        use crate::topology::{Link, Node};
        let ends = [Node::Host(HostId(0)), Node::Host(HostId(1))];
        let link = Link { ends, rate: RATE, delay: Span::from_ns(500) };
        let topology = Topology::new(vec!["a".into(), "b".into()], vec![], vec![link]).unwrap();
        assert_eq!(topology.link_name(LinkId(0)), "a-b");
        let bound = bound_on(&topology, &flows([flow(0, 1, 4_096)].into_iter()));
        assert_eq!(bound.time, Span::from_ns(1_000) + Span::from_ps(41_580 + 640));
        assert_eq!((bound.rho_max, bound.because), (1.0, "idle path"));
    }

    #[test]
    fn hosts_that_no_route_joins_are_left_out() {
        let topology = leaf_spine(2, 1, 2, RATE);
        let cut = topology.link_named("leaf1-spine0").unwrap();
        let routes = Routes::new(&topology, &|link| link != cut);
        let apart = flows([flow(0, 3, 4_096)].into_iter());
        let bound = bound(&topology, &routes, &apart, &OFAN);
        assert_eq!((bound.time, bound.rho_max), (Span::ZERO, 1.0));
    }

    #[test]
    fn a_million_messages_are_no_matter() {
        let topology = leaf_spine(64, 16, 16, RATE);
        let pairs =
            (0..1_024u32).flat_map(|src| (1..1_024).map(move |by| (src, (src + by) % 1_024)));
        let all = flows(pairs.map(|(src, dst)| flow(src, dst, 15_625)));
        assert_eq!(bound_on(&topology, &all).because, "host NIC");
    }
}
