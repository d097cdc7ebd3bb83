//! Values that are skipped for a while.

use super::*;

#[test]
fn with_all_values_skipped_or_out_a_value_that_is_not_denied_is_used() {
    let skip = Skip::Time(Span::from_us(9));
    let mut timed = mrc(2, &Config { skip, ..config(8, 8, 1) });
    // Plane 0 has no value left in rotation, and those of plane 1 are skipped.
    [0, 2, 4, 6].into_iter().for_each(|index| feed(&mut timed, at(0), index, PathSignal::Nack));
    [1, 3, 5, 7].into_iter().for_each(|index| feed(&mut timed, at(0), index, PathSignal::Marked));
    for _ in 0..20 {
        let value = timed.choose(at(1), ALL).expect("all of a plane are skipped");
        assert_eq!(timed.0.rotation.index_of(value).unwrap() % 2, 1);
    }
    assert_eq!(timed.choose(at(1), PlaneMask::all(1)), None, "another plane has usable values");

    let mut out = mrc(1, &Config { denied: vec![1], ..config(4, 4, 0) });
    [0, 2, 3].into_iter().for_each(|index| feed(&mut out, at(0), index, PathSignal::Nack));
    let used: std::collections::BTreeSet<u16> = (0..100).map(|_| next(&mut out)).collect();
    assert_eq!(Vec::from_iter(used), [0, 2, 3]);
    let value = out.entropy(at(1));
    assert_ne!(out.0.rotation.index_of(value), Some(1));
}

#[test]
fn the_duration_of_a_skip_is_read_and_written() {
    for (text, skip) in
        [("turn", Skip::Turn), ("each", Skip::Each), ("5us", Skip::Time(Span::from_us(5)))]
    {
        let config: Config = toml::from_str(&format!("skip = \"{text}\"")).unwrap();
        assert_eq!(config.skip, skip);
        let written = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<Config>(&written).unwrap(), config);
    }
}

#[test]
fn with_all_values_skipped_for_a_time_one_with_a_free_port_is_used() {
    let skip = Skip::Time(Span::from_us(9));
    let mut mrc = mrc(2, &Config { skip, ..config(8, 8, 1) });
    (0..8).for_each(|index| feed(&mut mrc, at(0), index, PathSignal::Marked));
    for plane in [0, 1, 1, 0, 0] {
        let value = mrc.choose(at(1), PlaneMask::NONE.with(plane)).unwrap();
        assert_eq!(u32::from(value) % 2, plane);
    }
}

#[test]
fn while_all_are_skipped_for_a_time_packets_cycle_through_all_values() {
    let skip = Skip::Time(Span::from_us(9));
    for (planes, evs) in [(1, 3), (2, 8), (4, 16)] {
        let mut mrc = mrc(planes, &Config { skip, ..config(evs, evs, 1) });
        (0..evs).for_each(|index| feed(&mut mrc, at(0), index, PathSignal::Marked));
        let used = |_| {
            let value = mrc.choose(at(1), ALL).unwrap();
            mrc.0.rotation.index_of(value).unwrap()
        };
        assert_eq!(
            (0..2 * evs).map(used).collect::<Vec<u16>>(),
            [(0..evs).collect::<Vec<u16>>(), (0..evs).collect()].concat()
        );
    }
}

/// Three values are in the plane whose port is free, and four in the other.
#[test]
fn while_all_are_skipped_packets_cycle_through_the_values_of_the_free_port() {
    let skip = Skip::Time(Span::from_us(9));
    let mut mrc = mrc(2, &Config { skip, denied: vec![0], ..config(8, 8, 1) });
    (1..8).for_each(|index| feed(&mut mrc, at(0), index, PathSignal::Marked));
    let used = |_| {
        let value = mrc.choose(at(1), PlaneMask::NONE.with(0)).unwrap();
        mrc.0.rotation.index_of(value).unwrap()
    };
    assert_eq!((0..6).map(used).collect::<Vec<u16>>(), [2, 4, 6, 2, 4, 6]);
}
