use super::super::NetworkParameters;
use super::*;
use crate::balance::sender::PathSpace;

mod condemning;
mod skips;

const ALL: PlaneMask = PlaneMask::from_bits(u32::MAX);

fn config(evs: u16, active: u16, min_active: u16) -> Config {
    let (condemn, encoding) = (Condemn::Hole, Encoding::Ecmp);
    Config { evs, active, min_active, condemn, encoding, ..Config::default() }
}

/// A queue pair whose values are in rotation in order of their indices.
fn mrc(planes: u32, config: &Config) -> Mrc {
    let network = NetworkParameters { planes, ..NetworkParameters::default() };
    let mut mrc = Mrc::new(config, &QpContext { network, ..QpContext::for_test() });
    mrc.0.rotation.straighten();
    mrc
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Returns the index of the next packet's value.
fn next(mrc: &mut Mrc) -> u16 {
    let value = mrc.choose(Time::ZERO, ALL).expect("a value is usable");
    mrc.0.rotation.index_of(value).expect("it is one of the profile")
}

fn feed(mrc: &mut Mrc, now: Time, index: u16, signal: PathSignal) {
    let entropy = mrc.0.rotation.value(index);
    let feedback = Feedback { entropy, signal, packets: 1, marked: 0, rtt: Span::from_us(8) };
    mrc.handle_feedback(now, feedback);
}

/// Returns how often each of `evs` values is used by `packets` packets, if those for which `marked`
/// is true return marked before the next packet.
fn uses(mrc: &mut Mrc, evs: usize, packets: u32, marked: impl Fn(u16) -> bool) -> Vec<u32> {
    let mut uses = vec![0; evs];
    for _ in 0..packets {
        let index = next(mrc);
        uses[usize::from(index)] += 1;
        if marked(index) {
            feed(mrc, Time::ZERO, index, PathSignal::Marked);
        }
    }
    uses
}

#[test]
fn values_are_distinct_and_equally_many_in_each_plane() {
    for (planes, evs) in [(1, 128), (2, 128), (3, 64), (4, 128), (8, 256)] {
        let mrc = mrc(planes, &config(evs, evs, 1));
        let count = u32::from(evs).div_ceil(planes) * planes;
        let values: std::collections::BTreeSet<u16> =
            (0..count as u16).map(|index| mrc.0.rotation.value(index)).collect();
        assert_eq!(values.len(), count as usize);
        for index in 0..count as u16 {
            let value = u32::from(mrc.0.rotation.value(index));
            assert_eq!(value % planes, mrc.0.rotation.plane_of(index));
        }
    }
}

#[test]
fn there_are_no_more_source_routed_values_than_paths() {
    let paths = PathSpace::SINGLE.with_tier(4).unwrap().with_tier(3).unwrap();
    let network = NetworkParameters { planes: 4, ..NetworkParameters::default() };
    let qp = QpContext { paths, network, ..QpContext::for_test() };
    let config = Config { encoding: Encoding::Srv6, ..Config::default() };
    let mut mrc = Mrc::new(&config, &qp);
    assert_eq!((mrc.0.rotation.usable_count(), mrc.0.min_active), (12, 3));
    let mut seen: Vec<u16> = (0..120).map(|_| mrc.choose(at(0), ALL).unwrap()).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!((seen.len(), seen.first(), seen.last()), (12, Some(&0), Some(&11)));
}

/// Card of MRC, test 2.
#[test]
fn packets_are_spread_evenly_over_values_and_planes() {
    for (planes, evs, packets) in [(1, 64, 1_000), (4, 128, 4_097), (8, 96, 777)] {
        let mut mrc = mrc(planes, &config(evs, evs, 1));
        let uses = uses(&mut mrc, evs.into(), packets, |_| false);
        let (least, most) = (uses.iter().min().unwrap(), uses.iter().max().unwrap());
        assert!(most - least <= 1, "{planes} planes: {least} to {most}");
        let of_plane = |plane: usize| uses.iter().skip(plane).step_by(planes as usize).sum();
        let of_planes: Vec<u32> = (0..planes as usize).map(of_plane).collect();
        let (least, most) = (of_planes.iter().min().unwrap(), of_planes.iter().max().unwrap());
        assert!(most - least <= 1, "{of_planes:?}");
    }
}

/// Card of MRC, test 5.
#[test]
fn a_value_that_is_always_marked_gets_half_a_share() {
    for (planes, evs, marked) in [(1, 8, 1), (4, 16, 1), (4, 16, 4), (2, 64, 10)] {
        let mut mrc = mrc(planes, &config(evs, evs, 1));
        let packets = 200_000;
        let uses = uses(&mut mrc, evs.into(), packets, |index| index < marked);
        let whole = f64::from(2 * evs - marked);
        for (index, uses) in (0..evs).zip(uses) {
            let share = f64::from(uses) / f64::from(packets);
            let expected = if index < marked { 1.0 / whole } else { 2.0 / whole };
            let off = (share / expected - 1.0).abs();
            assert!(off < 0.02, "{marked} of {evs}: value {index} has {share}, not {expected}");
        }
    }
}

/// Card of MRC, test 5: no pause, and the V-th value is good again with packet 1 + V(V - 1)/2.
#[test]
fn after_all_were_marked_one_value_returns_per_packet() {
    for (evs, expected) in [(4, 7), (8, 29), (64, 2_017)] {
        let mut mrc = mrc(1, &config(evs, evs, 1));
        (0..evs).for_each(|index| feed(&mut mrc, at(0), index, PathSignal::Marked));
        let is_good = |mrc: &Mrc| (0..evs).all(|it| mrc.0.rotation.state(it) == State::Good);
        let mut packets = 0;
        while !is_good(&mrc) {
            next(&mut mrc);
            packets += 1;
        }
        assert_eq!(packets, expected, "{evs} values");
    }
}

#[test]
fn the_first_skipped_value_is_restored_but_not_used() {
    let mut mrc = mrc(1, &config(4, 4, 1));
    feed(&mut mrc, at(0), 0, PathSignal::Marked);
    feed(&mut mrc, at(0), 1, PathSignal::Trimmed);
    feed(&mut mrc, at(0), 2, PathSignal::TrimmedAtLastHop);
    assert_eq!(next(&mut mrc), 2);
    assert_eq!(mrc.0.rotation.state(0), State::Good);
    assert!(matches!(mrc.0.rotation.state(1), State::Skip(_)));
    assert_eq!([next(&mut mrc), next(&mut mrc), next(&mut mrc)], [3, 0, 2]);
    assert_eq!(mrc.0.rotation.state(1), State::Good);
}

#[test]
fn a_skip_may_end_with_any_visit_or_after_a_time() {
    let mut each = mrc(1, &Config { skip: Skip::Each, ..config(4, 4, 1) });
    (0..3).for_each(|index| feed(&mut each, at(0), index, PathSignal::Marked));
    assert_eq!([next(&mut each), next(&mut each)], [3, 0]);
    let mut timed = mrc(1, &Config { skip: Skip::Time(Span::from_us(5)), ..config(2, 2, 1) });
    feed(&mut timed, at(0), 0, PathSignal::Marked);
    let mut used = |us| {
        let value = timed.choose(at(us), ALL).unwrap();
        timed.0.rotation.index_of(value).unwrap()
    };
    assert_eq!([used(1), used(2), used(3)], [1, 1, 1]);
    assert_eq!([used(5), used(5)], [0, 1]);
}

#[test]
fn a_lost_value_is_replaced_by_a_backup_of_its_plane() {
    let mut mrc = mrc(2, &config(8, 4, 1));
    let before = mrc.0.rotation.in_rotation();
    let lost = before[0];
    feed(&mut mrc, at(1), lost, PathSignal::Nack);
    let after = mrc.0.rotation.in_rotation();
    assert_eq!(mrc.0.rotation.state(lost), State::AssumedBad);
    assert_eq!(after.len(), 4);
    let new = after.iter().find(|index| !before.contains(index)).unwrap();
    assert_eq!(new % 2, lost % 2);
    // A second report of the same path changes nothing.
    feed(&mut mrc, at(1), lost, PathSignal::Nack);
    assert_eq!((mrc.0.rotation.in_rotation(), mrc.0.probing.len()), (after, 1));
}

/// Card of MRC, test 7.
#[test]
fn at_the_floor_the_value_out_longest_returns() {
    let mut mrc = mrc(1, &config(4, 4, 2));
    (0..2).for_each(|index| feed(&mut mrc, at(index.into()), index, PathSignal::Nack));
    assert_eq!(mrc.0.rotation.in_rotation(), [2, 3]);
    feed(&mut mrc, at(2), 2, PathSignal::Nack);
    assert_eq!(mrc.0.rotation.in_rotation(), [0, 3]);
    feed(&mut mrc, at(3), 3, PathSignal::Nack);
    assert_eq!(mrc.0.rotation.in_rotation(), [0, 1]);
    for index in 0..40 {
        let value = next(&mut mrc);
        feed(&mut mrc, at(4 + index), value, PathSignal::Nack);
        assert_eq!(mrc.0.rotation.usable_count(), 2);
    }
}

/// Card of MRC, test 7: with `min_active` = V the policy is plain rotation.
#[test]
fn with_a_floor_of_all_values_losses_change_nothing() {
    let mut mrc = mrc(2, &config(8, 8, 8));
    let turns: Vec<u16> = (0..16)
        .map(|_| {
            let index = next(&mut mrc);
            feed(&mut mrc, at(0), index, PathSignal::Nack);
            index
        })
        .collect();
    assert_eq!(turns, [(0..8).collect::<Vec<_>>(), (0..8).collect()].concat());
}

/// Card of MRC, test 7.
#[test]
fn a_denied_value_is_never_used() {
    let denied = vec![1, 6];
    let mut mrc = mrc(2, &Config { denied, ..config(8, 8, 8) });
    let uses = uses(&mut mrc, 8, 600, |_| false);
    assert_eq!((uses[1], uses[6]), (0, 0));
    assert!(uses.iter().enumerate().all(|(index, &n)| n > 0 || [1, 6].contains(&index)));
}

/// Second card of MRC, G6.
#[test]
fn one_answered_probe_makes_a_value_good() {
    for (signal, state) in
        [(PathSignal::Good, State::Good), (PathSignal::Marked, State::Skip(at(105)))]
    {
        let mut mrc = mrc(1, &config(4, 4, 1));
        feed(&mut mrc, at(0), 2, PathSignal::Nack);
        let value = mrc.poll_probe(at(100)).unwrap();
        mrc.handle_probe(at(105), value, signal);
        assert_eq!((mrc.0.rotation.state(2), mrc.next_probe()), (state, Time::NEVER));
        assert_eq!(mrc.0.rotation.in_rotation(), [0, 1, 2, 3]);
    }
}

#[test]
fn three_answered_probes_make_a_value_a_backup() {
    let mut mrc = mrc(1, &Config { probe_successes: 3, ..config(4, 2, 1) });
    let lost = mrc.0.rotation.in_rotation()[0];
    feed(&mut mrc, at(0), lost, PathSignal::Nack);
    let value = mrc.0.rotation.value(lost);
    let rotation = mrc.0.rotation.in_rotation();
    for (probe, due) in [100, 200, 300].into_iter().enumerate() {
        assert_eq!((mrc.next_probe(), mrc.poll_probe(at(due - 1))), (at(due), None));
        assert_eq!((mrc.poll_probe(at(due)), mrc.poll_probe(at(due))), (Some(value), None));
        assert_eq!(mrc.0.rotation.state(lost), State::AssumedBad, "after {probe}");
        mrc.handle_probe(at(due + 5), value, PathSignal::Good);
    }
    assert_eq!((mrc.0.rotation.state(lost), mrc.next_probe()), (State::Good, Time::NEVER));
    assert_eq!(mrc.0.rotation.in_rotation(), rotation, "it is a backup");
    mrc.handle_probe(at(400), value, PathSignal::Good);
    assert_eq!(mrc.0.rotation.usable_count(), 4, "a late answer changes nothing");
}

#[test]
fn the_interval_doubles_with_each_unanswered_probe_up_to_a_limit() {
    let mut mrc = mrc(1, &config(4, 4, 1));
    feed(&mut mrc, at(0), 0, PathSignal::Nack);
    let mut dues = Vec::new();
    for _ in 0..10 {
        let due = mrc.next_probe();
        dues.push(due.since(Time::ZERO).as_ps() / 100_000_000);
        assert!(mrc.poll_probe(due).is_some());
    }
    assert_eq!(dues, [1, 2, 4, 8, 16, 32, 64, 128, 228, 328]);
}

#[test]
fn a_returning_plane_is_probed_before_it_is_used() {
    let mut mrc = mrc(2, &Config { probe_successes: 3, ..config(4, 4, 1) });
    mrc.handle_planes(at(0), PlaneMask::all(1));
    assert_eq!(mrc.next_probe(), Time::NEVER);
    mrc.handle_planes(at(50), PlaneMask::all(2));
    assert_eq!((mrc.0.rotation.in_rotation(), mrc.next_probe()), (vec![0, 2], at(150)));
    for due in [150, 250, 350] {
        let values: Vec<u16> = std::iter::from_fn(|| mrc.poll_probe(at(due))).collect();
        assert_eq!(values.len(), 2);
        for value in values {
            mrc.handle_probe(at(due + 8), value, PathSignal::Good);
        }
    }
    assert_eq!(mrc.0.rotation.in_rotation(), [0, 1, 2, 3]);
}

#[test]
fn with_back_all_a_returning_plane_is_used_immediately() {
    let mut mrc = self::mrc(2, &Config { back: Back::All, ..config(4, 4, 1) });
    mrc.handle_planes(at(0), PlaneMask::all(1));
    mrc.handle_planes(at(50), PlaneMask::all(2));
    assert_eq!((mrc.0.rotation.in_rotation(), mrc.next_probe()), (vec![0, 1, 2, 3], Time::NEVER));
}

#[test]
fn a_busy_plane_skips_none_of_its_values() {
    let mut mrc = mrc(2, &config(8, 8, 1));
    let plane_0 = PlaneMask::all(1);
    let mut used = |free| {
        let value = mrc.choose(at(0), free).unwrap();
        mrc.0.rotation.index_of(value).unwrap()
    };
    assert_eq!([used(plane_0), used(plane_0), used(ALL), used(ALL)], [0, 2, 1, 4]);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let error = |text: &str| {
        let error = (PRESETS[0].build)(&text.parse().unwrap()).unwrap_err();
        error.to_string()
    };
    assert!(error("evs = 0").contains("it must be 1 to 4096"));
    assert!(error("active = 129").contains("it must be 1 to evs = 128"));
    assert!(error("min_active = 129").contains("at most evs"));
    assert!(error("denied = [128]").contains("numbered 0 to 127"));
    assert!(error("probe_every = \"20ms\"").contains("not longer than the second"));
    assert!(error("skip = \"often\"").contains("'turn', or 'each'"));
}

#[test]
fn polling_without_a_free_plane_does_not_advance_the_rotation() {
    let after = |questions: u32| {
        let mut mrc = mrc(3, &config(12, 12, 0));
        // The values of plane 0 are out until their probes are answered.
        mrc.handle_planes(at(0), ALL.without(0));
        mrc.handle_planes(at(1), ALL);
        let only = PlaneMask::NONE.with(0);
        (0..questions).for_each(|_| assert_eq!(mrc.choose(at(2), only), None));
        (0..8).map(|_| next(&mut mrc)).collect::<Vec<_>>()
    };
    assert_eq!(after(0), [1, 2, 4, 5, 7, 8, 10, 11]);
    assert!((1..5).all(|questions| after(questions) == after(0)));
}

#[test]
fn parameters_at_their_bounds_are_accepted() {
    let takes = |text: &str| (PRESETS[0].build)(&text.parse().unwrap()).is_ok();
    assert!(takes("evs = 4096\nactive = 4096\nmin_active = 4096\ndenied = [4095]"));
    assert!(takes("evs = 1\nactive = 1\nmin_active = 0"));
    assert!(takes("reshuffle = 1\nprobe_successes = 1"));
    assert!(takes("probe_every = \"1us\"\nprobe_every_max = \"1us\""));
    assert!(!takes("reshuffle = 0") && !takes("probe_successes = 0"));
    assert!(takes("condemn_timeouts = 1") && !takes("condemn_timeouts = 0"));
    assert!(!takes("evs = 4097\nactive = 1") && !takes("probe_every = \"999ns\""));
}

#[test]
fn the_state_covers_all_values_and_those_that_are_out() {
    let mut mrc = mrc(2, &config(8, 4, 1));
    // Four bits give the position among eight values or none; the state of a value takes two.
    let values = 8 * (2 + 4) + 2 * 4;
    assert_eq!(mrc.state_bits(), values);
    (0..2).for_each(|index| feed(&mut mrc, at(0), index, PathSignal::Nack));
    assert_eq!(mrc.state_bits(), values + 2 * (8 + 2 + 1 + 14 + 24));
}

#[test]
fn at_the_floor_a_value_of_the_same_plane_returns_first() {
    let mut mrc = mrc(2, &config(8, 8, 5));
    [0, 2, 1].into_iter().for_each(|index| feed(&mut mrc, at(0), index, PathSignal::Nack));
    feed(&mut mrc, at(1), 3, PathSignal::Nack);
    assert_eq!(mrc.0.rotation.in_rotation(), [1, 4, 5, 6, 7], "not 0, which is out for longer");
    // In plane 1 only 3 is out. It returns when 5 fails; the next failure restores a value of the
    // other plane.
    mrc.handle_planes(at(1), PlaneMask::all(1));
    feed(&mut mrc, at(2), 5, PathSignal::Nack);
    assert_eq!(mrc.0.rotation.in_rotation(), [0, 1, 4, 6, 7], "plane 1 is not usable");
}

#[test]
fn a_plane_that_stays_usable_does_not_restart_its_probes() {
    let mut mrc = mrc(2, &config(8, 8, 1));
    feed(&mut mrc, at(0), 0, PathSignal::Nack);
    assert_eq!(mrc.next_probe(), at(100));
    mrc.handle_planes(at(60), PlaneMask::all(2));
    assert_eq!(mrc.next_probe(), at(100));
    mrc.handle_planes(at(70), PlaneMask::all(1));
    assert_eq!(mrc.next_probe(), at(100));
}

#[test]
fn the_only_good_value_of_many_planes_is_found_in_one_round() {
    let mut mrc = mrc(4, &Config { skip: Skip::Time(Span::from_us(9)), ..config(16, 16, 1) });
    (0..15).for_each(|index| feed(&mut mrc, at(0), index, PathSignal::Marked));
    let value = mrc.choose(at(1), ALL).unwrap();
    assert_eq!(mrc.0.rotation.index_of(value), Some(15));
}

#[test]
fn removing_an_earlier_value_keeps_the_position() {
    let mut mrc = mrc(1, &config(4, 4, 1));
    assert_eq!([next(&mut mrc), next(&mut mrc)], [0, 1]);
    feed(&mut mrc, at(0), 0, PathSignal::Nack);
    assert_eq!([next(&mut mrc), next(&mut mrc), next(&mut mrc)], [2, 3, 1]);
}

#[test]
fn a_probe_that_is_polled_late_is_still_sent() {
    let mut mrc = mrc(1, &config(4, 4, 1));
    feed(&mut mrc, at(0), 0, PathSignal::Nack);
    assert_eq!((mrc.next_probe(), mrc.poll_probe(at(103)).is_some()), (at(100), true));
    assert_eq!(mrc.next_probe(), at(203));
}

#[test]
fn the_order_is_reshuffled_after_the_configured_turns() {
    let config = Config { reshuffle: 2, ..config(16, 16, 1) };
    let mut mrc = Mrc::new(&config, &QpContext::for_test());
    let turns: Vec<Vec<u16>> = (0..6).map(|_| (0..16).map(|_| next(&mut mrc)).collect()).collect();
    for pair in turns.chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
    assert!(turns[1] != turns[2] && turns[3] != turns[4], "{turns:?}");
}
