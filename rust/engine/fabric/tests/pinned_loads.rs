//! Theorem 1 of Ethereal (arXiv 2407.00550 v2) in whole runs: every link carries the load of ideal
//! spraying, even if several messages of one pair of hosts overlap.
//!
//! Headers and acknowledgements have zero bytes here, so links count only payload. Messages have
//! 144 packets or twice as many, so that pieces are equal for every number of paths here.

use proptest::prelude::*;

use super::*;
use crate::topology::{Node, Routes};

/// A multiple of every number up to 16.
const UNIT: u64 = 720_720;

fn only_payload(topology: Topology, policy: &str, messages: Vec<Message>) -> Setup {
    let mut setup = setup(topology, policy, messages);
    setup.nic.payload = Bytes::new(UNIT / 144);
    setup.nic.header = Bytes::ZERO;
    setup.nic.ack.bytes = Bytes::ZERO;
    setup
}

/// Bytes on each direction of each link under ideal spraying.
struct Sprayed<'a> {
    setup: &'a Setup,
    routes: Routes,
    bytes: Vec<u64>,
}

impl Sprayed<'_> {
    /// Divides `bytes` for `dst` evenly over the next hops behind `port`.
    fn add(&mut self, port: PortId, dst: HostId, bytes: u64) {
        self.bytes[port.index()] += bytes;
        let Node::Switch(switch) = self.setup.topology.ends_of(port).1 else { return };
        let hops = self.routes.next_hops(switch, dst).to_vec();
        let share = bytes / hops.len() as u64;
        assert_eq!(share * hops.len() as u64, bytes, "the test's messages divide evenly");
        hops.into_iter().for_each(|hop| self.add(hop, dst, share));
    }
}

/// Bytes on each direction of each link if every message is sprayed ideally.
fn sprayed(setup: &Setup) -> Vec<u64> {
    let routes = Routes::new(&setup.topology, &|_| true);
    let bytes = vec![0; 2 * setup.topology.links().len()];
    let mut sprayed = Sprayed { setup, routes, bytes };
    for message in &setup.workload.messages {
        let port = setup.topology.host_port(message.src);
        sprayed.add(port, message.dst, message.bytes.get());
    }
    sprayed.bytes
}

fn check_loads(setup: &Setup) -> Result<(), TestCaseError> {
    let outcome = complete(setup);
    let expected = sprayed(setup);
    for (port, (&measured, &expected)) in outcome.link_bytes.iter().zip(&expected).enumerate() {
        let (link, policy) = (setup.topology.link_name(PortId(port as u32).link()), &setup.scheme);
        prop_assert_eq!(measured.get(), expected, "{} under {}", link, policy.name);
    }
    Ok(())
}

/// Messages among 16 hosts, up to three per pair, of two sizes, in two batches.
fn overlapping() -> impl Strategy<Value = Vec<Message>> {
    let message = (0..16u32, 1..16u32, 1..=2u64, 0..2u64, 1..=3usize);
    prop::collection::vec(message, 1..12).prop_map(|drawn| {
        let mut messages = Vec::new();
        for (src, by, units, batch, copies) in drawn {
            let message = Message {
                src: HostId(src),
                dst: HostId((src + by) % 16),
                bytes: Bytes::new(units * UNIT),
                stream: 0,
                start: Time::ZERO + Span::from_us(batch * 3),
            };
            messages.extend(vec![message; copies]);
        }
        messages
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_link_of_a_leaf_spine_has_the_bytes_of_ideal_spraying(
        messages in overlapping(),
        (leaves, spines) in prop::sample::select(vec![(2, 3), (4, 4), (8, 2), (4, 6), (2, 16)]),
        policy in prop::sample::select(vec!["ethereal", "line-cut"]),
    ) {
        let topology = leaf_spine(leaves, spines, 16 / leaves, 400);
        check_loads(&only_payload(topology, policy, messages))?;
    }

    #[test]
    fn every_link_of_a_fat_tree_has_the_bytes_of_ideal_spraying(
        messages in overlapping(),
        policy in prop::sample::select(vec!["ethereal", "line-cut"]),
    ) {
        check_loads(&only_payload(fat_tree(4, 400), policy, messages))?;
    }
}

#[test]
fn two_messages_of_one_pair_take_two_uplinks() {
    let setup = setup(leaf_spine(2, 2, 1, 400), "ethereal", messages(&[(0, 1); 2], 1 << 20));
    let mut one_stream = setup.clone();
    Arc::make_mut(&mut one_stream.workload).messages.iter_mut().for_each(|it| it.stream = 0);
    for setup in [setup, one_stream] {
        let outcome = complete(&setup);
        let bytes = |name: &str| {
            let link = setup.topology.link_named(name).unwrap();
            let port =
                [2 * link.0, 2 * link.0 + 1].map(|port| outcome.link_bytes[port as usize].get());
            port[0].max(port[1])
        };
        let uplinks = ["leaf0-spine0", "leaf0-spine1"].map(bytes);
        assert_eq!(uplinks[0], uplinks[1]);
        assert!(uplinks[0] >= 1 << 20);
    }
}

#[test]
fn an_idle_queue_pair_is_reused() {
    let mut messages = messages(&[(0, 1); 3], 1 << 20);
    for (index, message) in (0..).zip(&mut messages) {
        message.stream = 0;
        message.start = Time::ZERO + Span::from_us(index * 200);
    }
    // One message at a time, in halves over two paths: two queue pairs, regardless of the paths
    // drawn.
    let outcome = complete(&setup(leaf_spine(2, 2, 1, 400), "ethereal", messages.clone()));
    assert_eq!((outcome.qps.total, outcome.qps.extra_total), (2, 1));
    assert_eq!((outcome.qps.in_use_per_nic_max, outcome.qps.in_use_per_peer_max), (2, 2));
    // All at once: a whole message on each path, and the third one in halves.
    messages.iter_mut().for_each(|message| message.start = Time::ZERO);
    let outcome = complete(&setup(leaf_spine(2, 2, 1, 400), "ethereal", messages));
    assert_eq!((outcome.qps.total, outcome.qps.in_use_per_nic_max), (4, 4));
}
