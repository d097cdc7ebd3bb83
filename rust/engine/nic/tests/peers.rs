//! NICs with different configurations.

use super::*;
use crate::nic::{Delivery, Mismatch, Peers};

fn peer(congestion: CongestionControl, every: u32) -> NicConfig {
    let common = config(Recovery::PER_PACKET, every);
    NicConfig { congestion, ..(*common).clone() }
}

fn plain(every: u32) -> NicConfig {
    peer(CongestionControl::LineRate(line_rate::Config::default()), every)
}

#[test]
fn nics_know_the_acknowledgement_and_notification_settings_of_their_peers() {
    let dcqcn = peer(CongestionControl::Dcqcn(dcqcn::Config::default()), 1);
    let plain = plain(16);
    let peers = Peers::new([&plain, &dcqcn, &plain].into_iter());
    let known = |host| (peers.ack_of(HostId(host)).every, peers.wants_cnp(HostId(host)));
    assert_eq!([0, 1, 2].map(known), [(16, false), (1, true), (16, false)]);
    assert!(peers.any_wants_cnp());
    let informed = NicConfig { peers: Some(Arc::new(peers)), ..plain.clone() };
    assert_eq!([0, 1].map(|host| informed.notifies(HostId(host))), [false, true]);
    assert_eq!(informed.ack_of(HostId(1)).every, 1);
    // Without `peers` a NIC assumes that all are configured like itself.
    assert!(plain.notifies(HostId(0)) && dcqcn.notifies(HostId(0)));
    assert_eq!(plain.ack_of(HostId(0)).every, 16);
    assert!(!Peers::new([&plain].into_iter()).any_wants_cnp());
}

#[test]
fn queue_pairs_need_the_same_payload_header_recovery_and_delivery() {
    let one = plain(1);
    let mismatch = |change: &dyn Fn(&mut NicConfig)| {
        let mut other = one.clone();
        change(&mut other);
        one.mismatch(&other, None)
    };
    let (payload, header) = (Bytes::new(512), Bytes::new(99));
    assert_eq!(mismatch(&|it| it.retransmit_timeout = Span::from_ms(7)), None);
    assert_eq!(mismatch(&|it| it.payload = payload), Some(Mismatch::Payload(one.payload, payload)));
    assert_eq!(mismatch(&|it| it.header = header), Some(Mismatch::Header(one.header, header)));
    let names = (Recovery::PER_PACKET.name(), Recovery::GO_BACK_N.name());
    let recovery = Some(Mismatch::Recovery(names.0, names.1));
    assert_eq!(mismatch(&|it| it.recovery = Recovery::GO_BACK_N), recovery);
    let other = NicConfig { recovery: Recovery::GO_BACK_N, ..one.clone() };
    assert_eq!(one.mismatch(&other, Some(Recovery::PER_PACKET)), None, "the queue pair's own");
    let orders = [Delivery::Ordered, Delivery::Unordered].map(|order| {
        let mut ordered = one.clone();
        ordered.queue_pairs.delivery = Some(order);
        ordered
    });
    let delivery = Mismatch::Delivery(Delivery::Ordered, Delivery::Unordered);
    assert_eq!(orders[0].mismatch(&orders[1], None), Some(delivery));
}

#[test]
fn notifications_go_only_to_peers_that_use_them() {
    let dcqcn = peer(CongestionControl::Dcqcn(dcqcn::Config::default()), 100);
    let peers = Peers::new([&plain(100), &dcqcn, &dcqcn].into_iter());
    let informed = NicConfig { peers: Some(Arc::new(peers)), ..dcqcn };
    let mut b = Nic::new(HostId(1), PORT, Arc::new(informed));
    let replied = [0, 2].map(|host| {
        let qp = b.open_receiver(HostId(host), QpId(0), 7, 0);
        let (wire_bytes, flags) = (1_062, Flags::MARKED);
        b.handle_packet(at(0), &Packet { qp, wire_bytes, flags, ..Packet::default() });
        drain(&mut b, at(0)).iter().map(|reply| (reply.dst, reply.kind)).collect::<Vec<_>>()
    });
    assert_eq!(replied, [vec![], vec![(HostId(2), PacketKind::Cnp)]]);
}
