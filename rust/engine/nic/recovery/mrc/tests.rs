use super::*;

const RTT: Span = Span::from_us(8);

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn by_round_trip(base_rtt: Span) -> Mrc {
    Mrc::new(Config::by_round_trip(), &SenderFacts::for_test(Span::from_ms(1), base_rtt))
}

/// Ten packets, sent one microsecond apart, with their numbers as entropy values.
fn ten() -> Mrc {
    let mut mrc = by_round_trip(RTT);
    for packet in 0..10u16 {
        assert_eq!(mrc.next(10), Some(packet.into()));
        mrc.handle_sent(at(packet.into()), packet);
    }
    mrc
}

fn arrived(ack: u64, sack: u64) -> Arrived {
    Arrived { ack, base: ack, sack, complete: false }
}

fn lost(mrc: &mut Mrc) -> Vec<u16> {
    std::iter::from_fn(|| mrc.poll_lost()).map(|lost| lost.entropy).collect()
}

#[test]
fn the_timeout_is_the_smallest_power_of_two_above_four_round_trips() {
    assert_eq!(by_round_trip(RTT).timer, Span::from_ps(32_768_000));
    assert_eq!(by_round_trip(Span::from_ns(100)).timer, Span::from_ps(4_096_000));
    // Reports show the same value.
    let recovery = crate::nic::Recovery::from(Config::by_round_trip());
    let reported = recovery.first_timeout(Span::from_ms(1), || RTT);
    assert_eq!(reported, Span::from_ps(32_768_000));
    let covering = crate::nic::Recovery::from(Config::default());
    let reported = covering.first_timeout(Span::from_us(100), || RTT);
    assert_eq!(reported, Span::from_ps(131_072_000), "the smallest above 100 us");
    let own = Config { timer: Wait::Span(Span::from_us(262)), ..Config::by_round_trip() };
    let reported = crate::nic::Recovery::from(own).first_timeout(Span::from_ms(1), || RTT);
    assert_eq!(reported, Span::from_us(262));
    let other = crate::nic::Recovery::PER_PACKET.first_timeout(Span::from_ms(1), || RTT);
    assert_eq!(other, Span::from_ms(1));
}

#[test]
fn a_hole_is_lost_one_reordering_time_after_a_later_arrival() {
    let mut mrc = ten();
    assert_eq!(mrc.handle_ack(at(12), arrived(2, 0b10)), 3, "2 is missing, 3 is there");
    assert_eq!((mrc.deadline(), lost(&mut mrc)), (at(20), vec![]));
    assert_eq!(mrc.handle_ack(at(14), arrived(2, 0b1010)), 1, "4 is missing too");
    assert_eq!(mrc.handle_timeout(at(20)), None);
    assert_eq!(lost(&mut mrc), [2]);
    assert_eq!(mrc.next(10), Some(2));
    assert_eq!(mrc.deadline(), at(22));
    mrc.handle_sent(at(20), 77);
    assert_eq!(mrc.handle_timeout(at(22)), None);
    assert_eq!(lost(&mut mrc), [4]);
}

#[test]
fn a_hole_as_old_as_the_timer_must_be_has_timed_out() {
    // Four round trips of 8 us, before they are rounded up: packet 4 is sent at 4 us.
    for (age, timed_out) in [(31, false), (32, true)] {
        let mut mrc = ten();
        mrc.handle_ack(at(4 + age - 8), arrived(4, 0b10));
        assert_eq!(mrc.handle_timeout(at(4 + age)), None);
        assert_eq!(
            mrc.poll_lost().map(|lost| (lost.entropy, lost.timed_out)),
            Some((4, timed_out))
        );
    }
    // By default holes are as old as the timer.
    let mut mrc = Mrc::new(Config::default(), &SenderFacts::for_test(Span::from_us(100), RTT));
    (0..2).for_each(|packet| mrc.handle_sent(at(0), packet));
    mrc.handle_ack(at(8), arrived(0, 0b10));
    assert_eq!(mrc.handle_timeout(mrc.deadline()), None);
    assert!(mrc.poll_lost().unwrap().timed_out);
}

#[test]
fn the_oldest_packet_goes_first_even_if_it_was_lost_last() {
    let mut mrc = ten();
    mrc.handle_ack(at(12), arrived(0, 1 << 5));
    assert_eq!(mrc.handle_timeout(at(20)), None);
    assert_eq!(lost(&mut mrc), [0, 1, 2, 3, 4]);
    assert_eq!(mrc.next(10), Some(0));
    // A window of one packet: the others wait while this one is lost again.
    mrc.handle_sent(at(20), 77);
    let due = at(20) + Span::from_ps(32_768_000);
    while mrc.handle_timeout(due).is_some() {}
    assert_eq!(mrc.next(10), Some(0));
    // It arrives, and the next timeout starts another series.
    mrc.handle_sent(due, 78);
    assert_eq!(
        (
            mrc.consecutive_failures(),
            mrc.handle_ack(due, arrived(1, 0)),
            mrc.consecutive_failures()
        ),
        (1, 1, 0)
    );
    assert_eq!(mrc.next(10), Some(1));
}

#[test]
fn a_gap_that_fills_in_time_is_not_a_loss() {
    let mut mrc = ten();
    mrc.handle_ack(at(12), arrived(0, 0b10));
    mrc.handle_ack(at(19), arrived(2, 0));
    assert_eq!(mrc.handle_timeout(at(20)), None);
    assert_eq!((lost(&mut mrc), mrc.next(10)), (vec![], None));
}

#[test]
fn every_timeout_is_reported_and_waits_double_after_the_linear_ones() {
    let mut mrc = ten();
    let due = Time::from_ps(32_768_000);
    assert_eq!(mrc.deadline(), due);
    // Only packets sent a full timeout ago: the first of ten.
    assert_eq!(mrc.handle_timeout(due), Some(TimedOut { entropy: 0 }));
    assert_eq!(mrc.handle_timeout(due), None);
    let wait = |mrc: &mut Mrc| {
        let from = mrc.since;
        let due = mrc.deadline();
        while mrc.handle_timeout(due).is_some() {}
        while mrc.next(10).is_some() && mrc.window.next(0).is_some() {
            mrc.handle_sent(due, 0);
        }
        due.since(from).as_ps() / 32_768_000
    };
    let waits: Vec<u64> = (0..9).map(|_| wait(&mut mrc)).collect();
    assert_eq!(waits, [1, 1, 1, 1, 1, 1, 1, 2, 4]);
}

#[test]
fn no_packet_goes_beyond_the_maximum_psn_range() {
    let mrc =
        Mrc::new(Config { mpr: 128, ..Config::by_round_trip() }, &SenderFacts::for_test(RTT, RTT));
    assert_eq!(mrc.window_end(1 << 23), 128);
}

/// Card of MRC, section 1.6: each timeout and each recoverable NACK counts. Only timeouts lengthen
/// the wait: a NACK shows that the receiver is alive.
#[test]
fn nacks_for_the_oldest_packet_count_and_do_not_lengthen_the_wait() {
    let mut mrc = ten();
    let trimmed = |psn| NackReport { missing: 0, psn, reason: MissReason::Trimmed };
    let nack = |mrc: &mut Mrc, psn| {
        assert!(mrc.handle_nack(at(12), trimmed(psn)));
        assert_eq!(mrc.next(10), Some(psn));
        mrc.handle_sent(at(12), 0);
    };
    nack(&mut mrc, 3);
    assert_eq!(mrc.consecutive_failures(), 0, "3 is not the oldest");
    (0..7).for_each(|_| nack(&mut mrc, 0));
    let wait = |mrc: &Mrc| mrc.deadline().since(mrc.since).as_ps() / 32_768_000;
    assert_eq!((mrc.consecutive_failures(), wait(&mrc)), (7, 1));
    nack(&mut mrc, 0);
    assert_eq!((mrc.consecutive_failures(), wait(&mrc)), (8, 1));
    assert!(!mrc.handle_nack(at(13), NackReport { reason: MissReason::Gap, ..trimmed(0) }));
    assert_eq!(mrc.consecutive_failures(), 8, "it repeats what acknowledgements say");
    mrc.handle_ack(at(14), arrived(1, 0));
    assert_eq!((mrc.consecutive_failures(), wait(&mrc)), (0, 1), "progress resets the count");
}

#[test]
fn a_new_recovery_begins_with_the_first_gap_beyond_the_last_one() {
    let mut mrc = ten();
    let positions = |mrc: &mut Mrc| -> Vec<_> {
        std::iter::from_fn(|| mrc.poll_lost()).map(|lost| (lost.entropy, lost.position)).collect()
    };
    mrc.handle_ack(at(12), arrived(0, 0b100));
    mrc.handle_timeout(at(20));
    assert_eq!(positions(&mut mrc), [(0, LostPosition::First), (1, LostPosition::Later)]);
    // All ten that were in flight then have arrived: the next hole starts another recovery.
    mrc.handle_ack(at(21), arrived(10, 0));
    (10..13).for_each(|packet| mrc.handle_sent(at(22), packet));
    mrc.handle_ack(at(23), arrived(10, 0b100));
    mrc.handle_timeout(at(31));
    assert_eq!(positions(&mut mrc), [(10, LostPosition::First), (11, LostPosition::Later)]);
}

#[test]
fn twenty_five_doubling_intervals_mean_unlimited_retries() {
    let retries = |exponential| Config { linear: 7, exponential, ..Config::default() }.retries();
    assert_eq!([0, 24, 25].map(retries), [Some(7), Some(31), None]);
}

#[test]
fn an_arrival_before_the_newest_does_not_delay_the_verdict() {
    let mut mrc = ten();
    mrc.handle_ack(at(12), arrived(0, 1 << 5));
    mrc.handle_ack(at(14), arrived(0, 1 << 3));
    assert_eq!(mrc.handle_timeout(at(20)), None);
    assert_eq!(lost(&mut mrc), [0, 1, 2, 4]);
    assert_eq!(mrc.deadline(), Time::from_ps(32_768_000), "the timeout is next");
}

#[test]
fn retransmitting_the_oldest_packet_or_the_only_one_restarts_the_timer() {
    let trimmed = |psn| NackReport { missing: 0, psn, reason: MissReason::Trimmed };
    for all in [[0].as_slice(), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
        let mut mrc = ten();
        assert!(all.iter().all(|&psn| mrc.handle_nack(at(12), trimmed(psn))));
        // The last trimmed packet goes first.
        assert_eq!(mrc.next(10), all.last().copied());
        mrc.handle_sent(at(20), 77);
        assert_eq!(mrc.deadline(), at(20) + Span::from_ps(32_768_000), "{all:?}");
    }
}

#[test]
fn only_the_oldest_packet_resets_failures_and_the_timer() {
    let mut mrc = ten();
    assert!(
        mrc.handle_nack(at(12), NackReport { missing: 0, psn: 0, reason: MissReason::Trimmed })
    );
    mrc.handle_sent(at(12), 77);
    let due = mrc.timer_due();
    assert_eq!((mrc.handle_ack(at(14), arrived(0, 1 << 5)), mrc.consecutive_failures()), (1, 1));
    assert_eq!(mrc.timer_due(), due);
    assert_eq!((mrc.handle_ack(at(15), arrived(1, 0)), mrc.consecutive_failures()), (1, 0));
    assert_eq!(mrc.timer_due(), at(15) + Span::from_ps(32_768_000));
}
