//! Credit that receivers grant (RCCC) in a fabric: closed forms 1 and 2 of the card of Ultra
//! Ethernet, section 5.5.

use super::*;
use crate::nic::congestion::rccc;

/// The rate of every wire is 100 Gbps.
const PS_PER_BYTE: u64 = 80;

/// Receiver credit among hosts under one leaf, four links of 5 us for a packet and its answer. The
/// buffer takes everything.
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
    // No timer runs out behind the queue of the first round trip.
    setup.nic.retransmit_timeout = Span::from_ms(100);
    setup
}

/// The round trip of a full packet and its answer.
const ROUND_TRIP: Span =
    Span::from_ps((2 * (PAYLOAD + HEADER) + 2 * ACK) * PS_PER_BYTE + 20_000_000);

/// Bytes of a round trip at line rate.
const BDP: u64 = ROUND_TRIP.as_ps() / PS_PER_BYTE;

/// A grant: credit for almost four packets.
const GRANT: u64 = 16_384;

/// When the last byte of a lone message of so many packets arrives under this control.
fn delivered(packets: u64, gap: u64, congestion: impl Into<CongestionControl>) -> u64 {
    let mut setup = credited(&[(1, 0)], packets, gap);
    setup.nic.congestion = congestion.into();
    complete(&setup).flows[0].delivered.as_ps()
}

/// Form 1: a lone flow has 0.99 of the line rate. The rate of grants counts packets without the gap
/// between them, so that with gaps of 20 B the wire is busy for 0.9948 of the time; the card, whose
/// source has no gaps, does not say so.
#[test]
fn a_lone_flow_has_ninety_nine_hundredths_of_the_line_rate() {
    for gap in [0, GAP] {
        let of = |packets| delivered(packets, gap, rccc::Config::default());
        let took = of(8_000) - of(2_000);
        let expected = 6_000 * (PAYLOAD + HEADER) * PS_PER_BYTE * 100 / 99;
        // The last packet goes with the first byte of its credit or with the last one.
        assert!(took.abs_diff(expected) <= GRANT * PS_PER_BYTE, "{gap}: {took}, not {expected}");
    }
}

/// Form 2: what leaves before the first answer needs no credit, and a message as long as that takes
/// as long as without RCCC. A longer one pays at most one round trip more, and 1 % for its rest.
///
/// The card gives that bound without grants that nobody asked for: where receivers give these, as
/// its section 5.1 says that they do, a lone message never waits for credit.
#[test]
fn speculation_costs_a_message_at_most_one_round_trip_for_credit() {
    for gap in [0, GAP] {
        for packets in [1, 2, 10, 40, 61, 62, 63, 66, 70, 93, 94, 100, 130, 200, 400, 1_000] {
            let line_rate = delivered(packets, gap, line_rate::Config::default());
            let asked = rccc::Config { unasked: false, ..Default::default() };
            let [later, later_if_asked] = [rccc::Config::default(), asked]
                .map(|config| delivered(packets, gap, config) - line_rate);
            let said = format!("gap {gap}, {packets} packets: {later}, {later_if_asked} ps later");
            let rest = (packets * (PAYLOAD + HEADER)).saturating_sub(BDP);
            if rest == 0 {
                assert_eq!((later, later_if_asked), (0, 0), "{said}");
            }
            let paced = rest * PS_PER_BYTE / 99;
            assert!(later <= paced, "{said}");
            assert!(later_if_asked <= ROUND_TRIP.as_ps() + paced, "{said}");
        }
    }
}

/// So many long flows to one host, which end at `until`, and the queue before its port from the
/// second round trip on, once in a round trip.
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

/// Form 1: of the first round trip (k - 1) BDP wait, and that falls by 1 % of the rate.
///
/// The card counts bytes as if they flowed. By packets there are more: the i-th sender is answered
/// behind i packets of the others, and so sends i more (k(k - 1)/2); each sends one that a round
/// trip ends in, and is up to one ahead of its credit; and a grant may have just come. From one
/// look to the next the queue may therefore rise by some packets; it falls over rounds of grants.
/// And with gaps of 20 B, which grants do not count, it falls by 0.52 %: 1 - 0.99 · 4,178/4,158.
#[test]
fn the_queue_of_the_first_round_trip_only_falls_by_what_is_not_granted() {
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

/// Form 1: each of k senders gets 0.99/k of the wire, within one grant a round.
#[test]
fn senders_of_an_incast_have_equal_parts_of_what_is_granted() {
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
