//! Scenarios for DCQCN: CNPs, timers and bytes in, rates out.

use super::*;

fn gbps(control: &mut Dcqcn, us: u64) -> f64 {
    control.rate(Time::ZERO + Span::from_us(us)).as_bps() as f64 / 1e9
}

#[test]
fn a_cnp_cuts_by_half_of_alpha_and_fast_recovery_halves_the_gap() {
    let mut control = Dcqcn::new(&Config::default(), &PathFacts::FOR_TEST);
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
fn without_cnps_the_rate_never_changes() {
    let mut control = Dcqcn::new(&Config::default(), &PathFacts::FOR_TEST);
    control.handle_sent(Time::ZERO, 1_000_000);
    assert_eq!(gbps(&mut control, 1_000_000), 100.0);
}

#[test]
fn bytes_before_the_first_cnp_do_not_count() {
    let config = Config { byte_counter: Bytes::new(1_000), ..Config::default() };
    let mut control = Dcqcn::new(&config, &PathFacts::FOR_TEST);
    for _ in 0..100 {
        control.handle_sent(Time::ZERO, 1_000);
    }
    assert_eq!((control.byte_stage, control.rates.target), (0, 1e11));
}

#[test]
fn alpha_halves_in_177_ticks_without_cnps() {
    let mut control = Dcqcn::new(&Config::default(), &PathFacts::FOR_TEST);
    control.handle_cnp(Time::ZERO);
    let start = control.rates.alpha;
    // ln 2 / −ln(1 − 1/256) = 177.1 ticks of 55 us.
    gbps(&mut control, 177 * 55 - 1);
    assert!(control.rates.alpha > start / 2.0);
    gbps(&mut control, 178 * 55);
    assert!(
        control.rates.alpha < start / 2.0 && control.rates.alpha > 0.49 * start,
        "{}",
        control.rates.alpha
    );
}

#[test]
fn after_five_steps_of_fast_recovery_each_step_adds_to_the_target() {
    let mut control = Dcqcn::new(&Config::paper(), &PathFacts::FOR_TEST);
    control.handle_cnp(Time::ZERO);
    assert_eq!(gbps(&mut control, 54), 50.0, "alpha is 1: half of line rate");
    // 100 − 50/2^n up to the fourth step. The fifth first adds 40 Mbps to the target.
    let steps = [75.0, 87.5, 93.75, 96.875, 98.4575, 99.26875];
    for (n, expected) in (1..).zip(steps) {
        let rate = gbps(&mut control, 55 * n);
        assert!((rate - expected).abs() < 1e-6, "step {n}: {rate}");
    }
    assert_eq!(control.rates.target, 100.08e9, "beyond line rate, as in the authors' simulator");
    assert_eq!(gbps(&mut control, 55 * 20), 100.0, "the rate stops at line rate");
}

#[test]
fn timer_and_byte_counter_together_reach_hyper_increase() {
    let config = Config { byte_counter: Bytes::new(1_000), ..Config::paper() };
    let mut control = Dcqcn::new(&config, &PathFacts::FOR_TEST);
    control.handle_cnp(Time::ZERO);
    control.handle_cnp(Time::ZERO);
    // The counter expires with the byte after the thousandth.
    let send = |control: &mut Dcqcn, us, bytes| {
        control.handle_sent(Time::ZERO + Span::from_us(us), bytes);
    };
    for n in 1..=5 {
        send(&mut control, 1, 1_000);
        assert_eq!(control.byte_stage, n - 1);
        send(&mut control, 1, 1);
        assert_eq!(control.byte_stage, n);
    }
    assert_eq!(control.phase, Phase::Active);
    let target = control.rates.target;
    gbps(&mut control, 55 * 4);
    assert_eq!((control.phase, control.rates.target), (Phase::Active, target + 4.0 * 40e6));
    gbps(&mut control, 55 * 5);
    assert_eq!((control.phase, control.timer_stage), (Phase::Hyper, 5));
    assert_eq!(control.rates.target, target + 4.0 * 40e6 + 200e6);
    gbps(&mut control, 55 * 6);
    assert_eq!(control.timer_stage, 6, "a full period to the second step");
    gbps(&mut control, 55 * 6 + 28);
    assert_eq!(control.timer_stage, 7, "half a period from there on");
    send(&mut control, 55 * 6 + 28, 1_001);
    let before = control.rates.target;
    send(&mut control, 55 * 6 + 28, 501);
    // The lower stage is 7: 3 · 200 Mbps.
    assert_eq!((control.byte_stage, control.rates.target), (7, before + 600e6));
}

#[test]
fn alpha_rises_before_the_cut_in_the_simulator_and_after_it_in_the_paper() {
    let after = |config: Config| {
        let mut control = Dcqcn::new(&config, &PathFacts::FOR_TEST);
        control.handle_cnp(Time::ZERO);
        (control.rates.current / 1e9, control.rates.alpha)
    };
    let half = Fraction::new(1, 2).expect("not zero");
    let authors = after(Config::default());
    let paper = after(Config { initial_alpha: half, ..Config::paper() });
    assert_eq!(authors, (100.0 * (1.0 - 0.501_953_125 / 2.0), 0.501_953_125));
    assert_eq!(paper, (75.0, 0.501_953_125));
}

#[test]
fn clamp_target_selects_which_cnps_lower_the_target() {
    use TargetClamp::{AfterByteIncrease, AfterIncrease, Always};
    // CNPs at 0, 10 and 70 us: the timer expires at 70 us, before the third CNP.
    let targets = |clamp_target| {
        let config = Config { clamp_target, ..Config::default() };
        let mut control = Dcqcn::new(&config, &PathFacts::FOR_TEST);
        [0, 10, 70].map(|us| {
            control.handle_cnp(Time::ZERO + Span::from_us(us));
            (control.rates.target / 1e9).round()
        })
    };
    assert_eq!(targets(Always), [100.0, 75.0, 65.0]);
    assert_eq!(targets(AfterIncrease), [100.0, 100.0, 78.0]);
    assert_eq!(targets(AfterByteIncrease), [100.0, 100.0, 100.0]);
}

#[test]
fn a_target_far_above_the_rate_falls_to_an_eighth() {
    let clamp_target = TargetClamp::AfterByteIncrease;
    let mut control =
        Dcqcn::new(&Config { clamp_target, ..Config::default() }, &PathFacts::FOR_TEST);
    for _ in 0..10 {
        control.handle_cnp(Time::ZERO);
    }
    let current = control.rates.current;
    assert!(current < 1e10);
    gbps(&mut control, 60);
    assert_eq!(
        (control.rates.target, control.rates.current),
        (12.5e9, f64::midpoint(12.5e9, current))
    );
}

#[test]
fn repeated_cnps_stop_at_the_minimum_rate() {
    let mut control = Dcqcn::new(&Config::default(), &PathFacts::FOR_TEST);
    for _ in 0..100 {
        control.handle_cnp(Time::ZERO);
    }
    assert_eq!(gbps(&mut control, 0), 0.1);
}

#[test]
fn hyper_increase_halves_both_periods() {
    let config = Config {
        rate_timer: Span::from_us(61),
        byte_counter: Bytes::new(1_001),
        ..Config::default()
    };
    let mut control = Dcqcn::new(&config, &PathFacts::FOR_TEST);
    for phase in [Phase::Fast, Phase::Active] {
        control.phase = phase;
        assert_eq!((control.rate_period(), control.byte_period()), (Span::from_us(61), 1_001));
    }
    control.phase = Phase::Hyper;
    assert_eq!((control.rate_period(), control.byte_period()), (Span::from_ns(30_500), 500));
}

#[test]
fn clamping_depends_on_the_stages_since_the_last_cnp() {
    let clamps = |clamp_target, timer_stage, byte_stage| {
        let config = Config { clamp_target, ..Config::default() };
        let control = Dcqcn::new(&config, &PathFacts::FOR_TEST);
        Dcqcn { timer_stage, byte_stage, ..control }.clamps()
    };
    for (stages, expected) in [
        ((0, 0), [true, false, false]),
        ((1, 0), [true, true, false]),
        ((0, 1), [true, true, true]),
    ] {
        let of = |clamp| clamps(clamp, stages.0, stages.1);
        let all = [TargetClamp::Always, TargetClamp::AfterIncrease, TargetClamp::AfterByteIncrease];
        assert_eq!(all.map(of), expected, "{stages:?}");
    }
}

/// The authors' rule for a target far above the rate.
#[test]
fn a_target_above_ten_times_the_rate_falls_to_an_eighth_at_stage_one() {
    let target = |stages: (u32, u32), target: f64| {
        let mut control = Dcqcn::new(&Config::default(), &PathFacts::FOR_TEST);
        (control.rates.target, control.rates.current) = (target, 1e9);
        (control.timer_stage, control.byte_stage) = stages;
        control.increase_rate(Cause::Timer);
        control.rates.target
    };
    for stages in [(1, 0), (0, 1), (1, 1), (1, 3)] {
        assert_eq!(target(stages, 20e9), 2.5e9, "{stages:?}");
        assert_eq!(target(stages, 10e9), 10e9, "{stages:?}");
    }
    for stages in [(0, 0), (2, 0), (2, 2)] {
        assert_eq!(target(stages, 20e9), 20e9, "{stages:?}: fast recovery adds nothing");
    }
}
