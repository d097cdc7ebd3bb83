//! Rounds by tier, scores and their decay, and scores of parts.

use super::super::{NetworkParameters, PathSpace};
use super::*;
use hash_by_part::{joined, parts};

/// Base RTT 8 us, timeout 1 ms, 4 us per packet: half a round of four values takes 8 us.
fn prime(tiers: &[usize]) -> Prime {
    let paths = tiers.iter().try_fold(PathSpace::SINGLE, |paths, &n| paths.with_tier(n));
    let network = NetworkParameters { bdp_packets: 2, ..NetworkParameters::default() };
    let qp = QpContext { paths: paths.unwrap(), network, ..QpContext::for_test() };
    Prime::new(&Config::default(), &qp)
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn feed(prime: &mut Prime, us: u64, entropy: u16, signal: PathSignal) {
    let rtt = NetworkParameters::default().base_rtt;
    prime.handle_feedback(at_us(us), Feedback { entropy, signal, packets: 1, marked: 0, rtt });
}

/// Returns the parts of the values of `packets` packets sent at `us`.
fn next(prime: &mut Prime, us: u64, packets: usize) -> Vec<(u16, u16)> {
    (0..packets).map(|_| parts(prime.entropy(at_us(us)))).collect()
}

/// Counts the values for each edge part of a tier of four.
fn by_edge(values: &[(u16, u16)]) -> [usize; 4] {
    [0, 1, 2, 3].map(|edge| values.iter().filter(|value| value.0 == edge).count())
}

#[test]
fn the_edge_changes_with_each_packet_and_the_tier_above_with_each_round() {
    let mut prime = prime(&[4, 3]);
    for _ in 0..5 {
        let mut all = next(&mut prime, 1, 12);
        for round in all.chunks(4) {
            assert_eq!(by_edge(round), [1; 4]);
            assert!(round.iter().all(|value| value.1 == round[0].1), "{round:?}");
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 12, "each path once");
    }
}

#[test]
fn a_marked_value_is_skipped_for_half_a_round() {
    let mut prime = prime(&[4]);
    feed(&mut prime, 1, joined(2, 0), PathSignal::Marked);
    assert_eq!(by_edge(&next(&mut prime, 1, 12)), [4, 4, 0, 4]);
    assert_eq!(by_edge(&next(&mut prime, 9, 12)), [4, 4, 0, 4], "1/2 is the threshold");
    assert_eq!(by_edge(&next(&mut prime, 10, 12)), [3, 3, 3, 3]);
}

#[test]
fn a_loss_scores_4_and_halves_every_32_us() {
    let mut prime = prime(&[4]);
    feed(&mut prime, 0, joined(1, 0), PathSignal::Trimmed);
    // From 4 to 1/2 takes three halvings of 32 us.
    assert_eq!(by_edge(&next(&mut prime, 95, 3))[1], 0);
    assert_eq!(by_edge(&next(&mut prime, 97, 4)), [1; 4]);
}

#[test]
fn a_mark_added_to_a_loss_decays_as_the_loss_does() {
    let (loss, mark) = (prime(&[4]).0.loss, prime(&[4]).0.ecn);
    let mut score = Score::default();
    score.add(at_us(0), loss);
    score.add(at_us(32), mark);
    assert_eq!((score.now(at_us(32)), score.now(at_us(64))), (3.0, 1.5));
    score.add(at_us(32 + 64), Signal { severity: 0.75, ..mark });
    assert_eq!(score.now(at_us(96 + 8)), 0.75, "the heavier signal sets the half-life");
    assert_eq!(score.falls_to(0.375), at_us(96 + 16));
}

#[test]
fn a_timeout_score_halves_every_ten_timeouts() {
    let mut prime = prime(&[4]);
    assert_eq!(prime.handle_timeout(at_us(0), joined(3, 0)), None);
    // log2(15 / 0.5) = 4.9 halvings of 10 ms.
    assert_eq!(by_edge(&next(&mut prime, 49_000, 12)), [4, 4, 4, 0]);
    assert_eq!(by_edge(&next(&mut prime, 49_100, 12)), [3, 3, 3, 3]);
}

#[test]
fn a_part_is_scored_once_half_of_its_paths_are_bad() {
    let mut prime = prime(&[4, 4]);
    feed(&mut prime, 1, joined(2, 0), PathSignal::Trimmed);
    assert_eq!(by_edge(&next(&mut prime, 1, 15)), [4, 4, 3, 4], "one path of sixteen");
    feed(&mut prime, 1, joined(2, 3), PathSignal::Trimmed);
    assert_eq!(by_edge(&next(&mut prime, 1, 12)), [4, 4, 0, 4], "the edge's choice");
    let unscored = prime.0.above.scores.iter().all(|score| score.value == 0.0);
    assert!(unscored, "no part above has half of its paths scored");
}

#[test]
fn if_every_value_is_bad_the_next_one_is_taken() {
    let mut prime = prime(&[4]);
    (0..4).for_each(|edge| feed(&mut prime, 1, joined(edge, 0), PathSignal::Nack));
    assert_eq!(by_edge(&next(&mut prime, 1, 40)).iter().sum::<usize>(), 40);
}

#[test]
fn a_packet_trimmed_at_the_last_hop_scores_no_path() {
    let mut prime = prime(&[4]);
    feed(&mut prime, 1, joined(0, 0), PathSignal::TrimmedAtLastHop);
    let late = |us, entropy, prime: &mut Prime| {
        let feedback = Feedback {
            entropy,
            signal: PathSignal::Good,
            packets: 1,
            marked: 0,
            rtt: Span::from_us(17),
        };
        prime.handle_feedback(at_us(us), feedback);
    };
    late(8, joined(1, 0), &mut prime);
    assert_eq!(by_edge(&next(&mut prime, 8, 8)), [2; 4]);
    late(9, joined(1, 0), &mut prime);
    assert_eq!(by_edge(&next(&mut prime, 9, 9)), [3, 0, 3, 3], "8 us later it is a signal");
}

#[test]
fn with_unknown_paths_there_are_256_values() {
    let qp = QpContext { paths: PathSpace::UNKNOWN, ..QpContext::for_test() };
    let mut prime = Prime::new(&Config::default(), &qp);
    let mut all = next(&mut prime, 1, 256);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 256);
    assert_eq!(prime.state_bits(), 22 * (256 + 32) + 16);
}

#[test]
fn only_values_with_a_choice_have_scores() {
    assert_eq!(prime(&[4, 3]).state_bits(), 22 * (12 + 4 + 3) + 2 * 2 + 2 * 2);
    assert_eq!(prime(&[4]).state_bits(), 22 * 4 + 2 * 2, "with one part, the part is the value");
    assert_eq!(prime(&[1, 3]).state_bits(), 22 * 3 + 2 * 2, "as above a tier without a choice");
    let mut within_the_rack = prime(&[]);
    feed(&mut within_the_rack, 1, 0, PathSignal::Trimmed);
    assert_eq!(next(&mut within_the_rack, 1, 3), [(0, 0); 3]);
    assert_eq!(within_the_rack.state_bits(), 0);
}

#[test]
fn half_lives_and_fractions_of_them_follow_the_power_of_two() {
    assert_eq!([0.0, 1.0, 2.0, 20.0].map(halved), [1.0, 0.5, 0.25, 1.0 / 1_048_576.0]);
    for n in 0..2_000u16 {
        let lives = f32::from(n) / 64.0;
        let exact = (-f64::from(lives)).exp2();
        assert!((f64::from(halved(lives)) / exact - 1.0).abs() < 1e-7, "{lives}");
    }
    assert_eq!([126.0, 1e30, f32::INFINITY].map(halved), [0.0; 3]);
}

#[test]
fn a_threshold_of_zero_is_rejected() {
    let parameters = "threshold = \"0\"".parse().unwrap();
    let error = crate::balance::build_scheme("prime", &parameters).unwrap_err().to_string();
    assert!(error.contains("'threshold' must be above 0"), "{error}");
}

#[test]
fn a_round_trip_time_is_long_above_twice_the_base() {
    let long = |ps| {
        let mut prime = prime(&[4]);
        let (entropy, signal, rtt) = (joined(1, 0), PathSignal::Good, Span::from_ps(ps));
        let feedback = Feedback { entropy, signal, packets: 1, marked: 0, rtt };
        prime.handle_feedback(at_us(1), feedback);
        by_edge(&next(&mut prime, 1, 12))[1] == 0
    };
    assert!(!long(16_000_000) && long(16_000_001));
}

#[test]
fn a_part_above_the_edge_is_scored_with_the_third_of_its_six_paths() {
    let mut prime = prime(&[6, 4]);
    let of_part = |prime: &mut Prime| {
        let values = next(prime, 1, 72);
        [0, 1, 2, 3].map(|above| values.iter().filter(|value| value.1 == above).count())
    };
    (0..2).for_each(|edge| feed(&mut prime, 1, joined(edge, 2), PathSignal::Trimmed));
    assert!(of_part(&mut prime)[2] > 0, "four of its paths are good");
    feed(&mut prime, 1, joined(2, 2), PathSignal::Trimmed);
    assert_eq!(of_part(&mut prime)[2], 0);
    assert!(prime.0.edge.scores.iter().all(|score| score.value == 0.0));
}

#[test]
fn an_echo_with_a_part_out_of_range_scores_nothing() {
    let mut prime = prime(&[4, 3]);
    feed(&mut prime, 1, joined(4, 0), PathSignal::Trimmed);
    feed(&mut prime, 1, joined(0, 3), PathSignal::Trimmed);
    let mut all = next(&mut prime, 1, 12);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 12, "each path once");
}

#[test]
fn the_part_above_stays_for_a_round_of_three_choices_at_the_edge() {
    let mut prime = prime(&[3, 4]);
    for _ in 0..8 {
        let mut all = next(&mut prime, 1, 12);
        for round in all.chunks(3) {
            assert!(round.iter().all(|value| value.1 == round[0].1), "{round:?}");
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 12, "each path once");
    }
}

/// A mark on one of two paths scores both of its parts by 2; after 16 us each is 1/2.
#[test]
fn a_value_is_skipped_while_three_scores_add_up_to_the_threshold() {
    let mark = |ps| {
        let paths = [2, 2].iter().try_fold(PathSpace::SINGLE, |paths, &n| paths.with_tier(n));
        let network = NetworkParameters { bdp_packets: 2, ..NetworkParameters::default() };
        let qp = QpContext { paths: paths.unwrap(), network, ..QpContext::for_test() };
        let fraction = |a, b| Fraction::new(a, b).unwrap();
        let (ecn_severity, threshold) = (fraction(2, 1), fraction(3, 2));
        let mut prime = Prime::new(&Config { ecn_severity, threshold, ..Config::default() }, &qp);
        feed(&mut prime, 0, joined(0, 0), PathSignal::Marked);
        (0..8).any(|_| prime.entropy(Time::from_ps(ps)) == 0)
    };
    assert!(!mark(16_000_000) && mark(16_000_001));
}

#[test]
fn queue_pairs_begin_in_any_plane() {
    let paths = PathSpace::SINGLE.with_tier(4).and_then(|paths| paths.with_tier(2)).unwrap();
    let network = NetworkParameters { planes: 4, ..NetworkParameters::default() };
    let of = |qp_index| QpContext { qp_index, paths, network, ..QpContext::for_test() };
    let mut first = [0; 4];
    for qp in (0..400).map(of) {
        let entropy = Prime::new(&Config::default(), &qp).entropy(Time::ZERO);
        first[usize::from(entropy % 4)] += 1;
    }
    assert!(first.iter().all(|&count| count > 60), "{first:?}");
}
