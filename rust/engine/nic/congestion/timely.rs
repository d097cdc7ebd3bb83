//! TIMELY: a rate from round-trip times and their gradient.
//!
//! Source: Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter" (SIGCOMM 2015),
//! section 4, in the form of HPCC's simulator (alibaba-edu/High-Precision-Congestion-Control,
//! `rdma-hw.cc`, `cc_mode` 7). It takes one step per round trip, with weight 0.875 on the newest
//! difference. Five additive increases precede the larger one. The timestamp costs 8 bytes each
//! way.

use serde::{Deserialize, Serialize};

use super::absolute_or_fraction::AbsoluteOrFraction;
use super::rate_window::{Pacing, RateWindow, WindowRule};
use super::{AckSample, CongestionController, ControlConfig, PathFacts, floor};
use crate::nic::parameters::{
    Configuration, InvalidValue, positive_at_most_one, rate, require, timer,
};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Parameters; the defaults are those of the simulator and of its run script.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Weight of the newest difference of round-trip times: 7/8.
    pub gain: Fraction,
    /// The largest cut, as a fraction of the rate: 4/5 (β).
    pub cut: Fraction,
    /// A round trip shorter than this raises the rate: 50 us.
    pub low: Span,
    /// A round trip longer than this cuts the rate: 500 us.
    pub high: Span,
    /// The unit of the gradient: 20 us.
    pub min_rtt: Span,
    /// Additive increase, absolute or as a fraction of line rate: 1/1000 (`RATE_AI`: 10 Mbps for 10
    /// Gbps).
    pub additive_increase: AbsoluteOrFraction<BitRate>,
    /// Consecutive increases after which `hyper_increase` applies: 5.
    pub hyper_after: u32,
    /// The larger increase, absolute or as a fraction of line rate: 1/200 (`RATE_HAI`: 50 Mbps for
    /// 10 Gbps).
    pub hyper_increase: AbsoluteOrFraction<BitRate>,
    /// The minimum rate: 1 Gbps (`MIN_RATE`).
    pub min_rate: BitRate,
    /// The window: `none` (`HAS_WIN`, `VAR_WIN`).
    pub window: WindowRule,
    /// W, absolute or as a fraction of the bandwidth-delay product of the longest path: 1/1.
    pub window_bytes: AbsoluteOrFraction<Bytes>,
    /// The pacing of packets: by `rate`. With `line-rate`, only the window limits them
    /// (`RATE_BOUND`).
    pub pacing: Pacing,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            gain: Fraction::new(7, 8).expect("not zero"),
            cut: Fraction::new(4, 5).expect("not zero"),
            low: Span::from_us(50),
            high: Span::from_us(500),
            min_rtt: Span::from_us(20),
            additive_increase: AbsoluteOrFraction::one_over(1_000),
            hyper_after: 5,
            hyper_increase: AbsoluteOrFraction::one_over(200),
            min_rate: BitRate::from_gbps(1),
            window: WindowRule::None,
            window_bytes: AbsoluteOrFraction::WHOLE,
            pacing: Pacing::Rate,
        }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "timely";
    const SUMMARY: &'static str = "TIMELY: rate from round-trip times and their gradient";
    const SOURCE: &'static str =
        "Mittal et al., TIMELY: RTT-based Congestion Control, 2015, section 4 (HPCC's simulator)";

    fn check(&self) -> Result<(), InvalidValue> {
        positive_at_most_one("gain", self.gain)?;
        positive_at_most_one("cut", self.cut)?;
        timer("min_rtt", self.min_rtt)?;
        timer("high", self.high)?;
        require("low", self.low, self.low <= self.high, "it must be at most `high`")?;
        rate("min_rate", self.min_rate)
    }
}

impl ControlConfig for Config {
    /// The timestamp.
    fn overhead(&self) -> Bytes {
        Bytes::new(8)
    }
}

// Boxed: every queue pair would otherwise pay for its size, whatever its control.
/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct Timely(Box<State>);

#[derive(Debug, Clone)]
struct State {
    config: Config,
    window: RateWindow,
    line_rate: u64,
    min_rate: u64,
    increase: u64,
    hyper_increase: u64,
    rate: u64,
    /// Consecutive increases.
    increases: u32,
    /// The averaged difference of round-trip times, in ns.
    difference: f64,
    last_rtt: u64,
    /// An acknowledgement of a packet after this one changes the rate; `None` before the first.
    update_at: Option<u64>,
}

impl Timely {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let line_rate = path.line_rate.as_bps().max(1);
        Self(Box::new(State {
            config: *config,
            window: RateWindow::new(config.window, config.window_bytes, path),
            line_rate,
            min_rate: floor(config.min_rate, line_rate as f64) as u64,
            increase: config.additive_increase.of(path.line_rate).as_bps(),
            hyper_increase: config.hyper_increase.of(path.line_rate).as_bps(),
            rate: line_rate,
            increases: 0,
            difference: 0.0,
            last_rtt: 0,
            update_at: None,
        }))
    }
}

impl State {
    fn handle_ack(&mut self, sample: AckSample) {
        // Packets sent before the last step do not show its effect yet.
        if self.update_at.is_some_and(|at| sample.ack <= at) {
            return;
        }
        let rtt = sample.rtt.as_ps() / 1_000;
        // The first round trip has no earlier one to differ from.
        if self.update_at.is_some() {
            self.update(rtt);
        }
        self.update_at = Some(self.update_at.unwrap_or(0).max(sample.next));
        self.last_rtt = rtt;
    }

    fn update(&mut self, rtt: u64) {
        let ns = |span: Span| span.as_ps() as f64 / 1e3;
        let (gain, cut) = (self.config.gain.as_f64(), self.config.cut.as_f64());
        // In floating point: the difference may be negative.
        let newest = rtt as f64 - self.last_rtt as f64;
        self.difference = (1.0 - gain) * self.difference + gain * newest;
        let gradient = self.difference / ns(self.config.min_rtt);
        let (rtt, high) = (rtt as f64, ns(self.config.high));
        // Outside of the thresholds the length decides, between them the gradient.
        if rtt < ns(self.config.low) || rtt <= high && gradient <= 0.0 {
            let hyper = self.increases >= self.config.hyper_after;
            let increase = if hyper { self.hyper_increase } else { self.increase };
            self.rate = self.rate.saturating_add(increase).min(self.line_rate);
            self.increases = self.increases.saturating_add(1);
            return;
        }
        let keep = if rtt > high { 1.0 - cut * (1.0 - high / rtt) } else { 1.0 - cut * gradient };
        // A steep gradient could yield a negative factor.
        self.rate = ((self.rate as f64 * keep.max(0.0)) as u64).max(self.min_rate);
        self.increases = 0;
    }
}

impl CongestionController for Timely {
    #[inline]
    fn rate(&mut self, _now: Time) -> BitRate {
        match self.0.config.pacing {
            Pacing::Rate => BitRate::from_bps(self.0.rate),
            Pacing::LineRate => BitRate::MAX,
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.0.window.at(self.0.rate)
    }

    fn handle_ack(&mut self, _now: Time, sample: AckSample) {
        self.0.handle_ack(sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates in Gbps after round trips of these lengths, in us. The first one changes nothing.
    fn rates(control: &mut Timely, us: &[u64]) -> Vec<f64> {
        let mut after = |us: &u64| {
            let ack = control.0.update_at.unwrap_or(0) + 1;
            let sample = AckSample::for_test(ack, ack + 100, 0);
            control.handle_ack(Time::ZERO, AckSample { rtt: Span::from_us(*us), ..sample });
            control.rate(Time::ZERO).as_bps() as f64 / 1e9
        };
        us.iter().map(&mut after).collect()
    }

    #[test]
    fn a_long_round_trip_cuts_and_five_increases_precede_hyper_increase() {
        let mut control = Timely::new(&Config::default(), &PathFacts::FOR_TEST);
        assert_eq!(rates(&mut control, &[100, 1_000]), [100.0, 60.0]);
        // Line rate is 100 Gbps: 100 Mbps five times, then 500 Mbps.
        let up = rates(&mut control, &[20; 7]);
        let expected = [60.1, 60.2, 60.3, 60.4, 60.5, 61.0, 61.5];
        assert!(up.iter().zip(expected).all(|(is, to)| (is - to).abs() < 1e-9), "{up:?}");
    }

    #[test]
    fn between_the_thresholds_the_gradient_decides() {
        let mut control = Timely::new(&Config::default(), &PathFacts::FOR_TEST);
        // From 100 to 108 us: a gradient of 0.875 · 8/20 = 0.35, a cut by 0.28.
        let rates = rates(&mut control, &[100, 108, 100]);
        assert!((rates[1] - 72.0).abs() < 1e-6, "{rates:?}");
        // Back to 100: 0.125 · 7 − 0.875 · 8 is a negative difference, so the rate rises.
        assert!((rates[2] - rates[1] - 0.1).abs() < 1e-6, "{rates:?}");
    }

    #[test]
    fn the_rate_changes_once_per_round_trip() {
        let mut control = Timely::new(&Config::default(), &PathFacts::FOR_TEST);
        let mut ack = |ack, next, us| {
            let sample = AckSample::for_test(ack, next, 0);
            control.handle_ack(Time::ZERO, AckSample { rtt: Span::from_us(us), ..sample });
            control.rate(Time::ZERO)
        };
        ack(1, 100, 100);
        let cut = ack(101, 200, 1_000);
        assert_eq!([ack(102, 201, 1_000), ack(200, 300, 1_000)], [cut, cut]);
        assert!(ack(201, 301, 1_000) < cut);
    }

    #[test]
    fn short_round_trips_raise_the_rate_and_long_ones_cut_it() {
        // The difference is the newest one: 10 us, with a minimum round trip of 20 us.
        let config = Config { gain: Fraction::ONE, ..Config::default() };
        let rate = |before: u64, rtt: u64| {
            let mut control = Timely::new(&config, &PathFacts::FOR_TEST);
            (control.0.rate, control.0.last_rtt) = (50_000_000_000, before);
            control.0.update(rtt);
            control.0.rate as f64 / 1e9
        };
        assert_eq!(rate(39_999, 49_999), 50.1, "below 50 us");
        let by_gradient = 50.0 * (1.0 - 0.8 * 0.5);
        assert!((rate(40_000, 50_000) - by_gradient).abs() < 1e-6);
        assert!((rate(490_000, 500_000) - by_gradient).abs() < 1e-6);
        let by_length = 50.0 * (1.0 - 0.8 * (1.0 - 500.0 / 501.0));
        assert!((rate(491_000, 501_000) - by_length).abs() < 1e-6, "beyond 500 us");
    }
}
