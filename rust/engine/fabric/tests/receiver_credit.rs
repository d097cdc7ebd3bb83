//! Credit granted by receivers (RCCC) in a fabric: closed forms 1 and 2 of the card of Ultra
//! Ethernet, section 5.5.

use super::*;
use crate::nic::congestion::rccc;

/// Every wire has 100 Gbps.
const PS_PER_BYTE: u64 = 80;

/// Receiver credit among hosts under one leaf. A packet and its acknowledgement cross four links of
/// 5 us, and the buffer takes everything.
fn credited(pairs: &[(u32, u32)], packets: u64, gap: u64) -> Setup {
    let rate = BitRate::from_gbps(100);
    let hosts = u32::try_from(pairs.len()).unwrap() + 1;
    let shape = LeafSpine {
        host_rate: rate,
        fabric_rate: rate,
        delay: Span::from_us(5),
        ..fixtures::leaf_spine(1, 1, hosts)
    };
    let mut setup = setup(shape.build().unwrap(), "ecmp", messages(pairs, packets * PAYLOAD));
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(1 << 30));
    setup.fabric.gap = Bytes::new(gap);
    setup.nic.congestion = CongestionControl::Rccc(rccc::Config::default());
    // No timer expires because of the queue of the first round trip.
    setup.nic.retransmit_timeout = Span::from_ms(100);
    setup
}

/// Round trip of a full packet and its acknowledgement.
const ROUND_TRIP: Span =
    Span::from_ps((2 * (PAYLOAD + HEADER) + 2 * ACK) * PS_PER_BYTE + 20_000_000);

/// Bytes per round trip at line rate.
const BDP: u64 = ROUND_TRIP.as_ps() / PS_PER_BYTE;

/// A grant: credit for almost four packets.
const GRANT: u64 = 16_384;

/// Arrival time of the last byte of a lone message of `packets` under this control.
fn delivered(packets: u64, gap: u64, congestion: impl Into<CongestionControl>) -> u64 {
    let mut setup = credited(&[(1, 0)], packets, gap);
    setup.nic.congestion = congestion.into();
    complete(&setup).flows[0].delivered.as_ps()
}

/// Form 1: a lone flow gets 0.99 of the line rate. Grants count packets without the gap between
/// them, so with gaps of 20 B the wire is 99.48 % busy. The card does not say so, because its
/// source has no gaps.
#[test]
fn a_lone_flow_gets_99_percent_of_the_line_rate() {
    for gap in [0, GAP] {
        let of = |packets| delivered(packets, gap, rccc::Config::default());
        let took = of(8_000) - of(2_000);
        let expected = 6_000 * (PAYLOAD + HEADER) * PS_PER_BYTE * 100 / 99;
        // The last packet leaves with the first byte of its credit or with the last one.
        assert!(took.abs_diff(expected) <= GRANT * PS_PER_BYTE, "{gap}: {took}, not {expected}");
    }
}

/// Form 2: packets that leave before the first acknowledgement need no credit, and a message of
/// that length takes as long as without RCCC. A longer one takes at most one round trip more, and 1
/// % for the rest.
///
/// The card gives that bound for receivers that grant credit only on request. Here receivers also
/// grant unrequested credit, as its section 5.1 says, so a lone message never waits for credit.
#[test]
fn speculation_costs_a_message_at_most_one_round_trip_for_credit() {
    for gap in [0, GAP] {
        for packets in [1, 2, 10, 40, 61, 62, 63, 66, 70, 93, 94, 100, 130, 200, 400, 1_000] {
            let line_rate = delivered(packets, gap, line_rate::Config::default());
            let asked = rccc::Config { unasked: false, ..Default::default() };
            let [later, later_if_asked] = [rccc::Config::default(), asked]
                .map(|config| delivered(packets, gap, config) - line_rate);
            let case = format!("gap {gap}, {packets} packets: {later}, {later_if_asked} ps later");
            let rest = (packets * (PAYLOAD + HEADER)).saturating_sub(BDP);
            if rest == 0 {
                assert_eq!((later, later_if_asked), (0, 0), "{case}");
            }
            let paced = rest * PS_PER_BYTE / 99;
            assert!(later <= paced, "{case}");
            assert!(later_if_asked <= ROUND_TRIP.as_ps() + paced, "{case}");
        }
    }
}

/// `senders` long flows to one host, which end at `until`, and the queue of its port once per round
/// trip from the second one on.
fn incast(senders: u32, gap: u64, until: u64) -> (Vec<u64>, Vec<u64>) {
    let pairs: Vec<(u32, u32)> = (1..=senders).map(|src| (src, 0)).collect();
    let mut setup = credited(&pairs, 10_000, gap);
    setup.probes = (2..=until).map(|round| Time::ZERO + ROUND_TRIP * round).collect();
    setup.time_limit = Time::ZERO + ROUND_TRIP * until;
    let outcome = run(&setup, &mut |_| {});
    assert_eq!((outcome.verdict, outcome.counters.retransmitted), (Verdict::TimeLimit, 0));
    let last = setup.topology.host_port(HostId(0)).reverse();
    let queue = |probe: &QueueProbe| probe.queues[last.index()].bytes.get();
    let sent = |host| outcome.link_bytes[setup.topology.host_port(HostId(host)).index()].get();
    (outcome.probes.iter().map(queue).collect(), (1..=senders).map(sent).collect())
}

/// Form 1: (k - 1) BDP of the first round trip are queued, and that falls by 1 % of the rate.
///
/// The card treats bytes as a fluid. With packets there are more. The i-th sender is answered
/// behind i packets of the others, so it sends i more (k(k - 1)/2). Each sends one packet in which
/// a round trip ends, and is up to one packet ahead of its credit. A grant may also have just
/// arrived. Between samples the queue may therefore rise by a few packets, but it falls over rounds
/// of grants. With gaps of 20 B, which grants do not count, it falls by 0.52 %: 1 - 0.99 ·
/// 4,178/4,158.
#[test]
fn the_initial_queue_drains_only_by_the_rate_not_granted() {
    let packet = PAYLOAD + HEADER;
    for (senders, gap) in [(2, 0), (4, 0), (8, 0), (8, GAP)] {
        let k = u64::from(senders);
        let (queues, _) = incast(senders, gap, 90 * (k - 1));
        let (first, uneven) = (queues[0], k + 4);
        let least = (k - 1) * BDP;
        let most = least + (k * (k - 1) / 2 + 2 * k + 4) * packet;
        assert!((least..=most).contains(&first), "{senders}: {first} of {least} to {most}");
        let falls = BDP as f64 * (1.0 - 0.99 * (packet + gap) as f64 / packet as f64);
        for (round, queue) in queues.iter().enumerate() {
            let off = *queue as f64 - (first as f64 - falls * round as f64);
            let off = off / packet as f64;
            assert!(off.abs() <= uneven as f64, "{senders}, {gap}: off by {off} at {round}");
        }
    }
}

/// Form 1: each of k senders gets 0.99/k of the wire, within one grant per round.
#[test]
fn senders_of_an_incast_get_equal_grants() {
    for senders in [2, 4, 8] {
        let sent = |until| incast(senders, 0, until).1;
        let (early, late) = (sent(10), sent(310));
        let expected = (300 * BDP) as f64 * 0.99 / f64::from(senders);
        for (early, late) in early.iter().zip(&late) {
            let off = ((late - early) as f64 - expected).abs();
            assert!(off <= (GRANT + PAYLOAD + HEADER) as f64, "{senders}: {off} bytes");
        }
    }
}
