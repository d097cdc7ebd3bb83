use super::*;
use crate::nic::congestion::CongestionControl;
use crate::nic::congestion::rccc::Config;
use crate::units::{Bytes, Fraction};

/// Ports of 100 Gbps with a base round trip of 8 us: the limit is 150,000 B, 586 units.
fn credits(config: Config) -> Credits {
    let nic = NicConfig {
        payload: Bytes::new(938),
        congestion: CongestionControl::Rccc(config),
        ..NicConfig::default()
    };
    let port = PortFacts { line_rate: BitRate::from_gbps(100), base_rtt: Span::from_us(8) };
    *Credits::of(HostId(0), port, &nic).unwrap()
}

fn slot(index: usize) -> Slot {
    Slot::last_of(index + 1)
}

fn asking_for(units: u64) -> CreditRequest {
    let target = Psn::on_wire(FIRST + units);
    CreditRequest { target, policy: ServePolicy::IfMore, entropy: 7, flags: Flags::NONE }
}

/// Returns the grants until `end`: their times, senders and numbers.
fn granted(credits: &mut Credits, end: Time) -> Vec<(u64, usize, u64)> {
    let mut grants = Vec::new();
    while credits.due() <= end {
        let now = credits.due();
        let grant = credits.poll(now).unwrap();
        grants.push((now.as_ps() / 1_000, grant.slot.index(), grant.number - FIRST));
    }
    grants
}

#[test]
fn requesting_senders_are_served_round_robin_at_99_percent_of_the_rate() {
    let mut credits = credits(Config { unasked: false, ..Config::default() });
    credits.record(Time::ZERO, slot(0), asking_for(128));
    credits.record(Time::ZERO, slot(2), asking_for(100));
    // 16 KiB take 1310.72 ns / 0.99 = 1323.96 ns, and 36 units 744.7 ns.
    let all = granted(&mut credits, Time::ZERO + Span::from_ms(1));
    assert_eq!(all, [(0, 0, 64), (1_323, 2, 64), (2_647, 0, 128), (3_971, 2, 100)]);
    assert!(credits.senders[0].granted == FIRST + 128 && !credits.senders[0].is_active);
}

#[test]
fn backlogged_senders_get_equal_shares_of_the_rate() {
    for senders in [1, 2, 8, 64] {
        let mut credits = credits(Config::default());
        let mut sums = vec![0; senders];
        let mut now = Time::ZERO;
        let end = Time::ZERO + Span::from_ms(1);
        (0..senders).for_each(|it| credits.record(now, slot(it), asking_for(500)));
        while now < end {
            let grant = credits.poll(now).unwrap();
            let index = grant.slot.index();
            sums[index] = grant.number - FIRST;
            // It sends as much as it was granted, and asks for more.
            credits.record(now, slot(index), asking_for(sums[index] + 500));
            now = credits.due();
        }
        let fair = 0.99 * 12.5e6 / 256.0 / senders as f64;
        let off = sums.iter().map(|&sum| (sum as f64 - fair).abs()).fold(0.0, f64::max);
        assert!(off <= 64.0, "{senders}: {off} units from {fair}");
    }
}

#[test]
fn without_requests_each_sender_gets_up_to_a_window() {
    let mut credits = credits(Config::default());
    credits.record(Time::ZERO, slot(0), asking_for(10));
    credits.record(Time::ZERO, slot(1), asking_for(74));
    let all = granted(&mut credits, Time::ZERO + Span::from_ms(1));
    let last = |index| all.iter().rev().find(|grant| grant.1 == index).unwrap().2;
    // The last grant is the one that reaches a window, 586 units, beyond the request.
    assert_eq!([last(0), last(1)], [10 + 640, 74 + 640]);
    assert_eq!(credits.due(), Time::NEVER);
    // Unsolicited grants are subtracted from later requests.
    credits.record(Time::ZERO + Span::from_ms(2), slot(0), asking_for(700));
    assert_eq!(granted(&mut credits, Time::ZERO + Span::from_us(2_001)), [(2_000_000, 0, 700)]);
}

#[test]
fn a_trimmed_packet_gets_credit_without_a_new_request() {
    let mut credits = credits(Config { unasked: false, ..Config::default() });
    credits.record(Time::ZERO, slot(0), asking_for(64));
    assert_eq!(granted(&mut credits, Time::ZERO), [(0, 0, 64)]);
    credits.record(Time::ZERO, slot(0), asking_for(64));
    assert_eq!(credits.due(), Time::NEVER);
    credits.record(
        Time::ZERO,
        slot(0),
        CreditRequest { policy: ServePolicy::Always, ..asking_for(64) },
    );
    // It waits for the previous grant, and then itself takes the time of 1,024 B.
    let all = granted(&mut credits, Time::ZERO + Span::from_us(2));
    assert_eq!(all, [(1_323, 0, 64)]);
    assert_eq!(credits.next_grant.as_ps() / 1_000, 1_406);
}

#[test]
fn requests_are_limited_to_a_window_and_a_packet() {
    let mut credits = credits(Config { unasked: false, ..Config::default() });
    credits.record(Time::ZERO, slot(0), asking_for(1 << 22));
    assert_eq!(credits.senders[0].target - FIRST, 586 + 4);
}

#[test]
fn an_oversubscribed_receiver_grants_less_after_trims_in_the_fabric() {
    let ratio = Fraction::new(4, 1).unwrap();
    let mut credits = credits(Config { oversubscription: ratio, ..Config::default() });
    let before = credits.time_for(64);
    // 16 KiB at 99 Gbps.
    assert_eq!(before.as_ps(), 1_323_960);
    let adaptation = credits.adaptation.as_mut().unwrap();
    adaptation.handle_arrival(Time::ZERO, PathCongestion::TrimmedBefore);
    adaptation.handle_arrival(Time::ZERO, PathCongestion::Clean);
    // Intervals last from 9 to 15 us.
    adaptation.handle_arrival(Time::ZERO + Span::from_us(16), PathCongestion::Clean);
    assert_eq!(credits.time_for(64).as_ps(), before.as_ps() * 2);
}

#[test]
fn a_grant_waits_for_its_time_and_is_not_lost() {
    let mut credits = credits(Config { unasked: false, ..Config::default() });
    credits.record(Time::ZERO, slot(0), asking_for(128));
    assert!(credits.poll(Time::ZERO).is_some());
    let due = credits.due();
    assert_eq!(credits.poll(Time::from_ps(due.as_ps() - 1)), None);
    assert!(credits.poll(due + Span::from_us(1)).is_some());
    assert_eq!(credits.poll(due + Span::from_us(2)), None, "all of it is granted");
}

#[test]
fn unsolicited_grants_end_at_exactly_a_window() {
    // Two grants are a window.
    let grant = Bytes::new(293 * 256);
    let mut credits = credits(Config { grant, ..Config::default() });
    credits.record(Time::ZERO, slot(0), asking_for(10));
    let all = granted(&mut credits, Time::ZERO + Span::from_ms(1));
    assert_eq!(all.iter().map(|grant| grant.2).collect::<Vec<_>>(), [10, 303, 596]);
}

#[test]
fn a_sender_may_ask_for_a_window_and_a_whole_packet_with_its_header() {
    let nic = NicConfig {
        payload: Bytes::new(1_000),
        congestion: CongestionControl::Rccc(Config::default()),
        ..NicConfig::default()
    };
    let port = PortFacts { line_rate: BitRate::from_gbps(100), base_rtt: Span::from_us(8) };
    let credits = Credits::of(HostId(0), port, &nic).unwrap();
    // 150,000 B and 1,062 B in units of 256 B.
    assert_eq!((credits.parameters.max_credit, credits.parameters.max_request), (586, 586 + 5));
}

/// A pause is made up for while any sender is to get a grant, requested or not.
#[test]
fn a_late_grant_does_not_lower_the_rate() {
    let mut credits = credits(Config::default());
    credits.record(Time::ZERO, slot(0), asking_for(64));
    assert!(credits.poll(Time::ZERO).is_some());
    // Its unsolicited grant is due; another sender asks 50 ns later.
    let due = credits.due();
    let late = due + Span::from_ns(50);
    credits.record(late, slot(1), asking_for(64));
    assert_eq!(credits.poll(late).unwrap().slot, slot(1));
    assert_eq!(credits.due(), due + credits.time_for(64));
}
