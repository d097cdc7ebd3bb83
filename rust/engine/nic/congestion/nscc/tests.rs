//! Scenarios for NSCC on a path of 100 Gbps and 12 us, where a = 1 and, without trimming, b = 1.

mod penalties;

use super::*;
use crate::units::{BitRate, Bytes};

const PACKET: u64 = 1_000;
const PATH: PathFacts = PathFacts {
    line_rate: BitRate::from_gbps(100),
    base_rtt: Span::from_us(12),
    has_equal_paths: true,
    packet: Bytes::new(PACKET),
    ..PathFacts::FOR_TEST
};

/// A control whose first window is `packets`, on a path with a BDP of 150 packets.
fn control(packets: u32) -> Nscc {
    let start_window = Fraction::new(packets, 150).expect("not zero");
    Nscc::new(&Config { start_window, ..Config::default() }, &PATH)
}

impl Nscc {
    /// Bytes that it counts as in flight, for tests of the NIC.
    pub(in crate::nic) fn in_flight(&self) -> u64 {
        self.state.in_flight
    }
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn acked(control: &mut Nscc, now: Time, delay: Span, marked: Marked) -> f64 {
    let rtt = PATH.base_rtt + delay;
    let marked = u32::from(marked == Marked::Yes);
    let sample = AckSample { rtt, in_flight: 77_000, ..AckSample::for_test(0, 0, marked) };
    control.handle_ack(now, sample);
    control.window
}

const fn us(us: u64) -> Span {
    Span::from_us(us)
}

#[test]
fn the_first_window_is_one_and_a_half_bdp_on_any_path() {
    for (gbps, rtt_us) in [(25, 6), (100, 12), (400, 9)] {
        let path = PathFacts {
            line_rate: BitRate::from_gbps(gbps),
            base_rtt: Span::from_us(rtt_us),
            has_equal_paths: true,
            ..PATH
        };
        let control = Nscc::new(&Config::default(), &path);
        assert_eq!(control.window(), gbps * rtt_us * 125 * 3 / 2);
        let scale = (gbps * rtt_us) as f64 / 1_200.0;
        assert!((control.state.law.fair - 5_000.0 * scale).abs() < 1e-6, "5 · MTU · a");
        assert!((control.state.law.eta - 150.0 * scale).abs() < 1e-6, "0.15 · MTU · a");
        // α = 4 · a · b · MTU / target.
        let target = control.state.law.target;
        let b = target / 12e6;
        let alpha = 4.0 * scale * b * 1_000.0 / target;
        assert!((control.state.law.proportional / alpha - 1.0).abs() < 1e-12);
    }
    let trimming = Nscc::new(&Config::trimming(), &PATH);
    assert!((trimming.state.law.target - 9e6).abs() < 1e-6, "3/4 of 12 us");
}

/// The window after a window of acknowledgements at the same time, including the adjustment.
fn after_a_window(delay: Span) -> f64 {
    let mut control = control(100);
    // An adjustment with every ninth packet. Time does not advance, so there is no eta.
    for _ in 0..99 {
        acked(&mut control, at(5), delay, Marked::No);
    }
    control.window
}

#[test]
fn beyond_the_target_unmarked_windows_add_five_packets_per_round_trip() {
    let window = after_a_window(us(12));
    // 99 of 100 packets of one window, which grows meanwhile.
    assert!((104_700.0..105_000.0).contains(&window), "{window}");
}

#[test]
fn below_the_target_windows_add_up_to_four_packets_per_round_trip() {
    for (delay, packets) in [(us(3), 3.0), (us(6), 2.0), (us(9), 1.0)] {
        let grown = (after_a_window(delay) - 100_000.0) / 1_000.0;
        assert!((grown / packets - 1.0).abs() < 0.04, "{delay}: {grown}");
    }
}

#[test]
fn without_a_queue_a_quarter_of_each_byte_is_added_after_one_window() {
    let mut control = control(100);
    // The window grows by four packets meanwhile.
    for _ in 0..106 {
        acked(&mut control, at(5), Span::ZERO, Marked::No);
    }
    let before = control.window;
    for _ in 0..4 {
        acked(&mut control, at(5), Span::ZERO, Marked::No);
    }
    // The adjustment also applies earlier pending increases.
    assert!((1_000.0..1_500.0).contains(&(control.window - before)), "{}", control.window - before);
}

#[test]
fn an_adjustment_period_adds_eta_once() {
    let mut control = control(100);
    acked(&mut control, at(5), us(6), Marked::Yes);
    assert!((acked(&mut control, at(13), us(6), Marked::Yes) - 100_150.0).abs() < 1e-9);
    assert!((acked(&mut control, at(14), us(6), Marked::Yes) - 100_150.0).abs() < 1e-9);
    assert!((acked(&mut control, at(26), us(6), Marked::Yes) - 100_300.0).abs() < 1e-9);
    // A period of half a round trip.
    let adjust_period = Fraction::new(1, 2).unwrap();
    let mut control = Nscc::new(&Config { adjust_period, ..Config::default() }, &PATH);
    control.window = 100_000.0;
    let after = [5, 7, 12, 14].map(|now| acked(&mut control, at(now), us(6), Marked::Yes));
    let added = after.map(|window| ((window - 100_000.0) / 150.0).round());
    assert_eq!(added, [0.0, 1.0, 1.0, 2.0]);
}

#[test]
fn marks_beyond_the_target_cut_by_the_average_delay_once_per_round_trip() {
    let mut control = control(100);
    // The average approaches 24 us as 1 − (79/80)^n and passes the target of 12 us at n = 56.
    let mut cuts = Vec::new();
    let mut last = control.window;
    for n in 1..=80u64 {
        let window = acked(&mut control, Time::from_ps(n), us(24), Marked::Yes);
        assert!((window - last).abs() < 1e-9, "nothing before the first round trip is over");
    }
    for n in 1..=40u64 {
        let average = 24.0 * (1.0 - (79.0f64 / 80.0).powi(80 + n as i32));
        let window = acked(&mut control, at(12) + Span::from_us(n), us(24), Marked::Yes);
        if window < last {
            let cut = 0.8 * (average - 12.0) / average;
            let expected = last * (1.0 - cut);
            // Eta may be added with it.
            assert!((window - expected).abs() < 151.0, "{n}: {window} {expected}");
            cuts.push(n);
        }
        last = window;
    }
    assert_eq!(cuts, [1, 14, 27, 40], "more than 12 us apart");
}

#[test]
fn marks_below_the_target_change_nothing() {
    let mut control = control(100);
    for _ in 0..500 {
        assert!((acked(&mut control, at(5), us(11), Marked::Yes) - 100_000.0).abs() < 1e-9);
    }
}

#[test]
fn quick_adapt_sets_the_window_to_the_bytes_delivered() {
    let mut control = control(150);
    acked(&mut control, at(0), us(49), Marked::Yes);
    for n in 1..=9 {
        acked(&mut control, at(n), us(49), Marked::Yes);
    }
    // The period is 12 + 12 us. Ten packets arrived in it, fewer than an eighth of 225.
    assert!((acked(&mut control, at(25), us(49), Marked::Yes) - 10_000.0).abs() < 1e-9);
    // The 77,000 B in flight are ignored: marks change nothing until they are acknowledged.
    for n in 1..77 {
        let window = acked(&mut control, at(25 + n), us(49), Marked::Yes);
        assert!((window - 10_000.0).abs() < 1e-9, "{n}: {window}");
    }
    assert!(
        acked(&mut control, at(102), us(49), Marked::Yes) < 10_000.0,
        "its packets are acknowledged"
    );
}

#[test]
fn a_nack_takes_off_a_packet_or_triggers_quick_adapt() {
    let mut control = control(100);
    acked(&mut control, at(0), us(6), Marked::Yes);
    control.handle_loss(at(1), Loss::Trimmed);
    assert_eq!(control.window(), 99_000);
    for _ in 0..5 {
        acked(&mut control, at(2), us(6), Marked::Yes);
    }
    control.handle_loss(at(25), Loss::Trimmed);
    assert_eq!(control.window(), 5_000, "five packets in the period");
    control.handle_loss(at(26), Loss::Timeout);
    control.handle_loss(at(27), Loss::Timeout);
    assert_eq!(control.window(), 3_000);
    for _ in 0..10 {
        control.handle_loss(at(28), Loss::Timeout);
    }
    assert_eq!(control.window(), PACKET);
}

#[test]
fn each_hole_takes_off_a_packet_without_quick_adapt() {
    let mut control = control(100);
    acked(&mut control, at(0), us(6), Marked::Yes);
    let average = control.state.average_delay;
    control.handle_loss(at(1), Loss::Nack);
    control.handle_later_loss(at(1));
    control.handle_later_loss(at(1));
    assert_eq!(control.window(), 97_000, "three packets are lost");
    // The period of quick adapt ends, and hardly anything arrived in it: a trim would cut the
    // window to that.
    control.handle_loss(at(25), Loss::Nack);
    assert_eq!(control.window(), 96_000);
    assert!(!control.state.quick_adapt_requested && control.state.average_delay == average);
}

/// The window after a trimmed packet, and after a lost one, if hardly anything arrived.
fn after_losses(config: Config) -> [f64; 2] {
    let start = Fraction::ONE;
    let mut control = Nscc::new(&Config { start_window: start, ..config }, &PATH);
    acked(&mut control, at(0), us(6), Marked::Yes);
    let window = control.window;
    [Loss::Trimmed, Loss::Nack].map(|loss| {
        let before = control.window;
        control.handle_loss(at(25), loss);
        assert!(before <= window);
        before - control.window
    })
}

#[test]
fn the_cuts_by_trims_and_losses_are_configurable() {
    let (zero, three) = (Fraction::new(0, 1).unwrap(), Fraction::new(3, 1).unwrap());
    let calls = Config::default();
    assert_eq!(after_losses(calls), [149_000.0, 0.0], "one packet got through, and is the window");
    let takes = Config { trims_call: false, ..calls };
    assert_eq!(after_losses(takes), [1_000.0, 1_000.0]);
    assert_eq!(after_losses(Config { trim_cut: zero, loss_cut: three, ..takes }), [0.0, 3_000.0]);
    assert_eq!(after_losses(Config { trim_cut: three, loss_cut: zero, ..takes }), [3_000.0, 0.0]);
}

#[test]
fn a_shorter_round_trip_becomes_the_base() {
    let mut control = control(150);
    let sample = AckSample { rtt: Span::from_us(6), ..AckSample::for_test(0, 0, 1) };
    control.handle_ack(at(6), sample);
    assert_eq!(control.window(), 112_500, "1.5 times 100 Gbps · 6 us");
}

#[test]
fn a_delay_equal_to_the_fast_delay_counts_as_a_queue() {
    let mut control = control(100);
    acked(&mut control, at(5), Span::from_ns(999), Marked::No);
    assert_eq!(control.state.without_queue, PACKET);
    acked(&mut control, at(5), us(1), Marked::No);
    assert_eq!(control.state.without_queue, 0);
}

#[test]
fn a_trim_triggers_quick_adapt_at_the_end_of_its_period() {
    let mut control = control(100);
    // The period is a base round trip plus a target: it ends at 24 us.
    acked(&mut control, at(0), us(6), Marked::Yes);
    [at(1), at(2)].into_iter().for_each(|now| control.handle_loss(now, Loss::Trimmed));
    acked(&mut control, at(2), us(6), Marked::Yes);
    assert_eq!(control.window, 98_000.0);
    assert_eq!(acked(&mut control, at(25), us(6), Marked::Yes), 2_000.0, "two got through in it");
}

#[test]
fn quick_adapt_needs_deliveries_below_its_gate() {
    let fraction = |above, below| Fraction::new(above, below).expect("not zero");
    // A quarter of two bandwidth-delay products is 75 packets.
    let config = Config {
        start_window: fraction(2, 3),
        max_window: fraction(2, 1),
        quick_adapt_gate: fraction(1, 4),
        ..Config::default()
    };
    for (packets, window) in [(74, 74_000.0), (75, 100_150.0)] {
        let mut control = Nscc::new(&config, &PATH);
        acked(&mut control, at(0), us(6), Marked::Yes);
        for _ in 1..packets {
            acked(&mut control, at(1), us(6), Marked::Yes);
        }
        let left = acked(&mut control, at(25), us(49), Marked::Yes);
        assert!((left - window).abs() < 1e-9, "{packets} packets: {left}");
    }
}

#[test]
fn quick_adapt_waits_for_its_period_and_its_delay() {
    // A period of 24 us, and a delay of four targets of 12 us.
    for (us_now, delay, adapts) in [(24, 49, false), (25, 48, false), (25, 49, true)] {
        let mut control = control(100);
        acked(&mut control, at(0), us(6), Marked::Yes);
        let window = acked(&mut control, at(us_now), us(delay), Marked::Yes);
        assert_eq!(window == 1_000.0, adapts, "{us_now} us, {delay} us: {window}");
    }
}

#[test]
fn increases_take_effect_with_the_ninth_packet_or_after_the_period() {
    let mut control = control(100);
    for packet in 1..=9 {
        let window = acked(&mut control, at(5), us(12), Marked::No);
        assert_eq!(window > 100_000.0, packet == 9, "{packet}: {window}");
    }
    let before = control.window;
    assert!(acked(&mut control, at(25), us(12), Marked::No) > before, "a period later");
}

#[test]
fn fast_increase_starts_after_more_than_a_window_without_a_queue() {
    let zero = Fraction::new(0, 1).unwrap();
    let start_window = Fraction::new(100, 150).unwrap();
    let config = Config { proportional_increase: zero, start_window, ..Config::default() };
    let mut control = Nscc::new(&config, &PATH);
    for _ in 0..100 {
        acked(&mut control, at(5), Span::ZERO, Marked::No);
    }
    assert_eq!((control.window, control.state.fast), (100_000.0, false));
    assert_eq!(acked(&mut control, at(5), Span::ZERO, Marked::No), 100_250.0);
}

#[test]
fn an_unmarked_delay_beyond_the_target_counts_as_a_quarter_of_the_round_trip() {
    for (delay, marked, average) in [
        (us(6), Marked::No, us(6)),
        (us(12), Marked::No, us(12)),
        (us(20), Marked::No, us(3)),
        (us(20), Marked::Yes, us(20)),
    ] {
        let mut control =
            Nscc::new(&Config { delay_gain: Fraction::ONE, ..Config::default() }, &PATH);
        acked(&mut control, at(1), delay, marked);
        assert_eq!(control.state.average_delay, average.as_ps() as f64, "{delay}, {marked:?}");
    }
}

#[test]
fn bytes_in_flight_follow_sent_packets_and_losses() {
    let mut control = control(100);
    (0..5).for_each(|_| control.handle_sent(at(0), 1_000));
    assert_eq!(control.state.in_flight, 5_000);
    control.handle_loss(at(1), Loss::Nack);
    assert_eq!((control.state.in_flight, control.state.ignored), (4_000, 1_000));
    control.handle_loss(at(2), Loss::Timeout);
    assert_eq!((control.state.in_flight, control.state.ignored), (4_000, 1_000));
}

#[test]
fn round_trips_of_nacks_lower_the_base_if_enabled() {
    for (base_rtt_of_nacks, base) in [(true, us(7)), (false, us(12))] {
        let mut control = Nscc::new(&Config { base_rtt_of_nacks, ..Config::default() }, &PATH);
        [us(7), us(9)].into_iter().for_each(|rtt| control.handle_nack_rtt(rtt));
        assert_eq!(control.state.base_rtt, base.as_ps());
    }
}

#[test]
fn the_median_counts_if_most_delays_agree() {
    let with = |packets: u32, delays: [u64; 4]| {
        let start_window = Fraction::new(packets, 150).expect("not zero");
        let mut control = Nscc::new(&Config { start_window, ..Config::median() }, &PATH);
        let window = control.window;
        let delays = delays.map(|delay| control.state.delay(PATH.base_rtt + us(delay), window));
        delays[3] / 1e6
    };
    assert_eq!(with(100, [9, 9, 9, 0]), 9.0, "three of four");
    assert_eq!(with(100, [9, 0, 9, 0]), 4.5, "two of four");
    assert_eq!(with(100, [0, 0, 0, 9]), 0.0, "one of four");
    // Half a window of four packets are two delays, and of two packets the latest alone.
    assert_eq!([with(4, [0, 0, 0, 9]), with(2, [0, 0, 0, 9])], [4.5, 9.0]);
}

#[test]
fn a_median_of_one_delay_is_nscc() {
    let mut plain = control(100);
    let mut median = Nscc::new(&Config { median: 2, ..Config::default() }, &PATH);
    // Half a window of three packets is one delay.
    (plain.window, median.window) = (3_000.0, 3_000.0);
    for step in 0..200u64 {
        let delay = us(step * 7 % 30);
        let now = at(step * 20);
        let marked = if step % 3 == 0 { Marked::Yes } else { Marked::No };
        let (one, other) =
            (acked(&mut plain, now, delay, marked), acked(&mut median, now, delay, marked));
        assert_eq!(one, other, "{step}");
        (plain.window, median.window) = (3_000.0, 3_000.0);
    }
}
