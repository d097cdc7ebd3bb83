//! Link-level retry (LLR) against its closed forms.

use super::*;
use crate::switching::{AfterProtection, LlrConfig};

pub(super) const LLR: LlrConfig = LlrConfig {
    ack_spacing: Bytes::new(2_048),
    replays: None,
    afterwards: AfterProtection::Unprotected,
};

/// One message from host 0 to host 1 through a switch. The first wire corrupts `rate` percent of
/// the frames.
fn corrupted(rate: u32, llr: LlrConfig, packets: u64) -> Setup {
    let mut setup = setup(leaf_spine(1, 1, 2, 400), "ecmp", messages(&[(0, 1)], packets * PAYLOAD));
    setup.fabric.llr = Some(llr);
    let port = setup.topology.host_port(HostId(0));
    let kind = FailureKind::Loss { rate: Fraction::new(rate, 100).unwrap() };
    let never = failure(port.link(), Time::NEVER, Span::MAX);
    let direction = Direction::From(port);
    setup.fabric.failures = vec![Failure { kind, direction, at: Time::ZERO, ..never }];
    setup
}

#[test]
fn without_corruption_only_acknowledgements_cost() {
    let mut with = corrupted(0, LLR, 1_000);
    with.fabric.failures.clear();
    let with = complete(&with);
    let rate = BitRate::from_bps(400_000_000_000 * 2_048 / 2_056);
    let shape = fixtures::leaf_spine(1, 1, 2);
    let slower = LeafSpine { host_rate: rate, fabric_rate: rate, ..shape }.build().unwrap();
    let without = complete(&setup(slower, "ecmp", messages(&[(0, 1)], 1_000 * PAYLOAD)));
    assert_eq!(with.message_fct, without.message_fct);
    assert_eq!((with.counters, with.link_bytes), (without.counters, without.link_bytes));
}

/// Goodput is (1 − p)/(1 − p + p · W) with W = L · rate/frame + 1: every corruption costs a frame
/// and L, to the picosecond.
#[test]
fn a_corrupted_frame_costs_its_time_and_a_round_trip() {
    let packets = 20_000;
    let whole = complete(&corrupted(0, LLR, packets)).cct.unwrap().as_ps();
    let rate = LLR.remaining_rate(BitRate::from_gbps(400));
    let frame = rate.time_for(Bytes::new(PAYLOAD + HEADER)) + rate.time_for(Bytes::new(GAP));
    let trip = LLR.round_trip(BitRate::from_gbps(400), Span::from_ns(500));
    let each = (frame + trip).as_ps();
    for percent in [1u32, 5, 20] {
        let outcome = complete(&corrupted(percent, LLR, packets));
        let later = outcome.cct.unwrap().as_ps() - whole;
        assert_eq!(later % each, 0, "{percent} %: {later} is not a multiple of {each}");
        let p = f64::from(percent) / 100.0;
        let expected = packets as f64 * p / (1.0 - p);
        let spread = (packets as f64 * p).sqrt() / (1.0 - p);
        let replays = (later / each) as f64;
        assert!((replays - expected).abs() < 4.0 * spread, "{replays} {expected}");
        let counters = &outcome.counters;
        let lost = (counters.dropped, counters.retransmitted, counters.out_of_order);
        assert_eq!(lost, (0, 0, 0), "transports see no loss, and the order is kept");
    }
}

#[test]
fn too_many_replays_in_a_row_end_the_protection() {
    let llr = LlrConfig { replays: Some(1), ..LLR };
    let mut setup = corrupted(10, llr, 5_000);
    setup.nic.retransmit_timeout = Span::from_us(100);
    let outcome = complete(&setup);
    assert!(outcome.counters.dropped > 100, "{}", outcome.counters.dropped);
    let mut discarding =
        corrupted(10, LlrConfig { afterwards: AfterProtection::Discard, ..llr }, 5_000);
    discarding.time_limit = Time::ZERO + Span::from_ms(5);
    let outcome = run(&discarding, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::TimeLimit);
}

#[test]
fn link_level_retry_does_not_repair_a_link_that_is_down() {
    let mut setup = corrupted(0, LLR, 1_000);
    let until = Time::ZERO + Span::from_us(30);
    let down = failure(setup.topology.host_port(HostId(0)).link(), until, Span::MAX);
    setup.fabric.failures = vec![Failure { at: Time::ZERO + Span::from_us(20), ..down }];
    setup.nic.retransmit_timeout = Span::from_us(100);
    assert!(complete(&setup).counters.dropped > 100);
}
