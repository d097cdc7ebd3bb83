//! Queue pairs that can have no further effect, and the reuse of their slots.

use super::policies::{LoggingPolicy, joined, nics};
use super::*;
use crate::nic::CacheConfig;
use crate::nic::congestion::hpcc_pint;

fn plain() -> NicConfig {
    (*config(Recovery::PER_PACKET, 1)).clone()
}

fn ecmp_policy() -> crate::balance::sender::Sender {
    SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test())
}

/// Delivers all that both have to send, and the control packets that follow.
fn carry(a: &mut Nic, b: &mut Nic, now: Time) {
    drain(a, now).iter().for_each(|packet| b.handle_packet(now, packet));
    drain(b, now).iter().for_each(|reply| a.handle_packet(now, reply));
    assert_eq!((drain(a, now).len(), drain(b, now).len()), (0, 0));
}

/// Whether a queue pair is quiet before its first message, while that is in flight, and afterwards.
fn is_quiet(config: NicConfig, policy: crate::balance::sender::Sender) -> [bool; 3] {
    let [mut a, mut b] = nics(config);
    let qp = joined(&mut a, &mut b, policy);
    let before = a.is_quiet(qp);
    a.post(qp, Bytes::new(1_000), 1, 0);
    // With a cache the context has to be fetched first.
    let packets: Vec<_> = [0, 1_000].map(|now| drain(&mut a, at(now))).concat();
    let in_flight = a.is_quiet(qp);
    packets.iter().for_each(|packet| b.handle_packet(at(2_000), packet));
    drain(&mut b, at(2_000)).iter().for_each(|reply| a.handle_packet(at(3_000), reply));
    assert_eq!(events(&mut a).len(), 1);
    [before, in_flight, a.is_quiet(qp)]
}

#[test]
fn a_queue_pair_is_quiet_once_all_its_packets_have_arrived() {
    let quiet = [true, false, true];
    assert_eq!(is_quiet(plain(), ecmp_policy()), quiet);
    assert_eq!(is_quiet((*config(Recovery::GO_BACK_N, 1)).clone(), ecmp_policy()), quiet);
    let uses_single_path = (*config(Recovery::ROD, 1)).clone();
    // A policy whose paths the recovery does not use sends no probes either.
    assert_eq!(is_quiet(uses_single_path, LoggingPolicy::default().policy()), quiet);
}

#[test]
fn a_queue_pair_is_not_quiet_if_packets_may_still_arrive() {
    let mut cached = plain();
    cached.queue_pairs.cache = Some(CacheConfig { entries: 1, miss: Span::from_ns(500) });
    let mut waits = plain();
    waits.ack.within = Span::from_us(5);
    let telemetry = NicConfig { congestion: hpcc_pint::Config::default().into(), ..plain() };
    let coded = (*config(Recovery::ERASURE, 1)).clone();
    for config in [cached, waits, telemetry, coded] {
        assert_eq!(is_quiet(config.clone(), ecmp_policy()), [false; 3], "{config:?}");
    }
    assert_eq!(is_quiet(plain(), LoggingPolicy::default().policy()), [false; 3], "it may probe");
}

#[test]
fn a_queue_pair_with_a_retransmission_is_not_quiet() {
    for packets in [1, 2] {
        let [mut a, mut b] = nics(plain());
        let qp = joined(&mut a, &mut b, ecmp_policy());
        a.post(qp, Bytes::new(packets * 1_000), 1, 0);
        assert_eq!(drain(&mut a, at(0)).len() as u64, packets, "these packets are lost");
        a.handle_timeout(at(1_000_000));
        carry(&mut a, &mut b, at(1_000_000));
        assert_eq!((events(&mut a).len(), a.is_quiet(qp)), (1, false), "{packets}");
    }
}

#[test]
fn a_queue_pair_with_two_retransmissions_is_not_quiet() {
    let [mut a, mut b] = nics(plain());
    let qp = joined(&mut a, &mut b, ecmp_policy());
    a.post(qp, Bytes::new(1_000), 1, 0);
    for ns in [0, 1_000_000] {
        a.handle_timeout(at(ns));
        assert_eq!(drain(&mut a, at(ns)).len(), 1, "this packet is lost");
    }
    a.handle_timeout(at(2_000_000));
    carry(&mut a, &mut b, at(2_000_000));
    assert_eq!((events(&mut a).len(), a.is_quiet(qp)), (1, false));
}

#[test]
fn timers_of_discarded_queue_pairs_are_cleaned_up() {
    for others in [0, 3] {
        let [mut a, mut b] = nics(plain());
        // These wait for acknowledgements and keep their timers.
        for _ in 0..others {
            let qp = joined(&mut a, &mut b, ecmp_policy());
            a.post(qp, Bytes::new(1_000), 1, 0);
        }
        assert_eq!(drain(&mut a, at(0)).len(), others);
        // One slot is reused again and again: twice the slots and 64 entries may remain.
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
fn slots_of_discarded_queue_pairs_are_reused_at_both_ends() {
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
fn late_packets_for_a_discarded_queue_pair_are_counted() {
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
    assert_eq!(counted(&a), (2, 2), "there was no second one");
}

#[test]
fn simultaneous_timeouts_are_ordered_by_queue_pair_age() {
    let [mut a, mut b] = nics(plain());
    let [first, second] = [(); 2].map(|()| joined(&mut a, &mut b, ecmp_policy()));
    a.post(first, Bytes::new(1_000), 1, 0);
    carry(&mut a, &mut b, at(0));
    a.discard_qp(first);
    let third = joined(&mut a, &mut b, ecmp_policy());
    assert_eq!(a.requesters.len(), 2, "it reuses the slot of the first");
    [third, second].into_iter().for_each(|qp| a.post(qp, Bytes::new(1_000), 1, 0));
    let qps = |packets: Vec<Packet>| packets.iter().map(|it| it.qp.0).collect::<Vec<_>>();
    assert_eq!(qps(drain(&mut a, at(5))), [2, 1]);
    a.handle_timeout(at(1_000_005));
    assert_eq!(qps(drain(&mut a, at(1_000_005))), [1, 2]);
}

#[test]
fn packets_use_the_current_number_of_the_other_end() {
    let [mut a, mut b] = nics(plain());
    let qp = joined(&mut a, &mut b, ecmp_policy());
    a.post(qp, Bytes::new(2_000), 1, 0);
    let first = a.poll_transmit(at(0)).unwrap();
    a.set_receiver(qp, QpId(5));
    let second = a.poll_transmit(at(0)).unwrap();
    assert_eq!([first.qp, second.qp, a.peer_qp(qp)], [QpId(0), QpId(5), QpId(5)]);
}

#[test]
fn queue_pair_ages_increase_despite_reused_slots() {
    let [mut a, mut b] = nics(plain());
    let mut live = [(); 2].map(|()| joined(&mut a, &mut b, ecmp_policy()));
    // Each of three new ones takes the slot of the oldest, so the last has the first slot again.
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
