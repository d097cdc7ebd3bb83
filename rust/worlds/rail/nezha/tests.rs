//! Convergence on rails whose cost is a line, and on rails whose cost is not.

mod feedback;

use proptest::prelude::*;

use super::*;
use crate::balance::Parameters;
use crate::ids::RailId;
use crate::rail::test_rails::{Bench, Rail, cases, operation};
use crate::rail::{Concurrency, Division, RailCost, Weigher};
use crate::units::{BitRate, Bytes, Span};

const MIB: u64 = 1 << 20;

/// The size from which a split over two rails pays off: β1 (α2 − α1), where rail 1 starts sooner.
fn crossing(rails: [Rail; 2]) -> u64 {
    let [soon, late] = if rails[0].0 <= rails[1].0 { rails } else { [rails[1], rails[0]] };
    (late.0 - soon.0) * 1_000 / soon.1
}

/// Returns the number of measured operations of 1 MiB in the cold state; `None` in the hot one.
fn measured(bench: &Bench) -> Option<u32> {
    let Weigher::Nezha(nezha) = &bench.allocator.weigher else { panic!("not nezha") };
    match nezha.states[SizeClass::of(Bytes::new(MIB)).index()] {
        ClassState::Cold(measured) => Some(measured),
        ClassState::Hot(_) => None,
    }
}

/// Divides `count` operations and one more. Returns the last division, or the one before it if the
/// last is a trial of a single rail. Trials are never consecutive.
fn settled(bench: &mut Bench, count: u32, bytes: u64) -> Division {
    let before = bench.steps(count, bytes);
    let last = bench.step(bytes);
    if last.ranges().count() == 1 { before } else { last }
}

/// Two rails whose rates differ by up to 10× and whose start-ups by up to 100×, in any combination.
fn two_rails() -> impl Strategy<Value = [Rail; 2]> {
    (1_000u64..20_000, 100u64..=10_000, 80u64..400, 100u64..=1_000, any::<bool>()).prop_map(
        |(start, starts, ps, rates, swapped)| {
            let (a, b) = ((start * starts / 100, ps), (start, ps * rates / 100));
            if swapped { [a, b] } else { [(b.0, a.1), (a.0, b.1)] }
        },
    )
}

proptest! {
    #![proptest_config(cases(300))]

    /// |t1 − t2| / T < 5 % within ten operations from the initial state.
    #[test]
    fn rails_end_together_within_ten_operations(rails in two_rails(), above in 150u64..20_000) {
        let bytes = (crossing(rails) * above / 100).max(64 * 1_024);
        let mut bench = Bench::new("nezha", &rails);
        let tenth = settled(&mut bench, 9, bytes);
        prop_assert_eq!(tenth.ranges().count(), 2);
        prop_assert!(bench.spread(&tenth) < 0.05, "{:?}: {}", tenth, bench.spread(&tenth));
        let later = settled(&mut bench, 49, bytes);
        prop_assert!(bench.spread(&later) < 0.05);
    }

    /// |t1 − t2| / T < 5 % within twenty operations after other rails were measured: three to
    /// detect the change, three in the cold state, and some trials.
    #[test]
    fn rails_that_change_end_together_within_twenty_operations(
        before in two_rails(), rails in two_rails(), above in 150u64..20_000
    ) {
        let bytes = (crossing(rails) * above / 100).max(64 * 1_024);
        let mut bench = Bench::new("nezha", &before);
        bench.steps(20, bytes);
        // An excluded rail is rarely measured, so the run starts with both rails in use.
        prop_assume!(settled(&mut bench, 1, bytes).ranges().count() == 2);
        bench.rails = rails.to_vec();
        let last = settled(&mut bench, 19, bytes);
        prop_assert_eq!(last.ranges().count(), 2);
        prop_assert!(bench.spread(&last) < 0.05, "{:?}: {}", last, bench.spread(&last));
    }

    /// With durations that vary by up to 5 %, splits within that spread are indistinguishable.
    #[test]
    fn noise_is_not_amplified(rails in two_rails(), above in 200u64..20_000) {
        let bytes = (crossing(rails) * above / 100).max(64 * 1_024);
        let mut bench = Bench::new("nezha", &rails);
        bench.noise = 50;
        bench.steps(10, bytes);
        let mut sum = 0.0;
        for _ in 0..40 {
            let division = bench.step(bytes);
            sum += bench.spread(&division);
        }
        let mean = sum / 40.0;
        prop_assert!(mean < 0.10, "{}", mean);
    }

    /// Three and four rails take as long as the closed form, T = (x + Σ αβ) / Σ β by water-filling.
    #[test]
    fn more_rails_take_as_long_as_water_filling(
        rails in prop::collection::vec((1_000u64..50_000, 80u64..800), 3..=4),
        mib in 1u64..256,
    ) {
        let mut bench = Bench::new("nezha", &rails);
        let took = bench.steps(12, mib * MIB);
        let best = water_filling(&rails, mib * MIB);
        let took = bench.duration(&took) as f64;
        prop_assert!((took / best - 1.0).abs() < 0.05, "{} over {}", took, best);
    }
}

/// Returns the least time over all sets of rails, each by its closed form.
fn water_filling(rails: &[Rail], bytes: u64) -> f64 {
    let time = |set: u32| {
        let taken = || (0..).zip(rails).filter(move |(rail, _)| set >> rail & 1 == 1);
        let rates: f64 = taken().map(|(_, rail)| 1.0 / rail.1 as f64).sum();
        let starts: f64 = taken().map(|(_, rail)| rail.0 as f64 * 1e3 / rail.1 as f64).sum();
        let ps = (bytes as f64 + starts) / rates;
        // A rail that starts after the end would have a negative share.
        taken().all(|(_, rail)| rail.0 as f64 * 1e3 <= ps).then_some(ps)
    };
    (1..1u32 << rails.len()).filter_map(time).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_second_rail_is_used_within_a_size_class_of_the_crossing() {
    // 2 us and 100 us, 100 Gbps each: 98 us times 12.5 GB/s.
    let rails = [(2_000, 80), (100_000, 80)];
    assert_eq!(crossing(rails), 1_225_000);
    let used = |bytes| {
        let mut bench = Bench::new("nezha", &rails);
        // The tenth operation is a trial of the excluded rail.
        bench.steps(9, bytes).ranges().map(|it| it.rail.0).collect::<Vec<_>>()
    };
    assert_eq!(used(1_225_000 / 2), [0]);
    assert_eq!(used(1_225_000 * 2), [0, 1]);
    // One allocator for all sizes, which alternate, gives equal results.
    let mut bench = Bench::new("nezha", &rails);
    for _ in 0..10 {
        (10..26).for_each(|class| drop(bench.step(3 << (class - 1))));
    }
    for class in 10..26 {
        let bytes = 3 << (class - 1);
        let rails = bench.step(bytes).ranges().count();
        assert_eq!(rails, if bytes < 1_225_000 { 1 } else { 2 }, "{bytes}");
    }
}

#[test]
fn small_operations_use_the_rail_that_starts_first() {
    for rails in [[(50_000, 20), (1_000, 200)], [(1_000, 200), (50_000, 20)]] {
        let soonest = if rails[0].0 < rails[1].0 { 0 } else { 1 };
        let mut bench = Bench::new("nezha", &rails);
        bench.steps(3, 4_096);
        let mut alone = 0;
        for _ in 0..128 {
            let rails: Vec<_> = bench.step(4_096).ranges().map(|it| it.rail.0).collect();
            assert!(rails.contains(&soonest));
            alone += u32::from(rails == [soonest]);
        }
        // All operations except the trials of the other rail: 1, 3, 7, ... 127.
        assert_eq!(alone, 128 - 7);
    }
}

#[test]
fn an_excluded_rail_continues_to_be_measured() {
    let mut bench = Bench::new("nezha", &[(1_000, 100), (1_000, 10_000)]);
    bench.steps(3, MIB);
    let measured: Vec<u32> = (1..256).filter(|_| bench.step(MIB).ranges().count() == 2).collect();
    assert_eq!(measured, [1, 3, 7, 15, 31, 63, 127, 191, 255]);
    // It becomes as fast as the other rail; the next measurements detect that.
    bench.rails[1] = (1_000, 100);
    let later = bench.steps(64 * 3 + 10, MIB);
    assert!(bench.spread(&later) < 0.05, "{later:?}");
}

#[test]
fn the_cold_state_measures_all_rails_and_the_hot_state_holds_within_the_dead_band() {
    let mut bench = Bench::new("nezha", &[(1_000, 100), (1_000, 300)]);
    let first = bench.step(MIB);
    assert_eq!((first.shares()[0], measured(&bench)), (first.shares()[1], Some(1)));
    bench.step(MIB);
    assert_eq!(measured(&bench), Some(2));
    bench.step(MIB);
    assert_eq!(measured(&bench), None);
    let hot = bench.steps(2, MIB);
    // 4 % slower: the division does not change. 20 % slower: it changes.
    bench.rails[1].1 = 312;
    assert_eq!(bench.steps(4, MIB), hot);
    bench.rails[1].1 = 360;
    assert_ne!(bench.steps(3, MIB), hot);
}

#[test]
fn three_misses_in_a_row_or_other_rails_reset_to_the_cold_state() {
    let mut bench = Bench::new("nezha", &[(1_000, 100), (1_000, 300)]);
    bench.steps(10, MIB);
    bench.rails[1].1 = 1_500;
    bench.steps(2, MIB);
    assert_eq!(measured(&bench), None);
    bench.step(MIB);
    assert_eq!(measured(&bench), Some(0));
    bench.steps(10, MIB);
    assert_eq!(measured(&bench), None);
    bench.allocator.handle_rails(RailSet::first(1));
    assert_eq!(measured(&bench), Some(0));
    assert_eq!(bench.step(MIB).shares()[1], Bytes::ZERO);
    // Setting the current set of rails again changes nothing.
    bench.allocator.handle_rails(RailSet::first(1));
    assert_eq!(measured(&bench), Some(1));
}

/// The change is too small to be a miss: the line follows 2/5 of it, and feedback half of the rest.
#[test]
fn feedback_follows_a_rail_that_slows_down_by_two_fifths() {
    let mut bench = Bench::new("nezha", &[(1_000, 100), (1_000, 100)]);
    bench.steps(20, 16 * MIB);
    bench.rails[1].1 = 140;
    let spreads: Vec<f64> = (0..4)
        .map(|_| {
            let division = bench.step(16 * MIB);
            bench.spread(&division)
        })
        .collect();
    // 2/7 at first; the line alone would reduce it only to 0.17.
    assert!(spreads[0] > 0.28 && spreads[1] < 0.10, "{spreads:?}");
    // The line then follows too, in addition to the feedback: one overshoot.
    assert!(spreads[2] < 0.20 && spreads[3] < 0.06, "{spreads:?}");
    let settled = bench.step(16 * MIB);
    assert!(bench.spread(&settled) < 0.05, "{settled:?}");
}

/// The cost of one rail is x^2 instead of a line, as with a window and increasing losses.
#[test]
fn feedback_makes_rails_end_together_whose_cost_is_not_a_line() {
    let config = crate::rail::test_rails::config("nezha", "");
    let mut allocator = config.build(&[BitRate::from_gbps(100); 2]).unwrap();
    let operation = operation(16 * MIB);
    let mut spread = 1.0;
    for _ in 0..9 {
        let division = allocator.allocate(&operation).unwrap();
        let [x, y] = [0, 1].map(|rail| division.shares()[rail].get());
        let ps = [x * 100, y * y / 50_000];
        let costs = [0, 1].map(|rail| RailCost {
            rail: RailId(rail),
            bytes: division.of(RailId(rail)),
            duration: Span::from_ps(ps[rail as usize]),
        });
        spread = ps[0].abs_diff(ps[1]) as f64 / ps[0].max(ps[1]) as f64;
        allocator.handle_costs(&operation, &costs);
    }
    assert!(spread < 0.05, "{spread}");
}

#[test]
fn invalid_parameters_are_rejected_with_the_valid_range() {
    let fault = |text: &str| {
        let parameters: Parameters = text.parse().unwrap();
        (PRESET.build)(&parameters).unwrap_err().to_string()
    };
    assert_eq!(
        fault("cold_operations = 1"),
        "policy 'nezha': cold_operations = 1 is out of range: expected 2 to 1000"
    );
    assert_eq!(
        fault("floor = 0.5"),
        "policy 'nezha': floor = 0.5 is out of range: expected 0 to 0.015625, so that 64 rails can \
         have a share"
    );
    for bad in ["weight = 0.0", "weight = nan", "step = 2.0", "dead_band = 1.0", "miss = inf"] {
        assert!(fault(bad).contains(" is out of range: expected "), "{bad}");
    }
    for bad in ["measure_every = 1", "misses = 0", "miss = 0.0", "floor = -0.1", "colour = 3"] {
        assert!(fault(bad).starts_with("policy 'nezha': "), "{bad}");
    }
    for least in ["cold_operations = 2", "measure_every = 2", "misses = 1", "miss = 1e-9"] {
        assert!((PRESET.build)(&least.parse().unwrap()).is_ok(), "{least}");
    }
}

/// Returns the first 64 divisions over rails that take six times as long together as alone.
fn contended(rails: usize) -> Vec<Division> {
    let config = crate::rail::test_rails::config("nezha", "");
    let mut allocator = config.build(&vec![BitRate::from_gbps(80); rails]).unwrap();
    let operation = operation(16 * MIB);
    let step = |_| {
        let division = allocator.allocate(&operation).unwrap();
        let ps_per_byte = if division.ranges().count() == 1 { 100 } else { 600 };
        let costs = division
            .ranges()
            .map(|it| cost(it.rail.0, it.bytes().get(), it.bytes().get() * ps_per_byte));
        allocator.handle_costs(&operation, &costs.collect::<Vec<_>>());
        division
    };
    (0..64).map(step).collect()
}

/// Three rails together take twice as long as one.
#[test]
fn only_the_full_split_is_tried_while_a_single_rail_is_best() {
    let rails: Vec<usize> = contended(3).iter().map(|it| it.ranges().count()).collect();
    // Three cold operations, then a trial of one rail, which changes the choice. The split is tried
    // at the second operation after that, and then less and less often.
    assert_eq!(rails[..6], [3, 3, 3, 1, 1, 3], "{rails:?}");
    assert!(!rails.contains(&2), "{rails:?}");
    assert!(rails[6..].iter().filter(|&&rails| rails == 3).count() <= 5, "{rails:?}");
}

#[test]
fn the_second_rail_is_tried_in_the_split_while_the_first_is_best_alone() {
    let least = |division: &Division| division.shares().iter().min().unwrap().get();
    let shares: Vec<u64> = contended(2).iter().map(least).collect();
    // Three cold operations, the trial of a rail, and one more operation before the trial of the
    // split.
    assert_eq!([shares[3], shares[4]], [0; 2], "{shares:?}");
    assert!(shares[5] > 7 * MIB, "{shares:?}");
    assert!(shares[3..].iter().all(|&it| it == 0 || it > 7 * MIB), "{shares:?}");
}

/// Alone, a rail would take twice as long, which exceeds the uncertainty of the split.
#[test]
fn a_rail_that_is_much_slower_alone_is_tried_alone_once() {
    let mut bench = Bench::new("nezha", &[(1_000, 100), (1_000, 100)]);
    let alone: Vec<u32> = (1..=200).filter(|_| bench.step(MIB).ranges().count() == 1).collect();
    assert_eq!(alone, [4], "the first after three cold operations");
}

/// An excluded rail has the weight of the floor, 1/64, and the rail in use has the weight 1.
#[test]
fn excluded_rails_are_measured_in_turn_with_the_share_of_the_floor() {
    let mut bench =
        Bench::new("nezha", &[(1_000, 100), (1_000, 9_000), (1_000, 9_100), (1_000, 9_200)]);
    bench.steps(3, MIB);
    let divisions = (0..128).map(|_| bench.step(MIB));
    let trials: Vec<Division> = divisions.filter(|it| it.ranges().count() > 1).collect();
    let tried = trials.iter().map(|it| it.ranges().last().unwrap());
    let tried: Vec<(u32, u64)> = tried.map(|it| (it.rail.0, it.bytes().get())).collect();
    let rails: Vec<u32> = tried.iter().map(|&(rail, _)| rail).collect();
    assert_eq!(rails, [1, 2, 3, 1, 2, 3, 1]);
    assert!(tried.iter().all(|&(_, bytes)| bytes.abs_diff(MIB / 65) <= 4), "{tried:?}");
}

/// One rail alone takes a third longer, so it is tried after 1, 2, 4, ... operations.
#[test]
fn pauses_between_trials_are_unlimited_while_all_rails_are_in_use() {
    let mut bench = Bench::new("nezha", &[(1_000, 100), (1_000, 300)]);
    let alone: Vec<u32> = (1..=300).filter(|_| bench.step(MIB).ranges().count() == 1).collect();
    assert_eq!(alone, [4, 6, 10, 18, 34, 66, 130, 258]);
}

#[test]
fn a_rail_excluded_from_the_split_is_measured() {
    let mut bench = Bench::new("nezha", &[(1_000, 100), (1_000, 100), (1_000, 10_000)]);
    bench.steps(3, MIB);
    let measured = (0..64).filter(|_| bench.step(MIB).ranges().count() == 3).count();
    assert!(measured > 3, "{measured}");
}

#[test]
fn a_deviation_of_exactly_half_is_not_a_miss() {
    let class = SizeClass::of(Bytes::new(MIB));
    let mut nezha = Nezha::new(&Config::default(), 1);
    nezha.states[class.index()] = ClassState::Hot(Hot::new(vec![None]));
    let accepts = |ps| {
        let cost = cost(0, MIB, ps);
        let sample = Sample { cost, concurrency: Concurrency::Alone, expected_ps: Some(1_000.0) };
        nezha.accepts(class, &sample)
    };
    assert_eq!([499, 500, 1_500, 1_501].map(accepts), [false, true, true, false]);
}

#[test]
fn the_spread_is_relative_to_the_longest_duration() {
    let spread = |ps: &[u64]| {
        let sample = |(rail, &ps)| Sample {
            cost: cost(rail, 1, ps),
            concurrency: Concurrency::Shared,
            expected_ps: None,
        };
        spread(&(0..).zip(ps).map(sample).collect::<Vec<_>>())
    };
    assert_eq!([&[400, 100][..], &[300, 400, 200], &[5, 5]].map(spread), [0.75, 0.5, 0.0]);
    assert_eq!([&[][..], &[7], &[0, 0]].map(spread), [0.0; 3]);
}

#[test]
fn a_choice_changes_for_one_that_is_better_by_more_than_the_dead_band() {
    let config = Config { dead_band: 0.25, ..Config::default() };
    let chosen = |alone, split, single| {
        let hot = Hot { alone, ..Hot::new(vec![None; 2]) };
        let split = EqualFinish { ps: split, bytes: vec![1.0; 2] };
        hot.choose(&split, &[Single { rail: 1, ps: single, measured: true }], &config)
    };
    assert_eq!([75.0, 74.0].map(|single| chosen(None, 100.0, single)), [None, Some(1)]);
    assert_eq!([75.0, 74.0].map(|split| chosen(Some(1), split, 100.0)), [Some(1), None]);
}

fn cost(rail: u32, bytes: u64, ps: u64) -> RailCost {
    RailCost { rail: RailId(rail), bytes: Bytes::new(bytes), duration: Span::from_ps(ps) }
}
