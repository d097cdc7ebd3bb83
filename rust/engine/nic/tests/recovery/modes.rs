//! Delivery modes of Ultra Ethernet between two NICs: ROD over one path, RUDI without state at the
//! target.

use super::*;
use crate::nic::Delivery;
use crate::nic::verbs::{Operation, VerbsError, WorkRequest};
use crate::nic::{QpAttributes, QpState};

fn entropies(packets: &[Packet]) -> Vec<u16> {
    packets.iter().map(|packet| packet.entropy).collect()
}

fn delivered(nic: &mut Nic) -> Vec<u32> {
    let number = |event| match event {
        NicEvent::Delivered { message, .. } => message,
        other => panic!("{other:?}"),
    };
    events(nic).into_iter().map(number).collect()
}

#[test]
fn with_rod_all_packets_use_the_first_entropy_value() {
    let (mut a, mut b, qp) = wired(settings(Recovery::ROD));
    a.post(qp, Bytes::new(5_000), 1, 0);
    let packets = drain(&mut a, at(0));
    let first = packets[0].entropy;
    assert_eq!(entropies(&packets), [first; 5]);
    // Packet 1 is missing, packet 2 reveals that, and the packets after it are dropped silently.
    [0, 2, 3, 4].iter().for_each(|&index| b.handle_packet(at(1), &packets[index]));
    let replies = drain(&mut b, at(1));
    let kinds: Vec<_> = replies.iter().map(|it| (it.kind, it.fields.raw().ack)).collect();
    assert_eq!(kinds, [(PacketKind::Ack, 1), (PacketKind::Nack, 1)]);
    assert_eq!(b.counters().refused, 3);
    replies.iter().for_each(|reply| a.handle_packet(at(2), reply));
    let again = drain(&mut a, at(2));
    assert_eq!((psns(&again), entropies(&again)), (vec![1, 2, 3, 4], vec![first; 4]));
    // A timeout does not change it either.
    a.handle_timeout(at(1_000_002));
    let after = drain(&mut a, at(1_000_002));
    assert_eq!((psns(&after), entropies(&after)), (vec![1, 2, 3, 4], vec![first; 4]));
    after.iter().for_each(|packet| b.handle_packet(at(1_000_003), packet));
    assert_eq!(delivered(&mut b), [0]);
    drain(&mut b, at(1_000_003)).iter().for_each(|reply| a.handle_packet(at(1_000_004), reply));
    // The next message takes the same path.
    a.post(qp, Bytes::new(1_000), 2, 0);
    assert_eq!(entropies(&drain(&mut a, at(1_000_005))), [first]);
}

#[test]
fn with_rod_a_pinned_queue_pair_follows_its_splitter() {
    let config = Arc::new(settings(Recovery::ROD));
    let [mut a, mut b] = [0, 1].map(|host| Nic::new(HostId(host), PORT, config.clone()));
    let policy = SenderConfig::Pinned(Default::default()).build(&QpContext::for_test());
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    for path in [3, 9] {
        a.post(qp, Bytes::new(2_000), 1, path);
        let packets = drain(&mut a, at(0));
        assert_eq!(entropies(&packets), [path; 2]);
        packets.iter().for_each(|packet| b.handle_packet(at(1), packet));
        drain(&mut b, at(1)).iter().for_each(|reply| a.handle_packet(at(2), reply));
    }
}

#[test]
fn with_rudi_each_packet_is_executed_and_acknowledged_separately() {
    // Coalescing does not apply: each response is for one request.
    let mut config = settings(Recovery::RUDI);
    config.ack.every = 8;
    let (mut a, mut b, qp) = wired(config);
    a.post(qp, Bytes::new(2_000), 10, 0);
    a.post(qp, Bytes::new(1_000), 11, 0);
    let packets = drain(&mut a, at(0));
    for index in [2, 1, 1, 0] {
        b.handle_packet(at(1), &packets[index]);
    }
    assert_eq!(delivered(&mut b), [1, 0], "in the order of completion");
    assert_eq!((b.counters().duplicates, b.counters().payload_received), (1, 3_000));
    let replies = drain(&mut b, at(1));
    let about = replies.iter().map(|it| (it.fields.raw().psn, it.fields.raw().sack));
    assert_eq!(about.collect::<Vec<_>>(), [(2, 1), (1, 1), (1, 1), (0, 1)]);
    // No earlier or later response makes up for that to packet 1.
    [0, 3].iter().for_each(|&index| a.handle_packet(at(2), &replies[index]));
    assert_eq!(events(&mut a), []);
    a.handle_timeout(at(1_000_000));
    let again = drain(&mut a, at(1_000_000));
    assert_eq!(psns(&again), [1]);
    b.handle_packet(at(1_000_001), &again[0]);
    assert_eq!((delivered(&mut b), b.counters().duplicates), (vec![], 2), "executed again");
    drain(&mut b, at(1_000_001)).iter().for_each(|reply| a.handle_packet(at(1_000_002), reply));
    let completed: Vec<_> = events(&mut a);
    let owner = Owner::Driver(0);
    let expected = [10, 11].map(|work| NicEvent::Completed { owner, work });
    assert_eq!(completed, expected, "work completes as it was posted");
}

#[test]
fn with_rudi_a_trimmed_packet_is_nacked_even_if_executed_before() {
    let (mut a, mut b, qp) = wired(settings(Recovery::RUDI));
    a.post(qp, Bytes::new(2_000), 1, 0);
    let packets = drain(&mut a, at(0));
    b.handle_packet(at(1), &packets[0]);
    b.handle_packet(at(1), &cut(&packets[0], Flags::NONE));
    let replies = drain(&mut b, at(1));
    assert_eq!(replies[1].kind, PacketKind::Nack);
    // Its response came first, so the NACK has no effect.
    replies.iter().for_each(|reply| a.handle_packet(at(2), reply));
    assert!(drain(&mut a, at(2)).is_empty());
    // Without the response it is sent and executed again.
    b.handle_packet(at(3), &cut(&packets[1], Flags::NONE));
    drain(&mut b, at(3)).iter().for_each(|reply| a.handle_packet(at(4), reply));
    assert_eq!(psns(&drain(&mut a, at(4))), [1]);
}

#[test]
fn with_rudi_only_writes_can_be_posted_and_only_unordered() {
    let config = Arc::new(settings(Recovery::RUDI));
    let mut nic = Nic::new(HostId(0), PORT, config);
    let qp = nic.create_qp(QpAttributes::single_path(HostId(0), HostId(1))).unwrap();
    nic.modify_qp(qp, QpState::Init).unwrap();
    nic.set_peer_qp(qp, qp).unwrap();
    nic.modify_qp(qp, QpState::ReadyToReceive).unwrap();
    nic.modify_qp(qp, QpState::ReadyToSend).unwrap();
    let request = |operation| WorkRequest { id: 1, operation, bytes: Bytes::new(9), path: 0 };
    for operation in [Operation::Send, Operation::WriteWithImmediate(7), Operation::Read] {
        let refused = nic.post_send(qp, request(operation));
        assert_eq!(refused, Err(VerbsError::WritesOnly { recovery: "rudi" }));
    }
    assert_eq!(nic.post_send(qp, request(Operation::Write)), Ok(()));
    for (recovery, delivery) in
        [(Recovery::RUDI, Delivery::Ordered), (Recovery::ROD, Delivery::Unordered)]
    {
        assert!(!recovery.supports_delivery(delivery), "{recovery:?}");
    }
}
