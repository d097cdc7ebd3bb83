//! HPCC-PINT: HPCC with the utilization of the busiest hop in one or two bytes.
//!
//! Source: Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry" (SIGCOMM 2020),
//! section 3.3 and 4.3, in the form of HPCC's simulator
//! (alibaba-edu/High-Precision-Congestion-Control, `switch-node.cc`, `pint.cc`, and `rdma-hw.cc`
//! with `cc_mode` 10).
//!
//! Each port averages its own utilization. Packets carry the maximum on their path as a power of a
//! base, rounded up or down at random. Senders apply HPCC's rule without an average of their own.
//! \[inferred\]: ports compute exact logarithms, where the simulator uses 16-bit approximations. A
//! probability below 1 takes acknowledgements at even intervals, where the simulator samples them
//! at random.

use serde::{Deserialize, Serialize};

use super::absolute_or_fraction::AbsoluteOrFraction;
use super::hpcc::{Reference, Rule, RuleConfig};
use super::rate_window::{Pacing, ReschedulingPacer, WindowRule};
use super::telemetry::TelemetryRequest;
use super::{AckSample, CongestionController, ControlConfig, PathFacts, TelemetryController};
use crate::nic::parameters::{Configuration, InvalidValue, positive_at_most_one, require};
use crate::packet::Telemetry;
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Parameters; the defaults are those of the simulator's run script for "hpccPint".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Target utilization, η: 19/20 (`U_TARGET`).
    pub target_utilization: Fraction,
    /// Round trips of additive increase only, while the utilization is below the target: 0
    /// (`MI_THRESH`).
    pub max_stage: u32,
    /// Additive increase, absolute or as a fraction of line rate: 1/2500 (`RATE_AI`: 10 Mbps for 25
    /// Gbps).
    pub additive_increase: AbsoluteOrFraction<BitRate>,
    /// The minimum rate: 1 Gbps (`MIN_RATE`).
    pub min_rate: BitRate,
    /// The base of the powers: 101/100 (`PINT_LOG_BASE`; the simulator's class: 1.05).
    pub base: Fraction,
    /// The fraction of acknowledgements that the sender uses: 1 (`PINT_PROB`).
    pub probability: Fraction,
    /// The window: `by-rate` (`HAS_WIN`, `VAR_WIN`).
    pub window: WindowRule,
    /// W, absolute or as a fraction of T times line rate: 1/1.
    pub window_bytes: AbsoluteOrFraction<Bytes>,
    /// T, absolute or as a fraction of the round-trip time of the longest idle path: 1/1
    /// (`GLOBAL_T`).
    pub round_trip: AbsoluteOrFraction<Span>,
    /// The pacing of packets: by `rate`. With `line-rate`, only the window limits them
    /// (`RATE_BOUND`).
    pub pacing: Pacing,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target_utilization: Fraction::new(19, 20).expect("not zero"),
            max_stage: 0,
            additive_increase: AbsoluteOrFraction::one_over(2_500),
            min_rate: BitRate::from_gbps(1),
            base: Fraction::new(101, 100).expect("not zero"),
            probability: Fraction::ONE,
            window: WindowRule::ByRate,
            window_bytes: AbsoluteOrFraction::WHOLE,
            round_trip: AbsoluteOrFraction::WHOLE,
            pacing: Pacing::Rate,
        }
    }
}

impl Config {
    fn rule(&self) -> RuleConfig {
        RuleConfig {
            target_utilization: self.target_utilization,
            max_stage: self.max_stage,
            additive_increase: self.additive_increase,
            min_rate: self.min_rate,
            window: self.window,
            window_bytes: self.window_bytes,
            round_trip: self.round_trip,
            pacing: self.pacing,
        }
    }
}

/// The largest utilization as a multiple of the unit of the powers (`max_concurrent`).
pub const MAX_FLOWS: f64 = 512.0;

impl Configuration for Config {
    const NAME: &'static str = "hpcc-pint";
    const SUMMARY: &'static str = "HPCC with the busiest hop's utilization in one or two bytes";
    const SOURCE: &'static str =
        "Ben Basat et al., PINT: Probabilistic In-band Network Telemetry, 2020, section 4.3";

    fn check(&self) -> Result<(), InvalidValue> {
        self.rule().check()?;
        positive_at_most_one("probability", self.probability)?;
        // The largest power must fit into 16 bits: base^65535 is at least the square of 512.
        let base = self.base.as_f64();
        let expected = "it must be from 1.0002 to 2, for example '101/100'";
        require("base", self.base, (1.000_2..=2.0).contains(&base), expected)
    }
}

impl ControlConfig for Config {
    fn telemetry(&self) -> Option<TelemetryRequest> {
        let (base, round_trip) = (self.base.as_f64(), self.round_trip);
        Some(TelemetryRequest::Utilization { base, round_trip })
    }

    /// The bytes needed for the largest power.
    fn overhead(&self) -> Bytes {
        let largest = (MAX_FLOWS * MAX_FLOWS).ln() / self.base.as_f64().ln();
        Bytes::new((largest.log2().ceil() as u64).div_ceil(8).max(1))
    }
}

// Boxed: every queue pair would otherwise pay for its size, whatever its control.
/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct HpccPint(Box<State>);

#[derive(Debug, Clone)]
struct State {
    base: f64,
    probability: f64,
    /// Accumulated probability; an acknowledgement is used when it reaches 1.
    due: f64,
    rule: Rule,
    pace: ReschedulingPacer,
    reference: Reference,
    /// An acknowledgement of a packet after this one changes Rc; `None` before the first.
    update_at: Option<u64>,
    /// The power in the acknowledgement that is handled next.
    power: u16,
}

impl HpccPint {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let path = config.rule().path(path);
        let rule = Rule::new(&config.rule(), &path);
        Self(Box::new(State {
            base: config.base.as_f64(),
            probability: config.probability.as_f64(),
            due: 0.0,
            rule,
            pace: config.rule().pace(&path),
            reference: rule.first(),
            update_at: None,
            power: 0,
        }))
    }
}

impl State {
    fn handle_ack(&mut self, sample: AckSample) {
        self.due += self.probability;
        if self.due < 1.0 {
            return;
        }
        // Subtracting, not resetting, keeps the long-run fraction exact.
        self.due -= 1.0;
        let Some(update_at) = self.update_at else {
            // As in `hpcc`, the first acknowledgement changes nothing.
            self.update_at = Some(sample.next);
            return;
        };
        let utilization = self.base.powi(i32::from(self.power)) / MAX_FLOWS;
        let next = self.rule.next(self.reference, utilization);
        self.pace.set(next.rate);
        // At most one change of Rc per round trip; in between, only the rate changes.
        if sample.ack > update_at {
            self.reference = next;
            self.update_at = Some(update_at.max(sample.next));
        }
    }
}

impl CongestionController for HpccPint {
    #[inline]
    fn rate(&mut self, _now: Time) -> BitRate {
        self.0.pace.pace()
    }

    #[inline]
    fn window(&self) -> u64 {
        self.0.pace.window()
    }

    fn handle_ack(&mut self, _now: Time, sample: AckSample) {
        self.0.handle_ack(sample);
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, bytes: u32) {
        self.0.pace.handle_sent(now, bytes);
    }

    fn telemetry(&mut self) -> Option<&mut dyn TelemetryController> {
        Some(self)
    }
}

impl TelemetryController for HpccPint {
    fn handle_telemetry(&mut self, telemetry: &Telemetry) {
        self.0.power = telemetry.power();
    }

    fn next_start(&self) -> Option<Time> {
        self.0.pace.next_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_takes_one_or_two_bytes() {
        let overhead = |above, below| {
            let base = Fraction::new(above, below).unwrap();
            Config { base, ..Config::default() }.overhead().get()
        };
        // ln(512^2)/ln(1.05) = 255.7, /ln(1.04) = 318.1, /ln(1.01) = 1253.8.
        assert_eq!([105, 104, 101].map(|above| overhead(above, 100)), [1, 2, 2]);
    }

    #[test]
    fn the_rate_follows_each_power_and_its_reference_each_round_trip() {
        let mut control = HpccPint::new(&Config::default(), &PathFacts::FOR_TEST);
        let mut ack = |ack, next, power: u16| {
            let mut telemetry = Telemetry::default();
            telemetry.raise_power(power);
            control.handle_telemetry(&telemetry);
            control.handle_ack(Time::ZERO, AckSample::for_test(ack, next, 0));
            control.rate(Time::ZERO).as_bps() as f64 / 1e9
        };
        assert_eq!(ack(1, 100, 700), 100.0, "the first acknowledgement changes nothing");
        // 1.01^696.6 / 512 = 2: half of 95 Gbps, plus 40 Mbps.
        let cut = 95.0 / (1.01f64.powi(697) / 512.0) + 0.04;
        assert!((ack(2, 101, 697) - cut).abs() < 1e-6);
        assert!((ack(3, 102, 697) - cut).abs() < 1e-6, "from the same reference");
        assert!((ack(100, 199, 697) - cut).abs() < 1e-6, "the round trip is not over");
        assert!((ack(101, 200, 697) - cut).abs() < 1e-6);
        let again = (cut - 0.04 + 0.04) * 0.95 / (1.01f64.powi(697) / 512.0) + 0.04;
        assert!((ack(102, 201, 697) - again).abs() < 1e-6, "from the new one");
    }

    #[test]
    fn a_probability_of_one_half_uses_every_second_acknowledgement() {
        let probability = Fraction::new(1, 2).unwrap();
        let config = Config { probability, ..Config::default() };
        let mut control = HpccPint::new(&config, &PathFacts::FOR_TEST);
        let mut rates = Vec::new();
        for ack in 1..=5 {
            let mut telemetry = Telemetry::default();
            telemetry.raise_power(697);
            control.handle_telemetry(&telemetry);
            control.handle_ack(Time::ZERO, AckSample::for_test(ack, ack + 100, 0));
            rates.push(control.rate(Time::ZERO) == BitRate::from_gbps(100));
        }
        assert_eq!(rates, [true, true, true, false, false]);
    }

    #[test]
    fn the_window_and_the_next_start_follow_the_rate() {
        let mut control = HpccPint::new(&Config::default(), &PathFacts::FOR_TEST);
        assert_eq!((control.window(), control.next_start()), (100_000, None));
        control.handle_sent(Time::from_ps(5_000), 1_000);
        assert_eq!(control.next_start(), Some(Time::from_ps(85_000)));
        control.0.pace.set(50_000_000_000);
        let start = Some(Time::from_ps(165_000));
        assert_eq!((control.window(), control.next_start()), (50_000, start));
    }
}
