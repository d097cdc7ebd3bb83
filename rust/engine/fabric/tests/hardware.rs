//! Runs with limits and costs of NICs.

use super::*;
use crate::nic::{
    AckTimeout, CnpLimiter, CnpSources, HardwareConfig, MessageCost, PacketRate, QpTurns,
    ReceivePool,
};

const POOL: ReceivePool = ReceivePool {
    pool: Bytes::new(262_016),
    rate: None,
    stall: Span::from_us(45),
    stall_above: BitRate::from_gbps(95),
    stall_after: Bytes::new(500_000),
};

/// Hosts `pairs` of a leaf of 4 with 100 Gbps, with these limits.
fn with(hardware: HardwareConfig, pairs: &[(u32, u32)], bytes: u64) -> Outcome {
    let mut setup = setup(leaf_spine(1, 1, 4, 100), "ecmp", messages(pairs, bytes));
    setup.nic.hardware = hardware;
    complete(&setup)
}

fn sum(outcome: &Outcome) -> crate::nic::HardwareCounters {
    crate::nic::QpAccount::maxima(&outcome.qp_accounts).hardware.unwrap()
}

fn of_pool(receive: ReceivePool) -> HardwareConfig {
    HardwareConfig { receive: Some(receive), ..HardwareConfig::default() }
}

#[test]
fn a_pool_that_holds_everything_is_none() {
    let bytes = 2_000 * PAYLOAD;
    let none = with(HardwareConfig::default(), &[(0, 1)], bytes);
    let large = with(of_pool(ReceivePool { pool: Bytes::new(1 << 30), ..POOL }), &[(0, 1)], bytes);
    assert_eq!((large.cct, large.counters), (none.cct, none.counters));
    assert_eq!((sum(&large).rx_discards, none.qp_accounts[0].hardware), (0, None));
}

#[test]
fn a_stall_loses_packets_that_the_sender_repeats() {
    let outcome = with(of_pool(POOL), &[(0, 1)], 4_000 * PAYLOAD);
    let counters = sum(&outcome);
    assert!((60..80).contains(&counters.rx_discards), "{counters:?}");
    assert_eq!(counters.nacks_received, 1, "one gap for a burst");
    assert!(outcome.counters.retransmitted >= counters.rx_discards);
    assert_eq!(outcome.counters.dropped, 0, "no switch drops");
}

#[test]
fn other_hosts_lose_as_much() {
    let [first, second] = [(0, 1), (3, 2)].map(|pair| {
        let outcome = with(of_pool(POOL), &[pair], 4_000 * PAYLOAD);
        (outcome.cct, sum(&outcome), outcome.counters.retransmitted)
    });
    assert_eq!(first, second);
}

#[test]
fn a_message_alone_takes_its_costs_longer_and_messages_ahead_overlap_them() {
    let message = MessageCost { start: Span::from_ns(600), complete: Span::from_ns(300) };
    let costs = HardwareConfig { message, ..HardwareConfig::default() };
    for count in [1, 16] {
        let pairs = vec![(0, 1); count];
        let [free, paid] =
            [HardwareConfig::default(), costs].map(|it| with(it, &pairs, PAYLOAD).cct.unwrap());
        assert_eq!(paid, free + Span::from_ns(900), "{count} messages");
    }
}

#[test]
fn ceilings_set_the_time_of_small_packets() {
    let packet_rate = PacketRate { qp: Some(1_000_000), nic: None };
    let limited = HardwareConfig { packet_rate, ..HardwareConfig::default() };
    let packets = 100;
    let [free, slow] = [HardwareConfig::default(), limited]
        .map(|it| with(it, &[(0, 1)], packets * PAYLOAD).cct.unwrap());
    // A packet takes 334 ns on the wire, and starts every microsecond.
    let packet = Span::from_ps(80 * (PAYLOAD + HEADER + GAP));
    assert_eq!(slow, free + (Span::from_us(1) - packet) * (packets - 1));
}

#[test]
fn turns_by_message_change_only_the_order() {
    let turns = HardwareConfig { turns: QpTurns::Message, ..HardwareConfig::default() };
    let pairs = [(0, 1), (0, 2), (0, 3)];
    let [packet, message] =
        [HardwareConfig::default(), turns].map(|it| with(it, &pairs, 50 * PAYLOAD));
    assert!(message.message_fct[0] < packet.message_fct[0]);
    assert_eq!(message.cct, packet.cct);
    let [packet, message] =
        [HardwareConfig::default(), turns].map(|it| with(it, &[(0, 1)], 50 * PAYLOAD));
    assert_eq!((packet.cct, packet.message_fct), (message.cct, message.message_fct));
}

#[test]
fn a_nack_sends_a_notification_within_the_limit() {
    let cnp = CnpSources { on_nack: true, on_discard: false, limiter: CnpLimiter::Port };
    let counters = sum(&with(HardwareConfig { cnp, ..of_pool(POOL) }, &[(0, 1)], 4_000 * PAYLOAD));
    assert_eq!((counters.cnps_sent, counters.cnps_received), (1, 1));
}

#[test]
fn a_peer_that_is_cut_off_ends_the_run_with_an_error_of_the_queue_pair() {
    let timeout = AckTimeout { code: 14, floor: true, adaptive: true, retries: 3 };
    let mut setup = setup(leaf_spine(1, 1, 4, 100), "ecmp", messages(&[(0, 1)], PAYLOAD));
    setup.time_limit = Time::ZERO + Span::from_ms(100_000);
    setup.nic.hardware.ack_timeout = Some(timeout);
    setup.nic.retransmit_timeout = timeout.first();
    let down = failure(LinkId(0), Time::NEVER, Span::from_ms(100));
    setup.fabric.failures = vec![Failure { at: Time::from_ps(1), ..down }];
    let outcome = run(&setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Stalled);
    let counters = sum(&outcome);
    assert_eq!((counters.qp_errors, counters.timeouts), (1, 8));
    assert_eq!(counters.first_error, Some(Time::ZERO + timeout.until_error()));
}
