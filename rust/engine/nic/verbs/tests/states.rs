//! The handling of work and packets in each state of a queue pair.

use super::*;
use crate::nic::congestion::{FIRST_CREDIT, rccc};
use crate::units::Fraction;

#[test]
fn sqd_finishes_begun_work_and_keeps_the_rest_for_rts() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        for id in 0..3 {
            nics.b.post_receive(QP, 10 + id).unwrap();
            nics.a.post_send(QP, request(id, Operation::Send, 3_000)).unwrap();
        }
        let begun = [nics.a.poll_transmit(nics.now).unwrap()];
        nics.a.modify_qp(QP, QpState::SendQueueDrained).unwrap();
        nics.a.post_send(QP, request(3, Operation::Write, 1)).unwrap();
        assert_eq!(nics.a.is_drained(QP), Ok(false));
        nics.b.handle_packet(nics.now, &begun[0]);
        nics.run();
        assert_eq!(completions(&mut nics.a), [(0, Opcode::Send, SUCCESS, 3_000)]);
        assert_eq!(nics.a.is_drained(QP), Ok(true));
        nics.a.modify_qp(QP, QpState::ReadyToSend).unwrap();
        nics.run();
        let rest: Vec<_> = completions(&mut nics.a).iter().map(|done| done.0).collect();
        assert_eq!(rest, [1, 2, 3]);
        let received: Vec<_> = completions(&mut nics.b).iter().map(|done| done.0).collect();
        assert_eq!(received, [10, 11, 12]);
    }
}

#[test]
fn responses_to_reads_continue_in_sqd() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    nics.b.post_send(QP, request(1, Operation::Write, 2_000)).unwrap();
    nics.a.post_send(QP, request(2, Operation::Read, 2_000)).unwrap();
    nics.a.post_send(QP, request(3, Operation::Read, 1_000)).unwrap();
    for packet in drain(&mut nics.a, nics.now) {
        nics.b.handle_packet(nics.now, &packet);
    }
    nics.b.modify_qp(QP, QpState::SendQueueDrained).unwrap();
    nics.run();
    assert_eq!(completions(&mut nics.a).len(), 2, "both READs");
    assert_eq!(completions(&mut nics.b), [], "the WRITE was not begun");
    nics.b.modify_qp(QP, QpState::ReadyToSend).unwrap();
    nics.run();
    assert_eq!(completions(&mut nics.b), [(1, Opcode::RdmaWrite, SUCCESS, 2_000)]);
}

#[test]
fn error_flushes_work_and_reset_discards_it() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    nics.a.post_send(QP, request(1, Operation::Write, 9_000)).unwrap();
    nics.a.post_receive(QP, 2).unwrap();
    assert!(nics.a.poll_transmit(nics.now).is_some());
    nics.a.modify_qp(QP, QpState::Error).unwrap();
    let flushed = [(1, Opcode::RdmaWrite, FLUSHED, 0), (2, Opcode::Receive, FLUSHED, 0)];
    assert_eq!(completions(&mut nics.a), flushed);
    assert!(drain(&mut nics.a, nics.now).is_empty(), "nothing more is sent");
    nics.a.post_send(QP, request(3, Operation::Write, 1)).unwrap();
    nics.a.post_receive(QP, 4).unwrap();
    let flushed = [(3, Opcode::RdmaWrite, FLUSHED, 0), (4, Opcode::Receive, FLUSHED, 0)];
    assert_eq!(completions(&mut nics.a), flushed, "posting to Error flushes immediately");

    for nic in [&mut nics.a, &mut nics.b] {
        nic.modify_qp(QP, QpState::Reset).unwrap();
        connect(nic);
    }
    nics.a.post_send(QP, request(5, Operation::Write, 1_500)).unwrap();
    nics.run();
    assert_eq!(completions(&mut nics.a), [(5, Opcode::RdmaWrite, SUCCESS, 1_500)]);
}

#[test]
fn a_queue_pair_reset_from_init_has_no_peer() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    let qp = nics.a.create_qp(attributes(1)).unwrap();
    nics.a.modify_qp(qp, QpState::Init).unwrap();
    nics.a.set_peer_qp(qp, QP).unwrap();
    nics.a.modify_qp(qp, QpState::Reset).unwrap();
    nics.a.modify_qp(qp, QpState::Init).unwrap();
    let unknown = Err(VerbsError::NotConnected { qp });
    assert_eq!(nics.a.modify_qp(qp, QpState::ReadyToReceive), unknown);
}

#[test]
fn init_and_reset_drop_packets() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    nics.a.post_send(QP, request(1, Operation::Write, 500)).unwrap();
    let packet = nics.a.poll_transmit(nics.now).unwrap();
    for state in [QpState::Reset, QpState::Init] {
        nics.b.modify_qp(QP, state).unwrap();
        nics.b.handle_packet(nics.now, &packet);
    }
    assert_eq!(nics.b.counters().discarded, 2);
    assert!(drain(&mut nics.b, nics.now).is_empty());
    nics.b.handle_packet(nics.now, &Packet { qp: QpId(77), ..packet });
    nics.b.handle_packet(nics.now, &Packet { qp: QpId(77), kind: PacketKind::Ack, ..packet });
    assert_eq!(nics.b.counters().misdirected, 2);
}

/// The credit that a sender asks for follows from its unsent work.
#[test]
fn withdrawn_and_restarted_work_requests_credit_once() {
    // 5,410 B of credit permit six packets of 1,062 B.
    let max_window = Fraction::new(541, 50_000).unwrap();
    let rccc = rccc::Config { max_window, ..rccc::Config::default() };
    let common = config(Recovery::GO_BACK_N, QpConfig::default());
    let mut nics = NicPair::of(NicConfig { congestion: rccc.into(), ..common });
    nics.a.post_send(QP, request(1, Operation::Write, 10_000)).unwrap();
    for state in [QpState::SendQueueDrained, QpState::ReadyToSend] {
        nics.a.modify_qp(QP, state).unwrap();
    }
    let packets = drain(&mut nics.a, nics.now);
    assert_eq!(packets.len(), 6);
    let asked = u64::from(packets[5].as_data().unwrap().credit_target().get()) - FIRST_CREDIT;
    // The remaining four, and the excess of the sixth over the credit.
    assert_eq!(asked, (4u64 * 1_062 + 6 * 1_062 - 5_410).div_ceil(256));
}

#[test]
fn begun_work_still_requests_credit_in_sqd() {
    // As above: six of ten packets are sent.
    let max_window = Fraction::new(541, 50_000).unwrap();
    let rccc = rccc::Config { max_window, ..rccc::Config::default() };
    let common = config(Recovery::GO_BACK_N, QpConfig::default());
    let mut nics = NicPair::of(NicConfig { congestion: rccc.into(), ..common });
    for id in [1, 2] {
        nics.a.post_send(QP, request(id, Operation::Write, 5_000)).unwrap();
    }
    assert!(nics.a.poll_transmit(nics.now).is_some());
    for state in [QpState::SendQueueDrained, QpState::ReadyToSend] {
        nics.a.modify_qp(QP, state).unwrap();
    }
    let packets = drain(&mut nics.a, nics.now);
    assert_eq!(packets.len(), 5);
    let asked = u64::from(packets[4].as_data().unwrap().credit_target().get()) - FIRST_CREDIT;
    assert_eq!(asked, (4u64 * 1_062 + 6 * 1_062 - 5_410).div_ceil(256));
}
