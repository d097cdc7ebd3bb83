//! Queue pairs of which nothing can come any more, and those that take their places.

use super::policies::{Told, joined, nics};
use super::*;
use crate::nic::CacheConfig;
use crate::nic::congestion::hpcc_pint;

fn plain() -> NicConfig {
    (*config(Recovery::PER_PACKET, 1)).clone()
}

fn ecmp_policy() -> crate::balance::sender::Sender {
    SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test())
}

/// Carries all that both have to send, and what comes of it.
fn carry(a: &mut Nic, b: &mut Nic, now: Time) {
    drain(a, now).iter().for_each(|packet| b.handle_packet(now, packet));
    drain(b, now).iter().for_each(|answer| a.handle_packet(now, answer));
    assert_eq!((drain(a, now).len(), drain(b, now).len()), (0, 0));
}

/// Whether a queue pair is quiet before its first message, while that is in flight, and after.
fn is_quiet(config: NicConfig, policy: crate::balance::sender::Sender) -> [bool; 3] {
    let [mut a, mut b] = nics(config);
    let qp = joined(&mut a, &mut b, policy);
    let before = a.is_quiet(qp);
    a.post(qp, Bytes::new(1_000), 1, 0);
    // With a cache the context comes first.
    let packets: Vec<_> = [0, 1_000].map(|now| drain(&mut a, at(now))).concat();
    let in_flight = a.is_quiet(qp);
    packets.iter().for_each(|packet| b.handle_packet(at(2_000), packet));
    drain(&mut b, at(2_000)).iter().for_each(|answer| a.handle_packet(at(3_000), answer));
    assert_eq!(events(&mut a).len(), 1);
    [before, in_flight, a.is_quiet(qp)]
}

#[test]
fn a_queue_pair_is_quiet_when_all_that_it_sent_has_arrived() {
    let quiet = [true, false, true];
    assert_eq!(is_quiet(plain(), ecmp_policy()), quiet);
    assert_eq!(is_quiet((*config(Recovery::GO_BACK_N, 1)).clone(), ecmp_policy()), quiet);
    let keeps_path = (*config(Recovery::ROD, 1)).clone();
    // A policy that the recovery does not ask for paths sends no probes either.
    assert_eq!(is_quiet(keeps_path, Told::default().policy()), quiet);
}

#[test]
fn a_queue_pair_is_not_quiet_where_something_may_come_later() {
    let mut cached = plain();
    cached.queue_pairs.cache = Some(CacheConfig { entries: 1, miss: Span::from_ns(500) });
    let mut waits = plain();
    waits.ack.within = Span::from_us(5);
    let telemetry = NicConfig { congestion: hpcc_pint::Config::default().into(), ..plain() };
    let coded = (*config(Recovery::ERASURE, 1)).clone();
    for config in [cached, waits, telemetry, coded] {
        assert_eq!(is_quiet(config.clone(), ecmp_policy()), [false; 3], "{config:?}");
    }
    assert_eq!(is_quiet(plain(), Told::default().policy()), [false; 3], "it may probe");
}

#[test]
fn a_queue_pair_that_sent_a_packet_again_is_not_quiet() {
    for packets in [1, 2] {
        let [mut a, mut b] = nics(plain());
        let qp = joined(&mut a, &mut b, ecmp_policy());
        a.post(qp, Bytes::new(packets * 1_000), 1, 0);
        assert_eq!(drain(&mut a, at(0)).len() as u64, packets, "which are lost");
        a.handle_timeout(at(1_000_000));
        carry(&mut a, &mut b, at(1_000_000));
        assert_eq!((events(&mut a).len(), a.is_quiet(qp)), (1, false), "{packets}");
    }
}

#[test]
fn a_queue_pair_that_sent_two_packets_again_is_not_quiet() {
    let [mut a, mut b] = nics(plain());
    let qp = joined(&mut a, &mut b, ecmp_policy());
    a.post(qp, Bytes::new(1_000), 1, 0);
    for ns in [0, 1_000_000] {
        a.handle_timeout(at(ns));
        assert_eq!(drain(&mut a, at(ns)).len(), 1, "which is lost");
    }
    a.handle_timeout(at(2_000_000));
    carry(&mut a, &mut b, at(2_000_000));
    assert_eq!((events(&mut a).len(), a.is_quiet(qp)), (1, false));
}

#[test]
fn timers_of_discarded_queue_pairs_are_forgotten_once_they_are_many() {
    for others in [0, 3] {
        let [mut a, mut b] = nics(plain());
        // These wait for answers, and keep their timers.
        for _ in 0..others {
            let qp = joined(&mut a, &mut b, ecmp_policy());
            a.post(qp, Bytes::new(1_000), 1, 0);
        }
        assert_eq!(drain(&mut a, at(0)).len(), others);
        // One place is used again and again: twice the places and 64 may be left over.
        let last = 2 * (others + 1) + 64 - others + 1;
        for round in 1..=last {
            let qp = joined(&mut a, &mut b, ecmp_policy());
            a.post(qp, Bytes::new(1_000), 1, 0);
            carry(&mut a, &mut b, at(round as u64));
            assert!(a.is_quiet(qp));
            a.discard_qp(qp);
            let left = if round == last { 0 } else { round };
            assert_eq!((a.requesters.len(), a.schedule.timers.len()), (others + 1, others + left));
        }
        assert_eq!(a.poll_timeout(), (others > 0).then_some(at(1_000_000)));
    }
}

#[test]
fn places_of_discarded_queue_pairs_are_used_again_at_both_ends() {
    let [mut a, mut b] = nics(plain());
    for round in 0..3 {
        let qp = joined(&mut a, &mut b, ecmp_policy());
        a.post(qp, Bytes::new(1_000), 1, 0);
        carry(&mut a, &mut b, at(round));
        a.discard_qp(qp);
        b.discard_qp(qp);
        assert_eq!((a.requesters.len(), a.responders.len()), (1, 0), "round {round}");
        assert_eq!((b.requesters.len(), b.responders.len()), (0, 1), "round {round}");
    }
    assert_eq!((events(&mut a).len(), events(&mut b).len()), (3, 3));
}

#[test]
fn late_answers_to_a_discarded_queue_pair_are_counted_as_received_and_data_as_misdirected() {
    let [mut a, mut b] = nics(plain());
    let qp = joined(&mut a, &mut b, ecmp_policy());
    a.post(qp, Bytes::new(1_000), 1, 0);
    let packet = a.poll_transmit(at(0)).unwrap();
    b.handle_packet(at(1), &packet);
    let ack = b.poll_transmit(at(1)).unwrap();
    a.handle_packet(at(2), &ack);
    a.discard_qp(qp);
    let counted = |a: &Nic| (a.counters().control_received, a.counters().misdirected);
    assert_eq!(counted(&a), (1, 0));
    a.handle_packet(at(3), &ack);
    assert_eq!(counted(&a), (2, 0));
    a.handle_packet(at(4), &packet);
    a.handle_packet(at(4), &Packet { qp: QpId(1), ..ack });
    assert_eq!(counted(&a), (2, 2), "there never was a second one");
}

#[test]
fn of_two_time_outs_at_once_that_of_the_older_queue_pair_comes_first_whatever_their_places() {
    let [mut a, mut b] = nics(plain());
    let [first, second] = [(); 2].map(|()| joined(&mut a, &mut b, ecmp_policy()));
    a.post(first, Bytes::new(1_000), 1, 0);
    carry(&mut a, &mut b, at(0));
    a.discard_qp(first);
    let third = joined(&mut a, &mut b, ecmp_policy());
    assert_eq!(a.requesters.len(), 2, "it has the place of the first");
    [third, second].into_iter().for_each(|qp| a.post(qp, Bytes::new(1_000), 1, 0));
    let qps = |packets: Vec<Packet>| packets.iter().map(|it| it.qp.0).collect::<Vec<_>>();
    assert_eq!(qps(drain(&mut a, at(5))), [2, 1]);
    a.handle_timeout(at(1_000_005));
    assert_eq!(qps(drain(&mut a, at(1_000_005))), [1, 2]);
}

#[test]
fn packets_go_to_the_number_that_the_other_end_has_now() {
    let [mut a, mut b] = nics(plain());
    let qp = joined(&mut a, &mut b, ecmp_policy());
    a.post(qp, Bytes::new(2_000), 1, 0);
    let first = a.poll_transmit(at(0)).unwrap();
    a.set_receiver(qp, QpId(5));
    let second = a.poll_transmit(at(0)).unwrap();
    assert_eq!([first.qp, second.qp, a.peer_qp(qp)], [QpId(0), QpId(5), QpId(5)]);
}

#[test]
fn a_queue_pair_is_younger_than_all_that_were_made_before_however_often_places_were_used() {
    let [mut a, mut b] = nics(plain());
    let mut live = [(); 2].map(|()| joined(&mut a, &mut b, ecmp_policy()));
    // Each of three new ones takes the place of the oldest: the last has the first place again.
    for index in [0, 1, 0] {
        a.post(live[index], Bytes::new(1_000), 1, 0);
        carry(&mut a, &mut b, at(0));
        a.discard_qp(live[index]);
        live[index] = joined(&mut a, &mut b, ecmp_policy());
    }
    assert_eq!((live, a.requesters.len()), ([QpId(4), QpId(3)], 2));
    live.into_iter().for_each(|qp| a.post(qp, Bytes::new(1_000), 1, 0));
    let qps = |packets: Vec<Packet>| packets.iter().map(|it| it.qp.0).collect::<Vec<_>>();
    assert_eq!(qps(drain(&mut a, at(5))), [4, 3]);
    a.handle_timeout(at(1_000_005));
    assert_eq!(qps(drain(&mut a, at(1_000_005))), [3, 4]);
}
