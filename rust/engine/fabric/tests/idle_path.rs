//! Closed forms: times of packets on idle paths, to the picosecond.

use super::*;

#[test]
fn an_idle_path_takes_exactly_the_time_of_the_closed_form() {
    for (gbps, ps_per_byte) in [(10, 800), (100, 80), (400, 20), (800, 10), (1_600, 5)] {
        for packets in [1, 2, 7, 100, 1_000] {
            for policy in ["ecmp", "spray"] {
                let paths = [
                    (leaf_spine(2, 4, 2, gbps), 1, 2),
                    (leaf_spine(2, 4, 2, gbps), 3, 4),
                    (fat_tree(4, gbps), 15, 6),
                ];
                for (topology, dst, links) in paths {
                    let one = messages(&[(0, dst)], packets * PAYLOAD);
                    let cct = complete(&setup(topology, policy, one)).cct.unwrap();
                    let expected = idle_path_ps(packets, PAYLOAD, links, ps_per_byte, 500_000);
                    assert_eq!(
                        cct,
                        Span::from_ps(expected),
                        "{policy}, {gbps} Gbps, {packets} packets, {links} links"
                    );
                }
            }
        }
    }
}

#[test]
fn the_closed_form_covers_forwarding_delay_and_small_packets() {
    let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", messages(&[(0, 1)], 10 * 256));
    setup.fabric.forwarding_delay = Span::from_ns(300);
    setup.nic.payload = Bytes::new(256);
    let switches_both_ways = 2 * 3 * 300_000;
    let expected = idle_path_ps(10, 256, 4, 20, 500_000) + switches_both_ways;
    assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)));
}

#[test]
fn a_wire_shorter_than_its_gap_is_still_exact() {
    let topology = LeafSpine { delay: Span::ZERO, ..fixtures::leaf_spine(2, 1, 1) };
    let setup = setup(topology.build().unwrap(), "ecmp", messages(&[(0, 1)], 50 * PAYLOAD));
    assert_eq!(complete(&setup).cct, Some(Span::from_ps(idle_path_ps(50, PAYLOAD, 4, 20, 0))));
}

#[test]
fn a_fixed_rate_spaces_packets_exactly() {
    for share in [Fraction::new(1, 2), Fraction::new(1, 3), Fraction::new(1, 1_000)] {
        for (delay, packets) in [(0, 50), (500, 50), (50_000, 50)] {
            let share = share.unwrap();
            let topology =
                LeafSpine { delay: Span::from_ns(delay), ..fixtures::leaf_spine(2, 1, 1) };
            let one = messages(&[(0, 1)], packets * PAYLOAD);
            let mut setup = setup(topology.build().unwrap(), "ecmp", one);
            setup.nic.congestion = CongestionControl::LineRate(line_rate::Config { share });
            // The last of n packets starts n − 1 packet times after the first, at the rate of the
            // share. From then on it is alone.
            let data = PAYLOAD + HEADER;
            let rate = BitRate::from_gbps(400).scaled(share);
            let bits = u128::from((packets - 1) * data * 8) * 1_000_000_000_000;
            let last_start = (bits / u128::from(rate.as_bps())) as u64;
            let expected = last_start + idle_path_ps(1, PAYLOAD, 4, 20, delay * 1_000);
            assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)), "{share}, {delay} ns");
        }
    }
}

/// A packet arrives, and its wire becomes free, when its last bit is sent. The next packet waits
/// only for its rate.
#[test]
fn a_fixed_rate_spaces_packets_without_wire_length_and_gap() {
    let topology = LeafSpine { delay: Span::ZERO, ..fixtures::leaf_spine(2, 1, 1) };
    let packets = 50;
    let one = messages(&[(0, 1)], packets * PAYLOAD);
    let mut setup = setup(topology.build().unwrap(), "ecmp", one);
    setup.fabric.gap = Bytes::ZERO;
    let share = Fraction::new(1, 2).unwrap();
    setup.nic.congestion = CongestionControl::LineRate(line_rate::Config { share });
    let data = PAYLOAD + HEADER;
    let expected = ((packets - 1) * 2 * data + 4 * data + 4 * ACK) * 20;
    assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)));
}

#[test]
fn a_packet_starts_in_time_without_an_event_at_its_start() {
    // The first message occupies the wire for one packet. The second follows immediately, and its
    // next packets are due long before the first arrival wakes the host.
    let (share, packets) = (Fraction::new(1, 2).unwrap(), 50);
    let mut list = messages(&[(0, 1), (0, 1)], packets * PAYLOAD);
    list[0].bytes = Bytes::new(PAYLOAD);
    let topology = LeafSpine { delay: Span::from_us(50), ..fixtures::leaf_spine(2, 1, 1) };
    let mut setup = setup(topology.build().unwrap(), "ecmp", list);
    setup.nic.congestion = CongestionControl::LineRate(line_rate::Config { share });
    let data = PAYLOAD + HEADER;
    let last_start = (data + GAP) * 20 + (packets - 1) * 2 * data * 20;
    let expected = last_start + idle_path_ps(1, PAYLOAD, 4, 20, 50_000_000);
    assert_eq!(complete(&setup).cct, Some(Span::from_ps(expected)));
}

#[test]
fn a_message_posted_during_the_gap_starts_at_its_end() {
    // Without propagation delay a packet arrives with its last bit, so no arrival remains to wake
    // its sender.
    let topology = LeafSpine { delay: Span::ZERO, ..fixtures::leaf_spine(1, 1, 2) };
    let data = (PAYLOAD + HEADER) * 20;
    let mut two = messages(&[(0, 1), (0, 1)], PAYLOAD);
    two[1].start = Time::from_ps(data + 1);
    let outcome = complete(&setup(topology.build().unwrap(), "ecmp", two));
    let expected = Time::from_ps(data + GAP * 20 + 2 * data);
    assert_eq!(outcome.flows[1].delivered, expected);
}

#[test]
fn a_timeout_may_be_shorter_than_any_transmission() {
    for policy in ["ecmp", "spray", "ethereal"] {
        for delay in [Span::ZERO, Span::from_ns(500)] {
            let both_ways = messages(&[(0, 2), (2, 0), (1, 3), (3, 1)], 3 * PAYLOAD);
            let mut setup = setup(crossed(delay), policy, both_ways);
            setup.nic.retransmit_timeout = Span::from_ps(1);
            let outcome = complete(&setup);
            assert!(outcome.counters.retransmitted > 0, "{policy}");
        }
    }
}

/// The rate of data delays no acknowledgement.
#[test]
fn acknowledgements_are_not_delayed_by_paced_data() {
    let share = Fraction::new(1, 100).unwrap();
    let packet = (PAYLOAD + HEADER) * 20;
    let mut both = messages(&[(0, 1), (1, 0)], 20 * PAYLOAD);
    // It arrives between the second and third packet of the other message, which are 8.3 us apart.
    (both[1].bytes, both[1].start) = (Bytes::new(PAYLOAD), Time::from_ps(110 * packet));
    let mut setup = setup(leaf_spine(1, 1, 2, 400), "ecmp", both);
    setup.nic.congestion = CongestionControl::LineRate(line_rate::Config { share });
    let outcome = complete(&setup);
    assert!(outcome.flows[0].delivered > outcome.flows[1].completed);
    let alone = idle_path_ps(1, PAYLOAD, 2, 20, 500_000);
    assert_eq!(outcome.message_fct[1], Span::from_ps(alone));
}
