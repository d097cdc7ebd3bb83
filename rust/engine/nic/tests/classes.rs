//! Traffic classes at a NIC: which queue pair sends next, and the class of its packets.

use super::*;
use crate::ids::ClassId;
use crate::sharing::Scheduling;

/// Returns a sender with a queue pair per class in `classes`, each with `packets` packets to send.
fn sender(scheduling: &[Scheduling], classes: &[u32], packets: u64) -> Nic {
    let config = config(Recovery::GO_BACK_N, 1);
    let mut nic = Nic::new(HostId(0), PORT, config.clone());
    nic.set_classes(Discipline::new(scheduling.iter().copied(), config.payload + config.header));
    for (label, &class) in (0u32..).zip(classes) {
        let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
        let half = SendHalf { peer: HostId(1), label, cookie: label, extra: false, policy };
        let qp = nic.open_sender(half);
        let (recovery, flags) = (Recovery::GO_BACK_N, Flags::NONE);
        nic.set_settings(qp, QpSettings { recovery, flags, class: ClassId(class) });
        nic.connect(qp, QpId(label));
        nic.post(qp, Bytes::new(packets * 1_000), 0, 0);
    }
    nic
}

/// Returns the queue pair and the class of each packet that the NIC sends.
fn sent(nic: &mut Nic) -> Vec<(u32, u32)> {
    drain(nic, at(0)).iter().map(|packet| (packet.qp.0, packet.class().0)).collect()
}

#[test]
fn queue_pairs_are_round_robin_within_a_class_and_classes_are_in_order() {
    let scheduling = [Scheduling::Weighted(2), Scheduling::Strict, Scheduling::Weighted(1)];
    let mut nic = sender(&scheduling, &[0, 0, 1, 2], 2);
    assert_eq!(nic.schedule.waiting(), 4);
    let expected = [(2, 1), (2, 1), (0, 0), (1, 0), (3, 2), (0, 0), (1, 0), (3, 2)];
    assert_eq!(sent(&mut nic), expected);
    assert!(!nic.has_packets() && nic.schedule.waiting() == 0);
}

#[test]
fn control_packets_precede_every_class() {
    let mut nic = sender(&[Scheduling::Strict], &[0], 2);
    nic.out.control.push_back(Packet::cnp(Stamp::default()));
    let kinds: Vec<_> = drain(&mut nic, at(0)).iter().map(|packet| packet.kind).collect();
    assert_eq!(kinds, [PacketKind::Cnp, PacketKind::Data, PacketKind::Data]);
}

#[test]
fn a_reset_queue_pair_leaves_the_queue_of_its_class() {
    let mut nic = sender(&[Scheduling::Weighted(1); 2], &[0, 1], 3);
    nic.modify_qp(QpId(0), QpState::Reset).unwrap();
    assert_eq!(sent(&mut nic), [(1, 1); 3]);
}

#[test]
fn a_reset_queue_pair_rejoins_the_round_robin_of_its_class() {
    let mut nic = sender(&[Scheduling::Weighted(1); 2], &[0, 0], 3);
    nic.modify_qp(QpId(0), QpState::Reset).unwrap();
    nic.modify_qp(QpId(0), QpState::Init).unwrap();
    nic.connect(QpId(0), QpId(0));
    nic.post(QpId(0), Bytes::new(3_000), 0, 0);
    assert_eq!(sent(&mut nic), [(1, 0), (0, 0), (1, 0), (0, 0), (1, 0), (0, 0)]);
}

#[test]
fn a_paused_class_does_not_block_others() {
    let mut nic = sender(&[Scheduling::Strict, Scheduling::Weighted(1)], &[0, 1], 2);
    nic.pause_class(ClassId(0), true);
    nic.out.control.push_back(Packet::cnp(Stamp::default()));
    let classes: Vec<_> = drain(&mut nic, at(0)).iter().map(|packet| packet.class().0).collect();
    assert_eq!(classes, [0, 1, 1], "a control packet, and the open class");
    assert!(!nic.has_packets() && nic.schedule.waiting() == 1);
    nic.pause_class(ClassId(0), false);
    assert!(nic.has_packets());
    assert_eq!(sent(&mut nic), [(0, 0); 2]);
}

#[test]
fn external_traffic_waits_for_the_wire_in_class_order() {
    let mut nic = sender(&[Scheduling::Weighted(2), Scheduling::Weighted(1)], &[0], 3);
    nic.out.control.push_back(Packet::cnp(Stamp::default()));
    let set = |classes: &[usize]| classes.iter().fold(ClassSet::NONE, |set, &it| set.with(it));
    let mut poll = |waiting: &[usize], first: &[usize]| {
        let others = ExternalTraffic { waiting: set(waiting), first: set(first) };
        match nic.poll_transmit_shared(at(0), others)? {
            Start::Own(packet) if packet.is_control() => Some(('c', 0)),
            Start::Own(packet) => Some(('o', packet.class().0)),
            Start::External(class) => {
                nic.charge_external(class, 1_062, waiting.len() > 1);
                Some(('x', class.0))
            }
        }
    };
    assert_eq!(poll(&[0, 1], &[0, 1]), Some(('c', 0)), "control packets go first");
    assert_eq!(poll(&[0, 1], &[]), Some(('o', 0)));
    assert_eq!(poll(&[0, 1], &[0]), Some(('x', 0)), "within a class as the caller says");
    assert_eq!(poll(&[0, 1], &[]), Some(('x', 1)), "the turn of the other class");
    assert_eq!(poll(&[0, 1], &[]), Some(('o', 0)));
    assert_eq!(poll(&[], &[]), Some(('o', 0)));
    assert_eq!(poll(&[], &[]), None);
    assert_eq!(poll(&[1], &[]), Some(('x', 1)));
}
