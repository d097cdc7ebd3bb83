use super::super::{NetworkParameters, PathSpace};
use super::*;
use crate::rng::Stream;
use crate::units::Span;

fn policy(paths: usize, units: u32, qp_index: u32) -> WhackAMole {
    let paths = PathSpace::SINGLE.with_tier(paths).unwrap();
    let config = Config { units, ..Config::default() };
    WhackAMole::new(&config, &QpContext { qp_index, paths, ..QpContext::for_test() })
}

fn sent(policy: &mut WhackAMole, count: usize) -> Vec<u16> {
    (0..count).map(|_| policy.entropy(Time::ZERO)).collect()
}

fn feed(policy: &mut WhackAMole, entropy: u16, signal: PathSignal) {
    let rtt = Span::from_us(8);
    policy.handle_feedback(Time::ZERO, Feedback { entropy, signal, packets: 1, marked: 0, rtt });
}

fn units(policy: &WhackAMole) -> Vec<u32> {
    (0..policy.planes[0].ends.len()).map(|path| policy.planes[0].of(path)).collect()
}

/// The most by which the packets of a path in any run of packets differ from its share.
fn deviation(policy: &mut WhackAMole) -> f64 {
    let (units, total) = (units(policy), policy.planes[0].total());
    let order = sent(policy, 2 * total as usize);
    let of_path = |path: usize| {
        let share = f64::from(units[path]) / f64::from(total);
        let (mut off, mut least, mut most) = (0.0_f64, 0.0_f64, 0.0_f64);
        for &taken in &order {
            off += f64::from(u8::from(usize::from(taken) == path)) - share;
            (least, most) = (least.min(off), most.max(off));
        }
        assert!(off.abs() < 1e-6, "exact after all units twice");
        most - least
    };
    (0..units.len()).map(of_path).fold(0.0, f64::max)
}

/// Card, section 2: at most log2(m) with a stride of 1, and 2 · log2(m) with any.
#[test]
fn every_run_of_packets_is_close_to_the_shares() {
    let mut random = Stream::new(5, Purpose::Test, 0);
    let mut worst = 0.0_f64;
    for case in 0..60 {
        let total = [16, 64, 256][case % 3];
        let mut policy = policy(2 + random.below(9) as usize, total, case as u32);
        let weights: Vec<u32> =
            policy.planes[0].start.iter().map(|_| 1 + random.below(20)).collect();
        policy.handle_weights(&weights);
        let bound = f64::from(total.ilog2());
        let any = deviation(&mut policy);
        assert!(any <= 2.0 * bound, "{any} of {total}");
        policy.planes[0].stride = 1;
        let single = deviation(&mut policy);
        assert!(single <= bound, "{single} of {total}");
        worst = worst.max(any);
    }
    assert!(worst > 1.0, "{worst}");
}

#[test]
fn aligned_powers_of_two_deviate_by_less_than_two_packets() {
    let mut policy = policy(8, 1_024, 0);
    assert_eq!(units(&policy), [128; 8]);
    policy.planes[0].stride = 1;
    let off = deviation(&mut policy);
    assert!(off < 2.0, "{off}");
    let mut eight = sent(&mut policy, 8);
    eight.sort_unstable();
    assert_eq!(eight, (0..8).collect::<Vec<u16>>(), "eight packets in a row take all paths");
}

#[test]
fn queue_pairs_are_not_in_step() {
    let order = |qp_index| sent(&mut policy(8, 1_024, qp_index), 64);
    let orders: std::collections::BTreeSet<Vec<u16>> = (0..20).map(order).collect();
    // Eight starts and four strides differ modulo the number of paths.
    assert!(orders.len() > 10, "{}", orders.len());
}

#[test]
fn a_mark_takes_a_unit_and_a_loss_half_of_them() {
    let mut policy = policy(4, 64, 0);
    feed(&mut policy, 1, PathSignal::Marked);
    assert_eq!(units(&policy), [17, 15, 16, 16], "of equals the first");
    feed(&mut policy, 2, PathSignal::Nack);
    assert_eq!(units(&policy), [19, 19, 8, 18], "those furthest below their start first");
    feed(&mut policy, 0, PathSignal::Marked);
    assert_eq!(units(&policy), [18, 19, 9, 18], "the path that was lost regains");
    policy.handle_timeout(Time::ZERO, 2);
    assert_eq!(units(&policy)[2], 4, "half of an odd number is rounded up");
    feed(&mut policy, 9, PathSignal::Nack);
    feed(&mut policy, 3, PathSignal::TrimmedAtLastHop);
    assert_eq!(units(&policy)[2..], [4, 20]);
}

#[test]
fn units_are_kept_whatever_happens() {
    let mut random = Stream::new(6, Purpose::Test, 0);
    let signals = [PathSignal::Good, PathSignal::Marked, PathSignal::Nack, PathSignal::Condemned];
    for paths in [1, 2, 5, 16] {
        let mut policy = policy(paths, 64, 0);
        for _ in 0..10_000 {
            let path = random.below(paths as u32) as u16;
            feed(&mut policy, path, signals[random.below(4) as usize]);
            assert_eq!(units(&policy).iter().sum::<u32>(), 64);
            assert!(usize::from(policy.entropy(Time::ZERO)) < paths);
        }
    }
}

#[test]
fn a_path_without_units_is_probed_and_comes_back() {
    let mut policy = policy(4, 64, 0);
    (0..6).for_each(|_| feed(&mut policy, 1, PathSignal::Nack));
    assert_eq!(units(&policy)[1], 0);
    let order = sent(&mut policy, 3 * 4_096);
    assert_eq!(order.iter().filter(|&&path| path == 1).count(), 3);
    feed(&mut policy, 1, PathSignal::Marked);
    assert_eq!(units(&policy)[1], 0, "still bad");
    feed(&mut policy, 1, PathSignal::Good);
    assert_eq!(units(&policy)[1], 1);
    feed(&mut policy, 1, PathSignal::Good);
    assert_eq!(units(&policy)[1], 1, "others' marks bring the rest");
}

#[test]
fn weights_are_shares_and_a_path_without_weight_is_never_used() {
    let mut policy = policy(4, 64, 0);
    policy.handle_weights(&[2, 0, 1, 1]);
    assert_eq!(units(&policy), [32, 0, 16, 16]);
    assert!(!sent(&mut policy, 10_000).contains(&1));
    feed(&mut policy, 0, PathSignal::Marked);
    let moved = units(&policy);
    policy.handle_weights(&[200, 0, 100, 100]);
    assert_eq!(units(&policy), moved, "the same shares");
    policy.handle_weights(&[0; 4]);
    assert_eq!(units(&policy), moved, "no path reaches the peer");
    policy.handle_weights(&[1; 4]);
    assert_eq!(units(&policy), [16; 4]);
}

#[test]
fn there_are_at_least_as_many_units_as_paths() {
    let mut policy = policy(300, 2, 0);
    assert_eq!(policy.planes[0].total(), 512);
    let seen: std::collections::BTreeSet<u16> = sent(&mut policy, 512).into_iter().collect();
    assert_eq!(seen.len(), 300);
    assert_eq!(sent(&mut self::policy(1, 2, 0), 5), [0; 5]);
}

#[test]
fn a_packet_takes_the_next_free_plane_and_each_plane_keeps_its_shares() {
    let paths = PathSpace::SINGLE.with_tier(4).and_then(|paths| paths.with_tier(4)).unwrap();
    let network = NetworkParameters { planes: 4, ..NetworkParameters::default() };
    let qp = QpContext { paths, network, ..QpContext::for_test() };
    let mut policy = WhackAMole::new(&Config::default(), &qp);
    let mut uses = [0; 16];
    for path in sent(&mut policy, 4_096) {
        uses[usize::from(path)] += 1;
    }
    assert_eq!(uses, [256; 16]);
    let second = PlaneMask::NONE.with(1);
    (0..20).for_each(|_| assert_eq!(policy.choose(Time::ZERO, second).unwrap() % 4, 1));
    feed(&mut policy, 5, PathSignal::Nack);
    let of_planes = policy.planes.iter().map(|units| units.of(1)).collect::<Vec<_>>();
    assert_eq!(of_planes, [256, 128, 256, 256], "path 5 is the second of plane 1");
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let of = |text: &str| (PRESETS[0].build)(&text.parse().unwrap()).map_err(|it| it.to_string());
    for (text, said) in [
        ("units = 1000", "a power of two, 2 to 65536"),
        ("units = 1", "a power of two"),
        ("units = 131072", "a power of two"),
        ("loss = \"3/2\"", "at most 1"),
        ("probe = 0", "at least 1"),
    ] {
        let error = of(text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
    assert!(of("units = 65536\nloss = \"1/1\"\nprobe = 1\nmark = 0").is_ok());
}

#[test]
fn its_state_is_the_units_of_each_path_and_a_counter() {
    assert_eq!(policy(4, 64, 0).state_bits(), 2 * 6 * 4 + 2 * 6 + 12);
}
