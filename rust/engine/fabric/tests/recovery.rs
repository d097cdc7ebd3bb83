//! Loss recoveries in whole runs.

use super::*;
use crate::nic::Recovery;
use crate::nic::recovery::sack;

fn all() -> [Recovery; 6] {
    [
        Recovery::GO_BACK_N,
        Recovery::GO_BACK_TO_ZERO,
        Recovery::Sack(sack::Config::default()),
        Recovery::Sack(sack::Config { reordering: 6, ..sack::Config::default() }),
        Recovery::PER_PACKET,
        Recovery::ERASURE,
    ]
}

/// The delivery modes of Ultra Ethernet.
const MODES: [Recovery; 2] = [Recovery::ROD, Recovery::RUDI];

#[test]
fn on_an_idle_path_all_recoveries_take_the_time_of_the_closed_form() {
    for recovery in all().into_iter().chain(MODES) {
        for packets in [1, 7, 1_000] {
            let one = messages(&[(0, 15)], packets * PAYLOAD);
            let mut setup = setup(fat_tree(4, 400), "ecmp", one);
            setup.nic.recovery = recovery;
            let outcome = complete(&setup);
            let expected = idle_path_ps(packets, PAYLOAD, 6, 20, 500_000);
            assert_eq!(outcome.cct.unwrap().as_ps(), expected, "{recovery:?}, {packets} packets");
            assert_eq!(outcome.counters.sent, packets, "{recovery:?}");
        }
    }
}

#[test]
fn recoveries_that_accept_reordering_retransmit_less() {
    let resent = |recovery| {
        let pairs: Vec<(u32, u32)> = (0..16).map(|host| (host, (host + 5) % 16)).collect();
        let mut setup = setup(fat_tree(4, 400), "spray", messages(&pairs, 400_000));
        setup.nic.recovery = recovery;
        setup.nic.nack_interval = Span::from_us(10);
        let outcome = complete(&setup);
        assert!(outcome.counters.out_of_order > 0);
        outcome.counters.retransmitted
    };
    // Back-to-zero would never complete.
    let [go_back_n, _, selective @ ..] = all();
    let (go_back_n, [irn, sack, per_packet, erasure]) = (resent(go_back_n), selective.map(resent));
    assert!(go_back_n > irn && irn > sack, "{go_back_n} {irn} {sack}");
    assert_eq!((per_packet, erasure), (0, 0));
}

#[test]
fn dropped_packets_of_an_incast_are_retransmitted() {
    for recovery in all().into_iter().chain(MODES) {
        let incast: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
        let mut setup = setup(leaf_spine(2, 4, 4, 400), "ecmp", messages(&incast, 100_000));
        setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(100_000));
        setup.nic.recovery = recovery;
        setup.nic.nack_interval = Span::from_us(10);
        setup.nic.ack.every = 4;
        setup.nic.ack.within = Span::from_us(2);
        let outcome = complete(&setup);
        assert!(outcome.counters.dropped > 0, "{recovery:?}");
        assert!(outcome.counters.retransmitted >= outcome.counters.dropped, "{recovery:?}");
    }
}

/// Card of Ultra Ethernet, test 5: under any policy, ROD uses one path, which keeps the order.
#[test]
fn rod_uses_one_path_under_a_spraying_policy_and_rud_uses_all() {
    let uplinks = |recovery| {
        let mut setup = setup(leaf_spine(2, 4, 1, 400), "spray", messages(&[(0, 1)], 800_000));
        setup.nic.recovery = recovery;
        let outcome = complete(&setup);
        let names = (0..4).map(|spine| format!("leaf0-spine{spine}"));
        let links = names.map(|name| setup.topology.link_named(&name).unwrap());
        let sent = links.map(|link| outcome.link_bytes[2 * link.index()].get());
        let used = sent.filter(|&bytes| bytes > 800_000 / 8).count();
        (used, outcome.counters.out_of_order, outcome.counters.retransmitted)
    };
    assert_eq!(uplinks(Recovery::ROD), (1, 0, 0));
    for recovery in [Recovery::PER_PACKET, Recovery::RUDI] {
        let (used, _, again) = uplinks(recovery);
        assert_eq!((used, again), (4, 0), "{recovery:?}");
    }
}
