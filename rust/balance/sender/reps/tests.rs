//! The buffer's orders, freezing and exploring.

use super::super::Facts;
use super::*;

const MS: Span = Span::from_ms(1);

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn reps(config: Config, trimming: Trimming) -> Reps {
    let facts = Facts { trimming, bdp_packets: 5, ..Facts::default() };
    Reps::new(&config, &QpContext { facts, ..QpContext::for_test() })
}

/// Base RTT 8 us, time-out 1 ms; random values are 0.
fn recycling() -> Reps {
    let entropies = EntropySpace::try_from(1).unwrap();
    reps(Config { entropies, ..Config::default() }, Trimming::On)
}

fn tell(reps: &mut Reps, now: Time, verdict: Verdict, entropy: u16) {
    let rtt = Facts::default().base_rtt;
    reps.handle_feedback(now, Feedback { entropy, verdict, packets: 1, marked: 0, rtt });
}

fn good(reps: &mut Reps, values: std::ops::Range<u16>) {
    values.for_each(|value| tell(reps, at_us(1), Verdict::Good, value));
}

fn next(reps: &mut Reps, packets: usize) -> Vec<u16> {
    (0..packets).map(|_| reps.entropy(at_us(1))).collect()
}

#[test]
fn each_good_acknowledgement_pays_for_one_use_oldest_first() {
    let mut reps = recycling();
    assert_eq!(next(&mut reps, 2), [0, 0], "nothing is known: random");
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
fn what_was_marked_trimmed_or_lost_is_not_used_again() {
    let mut reps = recycling();
    for verdict in [Verdict::Marked, Verdict::Nack, Verdict::Trimmed, Verdict::TrimmedAtLastHop] {
        tell(&mut reps, at_us(1), verdict, 9);
    }
    assert_eq!(next(&mut reps, 1), [0]);
    reps.0.config.last_hop_trims = LastHopTrims::Recycle;
    tell(&mut reps, at_us(1), Verdict::TrimmedAtLastHop, 9);
    assert_eq!(next(&mut reps, 2), [9, 0]);
}

#[test]
fn frozen_it_cycles_through_what_it_has_used_or_not() {
    let mut reps = recycling();
    good(&mut reps, 1..4);
    assert_eq!(next(&mut reps, 2), [1, 2]);
    assert_eq!(reps.handle_timeout(at_us(5), 7), None);
    assert_eq!(next(&mut reps, 7), [1, 2, 3, 1, 2, 3, 1]);
    good(&mut reps, 4..5);
    assert_eq!(next(&mut reps, 5), [2, 3, 4, 1, 2], "good values are stored meanwhile");
}

#[test]
fn frozen_with_an_empty_buffer_it_is_random() {
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
    tell(&mut reps, end, Verdict::Marked, 1);
    assert_eq!(next(&mut reps, 1), [1], "not over at the end itself");
    tell(&mut reps, end + Span::from_ps(1), Verdict::Good, 21);
    assert_eq!(next(&mut reps, 7), [0, 0, 0, 0, 0, 21, 0], "five packets explore");
}

#[test]
fn while_it_explores_or_is_frozen_no_time_out_freezes() {
    let mut reps = recycling();
    reps.handle_timeout(at_us(5), 7);
    reps.handle_timeout(at_us(6), 7);
    let end = at_us(5) + MS * 10;
    assert_eq!(reps.0.mode, Mode::Frozen(end), "from the first");
    tell(&mut reps, end + Span::from_ps(1), Verdict::Marked, 7);
    reps.handle_timeout(end + MS, 7);
    assert_eq!(reps.0.mode, Mode::Recycling);
    next(&mut reps, 5);
    reps.handle_timeout(end + MS, 7);
    assert_ne!(reps.0.mode, Mode::Recycling);
}

#[test]
fn without_trimming_long_round_trips_say_congestion() {
    let slow = |rtt_ns, freezes| {
        let mut reps = reps(Config::default(), Trimming::Off);
        let rtt = Span::from_ns(rtt_ns);
        let feedback = Feedback { entropy: 1, verdict: Verdict::Good, packets: 1, marked: 0, rtt };
        reps.handle_feedback(at_us(1), feedback);
        tell(&mut reps, at_us(2), Verdict::Good, 2);
        reps.handle_timeout(at_us(900), 3);
        assert_eq!(reps.0.mode != Mode::Recycling, freezes, "{rtt_ns} ns");
        // Two time-outs later it is forgotten.
        tell(&mut reps, at_us(2_002), Verdict::Good, 2);
        reps.handle_timeout(at_us(2_003), 3);
        assert_ne!(reps.0.mode, Mode::Recycling);
    };
    slow(13_199, true);
    slow(13_200, false);
}

#[test]
fn a_value_may_be_used_n_times() {
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
