//! Traffic classes: closed forms of two classes on one wire, marks, buffers, and parallel runs.

use super::parallel::{CUTS, busy, parallel};
use super::*;
use crate::endpoint::JobClass;
use crate::ids::ClassId;
use Scheduling::{Strict, Weighted};

/// Time of a packet and its gap at 400 Gbps, in picoseconds.
const SLOT: u64 = (PAYLOAD + HEADER + GAP) * 20;

/// A setup with these classes. Messages of stream `i` are of class `classes[i]`.
pub(super) fn with(mut setup: Setup, scheduling: &[Scheduling], classes: &[u32]) -> Setup {
    let class = |(index, &scheduling): (usize, &Scheduling)| ClassConfig {
        name: format!("class{index}"),
        scheduling,
        pfc: true,
    };
    setup.fabric.classes = scheduling.iter().enumerate().map(class).collect();
    let of_stream = |(stream, &class): (u32, &u32)| JobClass {
        streams: stream..stream + 1,
        class: ClassId(class),
    };
    setup.job_classes = (0u32..).zip(classes).map(of_stream).collect();
    setup
}

/// Two hosts of a leaf send to two hosts of another leaf, over a single uplink of the same rate.
/// One sends a message of the first class, the other one of the second. The first message starts a
/// picosecond earlier.
fn two_flows(packets: u64, scheduling: [Scheduling; 2]) -> Setup {
    let mut both = messages(&[(0, 2), (1, 3)], packets * PAYLOAD);
    both[1].start = Time::from_ps(1);
    with(setup(leaf_spine(2, 1, 2, 400), "ecmp", both), &scheduling, &[0, 1])
}

/// Completion times of the messages, in picoseconds.
fn times(setup: &Setup) -> Vec<u64> {
    let outcome = complete(setup);
    let ended = setup.workload.messages.iter().zip(&outcome.message_fct);
    ended.map(|(message, fct)| (message.start + *fct).as_ps()).collect()
}

/// Completion time of a message whose last packet is the `n`-th at the uplink.
fn at_slot(n: u64) -> u64 {
    idle_path_ps(n, PAYLOAD, 4, 20, 500_000)
}

#[test]
fn a_strict_class_waits_for_at_most_one_packet() {
    for scheduling in [[Strict, Weighted(7)], [Weighted(7), Strict], [Strict, Strict]] {
        let packets = 200;
        let first = if scheduling[0] == Strict { 0 } else { 1 };
        let found = times(&two_flows(packets, scheduling));
        // It waits for one packet of the other class: the first one, which finds the wire free, or
        // the one that starts when its second packet arrives.
        assert_eq!(found[first], at_slot(packets) + SLOT, "{scheduling:?}");
        // The wire is never idle, so the other message's last packet is the last one overall.
        assert_eq!(found[1 - first], at_slot(2 * packets), "{scheduling:?}");
    }
}

/// At equal rates each packet arrives just when the wire becomes free, and bypasses the queues.
#[test]
fn packets_that_find_a_free_wire_bypass_class_queues() {
    let mut alone = two_flows(50, [Weighted(3), Weighted(1)]);
    alone.workload = Arc::new(Workload::independent(messages(&[(0, 2)], 50 * PAYLOAD)));
    let outcome = complete(&alone);
    assert_eq!(outcome.cct, Some(Span::from_ps(at_slot(50))));
    assert_eq!((outcome.queue_bytes_max, outcome.queue_bytes_mean), (Bytes::ZERO, 0.0));
}

#[test]
fn weights_of_three_to_one_divide_the_wire() {
    let (rounds, packets) = (40, 2 + 3 * 40);
    let found = times(&two_flows(packets, [Weighted(3), Weighted(1)]));
    // A packet that arrives when another one starts comes after it. So the queue of the first class
    // is empty after its first two packets. From then on its rounds are complete: A B A B, AAA B,
    // AAA B, ...
    assert_eq!(found[0], at_slot(3 + 4 * rounds));
    assert_eq!(found[1], at_slot(2 * packets));
    // With exchanged weights, the first packet is of the class with the smaller share: B A, B AAA,
    // B AAA, ...
    let found = times(&two_flows(packets, [Weighted(1), Weighted(3)]));
    assert!(found[1].abs_diff(at_slot(packets * 4 / 3)) <= 4 * SLOT, "{found:?}");
    assert_eq!(found[0], at_slot(2 * packets));
}

#[test]
fn a_nic_sends_a_strict_class_first_and_weighted_ones_by_weight() {
    let packets = 90;
    // One host sends both messages, to two hosts.
    let of = |scheduling: [Scheduling; 2]| {
        let both = messages(&[(0, 2), (0, 3)], packets * PAYLOAD);
        times(&with(setup(leaf_spine(2, 1, 2, 400), "ecmp", both), &scheduling, &[0, 1]))
    };
    assert_eq!(of([Strict, Weighted(1)]), [at_slot(packets), at_slot(2 * packets)]);
    assert_eq!(of([Weighted(1), Strict]), [at_slot(2 * packets), at_slot(packets)]);
    // AAA B, AAA B, ...
    assert_eq!(of([Weighted(3), Weighted(1)])[0], at_slot(packets / 3 * 4 - 1));
}

#[test]
fn marks_depend_on_the_queue_of_the_packets_class() {
    let packets = 100;
    for at in [EcnPoint::Enqueue, EcnPoint::Dequeue] {
        let marked = |mut setup: Setup| {
            setup.fabric.switch.ecn = Ecn::Step(Bytes::new(3 * (PAYLOAD + HEADER)));
            setup.fabric.switch.ecn_point = at;
            complete(&setup).counters.marked
        };
        let of_classes = marked(two_flows(packets, [Strict, Strict]));
        let mut plain = two_flows(packets, [Strict, Strict]);
        (plain.fabric.classes, plain.job_classes) = (Vec::new(), Vec::new());
        // Packets of the first class never queue behind each other.
        assert!((packets / 2..packets).contains(&of_classes), "{of_classes}");
        assert!(marked(plain) > of_classes);
    }
}

#[test]
fn classes_share_the_buffer_of_a_port() {
    let mut setup = two_flows(300, [Weighted(1), Strict]);
    let full = PAYLOAD + HEADER;
    setup.fabric.switch.buffer = Buffer::PerPort(Bytes::new(20 * full));
    setup.nic.nack_interval = Span::from_us(10);
    let outcome = complete(&setup);
    assert!(outcome.counters.dropped > 0);
    assert_eq!(outcome.queue_bytes_max, Bytes::new(20 * full));
}

/// [`busy`] with three classes.
fn busy_classes(policy: &str) -> Setup {
    let classes: Vec<u32> = (0..48).map(|stream| stream % 3).collect();
    let mut setup = with(busy(policy), &[Weighted(2), Strict, Weighted(1)], &classes);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(400_000));
    setup
}

#[test]
fn one_class_gives_the_results_of_no_classes() {
    for policy in ["ecmp", "spray", "adaptive"] {
        let plain = busy(policy);
        let expected = complete(&plain);
        for scheduling in [Strict, Weighted(5)] {
            let outcome = complete(&with(plain.clone(), &[scheduling], &[]));
            let outcome = Outcome { dropped_by_class: Vec::new(), ..outcome };
            assert!(outcome == expected, "{policy}, {scheduling:?}");
        }
    }
}

#[test]
fn classes_have_the_same_outcome_in_parallel() {
    for policy in ["ecmp", "spray", "jsq", "ethereal"] {
        let setup = busy_classes(policy);
        let whole = complete(&setup);
        assert!(whole.counters.dropped > 0 && whole.counters.marked > 0, "{policy}");
        for (partitions, cut) in CUTS {
            assert!(whole == parallel(&setup, partitions, cut), "{policy}, {partitions} {cut:?}");
        }
    }
}

/// Creates a world of two classes from a setup that `wrong` makes invalid.
fn made_with(wrong: impl FnOnce(&mut Setup)) {
    let mut setup = two_flows(1, [Strict, Weighted(1)]);
    wrong(&mut setup);
    World::new(&setup);
}

#[test]
#[should_panic(expected = "there are 2 traffic classes")]
fn a_job_of_an_unknown_class_is_rejected() {
    made_with(|setup| setup.job_classes[1].class = ClassId(2));
}

#[test]
#[should_panic(expected = "8 traffic classes, of at most 7")]
fn more_classes_than_priorities_are_rejected() {
    made_with(|setup| {
        let class = setup.fabric.classes[0].clone();
        setup.fabric.classes = vec![class; MOST_CLASSES + 1];
    });
}

#[test]
#[should_panic(expected = "traffic classes cannot be combined with trimming")]
fn classes_with_trimming_are_rejected() {
    let (size, limit) = (Bytes::new(64), Bytes::new(6_400));
    let trim = TrimConfig { size, limit, victim: TrimVictim::Arriving };
    made_with(|setup| setup.fabric.switch.trim = Some(trim));
}
