//! Loss recovery between two NICs: single exchanges, then closed forms over a pipe with losses.

mod accounts;
mod modes;
mod pipe;

use super::*;
use crate::nic::recovery::{SendRecovery as _, mrc, sack};
use crate::nic::{AckRange, Entropies};
use crate::packet::{AckFields, ArrivalReport};

/// A full packet on the wire: 1,062 bytes at 400 Gbps.
const SLOT: Span = Span::from_ps(21_240);

fn sack_beyond(reordering: u32) -> Recovery {
    Recovery::Sack(sack::Config { reordering, ..sack::Config::default() })
}

fn all() -> [Recovery; 8] {
    [
        Recovery::GO_BACK_N,
        Recovery::GO_BACK_TO_ZERO,
        sack_beyond(0),
        sack_beyond(6),
        Recovery::PER_PACKET,
        Recovery::ERASURE,
        Recovery::ROD,
        Recovery::RUDI,
    ]
}

/// Recoveries whose receivers know which packets have arrived.
fn with_state() -> impl Iterator<Item = Recovery> {
    all().into_iter().filter(|&recovery| recovery != Recovery::RUDI)
}

fn settings(recovery: Recovery) -> NicConfig {
    NicConfig::clone(&config(recovery, 1))
}

/// A sender at host 0 and a receiver at host 1, with one queue pair and entropy values 0, 1, 2, ...
fn wired(config: NicConfig) -> (Nic, Nic, QpId) {
    let config = Arc::new(config);
    let (mut a, mut b) =
        (Nic::new(HostId(0), PORT, config.clone()), Nic::new(HostId(1), PORT, config));
    let context = QpContext::for_test();
    let policy = SenderConfig::Spray(spray::Config::default()).build(&context);
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    (a, b, qp)
}

fn cut(packet: &Packet, where_: Flags) -> Packet {
    Packet { wire_bytes: 64, flags: packet.flags.with(Flags::TRIMMED).with(where_), ..*packet }
}

fn psns(packets: &[Packet]) -> Vec<u32> {
    packets.iter().map(|packet| packet.fields.raw().psn).collect()
}

#[test]
fn with_sack_only_the_missing_packet_is_retransmitted() {
    let (mut a, mut b, qp) = wired(settings(sack_beyond(0)));
    a.post(qp, Bytes::new(5_000), 1, 0);
    let packets = drain(&mut a, at(0));
    for index in [0, 2, 3, 4] {
        b.handle_packet(at(1), &packets[index]);
    }
    let replies = drain(&mut b, at(1));
    let seen: Vec<_> = replies
        .iter()
        .map(|p| (p.kind, p.fields.raw().ack, p.fields.raw().psn, p.fields.raw().sack))
        .collect();
    let nack = PacketKind::Nack;
    assert_eq!(
        seen,
        [(PacketKind::Ack, 1, 0, 1), (nack, 1, 2, 1), (nack, 1, 3, 1), (nack, 1, 4, 1)]
    );
    replies.iter().for_each(|reply| a.handle_packet(at(2), reply));
    let again = drain(&mut a, at(2));
    assert_eq!(psns(&again), [1]);
    b.handle_packet(at(3), &again[0]);
    let last = drain(&mut b, at(3));
    assert_eq!((last[0].kind, last[0].fields.raw().ack), (PacketKind::Ack, 5));
    a.handle_packet(at(4), &last[0]);
    assert_eq!((events(&mut a).len(), events(&mut b).len()), (1, 1));
    assert_eq!(a.counters().retransmitted, 1);
}

#[test]
fn with_sack_at_most_one_bandwidth_delay_product_is_in_flight() {
    // 10 us at 400 Gbps are 500,000 B: 471 packets of 1,062 B, rounded up.
    let (mut a, mut b, qp) = wired(settings(sack_beyond(0)));
    a.post(qp, Bytes::new(1_000_000), 1, 0);
    let packets = drain(&mut a, at(0));
    assert_eq!(packets.len(), 471);
    b.handle_packet(at(1), &packets[0]);
    a.handle_packet(at(2), &b.poll_transmit(at(1)).unwrap());
    assert_eq!(drain(&mut a, at(2)).len(), 1);
}

#[test]
fn a_window_smaller_than_an_acknowledgement_does_not_wait_for_more() {
    let flow_control = sack::Window::Bytes(Bytes::new(3_500));
    let sack = sack::Config { flow_control, ..sack::Config::default() };
    let mut config = settings(Recovery::Sack(sack));
    config.ack.every = 8;
    let (mut a, mut b, qp) = wired(config);
    a.post(qp, Bytes::new(9_000), 1, 0);
    for round in 0..3 {
        let packets = drain(&mut a, at(round));
        let asks: Vec<_> = packets.iter().map(|p| p.flags.has(Flags::ACK_REQUEST)).collect();
        assert_eq!(asks, [false, false, true]);
        packets.iter().for_each(|packet| b.handle_packet(at(round), packet));
        let acks = drain(&mut b, at(round));
        assert_eq!(acks.len(), 1);
        a.handle_packet(at(round), &acks[0]);
    }
    assert_eq!(events(&mut a).len(), 1);
}

#[test]
fn a_trimmed_packet_is_nacked_by_its_psn() {
    for (recovery, expected) in [
        (Recovery::GO_BACK_N, vec![1, 2, 3]),
        (Recovery::GO_BACK_TO_ZERO, vec![0, 1, 2, 3]),
        (sack_beyond(0), vec![2]),
        (Recovery::PER_PACKET, vec![2]),
        (Recovery::ERASURE, vec![4]),
    ] {
        let (mut a, mut b, qp) = wired(settings(recovery));
        a.post(qp, Bytes::new(4_000), 1, 0);
        let packets = drain(&mut a, at(0));
        b.handle_packet(at(1), &packets[0]);
        // The header of packet 2 overtakes packet 1.
        b.handle_packet(at(1), &cut(&packets[2], Flags::LAST_HOP));
        let replies = drain(&mut b, at(1));
        let nack = replies[1];
        let flags = nack.flags.has(Flags::TRIMMED.with(Flags::LAST_HOP));
        assert_eq!(
            (nack.kind, nack.fields.raw().psn, flags),
            (PacketKind::Nack, 2, true),
            "{recovery:?}"
        );
        assert_eq!((b.counters().trimmed, b.counters().out_of_order), (1, 0));
        replies.iter().for_each(|reply| a.handle_packet(at(2), reply));
        assert_eq!(psns(&drain(&mut a, at(2))), expected, "{recovery:?}");
    }
}

#[test]
fn a_trimmed_duplicate_is_acknowledged_without_a_nack() {
    for recovery in with_state() {
        let (mut a, mut b, qp) = wired(settings(recovery));
        a.post(qp, Bytes::new(1_000), 1, 0);
        let packet = a.poll_transmit(at(0)).unwrap();
        b.handle_packet(at(1), &packet);
        b.handle_packet(at(2), &cut(&packet, Flags::NONE));
        let replies = drain(&mut b, at(2));
        assert_eq!(replies[1].kind, PacketKind::Ack, "{recovery:?}");
        a.handle_packet(at(3), &replies[1]);
        assert_eq!(events(&mut a).len(), 1, "{recovery:?}");
    }
}

#[test]
fn back_to_zero_discards_only_the_current_message() {
    let (mut a, mut b, qp) = wired(settings(Recovery::GO_BACK_TO_ZERO));
    a.post(qp, Bytes::new(2_000), 1, 0);
    a.post(qp, Bytes::new(4_000), 2, 0);
    let packets = drain(&mut a, at(0));
    for index in [0, 1, 2, 3, 5] {
        b.handle_packet(at(1), &packets[index]);
    }
    assert_eq!(b.counters().payload_received, 2_000);
    let replies = drain(&mut b, at(1));
    assert_eq!((replies[4].kind, replies[4].fields.raw().ack), (PacketKind::Nack, 2));
    replies.iter().for_each(|reply| a.handle_packet(at(2), reply));
    let again = drain(&mut a, at(2));
    assert_eq!(psns(&again), [2, 3, 4, 5]);
    again.iter().for_each(|packet| b.handle_packet(at(3), packet));
    for reply in drain(&mut b, at(3)).iter().chain([&replies[4]]) {
        a.handle_packet(at(4), reply);
    }
    assert_eq!((events(&mut a).len(), b.counters().payload_received), (2, 6_000));
    assert!(drain(&mut a, at(4)).is_empty(), "a late NACK of a complete message is ignored");
}

#[test]
fn any_packets_restore_a_coded_message() {
    let (mut a, mut b, qp) = wired(settings(Recovery::ERASURE));
    a.post(qp, Bytes::new(2_500), 1, 0);
    a.post(qp, Bytes::new(900), 2, 0);
    let packets = drain(&mut a, at(0));
    assert_eq!(packets.iter().map(|p| p.wire_bytes).collect::<Vec<_>>(), [1_062, 1_062, 562, 962]);
    // Packet 2 of message 0 is lost; message 1 does not wait for it.
    for index in [0, 3, 1] {
        b.handle_packet(at(1), &packets[index]);
    }
    assert_eq!(events(&mut b), [NicEvent::Delivered { owner: Owner::Driver(0), message: 1 }]);
    drain(&mut b, at(1)).iter().for_each(|ack| a.handle_packet(at(2), ack));
    assert!(events(&mut a).is_empty(), "work completes in order");
    a.handle_timeout(at(1_000_000));
    let repair = drain(&mut a, at(1_000_000));
    assert_eq!((repair.len(), repair[0].fields.raw().psn, repair[0].wire_bytes), (1, 3, 1_062));
    b.handle_packet(at(1_000_001), &repair[0]);
    assert_eq!(events(&mut b), [NicEvent::Delivered { owner: Owner::Driver(0), message: 0 }]);
    assert_eq!(b.counters().payload_received, 3_400);
    drain(&mut b, at(1_000_001)).iter().for_each(|ack| a.handle_packet(at(1_000_002), ack));
    assert_eq!(events(&mut a).len(), 2);
    // The first one was only late.
    b.handle_packet(at(1_000_003), &packets[2]);
    assert!(events(&mut b).is_empty() && b.counters().duplicates == 1);
}

#[test]
fn an_arrival_waits_for_its_acknowledgement_no_longer_than_the_timer() {
    for recovery in with_state() {
        let mut config = settings(recovery);
        config.ack = AckConfig { every: 8, within: Span::from_us(5), ..config.ack };
        let (mut a, mut b, qp) = wired(config);
        a.post(qp, Bytes::new(10_000), 1, 0);
        let packets = drain(&mut a, at(0));
        b.handle_packet(at(100), &packets[0]);
        b.handle_packet(at(200), &packets[1]);
        assert_eq!((b.poll_timeout(), b.has_packets()), (Some(at(5_100)), false), "{recovery:?}");
        b.handle_timeout(at(5_099));
        assert!(!b.has_packets(), "early is harmless");
        b.handle_timeout(at(5_100));
        let ack = b.poll_transmit(at(5_100)).unwrap();
        assert_eq!((ack.kind, ack.fields.raw().sack), (PacketKind::Ack, 0b11), "{recovery:?}");
        assert_eq!(
            (ack.entropy, ack.fields.raw().stamp),
            (packets[1].entropy, packets[1].fields.raw().stamp)
        );
        assert_eq!(b.poll_timeout(), None);
        // If the count is reached first, the timer finds nothing.
        packets[2..10].iter().for_each(|packet| b.handle_packet(at(6_000), packet));
        assert_eq!(drain(&mut b, at(6_000)).len(), 1);
        b.handle_timeout(at(11_000));
        assert_eq!((b.has_packets(), b.poll_timeout()), (false, None), "{recovery:?}");
    }
}

#[test]
fn a_marked_packet_is_acknowledged_immediately_if_configured() {
    for (marked, expected) in [(Marked::Wait, vec![8]), (Marked::AtOnce, vec![3, 5])] {
        let mut config = settings(Recovery::PER_PACKET);
        config.ack = AckConfig { every: 32, marked, ..config.ack };
        let (mut a, mut b, qp) = wired(config);
        a.post(qp, Bytes::new(8_000), 1, 0);
        let mut packets = drain(&mut a, at(0));
        packets[2].flags = packets[2].flags.with(Flags::MARKED);
        packets.iter().for_each(|packet| b.handle_packet(at(1), packet));
        let acks = drain(&mut b, at(1));
        let covered: Vec<u32> = acks.iter().map(|ack| ack.fields.raw().sack.count_ones()).collect();
        assert_eq!(covered, expected);
        assert_eq!(acks[0].fields.raw().marked, 1 << 2, "the mark is at the bit of its packet");
    }
}

#[test]
fn bytes_make_an_acknowledgement_due_that_reports_marks() {
    let mut config = settings(Recovery::PER_PACKET);
    config.ack = AckConfig {
        every: 32,
        every_bytes: Bytes::new(3 * 1_062),
        entropies: Entropies::Carry,
        ..config.ack
    };
    let (mut a, mut b, qp) = wired(config);
    a.post(qp, Bytes::new(10_000), 1, 0);
    let mut packets = drain(&mut a, at(0));
    packets[5].flags = packets[5].flags.with(Flags::MARKED);
    for index in [5, 3, 4] {
        b.handle_packet(at(1), &packets[index]);
    }
    let ack = b.poll_transmit(at(1)).unwrap();
    let report = ack.as_ack().unwrap().report();
    assert_eq!(
        (report.base.get(), report.arrived, report.marks(), ack.fields.raw().ack),
        (3, 0b111, 0b100, 0)
    );
    assert_eq!(ack.wire_bytes, 64 + 3 * 2, "it carries three entropy values");
    a.handle_packet(at(2), &ack);
    assert!(b.poll_transmit(at(2)).is_none());
}

#[test]
fn a_lost_acknowledgement_of_one_packet_costs_a_timeout_and_one_packet() {
    for (range, resent) in [(AckRange::Cumulative, vec![]), (AckRange::Packet, vec![1])] {
        let mut config = settings(Recovery::PER_PACKET);
        config.ack.range = range;
        let (mut a, mut b, qp) = wired(config);
        a.post(qp, Bytes::new(3_000), 1, 0);
        drain(&mut a, at(0)).iter().for_each(|packet| b.handle_packet(at(1), packet));
        let acks = drain(&mut b, at(1));
        [0, 2].iter().for_each(|&index| a.handle_packet(at(2), &acks[index]));
        assert_eq!(events(&mut a).len(), 1 - resent.len(), "{range:?}");
        let due = at(1_000_000);
        a.handle_timeout(due);
        let again = drain(&mut a, due);
        assert_eq!(psns(&again), resent);
        let completed = events(&mut a).len();
        again.iter().for_each(|packet| b.handle_packet(due, packet));
        drain(&mut b, due).iter().for_each(|ack| a.handle_packet(due, ack));
        assert_eq!((completed, events(&mut a).len()), (0, resent.len()));
        assert_eq!(b.counters().duplicates, resent.len() as u64);
    }
}

#[test]
fn repeated_bitmaps_make_up_for_a_lost_acknowledgement() {
    for (range, resent) in [(AckRange::Cumulative, vec![0, 1]), (AckRange::Last64, vec![0])] {
        let mut config = settings(Recovery::PER_PACKET);
        config.ack.range = range;
        let (mut a, mut b, qp) = wired(config);
        a.post(qp, Bytes::new(3_000), 1, 0);
        // Packet 0 and the acknowledgement of packet 1 are lost.
        drain(&mut a, at(0))[1..].iter().for_each(|packet| b.handle_packet(at(1), packet));
        a.handle_packet(at(2), &drain(&mut b, at(1))[1]);
        let due = at(1_000_000);
        a.handle_timeout(due);
        assert_eq!(psns(&drain(&mut a, due)), resent, "{range:?}");
    }
}

/// MRC's sender detects losses itself: a NACK for a gap is only an acknowledgement.
#[test]
fn with_mrc_a_gap_nack_reports_arrivals_without_retransmission() {
    let (mut a, _, qp) = wired(settings(Recovery::Mrc(mrc::Config::default())));
    a.post(qp, Bytes::new(4_000), 1, 0);
    assert_eq!(drain(&mut a, at(0)).len(), 4);
    let report = ArrivalReport::new(Psn::on_wire(2), 0b11, 0);
    let (cumulative, echo) = (Psn::on_wire(1), Stamp::at(at(0)));
    let nack = Packet::gap_nack(AckFields { cumulative, report, echo });
    a.handle_packet(at(1), &Packet { qp, ..nack });
    assert_eq!((a.sending_state(at(1), qp).in_flight_packets, drain(&mut a, at(1)).len()), (1, 0));
}

#[test]
fn a_message_completed_by_an_earlier_packet_is_acknowledged_immediately() {
    for recovery in [sack_beyond(6), Recovery::PER_PACKET] {
        let mut config = settings(recovery);
        config.ack.every = 8;
        let (mut a, mut b, qp) = wired(config);
        a.post(qp, Bytes::new(3_000), 1, 0);
        let packets = drain(&mut a, at(0));
        let mut replies = |packet: usize| -> Vec<_> {
            b.handle_packet(at(1), &packets[packet]);
            let sent = drain(&mut b, at(1));
            sent.iter().map(|it| (it.kind, it.fields.raw().ack)).collect()
        };
        assert_eq!(replies(0), []);
        assert_eq!(replies(2), [(PacketKind::Ack, 1)], "it is the last of its message");
        assert_eq!(replies(1), [(PacketKind::Ack, 3)], "{recovery:?}");
    }
}

#[test]
fn coded_packets_are_in_order_from_message_to_message() {
    for (order, late) in [([0, 1, 2, 3], 0), ([0, 1, 3, 2], 1), ([2, 3, 0, 1], 2)] {
        let (mut a, mut b, qp) = wired(settings(Recovery::ERASURE));
        [1, 2].into_iter().for_each(|id| a.post(qp, Bytes::new(2_000), id, 0));
        let packets = drain(&mut a, at(0));
        order.iter().for_each(|&index: &usize| b.handle_packet(at(1), &packets[index]));
        assert_eq!(b.counters().out_of_order, late, "{order:?}");
    }
}

#[test]
fn a_complete_coded_message_and_its_duplicates_are_acknowledged_immediately() {
    let mut config = settings(Recovery::ERASURE);
    config.ack.every = 8;
    let (mut a, mut b, qp) = wired(config);
    a.post(qp, Bytes::new(4_000), 1, 0);
    let packets = drain(&mut a, at(0));
    // Whether each packet is acknowledged, and whether the message is then complete.
    let replies = [0, 0, 3, 1, 2, 2].map(|index: usize| {
        b.handle_packet(at(1), &packets[index]);
        b.poll_transmit(at(1)).map(|ack| ack.as_ack().unwrap().completes_message())
    });
    assert_eq!(replies, [None, Some(false), Some(false), None, Some(true), Some(true)]);
}
