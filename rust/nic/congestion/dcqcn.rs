//! DCQCN in its authors' form: congestion notification packets, rate timer and byte counter.
//!
//! Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM 2015),
//! section 5, in the form of the authors' simulator (bobzhuyb/ns3-rdma): alpha starts at 1/2 and
//! rises before the cut, each cut clamps the target rate, and a target ten times the rate at
//! stage one falls to an eighth in place of a rise.

use serde::{Deserialize, Serialize};

use super::CongestionController;
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Parameters; the defaults are those of the authors' simulator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gain of the moving average: 1/256.
    pub g: Fraction,
    /// Without a CNP for this long, alpha decays: 55 us.
    pub alpha_timer: Span,
    /// The rate rises once in this time: 60 us (the paper has 55 us).
    pub rate_timer: Span,
    /// ... and once in as many bytes: 300 MB, which is practically off (the paper has 10 MB).
    pub byte_counter: Bytes,
    /// Rises of fast recovery, F: 5.
    pub fast_recovery_steps: u32,
    /// Additive increase: 40 Mbps.
    pub additive_increase: BitRate,
    /// Hyper increase: 200 Mbps.
    pub hyper_increase: BitRate,
    /// No rate falls below: 100 Mbps.
    pub min_rate: BitRate,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: Fraction::new(1, 256).expect("not zero"),
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

/// How the rate rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fast,
    Active,
    Hyper,
}

/// What made the rate rise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Timer,
    Bytes,
}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct Dcqcn {
    config: Box<Config>,
    line_rate: f64,
    /// Rc, in bits per second.
    current: f64,
    /// Rt, in bits per second.
    target: f64,
    alpha: f64,
    phase: Phase,
    timer_stage: u32,
    byte_stage: u32,
    bytes_left: u64,
    /// When alpha decays next; `NEVER` before the first CNP.
    alpha_due: Time,
    /// When the rate timer runs out next; `NEVER` before the first CNP.
    rate_due: Time,
}

impl Dcqcn {
    pub(super) fn new(config: &Config, line_rate: BitRate) -> Self {
        let line_rate = line_rate.as_bps() as f64;
        Self {
            config: Box::new(*config),
            line_rate,
            current: line_rate,
            target: line_rate,
            alpha: 0.5,
            phase: Phase::Fast,
            timer_stage: 0,
            byte_stage: 0,
            bytes_left: config.byte_counter.get(),
            alpha_due: Time::NEVER,
            rate_due: Time::NEVER,
        }
    }

    /// Does what the timers would have done by `now`, each in its turn.
    fn catch_up(&mut self, now: Time) {
        while self.alpha_due.min(self.rate_due) <= now {
            if self.alpha_due <= self.rate_due {
                self.alpha *= 1.0 - self.config.g.as_f64();
                self.alpha_due += self.config.alpha_timer;
            } else {
                self.timer_stage += 1;
                self.rise(Cause::Timer);
                self.rate_due += self.rate_period();
            }
        }
    }

    fn rate_period(&self) -> Span {
        let period = self.config.rate_timer.as_ps();
        // Hyper increase runs on half the period and half the bytes.
        Span::from_ps(if self.phase == Phase::Hyper { period / 2 } else { period }.max(1))
    }

    fn byte_period(&self) -> u64 {
        let period = self.config.byte_counter.get();
        if self.phase == Phase::Hyper { period / 2 } else { period }.max(1)
    }

    fn rise(&mut self, cause: Cause) {
        let fast_steps = self.config.fast_recovery_steps;
        let stage = if cause == Cause::Timer { self.timer_stage } else { self.byte_stage };
        match (self.phase, cause) {
            (Phase::Fast, _) if stage < fast_steps => {}
            (Phase::Active, Cause::Bytes) => self.raise_target(stage, Phase::Active),
            (Phase::Hyper, _) => self.raise_target(stage, Phase::Hyper),
            (Phase::Fast | Phase::Active, _) => {
                let lagging = self.timer_stage.min(self.byte_stage) < fast_steps;
                self.raise_target(stage, if lagging { Phase::Active } else { Phase::Hyper });
            }
        }
        self.current = f64::midpoint(self.target, self.current).min(self.line_rate);
    }

    fn raise_target(&mut self, stage: u32, phase: Phase) {
        self.phase = phase;
        if stage == 1 && self.target > 10.0 * self.current {
            self.target /= 8.0;
            return;
        }
        self.target += match phase {
            Phase::Hyper => {
                let beyond = self.timer_stage.min(self.byte_stage);
                let steps = beyond.saturating_sub(self.config.fast_recovery_steps) + 1;
                self.config.hyper_increase.as_bps() as f64 * f64::from(steps)
            }
            Phase::Fast | Phase::Active => self.config.additive_increase.as_bps() as f64,
        };
    }
}

impl CongestionController for Dcqcn {
    #[inline]
    fn rate(&mut self, now: Time) -> BitRate {
        self.catch_up(now);
        BitRate::from_bps(self.current as u64)
    }

    fn handle_cnp(&mut self, now: Time) {
        self.catch_up(now);
        self.target = self.current;
        self.bytes_left = self.config.byte_counter.get();
        (self.timer_stage, self.byte_stage) = (0, 0);
        let g = self.config.g.as_f64();
        self.alpha = (1.0 - g) * self.alpha + g;
        let floor = (self.config.min_rate.as_bps() as f64).clamp(1.0, self.line_rate);
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(floor);
        self.phase = Phase::Fast;
        self.alpha_due = now + self.config.alpha_timer;
        self.rate_due = now + self.config.rate_timer;
    }

    fn handle_sent(&mut self, now: Time, bytes: u32) {
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(bytes));
        if self.bytes_left == 0 {
            self.catch_up(now);
            self.byte_stage += 1;
            self.rise(Cause::Bytes);
            self.bytes_left = self.byte_period();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gbps(control: &mut Dcqcn, us: u64) -> f64 {
        control.rate(Time::ZERO + Span::from_us(us)).as_bps() as f64 / 1e9
    }

    #[test]
    fn a_cnp_cuts_by_half_of_alpha_and_fast_recovery_halves_the_way_back() {
        let mut control = Dcqcn::new(&Config::default(), BitRate::from_gbps(100));
        assert_eq!(gbps(&mut control, 0), 100.0);
        control.handle_cnp(Time::ZERO);
        // alpha = 255/256 · 1/2 + 1/256 = 0.501953125.
        let cut = 100.0 * (1.0 - 0.501_953_125 / 2.0);
        assert!((gbps(&mut control, 59) - cut).abs() < 1e-6);
        let mut expected = cut;
        for step in 1..5 {
            expected = f64::midpoint(expected, 100.0);
            assert!((gbps(&mut control, 60 * step) - expected).abs() < 1e-6, "step {step}");
        }
    }

    #[test]
    fn without_a_cnp_nothing_ever_changes() {
        let mut control = Dcqcn::new(&Config::default(), BitRate::from_gbps(100));
        control.handle_sent(Time::ZERO, 1_000_000);
        assert_eq!(gbps(&mut control, 1_000_000), 100.0);
    }

    #[test]
    fn cnps_bring_the_rate_to_its_floor() {
        let mut control = Dcqcn::new(&Config::default(), BitRate::from_gbps(100));
        for _ in 0..100 {
            control.handle_cnp(Time::ZERO);
        }
        assert_eq!(gbps(&mut control, 0), 0.1);
    }
}
