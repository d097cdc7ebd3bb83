//! DCQCN as implemented by ConnectX NICs: flags in acknowledgements or notification packets, and
//! three timers.
//!
//! Source: `rdma-hw.cc` of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control), its
//! `cc_mode` 1, which its authors modelled on Mellanox firmware. The receiver echoes marks in
//! acknowledgements; with `signal = "cnp"` it sends notification packets instead.
//!
//! Presets: `hpcc` and `hpcc-paper` are the two DCQCNs of HPCC's run script, `conweave` that of
//! ConWeave's. `connectx` has the defaults of the adapters' registers as printed by `mlxconfig`,
//! without the byte counter; `connectx-registers` also has that, and notification packets
//! instead of flags, as the adapters use. The scripts scale increases with
//! the link rate. The presets are for 100 Gbps: a link four times as fast needs increases four
//! times as large. For `hpcc`, the switches mark by
//! `ecn = { kmin = "400KB", kmax = "1600KB", pmax = "1/5" }` at 100 Gbps.

mod config;

use std::sync::Arc;

pub use config::{Config, CutSignal};

use super::rate_window::{RateExtras, RateWindow};
use super::timed::{LazyTimers, Rates};
use super::{AckSample, CongestionController, Loss, PathFacts, floor};
use crate::nic::timer::{RateTimers, Timer};
use crate::units::{BitRate, Bytes, Span, Time};

/// State that few configurations need.
#[derive(Debug, Clone)]
struct Extras {
    rate: Option<Box<RateExtras>>,
    /// Rises by the byte counter since the last cut, and bytes until the next one.
    byte_stage: u32,
    bytes_left: u64,
}

impl Extras {
    fn of(config: &Config, path: &PathFacts) -> Option<Box<Self>> {
        let window = RateWindow::new(config.window, config.window_bytes, path);
        let rate = RateExtras::of(window, config.pacing);
        let bytes_left = config.byte_counter.get();
        let has_any = rate.is_some() || bytes_left > 0;
        has_any.then(|| Box::new(Self { rate, byte_stage: 0, bytes_left }))
    }
}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct DcqcnMlx {
    // Shared: a run may have a million queue pairs.
    config: Arc<Config>,
    rates: Rates,
    /// The window and pacing that accompany the rate, and the byte counter.
    extras: Option<Box<Extras>>,
    /// True if a mark arrived since alpha was last updated.
    flagged_for_alpha: bool,
    /// True if a mark arrived since the rate was last cut.
    flagged_for_cut: bool,
    stage: u32,
    /// All three timers. None runs before the first mark (rate increase: before the first cut).
    timers: RateTimers<3>,
}

impl DcqcnMlx {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        Self {
            config: Arc::new(*config),
            rates: Rates::new(path.line_rate, config.initial_alpha.as_f64()),
            extras: Extras::of(config, path),
            flagged_for_alpha: false,
            flagged_for_cut: false,
            stage: 0,
            timers: RateTimers::default(),
        }
    }

    /// Updates alpha for every tick of its timer up to `now`. Only the first tick can be flagged.
    fn update_alpha(&mut self, now: Time) {
        let Some((timer, due)) = self.timers.next(now, [Timer::Alpha]) else { return };
        // All ticks since `due` in one step: alpha · (1 − g)^ticks. The g of a flagged first tick
        // decays with the later ticks. A flow that was idle for long needs no loop.
        let ticks = now.since(due).as_ps() / self.config.alpha_timer.as_ps() + 1;
        let keep = 1.0 - self.config.g.as_f64();
        self.rates.alpha *= power(keep, ticks - 1) * keep;
        if self.flagged_for_alpha {
            self.rates.alpha += (1.0 - keep) * power(keep, ticks - 1);
            self.flagged_for_alpha = false;
        }
        self.timers.set(timer, due + self.config.alpha_timer * ticks);
    }

    fn byte_stage(&self) -> u32 {
        self.extras.as_ref().map_or(0, |extras| extras.byte_stage)
    }

    fn rate_extras(&self) -> Option<&RateExtras> {
        self.extras.as_ref()?.rate.as_deref()
    }

    fn cut_if_flagged(&mut self, at: Time) {
        if !self.flagged_for_cut {
            return;
        }
        self.flagged_for_cut = false;
        // The cut uses alpha as of its own time, which may be well before the call.
        self.update_alpha(at);
        if self.config.clamp_target_rate || self.stage > 0 {
            self.rates.target = self.rates.current;
        }
        self.rates.cut_by(f64::from(1_u32 << (self.config.rpg_gd - 10)), self.config.min_rate);
        // Each cut postpones the next rise by a full period.
        self.stage = 0;
        if let Some(extras) = &mut self.extras {
            (extras.byte_stage, extras.bytes_left) = (0, self.config.byte_counter.get());
        }
        self.timers.set(Timer::RateIncrease, at + self.config.increase_timer);
    }

    fn increase_rate(&mut self, stage: u32) {
        let increase = match self.config.byte_counter {
            Bytes::ZERO => self.increase_by_timer(stage),
            _ => self.increase_by_both(),
        };
        let rates = &mut self.rates;
        // Rt stops at line rate here, unlike in `dcqcn`.
        rates.target = (rates.target + increase as f64).min(rates.line);
        rates.current = f64::midpoint(rates.current, rates.target);
    }

    /// Below F fast recovery, at F one additive step, beyond it hyper increase.
    fn increase_by_timer(&self, stage: u32) -> u64 {
        match stage.cmp(&self.config.fast_recovery_steps) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => self.config.additive_increase.as_bps(),
            std::cmp::Ordering::Greater => self.config.hyper_increase.as_bps(),
        }
    }

    /// Fast recovery until timer or bytes have risen F times, hyper increase once both have risen
    /// more often (Zhu et al., 2015, section 5).
    fn increase_by_both(&self) -> u64 {
        let steps = self.config.fast_recovery_steps;
        let (low, high) = (self.stage.min(self.byte_stage()), self.stage.max(self.byte_stage()));
        if low > steps {
            self.config.hyper_increase.as_bps()
        } else if high >= steps {
            self.config.additive_increase.as_bps()
        } else {
            0
        }
    }

    fn start_timers(&mut self, now: Time) {
        self.rates.alpha = self.config.initial_alpha.as_f64();
        self.timers.set(Timer::Alpha, now + self.config.alpha_timer);
        // One nanosecond later, so that each cut comes after the update of alpha.
        let decrease = now + self.config.decrease_timer + Span::from_ns(1);
        self.timers.set(Timer::RateDecrease, decrease);
        let rates = &mut self.rates;
        let cut = rates.current * self.config.rate_on_first_cnp.as_f64();
        rates.current = cut.max(floor(self.config.min_rate, rates.line));
        rates.target = rates.current;
    }
}

/// Returns `base` to the power of `exponent` by squaring: bit-identical on every platform.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

impl LazyTimers<3> for DcqcnMlx {
    #[inline]
    fn timers(&mut self) -> &mut RateTimers<3> {
        &mut self.timers
    }

    /// If the increase timer is a multiple of the decrease timer, as by default, both expire at the
    /// same time. The simulator then runs the one started first, which is the longer one. The rise
    /// comes before the cut, so the cut also lowers the target rate (`CheckRateDecreaseMlx` starts
    /// both). Alpha's many ticks are made up in one step when alpha is needed.
    #[inline]
    fn order(&self) -> [Timer; 2] {
        if self.config.increase_timer > self.config.decrease_timer {
            [Timer::RateIncrease, Timer::RateDecrease]
        } else {
            [Timer::RateDecrease, Timer::RateIncrease]
        }
    }

    fn handle_timer(&mut self, timer: Timer, due: Time) {
        if timer == Timer::RateIncrease {
            self.timers.set(timer, due + self.config.increase_timer);
            self.increase_rate(self.stage);
            self.stage += 1;
        } else {
            self.timers.set(timer, due + self.config.decrease_timer);
            self.cut_if_flagged(due);
        }
    }
}

impl CongestionController for DcqcnMlx {
    #[inline]
    fn rate(&mut self, now: Time) -> BitRate {
        self.catch_up(now);
        RateExtras::pace(self.rate_extras(), self.rates.current())
    }

    #[inline]
    fn window(&self) -> u64 {
        RateExtras::window(self.rate_extras(), self.rates.current as u64)
    }

    fn handle_ack(&mut self, now: Time, sample: AckSample) {
        // Unmarked acknowledgements touch no timer: due actions run when the rate is needed.
        if sample.marked > 0 && self.config.signal == CutSignal::Flag {
            self.handle_marked_nack(now);
        }
    }

    fn handle_cnp(&mut self, now: Time) {
        // With flags, the acknowledgements have the marks.
        if self.config.signal == CutSignal::Cnp {
            self.handle_marked_nack(now);
        }
    }

    fn handle_loss(&mut self, now: Time, loss: Loss) {
        if self.config.slow_restart && matches!(loss, Loss::Nack | Loss::Timeout) {
            self.handle_marked_nack(now);
            self.rates.alpha = self.config.initial_alpha.as_f64();
        }
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, bytes: u32) {
        // Before the first cut nothing counts: the rate is line rate.
        if self.config.byte_counter == Bytes::ZERO
            || self.timers.deadline(Timer::RateIncrease) == Time::NEVER
        {
            return;
        }
        let Some(extras) = &mut self.extras else { return };
        let bytes = u64::from(bytes);
        if bytes <= extras.bytes_left {
            extras.bytes_left -= bytes;
            return;
        }
        self.catch_up(now);
        let stage = self.byte_stage();
        self.increase_rate(stage);
        if let Some(extras) = &mut self.extras {
            (extras.byte_stage, extras.bytes_left) = (stage + 1, self.config.byte_counter.get());
        }
    }

    fn handle_marked_nack(&mut self, now: Time) {
        self.catch_up(now);
        self.flagged_for_cut = true;
        // The first mark starts the timers; it has no earlier alpha to update.
        if self.timers.deadline(Timer::Alpha) == Time::NEVER {
            self.start_timers(now);
            return;
        }
        self.update_alpha(now);
        // Set after the update: this mark belongs to the current tick.
        self.flagged_for_alpha = true;
    }
}

#[cfg(test)]
mod tests;
