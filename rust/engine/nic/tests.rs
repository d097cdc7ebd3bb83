//! Two NICs back to back: for each input and time, exactly what comes out.

use std::sync::Arc;

use super::congestion::{CongestionControl, dcqcn, line_rate};
use super::*;
use crate::balance::sender::{QpContext, SenderConfig, ecmp, spray};
use crate::extent;
use crate::ids::QpId;
use crate::packet::{Flags, PacketKind, Psn, Stamp};
use crate::units::{BitRate, Bytes, Span};

const PORT: PortFacts =
    PortFacts { line_rate: BitRate::from_gbps(400), base_rtt: Span::from_us(10) };

fn config(recovery: Recovery, ack_every: u32) -> Arc<NicConfig> {
    Arc::new(NicConfig {
        payload: Bytes::new(1_000),
        ack: AckConfig {
            bytes: Bytes::new(64),
            every: ack_every,
            priority: true,
            ..AckConfig::default()
        },
        congestion: CongestionControl::LineRate(line_rate::Config::default()),
        recovery,
        ..NicConfig::default()
    })
}

/// A sender at host 0 and a receiver at host 1, with one queue pair.
fn pair(recovery: Recovery, ack_every: u32) -> (Nic, Nic, QpId) {
    let config = config(recovery, ack_every);
    let (mut a, mut b) =
        (Nic::new(HostId(0), PORT, config.clone()), Nic::new(HostId(1), PORT, config));
    let context = QpContext::for_test();
    let policy = match recovery {
        Recovery::GO_BACK_N | Recovery::GO_BACK_TO_ZERO => SenderConfig::Ecmp(ecmp::Config {}),
        _ => SenderConfig::Spray(spray::Config::default()),
    };
    let policy = policy.build(&context);
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    (a, b, qp)
}

fn at(ns: u64) -> Time {
    Time::ZERO + Span::from_ns(ns)
}

fn drain(nic: &mut Nic, now: Time) -> Vec<Packet> {
    std::iter::from_fn(|| nic.poll_transmit(now)).collect()
}

fn events(nic: &mut Nic) -> Vec<NicEvent> {
    std::iter::from_fn(|| nic.poll_event()).collect()
}

#[test]
fn a_message_becomes_packets_and_is_delivered_and_completed() {
    let (mut a, mut b, qp) = pair(Recovery::GO_BACK_N, 1);
    a.post(qp, Bytes::new(2_500), 42, 0);
    let packets = drain(&mut a, at(0));
    let seen: Vec<_> = packets
        .iter()
        .map(|p| (p.fields.raw().psn, p.wire_bytes, p.flags.has(Flags::LAST)))
        .collect();
    assert_eq!(seen, [(0, 1_062, false), (1, 1_062, false), (2, 562, true)]);

    packets.iter().for_each(|packet| b.handle_packet(at(1), packet));
    assert_eq!(events(&mut b), [NicEvent::Delivered { owner: Owner::Driver(0), message: 0 }]);
    let acks = drain(&mut b, at(1));
    assert_eq!(acks.iter().map(|ack| ack.fields.raw().ack).collect::<Vec<_>>(), [1, 2, 3]);

    acks.iter().for_each(|ack| a.handle_packet(at(2), ack));
    assert_eq!(events(&mut a), [NicEvent::Completed { owner: Owner::Driver(0), work: 42 }]);
    assert_eq!(b.counters().payload_received, 2_500);
}

#[test]
fn an_empty_message_is_one_packet() {
    let (mut a, mut b, qp) = pair(Recovery::GO_BACK_N, 1);
    a.post(qp, Bytes::ZERO, 1, 0);
    let packets = drain(&mut a, at(0));
    assert_eq!(packets.iter().map(|p| p.wire_bytes).collect::<Vec<_>>(), [62]);
    b.handle_packet(at(1), &packets[0]);
    assert_eq!(events(&mut b).len(), 1);
}

#[test]
fn go_back_n_nacks_a_gap_once_and_retransmits_everything_from_there() {
    let (mut a, mut b, qp) = pair(Recovery::GO_BACK_N, 1);
    a.post(qp, Bytes::new(5_000), 1, 0);
    let packets = drain(&mut a, at(0));
    for lost in [0, 2, 3, 4] {
        b.handle_packet(at(1), &packets[lost]);
    }
    let replies = drain(&mut b, at(1));
    let kinds: Vec<_> = replies.iter().map(|p| (p.kind, p.fields.raw().ack)).collect();
    assert_eq!(kinds, [(PacketKind::Ack, 1), (PacketKind::Nack, 1)]);

    replies.iter().for_each(|reply| a.handle_packet(at(2), reply));
    let again = drain(&mut a, at(2));
    assert_eq!(again.iter().map(|p| p.fields.raw().psn).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(again.iter().all(|p| p.flags.has(Flags::RETRANSMITTED)));
    assert_eq!(a.counters().retransmitted, 4);
}

#[test]
fn a_nack_is_repeated_after_its_interval() {
    let (mut a, mut b, qp) = pair(Recovery::GO_BACK_N, 1);
    a.post(qp, Bytes::new(4_000), 1, 0);
    let packets = drain(&mut a, at(0));
    b.handle_packet(at(0), &packets[1]);
    b.handle_packet(at(499_999), &packets[2]);
    assert_eq!(drain(&mut b, at(499_999)).len(), 1);
    b.handle_packet(at(500_000), &packets[3]);
    assert_eq!(drain(&mut b, at(500_000)).len(), 1);
}

#[test]
fn duplicates_are_acknowledged_again_and_delivered_once() {
    for recovery in [Recovery::GO_BACK_N, Recovery::PER_PACKET] {
        let (mut a, mut b, qp) = pair(recovery, 1);
        a.post(qp, Bytes::new(1_000), 1, 0);
        let packet = a.poll_transmit(at(0)).unwrap();
        b.handle_packet(at(1), &packet);
        b.handle_packet(at(2), &packet);
        assert_eq!(drain(&mut b, at(2)).len(), 2, "{recovery:?}");
        assert_eq!(events(&mut b).len(), 1, "{recovery:?}");
        assert_eq!(b.counters().duplicates, 1);
    }
}

#[test]
fn a_trimmed_packet_is_not_accepted() {
    for recovery in [Recovery::GO_BACK_N, Recovery::PER_PACKET] {
        let (mut a, mut b, qp) = pair(recovery, 1);
        a.post(qp, Bytes::new(1_000), 1, 0);
        let whole = a.poll_transmit(at(0)).unwrap();
        let cut = Packet { wire_bytes: 64, flags: whole.flags.with(Flags::TRIMMED), ..whole };
        b.handle_packet(at(1), &cut);
        assert_eq!((events(&mut b).len(), b.counters().payload_received), (0, 0), "{recovery:?}");
        b.handle_packet(at(2), &whole);
        assert_eq!((events(&mut b).len(), b.counters().duplicates), (1, 0), "{recovery:?}");
    }
}

#[test]
fn the_timer_retransmits_unacknowledged_packets() {
    for recovery in [Recovery::GO_BACK_N, Recovery::PER_PACKET] {
        let (mut a, _, qp) = pair(recovery, 1);
        a.post(qp, Bytes::new(2_000), 1, 0);
        assert_eq!(drain(&mut a, at(10)).len(), 2);
        assert_eq!(a.poll_timeout(), Some(at(1_000_010)));
        a.handle_timeout(at(500_000));
        assert!(drain(&mut a, at(500_000)).is_empty(), "early is harmless");
        a.handle_timeout(at(1_000_010));
        assert_eq!(drain(&mut a, at(1_000_010)).len(), 2, "{recovery:?}");
    }
}

#[test]
fn selective_repeat_takes_packets_in_any_order() {
    let (mut a, mut b, qp) = pair(Recovery::PER_PACKET, 1);
    a.post(qp, Bytes::new(200_000), 1, 0);
    a.post(qp, Bytes::new(3_000), 2, 0);
    let mut packets = drain(&mut a, at(0));
    packets.reverse();
    packets.iter().for_each(|packet| b.handle_packet(at(1), packet));
    assert_eq!(events(&mut b).len(), 2, "both messages, in order");
    assert_eq!(b.counters().out_of_order, 202);
    for ack in drain(&mut b, at(2)) {
        a.handle_packet(at(3), &ack);
    }
    let done: Vec<_> = events(&mut a);
    assert_eq!(done.len(), 2);
    assert_eq!(a.poll_timeout(), Some(at(1_000_000)), "the stale entry will find nothing due");
    a.handle_timeout(at(1_000_000));
    assert_eq!(a.poll_timeout(), None);
}

#[test]
fn acknowledgements_can_be_coalesced() {
    for recovery in [Recovery::GO_BACK_N, Recovery::PER_PACKET] {
        let (mut a, mut b, qp) = pair(recovery, 4);
        a.post(qp, Bytes::new(10_000), 1, 0);
        for packet in drain(&mut a, at(0)) {
            b.handle_packet(at(1), &packet);
        }
        let acks = drain(&mut b, at(1));
        let upto: Vec<_> = acks.iter().map(|ack| ack.fields.raw().ack).collect();
        assert_eq!(upto, [4, 8, 10], "{recovery:?}");
        acks.iter().for_each(|ack| a.handle_packet(at(2), ack));
        assert_eq!(events(&mut a).len(), 1);
    }
}

#[test]
fn acknowledgements_are_coalesced_in_each_message_of_a_queue_pair() {
    for recovery in [Recovery::GO_BACK_N, Recovery::PER_PACKET] {
        let (mut a, mut b, qp) = pair(recovery, 4);
        [1_000, 8_000].into_iter().for_each(|bytes| a.post(qp, Bytes::new(bytes), 1, 0));
        drain(&mut a, at(0)).iter().for_each(|packet| b.handle_packet(at(1), packet));
        let upto: Vec<_> = drain(&mut b, at(1)).iter().map(|ack| ack.fields.raw().ack).collect();
        assert_eq!(upto, [1, 5, 9], "{recovery:?}");
    }
}

#[test]
fn forged_packets_are_dropped_and_counted() {
    let (mut a, mut b, _) = pair(Recovery::GO_BACK_N, 1);
    for kind in [PacketKind::Data, PacketKind::Ack, PacketKind::Nack, PacketKind::Cnp] {
        for qp in [1, u32::MAX] {
            let stray = Packet { kind, qp: QpId(qp), ..Packet::default() };
            a.handle_packet(at(1), &stray);
            b.handle_packet(at(1), &stray);
        }
    }
    assert_eq!((a.counters().misdirected, b.counters().misdirected), (8, 8));
    assert_eq!((drain(&mut a, at(1)).len(), drain(&mut b, at(1)).len()), (0, 0));
}

#[test]
fn a_packet_shorter_than_its_header_has_no_payload() {
    for recovery in [Recovery::GO_BACK_N, Recovery::PER_PACKET] {
        let (_, mut b, qp) = pair(recovery, 1);
        b.handle_packet(at(1), &Packet { qp, wire_bytes: 61, ..Packet::default() });
        assert_eq!(b.counters().payload_received, 0);
    }
}

/// Found by the property tests: with a window below `ack_every`, each packet cost a timeout.
#[test]
fn a_requested_acknowledgement_is_not_delayed() {
    for recovery in [Recovery::GO_BACK_N, Recovery::PER_PACKET] {
        let (mut a, mut b, qp) = pair(recovery, 4);
        a.post(qp, Bytes::new(9_000), 1, 0);
        for packet in drain(&mut a, at(0)).into_iter().take(2) {
            let flags = packet.flags.with(Flags::ACK_REQUEST.when(packet.fields.raw().psn == 1));
            b.handle_packet(at(1), &Packet { flags, ..packet });
        }
        let upto: Vec<_> = drain(&mut b, at(1)).iter().map(|ack| ack.fields.raw().ack).collect();
        assert_eq!(upto, [2], "{recovery:?}");
    }
}

#[test]
fn an_acknowledgement_never_covers_two_blocks() {
    let (mut a, mut b, qp) = pair(Recovery::PER_PACKET, 4);
    a.post(qp, Bytes::new(130_000), 1, 0);
    let packets = drain(&mut a, at(0));
    // The copy of packet 0 arrives while packet 65, of the next block of 64, is unreported.
    for arrived in [0, 65, 0] {
        b.handle_packet(at(1), &packets[arrived]);
    }
    drain(&mut b, at(1)).iter().for_each(|ack| a.handle_packet(at(2), ack));
    a.handle_timeout(at(1_000_000));
    let again: Vec<_> = drain(&mut a, at(1_000_000)).iter().map(|p| p.fields.raw().psn).collect();
    assert_eq!(again, (1..130).filter(|&psn| psn != 65).collect::<Vec<_>>());
}

#[test]
fn no_more_packets_are_in_flight_than_sequence_numbers_distinguish() {
    let (mut a, mut b, qp) = pair(Recovery::GO_BACK_N, 1);
    let half = Psn::MODULUS / 2;
    a.post(qp, Bytes::new((half + 10) * 1_000), 1, 0);
    let first = a.poll_transmit(at(0)).unwrap();
    let others = std::iter::from_fn(|| a.poll_transmit(at(0))).count() as u64;
    assert_eq!(1 + others, half - 1);
    b.handle_packet(at(1), &first);
    drain(&mut b, at(1)).iter().for_each(|ack| a.handle_packet(at(2), ack));
    assert_eq!(drain(&mut a, at(2)).len(), 1, "one arrived, one more may go");
}

#[test]
fn queue_pairs_are_served_round_robin() {
    let (mut a, mut b, first) = pair(Recovery::GO_BACK_N, 1);
    let policy = SenderConfig::Ecmp(ecmp::Config {})
        .build(&QpContext { qp_index: 1, ..QpContext::for_test() });
    let second =
        a.open_sender(SendHalf { peer: HostId(1), label: 8, cookie: 1, extra: true, policy });
    let receiver = b.open_receiver(HostId(0), second, 8, 1);
    a.connect(second, receiver);
    a.post(first, Bytes::new(3_000), 1, 0);
    a.post(second, Bytes::new(3_000), 2, 0);
    let order: Vec<_> = drain(&mut a, at(0)).iter().map(|p| (p.qp.0, p.fields.raw().psn)).collect();
    assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]);
    assert_eq!((a.send_qps(), a.extra_qps()), (2, 1));
}

#[test]
fn sequence_numbers_wrap_on_the_wire() {
    let both = vec![Recovery::GO_BACK_N, Recovery::PER_PACKET];
    for recovery in extent::cases("nic::wrap", both, |it| *it == Recovery::PER_PACKET) {
        let (mut a, mut b, qp) = pair(recovery, 32);
        let packets = Psn::MODULUS + 1_000;
        a.post(qp, Bytes::new(packets * 1_000), 1, 0);
        let mut sent = 0;
        while let Some(packet) = a.poll_transmit(at(0)) {
            sent += 1;
            b.handle_packet(at(0), &packet);
            while let Some(ack) = b.poll_transmit(at(0)) {
                a.handle_packet(at(0), &ack);
            }
        }
        assert_eq!(sent, packets, "{recovery:?}");
        assert_eq!((events(&mut a).len(), events(&mut b).len()), (1, 1), "{recovery:?}");
    }
}

mod accounting;
mod classes;
mod delivery;
mod destinations;
mod discarding;
mod hardware;
mod limits;
mod path_windows;
mod peers;
mod planes;
mod policies;
mod recovery;
mod signals;
mod telemetry;
mod timers;
mod windows;
