//! Failures: retries that run out, and posts that are rejected.

use super::*;

#[test]
fn without_a_receive_the_sender_waits_for_the_rnr_timer() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.a.post_send(QP, request(1, Operation::Send, 2_000)).unwrap();
        nics.run_until(Time::ZERO + Span::from_ns(1));
        assert!(nics.b.counters().not_ready > 0);
        assert_eq!(nics.b.counters().payload_received, 0);
        if matches!(recovery, Recovery::GO_BACK_N | Recovery::GO_BACK_TO_ZERO) {
            assert_eq!(
                nics.b.counters().control_sent,
                1,
                "later packets are dropped without a NACK"
            );
            assert_eq!((nics.b.counters().data_received, nics.b.counters().refused), (2, 1));
            assert_eq!(nics.a.next_paced(), Some(Time::ZERO + Span::from_us(640)));
        }
        nics.b.post_receive(QP, 3).unwrap();
        nics.run();
        assert!(nics.now >= Time::ZERO + Span::from_us(640), "{recovery:?} {:?}", nics.now);
        assert_eq!(completions(&mut nics.a), [(1, Opcode::Send, SUCCESS, 2_000)]);
        assert_eq!(completions(&mut nics.b), [(3, Opcode::Receive, SUCCESS, 2_000)]);
    }
}

#[test]
fn control_packets_are_counted_at_both_ends() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.a.post_send(QP, request(1, Operation::Send, 1_000)).unwrap();
        nics.run_until(Time::ZERO + Span::from_ns(1));
        let [sent, received] = [&nics.b, &nics.a].map(|nic| *nic.counters());
        assert_eq!((sent.control_sent, received.control_received), (1, 1), "a refusal");
        nics.b.post_receive(QP, 3).unwrap();
        nics.run();
        let [sent, received] = [&nics.b, &nics.a].map(|nic| *nic.counters());
        assert_eq!((sent.control_sent, received.control_received), (2, 2), "{recovery:?}");
    }
}

#[test]
fn a_duplicate_message_consumes_no_second_receive() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.b.post_receive(QP, 3).unwrap();
        nics.a.post_send(QP, request(1, Operation::Send, 500)).unwrap();
        let packet = nics.a.poll_transmit(nics.now).unwrap();
        for copies in 1..=2 {
            nics.b.handle_packet(nics.now, &packet);
            let reply = nics.b.poll_transmit(nics.now).unwrap();
            assert_eq!(reply.kind, PacketKind::Ack, "{recovery:?}, copy {copies}");
        }
        assert_eq!((nics.b.counters().not_ready, nics.b.counters().duplicates), (0, 1));
        assert_eq!(completions(&mut nics.b), [(3, Opcode::Receive, SUCCESS, 500)]);
    }
}

/// A WRITE with immediate data takes its receive with its last packet.
#[test]
fn only_the_last_packet_of_a_write_with_immediate_data_needs_a_receive() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        let operation = Operation::WriteWithImmediate(9);
        nics.a.post_send(QP, request(1, operation, 2_500)).unwrap();
        nics.run_until(Time::ZERO + Span::from_ns(1));
        let counters = nics.b.counters();
        assert_eq!((counters.not_ready, counters.payload_received), (1, 2_000), "{recovery:?}");
        nics.b.post_receive(QP, 3).unwrap();
        nics.run();
        let received = [(3, Opcode::ReceiveRdmaWithImmediate, SUCCESS, 2_500)];
        assert_eq!(completions(&mut nics.b), received, "{recovery:?}");
        assert_eq!(completions(&mut nics.a), [(1, Opcode::RdmaWrite, SUCCESS, 2_500)]);
    }
}

/// A refused queue pair loses its place in the queue of those that may send.
#[test]
fn a_partly_sent_message_waits_for_the_rnr_timer() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.a.post_send(QP, request(1, Operation::Send, 4_000)).unwrap();
        let first = nics.a.poll_transmit(nics.now).unwrap();
        nics.b.handle_packet(nics.now, &first);
        drain(&mut nics.b, nics.now).iter().for_each(|it| nics.a.handle_packet(nics.now, it));
        assert_eq!(drain(&mut nics.a, nics.now), [], "{recovery:?}");
        let resume = Time::ZERO + Span::from_us(640);
        assert_eq!(nics.a.next_paced(), Some(resume));
        let sent = drain(&mut nics.a, resume);
        let psns: Vec<_> = sent.iter().map(|packet| packet.fields.raw().psn).collect();
        assert_eq!(psns, [0, 1, 2, 3], "{recovery:?}");
    }
}

#[test]
fn too_many_consecutive_rnr_naks_fail_the_queue_pair() {
    for recovery in recoveries() {
        let queue_pairs = QpConfig { rnr_retries: Some(3), ..QpConfig::default() };
        let mut nics = NicPair::new(recovery, queue_pairs);
        nics.a.post_send(QP, request(1, Operation::Send, 100)).unwrap();
        nics.a.post_send(QP, request(2, Operation::Write, 100)).unwrap();
        nics.a.post_receive(QP, 8).unwrap();
        nics.run();
        assert_eq!(
            completions(&mut nics.a),
            [
                (1, Opcode::Send, CompletionStatus::RnrRetryExceeded, 0),
                (2, Opcode::RdmaWrite, FLUSHED, 0),
                (8, Opcode::Receive, FLUSHED, 0),
            ]
        );
        assert_eq!(nics.b.counters().not_ready, 4, "the first, and three retries");
        assert_eq!(nics.a.query_qp(QP), Ok(QpState::Error));
    }
}

#[test]
fn too_many_consecutive_timeouts_fail_the_queue_pair() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig { retries: Some(7), ..QpConfig::default() });
        nics.a.post_send(QP, request(1, Operation::Write, 100)).unwrap();
        nics.a.post_send(QP, request(2, Operation::Read, 100)).unwrap();
        nics.b.modify_qp(QP, QpState::Error).unwrap();
        nics.run();
        let exceeded = (1, Opcode::RdmaWrite, CompletionStatus::RetryExceeded, 0);
        assert_eq!(completions(&mut nics.a), [exceeded, (2, Opcode::RdmaRead, FLUSHED, 0)]);
        assert_eq!(nics.now, Time::ZERO + Span::from_us(800), "{recovery:?}");
        assert_eq!(nics.b.counters().discarded, 2 * 8);
        assert_eq!(nics.a.poll_timeout(), None, "nothing is left to do");
    }
}

#[test]
fn progress_resets_the_timeout_count() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig { retries: Some(1), ..QpConfig::default() });
        nics.a.post_send(QP, request(1, Operation::Write, 3_000)).unwrap();
        // In each round the oldest packet arrives at the second attempt.
        for round in 0..3 {
            drain(&mut nics.a, nics.now);
            nics.now += Span::from_us(100);
            nics.a.handle_timeout(nics.now);
            let again = drain(&mut nics.a, nics.now);
            nics.b.handle_packet(nics.now, &again[0]);
            let replies = drain(&mut nics.b, nics.now);
            replies.iter().for_each(|it| nics.a.handle_packet(nics.now, it));
            let state = nics.a.query_qp(QP);
            assert_eq!(state, Ok(QpState::ReadyToSend), "{recovery:?}, round {round}");
        }
        assert_eq!(completions(&mut nics.a), [(1, Opcode::RdmaWrite, SUCCESS, 3_000)]);
    }
}

#[test]
fn the_oldest_incomplete_work_fails() {
    let mut nics =
        NicPair::new(Recovery::GO_BACK_N, QpConfig { retries: Some(7), ..QpConfig::default() });
    nics.a.post_send(QP, request(1, Operation::Write, 100)).unwrap();
    nics.run();
    assert_eq!(completions(&mut nics.a), [(1, Opcode::RdmaWrite, SUCCESS, 100)]);
    nics.b.modify_qp(QP, QpState::Error).unwrap();
    for id in [2, 3] {
        nics.a.post_send(QP, request(id, Operation::Write, 100)).unwrap();
    }
    nics.run();
    let exceeded = (2, Opcode::RdmaWrite, CompletionStatus::RetryExceeded, 0);
    assert_eq!(completions(&mut nics.a), [exceeded, (3, Opcode::RdmaWrite, FLUSHED, 0)]);
}

/// MRC's series of timeouts: `linear` retries at a constant interval, `exponential` ones at
/// doubling intervals, then an error.
#[test]
fn the_queue_pair_fails_after_all_timeouts_of_mrc() {
    let t = Span::from_us(10);
    for (linear, exponential, intervals) in [(2, 1, 3 + 2), (2, 3, 3 + 2 + 4 + 8), (0, 0, 1)] {
        let timer = mrc::Wait::Span(t);
        let config = mrc::Config { timer, linear, exponential, ..mrc::Config::default() };
        let mut nics = NicPair::new(config.into(), QpConfig::default());
        nics.a.post_send(QP, request(1, Operation::Write, 100)).unwrap();
        nics.b.modify_qp(QP, QpState::Error).unwrap();
        nics.run();
        let exceeded = (1, Opcode::RdmaWrite, CompletionStatus::RetryExceeded, 0);
        assert_eq!(completions(&mut nics.a), [exceeded]);
        assert_eq!(nics.now, Time::ZERO + t * intervals, "{linear}, {exponential}");
        assert_eq!(nics.a.counters().retransmitted, u64::from(linear + exponential));
        assert_eq!(nics.a.query_qp(QP), Ok(QpState::Error));
    }
}

/// Card of MRC, section 1.6: each recoverable NACK counts as a timeout.
#[test]
fn mrc_nacks_count_as_timeouts() {
    for (linear, exponential) in [(2, 1), (0, 0), (3, 4)] {
        let timer = mrc::Wait::Span(Span::from_us(10));
        let config = mrc::Config { timer, linear, exponential, ..mrc::Config::default() };
        let mut nics = NicPair::new(config.into(), QpConfig::default());
        nics.a.post_send(QP, request(1, Operation::Write, 100)).unwrap();
        let mut sent = 0;
        loop {
            let packets = drain(&mut nics.a, nics.now);
            if packets.is_empty() {
                break;
            }
            sent += packets.len() as u32;
            for packet in packets {
                let flags = packet.flags.with(Flags::TRIMMED);
                nics.b.handle_packet(nics.now, &Packet { wire_bytes: 64, flags, ..packet });
            }
            let replies = drain(&mut nics.b, nics.now);
            replies.iter().for_each(|reply| nics.a.handle_packet(nics.now, reply));
        }
        let exceeded = (1, Opcode::RdmaWrite, CompletionStatus::RetryExceeded, 0);
        assert_eq!(completions(&mut nics.a), [exceeded]);
        assert_eq!((sent, nics.now), (1 + linear + exponential, Time::ZERO), "no time passed");
        assert_eq!(nics.a.query_qp(QP), Ok(QpState::Error));
    }
}

/// A gap is detected by its age, one round trip, and does not count as a timeout.
#[test]
fn with_mrc_a_gap_does_not_fail_the_queue_pair() {
    let timer = mrc::Wait::Span(Span::from_us(100));
    let config = mrc::Config { timer, linear: 0, exponential: 0, ..mrc::Config::by_round_trip() };
    let mut nics = NicPair::new(config.into(), QpConfig::default());
    nics.a.post_send(QP, request(1, Operation::Write, 3_000)).unwrap();
    let packets = drain(&mut nics.a, nics.now);
    packets[1..].iter().for_each(|packet| nics.b.handle_packet(nics.now, packet));
    nics.run();
    assert_eq!(completions(&mut nics.a), [(1, Opcode::RdmaWrite, SUCCESS, 3_000)]);
    assert_eq!(nics.a.counters().retransmitted, 1);
}

#[test]
fn retries_are_unlimited_by_default() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    nics.b.modify_qp(QP, QpState::Error).unwrap();
    nics.a.post_send(QP, request(1, Operation::Write, 100)).unwrap();
    nics.run_until(Time::ZERO + Span::from_ms(100));
    assert_eq!(nics.a.counters().retransmitted, 1_000);
    assert_eq!(nics.a.query_qp(QP), Ok(QpState::ReadyToSend));
}

#[test]
fn a_read_from_a_receive_only_queue_pair_is_an_invalid_request() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    let receiver = nics.b.create_qp(QpAttributes { policy: None, ..attributes(0) }).unwrap();
    let sender = nics.a.create_qp(attributes(1)).unwrap();
    for (nic, qp) in [(&mut nics.a, sender), (&mut nics.b, receiver)] {
        nic.modify_qp(qp, QpState::Init).unwrap();
        nic.set_peer_qp(qp, qp).unwrap();
        nic.modify_qp(qp, QpState::ReadyToReceive).unwrap();
    }
    nics.a.modify_qp(sender, QpState::ReadyToSend).unwrap();
    let refused = Err(VerbsError::ReceiveOnly { qp: receiver });
    assert_eq!(nics.b.modify_qp(receiver, QpState::ReadyToSend), refused);
    assert_eq!(nics.b.post_send(receiver, request(0, Operation::Write, 1)), refused);
    nics.a.post_send(sender, request(1, Operation::Read, 100)).unwrap();
    nics.run();
    let invalid = (1, Opcode::RdmaRead, CompletionStatus::RemoteInvalidRequest, 0);
    assert_eq!(completions(&mut nics.a), [invalid]);
    assert_eq!(CompletionStatus::RemoteInvalidRequest.to_string(), "IBV_WC_REM_INV_REQ_ERR");
}

#[test]
fn invalid_posts_are_named_errors() {
    let queue_pairs = QpConfig { send_queue: 2, receive_queue: 1, ..QpConfig::default() };
    let mut nics = NicPair::new(Recovery::GO_BACK_N, queue_pairs);
    let nic = &mut nics.a;
    let fails = |nic: &mut Nic, qp, operation, bytes| {
        let error = nic.post_send(qp, request(0, operation, bytes)).unwrap_err();
        format!("{}: {error}", error.errno())
    };
    let too_long = LONGEST_MESSAGE.get() + 1;
    let shown = [
        fails(nic, QpId(9), Operation::Write, 1),
        fails(nic, QP, Operation::Write, too_long),
        fails(nic, QP, Operation::Read, 0),
    ];
    assert_eq!(
        shown,
        [
            "EINVAL: qp9 does not exist; create_qp returns the numbers in use",
            "EINVAL: a message of 2147483649B is too long; the longest is 2147483648 bytes",
            "EINVAL: a READ must request at least one byte",
        ]
    );
    nic.post_send(QP, request(0, Operation::Send, LONGEST_MESSAGE.get())).unwrap();
    nic.post_send(QP, request(0, Operation::Send, 0)).unwrap();
    assert_eq!(
        fails(nic, QP, Operation::Write, 1),
        "ENOMEM: qp0: its send queue holds 2 work requests and is full; poll completions"
    );
    nic.post_receive(QP, 1).unwrap();
    let full = Err(VerbsError::ReceiveQueueFull { qp: QP, depth: 1 });
    assert_eq!(nic.post_receive(QP, 2), full);

    for state in [QpState::Reset, QpState::Init, QpState::ReadyToReceive] {
        if state == QpState::ReadyToReceive {
            let unknown = Err(VerbsError::NotConnected { qp: QP });
            assert_eq!(nic.modify_qp(QP, state), unknown);
            nic.set_peer_qp(QP, QP).unwrap();
        }
        nic.modify_qp(QP, state).unwrap();
        let wrong = Err(VerbsError::WrongState { qp: QP, state, verb: "post_send" });
        assert_eq!(nic.post_send(QP, request(0, Operation::Write, 1)), wrong);
    }
    let wrong = Err(VerbsError::InvalidTransition {
        qp: QP,
        from: QpState::ReadyToReceive,
        to: QpState::SendQueueDrained,
    });
    assert_eq!(nic.modify_qp(QP, QpState::SendQueueDrained), wrong);
}

#[test]
fn an_mtu_is_from_256_to_9000_bytes() {
    for (payload, sound) in [(255, false), (256, true), (9_000, true), (9_001, false)] {
        let payload = Bytes::new(payload);
        let config = NicConfig { payload, ..config(Recovery::GO_BACK_N, QpConfig::default()) };
        let port = PortFacts { line_rate: BitRate::from_gbps(1), base_rtt: Span::ZERO };
        let made = Nic::new(HostId(0), port, Arc::new(config)).create_qp(attributes(1));
        let expected = if sound { Ok(QP) } else { Err(VerbsError::Mtu { mtu: payload }) };
        assert_eq!(made, expected);
    }
}

#[test]
fn the_ideal_erasure_code_carries_only_writes() {
    let mut nics = NicPair::new(Recovery::ERASURE, QpConfig::default());
    for operation in [Operation::Send, Operation::Read, Operation::WriteWithImmediate(1)] {
        let refused = nics.a.post_send(QP, request(0, operation, 1)).unwrap_err();
        let expected = VerbsError::WritesOnly { recovery: "erasure" };
        assert_eq!((refused, refused.errno()), (expected, "EOPNOTSUPP"));
    }
    nics.a.post_send(QP, request(1, Operation::Write, 2_500)).unwrap();
    nics.a.modify_qp(QP, QpState::SendQueueDrained).unwrap();
    nics.run();
    assert_eq!(completions(&mut nics.a), [(1, Opcode::RdmaWrite, SUCCESS, 2_500)]);
}

/// MRC's `max_wimm`: other operations are not limited, and a completion makes room.
#[test]
fn writes_with_immediate_data_are_limited() {
    for recovery in recoveries() {
        let queue_pairs = QpConfig { immediates: Some(2), ..QpConfig::default() };
        let mut nics = NicPair::new(recovery, queue_pairs);
        (0..3).for_each(|id| nics.b.post_receive(QP, id).unwrap());
        let immediate = |id| request(id, Operation::WriteWithImmediate(7), 1_500);
        nics.a.post_send(QP, immediate(1)).unwrap();
        nics.a.post_send(QP, request(2, Operation::Write, 100)).unwrap();
        nics.a.post_send(QP, immediate(3)).unwrap();
        let refused = nics.a.post_send(QP, immediate(4)).unwrap_err();
        assert_eq!(refused, VerbsError::TooManyImmediates { qp: QP, limit: 2 });
        assert_eq!(refused.errno(), "ENOMEM");
        nics.a.post_send(QP, request(5, Operation::Write, 100)).unwrap();
        nics.run();
        assert_eq!(completions(&mut nics.a).len(), 4, "{recovery:?}");
        nics.a.post_send(QP, immediate(6)).unwrap();
        nics.run();
        assert_eq!(completions(&mut nics.a).len(), 1);
        assert_eq!(completions(&mut nics.b).len(), 3);
    }
}

#[test]
fn a_queue_pair_with_events_has_no_completions() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    let qp = nics
        .a
        .create_qp(QpAttributes { reporting: Reporting::Events(3), ..attributes(1) })
        .unwrap();
    let none = Err(VerbsError::NoCompletions { qp });
    assert_eq!(nics.a.post_send(qp, request(0, Operation::Write, 1)), none);
    assert_eq!(nics.a.post_receive(qp, 0), none);
}

/// Acknowledgements postpone the deadline: the timer's entry fires early and finds no timeout.
#[test]
fn slowly_acknowledged_work_completes_without_retries() {
    for recovery in [Recovery::GO_BACK_N, Recovery::Sack(sack::Config::default())] {
        let mut nics = NicPair::new(recovery, QpConfig { retries: Some(0), ..QpConfig::default() });
        nics.a.post_send(QP, request(1, Operation::Write, 4_000)).unwrap();
        let packets = drain(&mut nics.a, nics.now);
        for (packet, us) in packets.iter().zip([60, 140, 220, 300]) {
            // The timeout is 100 us.
            let now = Time::ZERO + Span::from_us(us);
            while let Some(due) = nics.a.poll_timeout().filter(|&due| due < now) {
                nics.a.handle_timeout(due);
            }
            assert_eq!(nics.a.query_qp(QP), Ok(QpState::ReadyToSend), "{recovery:?}, {us} us");
            nics.b.handle_packet(now, packet);
            drain(&mut nics.b, now).iter().for_each(|ack| nics.a.handle_packet(now, ack));
        }
        assert_eq!(completions(&mut nics.a), [(1, Opcode::RdmaWrite, SUCCESS, 4_000)]);
        assert_eq!(nics.a.counters().retransmitted, 0);
    }
}

#[test]
fn refused_work_fails_even_if_older_work_is_incomplete() {
    for recovery in [Recovery::PER_PACKET, Recovery::Sack(sack::Config::default())] {
        let queue_pairs = QpConfig { rnr_retries: Some(0), ..QpConfig::default() };
        let mut nics = NicPair::new(recovery, queue_pairs);
        nics.a.post_send(QP, request(1, Operation::Write, 1_000)).unwrap();
        nics.a.post_send(QP, request(2, Operation::Send, 1_000)).unwrap();
        nics.a.post_send(QP, request(3, Operation::Write, 1_000)).unwrap();
        let packets = drain(&mut nics.a, nics.now);
        nics.b.handle_packet(nics.now, &packets[1]);
        drain(&mut nics.b, nics.now).iter().for_each(|it| nics.a.handle_packet(nics.now, it));
        let refused = (2, Opcode::Send, CompletionStatus::RnrRetryExceeded, 0);
        let [first, last] = [1, 3].map(|id| (id, Opcode::RdmaWrite, FLUSHED, 0));
        assert_eq!(completions(&mut nics.a), [first, refused, last], "{recovery:?}");
    }
}
