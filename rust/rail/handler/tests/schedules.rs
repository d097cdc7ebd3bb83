//! All kinds of failures at all kinds of times: sums stay exact, and nobody waits for ever.

use proptest::prelude::*;

use super::super::*;
use super::toy::{Mischief, Plot, Toy};
use crate::rail::test_rails::cases;
use crate::units::Bytes;

const LATEST_MS: u64 = 400;

fn config() -> Config {
    Config { chunk: Bytes::new(3), ..Config::default() }
}

fn mischief(ranks: u32, rails: u32) -> impl Strategy<Value = (Time, Mischief)> {
    let what = (0u32..6, 0..rails, 0..ranks, 1u32..200).prop_map(|(what, rail, rank, ms)| {
        let (rail, rank) = (RailId(rail), RankId(rank));
        match what {
            0 => Mischief::Dies(rail),
            1 => Mischief::DiesLoudly(rail, rank),
            2 => Mischief::PortDies(rail, rank),
            3 => Mischief::Crawls(rail),
            4 => Mischief::Heals(rail),
            _ => Mischief::Computes(rank, ms),
        }
    });
    let at = (0..LATEST_MS * 1_000).prop_map(|us| Time::ZERO + Span::from_us(us));
    (at, what)
}

/// All works again in the end, so that all that is left over can be done.
fn plot() -> impl Strategy<Value = Plot> {
    let shape = (3u32..=6, 2usize..=4, 1u64..=6, 1u64..=24, 1u64..=3);
    let delays = (1u32..40_000, 1u32..3_000, prop::sample::select(vec![0u32, 20, 4]));
    (shape, delays, any::<u64>()).prop_flat_map(|(shape, (data_us, message_us, lost), seed)| {
        let (ranks, rails, operations, bytes, overlap) = shape;
        prop::collection::vec(mischief(ranks, rails as u32), 0..8).prop_map(move |mut mischief| {
            let heals = Time::ZERO + Span::from_ms(LATEST_MS + 200);
            mischief.extend((0..rails as u32).map(|rail| (heals, Mischief::Heals(RailId(rail)))));
            Plot {
                ranks,
                rails,
                operations,
                bytes,
                overlap,
                data_us,
                message_us,
                lost,
                seed,
                mischief,
            }
        })
    })
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn sums_are_exact_whatever_fails_and_whenever(plot in plot()) {
        let mut toy = Toy::new(&plot, &config());
        toy.run(Time::ZERO + Span::from_ms(60_000));
        prop_assert!(toy.is_done(), "some rank waits for ever");
        // All settle on the same rails, and inputs are released in the end.
        let end = toy.now + Span::from_ms(20_000);
        while toy.now < end {
            toy.step(end);
        }
        let up = RailSet::first(plot.rails);
        prop_assert!(toy.handlers.iter().all(|it| !it.is_agreeing() && it.up() == up));
        prop_assert_eq!(toy.released, plot.operations * u64::from(plot.ranks));
    }
}

/// One operation over two rails, of which one dies.
fn dies_at(at: Time, what: impl Fn(RailId) -> Mischief, data_us: u32) -> Toy {
    let plot = Plot {
        ranks: 4,
        rails: 2,
        operations: 12,
        bytes: 24,
        overlap: 1,
        data_us,
        message_us: 1_000,
        lost: 0,
        seed: 3,
        mischief: vec![(at, what(RailId(1)))],
    };
    let mut toy = Toy::new(&plot, &config());
    toy.run(Time::ZERO + Span::from_ms(10_000));
    assert!(toy.is_done());
    toy
}

/// Detection, agreement and re-issue, from whichever time on the rail is dead.
#[test]
fn all_ranks_resume_within_the_budget() {
    let budget = config().silence_budget(Span::from_ms(1));
    assert!(budget < Span::from_ms(200));
    let mut longest = Span::ZERO;
    for ms in 0..120 {
        let at = Time::ZERO + Span::from_ms(ms);
        let toy = dies_at(at, Mischief::Dies, 30_000);
        let resumed = toy.last(|action| matches!(action, Action::Rails { .. })).unwrap();
        longest = longest.max(resumed.since(at));
        // A loud one is agreed on at once.
        let toy = dies_at(at, |rail| Mischief::DiesLoudly(rail, RankId(2)), 30_000);
        let resumed = toy.last(|action| matches!(action, Action::Rails { .. })).unwrap();
        assert!(resumed.since(at) <= Span::from_ms(2), "{resumed}");
    }
    assert!(longest <= budget, "{longest} of {budget}");
    // Whether heartbeats or completions tell first hangs on the time; both do their part.
    assert!(longest > Span::from_ms(50), "{longest}");
}

#[test]
fn a_rail_that_crawls_is_left_within_the_budget() {
    let at = Time::ZERO + Span::from_ms(40);
    let toy = dies_at(at, Mischief::Crawls, 5_000);
    let resumed = toy.last(|action| matches!(action, Action::Rails { .. })).unwrap();
    // It is suspected from the last completion on, which is not before the failure by more than
    // an operation.
    let budget = config().stall_budget(Span::from_ms(1), Span::from_ms(5)) + Span::from_ms(5);
    assert!(resumed.since(at) <= budget, "{} of {budget}", resumed.since(at));
}

#[test]
fn a_rank_that_computes_is_no_reason_to_leave_a_rail() {
    let at = Time::ZERO + Span::from_ms(20);
    let toy = dies_at(at, |_| Mischief::Computes(RankId(1), 500), 5_000);
    assert_eq!(toy.last(|action| matches!(action, Action::Rails { .. })), None);
    let suspected =
        |action: &Action| matches!(action, Action::Moved { state: RailState::Suspect, .. });
    assert!(toy.last(suspected).is_some(), "it was asked about all the same");
}
