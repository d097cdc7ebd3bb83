//! Feedback to the policy of a queue pair.

use std::sync::Mutex;

use super::*;
use crate::balance::sender::custom::{self, CustomSender, SenderFactory};
use crate::balance::sender::{FailedPath, Feedback, PathSignal, Prober, Sender};
use crate::nic::recovery::mrc;
use crate::nic::{ControlPaths, Delivery};
use crate::packet::{MessageLabel, PlaneMask};

/// A policy that uses the entropy values 0, 1, 2, ... and logs its feedback.
#[derive(Debug, Clone, Default)]
pub(super) struct LoggingPolicy {
    next: u16,
    /// When it probes value 77.
    probe: Option<Time>,
    log: Arc<Mutex<Vec<String>>>,
}

impl LoggingPolicy {
    /// Returns a policy that uses the values from `next` on.
    pub(super) fn from(next: u16) -> Self {
        Self { next, ..Self::default() }
    }

    pub(super) fn policy(&self) -> Sender {
        let factory = Arc::new(self.clone());
        SenderConfig::Custom(custom::Config { factory }).build(&QpContext::for_test())
    }

    /// Returns the feedback since the last call.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    fn record(&self, what: String) {
        self.log.lock().unwrap().push(what);
    }
}

impl SenderFactory for LoggingPolicy {
    fn sender(&self, _qp: &QpContext) -> Box<dyn CustomSender> {
        self.duplicate()
    }
}

impl Prober for LoggingPolicy {
    fn next_probe(&self) -> Time {
        self.probe.unwrap_or(Time::NEVER)
    }
    fn poll_probe(&mut self, now: Time) -> Option<u16> {
        self.probe.take_if(|due| *due <= now).map(|_| 77)
    }
    fn handle_probe(&mut self, _now: Time, entropy: u16, signal: PathSignal) {
        self.record(format!("{entropy} {signal:?} by a probe"));
    }
}

impl CustomSender for LoggingPolicy {
    fn entropy(&mut self, _now: Time) -> u16 {
        self.next += 1;
        self.next - 1
    }
    fn choose(&mut self, now: Time, _free: PlaneMask) -> Option<u16> {
        Some(self.entropy(now))
    }
    fn handle_planes(&mut self, _now: Time, usable: PlaneMask) {
        self.record(format!("planes {:b}", usable.bits()));
    }
    fn handle_feedback(&mut self, _now: Time, feedback: Feedback) {
        let Feedback { entropy, signal, packets, marked, .. } = feedback;
        self.record(format!("{entropy} {signal:?} {packets} {marked}"));
    }
    fn handle_timeout(&mut self, _now: Time, entropy: u16) -> Option<FailedPath> {
        self.record(format!("{entropy} timed out"));
        None
    }
    fn set_path(&mut self, path: u16) {
        if path > 0 {
            self.record(format!("path {path}"));
        }
    }
    fn handle_weights(&mut self, weights: &[u32]) {
        self.record(format!("weights {weights:?}"));
    }
    fn state_bits(&self) -> u64 {
        0
    }
    fn duplicate(&self) -> Box<dyn CustomSender> {
        Box::new(self.clone())
    }
}

/// Opens a queue pair with that policy from the first NIC to the second.
pub(super) fn joined(a: &mut Nic, b: &mut Nic, policy: Sender) -> QpId {
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    qp
}

/// Returns two NICs with that configuration.
pub(super) fn nics(config: NicConfig) -> [Nic; 2] {
    let config = Arc::new(config);
    [0, 1].map(|host| Nic::new(HostId(host), PORT, config.clone()))
}

#[test]
fn a_policy_can_get_feedback_for_each_acknowledged_packet() {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 4)).clone());
    let logger = LoggingPolicy::default();
    let qp = joined(&mut a, &mut b, logger.policy());
    a.post(qp, Bytes::new(4_000), 1, 0);
    let mut packets = drain(&mut a, at(0));
    packets[2].flags = packets[2].flags.with(Flags::MARKED);
    packets.iter().for_each(|packet| b.handle_packet(at(1), packet));
    let replies = drain(&mut b, at(1));
    assert_eq!((replies.len(), logger.take().len()), (1, 0));
    a.handle_packet(at(2), &replies[0]);
    assert_eq!(logger.take(), ["0 Good 1 0", "1 Good 1 0", "2 Marked 1 1", "3 Good 1 0"]);
}

#[test]
fn a_timeout_reports_the_entropy_value_of_its_packet() {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    let logger = LoggingPolicy::default();
    let qp = joined(&mut a, &mut b, logger.policy());
    a.post(qp, Bytes::new(3_000), 1, 0);
    let packets = drain(&mut a, at(0));
    [0, 2].into_iter().for_each(|index| b.handle_packet(at(1), &packets[index]));
    drain(&mut b, at(1)).iter().for_each(|reply| a.handle_packet(at(2), reply));
    assert_eq!(logger.take(), ["0 Good 1 0", "2 Good 1 0"]);
    a.handle_timeout(at(1_000_000));
    assert_eq!(logger.take(), ["1 timed out"]);
}

#[test]
fn probes_are_sent_when_due_and_replies_reach_the_policy() {
    for (mark, expected) in
        [(Flags::NONE, "77 Good by a probe"), (Flags::MARKED, "77 Marked by a probe")]
    {
        let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
        let logger = LoggingPolicy { probe: Some(at(5_000)), ..LoggingPolicy::default() };
        let qp = joined(&mut a, &mut b, logger.policy());
        a.post(qp, Bytes::new(1_000), 1, 0);
        assert_eq!((drain(&mut a, at(0)).len(), a.poll_timeout()), (1, Some(at(5_000))));
        a.handle_timeout(at(5_000));
        let probes = drain(&mut a, at(5_000));
        let [probe] = probes[..] else { panic!("{probes:?}") };
        let way = |packet: &Packet| (packet.src.0, packet.dst.0, packet.entropy, packet.wire_bytes);
        assert_eq!((probe.kind, way(&probe)), (PacketKind::Probe, (0, 1, 77, 64)));
        b.handle_packet(at(6_000), &probe);
        let reply = b.poll_transmit(at(6_000)).unwrap();
        assert_eq!((reply.kind, way(&reply)), (PacketKind::ProbeReply, (1, 0, 77, 64)));
        a.handle_packet(at(7_000), &Packet { flags: reply.flags.with(mark), ..reply });
        assert_eq!(logger.take(), [expected]);
        assert_eq!((b.counters().control_received, a.counters().control_received), (1, 1));
    }
}

#[test]
fn a_policy_without_control_of_paths_sends_no_probes() {
    let [mut a, mut b] = nics((*config(Recovery::ROD, 1)).clone());
    let logger = LoggingPolicy { probe: Some(at(5_000)), ..LoggingPolicy::default() };
    let qp = joined(&mut a, &mut b, logger.policy());
    a.post(qp, Bytes::new(1_000), 1, 0);
    assert_eq!(drain(&mut a, at(0)).len(), 1);
    assert_eq!(a.poll_timeout(), Some(at(1_000_000)));
    a.handle_timeout(at(1_000_000));
    let kinds: Vec<_> = drain(&mut a, at(1_000_000)).iter().map(|packet| packet.kind).collect();
    assert_eq!(kinds, [PacketKind::Data], "the packet again");
}

/// MRC declares a gap lost a round trip after a later packet has arrived.
#[test]
fn losses_detected_by_time_reach_the_policy() {
    let [mut a, mut b] = nics((*config(Recovery::Mrc(mrc::Config::by_round_trip()), 1)).clone());
    let logger = LoggingPolicy::default();
    let qp = joined(&mut a, &mut b, logger.policy());
    a.post(qp, Bytes::new(3_000), 1, 0);
    drain(&mut a, at(0))[1..].iter().for_each(|packet| b.handle_packet(at(1_000), packet));
    drain(&mut b, at(1_000)).iter().for_each(|reply| a.handle_packet(at(2_000), reply));
    assert_eq!(logger.take(), ["1 Good 1 0", "2 Good 1 0"]);
    assert_eq!(a.poll_timeout(), Some(at(12_000)));
    a.handle_timeout(at(12_000));
    assert_eq!(logger.take(), ["0 Nack 0 0"]);
    let again: Vec<_> = drain(&mut a, at(12_000)).iter().map(|p| p.fields.raw().psn).collect();
    assert_eq!(again, [0]);
}

/// The acknowledgement is that of another receiver: those here never ask.
#[test]
fn a_receiver_can_ask_to_leave_a_path() {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    let logger = LoggingPolicy::default();
    let qp = joined(&mut a, &mut b, logger.policy());
    a.post(qp, Bytes::new(2_000), 1, 0);
    drain(&mut a, at(0)).iter().for_each(|packet| b.handle_packet(at(1), packet));
    let replies = drain(&mut b, at(1));
    let asks = replies[0].flags.with(Flags::LAST_HOP);
    for flags in [asks, asks.with(Flags::MARKED)] {
        a.handle_packet(at(2), &Packet { flags, ..replies[0] });
    }
    a.handle_packet(at(2), &replies[1]);
    assert_eq!(logger.take(), ["0 Condemned 0 0", "0 Good 1 0", "0 Condemned 0 0", "1 Good 1 0"]);
}

#[test]
fn a_policy_learns_of_trims_at_the_last_hop() {
    let (trimmed, last) = (Flags::TRIMMED, Flags::TRIMMED.with(Flags::LAST_HOP));
    for (flags, expected) in [(trimmed, "1 Trimmed 0 0"), (last, "1 TrimmedAtLastHop 0 0")] {
        let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
        let logger = LoggingPolicy::default();
        let qp = joined(&mut a, &mut b, logger.policy());
        a.post(qp, Bytes::new(3_000), 1, 0);
        let packet = drain(&mut a, at(0))[1];
        let flags = packet.flags.with(flags);
        b.handle_packet(at(1), &Packet { wire_bytes: 64, flags, ..packet });
        drain(&mut b, at(1)).iter().for_each(|reply| a.handle_packet(at(2), reply));
        assert_eq!(logger.take(), [expected]);
    }
}

#[test]
fn a_message_pins_an_idle_queue_pair_to_its_path() {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    let logger = LoggingPolicy::default();
    let qp = joined(&mut a, &mut b, logger.policy());
    [5, 6].into_iter().for_each(|path| a.post(qp, Bytes::new(1_000), path.into(), path));
    drain(&mut a, at(0)).iter().for_each(|packet| b.handle_packet(at(1), packet));
    drain(&mut b, at(1)).iter().for_each(|reply| a.handle_packet(at(2), reply));
    a.post(qp, Bytes::new(1_000), 7, 7);
    let paths: Vec<_> = logger.take().into_iter().filter(|it| it.starts_with("path")).collect();
    assert_eq!(paths, ["path 5", "path 7"], "6 had to keep to 5");
}

#[test]
fn a_policy_learns_the_weights_of_its_paths_before_and_after_it_is_connected() {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    let logger = LoggingPolicy::default();
    let policy = logger.policy();
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    a.handle_weights(qp, &[1, 2]);
    assert_eq!(logger.take(), ["weights [1, 2]"]);
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    a.handle_weights(qp, &[3, 0]);
    assert_eq!(logger.take(), ["weights [3, 0]"]);
}

#[test]
fn a_new_queue_pair_learns_of_planes_that_are_down_already() {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    a.set_planes(4, ControlPaths::Echo, 1);
    let [first, second] = [(); 2].map(|()| LoggingPolicy::default());
    joined(&mut a, &mut b, first.policy());
    assert_eq!(first.take(), Vec::<String>::new(), "all planes are usable");
    a.handle_plane(at(1), 2, false);
    assert_eq!(first.take(), ["planes 1011"]);
    joined(&mut a, &mut b, second.policy());
    assert_eq!(second.take(), ["planes 1011"]);
}

/// With ordered delivery, PSNs alone identify packets.
#[test]
fn packets_name_their_message_only_if_it_may_overtake_another() {
    let labels = |delivery| {
        let mut config = (*config(Recovery::Mrc(mrc::Config::by_round_trip()), 1)).clone();
        config.queue_pairs.delivery = Some(delivery);
        let [mut a, mut b] = nics(config);
        let qp = joined(&mut a, &mut b, LoggingPolicy::default().policy());
        [1, 2].into_iter().for_each(|id| a.post(qp, Bytes::new(2_000), id, 0));
        let packets = drain(&mut a, at(0));
        packets.iter().map(|packet| packet.as_data().unwrap().message()).collect::<Vec<_>>()
    };
    assert_eq!(labels(Delivery::Ordered), [MessageLabel::default(); 4]);
    let of = |number| MessageLabel { index: Psn::on_wire(number), length: 2 };
    assert_eq!(labels(Delivery::Unordered), [of(0), of(0), of(1), of(1)]);
}
