//! Losses and signals that take a value out of the rotation.

use super::*;

/// Second card of MRC, G3.
#[test]
fn by_default_only_timeouts_remove_a_value() {
    let mut mrc = mrc(1, &Config { encoding: Encoding::Ecmp, ..Config::default() });
    (0..5).for_each(|us| feed(&mut mrc, at(us), 3, PathSignal::Nack));
    assert_eq!(mrc.0.rotation.state(3), State::Good);
    let value = mrc.0.rotation.value(3);
    mrc.handle_timeout(at(5), value);
    assert_eq!(mrc.0.rotation.state(3), State::AssumedBad);
}

#[test]
fn an_arrival_between_timeouts_starts_their_count_again() {
    let (condemn, condemn_timeouts) = (Condemn::Timeout, 3);
    let mut mrc = mrc(1, &Config { condemn, condemn_timeouts, ..config(8, 8, 1) });
    let value = mrc.0.rotation.value(3);
    let timeouts = |mrc: &mut Mrc, count| {
        (0..count).for_each(|_| {
            mrc.handle_timeout(at(1), value);
        })
    };
    timeouts(&mut mrc, 2);
    feed(&mut mrc, at(2), 3, PathSignal::Good);
    feed(&mut mrc, at(2), 4, PathSignal::Good);
    timeouts(&mut mrc, 2);
    assert_eq!(mrc.0.rotation.state(3), State::Good);
    timeouts(&mut mrc, 1);
    assert_eq!(mrc.0.rotation.state(3), State::AssumedBad);
}

/// Second card of MRC, G14: sections 7.5 and figure 5.
#[test]
fn always_skip_removes_a_good_and_a_skipped_value() {
    let mut mrc = mrc(1, &Config { condemn: Condemn::Timeout, ..config(8, 8, 1) });
    feed(&mut mrc, at(1), 4, PathSignal::Marked);
    [3, 4].into_iter().for_each(|index| feed(&mut mrc, at(1), index, PathSignal::Condemned));
    assert_eq!([3, 4].map(|index| mrc.0.rotation.state(index)), [State::AssumedBad; 2]);
}

#[test]
fn without_trimming_a_timeout_or_a_second_hole_removes_a_value() {
    let config = Config { condemn: Condemn::Auto, ..config(8, 8, 1) };
    let mut mrc = mrc(1, &config);
    feed(&mut mrc, at(0), 3, PathSignal::Nack);
    feed(&mut mrc, at(9), 3, PathSignal::Nack);
    assert_eq!(mrc.0.rotation.state(3), State::Good, "a base round-trip time is 8 us");
    feed(&mut mrc, at(17), 3, PathSignal::Nack);
    assert_eq!(mrc.0.rotation.state(3), State::AssumedBad);
    let value = mrc.0.rotation.value(4);
    mrc.handle_timeout(at(18), value);
    assert_eq!(mrc.0.rotation.state(4), State::AssumedBad);
}
