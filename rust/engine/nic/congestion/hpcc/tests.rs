use super::*;
use crate::packet::PortReading;

/// 100 Gbps and 8 us: a bandwidth-delay product of 100 packets of 1000 B.
const PATH: PathFacts = PathFacts::FOR_TEST;
const LINE: f64 = 100e9;
/// Additive increase: 40 Mbps.
const INCREASE: f64 = 40e6;

#[test]
fn values_out_of_range_are_rejected() {
    let rejected = |config: Config| config.check().unwrap_err().key;
    assert_eq!(Config::default().check(), Ok(()));
    let zero = BitRate::from_bps(0);
    assert_eq!(rejected(Config { min_rate: zero, ..Config::default() }), "min_rate");
    let round_trip = AbsoluteOrFraction::Absolute(Span::ZERO);
    assert_eq!(rejected(Config { round_trip, ..Config::default() }), "round_trip");
}

/// The state of a 100 Gbps port when a packet passes: time, bytes sent, queue.
#[derive(Clone, Copy, Default)]
struct Port {
    ns: u64,
    sent: u64,
    waiting: u64,
}

/// A control that receives acknowledgements of one packet each.
struct Sender {
    control: Hpcc,
    ack: u64,
    /// Packets in flight at each acknowledgement.
    out: u64,
}

impl Sender {
    fn new(config: &Config) -> Self {
        Self { control: Hpcc::new(config, &PATH), ack: 0, out: 100 }
    }

    /// Acknowledges a packet that passed these ports; returns the rate in Gbps.
    fn receive(&mut self, ports: &[Port]) -> f64 {
        let mut telemetry = Telemetry::default();
        for port in ports {
            let at = Time::ZERO + Span::from_ns(port.ns);
            let (sent, waiting) = (port.sent, port.waiting);
            let rate = BitRate::from_gbps(100);
            telemetry.push(&PortReading { at, sent, waiting, rate }, 1);
        }
        self.control.handle_telemetry(&telemetry);
        self.ack += 1;
        let sample = AckSample::for_test(self.ack, self.ack + self.out, 0);
        self.control.handle_ack(Time::ZERO, sample);
        self.control.rate(Time::ZERO).as_bps() as f64 / 1e9
    }

    /// Sends `acks` acknowledgements from a port without a queue at this utilization; returns the
    /// rate.
    fn receive_throughput(&mut self, from: Port, utilization: f64, acks: u64) -> (f64, Port) {
        let (mut port, mut rate) = (from, 0.0);
        for _ in 0..acks {
            // One unit of 128 bytes per 10.24 ns at line rate: 100 units in 1024 ns.
            port.ns += 1_024;
            port.sent += (12_800.0 * utilization) as u64;
            rate = self.receive(&[port]);
        }
        (rate, port)
    }
}

#[test]
fn the_first_acknowledgement_changes_nothing_and_later_ones_follow_the_formula() {
    let mut sender = Sender::new(&Config::default());
    assert_eq!(sender.receive(&[Port { ns: 0, sent: 0, waiting: 0 }]), 100.0);
    // 12,800 B in 800 ns: 128 Gbps, u = 1.28; U = 1 · (1 − 0.1) + 1.28 · 0.1.
    let rate = sender.receive(&[Port { ns: 800, sent: 12_800, waiting: 0 }]);
    let average = 0.9 + 0.128;
    assert!((rate - 100.0 * 0.95 / average - 0.04).abs() < 1e-6, "{rate}");
    // The shorter of two queues counts: 8,000 B are 0.08 of W.
    let rate = sender.receive(&[Port { ns: 1_600, sent: 25_600, waiting: 8_000 }]);
    let average = average * 0.9 + 1.28 * 0.1;
    assert!((rate - 95.0 / average - 0.04).abs() < 1e-6, "{rate}");
    let rate = sender.receive(&[Port { ns: 2_400, sent: 38_400, waiting: 16_000 }]);
    let average = average * 0.9 + (1.28 + 0.08) * 0.1;
    assert!((rate - 95.0 / average - 0.04).abs() < 1e-6, "{rate}");
}

#[test]
fn the_busiest_hop_counts_with_its_own_time() {
    let mut sender = Sender::new(&Config::default());
    sender.receive(&[Port::default(), Port::default()]);
    let idle = Port { ns: 4_000, sent: 12_800, waiting: 0 };
    let busy = Port { ns: 800, sent: 12_800, waiting: 0 };
    let rate = sender.receive(&[idle, busy]);
    assert!((rate - 95.0 / (0.9 + 0.128) - 0.04).abs() < 1e-6, "{rate}");
}

/// A lone flow settles at η · C + AI: the utilization of its link is its own rate.
#[test]
fn a_lone_flow_settles_at_its_target_plus_the_increase() {
    let mut sender = Sender { out: 0, ..Sender::new(&Config::default()) };
    let mut port = Port::default();
    let mut rate = sender.receive(&[port]);
    for _ in 0..2_000 {
        port.ns += 8_192;
        port.sent += (102_400.0 * rate / 100.0) as u64;
        rate = sender.receive(&[port]);
    }
    let expected = (0.95 * LINE + INCREASE) / 1e9;
    assert!((rate - expected).abs() < 0.15, "{rate} is not {expected}, within a unit of 128 bytes");
}

/// One of two flows at 47.5 Gbps ends. The other takes over the free half: with the paper's
/// parameters after five additive rounds, with the simulator's immediately.
#[test]
fn free_bandwidth_is_used_after_the_additive_rounds() {
    let half = Reference { rate: 47_500_000_000, stage: 0 };
    let start = |config: Config| {
        let mut sender = Sender::new(&config);
        sender.receive(&[Port::default()]);
        (sender.control.0.reference, sender.control.0.utilization) = (half, 0.475);
        sender
    };
    let (rate, _) = start(Config::default()).receive_throughput(Port::default(), 0.475, 1);
    assert!((rate / 47.5 - 2.0).abs() < 0.01, "{rate}");
    let (mut sender, mut port) = (start(Config::paper()), Port::default());
    for round in 1..=5 {
        let (rate, to) = sender.receive_throughput(port, 0.475, 101);
        port = to;
        let added = 47.5 + f64::from(round) * INCREASE / 1e9;
        assert_eq!(sender.control.0.reference.rate, (added * 1e9).round() as u64);
        assert!((rate - added).abs() < 0.05, "{rate} in round {round}");
    }
    let (rate, _) = sender.receive_throughput(port, 0.475, 1);
    assert!((rate / 47.5 - 2.0).abs() < 0.02, "{rate}");
}

/// Two flows started at line rate into one port. With fast reactions, U = t/T + e^(−t/T) while u =
/// 1 + t/T: 1.37 after T.
#[test]
fn the_average_of_a_growing_queue_follows_the_closed_form() {
    let mut sender = Sender::new(&Config::default());
    sender.receive(&[Port::default()]);
    let mut port = Port::default();
    for step in 1..=100 {
        // Every 80 ns the port sends 1000 B, and the queue grows by 1000 B: W in T.
        port = Port { ns: step * 80, sent: step * 1_000, waiting: step * 1_000 };
        sender.receive(&[port]);
    }
    let average = sender.control.0.utilization;
    assert_eq!(port.ns, 8_000);
    // Steps of T/100 and the queue of the previous sample: within a hundredth and a unit.
    assert!((average - (1.0 + (-1.0f64).exp())).abs() < 0.02, "{average}");
}

/// Without fast reactions, the first sample that counts has the empty queue of the very first
/// sample, so u = 1 and R = η · Rc + AI.
#[test]
fn without_fast_reactions_the_first_change_ignores_the_queue() {
    let mut sender = Sender::new(&Config { fast_react: false, ..Config::default() });
    sender.receive(&[Port::default()]);
    for step in 1..100 {
        let port = Port { ns: step * 80, sent: step * 1_000, waiting: step * 1_000 };
        assert_eq!(sender.receive(&[port]), 100.0);
    }
    sender.receive(&[Port { ns: 8_000, sent: 100_000, waiting: 100_000 }]);
    let rate = sender.receive(&[Port { ns: 8_192, sent: 102_400, waiting: 100_000 }]);
    assert!((rate - 95.04).abs() < 0.15, "{rate}");
}

/// The window follows the rate.
#[test]
fn the_window_scales_with_the_rate() {
    let mut sender = Sender::new(&Config::default());
    assert_eq!(sender.control.window(), 100_000);
    sender.receive(&[Port::default()]);
    let rate = sender.receive(&[Port { ns: 8_000, sent: 200_000, waiting: 0 }]);
    assert!((rate - 47.54).abs() < 0.05, "{rate}");
    assert_eq!(sender.control.window(), 48_000, "47.5 packets and one in part");
    let fixed = Config { window: WindowRule::Fixed, ..Config::default() };
    let mut sender = Sender::new(&fixed);
    sender.receive(&[Port::default()]);
    sender.receive(&[Port { ns: 8_000, sent: 200_000, waiting: 0 }]);
    assert_eq!(sender.control.window(), 100_000);
}

#[test]
fn with_one_rate_per_hop_the_lowest_applies() {
    let mut sender = Sender::new(&Config { multiple_rates: true, ..Config::default() });
    sender.receive(&[Port::default(), Port::default()]);
    let half = Port { ns: 8_000, sent: 50_000, waiting: 0 };
    let full = Port { ns: 8_000, sent: 200_000, waiting: 0 };
    let rate = sender.receive(&[half, full]);
    let of_half = sender.control.0.hops[0].utilization;
    assert!((rate - 47.54).abs() < 0.05 && (of_half - 0.5).abs() < 0.01, "{rate} {of_half}");
}

#[test]
fn sampled_feedback_skips_empty_queues_in_fast_reactions() {
    let config = Config { sample_feedback: true, ..Config::default() };
    let mut sender = Sender::new(&config);
    sender.receive(&[Port::default()]);
    assert_eq!(sender.receive(&[Port { ns: 800, sent: 20_480, waiting: 0 }]), 100.0);
    assert!(sender.receive(&[Port { ns: 1_600, sent: 40_960, waiting: 80 }]) < 90.0);
}

#[test]
fn acknowledgements_without_samples_keep_the_rate() {
    let mut sender = Sender::new(&Config::default());
    sender.receive(&[Port::default()]);
    let far = [Port { ns: 800, sent: 20_480, waiting: 0 }; 6];
    assert_eq!([sender.receive(&far), sender.receive(&[])], [100.0, 100.0]);
    assert_eq!(sender.receive(&[Port::default()]), 100.0, "no time has passed");
}

#[test]
fn the_rate_stays_at_or_above_its_minimum() {
    let mut sender = Sender::new(&Config::default());
    let mut port = Port::default();
    sender.receive(&[port]);
    let mut rate = 100.0;
    for _ in 0..2_000 {
        port = Port { ns: port.ns + 8_000, sent: port.sent + 400_000, waiting: 0 };
        rate = sender.receive(&[port]);
    }
    assert!((1.0..1.1).contains(&rate), "{rate}");
}

/// As in the simulator, such an acknowledgement does not change the average.
#[test]
fn an_idle_path_leaves_the_average_unchanged() {
    let mut sender = Sender::new(&Config::default());
    sender.receive(&[Port::default()]);
    sender.receive(&[Port { ns: 800, sent: 12_800, waiting: 0 }]);
    let before = sender.control.0.utilization;
    sender.receive(&[Port { ns: 1_600, sent: 12_800, waiting: 0 }]);
    assert!((sender.control.0.utilization - before).abs() < 1e-12);
    sender.receive(&[Port { ns: 2_400, sent: 25_600, waiting: 0 }]);
    assert!((sender.control.0.utilization - (0.9 * before + 0.128)).abs() < 1e-9);
}

#[test]
fn the_rate_of_a_hop_changes_once_per_round_trip() {
    let mut sender = Sender::new(&Config { multiple_rates: true, ..Config::default() });
    let references = |sender: &Sender| sender.control.0.hops[0].reference.rate;
    sender.receive(&[Port::default()]);
    assert_eq!(references(&sender), 100_000_000_000);
    // The first round trip ends with packet 101.
    for packet in 1..=100 {
        let rate = sender.receive(&[Port { ns: 800 * packet, sent: 12_800 * packet, waiting: 0 }]);
        assert_eq!(references(&sender), 100_000_000_000, "packet {packet}");
        assert!(rate < 95.0, "{rate}");
    }
    let rate = sender.receive(&[Port { ns: 80_800, sent: 12_800 * 101, waiting: 0 }]);
    assert!((references(&sender) as f64 / 1e9 - rate).abs() < 1e-9 && rate < 80.0, "{rate}");
}

#[test]
fn a_change_of_the_rate_moves_the_next_packet() {
    let mut sender = Sender::new(&Config::default());
    sender.receive(&[Port::default()]);
    assert_eq!(sender.control.next_start(), None);
    sender.control.handle_sent(Time::from_ps(5_000), 1_000);
    assert_eq!(sender.control.next_start(), Some(Time::from_ps(85_000)));
    // 12,800 B in 800 ns: U = 1.028.
    sender.receive(&[Port { ns: 800, sent: 12_800, waiting: 0 }]);
    let rate = 100.0 * 0.95 / 1.028 + 0.04;
    let start = sender.control.next_start().unwrap().as_ps() as f64;
    assert!((start - (5_000.0 + 8_000_000.0 / rate)).abs() < 1.0, "{start}");
}
