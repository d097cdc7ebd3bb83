//! Hosts with several ports: closed forms, one plane of several against a fabric with one, and
//! failures of ports, switches and planes.

use super::*;
use crate::topology::MultiPlane;

mod control;
mod floor;

const PLANE: LeafSpine = LeafSpine {
    leaves: 2,
    spines: 2,
    hosts_per_leaf: 2,
    host_rate: BitRate::from_gbps(100),
    fabric_rate: BitRate::from_gbps(100),
    delay: Span::from_ns(500),
    parallel_links: 1,
};
const PS_PER_BYTE: u64 = 80;

fn planes(planes: u32, plane: LeafSpine) -> Topology {
    MultiPlane { planes, rails: 1, plane }.build().unwrap()
}

/// Permanent failures of links from `at` on, detected after `detection`.
fn down(links: impl Iterator<Item = LinkId>, at: Time, detection: Span) -> Vec<Failure> {
    let (direction, kind, until) = (Direction::Both, FailureKind::Down, Time::NEVER);
    let convergence = Span::from_ms(100);
    let failure = |link| Failure { link, direction, kind, at, until, detection, convergence };
    links.map(failure).collect()
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Bytes that a host sent on each of its ports.
fn sent_by_port(setup: &Setup, outcome: &Outcome, host: u32) -> Vec<u64> {
    let ports = setup.topology.planes().ports_of(HostId(host)).iter();
    ports.map(|port| outcome.link_bytes[port.index()].get()).collect()
}

#[test]
fn a_lone_message_uses_all_ports_simultaneously() {
    for (count, packets) in [(2, 1), (2, 10), (4, 40), (4, 41), (8, 1_003)] {
        let topology = planes(count, PLANE);
        let setup = setup(topology, "plane-jsq", messages(&[(0, 3)], packets * PAYLOAD));
        let cct = complete(&setup).cct.unwrap();
        let of_a_port = packets.div_ceil(u64::from(count));
        let expected = idle_path_ps(of_a_port, PAYLOAD, 4, PS_PER_BYTE, 500_000);
        assert_eq!(cct, Span::from_ps(expected), "{count} planes, {packets} packets");
    }
}

/// A packet arrives with its last bit, so no arrival is left to settle the port when its gap ends.
#[test]
fn ports_of_wires_without_length_are_busy_for_the_gap_too() {
    let topology = planes(2, LeafSpine { delay: Span::ZERO, ..PLANE });
    let setup = setup(topology, "plane-jsq", messages(&[(0, 3)], 40 * PAYLOAD));
    let expected = idle_path_ps(20, PAYLOAD, 4, PS_PER_BYTE, 0);
    assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)));
}

/// Without length and gap, a packet arrives when its wire becomes free. The next one waits only for
/// its rate: half the rate of both ports, which is the rate of one.
#[test]
fn a_message_at_half_rate_is_paced_without_wire_length_and_gap() {
    let topology = planes(2, LeafSpine { delay: Span::ZERO, ..PLANE });
    let packets = 40;
    let mut setup = setup(topology, "plane-jsq", messages(&[(0, 3)], packets * PAYLOAD));
    setup.fabric.gap = Bytes::ZERO;
    let share = Fraction::new(1, 2).unwrap();
    setup.nic.congestion = CongestionControl::LineRate(line_rate::Config { share });
    let expected = ((packets - 1 + 4) * (PAYLOAD + HEADER) + 4 * ACK) * PS_PER_BYTE;
    assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)));
}

#[test]
fn one_remaining_plane_behaves_like_a_single_plane_fabric() {
    let wide = LeafSpine { leaves: 4, spines: 3, hosts_per_leaf: 4, ..PLANE };
    for policy in ["ecmp", "spray", "reps", "prime", "ethereal", "jsq", "host-dr"] {
        let one = setup(wide.build().unwrap(), policy, messages(&shift(16), 300_000));
        let one = complete(&one);
        let mut two = setup(planes(2, wide), policy, messages(&shift(16), 300_000));
        let ports = (0..16).map(|host| two.topology.planes().ports_of(HostId(host))[1].link());
        two.fabric.failures = down(ports.collect::<Vec<_>>().into_iter(), Time::ZERO, Span::ZERO);
        let two = complete(&two);
        let fct = |outcome: &Outcome| outcome.message_fct.clone();
        match policy {
            // Their entropy values differ: paths have the plane as a digit, or values follow the
            // BDP.
            "reps" | "prime" | "ethereal" | "host-dr" => {
                assert!(two.cct.unwrap() < one.cct.unwrap() * 3, "{policy}");
            }
            _ => assert_eq!(fct(&one), fct(&two), "{policy}"),
        }
        assert_eq!(two.counters.dropped, 0, "{policy}");
    }
}

/// A message of `packets` packets from host 0 to host 3, which is at the other leaf.
fn lone(policy: &str, planes_count: u32, packets: u64) -> Setup {
    let one = messages(&[(0, 3)], packets * PAYLOAD);
    setup(planes(planes_count, PLANE), policy, one)
}

/// The link of a host's port in a plane.
fn port_link(setup: &Setup, host: u32, plane: usize) -> LinkId {
    setup.topology.planes().ports_of(HostId(host))[plane].link()
}

/// Time that a port of 100 Gbps takes for this many full packets.
fn packets_of_a_port(packets: u64) -> Span {
    Span::from_ps((PAYLOAD + HEADER + GAP) * PS_PER_BYTE * packets)
}

/// Card of MRC, test 3.
#[test]
fn mrc_uses_all_ports_of_a_lone_sender() {
    for (count, packets) in [(1, 64), (2, 64), (4, 410), (8, 1_001)] {
        let cct = complete(&lone("mrc", count, packets)).cct.unwrap();
        let of_a_port = packets.div_ceil(u64::from(count));
        let expected = idle_path_ps(of_a_port, PAYLOAD, 4, PS_PER_BYTE, 500_000);
        assert_eq!(cct, Span::from_ps(expected), "{count} planes");
    }
}

/// Card of MRC, test 8, on the sender's side.
#[test]
fn a_lost_port_costs_its_share_once_detected() {
    for (policy, count) in [("plane-jsq", 4), ("mrc", 4), ("mrc", 8)] {
        let packets = 4_000;
        let mut setup = lone(policy, count, packets);
        let whole = complete(&setup).cct.unwrap();
        let dead = port_link(&setup, 0, 1);
        setup.fabric.failures = down([dead].into_iter(), Time::ZERO, Span::ZERO);
        let outcome = complete(&setup);
        assert_eq!(sent_by_port(&setup, &outcome, 0)[1], 0, "{policy}");
        let share = whole.as_ps() as f64 / outcome.cct.unwrap().as_ps() as f64;
        let expected = f64::from(count - 1) / f64::from(count);
        assert!((share / expected - 1.0).abs() < 0.02, "{policy}: {share} for {expected}");
    }
}

/// Card of MRC, test 8: loss, detection and return of a port of the sender.
#[test]
fn a_dead_port_is_avoided_until_it_recovers() {
    for (policy, probes) in [("plane-jsq", 0), ("mrc", 1)] {
        let mut setup = lone(policy, 4, 12_000);
        if policy == "mrc" {
            // Packets lost by the port are retransmitted soon, so the PSN range never limits the
            // sender.
            setup.nic.recovery = crate::nic::recovery::mrc::Config::by_round_trip().into();
        }
        let detection = Span::from_us(10);
        let dead = port_link(&setup, 0, 1);
        let mut failures = down([dead].into_iter(), us(100), detection);
        failures[0].until = us(300);
        setup.fabric.failures = failures;
        let outcome = complete(&setup);
        let [other, port, ..] = sent_by_port(&setup, &outcome, 0)[..] else { panic!("4 ports") };
        // The port carried nothing from 110 us until it was up, known to be up, and probed.
        let away = Span::from_us(200) + Span::from_us(100) * probes;
        let missing =
            packets_of_a_port(1).as_ps() as f64 / (PAYLOAD + HEADER) as f64 * (other - port) as f64;
        let off = missing / away.as_ps() as f64 - 1.0;
        assert!(off.abs() < 0.06, "{policy}: away for {missing} ps, not {away}");
        assert!(outcome.counters.dropped > 0, "{policy}: what was sent before is lost");
    }
}

/// Card of MRC, test 8, on the receiver's side: the port status.
#[test]
fn peers_avoid_a_port_that_its_host_reports_dead() {
    for policy in ["plane-jsq", "mrc", "ecmp"] {
        let mut setup = lone(policy, 4, 8_000);
        let dead = port_link(&setup, 3, 2);
        setup.fabric.failures = down([dead].into_iter(), us(50), Span::from_us(10));
        let outcome = complete(&setup);
        let sent = sent_by_port(&setup, &outcome, 0)[2];
        // Until 60 us, plus the time that the status is in flight.
        let most = Span::from_us(60) + Span::from_us(4);
        let packets = sent / (PAYLOAD + HEADER);
        assert!(packets_of_a_port(packets) < most, "{policy}: {packets} packets");
    }
}

/// Card of MRC, test 6: a spine of plane 1 drops everything, and no switch notices.
#[test]
fn no_packet_takes_a_path_that_lost_one() {
    let plane = LeafSpine { spines: 4, ..PLANE };
    let one = messages(&[(0, 3)], 8_000 * PAYLOAD);
    let mut setup = setup(planes(2, plane), "mrc", one);
    let hole = "condemn = \"hole\"\nencoding = \"ecmp\"".parse().unwrap();
    setup.scheme = build_scheme("mrc", &hole).unwrap();
    setup.nic.recovery = crate::nic::recovery::mrc::Config::by_round_trip().into();
    let spine = setup.topology.switch_named("p1-spine0").unwrap();
    let links: Vec<LinkId> = setup.topology.links_of(spine).collect();
    setup.fabric.failures = down(links.into_iter(), us(20), Span::MAX);
    setup.fabric.failures.iter_mut().for_each(|failure| failure.convergence = Span::MAX);
    let outcome = complete(&setup);
    // Both ports send for two round trips, an eighth of that over this spine: a quarter of the
    // values of one plane of two. A retransmission may use another value of that spine, which has
    // not lost a packet yet.
    let round_trip = Span::from_ps(4 * (PAYLOAD + HEADER) * PS_PER_BYTE + 4 * ACK * 80 + 4_000_000);
    let in_time = 2 * (2 * round_trip.as_ps()).div_ceil(packets_of_a_port(1).as_ps());
    let most = in_time / 8 * 2;
    let dropped = outcome.counters.dropped;
    assert!((1..=most).contains(&dropped), "{dropped} of {most}");
    let sent = sent_by_port(&setup, &outcome, 0);
    assert!(sent[0].abs_diff(sent[1]) < sent[0] / 100, "{sent:?}");
}

#[test]
fn a_run_survives_the_loss_of_a_leaf_a_spine_or_a_plane() {
    let names = ["p1-leaf0", "p1-spine1"];
    for policy in ["mrc", "plane-jsq", "spray", "reps"] {
        for name in [Some(names[0]), Some(names[1]), None] {
            let mut setup = setup(planes(2, PLANE), policy, messages(&shift(4), 500 * PAYLOAD));
            let links: Vec<LinkId> = match name {
                Some(name) => {
                    let switch = setup.topology.switch_named(name).unwrap();
                    setup.topology.links_of(switch).collect()
                }
                None => setup.topology.links_of_plane(1).collect(),
            };
            setup.fabric.failures = down(links.into_iter(), us(5), Span::from_us(2));
            let outcome = complete(&setup);
            assert!(outcome.counters.dropped > 0, "{policy} {name:?}");
            let least = packets_of_a_port(500 / 2);
            assert!(outcome.cct.unwrap() > least, "{policy} {name:?}");
        }
    }
}

/// Card of MRC, test 9: one of u uplinks of one plane is lost.
#[test]
fn a_lost_uplink_costs_at_most_its_share_of_a_plane() {
    for (uplinks, count) in [(4, 2), (8, 4)] {
        let plane = LeafSpine { spines: uplinks, hosts_per_leaf: uplinks, ..PLANE };
        let pairs: Vec<(u32, u32)> = (0..uplinks).map(|host| (host, host + uplinks)).collect();
        let mut setup = setup(planes(count, plane), "plane-jsq", messages(&pairs, 2_000 * PAYLOAD));
        let whole = complete(&setup).cct.unwrap();
        let dead = setup.topology.link_named("p1-leaf0-p1-spine1").unwrap();
        setup.fabric.failures = down([dead].into_iter(), Time::ZERO, Span::ZERO);
        setup.fabric.failures[0].convergence = Span::ZERO;
        let share = whole.as_ps() as f64 / complete(&setup).cct.unwrap().as_ps() as f64;
        let (u, p) = (f64::from(uplinks), f64::from(count));
        let (least, most) = (1.0 - 1.0 / u, 1.0 - 1.0 / (u * p));
        assert!(share > least - 0.01 && share < most + 0.01, "{share}: {least} to {most}");
    }
}

/// Card of MRC, test 10.
#[test]
fn uniform_loss_costs_one_retransmission_per_lost_packet() {
    let mut setup = lone("mrc", 2, 20_000);
    setup.scheme = build_scheme("mrc", &"min_active = 128".parse().unwrap()).unwrap();
    let loss = FailureKind::Loss { rate: Fraction::new(1, 100).unwrap() };
    setup.fabric.failures = (0..2)
        .map(|plane| {
            let link = port_link(&setup, 3, plane);
            let [_, to_host] = link.ports();
            let failure = down([link].into_iter(), Time::ZERO, Span::MAX)[0];
            let direction = Direction::From(to_host);
            Failure { kind: loss, direction, ..failure }
        })
        .collect();
    let outcome = complete(&setup);
    let each = outcome.counters.sent as f64 / 20_000.0;
    assert!((each - 1.0 / 0.99).abs() < 0.003, "{each}");
}

/// Card of MRC, test 11.
#[test]
fn the_maximum_psn_range_limits_the_rate() {
    use crate::nic::congestion::nscc::Config;
    let plane = LeafSpine { delay: Span::from_us(5), ..PLANE };
    let mut setup = setup(planes(4, plane), "mrc", messages(&[(0, 3)], 4_096 * PAYLOAD));
    let mpr = |mpr| crate::nic::recovery::mrc::Config { mpr, ..Default::default() };
    setup.nic.recovery = mpr(64).into();
    let limited = complete(&setup).cct.unwrap();
    let round_trip =
        Span::from_ps(4 * (PAYLOAD + HEADER) * PS_PER_BYTE + 4 * ACK * 80 + 40_000_000);
    let expected = round_trip.as_ps() as f64 * 4_096.0 / 64.0;
    assert!((limited.as_ps() as f64 / expected - 1.0).abs() < 0.08, "{limited}");
    setup.nic.recovery = mpr(1_024).into();
    let unlimited = complete(&setup).cct.unwrap();
    let all_ports = packets_of_a_port(4_096 / 4) + round_trip;
    assert!(unlimited < all_ports + Span::from_us(2));
    // A maximum window of the same bytes is the same limit: 400 Gbps carry 50 B per nanosecond.
    let window = 64 * (PAYLOAD + HEADER);
    let bdp = 50 * round_trip.as_ps() / 1_000;
    let part = Fraction::new(window as u32, bdp as u32).unwrap();
    let windows = Config { start_window: part, max_window: part, ..Config::default() };
    setup.nic.congestion = CongestionControl::Nscc(windows);
    let windowed = complete(&setup).cct.unwrap();
    assert!((windowed.as_ps() as f64 / expected - 1.0).abs() < 0.08, "{windowed}");
}

/// Card of MRC, test 12: plain rotation, and values that are skipped once. The sender is paced at
/// 240 of 400 Gbps. At line rate a free port always takes a packet of its own plane.
#[test]
fn skipping_halves_the_cost_of_a_slow_plane() {
    let plane = LeafSpine { spines: 1, ..PLANE };
    let run_with = |ecn, slow: bool| {
        let one = messages(&[(0, 3)], 8_000 * PAYLOAD);
        let mut setup = setup(planes(4, plane), "mrc", one);
        setup.scheme = build_scheme("mrc", &"evs = 64\nactive = 64".parse().unwrap()).unwrap();
        setup.fabric.switch.ecn = ecn;
        if slow {
            let share = Fraction::new(3, 5).unwrap();
            setup.nic.congestion = CongestionControl::LineRate(line_rate::Config { share });
            let links = ["p3-leaf0-p3-spine0", "p3-leaf1-p3-spine0"];
            let links = links.map(|name| setup.topology.link_named(name).unwrap());
            let kind = FailureKind::Degrade { factor: Fraction::new(1, 4).unwrap() };
            let failures = down(links.into_iter(), Time::ZERO, Span::MAX);
            setup.fabric.failures =
                failures.into_iter().map(|failure| Failure { kind, ..failure }).collect();
        }
        // No losses: the buffer takes everything, and no timer expires.
        setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(1 << 40));
        let wait = crate::nic::recovery::mrc::Wait::Span(Span::from_ms(100));
        setup.nic.recovery = crate::nic::recovery::mrc::Config {
            mpr: 1 << 20,
            reordering: wait,
            timer: wait,
            ..Default::default()
        }
        .into();
        complete(&setup).cct.unwrap().as_ps() as f64
    };
    let whole = run_with(Ecn::Off, false);
    let plain = whole / run_with(Ecn::Off, true);
    assert!((plain - 0.25).abs() < 0.02, "plain rotation: {plain}");
    let skips = whole / run_with(Ecn::Step(Bytes::new(1)), true);
    assert!(skips > 0.33 && skips < 7.0 / 16.0 + 0.01, "with skips: {skips}");
}

#[test]
fn a_fabric_of_several_planes_is_lossless_with_flow_control() {
    for policy in ["plane-jsq", "spray"] {
        let wide = LeafSpine { leaves: 4, hosts_per_leaf: 4, spines: 4, ..PLANE };
        let pairs: Vec<(u32, u32)> = (4..16).map(|src| (src, 0)).collect();
        let mut setup = setup(planes(2, wide), policy, messages(&pairs, 200 * PAYLOAD));
        let packet = Bytes::new(PAYLOAD + HEADER);
        super::lossless::lossless(&mut setup, Headroom::WorstCase { packet }, 100_000);
        let outcome = complete(&setup);
        assert_eq!((outcome.counters.dropped, outcome.counters.retransmitted), (0, 0), "{policy}");
        assert!(!outcome.pauses.is_empty(), "{policy}");
        let least = packets_of_a_port(12 * 200 / 2);
        assert!(outcome.cct.unwrap() > least && outcome.cct.unwrap() < least * 2, "{policy}");
    }
}

/// Card of MRC, section 1.5. There are return paths over two planes with four spines each. Those
/// over one spine lose every packet, and no switch notices.
#[test]
fn a_return_path_that_loses_everything_is_avoided() {
    for encoding in ["ecmp", "srv6"] {
        let lost = |reverse: &str| {
            let plane = LeafSpine { spines: 4, ..PLANE };
            let one = messages(&[(0, 3)], 4_000 * PAYLOAD);
            let mut setup = setup(planes(2, plane), "mrc", one);
            let parameters =
                format!("active = 128\nencoding = \"{encoding}\"\nreverse = \"{reverse}\"");
            setup.scheme = build_scheme("mrc", &parameters.parse().unwrap()).unwrap();
            let spine = setup.topology.switch_named("p1-spine0").unwrap();
            let leaf = setup.topology.switch_named("p1-leaf1").unwrap();
            // Packets that the receiver's leaf sends up to that spine.
            let up = setup.topology.links_of(spine).find_map(|link| {
                let leaves_leaf = |port: &PortId| {
                    setup.topology.ends_of(*port).0 == crate::topology::Node::Switch(leaf)
                };
                link.ports().into_iter().find(leaves_leaf)
            });
            let up = up.expect("each leaf has a link to each spine");
            let mut failures = down([up.link()].into_iter(), us(50), Span::MAX);
            failures[0].direction = Direction::From(up);
            failures[0].convergence = Span::MAX;
            setup.fabric.failures = failures;
            let outcome = complete(&setup);
            assert!(outcome.counters.retransmitted < 500, "{encoding}, {reverse}");
            outcome.counters.control_dropped
        };
        // An eighth of the acknowledgements after 50 us; with hashes more or fewer.
        let (echo, probe) = (lost("echo"), lost("probe"));
        assert!(echo > 300, "{encoding}: {echo}");
        // The return path may use that spine at 50 us. A round trip is 20 packets, every second
        // acknowledgement leaves on plane 1, and every second probe is for plane 1.
        assert!(probe < 100, "{encoding}: {probe} with probes, {echo} without");
    }
}

/// The port in the first plane has a hundredth of its rate. Its packet is the last to arrive, while
/// the other port sends all others back to back.
#[test]
fn a_port_continues_while_another_sends_a_slow_packet() {
    let mut setup = lone("plane-jsq", 2, 91);
    let port = setup.topology.planes().ports_of(HostId(0))[0];
    let factor = Fraction::new(1, 100).unwrap();
    setup.fabric.failures = vec![Failure {
        direction: Direction::From(port),
        kind: FailureKind::Degrade { factor },
        at: Time::ZERO,
        ..failure(port.link(), Time::NEVER, Span::ZERO)
    }];
    let outcome = complete(&setup);
    let packets = sent_by_port(&setup, &outcome, 0).into_iter().map(|it| it / (PAYLOAD + HEADER));
    assert_eq!(packets.collect::<Vec<_>>(), [1, 90]);
    let expected =
        idle_path_ps(1, PAYLOAD, 4, PS_PER_BYTE, 500_000) + 99 * (PAYLOAD + HEADER) * PS_PER_BYTE;
    assert_eq!(outcome.cct, Some(Span::from_ps(expected)));
}
