//! Rounds by tier, scores and their decay, parts that are suspected.

use super::super::{Facts, PathSpace};
use super::*;
use hash_by_part::{joined, parts};

/// Base RTT 8 us, time-out 1 ms, 4 us a packet: half a round of four values takes 8 us.
fn prime(tiers: &[usize]) -> Prime {
    let paths = tiers.iter().try_fold(PathSpace::SINGLE, |paths, &n| paths.with_tier(n));
    let facts = Facts { bdp_packets: 2, ..Facts::default() };
    let qp = QpContext { paths: paths.unwrap(), facts, ..QpContext::for_test() };
    Prime::new(&Config::default(), &qp)
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn tell(prime: &mut Prime, us: u64, entropy: u16, verdict: Verdict) {
    let rtt = Facts::default().base_rtt;
    prime.handle_feedback(at_us(us), Feedback { entropy, verdict, packets: 1, marked: 0, rtt });
}

/// Values of a round and more at `us`, each with its parts.
fn next(prime: &mut Prime, us: u64, packets: usize) -> Vec<(u16, u16)> {
    (0..packets).map(|_| parts(prime.entropy(at_us(us)))).collect()
}

/// How often each edge value of a tier of four comes.
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
fn a_mark_is_skipped_for_half_a_round() {
    let mut prime = prime(&[4]);
    tell(&mut prime, 1, joined(2, 0), Verdict::Marked);
    assert_eq!(by_edge(&next(&mut prime, 1, 12)), [4, 4, 0, 4]);
    assert_eq!(by_edge(&next(&mut prime, 9, 12)), [4, 4, 0, 4], "1/2 is the threshold");
    assert_eq!(by_edge(&next(&mut prime, 10, 12)), [3, 3, 3, 3]);
}

#[test]
fn losses_are_four_and_last_32_us_each_halving() {
    let mut prime = prime(&[4]);
    tell(&mut prime, 0, joined(1, 0), Verdict::Trimmed);
    // 4 to 1/2 is three halvings of 32 us.
    assert_eq!(by_edge(&next(&mut prime, 95, 3))[1], 0);
    assert_eq!(by_edge(&next(&mut prime, 97, 4)), [1; 4]);
}

#[test]
fn a_mark_on_top_of_a_loss_decays_as_the_loss_does() {
    let (loss, mark) = (prime(&[4]).0.loss, prime(&[4]).0.ecn);
    let mut score = Score::default();
    score.add(at_us(0), loss);
    score.add(at_us(32), mark);
    assert_eq!((score.now(at_us(32)), score.now(at_us(64))), (3.0, 1.5));
    score.add(at_us(32 + 64), Sign { severity: 0.75, ..mark });
    assert_eq!(score.now(at_us(96 + 8)), 0.75, "the heavier sign says how long");
    assert_eq!(score.falls_to(0.375), at_us(96 + 16));
}

#[test]
fn a_time_out_is_remembered_for_ten_times_as_long() {
    let mut prime = prime(&[4]);
    assert_eq!(prime.handle_timeout(at_us(0), joined(3, 0)), None);
    // log2(15 / 0.5) = 4.9 halvings of 10 ms.
    assert_eq!(by_edge(&next(&mut prime, 49_000, 12)), [4, 4, 4, 0]);
    assert_eq!(by_edge(&next(&mut prime, 49_100, 12)), [3, 3, 3, 3]);
}

#[test]
fn half_the_paths_of_a_part_make_all_of_it_suspect() {
    let mut prime = prime(&[4, 4]);
    tell(&mut prime, 1, joined(2, 0), Verdict::Trimmed);
    assert_eq!(by_edge(&next(&mut prime, 1, 15)), [4, 4, 3, 4], "one path of sixteen");
    tell(&mut prime, 1, joined(2, 3), Verdict::Trimmed);
    assert_eq!(by_edge(&next(&mut prime, 1, 12)), [4, 4, 0, 4], "the edge's choice");
    let column = prime.0.above.scores.iter().all(|score| score.value == 0.0);
    assert!(column, "no part above had half of its paths scored");
}

#[test]
fn when_all_is_scored_it_takes_what_comes() {
    let mut prime = prime(&[4]);
    (0..4).for_each(|edge| tell(&mut prime, 1, joined(edge, 0), Verdict::Nack));
    assert_eq!(by_edge(&next(&mut prime, 1, 40)).iter().sum::<usize>(), 40);
}

#[test]
fn the_last_hop_is_no_paths_fault() {
    let mut prime = prime(&[4]);
    tell(&mut prime, 1, joined(0, 0), Verdict::TrimmedAtLastHop);
    let late = |us, entropy, prime: &mut Prime| {
        let feedback = Feedback {
            entropy,
            verdict: Verdict::Good,
            packets: 1,
            marked: 0,
            rtt: Span::from_us(17),
        };
        prime.handle_feedback(at_us(us), feedback);
    };
    late(8, joined(1, 0), &mut prime);
    assert_eq!(by_edge(&next(&mut prime, 8, 8)), [2; 4]);
    late(9, joined(1, 0), &mut prime);
    assert_eq!(by_edge(&next(&mut prime, 9, 9)), [3, 0, 3, 3], "8 us later it is one");
}

#[test]
fn without_known_paths_it_has_256_values() {
    let qp = QpContext { paths: PathSpace::UNKNOWN, ..QpContext::for_test() };
    let mut prime = Prime::new(&Config::default(), &qp);
    let mut all = next(&mut prime, 1, 256);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 256);
    assert_eq!(prime.state_bits(), 22 * (256 + 32) + 16);
}

#[test]
fn it_keeps_scores_of_what_there_is_a_choice_of() {
    assert_eq!(prime(&[4, 3]).state_bits(), 22 * (12 + 4 + 3) + 2 * 2 + 2 * 2);
    assert_eq!(prime(&[4]).state_bits(), 22 * 4 + 2 * 2, "one part is the value itself");
    let mut within_the_rack = prime(&[]);
    tell(&mut within_the_rack, 1, 0, Verdict::Trimmed);
    assert_eq!(next(&mut within_the_rack, 1, 3), [(0, 0); 3]);
    assert_eq!(within_the_rack.state_bits(), 0);
}

#[test]
fn a_half_life_halves_and_parts_of_it_follow_the_power_of_two() {
    assert_eq!([0.0, 1.0, 2.0, 20.0].map(halved), [1.0, 0.5, 0.25, 1.0 / 1_048_576.0]);
    for n in 0..2_000u16 {
        let lives = f32::from(n) / 64.0;
        let exact = (-f64::from(lives)).exp2();
        assert!((f64::from(halved(lives)) / exact - 1.0).abs() < 1e-7, "{lives}");
    }
    assert_eq!([126.0, 1e30, f32::INFINITY].map(halved), [0.0; 3]);
}

#[test]
fn a_threshold_of_nothing_is_refused() {
    let parameters = "threshold = \"0\"".parse().unwrap();
    let error = crate::balance::preset("prime", &parameters).unwrap_err().to_string();
    assert!(error.contains("'threshold' must be more than 0"), "{error}");
}
