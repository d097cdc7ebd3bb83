//! Tests of DCQCN with three timers.

use super::*;
use crate::units::Fraction;

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
    assert!((control.rates.target - risen).abs() < 2.0, "the cut lowers the target rate as well");
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
    // Ticks at 1, 2 and 3 us; the first is flagged.
    control.update_alpha(at(3));
    assert_eq!(control.rates.alpha, 0.5 * 0.75 * 0.75 * 0.75 + 0.25 * 0.75 * 0.75);
    assert_eq!((control.flagged_for_alpha, control.timers.deadline(Timer::Alpha)), (false, at(4)));
}

#[test]
fn a_cut_lowers_the_target_after_an_increase_or_if_clamped() {
    for (clamp_target_rate, stage, target) in [(false, 0, 80e9), (false, 1, 40e9), (true, 0, 40e9)]
    {
        let config = Config { clamp_target_rate, ..Config::default() };
        let mut control = DcqcnMlx::new(&config, &PathFacts::FOR_TEST);
        (control.rates.target, control.rates.current) = (80e9, 40e9);
        (control.stage, control.flagged_for_cut) = (stage, true);
        control.cut_if_flagged(at(1));
        assert_eq!(control.rates.target, target, "{clamp_target_rate}, stage {stage}");
    }
}

fn with(config: Config) -> DcqcnMlx {
    DcqcnMlx::new(&config, &PathFacts::FOR_TEST)
}

#[test]
fn a_larger_divisor_cuts_less() {
    let rates = [10, 11, 12].map(|rpg_gd| {
        let mut control = with(Config { rpg_gd, ..Config::default() });
        marked(&mut control, at(0));
        control.rate(at(5)).as_bps()
    });
    let cuts = rates.map(|rate| 1.0 - rate as f64 / 1e11);
    assert!((cuts[0] - 2.0 * cuts[1]).abs() < 1e-9 && (cuts[1] - 2.0 * cuts[2]).abs() < 1e-9);
}

#[test]
fn bytes_raise_the_rate_before_the_timer_does() {
    let config = Config { byte_counter: Bytes::new(10_000), ..Config::default() };
    let [mut by_both, mut by_timer] = [with(config), control()];
    for control in [&mut by_both, &mut by_timer] {
        marked(control, at(0));
        control.rate(at(5));
        (0..11).for_each(|_| control.handle_sent(at(6), 1_000));
    }
    let [raised, cut] = [&mut by_both, &mut by_timer].map(|it| it.rate(at(7)).as_bps() as f64);
    assert!((raised - f64::midpoint(cut, 1e11)).abs() < 2.0, "half of the way: {raised} {cut}");
}

#[test]
fn notification_packets_replace_flags() {
    let mut control = with(Config { signal: CutSignal::Cnp, ..Config::default() });
    marked(&mut control, at(0));
    assert_eq!(control.rate(at(5)).as_bps(), 100_000_000_000);
    control.handle_cnp(at(6));
    assert!(control.rate(at(11)).as_bps() < 51_000_000_000);
}

#[test]
fn with_slow_restart_a_loss_cuts_like_a_first_mark() {
    let after = |slow_restart| {
        let mut control = with(Config { slow_restart, ..Config::default() });
        marked(&mut control, at(0));
        // By now alpha is near 0 and the rate near its target.
        let before = control.rate(at(5_000)).as_bps() as f64;
        control.handle_loss(at(5_000), Loss::Nack);
        control.rate(at(5_010)).as_bps() as f64 / before
    };
    assert!(after(false) > 0.99 && after(true) < 0.52);
}
