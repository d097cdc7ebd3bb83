//! Two NICs back to back, as a dialogue: what is posted, and exactly what completes.

use std::sync::Arc;

use super::*;
use crate::balance::sender::{NetworkParameters, PathSpace, QpContext, Sender, SenderConfig, ecmp};
use crate::ids::HostId;
use crate::nic::congestion::{CongestionControl, line_rate};
use crate::nic::recovery::sack;
use crate::nic::{AckConfig, Nic, NicConfig, Origin, PortFacts, QpAttributes, Recovery, Reporting};
use crate::packet::{Packet, PacketKind};
use crate::units::{BitRate, Time};

/// All that carry every verb.
fn recoveries() -> [Recovery; 4] {
    let sack = Recovery::Sack(sack::Config::default());
    [Recovery::GO_BACK_N, Recovery::GO_BACK_TO_ZERO, sack, Recovery::PER_PACKET]
}

const QP: QpId = QpId(0);

fn config(recovery: Recovery, queue_pairs: QpConfig) -> NicConfig {
    NicConfig {
        payload: Bytes::new(1_000),
        header: Bytes::new(62),
        ack: AckConfig::default(),
        congestion: CongestionControl::LineRate(line_rate::Config::default()),
        recovery,
        retransmit_timeout: Span::from_us(100),
        nack_interval: Span::from_us(500),
        cnp_interval: Span::from_us(50),
        queue_pairs,
    }
}

fn policy() -> Sender {
    SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext {
        seed: 1,
        src: HostId(0),
        dst: HostId(1),
        stream: 0,
        qp_index: 0,
        paths: PathSpace::SINGLE,
        path: 0,
        network: NetworkParameters::default(),
    })
}

fn attributes(peer: u32) -> QpAttributes {
    QpAttributes {
        peer: HostId(peer),
        label: 7,
        policy: Some(policy()),
        reporting: Reporting::Completions,
        origin: Origin::Regular,
    }
}

/// Two NICs and the time.
struct World {
    a: Nic,
    b: Nic,
    now: Time,
}

impl World {
    /// With one queue pair at each, connected and ready to send.
    fn new(recovery: Recovery, queue_pairs: QpConfig) -> Self {
        let config = Arc::new(config(recovery, queue_pairs));
        let port = PortFacts { line_rate: BitRate::from_gbps(400), base_rtt: Span::from_us(10) };
        let mut nics = [0, 1].map(|host| Nic::new(HostId(host), port, config.clone()));
        for (nic, peer) in nics.iter_mut().zip([1, 0]) {
            assert_eq!(nic.create_qp(attributes(peer)), Ok(QP));
            connect(nic);
        }
        let [a, b] = nics;
        Self { a, b, now: Time::ZERO }
    }

    /// Moves packets and time until nothing happens any more, or `until`.
    fn run_until(&mut self, until: Time) {
        loop {
            while self.exchange(|_| true) {}
            let wakes = [self.a.poll_timeout(), self.b.poll_timeout()];
            let Some(next) = wakes.into_iter().flatten().min().filter(|&it| it <= until) else {
                return;
            };
            self.now = self.now.max(next);
            self.a.handle_timeout(self.now);
            self.b.handle_timeout(self.now);
        }
    }

    fn run(&mut self) {
        self.run_until(Time::from_ps(u64::MAX - 1));
    }

    /// Carries over what both have to send and `passes` lets through; false if nothing.
    fn exchange(&mut self, passes: impl Fn(&Packet) -> bool) -> bool {
        let [from_a, from_b] = [&mut self.a, &mut self.b].map(|nic| drain(nic, self.now));
        let any = !from_a.is_empty() || !from_b.is_empty();
        from_a.iter().filter(|it| passes(it)).for_each(|it| self.b.handle_packet(self.now, it));
        from_b.iter().filter(|it| passes(it)).for_each(|it| self.a.handle_packet(self.now, it));
        any
    }
}

/// From Reset to RTS, with the same number at the other end.
fn connect(nic: &mut Nic) {
    nic.modify_qp(QP, QpState::Init).unwrap();
    nic.set_peer_qp(QP, QP).unwrap();
    nic.modify_qp(QP, QpState::ReadyToReceive).unwrap();
    nic.modify_qp(QP, QpState::ReadyToSend).unwrap();
}

fn drain(nic: &mut Nic, now: Time) -> Vec<Packet> {
    std::iter::from_fn(|| nic.poll_transmit(now)).collect()
}

fn request(id: u64, operation: Operation, bytes: u64) -> WorkRequest {
    WorkRequest { id, operation, bytes: Bytes::new(bytes), path: 0 }
}

/// Everything that completed: name, what, how, bytes.
fn completions(nic: &mut Nic) -> Vec<(u64, Opcode, CompletionStatus, u64)> {
    std::iter::from_fn(|| nic.poll_completion())
        .map(|it| (it.id, it.opcode, it.status, it.bytes.get()))
        .collect()
}

const SUCCESS: CompletionStatus = CompletionStatus::Success;
const FLUSHED: CompletionStatus = CompletionStatus::Flushed;

#[test]
fn a_write_completes_at_the_sender_and_tells_the_receiver_nothing() {
    for recovery in recoveries() {
        for bytes in [0, 1, 1_000, 2_500] {
            let mut world = World::new(recovery, QpConfig::default());
            world.a.post_send(QP, request(5, Operation::Write, bytes)).unwrap();
            assert_eq!(completions(&mut world.a), [], "not before it is acknowledged");
            world.run();
            assert_eq!(completions(&mut world.a), [(5, Opcode::RdmaWrite, SUCCESS, bytes)]);
            assert_eq!(completions(&mut world.b), []);
            assert_eq!(world.b.counters().payload_received, bytes);
        }
    }
}

#[test]
fn a_send_takes_a_receive_and_both_ends_complete() {
    for recovery in recoveries() {
        let mut world = World::new(recovery, QpConfig::default());
        world.b.post_receive(QP, 70).unwrap();
        world.b.post_receive(QP, 71).unwrap();
        world.a.post_send(QP, request(1, Operation::Send, 2_500)).unwrap();
        world.a.post_send(QP, request(2, Operation::Send, 0)).unwrap();
        world.run();
        let sent = [(1, Opcode::Send, SUCCESS, 2_500), (2, Opcode::Send, SUCCESS, 0)];
        assert_eq!(completions(&mut world.a), sent);
        let received = [(70, Opcode::Receive, SUCCESS, 2_500), (71, Opcode::Receive, SUCCESS, 0)];
        assert_eq!(completions(&mut world.b), received);
    }
}

#[test]
fn immediate_data_comes_with_the_last_byte_of_its_write() {
    for recovery in recoveries() {
        let mut world = World::new(recovery, QpConfig::default());
        world.b.post_receive(QP, 9).unwrap();
        world.a.post_send(QP, request(1, Operation::Write, 5_000)).unwrap();
        let operation = Operation::WriteWithImmediate(0xdead_beef);
        world.a.post_send(QP, request(2, operation, 3_000)).unwrap();
        world.run();
        let done = world.b.poll_completion().unwrap();
        assert_eq!((done.id, done.immediate), (9, Some(0xdead_beef)));
        assert_eq!((done.opcode, done.bytes.get()), (Opcode::ReceiveRdmaWithImmediate, 3_000));
        assert_eq!(completions(&mut world.a).len(), 2);
    }
}

#[test]
fn messages_find_their_receives_in_whatever_order_packets_come() {
    let mut world = World::new(Recovery::PER_PACKET, QpConfig::default());
    for id in 0..20 {
        world.b.post_receive(QP, id).unwrap();
        let operation = if id % 2 == 0 {
            Operation::Send
        } else {
            Operation::WriteWithImmediate(u32::try_from(id).unwrap())
        };
        world.a.post_send(QP, request(id, operation, 100 + 700 * id)).unwrap();
    }
    let mut packets = drain(&mut world.a, world.now);
    packets.reverse();
    packets.iter().for_each(|packet| world.b.handle_packet(world.now, packet));
    let done: Vec<_> = std::iter::from_fn(|| world.b.poll_completion()).collect();
    for (id, done) in (0..20).zip(&done) {
        assert_eq!((done.id, done.bytes.get()), (id, 100 + 700 * id));
        assert_eq!(done.immediate, (id % 2 == 1).then_some(u32::try_from(id).unwrap()));
    }
    assert_eq!(done.len(), 20);
}

#[test]
fn a_read_streams_the_peers_bytes_and_completes_in_its_turn() {
    for recovery in recoveries() {
        let mut world = World::new(recovery, QpConfig::default());
        world.a.post_send(QP, request(1, Operation::Read, 10_500)).unwrap();
        world.a.post_send(QP, request(2, Operation::Write, 10)).unwrap();
        assert!(world.exchange(|_| true));
        assert_eq!(world.b.counters().payload_received, 10, "the request has no payload");
        world.run();
        let done = [(1, Opcode::RdmaRead, SUCCESS, 10_500), (2, Opcode::RdmaWrite, SUCCESS, 10)];
        assert_eq!(completions(&mut world.a), done, "in the order of posting");
        assert_eq!(world.a.counters().payload_received, 10_500);
        assert_eq!(world.b.counters().data_sent, 11);
        assert_eq!(completions(&mut world.b), []);
    }
}

#[test]
fn reads_are_answered_in_rtr_and_the_answer_survives_losses() {
    for recovery in recoveries() {
        let mut world = World::new(recovery, QpConfig::default());
        world.b.modify_qp(QP, QpState::Reset).unwrap();
        world.b.modify_qp(QP, QpState::Init).unwrap();
        world.b.set_peer_qp(QP, QP).unwrap();
        world.b.modify_qp(QP, QpState::ReadyToReceive).unwrap();
        world.a.post_send(QP, request(1, Operation::Read, 5_000)).unwrap();
        world.exchange(|_| true);
        world.exchange(|packet| packet.fields.raw().psn != 2);
        world.run();
        assert_eq!(completions(&mut world.a), [(1, Opcode::RdmaRead, SUCCESS, 5_000)]);
    }
}

#[test]
fn without_a_receive_the_sender_waits_for_the_rnr_timer() {
    for recovery in recoveries() {
        let mut world = World::new(recovery, QpConfig::default());
        world.a.post_send(QP, request(1, Operation::Send, 2_000)).unwrap();
        world.run_until(Time::ZERO + Span::from_ns(1));
        assert!(world.b.counters().not_ready > 0);
        assert_eq!(world.b.counters().payload_received, 0);
        if matches!(recovery, Recovery::GO_BACK_N | Recovery::GO_BACK_TO_ZERO) {
            assert_eq!(world.b.counters().control_sent, 1, "what follows is dropped in silence");
            assert_eq!(world.a.next_paced(), Some(Time::ZERO + Span::from_us(640)));
        }
        world.b.post_receive(QP, 3).unwrap();
        world.run();
        assert!(world.now >= Time::ZERO + Span::from_us(640), "{recovery:?} {:?}", world.now);
        assert_eq!(completions(&mut world.a), [(1, Opcode::Send, SUCCESS, 2_000)]);
        assert_eq!(completions(&mut world.b), [(3, Opcode::Receive, SUCCESS, 2_000)]);
    }
}

#[test]
fn too_many_rnr_naks_in_a_row_end_the_queue_pair() {
    for recovery in recoveries() {
        let queue_pairs = QpConfig { rnr_retries: Some(3), ..QpConfig::default() };
        let mut world = World::new(recovery, queue_pairs);
        world.a.post_send(QP, request(1, Operation::Send, 100)).unwrap();
        world.a.post_send(QP, request(2, Operation::Write, 100)).unwrap();
        world.a.post_receive(QP, 8).unwrap();
        world.run();
        assert_eq!(
            completions(&mut world.a),
            [
                (1, Opcode::Send, CompletionStatus::RnrRetryExceeded, 0),
                (2, Opcode::RdmaWrite, FLUSHED, 0),
                (8, Opcode::Receive, FLUSHED, 0),
            ]
        );
        assert_eq!(world.b.counters().not_ready, 4, "the first, and three retries");
        assert_eq!(world.a.query_qp(QP), Ok(QpState::Error));
    }
}

#[test]
fn too_many_timeouts_in_a_row_end_the_queue_pair() {
    for recovery in recoveries() {
        let mut world = World::new(recovery, QpConfig { retries: Some(7), ..QpConfig::default() });
        world.a.post_send(QP, request(1, Operation::Write, 100)).unwrap();
        world.a.post_send(QP, request(2, Operation::Read, 100)).unwrap();
        world.b.modify_qp(QP, QpState::Error).unwrap();
        world.run();
        let exceeded = (1, Opcode::RdmaWrite, CompletionStatus::RetryExceeded, 0);
        assert_eq!(completions(&mut world.a), [exceeded, (2, Opcode::RdmaRead, FLUSHED, 0)]);
        assert_eq!(world.now, Time::ZERO + Span::from_us(800), "{recovery:?}");
        assert_eq!(world.b.counters().discarded, 2 * 8);
        assert_eq!(world.a.poll_timeout(), None, "nothing is left to do");
    }
}

#[test]
fn without_a_limit_it_tries_for_ever() {
    let mut world = World::new(Recovery::GO_BACK_N, QpConfig::default());
    world.b.modify_qp(QP, QpState::Error).unwrap();
    world.a.post_send(QP, request(1, Operation::Write, 100)).unwrap();
    world.run_until(Time::ZERO + Span::from_ms(100));
    assert_eq!(world.a.counters().retransmitted, 1_000);
    assert_eq!(world.a.query_qp(QP), Ok(QpState::ReadyToSend));
}

#[test]
fn a_read_from_a_queue_pair_that_only_receives_is_an_invalid_request() {
    let mut world = World::new(Recovery::GO_BACK_N, QpConfig::default());
    let receiver = world.b.create_qp(QpAttributes { policy: None, ..attributes(0) }).unwrap();
    let sender = world.a.create_qp(attributes(1)).unwrap();
    for (nic, qp) in [(&mut world.a, sender), (&mut world.b, receiver)] {
        nic.modify_qp(qp, QpState::Init).unwrap();
        nic.set_peer_qp(qp, qp).unwrap();
        nic.modify_qp(qp, QpState::ReadyToReceive).unwrap();
    }
    world.a.modify_qp(sender, QpState::ReadyToSend).unwrap();
    let refused = Err(VerbsError::ReceiveOnly { qp: receiver });
    assert_eq!(world.b.modify_qp(receiver, QpState::ReadyToSend), refused);
    assert_eq!(world.b.post_send(receiver, request(0, Operation::Write, 1)), refused);
    world.a.post_send(sender, request(1, Operation::Read, 100)).unwrap();
    world.run();
    let invalid = (1, Opcode::RdmaRead, CompletionStatus::RemoteInvalidRequest, 0);
    assert_eq!(completions(&mut world.a), [invalid]);
    assert_eq!(CompletionStatus::RemoteInvalidRequest.to_string(), "IBV_WC_REM_INV_REQ_ERR");
}

#[test]
fn sqd_finishes_what_was_begun_and_keeps_the_rest_for_rts() {
    for recovery in recoveries() {
        let mut world = World::new(recovery, QpConfig::default());
        for id in 0..3 {
            world.b.post_receive(QP, 10 + id).unwrap();
            world.a.post_send(QP, request(id, Operation::Send, 3_000)).unwrap();
        }
        let begun = [world.a.poll_transmit(world.now).unwrap()];
        world.a.modify_qp(QP, QpState::SendQueueDrained).unwrap();
        world.a.post_send(QP, request(3, Operation::Write, 1)).unwrap();
        assert_eq!(world.a.is_drained(QP), Ok(false));
        world.b.handle_packet(world.now, &begun[0]);
        world.run();
        assert_eq!(completions(&mut world.a), [(0, Opcode::Send, SUCCESS, 3_000)]);
        assert_eq!(world.a.is_drained(QP), Ok(true));
        world.a.modify_qp(QP, QpState::ReadyToSend).unwrap();
        world.run();
        let rest: Vec<_> = completions(&mut world.a).iter().map(|done| done.0).collect();
        assert_eq!(rest, [1, 2, 3]);
        let received: Vec<_> = completions(&mut world.b).iter().map(|done| done.0).collect();
        assert_eq!(received, [10, 11, 12]);
    }
}

#[test]
fn answers_to_reads_go_on_in_sqd() {
    let mut world = World::new(Recovery::GO_BACK_N, QpConfig::default());
    world.b.post_send(QP, request(1, Operation::Write, 2_000)).unwrap();
    world.a.post_send(QP, request(2, Operation::Read, 2_000)).unwrap();
    world.a.post_send(QP, request(3, Operation::Read, 1_000)).unwrap();
    for packet in drain(&mut world.a, world.now) {
        world.b.handle_packet(world.now, &packet);
    }
    world.b.modify_qp(QP, QpState::SendQueueDrained).unwrap();
    world.run();
    assert_eq!(completions(&mut world.a).len(), 2, "both READs");
    assert_eq!(completions(&mut world.b), [], "the WRITE was not begun");
    world.b.modify_qp(QP, QpState::ReadyToSend).unwrap();
    world.run();
    assert_eq!(completions(&mut world.b), [(1, Opcode::RdmaWrite, SUCCESS, 2_000)]);
}

#[test]
fn error_flushes_and_reset_forgets() {
    let mut world = World::new(Recovery::GO_BACK_N, QpConfig::default());
    world.a.post_send(QP, request(1, Operation::Write, 9_000)).unwrap();
    world.a.post_receive(QP, 2).unwrap();
    assert!(world.a.poll_transmit(world.now).is_some());
    world.a.modify_qp(QP, QpState::Error).unwrap();
    let flushed = [(1, Opcode::RdmaWrite, FLUSHED, 0), (2, Opcode::Receive, FLUSHED, 0)];
    assert_eq!(completions(&mut world.a), flushed);
    assert!(drain(&mut world.a, world.now).is_empty(), "nothing goes out any more");
    world.a.post_send(QP, request(3, Operation::Write, 1)).unwrap();
    world.a.post_receive(QP, 4).unwrap();
    let flushed = [(3, Opcode::RdmaWrite, FLUSHED, 0), (4, Opcode::Receive, FLUSHED, 0)];
    assert_eq!(completions(&mut world.a), flushed, "posting to Error flushes at once");

    for nic in [&mut world.a, &mut world.b] {
        nic.modify_qp(QP, QpState::Reset).unwrap();
        connect(nic);
    }
    world.a.post_send(QP, request(5, Operation::Write, 1_500)).unwrap();
    world.run();
    assert_eq!(completions(&mut world.a), [(5, Opcode::RdmaWrite, SUCCESS, 1_500)]);
}

#[test]
fn a_queue_pair_taken_back_from_init_does_not_know_its_peer() {
    let mut world = World::new(Recovery::GO_BACK_N, QpConfig::default());
    let qp = world.a.create_qp(attributes(1)).unwrap();
    world.a.modify_qp(qp, QpState::Init).unwrap();
    world.a.set_peer_qp(qp, QP).unwrap();
    world.a.modify_qp(qp, QpState::Reset).unwrap();
    world.a.modify_qp(qp, QpState::Init).unwrap();
    let unknown = Err(VerbsError::NotConnected { qp });
    assert_eq!(world.a.modify_qp(qp, QpState::ReadyToReceive), unknown);
}

#[test]
fn init_and_reset_drop_packets() {
    let mut world = World::new(Recovery::GO_BACK_N, QpConfig::default());
    world.a.post_send(QP, request(1, Operation::Write, 500)).unwrap();
    let packet = world.a.poll_transmit(world.now).unwrap();
    for state in [QpState::Reset, QpState::Init] {
        world.b.modify_qp(QP, state).unwrap();
        world.b.handle_packet(world.now, &packet);
    }
    assert_eq!(world.b.counters().discarded, 2);
    assert!(drain(&mut world.b, world.now).is_empty());
    world.b.handle_packet(world.now, &Packet { qp: QpId(77), ..packet });
    world.b.handle_packet(world.now, &Packet { qp: QpId(77), kind: PacketKind::Ack, ..packet });
    assert_eq!(world.b.counters().misdirected, 2);
}

#[test]
fn bad_posts_are_errors_by_name() {
    let queue_pairs = QpConfig { send_queue: 2, receive_queue: 1, ..QpConfig::default() };
    let mut world = World::new(Recovery::GO_BACK_N, queue_pairs);
    let nic = &mut world.a;
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
            "EINVAL: qp9: there is no such queue pair; numbers are given by create_qp",
            "EINVAL: a message of 2147483649B is too long; the longest is 2147483648 bytes",
            "EINVAL: a READ must ask for at least one byte",
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
fn the_ideal_erasure_code_carries_writes_alone() {
    let mut world = World::new(Recovery::ERASURE, QpConfig::default());
    for operation in [Operation::Send, Operation::Read, Operation::WriteWithImmediate(1)] {
        let refused = world.a.post_send(QP, request(0, operation, 1)).unwrap_err();
        assert_eq!((refused, refused.errno()), (VerbsError::WritesOnly, "EOPNOTSUPP"));
    }
    world.a.post_send(QP, request(1, Operation::Write, 2_500)).unwrap();
    world.a.modify_qp(QP, QpState::SendQueueDrained).unwrap();
    world.run();
    assert_eq!(completions(&mut world.a), [(1, Opcode::RdmaWrite, SUCCESS, 2_500)]);
}

#[test]
fn a_queue_pair_with_events_has_no_completions() {
    let mut world = World::new(Recovery::GO_BACK_N, QpConfig::default());
    let qp = world
        .a
        .create_qp(QpAttributes { reporting: Reporting::Events(3), ..attributes(1) })
        .unwrap();
    let none = Err(VerbsError::NoCompletions { qp });
    assert_eq!(world.a.post_send(qp, request(0, Operation::Write, 1)), none);
    assert_eq!(world.a.post_receive(qp, 0), none);
}

#[test]
fn the_account_follows_the_queue_pairs_that_exist() {
    let mut world = World::new(Recovery::GO_BACK_N, QpConfig::default());
    let nic = &mut world.a;
    let extra = QpAttributes { origin: Origin::Extra, ..attributes(1) };
    let second = nic.create_qp(extra).unwrap();
    let third = nic.create_qp(QpAttributes { policy: None, ..attributes(2) }).unwrap();
    let account = nic.account();
    assert_eq!((account.opened, account.live, account.peak), (3, 3, 3));
    assert_eq!((account.sending, account.extra), (2, 1));
    assert_eq!((account.peers, account.per_peer_max), (2, 2));
    assert_eq!(account.context_bytes, Bytes::new(3 * 375));

    nic.destroy_qp(second).unwrap();
    nic.destroy_qp(third).unwrap();
    assert_eq!(nic.destroy_qp(third), Err(VerbsError::UnknownQp { qp: third }));
    let account = nic.account();
    assert_eq!((account.opened, account.live, account.peak, account.peers), (3, 1, 3, 1));
    assert_eq!(nic.account_by_peer()[&HostId(1)].live, 1);
    assert_eq!(nic.create_qp(attributes(1)), Ok(QpId(3)), "numbers are not given again");
}

#[test]
fn a_context_miss_delays_its_own_queue_pair_only() {
    let cache = CacheConfig { entries: 1, miss: Span::from_ns(500) };
    let queue_pairs = QpConfig { cache: Some(cache), ..QpConfig::default() };
    let mut world = World::new(Recovery::GO_BACK_N, queue_pairs);
    let nic = &mut world.a;
    let second = nic.create_qp(attributes(1)).unwrap();
    nic.modify_qp(second, QpState::Init).unwrap();
    nic.set_peer_qp(second, second).unwrap();
    nic.modify_qp(second, QpState::ReadyToReceive).unwrap();
    nic.modify_qp(second, QpState::ReadyToSend).unwrap();
    let at = |ns| Time::ZERO + Span::from_ns(ns);

    nic.post_send(QP, request(1, Operation::Write, 2_000)).unwrap();
    assert_eq!(nic.poll_transmit(at(0)), None);
    assert_eq!(nic.poll_timeout(), Some(at(500)));
    assert!(nic.poll_transmit(at(500)).is_some(), "its context is there");
    nic.post_send(second, request(2, Operation::Write, 1_000)).unwrap();
    let next = nic.poll_transmit(at(521)).unwrap();
    assert_eq!(next.qp, QP, "the first goes on");
    assert_eq!(nic.poll_transmit(at(542)), None, "the second waits for its own");
    assert_eq!(nic.next_paced(), Some(at(1_042)));
    assert_eq!(nic.poll_transmit(at(1_042)).unwrap().qp, second);
    let counters = nic.account().cache;
    assert_eq!((counters.hits, counters.send_misses, counters.receive_misses), (1, 2, 0));
}
