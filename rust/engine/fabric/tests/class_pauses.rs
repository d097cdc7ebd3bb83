//! Priority flow control by traffic class: pauses of one class next to another, and their effects.

use super::classes::with;
use super::lossless::{lossless, ring_of_switches};
use super::parallel::{CUTS, parallel};
use super::*;
use crate::extent;
use crate::ids::ClassId;
use Scheduling::{Strict, Weighted};

const WORST: Headroom = Headroom::WorstCase { packet: Bytes::new(PAYLOAD + HEADER) };

/// Pauses and resumes of a class at a port, with their times.
fn orders(outcome: &Outcome, port: PortId, class: u32) -> Vec<(Time, PauseOrder)> {
    let of_class = |it: &&PauseRecord| it.port == port && it.class == ClassId(class);
    outcome.pauses.iter().filter(of_class).map(|it| (it.at, it.order)).collect()
}

/// Hosts 0 and 1 send to host 2 at the same switch, which leaves each half of its rate. Host 0
/// sends a message to host 3 later. The second class is strict.
fn next_to_an_incast(classes: &[u32; 3]) -> (Setup, Time) {
    let late = Time::ZERO + Span::from_us(100);
    let mut all = messages(&[(0, 2), (1, 2), (0, 3)], 2_000 * PAYLOAD);
    (all[2].bytes, all[2].start) = (Bytes::new(300 * PAYLOAD), late);
    let setup = setup(leaf_spine(1, 1, 4, 400), "ecmp", all);
    let mut setup = with(setup, &[Weighted(1), Strict], classes);
    lossless(&mut setup, WORST, 400_000);
    (setup, late)
}

#[test]
fn a_class_runs_at_full_rate_while_another_is_paused() {
    let (setup, late) = next_to_an_incast(&[0, 0, 1]);
    let outcome = complete(&setup);
    let port = setup.topology.host_port(HostId(0));
    let found = outcome.message_fct[2].as_ps();
    // On two idle links, except for at most one packet of the other class on each.
    let alone = idle_path_ps(300, PAYLOAD, 2, 20, 500_000);
    let slot = (PAYLOAD + HEADER + GAP) * 20;
    assert!((alone..=alone + 2 * slot).contains(&found), "{found} for {alone}");
    let meanwhile = late..late + Span::from_ps(found);
    let paused = orders(&outcome, port, 0);
    assert!(paused.len() > 10 && paused.iter().any(|(at, _)| meanwhile.contains(at)));
    assert_eq!(orders(&outcome, port, 1), []);
    assert_eq!(outcome.dropped_by_class, [0, 0]);
    // In the class of the incast, it waits behind the incast.
    let one = complete(&next_to_an_incast(&[0, 0, 0]).0).message_fct[2].as_ps();
    assert!(one > 3 * alone / 2, "{one} for {alone}");
}

/// Two incasts into host 2, in different classes and of different lengths.
fn two_incasts() -> Setup {
    let pairs = [(0, 2), (1, 2), (0, 2), (1, 2)];
    let setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", messages(&pairs, 500 * PAYLOAD));
    let mut setup = with(setup, &[Weighted(1), Weighted(3)], &[0, 0, 1, 1]);
    lossless(&mut setup, WORST, 300_000);
    setup
}

#[test]
fn two_classes_of_a_link_are_paused_and_resumed_separately() {
    let setup = two_incasts();
    let outcome = complete(&setup);
    assert_eq!(outcome.counters.dropped, 0);
    let port = setup.topology.host_port(HostId(0));
    let mut paused = [false; 2];
    let mut resumed_next_to_a_pause = [0; 2];
    for record in outcome.pauses.iter().filter(|record| record.port == port) {
        let class = record.class.index();
        let pauses = record.order == PauseOrder::Pause;
        assert_ne!(paused[class], pauses, "one frame for each change: {record:?}");
        paused[class] = pauses;
        resumed_next_to_a_pause[class] += u32::from(!pauses && paused[1 - class]);
    }
    assert_eq!(paused, [false; 2]);
    assert!(resumed_next_to_a_pause.iter().all(|&it| it > 0), "{resumed_next_to_a_pause:?}");
}

#[test]
fn pauses_of_each_class_expire_separately() {
    for admission in
        [PfcAdmission::Hpcc, PfcAdmission::ConWeave { packet: Bytes::new(PAYLOAD + HEADER) }]
    {
        let mut setup = two_incasts();
        let pfc = setup.fabric.switch.pfc.as_mut().expect("it is on");
        (pfc.pause_time, pfc.admission) = (Some(Span::from_us(1)), admission);
        let outcome = complete(&setup);
        let port = setup.topology.host_port(HostId(0));
        for class in [0, 1] {
            let (mut since, mut expired) = (None, 0);
            for (at, order) in orders(&outcome, port, class) {
                let lasted: Option<Span> = since.map(|since| at.since(since));
                assert!(lasted.is_none_or(|it| it <= Span::from_us(1)), "{class}, {at}");
                expired += u32::from(lasted == Some(Span::from_us(1)));
                since = (order == PauseOrder::Pause).then_some(at);
            }
            assert!(since.is_none() && expired > 0, "{class}: {expired} expired");
        }
    }
}

/// Each host of a ring of switches sends to the switch after the next. `class` gives the class of a
/// switch's messages.
fn around(class: impl Fn(u32) -> u32, limit: Span) -> Outcome {
    let pairs: Vec<_> = (0..10).map(|host| (host, (host + 4) % 10)).collect();
    let classes: Vec<u32> = (0..10).map(|host| class(host / 2)).collect();
    let ring = setup(ring_of_switches(), "ecmp", messages(&pairs, 2_000 * PAYLOAD));
    let mut setup = with(ring, &[Weighted(1), Weighted(1)], &classes);
    lossless(&mut setup, Headroom::Hpcc, 20_000);
    setup.time_limit = Time::ZERO + limit;
    run(&setup, &mut |_| {})
}

#[test]
fn only_a_ring_within_one_class_deadlocks() {
    let clockwise: Vec<PortId> = (10..15).map(|link| PortId(2 * link)).collect();
    for class in [0, 1] {
        let outcome = around(|_| class, Span::from_ms(5));
        assert_eq!((outcome.verdict, &outcome.deadlock), (Verdict::Stalled, &clockwise));
    }
    // Each link waits for the next one, but for another class.
    for us in [20, 50, 100, 200] {
        let outcome = around(|switch| switch % 2, Span::from_us(us));
        assert_eq!((outcome.verdict, &outcome.deadlock[..]), (Verdict::TimeLimit, &[][..]), "{us}");
        assert!(!outcome.pauses.is_empty());
    }
    let outcome = around(|switch| switch % 2, Span::from_ms(5));
    assert_eq!(outcome.verdict, Verdict::Completed);
}

/// An incast with messages of three classes. The last class has no flow control.
fn mixed(policy: &str) -> Setup {
    let incast: Vec<(u32, u32)> = (1..16).map(|src| (src, 0)).collect();
    let classes: Vec<u32> = (0..15).map(|stream| stream % 3).collect();
    let setup = setup(leaf_spine(4, 4, 4, 400), policy, messages(&incast, 400_000));
    let mut setup = with(setup, &[Weighted(2), Strict, Weighted(1)], &classes);
    setup.fabric.classes[2].pfc = false;
    setup.nic.nack_interval = Span::from_us(10);
    lossless(&mut setup, WORST, 200_000);
    setup
}

#[test]
fn only_classes_without_flow_control_lose_packets() {
    let outcome = complete(&mixed("ecmp"));
    assert_eq!(outcome.dropped_by_class[..2], [0, 0]);
    assert!(outcome.dropped_by_class[2] > 0);
    assert_eq!(outcome.counters.dropped, outcome.dropped_by_class[2]);
    let mut of_class = [0; 3];
    outcome.pauses.iter().for_each(|record| of_class[record.class.index()] += 1);
    assert!(of_class[0] > 0 && of_class[1] > 0 && of_class[2] == 0, "{of_class:?}");
}

#[test]
fn pauses_of_classes_are_the_same_in_parallel() {
    for (index, policy) in ["ecmp", "spray"].into_iter().enumerate() {
        let setup = mixed(policy);
        let whole = complete(&setup);
        assert!(whole.pauses.len() > 20, "{} pauses", whole.pauses.len());
        let cuts = if extent::is_long() { &CUTS[..] } else { &CUTS[index..][..1] };
        for &(partitions, cut) in cuts {
            assert!(whole == parallel(&setup, partitions, cut), "{policy}, {partitions} {cut:?}");
        }
    }
}

#[test]
fn one_class_is_paused_like_no_classes() {
    let pairs = messages(&[(0, 2), (1, 2)], 1_000 * PAYLOAD);
    let mut plain = setup(leaf_spine(1, 1, 3, 400), "ecmp", pairs);
    lossless(&mut plain, Headroom::Hpcc, 400_000);
    let mut expected = complete(&plain);
    for scheduling in [Strict, Weighted(3)] {
        let outcome = complete(&with(plain.clone(), &[scheduling], &[]));
        assert_eq!(outcome.pauses, expected.pauses);
        (expected.counters.events, expected.dropped_by_class) =
            (outcome.counters.events, outcome.dropped_by_class.clone());
        assert!(outcome == expected, "{scheduling:?}");
    }
}

/// By ConWeave's rule a queue may be as long as the memory that the others leave. The queue of one
/// class is full, while another class has room at the same port.
#[test]
fn a_full_queue_of_one_class_leaves_room_for_another() {
    let packet = Bytes::new(PAYLOAD + HEADER);
    let incast: Vec<(u32, u32)> = (1..9).map(|src| (src, 0)).collect();
    let pairs = messages(&incast, 250 * PAYLOAD);
    let setup = setup(leaf_spine(1, 1, 9, 400), "ecmp", pairs);
    // The second class waits at most for the packet on the wire.
    let mut setup = with(setup, &[Weighted(1), Strict], &[0, 0, 0, 0, 0, 0, 0, 1]);
    setup.nic.nack_interval = Span::from_us(10);
    lossless(&mut setup, Headroom::Fixed(packet), 1_000_000);
    let pfc = setup.fabric.switch.pfc.as_mut().expect("it is on");
    (pfc.pause_time, pfc.admission) = (Some(Span::from_us(5)), PfcAdmission::ConWeave { packet });
    let outcome = complete(&setup);
    assert!(outcome.dropped_by_class[0] > 0, "{:?}", outcome.dropped_by_class);
    assert_eq!(outcome.dropped_by_class[1], 0);
}
