//! Two NICs over a pipe that loses packets: closed forms, and delivery under random faults.

use std::collections::VecDeque;

use super::*;
use crate::nic::recovery::mrc;
use crate::rng::{Purpose, Stream};

/// The fate of a packet in a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Pass,
    Lose,
    Cut,
    Twice,
    Late,
}

/// Two NICs connected by a pipe: each data packet takes a slot, and every packet a fixed delay.
struct Pipe {
    a: Nic,
    b: Nic,
    delay: u64,
    slot: u64,
    data: VecDeque<(u64, Packet)>,
    replies: VecDeque<(u64, Packet)>,
    delivered: Vec<u32>,
    completed: usize,
}

impl Pipe {
    fn new(config: NicConfig, delay: u64, messages: &[u64]) -> Self {
        let (mut a, b, qp) = wired(config);
        for (work, &packets) in (0..).zip(messages) {
            a.post(qp, Bytes::new(packets * 1_000), work, 0);
        }
        Self {
            a,
            b,
            delay,
            slot: 0,
            data: VecDeque::new(),
            replies: VecDeque::new(),
            delivered: Vec::new(),
            completed: 0,
        }
    }

    fn put(&mut self, packet: Packet, fate: Fate) {
        let arrives = self.slot + self.delay;
        let queue = if packet.is_control() { &mut self.replies } else { &mut self.data };
        match fate {
            Fate::Pass => queue.push_back((arrives, packet)),
            Fate::Lose => {}
            Fate::Cut => queue.push_back((arrives, cut(&packet, Flags::NONE))),
            Fate::Twice => queue.extend([(arrives, packet); 2]),
            Fate::Late => queue.push_back((arrives + 5, packet)),
        }
    }

    /// Simulates one slot: arrivals, timers, then the next packet.
    fn step(&mut self, fate: &mut dyn FnMut(&Packet) -> Fate) {
        let now = Time::from_ps(self.slot * SLOT.as_ps());
        let slot = self.slot;
        self.data.make_contiguous().sort_by_key(|&(arrives, _)| arrives);
        self.replies.make_contiguous().sort_by_key(|&(arrives, _)| arrives);
        let here = |queue: &VecDeque<(u64, Packet)>| queue.partition_point(|&(at, _)| at <= slot);
        let data = here(&self.data);
        self.data.drain(..data).for_each(|(_, packet)| self.b.handle_packet(now, &packet));
        let replies = here(&self.replies);
        self.replies.drain(..replies).for_each(|(_, packet)| self.a.handle_packet(now, &packet));
        self.a.handle_timeout(now);
        self.b.handle_timeout(now);
        for packet in self.a.poll_transmit(now).into_iter().chain(drain(&mut self.b, now)) {
            let fate = fate(&packet);
            self.put(packet, fate);
        }
        self.completed += events(&mut self.a).len();
        self.delivered.extend(events(&mut self.b).iter().map(|event| match event {
            NicEvent::Delivered { message, .. } => *message,
            other => unreachable!("the receiver does not send {other:?}"),
        }));
        self.slot += 1;
    }

    /// Runs until everything is complete and returns the number of slots.
    fn run(&mut self, messages: usize, fate: &mut dyn FnMut(&Packet) -> Fate) -> u64 {
        while self.completed < messages {
            self.step(fate);
            assert!(self.slot < 3_000_000, "stalled");
        }
        self.slot
    }
}

#[test]
fn one_loss_costs_go_back_n_a_round_trip_of_packets_and_irn_one() {
    // 10 us are 471 slots there and back: the bandwidth-delay product in packets.
    let resent = |recovery| {
        let mut pipe = Pipe::new(settings(recovery), 235, &[3_000]);
        let mut seen = 0;
        pipe.run(1, &mut |packet| {
            seen += u32::from(!packet.is_control());
            if !packet.is_control() && seen == 1_000 { Fate::Lose } else { Fate::Pass }
        });
        pipe.a.counters().retransmitted
    };
    assert_eq!(resent(sack_beyond(0)), 1);
    let go_back_n = resent(Recovery::GO_BACK_N);
    assert!((460..=480).contains(&go_back_n), "{go_back_n}");
    // Card of Ultra Ethernet, test 5: ROD retransmits all that is in flight, RUD one packet.
    assert_eq!(resent(Recovery::ROD), go_back_n);
    assert_eq!(resent(Recovery::RUDI), 1);
    // An erasure code and per-packet timers detect the loss after 1 ms and send one packet.
    assert_eq!((resent(Recovery::PER_PACKET), resent(Recovery::ERASURE)), (1, 1));
}

#[test]
fn a_lost_per_packet_acknowledgement_costs_one_packet() {
    let resent = |recovery, range| {
        let mut config = settings(recovery);
        config.ack.range = range;
        let mut pipe = Pipe::new(config, 235, &[3_000]);
        let mut seen = 0;
        let slots = pipe.run(1, &mut |packet| {
            seen += u32::from(packet.is_control());
            if packet.is_control() && seen == 1_000 { Fate::Lose } else { Fate::Pass }
        });
        (pipe.a.counters().retransmitted, pipe.b.counters().duplicates, slots)
    };
    let cumulative = resent(Recovery::PER_PACKET, AckRange::Cumulative);
    let one = resent(Recovery::PER_PACKET, AckRange::Packet);
    // RUDI behaves the same, whatever acknowledgements are configured to report.
    assert_eq!(resent(Recovery::RUDI, AckRange::Cumulative), one);
    assert_eq!((cumulative.0, cumulative.1), (0, 0));
    assert_eq!((one.0, one.1), (1, 1));
    // Packet 999 left in slot 999; its timer is 1 ms.
    let (slot, timeout) = (SLOT.as_ps(), Span::from_ms(1).as_ps());
    assert_eq!(one.2, 999 + timeout.div_ceil(slot) + 2 * 235 + 1);
    assert!(one.2 > cumulative.2);
}

#[test]
fn goodput_of_go_back_n_under_random_loss_matches_the_closed_form() {
    let (delay, packets) = (32, 100_000);
    for loss in [0.001, 0.005, 0.02] {
        let mut config = settings(Recovery::GO_BACK_N);
        // A NACK without effect is repeated when its retransmissions should have arrived.
        config.nack_interval = Span::from_ps(2 * delay * SLOT.as_ps());
        let mut pipe = Pipe::new(config, delay, &[packets]);
        let mut random = Stream::new(5, Purpose::Test, 0);
        let slots = pipe.run(1, &mut |packet| {
            // Only its timer would show the loss of the last packet, because nothing follows it.
            let body = !packet.is_control() && u64::from(packet.fields.raw().psn) + 1 < packets;
            let lost = f64::from(random.next_u32()) < loss * 4_294_967_296.;
            if body && lost { Fate::Lose } else { Fate::Pass }
        });
        // From a packet's slot to that of the one sent after its NACK has returned.
        let window = (2 * delay + 2) as f64;
        let expected = (1. - loss) / (1. - loss + window * loss);
        let goodput = packets as f64 / slots as f64;
        let error = (goodput / expected - 1.).abs();
        assert!(error < 0.05, "loss {loss}: {goodput:.3}, expected {expected:.3}");
    }
}

/// Card of MRC, test 10: with p = 1 % and 120 packets in flight, selective repeat has a goodput of
/// 0.99, go-back-N and ROD (1 − p)/(1 − p + W p) = 0.45.
#[test]
fn at_one_percent_of_loss_selective_repeat_has_twice_the_goodput_of_go_back_n() {
    let (delay, packets, loss) = (59, 150_000, 0.01);
    let goodput = |recovery| {
        let mut config = settings(recovery);
        config.nack_interval = Span::from_ps(2 * delay * SLOT.as_ps());
        config.ack.range = recovery.default_ack_range();
        let mut pipe = Pipe::new(config, delay, &[packets]);
        let mut random = Stream::new(7, Purpose::Test, 0);
        let slots = pipe.run(1, &mut |packet| {
            let body = !packet.is_control() && u64::from(packet.fields.raw().psn) + 3_000 < packets;
            let lost = f64::from(random.next_u32()) < loss * 4_294_967_296.;
            if body && lost { Fate::Lose } else { Fate::Pass }
        });
        packets as f64 / slots as f64
    };
    // The limit of PSNs must not bind while a packet that was lost twice waits for its timer.
    let mrc = mrc::Config { mpr: 1 << 16, ..mrc::Config::by_round_trip() };
    let selective = goodput(mrc.into());
    assert!((selective - (1. - loss)).abs() < 0.005, "{selective}");
    let expected = (1. - loss) / (1. - loss + 120. * loss);
    for recovery in [Recovery::GO_BACK_N, Recovery::ROD] {
        let goodput = goodput(recovery);
        assert!((goodput / expected - 1.).abs() < 0.05, "{recovery:?}: {goodput}, {expected}");
    }
}

#[test]
fn each_message_arrives_once_under_random_faults() {
    let messages = [1, 70, 3, 200, 1, 40];
    for recovery in all() {
        for seed in 0..30 {
            let mut config = settings(recovery);
            config.ack.every = 1 + seed as u32 % 5;
            config.ack.within = Span::from_us(3);
            config.nack_interval = Span::from_us(2);
            config.retransmit_timeout = Span::from_us(50);
            let mut pipe = Pipe::new(config, 20, &messages);
            let mut random = Stream::new(seed, Purpose::Test, 1);
            let mut fates = 3_000;
            pipe.run(messages.len(), &mut |packet| {
                fates -= i32::from(fates > 0);
                match random.below(60) {
                    _ if fates == 0 => Fate::Pass,
                    0 => Fate::Lose,
                    1 if !packet.is_control() => Fate::Cut,
                    2 => Fate::Twice,
                    3 => Fate::Late,
                    _ => Fate::Pass,
                }
            });
            let mut delivered = pipe.delivered.clone();
            if [Recovery::ERASURE, Recovery::RUDI].contains(&recovery) {
                delivered.sort_unstable();
            }
            assert_eq!(delivered, [0, 1, 2, 3, 4, 5], "{recovery:?}, seed {seed}");
            let bytes = messages.iter().sum::<u64>() * 1_000;
            let received = pipe.b.counters().payload_received;
            assert_eq!(received, bytes, "{recovery:?}, seed {seed}");
        }
    }
}
