//! Delivery between two NICs when one message overtakes another.

use super::*;
use crate::nic::recovery::sack;
use crate::nic::verbs::{Operation, VerbsError, WorkRequest};
use crate::nic::{Delivery, QpAttributes};

fn wired(recovery: Recovery, delivery: Option<Delivery>) -> (Nic, Nic, QpId) {
    let mut config = NicConfig::clone(&config(recovery, 1));
    config.queue_pairs.delivery = delivery;
    let config = Arc::new(config);
    let [mut a, mut b] = [0, 1].map(|host| Nic::new(HostId(host), PORT, config.clone()));
    let policy = QpAttributes::single_path(HostId(0), HostId(1)).policy.unwrap();
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    (a, b, qp)
}

fn delivered(nic: &mut Nic) -> Vec<u32> {
    let number = |event| match event {
        NicEvent::Delivered { message, .. } => message,
        other => panic!("{other:?}"),
    };
    events(nic).into_iter().map(number).collect()
}

/// Sends messages of 2, 1 and 3 packets. Returns the deliveries without packet 1, the deliveries
/// with it, and the sender's completions afterwards.
fn overtaking(recovery: Recovery, delivery: Option<Delivery>) -> [Vec<u32>; 3] {
    let (mut a, mut b, qp) = wired(recovery, delivery);
    for (work, packets) in [(10, 2), (11, 1), (12, 3)] {
        a.post(qp, Bytes::new(packets * 1_000), work, 0);
    }
    let packets = drain(&mut a, at(0));
    assert_eq!(packets.len(), 6);
    for index in [0, 5, 2, 4, 3] {
        b.handle_packet(at(1), &packets[index]);
    }
    let early = delivered(&mut b);
    b.handle_packet(at(2), &packets[1]);
    let late = delivered(&mut b);
    drain(&mut b, at(2)).iter().for_each(|reply| a.handle_packet(at(3), reply));
    let completed = events(&mut a).into_iter().map(|event| match event {
        NicEvent::Completed { work, .. } => work as u32,
        other => panic!("{other:?}"),
    });
    [early, late, completed.collect()]
}

#[test]
fn unordered_messages_are_delivered_when_complete_and_ordered_ones_in_turn() {
    let sack = Recovery::Sack(sack::Config { reordering: 9, ..sack::Config::default() });
    let works = vec![10, 11, 12];
    for recovery in [sack, Recovery::PER_PACKET, Recovery::ERASURE] {
        let ordered = overtaking(recovery, Some(Delivery::Ordered));
        assert_eq!(ordered, [vec![], vec![0, 1, 2], works.clone()], "{recovery:?}");
        let unordered = overtaking(recovery, Some(Delivery::Unordered));
        assert_eq!(unordered, [vec![1, 2], vec![0], works.clone()], "{recovery:?}");
        let auto = overtaking(recovery, None);
        let expected = if recovery == Recovery::ERASURE { unordered } else { ordered };
        assert_eq!(auto, expected, "{recovery:?}");
    }
}

#[test]
fn a_duplicate_of_a_delivered_message_changes_nothing() {
    let (mut a, mut b, qp) = wired(Recovery::PER_PACKET, Some(Delivery::Unordered));
    a.post(qp, Bytes::new(2_000), 1, 0);
    a.post(qp, Bytes::ZERO, 2, 0);
    let packets = drain(&mut a, at(0));
    for index in [2, 2, 1, 2, 1, 0, 2, 0] {
        b.handle_packet(at(1), &packets[index]);
    }
    assert_eq!((delivered(&mut b), b.counters().duplicates), (vec![1, 0], 5));
    assert_eq!(b.counters().payload_received, 2_000);
}

/// A queue pair with work queues at both ends.
fn verbs_pair(recovery: Recovery) -> (Nic, Nic, QpId) {
    let mut config = NicConfig::clone(&config(recovery, 1));
    config.queue_pairs.delivery = Some(Delivery::Unordered);
    let config = Arc::new(config);
    let mut nics = [0, 1].map(|host| Nic::new(HostId(host), PORT, config.clone()));
    for (host, nic) in (0..).zip(&mut nics) {
        let qp = nic.create_qp(QpAttributes::single_path(HostId(host), HostId(1 - host))).unwrap();
        nic.modify_qp(qp, QpState::Init).unwrap();
        nic.set_peer_qp(qp, qp).unwrap();
        nic.modify_qp(qp, QpState::ReadyToReceive).unwrap();
        nic.modify_qp(qp, QpState::ReadyToSend).unwrap();
    }
    let [a, b] = nics;
    (a, b, QpId(0))
}

#[test]
fn unordered_sends_take_receives_in_delivery_order_and_complete_in_posting_order() {
    let (mut a, mut b, qp) = verbs_pair(Recovery::PER_PACKET);
    let completions = |nic: &mut Nic| -> Vec<(u64, u64)> {
        std::iter::from_fn(|| nic.poll_completion()).map(|it| (it.id, it.bytes.get())).collect()
    };
    (70..73).for_each(|id| b.post_receive(qp, id).unwrap());
    for (id, bytes) in [(1, 2_000), (2, 500), (3, 0)] {
        let bytes = Bytes::new(bytes);
        a.post_send(qp, WorkRequest { id, operation: Operation::Send, bytes, path: 0 }).unwrap();
    }
    let packets = drain(&mut a, at(0));
    for index in [0, 3, 3, 2, 3, 2] {
        b.handle_packet(at(1), &packets[index]);
    }
    assert_eq!(completions(&mut b), [(70, 0), (71, 500)]);
    drain(&mut b, at(1)).iter().for_each(|reply| a.handle_packet(at(2), reply));
    assert_eq!(completions(&mut a), []);
    b.handle_packet(at(3), &packets[1]);
    assert_eq!(completions(&mut b), [(72, 2_000)]);
    drain(&mut b, at(3)).iter().for_each(|reply| a.handle_packet(at(4), reply));
    assert_eq!(completions(&mut a), [(1, 2_000), (2, 500), (3, 0)]);
    let read = WorkRequest { id: 4, operation: Operation::Read, bytes: Bytes::new(9), path: 0 };
    assert_eq!(a.post_send(qp, read), Err(VerbsError::UnorderedRead));
}

#[test]
fn go_back_n_rejects_unordered_delivery_by_name() {
    for recovery in [Recovery::GO_BACK_N, Recovery::GO_BACK_TO_ZERO] {
        let mut config = NicConfig::clone(&config(recovery, 1));
        config.queue_pairs.delivery = Some(Delivery::Unordered);
        let mut nic = Nic::new(HostId(0), PORT, Arc::new(config));
        let error = nic.create_qp(QpAttributes::single_path(HostId(0), HostId(1))).unwrap_err();
        assert_eq!(error.errno(), "EOPNOTSUPP");
        let expected = "go-back-n does not support unordered delivery; choose another delivery or \
                        loss recovery";
        assert_eq!(error.to_string(), expected);
    }
}

/// The numbers of coded packets continue from message to message and from repair to repair. The
/// wire distinguishes only numbers that are near each other.
#[test]
fn a_coded_message_may_have_more_packets_than_sequence_numbers_distinguish() {
    if extent::is_left_out("nic::delivery, more packets than sequence numbers") {
        return;
    }
    let mut config = NicConfig::clone(&config(Recovery::ERASURE, 32));
    (config.payload, config.header) = (Bytes::new(1), Bytes::new(1));
    let config = Arc::new(config);
    let [mut a, mut b] = [0, 1].map(|host| Nic::new(HostId(host), PORT, config.clone()));
    let policy = QpAttributes::single_path(HostId(0), HostId(1)).policy.unwrap();
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    let packets = Psn::MODULUS / 2 + 1_000;
    a.post(qp, Bytes::new(packets), 1, 0);
    let mut sent = 0;
    while let Some(mut packet) = a.poll_transmit(at(sent)) {
        // Two are trimmed: their numbers stay missing permanently.
        packet.flags = packet.flags.with(Flags::TRIMMED.when(sent == 0 || sent == 5));
        sent += 1;
        b.handle_packet(at(sent), &packet);
        while let Some(reply) = b.poll_transmit(at(sent)) {
            a.handle_packet(at(sent), &reply);
        }
    }
    assert_eq!((sent, events(&mut b).len(), events(&mut a).len()), (packets + 2, 1, 1));
}

#[test]
fn each_message_ends_with_its_last_packet_whatever_was_sent_before() {
    let (mut a, mut b, qp) = pair(Recovery::GO_BACK_N, 1);
    a.post(qp, Bytes::new(2_500), 1, 0);
    drain(&mut a, at(0)).iter().for_each(|packet| b.handle_packet(at(1), packet));
    drain(&mut b, at(1)).iter().for_each(|reply| a.handle_packet(at(2), reply));
    [1_900, 300, 2_800].into_iter().for_each(|bytes| a.post(qp, Bytes::new(bytes), 2, 0));
    let packets = drain(&mut a, at(2));
    let seen: Vec<_> = packets.iter().map(|p| (p.wire_bytes, p.flags.has(Flags::LAST))).collect();
    let full = (1_062, false);
    assert_eq!(seen, [full, (962, true), (362, true), full, full, (862, true)]);
}
