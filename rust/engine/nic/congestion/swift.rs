//! Swift: a window that holds the round-trip time at a target.
//!
//! Source: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter" (SIGCOMM 2020), algorithm 1 and section 3.5 (flow-based scaling of the target). The
//! paper leaves most constants open. Those are from the Swift in uet-htsim (`swift.cpp`), which
//! calls them guesses, or our own \[inferred\], as each field says.
//!
//! Differences from the paper: hosts take no time, so the delay is that of the fabric. There is one
//! window instead of separate ones for fabric and host. The part of the target that grows with
//! the number of hops is in the base round trip, which is that of the longest path.
//!
//! Windows below one packet pace as in the paper, one packet per rtt / window, but no pause is
//! longer than `longest_pause`. The paper names no limit; its stack has one by other means. With a
//! window of 1/1,000, one acknowledgement that is 1.6 ms late would delay the next packet by
//! seconds. No acknowledgement could then show that the network is idle.

use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionController, ControlConfig, Loss, PathFacts};
use crate::nic::parameters::{Configuration, InvalidValue, at_most_one, positive, require, timer};
use crate::units::{BitRate, Fraction, Span, Time};

/// Bits per byte times picoseconds per second.
const PS_BITS: f64 = 8e12;

/// The parameters of `swift`. The doc of a fraction says what it is a fraction of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Target delay of a flow with a large window, in base round trips: 5/4 \[inferred\].
    pub base_target: Fraction,
    /// The most that a small window adds to the target, in targets: 5 (uet-htsim).
    pub scaling_range: Fraction,
    /// Window below which the target no longer rises, in packets: 1/10 (uet-htsim).
    pub scaling_min_window: Fraction,
    /// Window above which the target no longer falls, in packets: 100 (uet-htsim).
    pub scaling_max_window: Fraction,
    /// Added to the window per round trip below the target, in packets: 1 (uet-htsim).
    pub additive_increase: Fraction,
    /// Gain of the cut for a delay beyond the target: 4/5 (uet-htsim).
    pub beta: Fraction,
    /// The largest single cut, as a fraction of the window: 1/2 (uet-htsim).
    pub max_cut: Fraction,
    /// The first window, in bandwidth-delay products: 1 \[inferred\].
    pub start_window: Fraction,
    /// The largest window, in bandwidth-delay products: 3/2 \[inferred\].
    pub max_window: Fraction,
    /// The smallest window, in packets: 1/1000 \[inferred; the paper permits windows far below one
    /// packet, for incasts of thousands; uet-htsim stops at 10 bytes\].
    pub min_window: Fraction,
    /// The longest pause between two packets: 1 ms \[inferred\], the default retransmission
    /// timeout. A sender that pauses longer than it waits for a lost packet looks dead and learns
    /// nothing. A thousand such senders still leave 9/10 of a 400 Gbps link free.
    pub longest_pause: Span,
    /// Consecutive timeouts after which the window falls to its minimum: 5 (uet-htsim).
    pub reset_threshold: u32,
}

impl Default for Config {
    fn default() -> Self {
        let fraction = |above, below| Fraction::new(above, below).expect("not zero");
        Self {
            base_target: fraction(5, 4),
            scaling_range: fraction(5, 1),
            scaling_min_window: fraction(1, 10),
            scaling_max_window: fraction(100, 1),
            additive_increase: fraction(1, 1),
            beta: fraction(4, 5),
            max_cut: fraction(1, 2),
            start_window: fraction(1, 1),
            max_window: fraction(3, 2),
            min_window: fraction(1, 1_000),
            longest_pause: Span::from_ms(1),
            reset_threshold: 5,
        }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "swift";
    const SUMMARY: &'static str = "window that keeps the round-trip time at a target";
    const SOURCE: &'static str = "Kumar et al., Swift, 2020, algorithm 1 and section 3.5";

    fn check(&self) -> Result<(), InvalidValue> {
        positive("base_target", self.base_target)?;
        at_most_one("beta", self.beta)?;
        at_most_one("max_cut", self.max_cut)?;
        positive("start_window", self.start_window)?;
        positive("max_window", self.max_window)?;
        let least = "it must be at most `max_window`";
        require("min_window", self.min_window, self.min_window.is_at_most(self.max_window), least)?;
        timer("longest_pause", self.longest_pause)
    }
}

impl ControlConfig for Config {}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct Swift {
    line_rate: BitRate,
    /// The window in packets; below one packet it paces.
    window: f64,
    law: Box<Law>,
    /// Round-trip time of the last acknowledgement, in picoseconds.
    rtt: f64,
    last_cut: Time,
    timeouts: u32,
}

/// The constants of the path.
#[derive(Debug, Clone, Copy)]
struct Law {
    /// A full packet in bytes.
    packet: f64,
    /// The target delay of a flow with a large window, in picoseconds.
    base_target: f64,
    /// The most that scaling adds, in picoseconds.
    range: f64,
    /// Scaling adds `slope / sqrt(window) − offset` picoseconds.
    slope: f64,
    offset: f64,
    additive_increase: f64,
    beta: f64,
    max_cut: f64,
    /// The minimum window, in packets.
    min_window: f64,
    max_window: f64,
    /// The rate of one packet per longest pause, in bits per second.
    min_rate: f64,
    reset_threshold: u32,
}

impl Law {
    fn new(config: &Config, path: &PathFacts) -> Self {
        let bdp = path.bdp().get() as f64 / path.packet.get() as f64;
        let base_target = config.base_target.as_f64() * path.base_rtt.as_ps() as f64;
        let range = config.scaling_range.as_f64() * base_target;
        // Both ends are kept above zero and distinct, whatever a scenario configures.
        let most = 1.0 / config.scaling_min_window.as_f64().max(1e-9).sqrt();
        let least = 1.0 / config.scaling_max_window.as_f64().max(1e-9).sqrt();
        let slope = range / (most - least).max(1e-9);
        Self {
            packet: path.packet.get() as f64,
            base_target,
            range,
            slope,
            offset: slope * least,
            additive_increase: config.additive_increase.as_f64(),
            beta: config.beta.as_f64(),
            max_cut: config.max_cut.as_f64(),
            min_window: config.min_window.as_f64().clamp(1e-6, 1.0),
            max_window: (config.max_window.as_f64() * bdp).max(1.0),
            min_rate: path.packet.get() as f64 * PS_BITS / config.longest_pause.as_ps() as f64,
            reset_threshold: config.reset_threshold,
        }
    }

    /// The target delay of a flow with this window, in picoseconds. Small windows mean many flows,
    /// whose queue varies more.
    fn target(&self, window: f64) -> f64 {
        self.base_target + (self.slope / window.sqrt() - self.offset).clamp(0.0, self.range)
    }
}

impl Swift {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let law = Law::new(config, path);
        let bdp = path.bdp().get() as f64 / law.packet;
        Self {
            line_rate: path.line_rate,
            window: (config.start_window.as_f64() * bdp).clamp(1.0, law.max_window),
            law: Box::new(law),
            rtt: path.base_rtt.as_ps() as f64,
            last_cut: Time::ZERO,
            timeouts: 0,
        }
    }

    /// Cuts the window by `fraction`, at most once per round trip.
    fn cut(&mut self, now: Time, fraction: f64) {
        // Until a round trip after the last cut, the delay is that of the larger window.
        if now < self.last_cut.saturating_add(Span::from_ps(self.rtt as u64)) {
            return;
        }
        let fraction = fraction.min(self.law.max_cut);
        self.window = (self.window * (1.0 - fraction)).max(self.law.min_window);
        self.last_cut = now;
    }
}

impl CongestionController for Swift {
    #[inline]
    fn rate(&mut self, _now: Time) -> BitRate {
        if self.window >= 1.0 {
            // The window alone limits the sender.
            return self.line_rate;
        }
        // Below one packet, the window cannot limit the sender: one packet is sent each
        // `rtt / window`.
        let rate = self.window * self.law.packet * PS_BITS / self.rtt.max(1.0);
        let rate = rate.max(self.law.min_rate);
        BitRate::from_bps((rate as u64).clamp(1, self.line_rate.as_bps()))
    }

    #[inline]
    fn window(&self) -> u64 {
        // One packet may always be in flight; below that, `rate` paces.
        (self.window.max(1.0) * self.law.packet) as u64
    }

    fn handle_ack(&mut self, now: Time, sample: AckSample) {
        self.rtt = sample.rtt.as_ps() as f64;
        // Any acknowledgement ends the series of timeouts.
        self.timeouts = 0;
        // The target of the window before this acknowledgement, which caused the delay.
        let target = self.law.target(self.window);
        if self.rtt < target {
            // Algorithm 1: ai / window per packet for windows of at least one packet, ai per packet
            // below.
            let increase = self.law.additive_increase * f64::from(sample.packets);
            let window = self.window + increase / self.window.max(1.0);
            self.window = window.min(self.law.max_window);
            return;
        }
        self.cut(now, self.law.beta * (self.rtt - target) / self.rtt);
    }

    fn handle_loss(&mut self, now: Time, loss: Loss) {
        if loss == Loss::Timeout {
            self.timeouts += 1;
            // Many timeouts in a row: nothing gets through, so the window restarts from its
            // minimum.
            if self.timeouts >= self.law.reset_threshold {
                self.window = self.law.min_window;
                self.last_cut = now;
                return;
            }
        }
        self.cut(now, self.law.max_cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target of 10 us.
    const PATH: PathFacts = PathFacts::FOR_TEST;

    fn control() -> Swift {
        Swift::new(&Config::default(), &PATH)
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn acked(control: &mut Swift, now: Time, rtt_us: u64) -> f64 {
        let sample = AckSample { rtt: Span::from_us(rtt_us), ..AckSample::for_test(0, 0, 0) };
        control.handle_ack(now, sample);
        control.window
    }

    #[test]
    fn below_the_target_a_window_adds_one_packet() {
        let mut control = control();
        assert_eq!(control.window(), 100_000);
        let expected: f64 = (0..100).fold(100.0, |window, _| window + 1.0 / window);
        for _ in 0..100 {
            acked(&mut control, at(0), 9);
        }
        assert!((control.window - expected).abs() < 1e-9 && (100.9..101.0).contains(&expected));
    }

    #[test]
    fn beyond_the_target_it_cuts_in_proportion_once_per_round_trip() {
        let mut control = control();
        // 12 us against a target of 10 us: 1 − 0.8 · 2/12.
        let once = 100.0 * (1.0 - 0.8 / 6.0);
        assert!((acked(&mut control, at(100), 12) - once).abs() < 1e-9);
        assert!((acked(&mut control, at(111), 12) - once).abs() < 1e-9, "within 12 us");
        let target = control.law.target(once) / 1e6;
        let twice = once * (1.0 - 0.8 * (12.0 - target) / 12.0);
        assert!((acked(&mut control, at(112), 12) - twice).abs() < 1e-9);
        assert!((acked(&mut control, at(600), 400) - twice / 2.0).abs() < 1e-9, "half at most");
    }

    #[test]
    fn small_windows_have_higher_targets() {
        let law = control().law;
        let us = |window: f64| law.target(window) / 1e6;
        assert!((us(100.0) - 10.0).abs() < 1e-9 && (us(1_000.0) - 10.0).abs() < 1e-9);
        assert!((us(0.1) - 60.0).abs() < 1e-9 && (us(0.01) - 60.0).abs() < 1e-9);
        // 50 us · (1/√w − 1/√100) / (√10 − 1/√100) above.
        for window in [0.5f64, 1.0, 4.0, 50.0] {
            let above = 50.0 * (window.sqrt().recip() - 0.1) / (10f64.sqrt() - 0.1);
            assert!((us(window) - 10.0 - above).abs() < 1e-9, "{window}");
        }
    }

    #[test]
    fn below_one_packet_the_window_paces() {
        let longest_pause = Span::from_ms(10);
        let mut control = Swift::new(&Config { longest_pause, ..Config::default() }, &PATH);
        for step in 1..=9 {
            acked(&mut control, at(1_000 * step), 400);
        }
        assert!((control.window - 100.0 / 512.0).abs() < 1e-9);
        assert_eq!(control.window(), 1_000, "one packet may always be in flight");
        // One packet of 1000 B per 400 us / 0.195.
        let rate = control.rate(at(9_000)).as_bps() as f64;
        assert!((rate - 8_000.0 * control.window / 400e-6).abs() < 1.0, "{rate}");
        let grown = control.window + 1.0;
        assert!((acked(&mut control, at(9_100), 9) - grown).abs() < 1e-9);
        assert_eq!(control.rate(at(9_100)), PATH.line_rate);
    }

    #[test]
    fn no_pause_exceeds_the_configured_maximum() {
        let mut control = control();
        control.window = 0.001;
        control.rtt = 5e8;
        // 500 us / 0.001 is half a second; one packet of 1000 B per 1 ms is 8 Mbps.
        assert_eq!(control.rate(at(1)).as_bps(), 8_000_000);
        let longest_pause = Span::from_ms(1_000);
        let law = Law::new(&Config { longest_pause, ..Config::default() }, &PATH);
        *control.law = law;
        assert_eq!(control.rate(at(1)).as_bps(), 16_000, "the paper's rule");
    }

    #[test]
    fn losses_halve_once_per_round_trip_and_five_timeouts_reset() {
        let mut control = control();
        control.handle_loss(at(100), Loss::Nack);
        control.handle_loss(at(101), Loss::Trimmed);
        assert_eq!(control.window(), 50_000);
        for timeout in 1..5 {
            control.handle_loss(at(1_000 * timeout), Loss::Timeout);
        }
        assert!((control.window - 100.0 / 32.0).abs() < 1e-9);
        control.handle_loss(at(5_000), Loss::Timeout);
        assert!((control.window - 0.001).abs() < 1e-12);
    }

    #[test]
    fn equal_flows_on_one_link_settle_near_the_target() {
        // n flows with equal windows on one link: the round trip is the bytes in flight over the
        // rate.
        for flows in [2.0, 8.0, 32.0] {
            let mut control = control();
            let mut now = Time::ZERO;
            let mut last = Vec::new();
            for round in 0..2_000 {
                let rtt_ns = (flows * control.window * 80.0).max(8_000.0);
                let sample = AckSample {
                    packets: control.window.ceil() as u32,
                    rtt: Span::from_ns(rtt_ns as u64),
                    ..AckSample::for_test(0, 0, 0)
                };
                now += sample.rtt;
                control.handle_ack(now, sample);
                if round >= 1_000 {
                    last.push(rtt_ns * 1e3 / control.law.target(control.window));
                }
            }
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            assert!((0.85..1.05).contains(&mean), "{flows} flows: {mean}");
        }
    }

    #[test]
    fn at_the_target_the_window_does_not_change() {
        let two = Fraction::new(2, 1).unwrap();
        let config = Config {
            start_window: two,
            max_window: Fraction::new(4, 1).unwrap(),
            ..Config::default()
        };
        let mut control = Swift::new(&config, &PATH);
        assert_eq!(control.law.target(200.0), 10e6);
        assert_eq!(acked(&mut control, at(100), 10), 200.0);
        assert!(acked(&mut control, at(100), 9) > 200.0);
    }

    #[test]
    fn each_acknowledged_packet_grows_the_window_up_to_its_maximum() {
        let mut control = control();
        let mut after = |packets| {
            let rtt = Span::from_us(9);
            let sample = AckSample { packets, rtt, ..AckSample::for_test(0, 0, 0) };
            control.handle_ack(at(1), sample);
            control.window
        };
        assert_eq!(after(4), 100.0 + 4.0 / 100.0);
        assert_eq!(after(1_000_000), 150.0, "one and a half bandwidth-delay products");
    }
}
