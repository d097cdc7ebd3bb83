//! DCQCN as implemented by ConnectX NICs: flags in acknowledgements, and three timers.
//!
//! Source: `rdma-hw.cc` of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control), its
//! `cc_mode` 1, which its authors modelled on Mellanox firmware. The receiver echoes marks in
//! acknowledgements; there are no notification packets.
//!
//! Presets: `hpcc` and `hpcc-paper` are the two DCQCNs of HPCC's run script, `conweave` that of
//! ConWeave's. `connectx` has the defaults of the adapters' registers as printed by `mlxconfig`,
//! without the byte counter; `connectx-registers` also has that, and notification packets in
//! place of flags, as the adapters use. The scripts scale increases with
//! the link rate. The presets are for 100 Gbps: a link four times as fast needs increases four
//! times as large. For `hpcc`, the switches mark by
//! `ecn = { kmin = "400KB", kmax = "1600KB", pmax = "1/5" }` at 100 Gbps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::absolute_or_fraction::AbsoluteOrFraction;
use super::rate_window::{Pacing, RateExtras, RateWindow, WindowRule};
use super::timed::{LazyTimers, Rates};
use super::{
    AckSample, CongestionController, CongestionPreset, ControlConfig, Loss, PathFacts, floor,
};
use crate::nic::parameters::{
    Configuration, InvalidValue, at_most_one, positive_at_most_one, rate, require, timer,
};
use crate::nic::timer::{RateTimers, Timer};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Parameters; the defaults are those of the HPCC simulator's run scripts at 100 Gbps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gain of the moving average: 1/256.
    pub g: Fraction,
    /// Alpha at the first mark: 1.
    pub initial_alpha: Fraction,
    /// Alpha is updated once per this time: 1 us.
    pub alpha_timer: Span,
    /// The rate is cut at most once per this time: 4 us.
    pub decrease_timer: Span,
    /// The rate rises once per this time: 300 us.
    pub increase_timer: Span,
    /// Steps of fast recovery, F: 1.
    pub fast_recovery_steps: u32,
    /// Additive increase: 20 Mbps.
    pub additive_increase: BitRate,
    /// Hyper increase: 200 Mbps.
    pub hyper_increase: BitRate,
    /// The minimum rate: 1 Gbps.
    pub min_rate: BitRate,
    /// The rate after the first mark, as a fraction of line rate: 1.
    pub rate_on_first_cnp: Fraction,
    /// Bytes after which the rate also rises (`rpg_byte_reset`): `0B`, none.
    #[serde(skip_serializing_if = "is_none")]
    pub byte_counter: Bytes,
    /// Logarithm of the divisor of alpha in a cut (`rpg_gd`, alpha counts to 1024): 11, a half.
    #[serde(skip_serializing_if = "is_half")]
    pub rpg_gd: u32,
    /// Signal that cuts the rate: the `flag` of acknowledgements, or notification packets (`cnp`).
    #[serde(skip_serializing_if = "CutSignal::is_flag")]
    pub signal: CutSignal,
    /// Whether a loss cuts with the initial alpha (`roce_slow_restart_en`): no.
    #[serde(skip_serializing_if = "is_off")]
    pub slow_restart: bool,
    /// Whether each cut also lowers the target rate; otherwise only the first after a rise: no.
    pub clamp_target_rate: bool,
    /// The window in addition to the rate: `none` (`HAS_WIN`, `VAR_WIN`).
    #[serde(skip_serializing_if = "WindowRule::is_none")]
    pub window: WindowRule,
    /// The window at line rate, absolute or as a fraction of the bandwidth-delay product of the
    /// longest path: 1/1.
    #[serde(skip_serializing_if = "AbsoluteOrFraction::is_whole")]
    pub window_bytes: AbsoluteOrFraction<Bytes>,
    /// The pacing of packets: by `rate`. With `line-rate`, only the window limits them
    /// (`RATE_BOUND`).
    #[serde(skip_serializing_if = "Pacing::is_rate")]
    pub pacing: Pacing,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: Fraction::new(1, 256).expect("not zero"),
            initial_alpha: Fraction::ONE,
            alpha_timer: Span::from_us(1),
            decrease_timer: Span::from_us(4),
            increase_timer: Span::from_us(300),
            fast_recovery_steps: 1,
            additive_increase: BitRate::from_bps(20_000_000),
            hyper_increase: BitRate::from_bps(200_000_000),
            min_rate: BitRate::from_bps(1_000_000_000),
            rate_on_first_cnp: Fraction::ONE,
            byte_counter: Bytes::ZERO,
            rpg_gd: HALF,
            signal: CutSignal::Flag,
            slow_restart: false,
            clamp_target_rate: false,
            window: WindowRule::None,
            window_bytes: AbsoluteOrFraction::WHOLE,
            pacing: Pacing::Rate,
        }
    }
}

impl Config {
    /// HPCC's `dcqcn_paper`: the timers of the DCQCN paper.
    fn hpcc_paper() -> Self {
        Self {
            alpha_timer: Span::from_us(50),
            decrease_timer: Span::from_us(50),
            increase_timer: Span::from_us(55),
            ..Self::default()
        }
    }

    /// The values of ConWeave's `run.py`, for links of 100 Gbps.
    fn conweave() -> Self {
        Self {
            additive_increase: BitRate::from_bps(40_000_000),
            hyper_increase: BitRate::from_bps(100_000_000),
            min_rate: BitRate::from_bps(100_000_000),
            ..Self::default()
        }
    }

    /// `mlxconfig`: `dce_tcp_g` 1019 of 1024, initial alpha 1023 of 1024, rate-reduce monitor 4 us,
    /// time reset 300 us, threshold 1, AI 5 Mbps, HAI 50 Mbps, minimum rate 1 Mbps, no special rate
    /// on the first CNP, clamp after time increase.
    fn connectx() -> Self {
        let part = |above| Fraction::new(above, 1_024).expect("not zero");
        Self {
            g: part(5),
            initial_alpha: part(1_023),
            additive_increase: BitRate::from_bps(5_000_000),
            hyper_increase: BitRate::from_bps(50_000_000),
            min_rate: BitRate::from_bps(1_000_000),
            ..Self::default()
        }
    }

    /// `connectx` with `rpg_byte_reset` 32767 (kilobytes \[inferred\]: in bytes the rate would be
    /// whole again after microseconds), notification packets and slow restart.
    fn connectx_registers() -> Self {
        Self {
            byte_counter: Bytes::new(32_767_000),
            signal: CutSignal::Cnp,
            slow_restart: true,
            ..Self::connectx()
        }
    }
}

/// The signal that cuts the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutSignal {
    /// Flags in acknowledgements.
    #[default]
    Flag,
    /// Notification packets.
    Cnp,
}

impl CutSignal {
    fn is_flag(&self) -> bool {
        *self == Self::Flag
    }
}

/// Value of `rpg_gd` with which a cut takes half of alpha.
const HALF: u32 = 11;

fn is_none(bytes: &Bytes) -> bool {
    *bytes == Bytes::ZERO
}

fn is_off(is_on: &bool) -> bool {
    !is_on
}

fn is_half(rpg_gd: &u32) -> bool {
    *rpg_gd == HALF
}

impl Configuration for Config {
    const NAME: &'static str = "dcqcn-mlx";
    const SUMMARY: &'static str =
        "DCQCN as implemented by ConnectX NICs: flags in acknowledgements, three timers";
    const SOURCE: &'static str = "Li et al., HPCC, 2019 (its simulator, rdma-hw.cc, cc_mode 1)";

    fn check(&self) -> Result<(), InvalidValue> {
        positive_at_most_one("g", self.g)?;
        at_most_one("initial_alpha", self.initial_alpha)?;
        timer("alpha_timer", self.alpha_timer)?;
        timer("decrease_timer", self.decrease_timer)?;
        timer("increase_timer", self.increase_timer)?;
        rate("min_rate", self.min_rate)?;
        let range = "it must be from 10 to 15";
        require("rpg_gd", self.rpg_gd, (10..=15).contains(&self.rpg_gd), range)?;
        positive_at_most_one("rate_on_first_cnp", self.rate_on_first_cnp)
    }
}

impl ControlConfig for Config {
    const PRESETS: &'static [CongestionPreset<Self>] = &[
        CongestionPreset { name: "hpcc", config: Self::default },
        CongestionPreset { name: "hpcc-paper", config: Self::hpcc_paper },
        CongestionPreset { name: "conweave", config: Self::conweave },
        CongestionPreset { name: "connectx", config: Self::connectx },
        CongestionPreset { name: "connectx-registers", config: Self::connectx_registers },
    ];

    fn wants_cnp(&self) -> bool {
        self.signal == CutSignal::Cnp
    }
}

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
        if self.config.clamp_target_rate || self.stage > 0 || self.byte_stage() > 0 {
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
        self.handle_marked_nack(now);
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
mod tests {
    use super::*;

    fn control() -> DcqcnMlx {
        DcqcnMlx::new(&Config::default(), &PathFacts::FOR_TEST)
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn marked(control: &mut DcqcnMlx, time: Time) {
        control.handle_ack(time, AckSample::for_test(1, 2, 1));
    }

    #[test]
    fn the_first_mark_cuts_after_the_decrease_timer_by_half_of_alpha() {
        let mut control = control();
        marked(&mut control, at(0));
        assert_eq!(control.rate(at(4)).as_bps(), 100_000_000_000);
        let alpha = (255.0f64 / 256.0).powi(4);
        let rate = control.rate(at(5)).as_bps() as f64;
        assert!((rate / 1e11 - (1.0 - alpha / 2.0)).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn alpha_halves_in_177_ticks_without_marks() {
        let mut control = control();
        marked(&mut control, at(0));
        control.update_alpha(at(177));
        assert!((control.rates.alpha - 0.5).abs() < 0.001, "{}", control.rates.alpha);
    }

    #[test]
    fn recovery_goes_half_way_and_then_adds() {
        let mut control = control();
        marked(&mut control, at(0));
        let cut = control.rate(at(10)).as_bps() as f64;
        // The first rise goes half way to the old target; the second first adds 20 Mbps to it.
        let first = control.rate(at(310)).as_bps() as f64;
        assert!((first - f64::midpoint(cut, 1e11)).abs() < 2.0);
        let second = control.rate(at(610)).as_bps() as f64;
        assert!((second - f64::midpoint(first, 1e11)).abs() < 2.0, "the target stops at line rate");
    }

    #[test]
    fn an_increase_precedes_a_cut_at_the_same_time() {
        let mut control = control();
        marked(&mut control, at(0));
        let cut = control.rate(at(10)).as_bps() as f64;
        // The cut was at 4.001 us. The rise is due at 304.001 us, together with the 75th check for
        // marks.
        marked(&mut control, at(302));
        assert_eq!(control.rate(at(304)).as_bps() as f64, cut.floor());
        let rate = control.rate(at(305)).as_bps() as f64;
        let risen = f64::midpoint(cut, 1e11);
        assert!((rate / risen - (1.0 - control.rates.alpha / 2.0)).abs() < 1e-9, "{rate} {risen}");
        assert!(
            (control.rates.target - risen).abs() < 2.0,
            "the cut lowers the target rate as well"
        );
    }

    #[test]
    fn a_cut_precedes_an_increase_if_both_timers_have_the_same_length() {
        let increase_timer = Config::default().decrease_timer;
        let config = Config { increase_timer, ..Config::default() };
        let mut control = DcqcnMlx::new(&config, &PathFacts::FOR_TEST);
        // Cuts at 4.001 and 8.001 us; the second one postpones the rise.
        [at(0), at(6)].into_iter().for_each(|time| marked(&mut control, time));
        let once = control.rates.current;
        let twice = control.rate(at(9)).as_bps() as f64;
        assert!((twice / once - (1.0 - control.rates.alpha / 2.0)).abs() < 1e-9, "{twice}");
    }

    #[test]
    fn the_rate_does_not_depend_on_how_often_it_is_read() {
        let (mut often, mut seldom) = (control(), control());
        for us in 0..2_000 {
            if us % 37 == 0 {
                marked(&mut often, at(us));
                marked(&mut seldom, at(us));
            }
            often.rate(at(us));
        }
        let (often, seldom) = (often.rate(at(2_000)), seldom.rate(at(2_000)));
        assert!(often.as_bps().abs_diff(seldom.as_bps()) < 100, "{often} {seldom}");
    }

    #[test]
    fn the_first_cut_respects_the_minimum_rate() {
        let share = Fraction::new(1, u32::MAX).expect("not zero");
        let config = Config { rate_on_first_cnp: share, ..Config::default() };
        let mut control = DcqcnMlx::new(&config, &PathFacts::FOR_TEST);
        marked(&mut control, at(0));
        assert_eq!(control.rate(at(0)), config.min_rate);
    }

    #[test]
    fn a_mark_decays_with_the_ticks_made_up_after_it() {
        let g = Fraction::new(1, 4).unwrap();
        let initial_alpha = Fraction::new(1, 2).unwrap();
        let config = Config { g, initial_alpha, ..Config::default() };
        let mut control = DcqcnMlx::new(&config, &PathFacts::FOR_TEST);
        [at(0), at(0)].into_iter().for_each(|time| marked(&mut control, time));
        assert!(control.flagged_for_alpha);
        // Ticks at 1, 2 and 3 us, the first of which is flagged.
        control.update_alpha(at(3));
        assert_eq!(control.rates.alpha, 0.5 * 0.75 * 0.75 * 0.75 + 0.25 * 0.75 * 0.75);
        assert_eq!(
            (control.flagged_for_alpha, control.timers.deadline(Timer::Alpha)),
            (false, at(4))
        );
    }

    #[test]
    fn a_cut_lowers_the_target_after_an_increase_or_if_clamped() {
        for (clamp_target_rate, stage, target) in
            [(false, 0, 80e9), (false, 1, 40e9), (true, 0, 40e9)]
        {
            let config = Config { clamp_target_rate, ..Config::default() };
            let mut control = DcqcnMlx::new(&config, &PathFacts::FOR_TEST);
            (control.rates.target, control.rates.current) = (80e9, 40e9);
            (control.stage, control.flagged_for_cut) = (stage, true);
            control.cut_if_flagged(at(1));
            assert_eq!(control.rates.target, target, "{clamp_target_rate}, stage {stage}");
        }
    }
}
