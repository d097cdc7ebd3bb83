//! Two NICs back to back: for each post, exactly what completes.

mod failures;
mod states;

use std::sync::Arc;

use super::*;
use crate::balance::sender::{QpContext, Sender, SenderConfig, ecmp};
use crate::ids::HostId;
use crate::nic::congestion::{CongestionControl, line_rate};
use crate::nic::recovery::{mrc, sack};
use crate::nic::{AckConfig, Nic, NicConfig, Origin, PortFacts, QpAttributes, Recovery, Reporting};
use crate::packet::{Flags, Packet, PacketKind};
use crate::units::{BitRate, Time};

/// Recoveries that carry every verb.
fn recoveries() -> [Recovery; 4] {
    let sack = Recovery::Sack(sack::Config::default());
    [Recovery::GO_BACK_N, Recovery::GO_BACK_TO_ZERO, sack, Recovery::PER_PACKET]
}

const QP: QpId = QpId(0);

fn config(recovery: Recovery, queue_pairs: QpConfig) -> NicConfig {
    NicConfig {
        payload: Bytes::new(1_000),
        congestion: CongestionControl::LineRate(line_rate::Config::default()),
        recovery,
        retransmit_timeout: Span::from_us(100),
        queue_pairs,
        ..NicConfig::default()
    }
}

fn policy() -> Sender {
    SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test())
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
struct NicPair {
    a: Nic,
    b: Nic,
    now: Time,
}

impl NicPair {
    /// Returns NICs with one queue pair each, connected and ready to send.
    fn new(recovery: Recovery, queue_pairs: QpConfig) -> Self {
        Self::of(config(recovery, queue_pairs))
    }

    /// Returns such NICs with that configuration.
    fn of(config: NicConfig) -> Self {
        let config = Arc::new(config);
        let port = PortFacts { line_rate: BitRate::from_gbps(400), base_rtt: Span::from_us(10) };
        let mut nics = [0, 1].map(|host| Nic::new(HostId(host), port, config.clone()));
        for (nic, peer) in nics.iter_mut().zip([1, 0]) {
            assert_eq!(nic.create_qp(attributes(peer)), Ok(QP));
            connect(nic);
        }
        let [a, b] = nics;
        Self { a, b, now: Time::ZERO }
    }

    /// Moves packets and time until nothing more happens, or until `until`.
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

    /// Delivers the packets that both have to send and that `passes` accepts; false if there are no
    /// packets.
    fn exchange(&mut self, passes: impl Fn(&Packet) -> bool) -> bool {
        let [from_a, from_b] = [&mut self.a, &mut self.b].map(|nic| drain(nic, self.now));
        let any = !from_a.is_empty() || !from_b.is_empty();
        from_a.iter().filter(|it| passes(it)).for_each(|it| self.b.handle_packet(self.now, it));
        from_b.iter().filter(|it| passes(it)).for_each(|it| self.a.handle_packet(self.now, it));
        any
    }
}

/// Moves it from Reset to RTS, with the same number at the other end.
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

/// Returns all completions: id, opcode, status and bytes.
fn completions(nic: &mut Nic) -> Vec<(u64, Opcode, CompletionStatus, u64)> {
    std::iter::from_fn(|| nic.poll_completion())
        .map(|it| (it.id, it.opcode, it.status, it.bytes.get()))
        .collect()
}

const SUCCESS: CompletionStatus = CompletionStatus::Success;
const FLUSHED: CompletionStatus = CompletionStatus::Flushed;

#[test]
fn a_write_completes_at_the_sender_and_does_not_notify_the_receiver() {
    for recovery in recoveries() {
        for bytes in [0, 1, 1_000, 2_500] {
            let mut nics = NicPair::new(recovery, QpConfig::default());
            nics.a.post_send(QP, request(5, Operation::Write, bytes)).unwrap();
            assert_eq!(completions(&mut nics.a), [], "not before it is acknowledged");
            nics.run();
            assert_eq!(completions(&mut nics.a), [(5, Opcode::RdmaWrite, SUCCESS, bytes)]);
            assert_eq!(completions(&mut nics.b), []);
            assert_eq!(nics.b.counters().payload_received, bytes);
        }
    }
}

#[test]
fn a_send_consumes_a_receive_and_both_ends_complete() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.b.post_receive(QP, 70).unwrap();
        nics.b.post_receive(QP, 71).unwrap();
        nics.a.post_send(QP, request(1, Operation::Send, 2_500)).unwrap();
        nics.a.post_send(QP, request(2, Operation::Send, 0)).unwrap();
        nics.run();
        let sent = [(1, Opcode::Send, SUCCESS, 2_500), (2, Opcode::Send, SUCCESS, 0)];
        assert_eq!(completions(&mut nics.a), sent);
        let received = [(70, Opcode::Receive, SUCCESS, 2_500), (71, Opcode::Receive, SUCCESS, 0)];
        assert_eq!(completions(&mut nics.b), received);
    }
}

#[test]
fn immediate_data_comes_with_the_last_byte_of_its_write() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.b.post_receive(QP, 9).unwrap();
        nics.a.post_send(QP, request(1, Operation::Write, 5_000)).unwrap();
        let operation = Operation::WriteWithImmediate(0xdead_beef);
        nics.a.post_send(QP, request(2, operation, 3_000)).unwrap();
        nics.run();
        let done = nics.b.poll_completion().unwrap();
        assert_eq!((done.id, done.immediate), (9, Some(0xdead_beef)));
        assert_eq!((done.opcode, done.bytes.get()), (Opcode::ReceiveRdmaWithImmediate, 3_000));
        assert_eq!(completions(&mut nics.a).len(), 2);
    }
}

#[test]
fn messages_find_their_receives_in_any_packet_order() {
    let mut nics = NicPair::new(Recovery::PER_PACKET, QpConfig::default());
    for id in 0..20 {
        nics.b.post_receive(QP, id).unwrap();
        let operation = if id % 2 == 0 {
            Operation::Send
        } else {
            Operation::WriteWithImmediate(u32::try_from(id).unwrap())
        };
        nics.a.post_send(QP, request(id, operation, 100 + 700 * id)).unwrap();
    }
    let mut packets = drain(&mut nics.a, nics.now);
    packets.reverse();
    packets.iter().for_each(|packet| nics.b.handle_packet(nics.now, packet));
    let done: Vec<_> = std::iter::from_fn(|| nics.b.poll_completion()).collect();
    for (id, done) in (0..20).zip(&done) {
        assert_eq!((done.id, done.bytes.get()), (id, 100 + 700 * id));
        assert_eq!(done.immediate, (id % 2 == 1).then_some(u32::try_from(id).unwrap()));
    }
    assert_eq!(done.len(), 20);
}

#[test]
fn a_read_streams_the_peers_bytes_and_completes_in_order() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.a.post_send(QP, request(1, Operation::Read, 10_500)).unwrap();
        nics.a.post_send(QP, request(2, Operation::Write, 10)).unwrap();
        assert!(nics.exchange(|_| true));
        assert_eq!(nics.b.counters().payload_received, 10, "the request has no payload");
        nics.run();
        let done = [(1, Opcode::RdmaRead, SUCCESS, 10_500), (2, Opcode::RdmaWrite, SUCCESS, 10)];
        assert_eq!(completions(&mut nics.a), done, "in the order of posting");
        assert_eq!(nics.a.counters().payload_received, 10_500);
        assert_eq!(nics.b.counters().data_sent, 11);
        assert_eq!(completions(&mut nics.b), []);
    }
}

#[test]
fn a_read_response_does_not_complete_an_unacknowledged_write() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.a.post_send(QP, request(1, Operation::Write, 1_000)).unwrap();
        nics.a.post_send(QP, request(2, Operation::Read, 1_000)).unwrap();
        let posted = drain(&mut nics.a, nics.now);
        posted.iter().for_each(|packet| nics.b.handle_packet(nics.now, packet));
        let sent = drain(&mut nics.b, nics.now);
        let (acks, reply): (Vec<_>, Vec<_>) = sent.iter().partition(|it| it.is_control());
        reply.iter().for_each(|packet| nics.a.handle_packet(nics.now, packet));
        assert_eq!(completions(&mut nics.a), [], "{recovery:?}");
        acks.iter().for_each(|ack| nics.a.handle_packet(nics.now, ack));
        let done = [(1, Opcode::RdmaWrite, SUCCESS, 1_000), (2, Opcode::RdmaRead, SUCCESS, 1_000)];
        assert_eq!(completions(&mut nics.a), done, "{recovery:?}");
    }
}

#[test]
fn reads_are_served_in_rtr_and_responses_survive_losses() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.b.modify_qp(QP, QpState::Reset).unwrap();
        nics.b.modify_qp(QP, QpState::Init).unwrap();
        nics.b.set_peer_qp(QP, QP).unwrap();
        nics.b.modify_qp(QP, QpState::ReadyToReceive).unwrap();
        nics.a.post_send(QP, request(1, Operation::Read, 5_000)).unwrap();
        nics.exchange(|_| true);
        nics.exchange(|packet| packet.fields.raw().psn != 2);
        nics.run();
        assert_eq!(completions(&mut nics.a), [(1, Opcode::RdmaRead, SUCCESS, 5_000)]);
    }
}

#[test]
fn a_gap_without_a_refusal_is_nacked_immediately() {
    for recovery in [Recovery::GO_BACK_N, Recovery::GO_BACK_TO_ZERO] {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.a.post_send(QP, request(1, Operation::Write, 1_000)).unwrap();
        nics.a.post_send(QP, request(2, Operation::Write, 2_000)).unwrap();
        let packets = drain(&mut nics.a, nics.now);
        [0, 2].into_iter().for_each(|index: usize| {
            nics.b.handle_packet(nics.now, &packets[index]);
        });
        let replies = drain(&mut nics.b, nics.now);
        let kinds: Vec<_> = replies.iter().map(|it| (it.kind, it.fields.raw().ack)).collect();
        assert_eq!(kinds, [(PacketKind::Ack, 1), (PacketKind::Nack, 1)], "{recovery:?}");
    }
}

#[test]
fn a_partly_retransmitted_message_is_received_with_all_its_bytes() {
    for recovery in recoveries() {
        let mut nics = NicPair::new(recovery, QpConfig::default());
        nics.b.post_receive(QP, 7).unwrap();
        nics.a.post_send(QP, request(1, Operation::Send, 3_500)).unwrap();
        let packets = drain(&mut nics.a, nics.now);
        [0, 1, 3].into_iter().for_each(|index: usize| {
            nics.b.handle_packet(nics.now, &packets[index]);
        });
        nics.run();
        assert_eq!(completions(&mut nics.b), [(7, Opcode::Receive, SUCCESS, 3_500)]);
        assert_eq!(nics.b.counters().payload_received, 3_500, "{recovery:?}");
    }
}

#[test]
fn the_account_follows_the_queue_pairs_that_exist() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    let nic = &mut nics.a;
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
    assert_eq!(nic.create_qp(attributes(1)), Ok(QpId(3)), "numbers are not reused");
    assert_eq!((nic.account().live, nic.account().peak), (2, 3));
}

/// Creates another queue pair to the same host, which may send.
fn ready(nic: &mut Nic) -> QpId {
    let qp = nic.create_qp(attributes(1)).unwrap();
    nic.modify_qp(qp, QpState::Init).unwrap();
    nic.set_peer_qp(qp, qp).unwrap();
    nic.modify_qp(qp, QpState::ReadyToReceive).unwrap();
    nic.modify_qp(qp, QpState::ReadyToSend).unwrap();
    qp
}

#[test]
fn a_context_miss_delays_only_its_own_queue_pair() {
    let cache = CacheConfig { entries: 1, miss: Span::from_ns(500) };
    let queue_pairs = QpConfig { cache: Some(cache), ..QpConfig::default() };
    let mut nics = NicPair::new(Recovery::GO_BACK_N, queue_pairs);
    let nic = &mut nics.a;
    let second = ready(nic);
    let at = |ns| Time::ZERO + Span::from_ns(ns);

    nic.post_send(QP, request(1, Operation::Write, 2_000)).unwrap();
    assert_eq!(nic.poll_transmit(at(0)), None);
    assert_eq!(nic.poll_timeout(), Some(at(500)));
    assert!(nic.poll_transmit(at(500)).is_some(), "its context is cached");
    nic.post_send(second, request(2, Operation::Write, 1_000)).unwrap();
    let next = nic.poll_transmit(at(521)).unwrap();
    assert_eq!(next.qp, QP, "the first continues");
    assert_eq!(nic.poll_transmit(at(542)), None, "the second waits for its own");
    assert_eq!(nic.next_paced(), Some(at(1_042)));
    assert_eq!(nic.poll_transmit(at(1_042)).unwrap().qp, second);
    let counters = nic.account().cache;
    assert_eq!((counters.hits, counters.send_misses, counters.receive_misses), (1, 2, 0));
}

#[test]
fn the_peer_can_be_set_only_before_a_queue_pair_is_ready() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    let nic = &mut nics.a;
    let qp = nic.create_qp(attributes(1)).unwrap();
    assert_eq!(nic.set_peer_qp(qp, QP), Ok(()));
    nic.modify_qp(qp, QpState::Init).unwrap();
    assert_eq!(nic.set_peer_qp(qp, qp), Ok(()));
    nic.modify_qp(qp, QpState::ReadyToReceive).unwrap();
    let late = VerbsError::WrongState { qp, state: QpState::ReadyToReceive, verb: "set_peer_qp" };
    assert_eq!(nic.set_peer_qp(qp, QP), Err(late));
    let failed = nic.create_qp(attributes(1)).unwrap();
    nic.modify_qp(failed, QpState::Error).unwrap();
    let late = VerbsError::WrongState { qp: failed, state: QpState::Error, verb: "set_peer_qp" };
    assert_eq!(nic.set_peer_qp(failed, QP), Err(late));
}

#[test]
fn queue_pairs_of_different_hosts_have_different_labels() {
    let label = |host, peer| QpAttributes::single_path(HostId(host), HostId(peer)).label;
    for [one, other] in [[(0, 1), (1, 0)], [(1, 2), (1, 3)], [(1 << 16, 0), (1 << 16, 1)]] {
        assert_ne!(label(one.0, one.1), label(other.0, other.1), "{one:?}, {other:?}");
    }
}

#[test]
fn a_reset_keeps_the_turns_of_other_queue_pairs() {
    let mut nics = NicPair::new(Recovery::GO_BACK_N, QpConfig::default());
    let nic = &mut nics.a;
    let second = ready(nic);
    nic.post_send(QP, request(1, Operation::Write, 3_000)).unwrap();
    nic.post_send(second, request(2, Operation::Write, 3_000)).unwrap();
    nic.modify_qp(second, QpState::Reset).unwrap();
    let sent = std::iter::from_fn(|| nic.poll_transmit(Time::ZERO));
    assert_eq!(sent.map(|packet| packet.qp).collect::<Vec<_>>(), [QP; 3]);
}

#[test]
fn an_arrival_waits_for_its_acknowledgement_no_longer_than_the_timer() {
    let common = config(Recovery::GO_BACK_N, QpConfig::default());
    let ack = AckConfig { every: 8, within: Span::from_us(5), ..common.ack };
    let mut nics = NicPair::of(NicConfig { ack, ..common });
    nics.a.post_send(QP, request(1, Operation::Write, 4_000)).unwrap();
    let at = |ns| Time::ZERO + Span::from_ns(ns);
    let packets = drain(&mut nics.a, at(0));
    packets[..2].iter().for_each(|packet| nics.b.handle_packet(at(100), packet));
    assert_eq!((drain(&mut nics.b, at(100)).len(), nics.b.poll_timeout()), (0, Some(at(5_100))));
    nics.b.handle_timeout(at(5_100));
    let ack = drain(&mut nics.b, at(5_100))[0];
    assert_eq!((ack.kind, ack.fields.raw().ack), (PacketKind::Ack, 2));
}
