//! Tests idle paths against the formula and against packet-by-packet computations.

use super::*;
use crate::bound::fixtures::{OFAN, fat_tree, leaf_spine};

fn path(gbps: &[u64], count: u32) -> Path {
    let hop = |gbps: &u64| Hop { rate: BitRate::from_gbps(*gbps), delay: Span::from_ns(500) };
    Path { hops: gbps.iter().map(hop).collect(), count }
}

#[test]
fn equal_links_match_the_formula_to_the_picosecond() {
    for gbps in [10, 25, 100, 400, 800, 1_600] {
        for hops in [1u64, 2, 4, 6] {
            for n in [1u64, 2, 3, 256, 100_000] {
                let byte = 8_000 / gbps;
                let (d, a, gap, p) = (4_158 * byte, 64 * byte, 20 * byte, 500_000);
                let formula = n * (d + gap) - gap + (hops - 1) * d + hops * (p + a + p);
                for count in [1, 16] {
                    let path = path(&vec![gbps; hops as usize], count);
                    let idle = IdlePath::new(&path, Bytes::new(n * 4_096), &OFAN);
                    assert_eq!(idle.completed, Span::from_ps(formula), "{gbps} {hops} {n}");
                    assert_eq!(idle.completed - idle.delivered, Span::from_ps(hops * (a + p)));
                    assert_eq!((idle.packets, idle.acks), (n, n));
                }
            }
        }
    }
}

#[test]
fn an_empty_message_is_one_packet_of_headers() {
    let idle = IdlePath::new(&path(&[800, 800], 1), Bytes::ZERO, &OFAN);
    assert_eq!(idle.delivered, Span::from_ps(2 * (620 + 500_000)));
    assert_eq!(idle.completed, Span::from_ps(2 * (620 + 500_000) + 2 * (640 + 500_000)));
}

/// Returns the delivery time of the last packet in picoseconds, computed packet by packet on each
/// link.
fn simulated(rates: &[u64], bytes: u64, wire: &Wire) -> u64 {
    let (mut free, mut end) = (vec![0; rates.len()], 0);
    let packets = bytes.div_ceil(4_096).max(1);
    for packet in 0..packets {
        let payload = (bytes - packet * 4_096).min(4_096);
        let mut at = 0;
        for (hop, gbps) in rates.iter().enumerate() {
            let start = free[hop].max(at);
            free[hop] = start + (payload + 62 + 20) * 8_000 / gbps;
            at = start + (payload + 62) * 8_000 / gbps + 500_000;
            end = at;
            at += wire.forwarding_delay.as_ps();
        }
    }
    end
}

#[test]
fn unequal_rates_and_a_shorter_last_packet_match_a_computation_packet_by_packet() {
    let wire = Wire { forwarding_delay: Span::from_ns(7), ..OFAN };
    let paths: [&[u64]; 5] =
        [&[400, 400, 400], &[100, 25, 400, 100], &[25, 100, 100, 25], &[800], &[10, 400, 25]];
    for rates in paths {
        for bytes in [0, 1, 4_096, 4_097, 8_000, 8_192, 12_289, 50_000, 1_000_000] {
            let idle = IdlePath::new(&path(rates, 1), Bytes::new(bytes), &wire);
            let expected = Span::from_ps(simulated(rates, bytes, &wire));
            assert_eq!(idle.delivered, expected, "{rates:?} {bytes}");
        }
    }
}

#[test]
fn overtaking_shortens_delivery_only_where_a_short_last_packet_can_overtake() {
    for bytes in [4_097, 8_000, 8_193, 12_289, 50_000, 1_000_001] {
        let [alone, many] = [1, 4].map(|count| {
            IdlePath::new(&path(&[400; 4], count), Bytes::new(bytes), &OFAN).delivered
        });
        assert!(many <= alone, "{bytes}");
        // With 4,097 or 8,193 bytes, the last packet reaches the last link before all others.
        assert_eq!(many < alone, bytes == 4_097 || bytes == 8_193, "{bytes}: {many} {alone}");
    }
    // Slow links in the middle delay nothing if there are enough of them.
    let slow = IdlePath::new(&path(&[400, 100, 100, 400], 16), Bytes::new(1 << 20), &OFAN);
    let spread = 256 * 4_178 * 20 - 20 * 20 + 3 * 4_158 * 20 + 2 * 3 * 4_158 * 20;
    assert_eq!(slow.delivered, Span::from_ps(spread + 2_000_000));
}

#[test]
fn a_path_has_the_hops_and_the_count_of_the_fabric() {
    let rate = BitRate::from_gbps(400);
    let hosts = |a, b| (HostId(a), HostId(b));
    for (topology, (src, dst), hops, count) in [
        (leaf_spine(4, 3, 2, rate), hosts(0, 7), 4, 3),
        (leaf_spine(4, 3, 2, rate), hosts(0, 1), 2, 1),
        (fat_tree(4, rate), hosts(0, 15), 6, 4),
    ] {
        let routes = Routes::new(&topology, &|_| true);
        let path = Path::between(&topology, &routes, src, dst).unwrap();
        assert_eq!((path.hops.len(), path.count), (hops, count));
        assert!(path.hops.iter().all(|hop| hop.rate == rate));
    }
}

#[test]
fn packets_that_take_detours_share_only_the_links_of_their_hosts() {
    let slow = path(&[400, 10, 10, 400], 1);
    let best = Hop { rate: BitRate::from_gbps(40), delay: Span::from_ns(100) };
    let detours = slow.clone().with_detours(Some(best));
    let hops = vec![slow.hops[0], best, best, slow.hops[3]];
    assert_eq!(detours, Path { hops, count: 2 });
    for bytes in [4_097, 50_000, 1_000_000] {
        let [before, after] =
            [&slow, &detours].map(|path| IdlePath::new(path, Bytes::new(bytes), &OFAN).delivered);
        assert!(after < before, "{bytes}");
    }
    let alone = path(&[400, 400], 1);
    assert_eq!(alone.clone().with_detours(Some(best)), alone, "hosts of one switch");
}
