//! Order of the buffer, freezing and exploration.

use super::super::NetworkParameters;
use super::*;

const MS: Span = Span::from_ms(1);

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn reps(config: Config, trimming: Trimming) -> Reps {
    let network = NetworkParameters { trimming, bdp_packets: 5, ..NetworkParameters::default() };
    Reps::new(&config, &QpContext { network, ..QpContext::for_test() })
}

/// Base RTT 8 us, timeout 1 ms; there is one entropy value to draw, 0.
fn recycling() -> Reps {
    let entropies = EntropySpace::try_from(1).unwrap();
    reps(Config { entropies, ..Config::default() }, Trimming::On)
}

fn feed(reps: &mut Reps, now: Time, signal: PathSignal, entropy: u16) {
    let rtt = NetworkParameters::default().base_rtt;
    reps.handle_feedback(now, Feedback { entropy, signal, packets: 1, marked: 0, rtt });
}

fn good(reps: &mut Reps, values: std::ops::Range<u16>) {
    values.for_each(|value| feed(reps, at_us(1), PathSignal::Good, value));
}

fn next(reps: &mut Reps, packets: usize) -> Vec<u16> {
    (0..packets).map(|_| reps.entropy(at_us(1))).collect()
}

#[test]
fn each_good_acknowledgement_permits_one_reuse_oldest_first() {
    let mut reps = recycling();
    assert_eq!(next(&mut reps, 2), [0, 0], "the buffer is empty: random");
    good(&mut reps, 11..14);
    assert_eq!(next(&mut reps, 2), [11, 12]);
    good(&mut reps, 14..15);
    assert_eq!(next(&mut reps, 4), [13, 14, 0, 0]);
}

#[test]
fn the_ninth_value_overwrites_the_oldest_and_the_ring_wraps() {
    let mut reps = recycling();
    good(&mut reps, 1..11);
    assert_eq!(next(&mut reps, 9), [3, 4, 5, 6, 7, 8, 9, 10, 0]);
    for round in 0..20 {
        good(&mut reps, round..round + 3);
        assert_eq!(next(&mut reps, 4), [round, round + 1, round + 2, 0]);
    }
}

#[test]
fn marked_trimmed_or_lost_values_are_not_reused() {
    let mut reps = recycling();
    for signal in
        [PathSignal::Marked, PathSignal::Nack, PathSignal::Trimmed, PathSignal::TrimmedAtLastHop]
    {
        feed(&mut reps, at_us(1), signal, 9);
    }
    assert_eq!(next(&mut reps, 1), [0]);
    reps.0.config.last_hop_trims = LastHopTrims::Recycle;
    feed(&mut reps, at_us(1), PathSignal::TrimmedAtLastHop, 9);
    assert_eq!(next(&mut reps, 2), [9, 0]);
}

#[test]
fn while_frozen_the_buffer_repeats_whether_used_or_not() {
    let mut reps = recycling();
    good(&mut reps, 1..4);
    assert_eq!(next(&mut reps, 2), [1, 2]);
    assert_eq!(reps.handle_timeout(at_us(5), 7), None);
    assert_eq!(next(&mut reps, 7), [1, 2, 3, 1, 2, 3, 1]);
    good(&mut reps, 4..5);
    assert_eq!(next(&mut reps, 5), [2, 3, 4, 1, 2], "good values are stored meanwhile");
}

#[test]
fn while_frozen_with_an_empty_buffer_values_are_random() {
    let mut reps = reps(Config::default(), Trimming::On);
    reps.handle_timeout(at_us(5), 7);
    let values = next(&mut reps, 20);
    assert!(values.iter().any(|value| value != &values[0]), "{values:?}");
}

#[test]
fn the_first_feedback_after_freezing_clears_the_buffer_and_explores_a_bdp() {
    let mut reps = recycling();
    good(&mut reps, 1..4);
    reps.handle_timeout(at_us(5), 7);
    let end = at_us(5) + MS * 10;
    feed(&mut reps, end, PathSignal::Marked, 1);
    assert_eq!(next(&mut reps, 1), [1], "still frozen at the end itself");
    feed(&mut reps, end + Span::from_ps(1), PathSignal::Good, 21);
    assert_eq!(next(&mut reps, 7), [0, 0, 0, 0, 0, 21, 0], "five packets explore");
}

#[test]
fn a_timeout_while_frozen_or_exploring_does_not_freeze() {
    let mut reps = recycling();
    reps.handle_timeout(at_us(5), 7);
    reps.handle_timeout(at_us(6), 7);
    let end = at_us(5) + MS * 10;
    assert_eq!(reps.0.mode, Mode::Frozen(end), "the first timeout counts");
    feed(&mut reps, end + Span::from_ps(1), PathSignal::Marked, 7);
    reps.handle_timeout(end + MS, 7);
    assert_eq!(reps.0.mode, Mode::Recycling);
    next(&mut reps, 5);
    reps.handle_timeout(end + MS, 7);
    assert_ne!(reps.0.mode, Mode::Recycling);
}

#[test]
fn without_trimming_long_round_trip_times_are_taken_for_congestion() {
    let slow = |rtt_ns, freezes| {
        let mut reps = reps(Config::default(), Trimming::Off);
        let rtt = Span::from_ns(rtt_ns);
        let feedback =
            Feedback { entropy: 1, signal: PathSignal::Good, packets: 1, marked: 0, rtt };
        reps.handle_feedback(at_us(1), feedback);
        feed(&mut reps, at_us(2), PathSignal::Good, 2);
        reps.handle_timeout(at_us(900), 3);
        assert_eq!(reps.0.mode != Mode::Recycling, freezes, "{rtt_ns} ns");
        // The highest round-trip time expires after two timeouts.
        feed(&mut reps, at_us(2_002), PathSignal::Good, 2);
        reps.handle_timeout(at_us(2_003), 3);
        assert_ne!(reps.0.mode, Mode::Recycling);
    };
    slow(13_199, true);
    slow(13_200, false);
}

#[test]
fn a_value_may_be_reused_n_times() {
    let config = Config { reuse: Reuse(3), ..recycling().0.config };
    let mut reps = reps(config, Trimming::On);
    good(&mut reps, 1..3);
    assert_eq!(next(&mut reps, 8), [1, 1, 1, 2, 2, 2, 0, 0]);
    assert_eq!(reps.state_bits(), 193 + 8 * 2);
}

#[test]
fn it_keeps_193_bits() {
    assert_eq!(recycling().state_bits(), 193);
}

#[test]
fn no_reuse_and_a_buffer_without_entries_are_rejected() {
    for (text, valid) in [("reuse = 0", "1 to 255"), ("buffer = 0", "expected 1 to ")] {
        let error = crate::balance::build_scheme("reps", &text.parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains(valid), "{text}: {error}");
    }
}

#[test]
fn the_round_trip_of_a_report_of_missing_packets_does_not_count() {
    let mut reps = reps(Config::default(), Trimming::Off);
    let (signal, rtt) = (PathSignal::Nack, Span::from_us(50));
    reps.handle_feedback(at_us(1), Feedback { entropy: 1, signal, packets: 0, marked: 0, rtt });
    reps.handle_timeout(at_us(2), 1);
    assert_ne!(reps.0.mode, Mode::Recycling, "a failure, since no round trip was long");
}

#[test]
fn a_long_round_trip_time_counts_for_exactly_two_timeouts() {
    let freezes = |after_ps| {
        let mut reps = reps(Config::default(), Trimming::Off);
        let (entropy, signal, rtt) = (1, PathSignal::Good, Span::from_us(50));
        reps.handle_feedback(at_us(1), Feedback { entropy, signal, packets: 1, marked: 0, rtt });
        let now = at_us(1) + Span::from_ps(after_ps);
        feed(&mut reps, now, PathSignal::Good, 2);
        reps.handle_timeout(now, 3);
        reps.0.mode != Mode::Recycling
    };
    assert!(!freezes(2_000_000_000) && freezes(2_000_000_001));
}
