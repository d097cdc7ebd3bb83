//! Limits and costs of hardware, at a single NIC or between two.

use super::*;
use crate::nic::qp::QpState;

/// A sender and a receiver with these limits.
fn limited(hardware: HardwareConfig) -> (Nic, Nic, QpId) {
    let mut config = NicConfig { hardware, ..(*config(Recovery::GO_BACK_N, 1)).clone() };
    if let Some(timeout) = hardware.ack_timeout {
        config.retransmit_timeout = timeout.first();
    }
    let config = Arc::new(config);
    let [mut a, mut b] = [0, 1].map(|host| Nic::new(HostId(host), PORT, config.clone()));
    let qp = connect(&mut a, &mut b, 0);
    (a, b, qp)
}

fn connect(a: &mut Nic, b: &mut Nic, cookie: u32) -> QpId {
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, cookie);
    a.connect(qp, receiver);
    qp
}

fn of_message(start: u64, complete: u64) -> HardwareConfig {
    let message = MessageCost { start: Span::from_ns(start), complete: Span::from_ns(complete) };
    HardwareConfig { message, ..HardwareConfig::default() }
}

#[test]
fn the_costs_of_a_message_delay_its_start_and_its_completion() {
    let (mut a, mut b, qp) = limited(of_message(600, 300));
    a.post_at(at(0), qp, Write { bytes: Bytes::new(10), work: 1, path: 0 });
    a.post_at(at(0), qp, Write { bytes: Bytes::new(10), work: 2, path: 0 });
    assert!(drain(&mut a, at(0)).is_empty());
    assert_eq!(a.poll_timeout(), Some(at(600)));
    a.handle_timeout(at(600));
    let packets = drain(&mut a, at(600));
    assert_eq!(packets.len(), 2, "messages posted together start together");
    packets.iter().for_each(|packet| b.handle_packet(at(700), packet));
    assert_eq!(events(&mut b).len(), 2);
    drain(&mut b, at(700)).iter().for_each(|ack| a.handle_packet(at(800), ack));
    assert!(events(&mut a).is_empty());
    assert_eq!(a.next_timer(), Some(at(1_100)));
    a.handle_timeout(at(1_100));
    assert_eq!(events(&mut a).len(), 2);
}

#[test]
fn costs_of_zero_are_none() {
    assert!(of_message(0, 0).is_neutral());
    assert!(limited(of_message(0, 0)).0.hardware_counters().is_none());
}

#[test]
fn the_ceiling_of_the_nic_spaces_the_packets_of_all_queue_pairs() {
    let packet_rate = PacketRate { qp: None, nic: Some(10_000_000) };
    let (mut a, mut b, first) =
        limited(HardwareConfig { packet_rate, ..HardwareConfig::default() });
    let second = connect(&mut a, &mut b, 1);
    for qp in [first, second] {
        a.post(qp, Bytes::new(2_000), 1, 0);
    }
    let starts: Vec<u64> = (0..500).filter(|&ns| a.poll_transmit(at(ns)).is_some()).collect();
    assert_eq!(starts, [0, 100, 200, 300]);
    assert_eq!(a.next_paced(), None);
}

#[test]
fn the_ceiling_of_a_queue_pair_leaves_room_for_others() {
    let packet_rate = PacketRate { qp: Some(10_000_000), nic: None };
    let (mut a, mut b, first) =
        limited(HardwareConfig { packet_rate, ..HardwareConfig::default() });
    let second = connect(&mut a, &mut b, 1);
    for qp in [first, second] {
        a.post(qp, Bytes::new(2_000), 1, 0);
    }
    assert_eq!(drain(&mut a, at(0)).len(), 2);
    assert_eq!(a.poll_timeout(), Some(at(100)));
    assert_eq!(drain(&mut a, at(100)).len(), 2);
}

/// Messages of the packets in the order in which they leave, by queue pair.
fn turns(turns: QpTurns, qps: usize) -> Vec<QpId> {
    let hardware = HardwareConfig { turns, ..HardwareConfig::default() };
    let (mut a, mut b, first) = limited(hardware);
    let more = (1..qps).map(|cookie| connect(&mut a, &mut b, cookie as u32));
    for qp in [first].into_iter().chain(more.collect::<Vec<_>>()) {
        a.post(qp, Bytes::new(2_000), 1, 0);
        a.post(qp, Bytes::new(1_000), 2, 0);
    }
    drain(&mut a, at(0)).iter().map(|packet| packet.qp).collect()
}

#[test]
fn turns_by_message_end_with_the_message() {
    let order = |of: &[u32]| of.iter().map(|&qp| QpId(qp)).collect::<Vec<_>>();
    assert_eq!(turns(QpTurns::Packet, 2), order(&[0, 1, 0, 1, 0, 1]));
    assert_eq!(turns(QpTurns::Message, 2), order(&[0, 0, 1, 1, 0, 1]));
    assert_eq!(turns(QpTurns::Message, 1), turns(QpTurns::Packet, 1), "one queue pair");
}

#[test]
fn a_packet_that_does_not_fit_is_lost_in_the_nic_and_retransmitted() {
    let receive = ReceivePool {
        pool: Bytes::new(10_620),
        rate: Some(BitRate::from_gbps(10)),
        stall: Span::ZERO,
        stall_above: BitRate::MAX,
        stall_after: Bytes::ZERO,
    };
    let cnp = CnpSources { on_nack: true, on_discard: false, limiter: CnpLimiter::Port };
    let (mut a, mut b, qp) =
        limited(HardwareConfig { receive: Some(receive), cnp, ..HardwareConfig::default() });
    a.post(qp, Bytes::new(12_000), 1, 0);
    let packets = drain(&mut a, at(0));
    packets.iter().for_each(|packet| b.handle_packet(at(0), packet));
    let discards = |nic: &Nic| nic.hardware_counters().unwrap().rx_discards;
    assert_eq!((discards(&b), b.counters().data_received), (2, 12), "ten fit");
    // The next one finds room and shows the gap.
    b.handle_packet(at(10_000), &Packet { fields: packets[11].fields, ..packets[11] });
    let replies = drain(&mut b, at(10_000));
    let last: Vec<_> = replies.iter().skip(10).map(|it| it.kind).collect();
    assert_eq!(last, [PacketKind::Cnp, PacketKind::Nack]);
    replies.iter().for_each(|reply| a.handle_packet(at(10_001), reply));
    let counters = a.hardware_counters().unwrap();
    assert_eq!((counters.nacks_received, counters.cnps_received), (1, 1));
    assert_eq!(drain(&mut a, at(10_001)).len(), 2);
}

#[test]
fn a_queue_pair_fails_when_its_retries_are_exceeded() {
    let timeout = AckTimeout { code: 14, floor: true, adaptive: true, retries: 2 };
    let hardware = HardwareConfig { ack_timeout: Some(timeout), ..HardwareConfig::default() };
    let (mut a, _, qp) = limited(hardware);
    a.post_at(at(0), qp, Write { bytes: Bytes::new(64), work: 1, path: 0 });
    let (mut sent, mut now) = (drain(&mut a, at(0)).len(), at(0));
    while let Some(due) = a.poll_timeout() {
        now = due;
        a.handle_timeout(now);
        sent += drain(&mut a, now).len();
    }
    assert_eq!(now, at(0) + timeout.until_error());
    let counters = a.hardware_counters().unwrap();
    assert_eq!((counters.qp_errors, counters.first_error), (1, Some(now)));
    assert_eq!((sent, counters.timeouts), (8, 7));
    assert_eq!(a.query_qp(qp), Ok(QpState::Error));
    // Later posts are flushed.
    a.post(qp, Bytes::new(64), 2, 0);
    assert!(drain(&mut a, now).is_empty());
}

/// Expires the timer of `a` and sends, this many times; returns the packets and the time.
fn expire(a: &mut Nic, times: u32) -> (Vec<Packet>, Time) {
    let mut last = (drain(a, at(0)), at(0));
    for _ in 0..times {
        let now = a.poll_timeout().unwrap();
        a.handle_timeout(now);
        last = (drain(a, now), now);
    }
    last
}

#[test]
fn progress_also_shortens_the_wait_in_progress() {
    let timeout = AckTimeout { code: 14, floor: true, adaptive: true, retries: 7 };
    let hardware = HardwareConfig { ack_timeout: Some(timeout), ..HardwareConfig::default() };
    let (mut a, mut b, qp) = limited(hardware);
    a.post(qp, Bytes::new(2_000), 1, 0);
    let (packets, now) = expire(&mut a, 5);
    assert_eq!(packets.len(), 2);
    assert!(timeout.wait(5).unwrap() > timeout.first());
    assert_eq!(a.requesters[Slot(0)].deadline(), now + timeout.wait(5).unwrap());
    b.handle_packet(now, &packets[0]);
    drain(&mut b, now).iter().for_each(|ack| a.handle_packet(now, ack));
    assert_eq!(a.poll_timeout(), Some(now + timeout.first()), "the second is still missing");
}

#[test]
fn a_reset_forgets_the_timeouts() {
    let timeout = AckTimeout { code: 14, floor: true, adaptive: true, retries: 7 };
    let hardware = HardwareConfig { ack_timeout: Some(timeout), ..HardwareConfig::default() };
    let (mut a, _, qp) = limited(hardware);
    a.post(qp, Bytes::new(1_000), 1, 0);
    expire(&mut a, 3);
    a.modify_qp(qp, QpState::Reset).unwrap();
    a.modify_qp(qp, QpState::Init).unwrap();
    a.connect(qp, QpId(0));
    a.post(qp, Bytes::new(1_000), 2, 0);
    let now = expire(&mut a, 1).1;
    let waits = [a.requesters[Slot(0)].deadline(), now + timeout.wait(1).unwrap()];
    assert_eq!(waits[0], waits[1], "the second wait follows the first");
}

#[test]
fn queue_pairs_with_completions_count_their_own_retries() {
    let timeout = AckTimeout { code: 14, floor: true, adaptive: true, retries: 0 };
    let hardware = HardwareConfig { ack_timeout: Some(timeout), ..HardwareConfig::default() };
    let (mut a, _, _) = limited(hardware);
    let qp = a.create_qp(QpAttributes::single_path(HostId(0), HostId(1))).unwrap();
    a.modify_qp(qp, QpState::Init).unwrap();
    a.connect(qp, QpId(9));
    let operation = crate::nic::verbs::Operation::Write;
    let request =
        crate::nic::verbs::WorkRequest { id: 1, operation, bytes: Bytes::new(9), path: 0 };
    a.post_send(qp, request).unwrap();
    expire(&mut a, 30);
    let counters = a.hardware_counters().unwrap();
    assert_eq!((counters.timeouts, counters.qp_errors), (0, 0));
}

#[test]
fn progress_returns_to_the_first_wait() {
    let timeout = AckTimeout { code: 14, floor: true, adaptive: true, retries: 7 };
    let hardware = HardwareConfig { ack_timeout: Some(timeout), ..HardwareConfig::default() };
    let (mut a, mut b, qp) = limited(hardware);
    a.post(qp, Bytes::new(1_000), 1, 0);
    drain(&mut a, at(0));
    let first = a.poll_timeout().unwrap();
    assert_eq!(first, at(0) + timeout.first());
    a.handle_timeout(first);
    drain(&mut a, first).iter().for_each(|packet| b.handle_packet(first, packet));
    assert_eq!(a.poll_timeout(), timeout.wait(1).map(|wait| first + wait));
    drain(&mut b, first).iter().for_each(|ack| a.handle_packet(first, ack));
    a.post(qp, Bytes::new(1_000), 2, 0);
    drain(&mut a, first);
    assert_eq!(a.requesters[Slot(0)].deadline(), first + timeout.first());
}
