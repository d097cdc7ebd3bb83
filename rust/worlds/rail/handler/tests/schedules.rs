//! Random failures at random times: sums stay exact, and every operation completes.

use proptest::prelude::*;

use super::super::*;
use super::toy::{Fault, Toy, ToyScenario};
use crate::extent;
use crate::rail::test_rails::cases;
use crate::units::Bytes;

const LATEST_MS: u64 = 400;

fn config() -> Config {
    Config { chunk: Bytes::new(3), ..Config::default() }
}

fn faults(ranks: u32, rails: u32) -> impl Strategy<Value = (Time, Fault)> {
    let what = (0u32..6, 0..rails, 0..ranks, 1u32..200).prop_map(|(what, rail, rank, ms)| {
        let (rail, rank) = (RailId(rail), RankId(rank));
        match what {
            0 => Fault::RailDies(rail),
            1 => Fault::RailDiesWithError(rail, rank),
            2 => Fault::PortDies(rail, rank),
            3 => Fault::Crawls(rail),
            4 => Fault::Heals(rail),
            _ => Fault::Computes(rank, ms),
        }
    });
    let at = (0..LATEST_MS * 1_000).prop_map(|us| Time::ZERO + Span::from_us(us));
    (at, what)
}

/// A scenario in which every rail works again in the end, so that all operations can complete.
fn scenario() -> impl Strategy<Value = ToyScenario> {
    let shape = (3u32..=6, 2usize..=4, 1u64..=6, 1u64..=24, 1u64..=3);
    let delays = (1u32..40_000, 1u32..3_000, prop::sample::select(vec![0u32, 20, 4]));
    (shape, delays, any::<u64>()).prop_flat_map(|(shape, (data_us, message_us, lost), seed)| {
        let (ranks, rails, operations, bytes, overlap) = shape;
        prop::collection::vec(faults(ranks, rails as u32), 0..8).prop_map(move |mut faults| {
            let heals = Time::ZERO + Span::from_ms(LATEST_MS + 200);
            faults.extend((0..rails as u32).map(|rail| (heals, Fault::Heals(RailId(rail)))));
            ToyScenario {
                ranks,
                rails,
                operations,
                bytes,
                overlap,
                data_us,
                message_us,
                lost,
                seed,
                faults,
            }
        })
    })
}

proptest! {
    #![proptest_config(cases(if extent::is_long() { 400 } else { 15 }))]

    #[test]
    fn sums_are_exact_under_all_failures(scenario in scenario()) {
        let mut toy = Toy::new(&scenario, &config());
        toy.run(Time::ZERO + Span::from_ms(60_000));
        prop_assert!(toy.is_done(), "some rank never completes");
        // All ranks agree on the same rails, and all inputs are released in the end.
        let end = toy.now + Span::from_ms(20_000);
        while toy.now < end {
            toy.step(end);
        }
        let up = RailSet::first(scenario.rails);
        prop_assert!(toy.handlers.iter().all(|it| !it.is_agreeing() && it.up() == up));
        prop_assert_eq!(toy.released, scenario.operations * u64::from(scenario.ranks));
    }
}

/// One operation over two rails, of which one dies.
fn dies_at(at: Time, what: impl Fn(RailId) -> Fault, data_us: u32) -> Toy {
    let scenario = ToyScenario {
        ranks: 4,
        rails: 2,
        operations: 12,
        bytes: 24,
        overlap: 1,
        data_us,
        message_us: 1_000,
        lost: 0,
        seed: 3,
        faults: vec![(at, what(RailId(1)))],
    };
    let mut toy = Toy::new(&scenario, &config());
    toy.run(Time::ZERO + Span::from_ms(10_000));
    assert!(toy.is_done());
    toy
}

/// The time of detection, agreement and re-issue, for failures at different times.
#[test]
fn all_ranks_resume_within_the_budget() {
    let budget = config().silence_budget(Span::from_ms(1));
    assert!(budget < Span::from_ms(200));
    let mut longest = Span::ZERO;
    for ms in (0..120).step_by(if extent::is_long() { 1 } else { 4 }) {
        let at = Time::ZERO + Span::from_ms(ms);
        let toy = dies_at(at, Fault::RailDies, 30_000);
        let resumed = toy.last(|action| matches!(action, Action::Rails { .. })).unwrap();
        longest = longest.max(resumed.since(at));
        // A failure that a NIC reports is agreed on at once.
        let toy = dies_at(at, |rail| Fault::RailDiesWithError(rail, RankId(2)), 30_000);
        let resumed = toy.last(|action| matches!(action, Action::Rails { .. })).unwrap();
        assert!(resumed.since(at) <= Span::from_ms(2), "{resumed}");
    }
    assert!(longest <= budget, "{longest} of {budget}");
    // Whether heartbeats or completions detect the failure first depends on its time.
    assert!(longest > Span::from_ms(50), "{longest}");
}

#[test]
fn a_slow_rail_is_taken_out_of_use_within_the_budget() {
    let at = Time::ZERO + Span::from_ms(40);
    let toy = dies_at(at, Fault::Crawls, 5_000);
    let resumed = toy.last(|action| matches!(action, Action::Rails { .. })).unwrap();
    // The stall timer runs from the last completion, which is at most one operation before the
    // failure.
    let budget = config().stall_budget(Span::from_ms(1), Span::from_ms(5)) + Span::from_ms(5);
    assert!(resumed.since(at) <= budget, "{} of {budget}", resumed.since(at));
}

#[test]
fn a_rank_that_computes_does_not_take_a_rail_out_of_use() {
    let at = Time::ZERO + Span::from_ms(20);
    let toy = dies_at(at, |_| Fault::Computes(RankId(1), 500), 5_000);
    assert_eq!(toy.last(|action| matches!(action, Action::Rails { .. })), None);
    let suspected =
        |action: &Action| matches!(action, Action::StateChange { state: RailState::Suspect, .. });
    assert!(toy.last(suspected).is_some(), "the rail was probed");
}
