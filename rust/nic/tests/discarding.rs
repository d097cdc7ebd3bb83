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
fn timers_of_discarded_queue_pairs_are_forgotten_once_they_are_many() {
    let [mut a, mut b] = nics(plain());
    // One place is used again and again: twice that and 64 may be left over.
    for round in 1..=67 {
        let qp = joined(&mut a, &mut b, ecmp_policy());
        a.post(qp, Bytes::new(1_000), 1, 0);
        carry(&mut a, &mut b, at(round));
        assert!(a.is_quiet(qp));
        a.discard_qp(qp);
        let left = if round == 67 { 0 } else { round as usize };
        assert_eq!((a.requesters.len(), a.timers.len()), (1, left));
    }
    assert_eq!(a.poll_timeout(), None);
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
