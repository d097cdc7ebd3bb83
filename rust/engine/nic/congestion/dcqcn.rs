//! DCQCN in its authors' form: congestion notification packets, rate timer and byte counter.
//!
//! Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM 2015),
//! section 5, in the form of the authors' simulator (bobzhuyb/ns3-rdma, `qbb-net-device.cc`). Its
//! quirks are kept:
//!
//! - Rc stops at line rate, but Rt does not.
//! - If the timer or the byte counter is at stage one and Rt is more than ten times Rc, Rt falls to
//!   an eighth instead of rising.
//! - From its second step on, hyper increase halves the periods of timer and byte counter.
//!
//! Presets: `authors` is the simulator's own configuration. `paper` has the numbers and the order
//! of the paper in the same state machine. The matching thresholds belong to the switches:
//! `ecn = { kmin = "40KB", kmax = "1MB", pmax = "1" }` and
//! `{ kmin = "5KB", kmax = "200KB", pmax = "1/100" }`, both at 40 Gbps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::timed::{LazyTimers, Rates};
use super::{CongestionController, CongestionPreset, ControlConfig, PathFacts};
use crate::nic::parameters::{
    Configuration, InvalidValue, at_most_one, bytes, positive_at_most_one, rate, timer,
};
use crate::nic::timer::{RateTimers, Timer};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// When a CNP lowers the target rate to the current rate and restarts the byte counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetClamp {
    /// On every CNP (the simulator's option "clamp target").
    Always,
    /// If the timer or the byte counter has expired since the last CNP ("clamp after time
    /// increase").
    AfterIncrease,
    /// If the byte counter has expired since the last CNP (neither option).
    AfterByteIncrease,
}

/// The alpha that a cut uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaOrder {
    /// Alpha after the CNP has raised it.
    RaisedFirst,
    /// Alpha from before the CNP.
    CutFirst,
}

/// Parameters; the defaults are those of the authors' simulator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gain of the moving average: 1/256.
    pub g: Fraction,
    /// Alpha before the first CNP: 1/2 (the paper: 1).
    pub initial_alpha: Fraction,
    /// The alpha that a cut uses: `raised-first` (the paper: `cut-first`).
    pub alpha_order: AlphaOrder,
    /// When a CNP lowers the target rate: `always`.
    pub clamp_target: TargetClamp,
    /// Alpha decays once per this time without a CNP: 55 us.
    pub alpha_timer: Span,
    /// The rate rises once per this time: 60 us (the paper: 55 us).
    pub rate_timer: Span,
    /// The rate also rises whenever more than this many bytes were put on the wire: 300 MB, which
    /// practically disables it (the paper: 10 MB).
    pub byte_counter: Bytes,
    /// Steps of fast recovery, F: 5.
    pub fast_recovery_steps: u32,
    /// Additive increase: 40 Mbps.
    pub additive_increase: BitRate,
    /// Hyper increase: 200 Mbps (not given in the paper).
    pub hyper_increase: BitRate,
    /// The minimum rate: 100 Mbps (not given in the paper).
    pub min_rate: BitRate,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: Fraction::new(1, 256).expect("not zero"),
            initial_alpha: Fraction::new(1, 2).expect("not zero"),
            alpha_order: AlphaOrder::RaisedFirst,
            clamp_target: TargetClamp::Always,
            alpha_timer: Span::from_us(55),
            rate_timer: Span::from_us(60),
            byte_counter: Bytes::new(300_000_000),
            fast_recovery_steps: 5,
            additive_increase: BitRate::from_bps(40_000_000),
            hyper_increase: BitRate::from_bps(200_000_000),
            min_rate: BitRate::from_bps(100_000_000),
        }
    }
}

impl Config {
    /// The values of the paper's section 5 and of its parameter table.
    fn paper() -> Self {
        Self {
            initial_alpha: Fraction::ONE,
            alpha_order: AlphaOrder::CutFirst,
            rate_timer: Span::from_us(55),
            byte_counter: Bytes::new(10_000_000),
            ..Self::default()
        }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "dcqcn";
    const SUMMARY: &'static str =
        "DCQCN in its authors' form: notification packets, rate timer and byte counter";
    const SOURCE: &'static str =
        "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, 2015, section 5";

    fn check(&self) -> Result<(), InvalidValue> {
        positive_at_most_one("g", self.g)?;
        at_most_one("initial_alpha", self.initial_alpha)?;
        timer("alpha_timer", self.alpha_timer)?;
        timer("rate_timer", self.rate_timer)?;
        bytes("byte_counter", self.byte_counter)?;
        rate("min_rate", self.min_rate)
    }
}

impl ControlConfig for Config {
    const PRESETS: &'static [CongestionPreset<Self>] = &[
        CongestionPreset { name: "authors", config: Self::default },
        CongestionPreset { name: "paper", config: Self::paper },
    ];

    fn wants_cnp(&self) -> bool {
        true
    }
}

/// The phase of rate increase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fast,
    Active,
    Hyper,
}

/// The trigger of a rate increase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Timer,
    Bytes,
}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct Dcqcn {
    // Shared: a run may have a million queue pairs.
    config: Arc<Config>,
    rates: Rates,
    phase: Phase,
    timer_stage: u32,
    byte_stage: u32,
    bytes_left: u64,
    /// Alpha and rate increase. Neither runs before the first CNP.
    timers: RateTimers<2>,
}

impl Dcqcn {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        Self {
            config: Arc::new(*config),
            rates: Rates::new(path.line_rate, config.initial_alpha.as_f64()),
            phase: Phase::Fast,
            timer_stage: 0,
            byte_stage: 0,
            bytes_left: config.byte_counter.get(),
            timers: RateTimers::default(),
        }
    }

    fn rate_period(&self) -> Span {
        let period = self.config.rate_timer.as_ps();
        // Hyper increase halves both periods. At least 1 ps, so that catching up makes progress.
        Span::from_ps(if self.phase == Phase::Hyper { period / 2 } else { period }.max(1))
    }

    fn byte_period(&self) -> u64 {
        let period = self.config.byte_counter.get();
        if self.phase == Phase::Hyper { period / 2 } else { period }.max(1)
    }

    fn increase_rate(&mut self, cause: Cause) {
        let fast_steps = self.config.fast_recovery_steps;
        let stage = if cause == Cause::Timer { self.timer_stage } else { self.byte_stage };
        let lower = self.timer_stage.min(self.byte_stage);
        // The authors' state machine. Fast recovery ends with the counter that expired. Hyper
        // increase needs both counters at F or beyond; from active increase, only the timer leads
        // there.
        let (phase, increase) = match (self.phase, cause) {
            (Phase::Fast, _) if stage < fast_steps => (Phase::Fast, 0.0),
            (Phase::Fast, _) | (Phase::Active, Cause::Timer) if lower < fast_steps => {
                (Phase::Active, self.config.additive_increase.as_bps() as f64)
            }
            (Phase::Active, Cause::Bytes) => {
                (Phase::Active, self.config.additive_increase.as_bps() as f64)
            }
            (Phase::Fast | Phase::Active | Phase::Hyper, _) => {
                let steps = f64::from(lower.saturating_sub(fast_steps) + 1);
                (Phase::Hyper, self.config.hyper_increase.as_bps() as f64 * steps)
            }
        };
        self.phase = phase;
        // A quirk of the simulator: a target far above the rate is lowered instead of raised.
        let at_stage_one = self.timer_stage == 1 || self.byte_stage == 1;
        let rates = &mut self.rates;
        if at_stage_one && rates.target > 10.0 * rates.current {
            rates.target /= 8.0;
        } else {
            rates.target += increase;
        }
        // Only the current rate is capped; the target may exceed line rate, as in the simulator.
        rates.current = f64::midpoint(rates.target, rates.current).min(rates.line);
    }

    /// True if a CNP lowers the target rate now.
    fn clamps(&self) -> bool {
        match self.config.clamp_target {
            TargetClamp::Always => true,
            TargetClamp::AfterIncrease => self.timer_stage > 0 || self.byte_stage > 0,
            TargetClamp::AfterByteIncrease => self.byte_stage > 0,
        }
    }

    fn raise_alpha(&mut self) {
        let g = self.config.g.as_f64();
        self.rates.alpha = (1.0 - g) * self.rates.alpha + g;
    }

    fn cut(&mut self) {
        self.rates.cut(self.config.min_rate);
    }
}

impl LazyTimers<2> for Dcqcn {
    #[inline]
    fn timers(&mut self) -> &mut RateTimers<2> {
        &mut self.timers
    }

    /// Alpha goes first: on each CNP, the simulator starts its timer first.
    #[inline]
    fn order(&self) -> [Timer; 2] {
        [Timer::Alpha, Timer::RateIncrease]
    }

    fn handle_timer(&mut self, timer: Timer, due: Time) {
        if timer == Timer::Alpha {
            self.rates.alpha *= 1.0 - self.config.g.as_f64();
            // The period counts from `due`, so catching up late does not stretch it.
            self.timers.set(Timer::Alpha, due + self.config.alpha_timer);
        } else {
            self.timer_stage += 1;
            // The timer restarts before the phase changes: it still has the old period.
            self.timers.set(Timer::RateIncrease, due + self.rate_period());
            self.increase_rate(Cause::Timer);
        }
    }
}

impl CongestionController for Dcqcn {
    #[inline]
    fn rate(&mut self, now: Time) -> BitRate {
        self.catch_up(now);
        self.rates.current()
    }

    fn handle_cnp(&mut self, now: Time) {
        // Timer actions from before this CNP must be applied to the rate that it cuts.
        self.catch_up(now);
        // After catching up: the target falls to the present rate.
        if self.clamps() {
            self.rates.target = self.rates.current;
            self.bytes_left = self.config.byte_counter.get();
        }
        // Only now: `clamps` reads the stages since the last CNP.
        (self.timer_stage, self.byte_stage) = (0, 0);
        match self.config.alpha_order {
            AlphaOrder::RaisedFirst => {
                self.raise_alpha();
                self.cut();
            }
            AlphaOrder::CutFirst => {
                self.cut();
                self.raise_alpha();
            }
        }
        self.phase = Phase::Fast;
        self.timers.set(Timer::Alpha, now + self.config.alpha_timer);
        self.timers.set(Timer::RateIncrease, now + self.config.rate_timer);
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, bytes: u32) {
        // Before the first CNP nothing counts: the rate is line rate.
        if self.timers.deadline(Timer::RateIncrease) == Time::NEVER {
            return;
        }
        let bytes = u64::from(bytes);
        // Fast path of nearly every packet. Timers catch up when the rate is needed next.
        if bytes <= self.bytes_left {
            self.bytes_left -= bytes;
            return;
        }
        self.catch_up(now);
        self.byte_stage += 1;
        // The byte counter restarts before the phase changes: it still has the old period.
        self.bytes_left = self.byte_period();
        self.increase_rate(Cause::Bytes);
    }
}

#[cfg(test)]
mod tests;
