//! Divisions and costs under any allocator.

use super::super::test_rails::{Bench, config, operation};
use super::*;

#[test]
fn rails_that_are_down_get_nothing_under_any_allocator() {
    for preset in super::super::PRESETS {
        let mut bench = Bench::new(preset.name, &[(1_000, 100), (2_000, 100), (3_000, 100)]);
        bench.steps(5, 1 << 20);
        bench.allocator.handle_rails(RailSet::EMPTY.with(RailId(2)));
        for _ in 0..5 {
            let rails: Vec<_> = bench.step(1 << 20).ranges().map(|it| it.rail.0).collect();
            assert_eq!(rails, [2], "{}", preset.name);
        }
        bench.allocator.handle_rails(RailSet::EMPTY);
        let error = bench.allocator.allocate(&operation(1)).unwrap_err();
        assert_eq!(error, AllocateError::NoRail);
    }
}

#[test]
fn equal_inputs_give_equal_divisions() {
    let run = |name| {
        let mut bench = Bench::new(name, &[(1_000, 100), (9_000, 37)]);
        bench.noise = 100;
        (1..200).map(|step| bench.step(step * 7_777)).collect::<Vec<_>>()
    };
    for preset in super::super::PRESETS {
        assert_eq!(run(preset.name), run(preset.name));
    }
}

#[test]
fn times_and_rates_are_expected_by_the_lines_of_earlier_samples() {
    let mut bench = Bench::new("nezha", &[(1_000, 100), (4_000, 300)]);
    bench.steps(10, 1 << 20);
    // The fourth, sixth and tenth operation are trials of the first rail alone.
    assert_eq!([0, 1].map(|rail| samples(&bench.allocator, rail, 1 << 20)), [10, 7]);
    let bytes = Bytes::new(1 << 18);
    let expected = bench.allocator.expected(&operation(1 << 20), RailId(1), bytes);
    let takes = bench.takes(RailId(1), bytes) as f64;
    assert!((expected.unwrap().as_ps() as f64 / takes - 1.0).abs() < 0.05);
    let rate = bench.allocator.rate(&operation(1 << 20), RailId(1)).as_bps() as f64;
    assert!((rate * 300.0 / 8e12 - 1.0).abs() < 0.05, "{rate}");
}

/// Two rails take six times as long together as alone.
#[test]
fn a_whole_operation_is_expected_to_take_its_time_alone() {
    let mut allocator = config("even", "").build(&[BitRate::from_gbps(80); 2]).unwrap();
    let (all, half) = (operation(1 << 20), Bytes::new(1 << 19));
    let cost = |rail, bytes: Bytes, ps: u64| RailCost {
        rail: RailId(rail),
        bytes,
        duration: Span::from_ps(bytes.get() * ps),
    };
    allocator.handle_costs(&all, &[cost(0, half, 600), cost(1, half, 600)]);
    // A rail without bytes does not share the operation.
    allocator.handle_costs(&all, &[cost(0, all.bytes, 100), cost(1, Bytes::ZERO, 600)]);
    let is_about = |rail, bytes: Bytes, ps: u64| {
        let found = allocator.expected(&all, RailId(rail), bytes).unwrap().as_ps() as f64;
        assert!((found / (bytes.get() * ps) as f64 - 1.0).abs() < 1e-6, "{rail}: {found}");
    };
    is_about(0, all.bytes, 100);
    is_about(0, half, 600);
    is_about(1, all.bytes, 600);
    assert_eq!(allocator.expected(&all, RailId(2), half), None);
}

#[test]
fn degenerate_operations_and_costs_are_accepted() {
    let error = config("even", "").build(&[]).unwrap_err().to_string();
    assert_eq!(error, "0 rails are out of range: expected 1 to 64");
    assert!(config("even", "").build(&[BitRate::from_gbps(1); 65]).is_err());
    let mut allocator = config("nezha", "").build(&[BitRate::from_gbps(1); 2]).unwrap();
    let odd = RailOperation { bytes: Bytes::ZERO, element: Bytes::ZERO };
    for rail in [0, 7] {
        let rail = RailId(rail);
        allocator.handle_costs(&odd, &[RailCost { rail, bytes: Bytes::ZERO, duration: Span::MAX }]);
        let cost = RailCost { rail, bytes: Bytes::new(u64::MAX), duration: Span::ZERO };
        allocator.handle_costs(&odd, &[cost, cost]);
    }
    assert_eq!(allocator.allocate(&odd).unwrap().total(), Bytes::ZERO);
    let huge = RailOperation { bytes: Bytes::new(u64::MAX), element: Bytes::new(3) };
    (0..5).for_each(|_| {
        let division = allocator.allocate(&huge).unwrap();
        assert_eq!(division.total(), huge.bytes);
        let cost = |it: crate::rail::RailRange| RailCost {
            rail: it.rail,
            bytes: it.bytes(),
            duration: Span::MAX,
        };
        allocator.handle_costs(&huge, &division.ranges().map(cost).collect::<Vec<_>>());
    });
    let unknown = super::super::allocator_config("nehza", &Default::default()).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "unknown policy 'nehza'; known policies are nezha, even, best-single, proportional"
    );
}

#[test]
fn a_rail_that_is_down_gets_nothing_if_all_weights_are_zero() {
    let nominal = [BitRate::from_gbps(100), BitRate::default(), BitRate::default()];
    let mut allocator = config("proportional", "by = 'nominal'").build(&nominal).unwrap();
    allocator.handle_rails(RailSet::first(3).without(RailId(0)));
    let division = allocator.allocate(&operation(4_096)).unwrap();
    assert_eq!(division.shares(), [0, 4_096, 0].map(Bytes::new));
}

/// Returns the cost of `bytes` at `ps` picoseconds each.
fn cost(rail: u32, bytes: u64, ps: u64) -> RailCost {
    let duration = Span::from_ps(bytes * ps);
    RailCost { rail: RailId(rail), bytes: Bytes::new(bytes), duration }
}

/// Returns the number of samples of a rail in the class of an operation.
fn samples(allocator: &Allocator, rail: u32, bytes: u64) -> u32 {
    allocator.costs.count(RailId(rail), SizeClass::of(Bytes::new(bytes)))
}

/// A miss would not be counted as a sample.
#[test]
fn a_report_of_a_rail_without_a_share_is_not_a_miss() {
    let mut bench = Bench::new("nezha", &[(0, 100), (0, 300), (0, 300)]);
    bench.steps(10, 1 << 20);
    let before = samples(&bench.allocator, 0, 1 << 20);
    let idle = RailCost { duration: Span::from_ms(1_000), ..cost(2, 0, 0) };
    for operations in 1..10 {
        let shares = [cost(0, 1 << 19, 100), cost(1, 1 << 19, 300), idle];
        bench.allocator.handle_costs(&operation(1 << 20), &shares);
        assert_eq!(samples(&bench.allocator, 0, 1 << 20), before + operations);
    }
}

/// Other sizes give an expectation, but this size has no sample yet.
#[test]
fn the_first_sample_of_a_size_is_not_a_miss() {
    let mut allocator = config("nezha", "").build(&[BitRate::from_gbps(80); 2]).unwrap();
    let (small, large) = (operation(1 << 20), operation(16 << 20));
    allocator.handle_costs(&small, &[cost(0, 1 << 19, 100), cost(1, 1 << 19, 100)]);
    allocator.allocate(&large).unwrap();
    for _ in 0..3 {
        allocator.handle_costs(&large, &[cost(0, 8 << 20, 100)]);
    }
    allocator.handle_costs(&large, &[cost(0, 8 << 20, 100), cost(1, 8 << 20, 1_000)]);
    assert_eq!([0, 1].map(|rail| samples(&allocator, rail, 16 << 20)), [4, 1]);
}
