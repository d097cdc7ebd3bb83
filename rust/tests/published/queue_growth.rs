//! Growth of a permutation's queues with the packets per message ("Load Balancing for AI Training
//! Workloads", arXiv 2507.21372 v2, theory and figure 6): linear, as the square root, or none.
//!
//! The theory has no acknowledgements. The example's links are so long that no acknowledgement is
//! sent before all data have arrived. The last arrival at a tier's queues is then one packet and
//! one link later than at the previous tier, and the queue is measured at that time. Queues include
//! the packet on the wire, as in the theory.

use std::sync::Arc;

use super::run::{complete, setup, side_by_side};
use crate::support::{extent, screen};
use evenkeel::balance::build_scheme;
use evenkeel::fabric::{Outcome, Setup, TieOrder};
use evenkeel::ids::PortId;
use evenkeel::topology::{Node, Topology};
use evenkeel::units::{Bytes, Span, Time};

/// Packets per message.
const SIZES: [u64; 4] = [64, 256, 1_024, 4_096];
const SEEDS: u64 = 4;
/// Bytes of a full packet on the wire, without and with its gap.
const PACKET: u64 = 4_158;
const PACKET_TIME: Span = Span::from_ps(41_780);
const PACKET_BYTES_TIME: Span = Span::from_ps(41_580);

/// The links of one tier and direction, by the number of links that a packet crossed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    EdgeUp = 1,
    CoreDown = 3,
    AggregationDown = 4,
}

/// Each policy, the links where its queues grow, the expected exponent of m, and its tolerance.
const POLICIES: [(&str, Links, f64, f64); 7] = [
    ("switch-rr", Links::CoreDown, 1.0, 0.15),
    ("jsq", Links::CoreDown, 1.0, 0.15),
    ("switch-rr-shuffled", Links::AggregationDown, 0.5, 0.15),
    ("switch-random", Links::EdgeUp, 0.5, 0.1),
    ("spray", Links::EdgeUp, 0.5, 0.1),
    ("host-dr", Links::CoreDown, 0.0, 0.1),
    ("ofan", Links::CoreDown, 0.0, 0.1),
];

#[test]
fn queues_grow_with_message_length_as_predicted() {
    if extent::is_left_out("published::queue_growth") {
        return;
    }
    let runs = |policy| SIZES.map(|packets| (1..=SEEDS).map(move |seed| (policy, packets, seed)));
    let jobs: Vec<_> = POLICIES.iter().flat_map(runs).flatten().collect();
    let measured = side_by_side(&jobs, |&(&(policy, links, ..), packets, seed)| {
        measure(&prepare(policy, packets, seed), packets, links)
    });
    let law = SIZES.map(root_law);
    let mut table = String::from(
        "Permutation on a fat-tree of k = 8: packets in a queue at the end of arrivals,\n\
         by packets per message (m); means of 4 permutations. Law: Ofan, theory.\n\n\
         mean over those links          64     256    1024    4096  exponent    law\n",
    );
    table += &format!("sqrt(1-2/k) sqrt(2m/pi)  {}\n", row(law, 0.5));
    let mut largest = String::from("largest of all queues at any time\n");
    let of_policies = measured.chunks_exact(SIZES.len() * SEEDS as usize);
    for (&(policy, links, exponent, near), of_policy) in POLICIES.iter().zip(of_policies) {
        let sizes: Vec<_> = of_policy.chunks_exact(SEEDS as usize).collect();
        let mean = |part: fn(&(f64, f64)) -> f64| {
            [0, 1, 2, 3].map(|size| sizes[size].iter().map(part).sum::<f64>() / SEEDS as f64)
        };
        let (means, maxima) = (mean(|it| it.0), mean(|it| it.1));
        for (what, values) in [("mean", means), ("largest", maxima)] {
            let fitted = fit(values);
            assert!((fitted - exponent).abs() <= near, "{policy}, {what}: {fitted} {values:?}");
        }
        if links == Links::EdgeUp {
            let off = means.iter().zip(law).map(|(mean, law)| (mean / law - 1.0).abs());
            assert!(off.fold(0.0, f64::max) <= 0.15, "{policy}: {means:?} for {law:?}");
        }
        let place = match links {
            Links::EdgeUp => "up",
            Links::CoreDown => "down",
            Links::AggregationDown => "edge",
        };
        table += &format!("{policy:<19}{place:<6}{} {exponent:>7.1}\n", row(means, fit(means)));
        largest += &format!("{policy:<25}{} {exponent:>7.1}\n", row(maxima, fit(maxima)));
    }
    let broken = with_acknowledgements();
    table += &format!(
        "\n{largest}\n\
         up: edge to aggregation; down: core to aggregation; edge: aggregation to edge.\n\
         The shuffled order departs from the theory: re-shuffling turns the drift into a\n\
         random walk. With links of 0.5 us and one acknowledgement per 32 packets, the\n\
         lock of switch-rr breaks: its largest queue is {broken:.0} packets at m = {}.\n",
        SIZES[3]
    );
    screen("published-queue-growth", &table);
}

/// Returns the largest queue of simple round-robin if acknowledgements also advance it.
fn with_acknowledgements() -> f64 {
    let mut setup = prepare("switch-rr", SIZES[3], 1);
    let topology = &setup.topology;
    let mut links = topology.links().to_vec();
    links.iter_mut().for_each(|link| link.delay = Span::from_ns(500));
    let hosts = (0..topology.host_count()).map(|host| format!("host{host}")).collect();
    let topology = Topology::new(hosts, topology.switches().to_vec(), links);
    setup.topology = Arc::new(topology.expect("the same but for delays"));
    complete(&setup).queue_bytes_max.get() as f64 / PACKET as f64
}

/// Returns the queue of random choices according to the theory.
fn root_law(packets: u64) -> f64 {
    let variance: f64 = 1.0 - 2.0 / 8.0;
    variance.sqrt() * (2.0 * packets as f64 / std::f64::consts::PI).sqrt()
}

/// Returns the example under a policy with messages of `packets` packets, measured when the last
/// packet has arrived at the queues of each tier.
fn prepare(policy: &str, packets: u64, seed: u64) -> Setup {
    let (policy, parameters) = match policy {
        "jsq" => ("jsq", "ties = 'first'"),
        _ => (policy, ""),
    };
    let mut setup = setup("queue-growth.toml", policy, seed);
    setup.scheme = build_scheme(policy, &parameters.parse().unwrap()).unwrap();
    // The theory assumes rounds. With a random order, the queues of switch-rr grow as m^0.27.
    setup.fabric.ties = TieOrder::Port;
    for message in &mut Arc::make_mut(&mut setup.workload).messages {
        message.bytes = Bytes::new(packets * 4_096);
    }
    let hop = PACKET_BYTES_TIME + setup.topology.links()[0].delay;
    let sent = Time::ZERO + PACKET_TIME * packets;
    setup.probes = (0..=4).map(|hops| sent + hop * hops).collect();
    setup
}

/// Returns the mean queue of the links after their last arrival, and the largest queue at any time.
fn measure(setup: &Setup, packets: u64, links: Links) -> (f64, f64) {
    let outcome = complete(setup);
    assert_eq!(outcome.counters.sent, setup.workload.messages.len() as u64 * packets);
    let probe = &outcome.probes[links as usize];
    let ports = 0..u32::try_from(probe.queues.len()).expect("ids are 32 bits");
    let of_tier = ports.filter(|&port| is_of(&setup.topology, PortId(port), links));
    let queues: Vec<u32> = of_tier.map(|port| probe.queues[port as usize].packets).collect();
    let mean = f64::from(queues.iter().sum::<u32>()) / queues.len() as f64;
    (mean, largest(&outcome))
}

/// Returns the largest queue, including the packet on the wire.
fn largest(outcome: &Outcome) -> f64 {
    outcome.queue_bytes_max.get() as f64 / PACKET as f64 + 1.0
}

fn is_of(topology: &Topology, port: PortId, links: Links) -> bool {
    let (start, end) = topology.ends_of(port);
    let tier = |node| match node {
        Node::Host(_) => None,
        Node::Switch(switch) => Some(topology.switches()[switch.index()].tier),
    };
    let tiers = match links {
        Links::EdgeUp => (0, 1),
        Links::CoreDown => (2, 1),
        Links::AggregationDown => (1, 0),
    };
    (tier(start), tier(end)) == (Some(tiers.0), Some(tiers.1))
}

/// Returns the least-squares fit of the exponent to the logarithms.
fn fit(values: [f64; 4]) -> f64 {
    let x = SIZES.map(|packets| (packets as f64).ln());
    let y = values.map(f64::ln);
    let mean = |of: [f64; 4]| of.iter().sum::<f64>() / 4.0;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let above: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    above / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>()
}

fn row(values: [f64; 4], exponent: f64) -> String {
    let values = values.map(|value| format!("{value:>8.1}"));
    format!("{}{exponent:>10.2}", values.concat())
}
