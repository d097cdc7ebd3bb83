//! Trimming: packets beyond the buffer arrive as headers and are retransmitted selectively.

use std::fmt::Write as _;

use super::*;
use crate::fabric::network::Network;
use crate::ids::SwitchId;
use crate::nic::recovery::sack;
use crate::nic::{Nic, PortFacts, Recovery, SendHalf};
use crate::packet::{Flags, Packet, PacketKind};

fn trimmed(limit: u64) -> Setup {
    let incast: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
    let mut setup = setup(leaf_spine(2, 4, 4, 400), "spray", messages(&incast, 200_000));
    setup.fabric.switch.buffer = Buffer::PerPort(Bytes::new(100_000));
    setup.fabric.switch.trim = Some(TrimConfig {
        size: Bytes::new(64),
        limit: Bytes::new(limit),
        victim: TrimVictim::Arriving,
    });
    setup
}

/// All four recoveries, with their names in scenarios.
fn recoveries() -> [(&'static str, Recovery); 4] {
    [
        ("go-back-n", Recovery::GO_BACK_N),
        ("sack", Recovery::Sack(sack::Config::default())),
        ("per-packet", Recovery::PER_PACKET),
        ("erasure", Recovery::ERASURE),
    ]
}

/// Six packets of host 1 reach a switch at once. Returns the packets that the switch forwards, and
/// the acknowledgements of host 0.
fn forward_six(setup: &Setup, switch: u32) -> (Vec<Packet>, Vec<Packet>) {
    let config = Arc::new(setup.nic.clone());
    let port = PortFacts { line_rate: BitRate::from_gbps(400), base_rtt: Span::from_us(5) };
    let mut nics = [0, 1].map(|host| Nic::new(HostId(host), port, Arc::clone(&config)));
    let policy = setup.scheme.sender.build(&crate::balance::sender::QpContext {
        seed: 1,
        src: HostId(1),
        dst: HostId(0),
        stream: 0,
        qp_index: 0,
        paths: crate::balance::sender::PathSpace::SINGLE,
        path: 0,
        network: crate::balance::sender::NetworkParameters::default(),
    });
    let half = SendHalf { peer: HostId(0), label: 1, cookie: 0, extra: false, policy };
    let sender = nics[1].open_sender(half);
    let receiver = nics[0].open_receiver(HostId(1), sender, 1, 0);
    nics[1].connect(sender, receiver);
    nics[1].post(sender, Bytes::new(10 * PAYLOAD), 0, 0);
    let mut network = Network::new(setup);
    for _ in 0..6 {
        let packet = nics[1].poll_transmit(Time::ZERO).expect("there are ten");
        network.forward_for_test(Time::ZERO, SwitchId(switch), packet);
    }
    let mut out: Vec<Packet> = network.packets().copied().collect();
    out.sort_by_key(|packet| packet.as_data().map(|data| data.psn().get()));
    out.iter().for_each(|packet| nics[0].handle_packet(Time::ZERO, packet));
    let control = std::iter::from_fn(|| nics[0].poll_transmit(Time::ZERO)).collect();
    (out, control)
}

/// The first starts immediately, two are queued, three are trimmed. Each trimmed packet causes a
/// NACK with its sequence number, which states whether the switch was the last hop.
#[test]
fn nacks_of_trimmed_packets_carry_number_and_hop() {
    for (name, recovery) in recoveries() {
        // Host 1 is at leaf 1, host 0 at leaf 0: leaf 1 is the first hop, and leaf 0 the last.
        for (switch, last_hop) in [(1, Flags::NONE), (0, Flags::LAST_HOP)] {
            let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", Vec::new());
            setup.nic.recovery = recovery;
            setup.fabric.switch.buffer = Buffer::PerPort(Bytes::new(2 * (PAYLOAD + HEADER)));
            let limit = Bytes::new(1_000);
            setup.fabric.switch.trim =
                Some(TrimConfig { size: Bytes::new(64), limit, victim: TrimVictim::Arriving });
            let (packets, control) = forward_six(&setup, switch);
            let sizes: Vec<u16> = packets.iter().map(|packet| packet.wire_bytes).collect();
            assert_eq!(sizes, [4_158, 4_158, 4_158, 64, 64, 64], "{name}");
            let cut = |packet: &Packet| packet.flags.has(Flags::TRIMMED);
            let nacks = control.iter().filter_map(Packet::as_nack);
            let trimmed = nacks.filter(|nack| nack.is_for_trimmed());
            let reported: Vec<u32> =
                trimmed.map(|nack| nack.as_ack().report().base.get()).collect();
            // In-order recoveries send one NACK at a time, for all packets from the first missing
            // one.
            let expected: &[u32] = if name == "go-back-n" { &[3] } else { &[3, 4, 5] };
            assert_eq!(reported, expected, "{name}, switch {switch}");
            for packet in packets.iter().chain(&control).filter(|it| cut(it)) {
                let at_last = packet.flags.has(Flags::LAST_HOP);
                assert_eq!(at_last, last_hop != Flags::NONE, "{name}, switch {switch}");
            }
            let nacks = control.iter().filter(|it| it.kind == PacketKind::Nack).count();
            assert_eq!((nacks, control.len()), (expected.len(), 3 + expected.len()), "{name}");
        }
    }
}

/// Seven hosts send 49 packets each to an eighth, whose switch has room for 24 of them. The timeout
/// is 10 ms.
///
/// Recoveries that accept packets in any order need no timeout: each trimmed packet is requested by
/// its number and retransmitted. With `per-packet` and `erasure` that happens exactly once. With
/// `sack` it happens a little more often, because later arrivals reveal the gap, too.
///
/// In-order recoveries send one NACK at a time, and a header overtakes the queue. Its NACK is for
/// an earlier packet that is still in flight, and packets trimmed after it cause no NACK. They are
/// retransmitted after a timeout.
#[test]
fn recoveries_without_order_retransmit_trimmed_packets_without_a_timeout() {
    let timeout = Span::from_ms(10);
    let mut text = "recovery   policy  CCT us    sent  resent trimmed  control\n".to_owned();
    for (name, recovery) in recoveries() {
        for policy in ["ecmp", "spray"] {
            let mut setup = trimmed(200_000);
            setup.scheme = build_scheme(policy, &Parameters::new()).unwrap();
            setup.nic.recovery = recovery;
            setup.nic.retransmit_timeout = timeout;
            let outcome = complete(&setup);
            let it = &outcome.counters;
            let cct = outcome.cct.unwrap();
            writeln!(
                text,
                "{name:<11}{policy:<6}{:>8}{:>8}{:>8}{:>8}{:>9}",
                cct.as_ps() / 1_000_000,
                it.sent,
                it.retransmitted,
                it.trimmed,
                it.control_sent
            )
            .unwrap();
            assert!(it.trimmed > 0 && it.retransmitted >= it.trimmed, "{name}");
            assert_eq!((it.dropped, it.control_dropped), (0, 0), "{name}");
            if name != "go-back-n" {
                // 343 packets and their gaps take 28.7 us over the last wire, and the header of
                // each trimmed packet 1.7 ns.
                assert!(cct < Span::from_us(50), "{name}, {policy}: {cct}");
            }
            if matches!(name, "per-packet" | "erasure") {
                assert_eq!(it.retransmitted, it.trimmed, "{name}, {policy}");
                assert_eq!(it.control_sent, it.sent, "{name}, {policy}: each is answered");
            }
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("fabric-trimming", text));
}

#[test]
fn packets_beyond_the_buffer_are_trimmed_instead_of_dropped() {
    let outcome = complete(&trimmed(200_000));
    let counters = &outcome.counters;
    assert!(counters.trimmed > 0);
    assert_eq!((counters.dropped, counters.control_dropped), (0, 0));
    // Every packet is sent once, and each trimmed packet once more.
    let packets = 7 * 200_000u64.div_ceil(PAYLOAD);
    assert_eq!(counters.delivered, counters.sent);
    assert!(counters.sent >= packets + counters.trimmed, "{counters:?}");
}

/// Six packets arrive at once, with room for one on the wire and two in the queue. Three times a
/// packet finds no room. Each time, the arriving packet replaces the last one with probability 1/2:
/// the sixth ends in the queue with 1/2, the fifth with 1/4, the third and the fourth with 1/8
/// each.
#[test]
fn the_last_packet_of_a_queue_is_trimmed_as_often_as_the_one_that_arrives() {
    let mut waits = [0u32; 6];
    for seed in 0..800 {
        let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", Vec::new());
        setup.seed = seed;
        setup.fabric.switch.buffer = Buffer::PerPort(Bytes::new(2 * (PAYLOAD + HEADER)));
        let (size, limit) = (Bytes::new(64), Bytes::new(1_000));
        setup.fabric.switch.trim =
            Some(TrimConfig { size, limit, victim: TrimVictim::ArrivingOrLast });
        let (packets, _) = forward_six(&setup, 1);
        let is_whole = |it: &Packet| u64::from(it.wire_bytes) == PAYLOAD + HEADER;
        let whole: Vec<usize> = (0..6).filter(|&psn| is_whole(&packets[psn])).collect();
        let headers = packets.iter().filter(|it| it.flags.has(Flags::TRIMMED));
        assert!(headers.clone().all(|it| it.wire_bytes == 64 && it.flags.has(Flags::PRIORITY)));
        assert_eq!((whole.len(), headers.count()), (3, 3), "{whole:?}");
        assert_eq!(whole[..2], [0, 1], "on the wire, and first in the queue");
        waits[whole[2]] += 1;
    }
    for (psn, expected) in [(5, 400), (4, 200), (3, 100), (2, 100)] {
        assert!(waits[psn].abs_diff(expected) < expected / 5 + 15, "{psn}: {waits:?}");
    }
}

#[test]
fn displaced_packets_are_retransmitted_and_none_is_dropped() {
    let arriving = complete(&trimmed(200_000));
    for buffer in [Buffer::PerPort(Bytes::new(100_000)), Buffer::Shared(Bytes::new(100_000))] {
        let mut setup = trimmed(200_000);
        setup.fabric.switch.buffer = buffer;
        let trim = setup.fabric.switch.trim.as_mut().expect("it trims");
        trim.victim = TrimVictim::ArrivingOrLast;
        let outcome = complete(&setup);
        let counters = &outcome.counters;
        assert!(counters.trimmed > 0 && counters.delivered == counters.sent, "{counters:?}");
        assert_eq!((counters.dropped, counters.control_dropped), (0, 0));
        assert_ne!(outcome.message_fct, arriving.message_fct, "other flows lose packets");
    }
}

#[test]
fn headers_beyond_their_own_limit_are_dropped() {
    // Room for two headers or acknowledgements at a time.
    let outcome = complete(&trimmed(128));
    assert!(outcome.counters.dropped > 0 && outcome.counters.trimmed > 0);
    assert_eq!(
        outcome.counters.sent,
        outcome.counters.delivered + outcome.counters.dropped + outcome.in_flight
    );
}

#[test]
fn trimming_in_a_buffer_that_never_fills_changes_no_result() {
    let mut setup = trimmed(1 << 30);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(64_000_000));
    let with = complete(&setup);
    setup.fabric.switch.trim = None;
    assert_eq!(with, complete(&setup));
}

#[test]
fn flow_control_without_headroom_trims_packets_that_it_would_drop() {
    let mut setup = trimmed(200_000);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(200_000));
    setup.fabric.switch.pfc =
        Some(PfcConfig { headroom: Headroom::Fixed(Bytes::ZERO), ..PfcConfig::HPCC });
    let outcome = complete(&setup);
    assert!(outcome.counters.trimmed > 0 && outcome.counters.pfc_pauses > 0);
    assert_eq!(outcome.counters.dropped, 0);
}

/// Six packets arrive at once. One starts and two find room, so three are trimmed.
#[test]
fn each_trimmed_packet_is_counted_once() {
    for victim in [TrimVictim::Arriving, TrimVictim::ArrivingOrLast] {
        for seed in 0..20 {
            let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", Vec::new());
            setup.seed = seed;
            setup.fabric.switch.buffer = Buffer::PerPort(Bytes::new(2 * (PAYLOAD + HEADER)));
            let (size, limit) = (Bytes::new(64), Bytes::new(1_000));
            setup.fabric.switch.trim = Some(TrimConfig { size, limit, victim });
            let mut network = Network::new(&setup);
            for _ in 0..6 {
                let packet = Packet { dst: HostId(0), wire_bytes: 4_158, ..Packet::default() };
                network.forward_for_test(Time::ZERO, SwitchId(1), packet);
            }
            assert_eq!(network.counters().trimmed, 3, "{victim:?}, seed {seed}");
        }
    }
}
