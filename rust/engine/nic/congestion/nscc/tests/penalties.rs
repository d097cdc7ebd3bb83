//! Windows under a receiver's penalties.

use super::*;
use crate::nic::congestion::ReceiverRequest;

/// Acknowledges one packet, marked at the target so that the window does not change otherwise.
fn requested(control: &mut Nscc, in_flight: u64, receiver: ReceiverRequest) -> f64 {
    let rtt = PATH.base_rtt + us(6);
    let sample = AckSample { rtt, in_flight, receiver, ..AckSample::for_test(0, 0, 1) };
    control.handle_ack(at(5), sample);
    control.window
}

fn penalty(penalty: u8) -> ReceiverRequest {
    ReceiverRequest { penalty, restore: false }
}

const RESTORE: ReceiverRequest = ReceiverRequest { penalty: 0, restore: true };

/// Card of MRC, section 1.7: p = 64 in every acknowledgement of a round trip halves the window.
#[test]
fn a_round_trip_of_penalties_takes_off_its_fraction_of_the_window() {
    for (p, left) in [(1, 99_218.75), (32, 75_000.0), (64, 50_000.0), (127, 1_000.0)] {
        let mut control = control(100);
        for packet in 1..=100 {
            requested(&mut control, 100_000 - packet * PACKET, penalty(p));
        }
        assert_eq!(control.window, left, "p = {p}");
    }
}

#[test]
fn the_first_penalty_cuts_to_the_bytes_in_flight_and_restore_reverts_it() {
    let mut control = control(100);
    assert_eq!(requested(&mut control, 39_000, penalty(0)), 100_000.0);
    assert_eq!(
        requested(&mut control, 39_000, penalty(64)),
        39_500.0,
        "40 packets, and half of one"
    );
    assert_eq!(requested(&mut control, 20_000, penalty(64)), 39_000.0, "cut once");
    // Increases are suspended, with and without a penalty.
    for receiver in [penalty(0), penalty(0), penalty(0)] {
        for delay in [Span::ZERO, us(12)] {
            let rtt = PATH.base_rtt + delay;
            let sample = AckSample { rtt, receiver, ..AckSample::for_test(0, 0, 0) };
            (0..60).for_each(|_| control.handle_ack(at(7), sample));
        }
    }
    assert_eq!(control.window, 39_000.0);
    // Cuts by losses are not.
    control.handle_loss(at(8), Loss::Timeout);
    assert_eq!(control.window, 38_000.0);
    assert_eq!(requested(&mut control, 20_000, RESTORE), 100_000.0);
    assert_eq!(requested(&mut control, 20_000, RESTORE), 100_000.0, "there is nothing saved");
    // The next penalty saves the window again, and is at most 127.
    assert_eq!(requested(&mut control, 1_000, penalty(255)), 2_000.0 - 127.0 * 1_000.0 / 128.0);
    let last = (0..10).map(|_| requested(&mut control, 1_000, penalty(127))).last();
    assert_eq!(last, Some(PACKET as f64), "never less than a packet");
}

/// Checks that the window stays within its bounds and does not grow under a penalty.
fn check_bounds(steps: &[[u8; 5]]) {
    let mut control = control(100);
    let mut now = at(1);
    for &[kind, amount, penalty, time, delay] in steps {
        now = now.saturating_add(us(time.into()));
        let before = control.window;
        let has_penalty = control.state.saved.is_some();
        match kind % 8 {
            0 => control.handle_loss(now, Loss::Timeout),
            1 => control.handle_loss(now, Loss::Trimmed),
            2 => control.handle_later_loss(now),
            _ => {
                let receiver = ReceiverRequest { penalty, restore: kind & 64 != 0 };
                let sample = AckSample {
                    packets: amount.into(),
                    rtt: PATH.base_rtt + Span::from_ns(200) * delay.into(),
                    in_flight: u64::from(amount) * 700,
                    receiver,
                    ..AckSample::for_test(0, 0, u32::from(kind & 128 != 0))
                };
                control.handle_ack(now, sample);
                let may_grow = receiver.restore || !has_penalty && penalty == 0;
                assert!(may_grow || control.window <= before);
            }
        }
        let largest = control.state.law.largest(control.state.base_rtt);
        assert!((PACKET as f64..=largest).contains(&control.window));
    }
}

#[test]
fn a_first_penalty_at_the_end_of_a_quick_adapt_period_does_not_raise_the_window() {
    check_bounds(&[
        [3, 3, 0, 0, 0],
        [1, 0, 0, 25, 0],
        [209, 0, 0, 0, 0],
        [19, 2, 0, 25, 0],
        [185, 0, 0, 0, 0],
        [163, 3, 1, 25, 0],
    ]);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        failure_persistence: None,
        ..proptest::test_runner::Config::with_cases(10_000)
    })]

    #[test]
    fn a_window_under_penalties_stays_within_its_bounds(
        steps in proptest::collection::vec(proptest::prelude::any::<[u8; 5]>(), 1..60),
    ) {
        check_bounds(&steps);
    }
}
