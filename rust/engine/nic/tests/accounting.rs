//! Counters of a NIC's queue pairs.

use super::*;
use crate::nic::{CacheConfig, CacheCounters, NicCounters, QpAccount};

#[test]
fn queue_pairs_are_counted_by_peer_and_origin() {
    let mut nic = Nic::new(HostId(0), PORT, config(Recovery::PER_PACKET, 1));
    let mut open = |peer: u32, extra: bool| {
        let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
        nic.open_sender(SendHalf { peer: HostId(peer), label: 7, cookie: 0, extra, policy })
    };
    let qp = open(1, false);
    open(1, true);
    open(2, false);
    nic.open_receiver(HostId(2), qp, 7, 0);
    let account = |live, sending, extra| PeerAccount { live, sending, extra };
    let by_peer = nic.account_by_peer();
    assert_eq!(by_peer[&HostId(1)], account(2, 2, 1));
    assert_eq!(by_peer[&HostId(2)], account(2, 1, 0));
    assert_eq!(account(1, 2, 3).plus(account(10, 20, 30)), account(11, 22, 33));
    assert_eq!((nic.send_qps(), nic.extra_qps()), (3, 1));
    assert_eq!(nic.policy_bits_max(), 0, "a policy begins with the connection");
    nic.connect(qp, QpId(5));
    // The state of ECMP is its entropy value.
    assert_eq!(nic.policy_bits_max(), 16);
}

#[test]
fn arrivals_load_contexts_of_queue_pairs_that_exist() {
    let mut cached = (*config(Recovery::PER_PACKET, 1)).clone();
    cached.queue_pairs.cache = Some(CacheConfig { entries: 4, miss: Span::from_ns(500) });
    let mut nic = Nic::new(HostId(0), PORT, Arc::new(cached));
    let qp = nic.open_receiver(HostId(1), QpId(0), 7, 0);
    let misses_and_hits = |nic: &mut Nic, qp| {
        nic.handle_packet(at(0), &Packet { qp, wire_bytes: 62, ..Packet::default() });
        let CacheCounters { hits, receive_misses, .. } = nic.account().cache;
        (receive_misses, hits)
    };
    assert_eq!(misses_and_hits(&mut nic, qp), (1, 0));
    assert_eq!(misses_and_hits(&mut nic, qp), (1, 1));
    for stranger in [QpId(1), QpId(2), QpId(u32::MAX)] {
        assert_eq!(misses_and_hits(&mut nic, stranger), (1, 1), "{stranger}");
    }
    assert_eq!((nic.send_qps(), nic.extra_qps()), (0, 0));
}

#[test]
fn the_account_of_several_nics_has_maxima_and_summed_cache_counts() {
    let cache =
        |hits, send_misses, receive_misses| CacheCounters { hits, send_misses, receive_misses };
    let one = QpAccount {
        opened: 9,
        live: 2,
        peak: 7,
        sending: 1,
        extra: 4,
        peers: 3,
        per_peer_max: 5,
        context_bytes: Bytes::new(8),
        cache: cache(10, 20, 30),
        hardware: None,
    };
    let other = QpAccount {
        opened: 8,
        live: 6,
        peak: 5,
        sending: 4,
        extra: 3,
        peers: 7,
        per_peer_max: 2,
        context_bytes: Bytes::new(9),
        cache: cache(1, 2, 3),
        hardware: None,
    };
    let most = QpAccount::maxima(&[one, other]);
    let counts = [most.opened, most.live, most.peak, most.sending, most.extra, most.peers];
    assert_eq!(counts, [9, 6, 7, 4, 4, 7]);
    assert_eq!((most.per_peer_max, most.context_bytes), (5, Bytes::new(9)));
    assert_eq!(most.cache, cache(11, 22, 33));
}

#[test]
fn packets_and_answers_are_counted_where_they_are_sent_and_where_they_arrive() {
    let (mut a, mut b, qp) = pair(Recovery::GO_BACK_N, 1);
    a.post(qp, Bytes::new(3_000), 1, 0);
    let mut packets = drain(&mut a, at(0));
    packets[2].flags = packets[2].flags.with(Flags::MARKED);
    // An acknowledgement, and a NACK.
    [0, 2].into_iter().for_each(|index: usize| b.handle_packet(at(1), &packets[index]));
    drain(&mut b, at(1)).iter().for_each(|reply| a.handle_packet(at(2), reply));
    assert_eq!((b.counters().control_sent, a.counters().control_received), (2, 2));
    let NicCounters { data_received, marked, .. } = *b.counters();
    assert_eq!((a.counters().data_sent, data_received, marked), (3, 2, 1));
}
