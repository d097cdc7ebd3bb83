//! Timers between two NICs: a NIC that wakes up early finds nothing due and changes nothing.

use std::collections::BTreeMap;

use super::policies::{joined, nics};
use super::*;
use crate::nic::NicCounters;
use crate::nic::congestion::{AckSample, CongestionController, Loss, PathFacts, ReceiverRequest};
use crate::nic::congestion::{dcqcn, dcqcn_mlx, hpcc_pint};
use crate::nic::recovery::sack;
use crate::packet::Stamp;
use crate::rng::{Purpose, Stream};

/// Whether the driver also calls `handle_timeout` when no timer is due.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    WhenDue,
    Extra,
}

/// Two NICs, a pipe of 2 us that loses, trims and marks, and a record of every packet sent.
struct Harness {
    now: Time,
    nics: [Nic; 2],
    wire_free: [Time; 2],
    arrivals: BTreeMap<(Time, usize), (usize, Packet)>,
    sent: Vec<(Time, usize, Packet)>,
    pipe: Stream,
    extra: Option<Stream>,
}

impl Harness {
    fn new(config: NicConfig, seed: u64, calls: Calls) -> Self {
        let config = Arc::new(config);
        let mut nics = [0, 1].map(|host| Nic::new(HostId(host), PORT, config.clone()));
        for from in [0, 1] {
            let (src, dst) = (HostId(from as u32), HostId(1 - from as u32));
            let policy = QpAttributes::single_path(src, dst).policy.unwrap();
            let half = SendHalf { peer: dst, label: 7, cookie: 0, extra: false, policy };
            let sender = nics[from].open_sender(half);
            let receiver = nics[1 - from].open_receiver(src, sender, 7, 0);
            nics[from].connect(sender, receiver);
            for (work, packets) in [(1, 40), (2, 3), (3, 200)] {
                nics[from].post(sender, Bytes::new(packets * 1_000), work, 0);
            }
        }
        Self {
            now: Time::ZERO,
            nics,
            wire_free: [Time::ZERO; 2],
            arrivals: BTreeMap::new(),
            sent: Vec::new(),
            pipe: Stream::new(seed, Purpose::Test, 0),
            extra: (calls == Calls::Extra).then(|| Stream::new(seed, Purpose::Test, 1)),
        }
    }

    fn run(mut self) -> ([NicCounters; 2], Vec<(Time, usize, Packet)>) {
        self.step();
        while let Some(next) = self.next() {
            self.call_early(next);
            self.now = next;
            self.step();
            assert!(self.sent.len() < 50_000, "stalled");
        }
        (self.nics.map(|nic| *nic.counters()), self.sent)
    }

    fn next(&self) -> Option<Time> {
        let arrival = self.arrivals.keys().next().map(|&(time, _)| time);
        let wake = |side: usize| {
            let (nic, free) = (&self.nics[side], self.wire_free[side]);
            let wire = (free > self.now && nic.has_packets()).then_some(free);
            let asked = nic.poll_timeout().map(|time| if time <= self.now { free } else { time });
            [wire, asked].into_iter().flatten().min()
        };
        [arrival, wake(0), wake(1)].into_iter().flatten().min()
    }

    /// Calls at random times before `next`, any number of times.
    fn call_early(&mut self, next: Time) {
        let Some(random) = &mut self.extra else { return };
        let gap = u32::try_from(next.since(self.now).as_ps()).unwrap_or(u32::MAX);
        for _ in 0..random.below(3) {
            let early = self.now + Span::from_ps(u64::from(random.below(gap.max(1))));
            self.nics.iter_mut().for_each(|nic| nic.handle_timeout(early.min(next)));
        }
    }

    fn step(&mut self) {
        while let Some(entry) = self.arrivals.first_entry().filter(|it| it.key().0 <= self.now) {
            let (side, packet) = entry.remove();
            self.nics[side].handle_packet(self.now, &packet);
        }
        for side in [0, 1] {
            self.nics[side].handle_timeout(self.now);
            if self.wire_free[side] > self.now {
                continue;
            }
            let Some(packet) = self.nics[side].poll_transmit(self.now) else { continue };
            let wire = PORT.line_rate.time_for(Bytes::new(packet.wire_bytes.into()));
            self.wire_free[side] = self.now + wire;
            self.sent.push((self.now, side, packet));
            self.carry(side, packet);
        }
    }

    fn carry(&mut self, side: usize, mut packet: Packet) {
        let arrives = self.wire_free[side] + Span::from_us(2);
        let data = !packet.is_control();
        match self.pipe.below(20) {
            0 => return,
            1 | 2 if data => packet.flags = packet.flags.with(Flags::MARKED),
            3 if data => {
                packet.flags = packet.flags.with(Flags::TRIMMED);
                packet.wire_bytes = 64;
            }
            _ => {}
        }
        self.arrivals.insert((arrives, self.sent.len()), (1 - side, packet));
    }
}

#[test]
fn an_early_wake_up_changes_no_packet() {
    let controls = [
        CongestionControl::LineRate(line_rate::Config::default()),
        CongestionControl::Dcqcn(dcqcn::Config::default()),
        CongestionControl::DcqcnMlx(dcqcn_mlx::Config::default()),
    ];
    let recoveries = [
        Recovery::GO_BACK_N,
        Recovery::Sack(sack::Config::default()),
        Recovery::PER_PACKET,
        Recovery::ERASURE,
    ];
    for (recovery, control) in
        recoveries.iter().flat_map(|recovery| controls.iter().map(move |it| (*recovery, it)))
    {
        let mut config = NicConfig::clone(&config(recovery, 8));
        config.congestion = control.clone();
        config.ack.within = Span::from_us(1);
        config.retransmit_timeout = Span::from_us(100);
        config.nack_interval = Span::from_us(20);
        for seed in 0..20 {
            let (counters, asked) = Harness::new(config.clone(), seed, Calls::WhenDue).run();
            let (_, extra) = Harness::new(config.clone(), seed, Calls::Extra).run();
            let differs = asked.iter().zip(&extra).find(|(one, other)| one != other);
            assert_eq!(differs, None, "{recovery:?} {control:?} seed {seed}");
            assert_eq!(asked.len(), extra.len(), "{recovery:?} {control:?} seed {seed}");
            let lost = counters.iter().all(|it| it.retransmitted > 0);
            assert!(lost || recovery == Recovery::ERASURE, "{recovery:?} {counters:?}");
        }
    }
}

#[test]
fn lazy_timers_do_not_depend_on_how_often_the_rate_is_read() {
    let path = PathFacts {
        line_rate: PORT.line_rate,
        base_rtt: PORT.base_rtt,
        has_equal_paths: true,
        packet: Bytes::new(1_062),
        payload: Bytes::new(1_000),
        pace_unit: Span::from_ps(1),
    };
    let presets = [
        CongestionControl::Dcqcn(dcqcn::Config::default()),
        CongestionControl::DcqcnMlx(dcqcn_mlx::Config::default()),
    ];
    for control in presets {
        let [mut often, mut seldom] = [0, 1].map(|_| control.build(&path));
        let mut random = Stream::new(5, Purpose::Test, 0);
        let mut now = Time::ZERO;
        for _ in 0..500 {
            let next = now + Span::from_ns(u64::from(random.below(200_000)) + 1);
            let gap = u32::try_from(next.since(now).as_ps()).unwrap();
            for _ in 0..random.below(4) {
                now += Span::from_ps(u64::from(random.below(gap / 4 + 1)));
                often.rate(now);
            }
            now = next;
            for control in [&mut often, &mut seldom] {
                control.handle_cnp(now);
                control.handle_ack(
                    now,
                    AckSample {
                        ack: 1,
                        next: 2,
                        packets: 1,
                        marked: 1,
                        rtt: PORT.base_rtt,
                        in_flight: 0,
                        receiver: ReceiverRequest::default(),
                    },
                );
                control.handle_loss(now, Loss::Nack);
            }
            assert_eq!(often.rate(now), seldom.rate(now), "{control:?} at {now}");
        }
    }
}

#[test]
fn a_wake_up_before_each_deadline_finds_nothing_due() {
    // Acknowledgement coalescing: due 1 us after the first arrival, and not a picosecond before.
    let mut config = NicConfig::clone(&config(Recovery::GO_BACK_N, 8));
    config.ack.within = Span::from_us(1);
    let (mut a, mut b) = {
        let harness = Harness::new(config, 1, Calls::WhenDue);
        let [a, b] = harness.nics;
        (a, b)
    };
    let packet = a.poll_transmit(at(0)).unwrap();
    b.handle_packet(at(10), &packet);
    assert_eq!(b.next_timer(), Some(at(1_010)));
    b.handle_timeout(Time::from_ps(1_009_999));
    assert_eq!((b.poll_transmit_control(), b.next_timer()), (None, Some(at(1_010))));
    b.handle_timeout(at(1_010));
    assert_eq!(b.poll_transmit_control().unwrap().kind, PacketKind::Ack);
    // Retransmission: likewise, at the sender.
    let due = a.next_timer().unwrap();
    a.handle_timeout(Time::from_ps(due.as_ps() - 1));
    assert_eq!(a.next_timer(), Some(due));
}

/// After its last packet a queue pair is not scheduled and waits for no start, at line rate and
/// below it. An acknowledgement that moves the next start changes neither.
#[test]
fn an_idle_queue_pair_waits_only_for_its_retransmission_timer() {
    let dcqcn = CongestionControl::Dcqcn(dcqcn::Config::default());
    let plain = CongestionControl::LineRate(line_rate::Config::default());
    let telemetry = CongestionControl::HpccPint(hpcc_pint::Config::default());
    for congestion in [plain, dcqcn, telemetry] {
        let common = (*config(Recovery::GO_BACK_N, 1)).clone();
        let [mut a, mut b] = nics(NicConfig { congestion: congestion.clone(), ..common });
        let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
        let qp = joined(&mut a, &mut b, policy);
        // After two notifications DCQCN paces.
        [0, 60_000].into_iter().for_each(|now| a.handle_packet(at(now), &cnp(qp)));
        a.post(qp, Bytes::new(1_000), 1, 0);
        let packet = a.poll_transmit(at(100_000)).unwrap();
        let waits = |a: &Nic| (a.has_packets(), a.next_paced(), a.poll_timeout());
        let timer = Some(at(1_100_000));
        assert_eq!(waits(&a), (false, None, timer), "{congestion:?}");
        b.handle_packet(at(110_000), &packet);
        a.handle_packet(at(120_000), &b.poll_transmit(at(110_000)).unwrap());
        assert_eq!(waits(&a), (false, None, timer), "{congestion:?}");
        assert_eq!(events(&mut a).len(), 1);
    }
}

fn cnp(qp: QpId) -> Packet {
    Packet { qp, ..Packet::cnp(Stamp::default()) }
}

#[test]
fn a_nic_has_packets_while_control_or_data_waits() {
    let dcqcn = CongestionControl::Dcqcn(dcqcn::Config::default());
    let common = (*config(Recovery::GO_BACK_N, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion: dcqcn, ..common });
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = joined(&mut a, &mut b, policy);
    a.handle_packet(at(0), &cnp(qp));
    assert!(!a.has_packets());
    a.post(qp, Bytes::new(2_000), 1, 0);
    assert!(a.has_packets(), "a ready requester");
    let packet = a.poll_transmit(at(0)).unwrap();
    assert!(a.next_paced() > Some(at(0)) && a.has_packets(), "a start");
    assert!(!b.has_packets());
    b.handle_packet(at(1), &packet);
    assert!(b.has_packets(), "an acknowledgement");
}

#[test]
fn a_half_has_at_most_one_timer_entry() {
    let mut config = NicConfig::clone(&config(Recovery::GO_BACK_N, 8));
    config.ack.within = Span::from_us(1);
    let [mut a, mut b] = nics(config);
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = joined(&mut a, &mut b, policy);
    a.post(qp, Bytes::new(20_000), 1, 0);
    let packets = drain(&mut a, at(0));
    packets[..5].iter().for_each(|packet| b.handle_packet(at(10), packet));
    assert_eq!((a.schedule.timers.len(), b.schedule.ack_timers.len()), (1, 1));
    b.handle_timeout(at(1_010));
    assert_eq!((drain(&mut b, at(1_010)).len(), b.schedule.ack_timers.len()), (1, 0));
}

#[test]
fn a_reset_keeps_the_starts_of_other_queue_pairs() {
    let congestion = CongestionControl::Dcqcn(dcqcn::Config::default());
    let common = (*config(Recovery::GO_BACK_N, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion, ..common });
    let qps = [(); 2].map(|()| {
        let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
        let qp = joined(&mut a, &mut b, policy);
        a.handle_packet(at(0), &cnp(qp));
        a.post(qp, Bytes::new(2_000), 1, 0);
        qp
    });
    assert_eq!(
        (drain(&mut a, at(0)).len(), a.schedule.waiting()),
        (2, 0),
        "both wait for their rate"
    );
    let start = a.next_paced();
    a.modify_qp(qps[0], QpState::Reset).unwrap();
    assert_eq!(a.next_paced(), start);
    let sent = drain(&mut a, start.unwrap());
    assert_eq!(sent.iter().map(|packet| packet.qp).collect::<Vec<_>>(), [qps[1]]);
}
