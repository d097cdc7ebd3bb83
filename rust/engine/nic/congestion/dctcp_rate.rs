//! DCTCP by rate, as used in the evaluation of Ethereal.
//!
//! Source: the HPCC simulator's `dctcp` (alibaba-edu/High-Precision-Congestion-Control) with the
//! parameters of Ethereal's public simulator. The control law is that of Alizadeh et al., "Data
//! Center TCP (DCTCP)" (SIGCOMM 2010), section 3.3, with a rate instead of a window.

use serde::{Deserialize, Serialize};

use super::absolute_or_fraction::AbsoluteOrFraction;
use super::rate_window::{Pacing, RateExtras, RateWindow, WindowRule};
use super::{AckSample, CongestionController, CongestionPreset, ControlConfig, Loss, PathFacts};
use crate::nic::parameters::{Configuration, InvalidValue, positive_at_most_one, rate};
use crate::units::{BitRate, Bytes, Fraction, Time};

/// Parameters; the defaults are those of Ethereal's evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gain of the moving average: 1/256.
    pub g: Fraction,
    /// Added to the rate in each unmarked round trip: 1 Gbps.
    pub additive_increase: BitRate,
    /// The minimum rate: 100 Mbps.
    pub min_rate: BitRate,
    /// The window in addition to the rate: `none` (`HAS_WIN`, `VAR_WIN`).
    pub window: WindowRule,
    /// The window at line rate, absolute or as a fraction of the bandwidth-delay product of the
    /// longest path: 1/1.
    pub window_bytes: AbsoluteOrFraction<Bytes>,
    /// The pacing of packets: by `rate`. With `line-rate`, only the window limits them
    /// (`RATE_BOUND`).
    pub pacing: Pacing,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: Fraction::new(1, 256).expect("not zero"),
            additive_increase: BitRate::from_gbps(1),
            min_rate: BitRate::from_bps(100_000_000),
            window: WindowRule::None,
            window_bytes: AbsoluteOrFraction::WHOLE,
            pacing: Pacing::Rate,
        }
    }
}

impl Config {
    /// The `dctcp` of HPCC's run script at 100 Gbps: gain 1/16, and 615 Mbps (1 KB in 13 us) per
    /// round trip. The script also sets `window = "by-rate"`, which this preset does not.
    fn hpcc() -> Self {
        Self {
            g: Fraction::new(1, 16).expect("not zero"),
            additive_increase: BitRate::from_bps(615_000_000),
            ..Self::default()
        }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "dctcp-rate";
    const SUMMARY: &'static str = "rate-based DCTCP, as in the evaluation of Ethereal";
    const SOURCE: &'static str =
        "Alizadeh et al., Data Center TCP (DCTCP), 2010, section 3.3 (HPCC's simulator)";
    const OPTIONAL: &'static [&'static str] = &["window", "window_bytes", "pacing"];

    fn check(&self) -> Result<(), InvalidValue> {
        positive_at_most_one("g", self.g)?;
        rate("min_rate", self.min_rate)
    }
}

impl ControlConfig for Config {
    const PRESETS: &'static [CongestionPreset<Self>] = &[
        CongestionPreset { name: "ethereal", config: Self::default },
        CongestionPreset { name: "hpcc", config: Self::hpcc },
    ];
}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct DctcpRate {
    g: f64,
    additive_increase: u64,
    min_rate: u64,
    line_rate: u64,
    rate: u64,
    /// The window and pacing that accompany the rate.
    extras: Option<Box<RateExtras>>,
    /// Moving average of the fraction of marked packets; starts at 1.
    alpha: f64,
    /// Marked packets of the current batch.
    marked: u32,
    /// Packets of the current batch; 0 before the first.
    batch_size: u32,
    /// The batch ends when acknowledgements pass this PSN.
    batch_end: u64,
    /// If set, the rate was cut for packets before this PSN (congestion window reduced).
    reduced_until: Option<u64>,
}

impl DctcpRate {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let line_rate = path.line_rate;
        Self {
            g: config.g.as_f64(),
            additive_increase: config.additive_increase.as_bps(),
            min_rate: config.min_rate.as_bps().clamp(1, line_rate.as_bps()),
            line_rate: line_rate.as_bps(),
            rate: line_rate.as_bps(),
            extras: RateExtras::of(
                RateWindow::new(config.window, config.window_bytes, path),
                config.pacing,
            ),
            alpha: 1.0,
            marked: 0,
            batch_size: 0,
            batch_end: 0,
            reduced_until: None,
        }
    }

    /// Closes the batch that `sample` ends; returns true if a new one starts.
    fn advance_batch(&mut self, sample: AckSample) -> bool {
        if sample.ack <= self.batch_end && self.batch_size > 0 {
            return false;
        }
        // Only a batch that was open has marks to average.
        if self.batch_size > 0 {
            // The batch size is an estimate: more marks than packets may have been counted.
            let fraction = (f64::from(self.marked) / f64::from(self.batch_size)).min(1.0);
            self.alpha = (1.0 - self.g) * self.alpha + self.g * fraction;
            self.marked = 0;
        }
        self.batch_end = sample.next;
        // `rdma-hw.cc` counts one more than is in flight.
        let size = sample.next.saturating_sub(sample.ack) + 1;
        self.batch_size = u32::try_from(size).unwrap_or(u32::MAX);
        true
    }
}

impl CongestionController for DctcpRate {
    #[inline]
    fn rate(&mut self, _now: Time) -> BitRate {
        RateExtras::pace(self.extras.as_deref(), BitRate::from_bps(self.rate))
    }

    #[inline]
    fn window(&self) -> u64 {
        RateExtras::window(self.extras.as_deref(), self.rate)
    }

    fn handle_ack(&mut self, _now: Time, sample: AckSample) {
        self.marked += sample.marked;
        let new_batch = self.advance_batch(sample);
        // Acknowledgements now cover packets sent after the cut: the next mark may cut again.
        if self.reduced_until.is_some_and(|until| sample.ack > until) {
            self.reduced_until = None;
        }
        // The order of `rdma-hw.cc`. The average is updated first, so the first cut of a batch uses
        // the alpha of the batch before. The cut follows, at most once per round trip.
        if sample.marked > 0 && self.reduced_until.is_none() {
            let cut = self.rate as f64 * (1.0 - self.alpha / 2.0);
            self.rate = (cut as u64).max(self.min_rate);
            self.reduced_until = Some(sample.next);
        }
        // A round trip with a cut adds nothing.
        if new_batch && self.reduced_until.is_none() {
            // Saturating: a scenario may configure any increase.
            self.rate = self.line_rate.min(self.rate.saturating_add(self.additive_increase));
        }
    }

    fn handle_loss(&mut self, _now: Time, _loss: Loss) {
        // In Ethereal's simulator, losses mean failures: the flow restarts at line rate.
        self.rate = self.line_rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: BitRate = BitRate::from_gbps(400);
    const PATH: PathFacts = PathFacts { line_rate: LINE, ..PathFacts::FOR_TEST };

    fn ack(control: &mut DctcpRate, ack: u64, marked: u32) -> f64 {
        let sample = AckSample::for_test(ack, ack + 100, marked);
        control.handle_ack(Time::ZERO, sample);
        control.rate(Time::ZERO).as_bps() as f64 / 1e9
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha_once_per_round_trip() {
        let mut control = DctcpRate::new(&Config::default(), &PATH);
        assert_eq!(ack(&mut control, 1, 0), 400.0);
        assert_eq!(ack(&mut control, 2, 1), 200.0, "alpha starts at 1");
        assert_eq!(ack(&mut control, 3, 1), 200.0, "once a window");
        assert_eq!(ack(&mut control, 101, 0), 200.0);
        // 2 of 101 marked: alpha = 255/256 + 1/256 · 2/101. Then the next mark cuts again.
        let alpha: f64 = 255.0 / 256.0 + 2.0 / 101.0 / 256.0;
        assert_eq!(ack(&mut control, 102, 0), 200.0, "still within the window of the cut");
        assert!((control.alpha - alpha).abs() < 1e-12);
        assert_eq!(ack(&mut control, 103, 0), 200.0, "the cut is over, the batch is not");
        let cut = 200.0 * (1.0 - alpha / 2.0);
        assert!((ack(&mut control, 104, 1) - cut).abs() < 1e-8);
    }

    #[test]
    fn an_unmarked_round_trip_adds_one_gigabit() {
        let mut control = DctcpRate::new(&Config::default(), &PATH);
        ack(&mut control, 1, 1);
        let mut rates = Vec::new();
        for step in 1..6 {
            rates.push(ack(&mut control, 1 + 102 * step, 0));
        }
        assert_eq!(rates, [201.0, 202.0, 203.0, 204.0, 205.0]);
    }

    #[test]
    fn a_loss_resets_to_line_rate_and_the_minimum_holds() {
        let mut control = DctcpRate::new(&Config::default(), &PATH);
        for step in 0..200 {
            ack(&mut control, 1 + 102 * step, 1);
        }
        assert_eq!(control.rate(Time::ZERO), BitRate::from_bps(100_000_000));
        control.handle_loss(Time::ZERO, Loss::Timeout);
        assert_eq!(control.rate(Time::ZERO), LINE);
    }

    #[test]
    fn no_increase_goes_beyond_line_rate() {
        let additive_increase = BitRate::from_bps(u64::MAX);
        let mut control = DctcpRate::new(&Config { additive_increase, ..Config::default() }, &PATH);
        assert_eq!(ack(&mut control, 1, 0), 400.0);
        assert_eq!(ack(&mut control, 103, 0), 400.0);
    }

    #[test]
    fn alpha_averages_the_marked_fraction_of_each_batch() {
        let g = Fraction::new(1, 2).unwrap();
        let mut control = DctcpRate::new(&Config { g, ..Config::default() }, &PATH);
        let mut alpha = |ack, next, marked| {
            control.handle_ack(Time::ZERO, AckSample::for_test(ack, next, marked));
            control.alpha
        };
        // Batches of ten packets; the first acknowledgement counts towards the first batch.
        assert_eq!(alpha(0, 9, 1), 1.0);
        assert_eq!(alpha(9, 18, 0), 1.0, "it has not ended");
        assert_eq!(alpha(10, 19, 1), 0.5 + 0.5 * 2.0 / 10.0);
        assert_eq!(alpha(20, 29, 0), 0.5 * 0.6);
    }
}
