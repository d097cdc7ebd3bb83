//! What a NIC counts of its queue pairs.

use super::*;
use crate::nic::{CacheConfig, CacheCounters};

#[test]
fn queue_pairs_are_counted_by_peer_and_by_who_asked_for_them() {
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
    // The entropy value of ECMP.
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
