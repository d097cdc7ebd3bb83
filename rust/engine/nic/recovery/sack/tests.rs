//! Scenarios for selective acknowledgements.

use super::*;
use crate::units::BitRate;

const RTO_LOW: Span = Span::from_us(100);
const RTO_HIGH: Span = Span::from_us(320);

fn sent(packets: u64, reordering: u32) -> Sack {
    let mut window = Sack::new(
        Config { reordering, ..Config::default() },
        &SenderFacts::for_test(RTO_HIGH, Span::ZERO),
    );
    for n in 0..packets {
        window.handle_sent(Time::from_ps(n), n as u16);
    }
    window
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

const fn lost(entropy: u16, position: LostPosition) -> Lost {
    Lost { entropy, position, timed_out: false }
}

/// Acknowledges `sequence` while `ack` is missing.
fn ack(window: &mut Sack, now: Time, ack: u64, sequence: u64) -> u64 {
    window.handle_ack(now, Arrived { ack, base: sequence, sack: 1, complete: false })
}

fn resend(window: &mut Sack, now: Time) -> Vec<u64> {
    let end = window.never_sent();
    let mut again = Vec::new();
    while let Some(sequence) = window.next(end) {
        again.push(sequence);
        window.handle_sent(now, 99);
    }
    again
}

#[test]
fn the_first_arrival_beyond_a_gap_retransmits_only_the_gap() {
    let mut window = sent(10, 0);
    ack(&mut window, at(1), 1, 0);
    assert_eq!((window.next(10), window.poll_lost()), (None, None));
    ack(&mut window, at(1), 1, 3);
    assert_eq!(window.poll_lost(), Some(lost(1, LostPosition::First)));
    assert_eq!(window.poll_lost(), Some(lost(2, LostPosition::Later)));
    assert_eq!(resend(&mut window, at(2)), [1, 2]);
    ack(&mut window, at(2), 1, 4);
    assert!(resend(&mut window, at(2)).is_empty(), "each is retransmitted once");
    ack(&mut window, at(2), 1, 8);
    assert_eq!(resend(&mut window, at(2)), [5, 6, 7]);
    assert_eq!(window.poll_lost().unwrap().position, LostPosition::Later, "the same recovery");
    ack(&mut window, at(3), 10, 9);
    assert_eq!((window.unacknowledged(), window.deadline()), (10, Time::NEVER));
}

#[test]
fn a_recovery_ends_when_everything_sent_before_it_has_arrived() {
    let mut window = sent(4, 0);
    ack(&mut window, at(1), 0, 1);
    window.losses.clear();
    assert_eq!(resend(&mut window, at(1)), [0]);
    for n in 4..8 {
        window.handle_sent(at(1), n);
    }
    ack(&mut window, at(2), 0, 5);
    assert_eq!(window.poll_lost().unwrap(), lost(2, LostPosition::Later));
    window.losses.clear();
    ack(&mut window, at(3), 4, 0);
    ack(&mut window, at(3), 4, 7);
    assert_eq!(window.poll_lost().unwrap(), lost(6, LostPosition::First));
}

#[test]
fn the_first_gap_of_a_recovery_retransmits_every_unreported_packet() {
    let config = Config { resends: Retransmit::Unreported, ..Config::default() };
    let mut window = Sack::new(config, &SenderFacts::for_test(RTO_HIGH, Span::ZERO));
    for n in 0..10 {
        window.handle_sent(Time::from_ps(n), n as u16);
    }
    ack(&mut window, at(1), 1, 3);
    // Paths are judged only by packets of the gap.
    assert_eq!(window.poll_lost(), Some(lost(1, LostPosition::First)));
    assert_eq!(window.poll_lost(), Some(lost(2, LostPosition::Later)));
    assert_eq!(window.poll_lost(), None);
    // Packets reported meanwhile are skipped.
    ack(&mut window, at(1), 1, 5);
    assert_eq!(resend(&mut window, at(2)), [1, 2, 4, 6, 7, 8, 9]);
    ack(&mut window, at(2), 1, 8);
    assert!(resend(&mut window, at(2)).is_empty(), "once in a recovery");
    // An acknowledgement without a gap ends the recovery, although 9 was in flight at its start.
    ack(&mut window, at(3), 9, 7);
    for n in 10..13 {
        window.handle_sent(at(3), n);
    }
    ack(&mut window, at(4), 9, 11);
    assert_eq!(resend(&mut window, at(4)), [9, 10, 12]);
}

#[test]
fn reordering_up_to_the_threshold_is_not_a_loss() {
    for threshold in [1, 6, 32, 100] {
        let mut window = sent(200, threshold);
        for n in 1..=u64::from(threshold) {
            ack(&mut window, at(1), 0, n);
            assert_eq!(window.next(200), None, "{n} beyond, of {threshold}");
        }
        ack(&mut window, at(1), 0, u64::from(threshold) + 1);
        assert_eq!(resend(&mut window, at(1)), [0], "{threshold}");
    }
}

#[test]
fn few_packets_wait_for_the_short_timer_and_many_for_the_long_one() {
    let mut window = sent(4, 0);
    assert_eq!(window.deadline(), Time::ZERO + RTO_HIGH);
    ack(&mut window, at(5), 1, 0);
    assert_eq!(window.deadline(), at(5) + RTO_LOW, "three are in flight");
    assert_eq!(window.handle_timeout(at(104)), None, "early is harmless");
    assert_eq!(window.handle_timeout(at(105)), Some(TimedOut { entropy: 1 }));
    assert_eq!((window.deadline(), window.in_flight()), (Time::NEVER, 0));
    assert_eq!(resend(&mut window, at(106)), [1, 2, 3]);
    assert_eq!(window.deadline(), at(106) + RTO_LOW);
}

#[test]
fn acknowledgements_that_leave_the_oldest_missing_do_not_restart_its_timer() {
    let mut window = sent(100, 0);
    for n in 1..50 {
        ack(&mut window, at(n), 0, n);
    }
    assert_eq!(resend(&mut window, at(50)), [0]);
    let due = at(50) + RTO_HIGH;
    ack(&mut window, at(60), 0, 50);
    assert_eq!(window.deadline(), due, "counted from the retransmission");
    // Packets sent longer ago than the timeout are lost with it, except those known to have
    // arrived.
    window.handle_timeout(due);
    assert_eq!(resend(&mut window, due), std::iter::once(0).chain(51..100).collect::<Vec<_>>());
}

#[test]
fn a_late_acknowledgement_cancels_the_retransmission() {
    let mut window = sent(3, 0);
    ack(&mut window, at(1), 0, 1);
    assert_eq!((window.next(3), window.in_flight()), (Some(0), 1));
    ack(&mut window, at(1), 2, 0);
    assert_eq!((window.next(3), window.in_flight()), (None, 1));
}

#[test]
fn a_trimmed_packet_goes_first_and_invalid_nacks_change_nothing() {
    let mut window = sent(10, 0);
    ack(&mut window, at(1), 0, 2);
    let trimmed = |psn| NackReport { missing: 0, psn, reason: MissReason::Trimmed };
    assert!(window.handle_nack(at(1), trimmed(7)));
    for psn in [7, 0, 2, 10, 1 << 40] {
        assert!(!window.handle_nack(at(1), trimmed(psn)), "{psn}");
    }
    assert_eq!(ack(&mut window, at(1), 900, 900), 0);
    assert_eq!(ack(&mut window, at(1), 0, 1 << 40), 0);
    assert_eq!(resend(&mut window, at(1)), [7, 0, 1]);
}

#[test]
fn the_window_parses_and_serializes() {
    let read = |text: &str| toml::from_str::<Config>(&format!("flow_control = {text:?}"));
    assert_eq!(read("off").unwrap().flow_control, Window::Off);
    assert_eq!(read("104KB").unwrap().flow_control, Window::Bytes(Bytes::new(104_000)));
    assert!(read("much").is_err());
    let text = toml::to_string(&Config::default()).unwrap();
    assert_eq!(toml::from_str::<Config>(&text).unwrap(), Config::default());
    let path = PathFacts {
        line_rate: BitRate::from_gbps(16),
        base_rtt: Span::from_ns(1_001),
        has_equal_paths: true,
        packet: Bytes::new(1_000),
        payload: Bytes::new(1_000),
        pace_unit: Span::from_ps(1),
    };
    assert_eq!((path.bdp().get(), Window::Bdp.bytes(&path)), (2_002, 3_000));
}

#[test]
fn a_waiting_packet_is_not_retransmitted_twice() {
    let config = Config { resends: Retransmit::Unreported, ..Config::default() };
    let mut window = Sack::new(config, &SenderFacts::for_test(RTO_HIGH, Span::ZERO));
    for n in 0..5 {
        window.handle_sent(Time::from_ps(n), n as u16);
    }
    assert!(
        window.handle_nack(at(1), NackReport { missing: 0, psn: 2, reason: MissReason::Trimmed })
    );
    assert_eq!(window.pending_retransmissions(), 1);
    ack(&mut window, at(2), 0, 3);
    assert_eq!((window.pending_retransmissions(), window.in_flight()), (4, 0));
    assert_eq!(resend(&mut window, at(3)), [0, 1, 2, 4]);
}
