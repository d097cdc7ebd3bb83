//! Degraded and lossy links.

use super::*;

fn degraded(factor: Fraction, until: Time) -> Failure {
    let kind = FailureKind::Degrade { factor };
    Failure { kind, at: Time::ZERO, ..failure(LinkId(0), until, Span::ZERO) }
}

#[test]
fn a_degraded_path_is_an_idle_path_at_the_lower_rate() {
    for (factor, ps_per_byte) in [((1, 1), 20), ((1, 2), 40), ((1, 4), 80), ((1, 40), 800)] {
        let factor = Fraction::new(factor.0, factor.1).unwrap();
        let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", messages(&[(0, 1)], 50 * PAYLOAD));
        let links = (0..setup.topology.links().len() as u32).map(LinkId);
        setup.fabric.failures =
            links.map(|link| Failure { link, ..degraded(factor, Time::NEVER) }).collect();
        let expected = idle_path_ps(50, PAYLOAD, 4, ps_per_byte, 500_000);
        assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)), "{factor}");
    }
}

#[test]
fn packets_that_start_while_a_link_is_degraded_take_longer() {
    // The host's link has half its rate from the start of the tenth packet to that of the
    // thirtieth. The other links are never the bottleneck.
    let step = |rate_ps: u64| (PAYLOAD + HEADER + GAP) * rate_ps;
    let (from, until) = (10 * step(20), 10 * step(20) + 20 * step(40));
    let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", messages(&[(0, 1)], 50 * PAYLOAD));
    let port = setup.topology.host_port(HostId(0));
    let half = Fraction::new(1, 2).unwrap();
    let failure = Failure { link: port.link(), ..degraded(half, Time::from_ps(until)) };
    // The change is exactly at the start of the tenth packet, or a picosecond after that of the
    // ninth.
    for from in [from, from - step(20) + 1] {
        setup.fabric.failures = vec![Failure { at: Time::from_ps(from), ..failure }];
        let expected = idle_path_ps(50, PAYLOAD, 4, 20, 500_000) + 20 * step(20);
        assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)), "from {from} ps");
    }
    // Two simultaneous failures leave a quarter of the rate.
    setup.fabric.failures = vec![failure; 2];
    setup.fabric.failures.iter_mut().for_each(|it| it.until = Time::NEVER);
    let expected = (50 * (PAYLOAD + HEADER + GAP) - GAP) * 80
        + 3 * (PAYLOAD + HEADER) * 20
        + 3 * ACK * 20
        + ACK * 80
        + 8 * 500_000;
    assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)));
}

#[test]
fn queued_packets_of_a_degraded_switch_port_take_longer() {
    // Two hosts fill one wire, whose link has half its rate from 10 us on. Packets that start later
    // take twice as long.
    let mut setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", messages(&[(0, 2), (1, 2)], 400_000));
    let whole = complete(&setup).cct.unwrap().as_ps();
    let link = setup.topology.host_port(HostId(2)).link();
    let half = degraded(Fraction::new(1, 2).unwrap(), Time::NEVER);
    let at = Time::ZERO + Span::from_us(10);
    setup.fabric.failures = vec![Failure { link, at, ..half }];
    let cct = complete(&setup).cct.unwrap().as_ps();
    // The packet on the wire at 10 us keeps its rate. The last acknowledgement is slower, too.
    let expected = whole + (whole - at.as_ps());
    let packet = (PAYLOAD + HEADER + GAP) * 20;
    assert!(cct.abs_diff(expected) < 5 * 500_000 + packet, "{cct} for {expected}");
}

#[test]
fn a_lossy_link_loses_packets_at_about_its_rate() {
    let outcome = |others: &[(u32, u32)]| {
        let mut setup = setup(leaf_spine(2, 1, 4, 400), "spray", Vec::new());
        let mut list = messages(&[(0, 4)], 40_000_000);
        list.extend(messages(others, 1_000_000));
        setup.workload = Arc::new(Workload::independent(list));
        setup.nic.retransmit_timeout = Span::from_us(100);
        let rate = Fraction::new(1, 100).unwrap();
        let (link, kind) = (setup.topology.host_port(HostId(0)).link(), FailureKind::Loss { rate });
        let never = failure(link, Time::NEVER, Span::MAX);
        setup.fabric.failures = vec![Failure { kind, at: Time::ZERO, ..never }];
        complete(&setup)
    };
    let alone = outcome(&[]);
    let lost = alone.counters.dropped as f64 / alone.counters.sent as f64;
    assert!((0.007..0.013).contains(&lost), "{lost}");
    assert!(alone.counters.control_dropped > 0, "both directions lose");
    let together = outcome(&[(1, 2), (2, 3)]);
    assert_eq!(alone.counters.dropped, together.counters.dropped);
}

#[test]
fn a_lossy_link_loses_packets_only_during_its_failure() {
    let mut setup = setup(leaf_spine(2, 1, 1, 400), "spray", messages(&[(0, 1)], 4_000_000));
    let whole = complete(&setup);
    let lossy = |from, until| Failure {
        kind: FailureKind::Loss { rate: Fraction::ONE },
        at: Time::ZERO + Span::from_us(from),
        ..failure(LinkId(0), Time::ZERO + Span::from_us(until), Span::ZERO)
    };
    setup.fabric.failures = vec![lossy(1_000, 2_000)];
    assert_eq!(complete(&setup).cct, whole.cct);
    setup.fabric.failures = vec![lossy(20, 30)];
    let outcome = complete(&setup);
    // 10 us of packets of 83.56 ns each, and the acknowledgements of packets already in flight.
    let lost = outcome.counters.dropped;
    assert!((119..=120).contains(&lost) && outcome.counters.control_dropped > 0, "{lost}");
}

#[test]
fn scaled_buffers_shrink_with_the_rate_of_a_slow_port() {
    let packet = PAYLOAD + HEADER;
    for (slow_ports, most) in [(SlowPorts::Keep, 100_000), (SlowPorts::Scale, 50_000)] {
        let pairs = messages(&[(0, 2), (1, 2)], 100 * PAYLOAD);
        let mut setup = setup(leaf_spine(1, 1, 3, 400), "spray", pairs);
        let link = setup.topology.host_port(HostId(2)).link();
        let half = degraded(Fraction::new(1, 2).unwrap(), Time::NEVER);
        setup.fabric.failures = vec![Failure { link, ..half }];
        setup.fabric.switch.buffer = Buffer::PerPort(Bytes::new(100_000));
        setup.fabric.switch.slow_ports = slow_ports;
        let queue = complete(&setup).queue_bytes_max.get();
        assert!(queue <= most && queue + packet > most, "{slow_ports:?}: {queue} of {most}");
    }
}

/// Two hosts send ten packets each to a third. Its link has half its rate from about the start of
/// the sixteenth packet on, which no event has settled yet.
#[test]
fn a_switch_packet_keeps_the_rate_at_its_start() {
    let step = (PAYLOAD + HEADER + GAP) * 20;
    let first = (PAYLOAD + HEADER) * 20 + 500_000;
    let pairs = messages(&[(0, 2), (1, 2)], 10 * PAYLOAD);
    let mut setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", pairs);
    let link = setup.topology.host_port(HostId(2)).link();
    let half = degraded(Fraction::new(1, 2).unwrap(), Time::NEVER);
    for (ps, slow) in [(0, 5), (1, 4), (40_000, 4), (step - 1, 4), (step, 4)] {
        let at = Time::from_ps(first + 15 * step + ps);
        setup.fabric.failures = vec![Failure { link, at, ..half }];
        let last = complete(&setup).flows.iter().map(|flow| flow.delivered).max();
        let sent = first + (20 - slow) * step + slow * 2 * step - 2 * GAP * 20;
        assert_eq!(last, Some(Time::from_ps(sent + 500_000)), "{ps} ps after the start");
    }
}
