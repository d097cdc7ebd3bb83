//! A window for each path of a policy.

use super::*;
use crate::balance::sender::spray_rr;
use crate::nic::congestion::{Scope, nscc};
use crate::nic::recovery::mrc;
use crate::nic::{ControlPaths, FreePorts};
use crate::packet::PlaneMask;
use crate::units::Fraction;

/// Two NICs whose sender has four paths and a window of `window` bandwidth-delay products.
fn four_paths(recovery: Recovery, window: Fraction) -> (Nic, Nic, QpId) {
    let congestion = nscc::Config {
        scope: Scope::Path,
        start_window: window,
        max_window: window,
        delay_gain: Fraction::ONE,
        ..nscc::Config::default()
    };
    let common = config(recovery, 1);
    let config = Arc::new(NicConfig { congestion: congestion.into(), ..(*common).clone() });
    let [mut a, mut b] = [0, 1].map(|host| Nic::new(HostId(host), PORT, Arc::clone(&config)));
    a.set_planes(1, ControlPaths::Echo, 1);
    let four = spray_rr::Config { entropies: 4.try_into().unwrap() };
    let policy = SenderConfig::SprayRr(four).build(&QpContext::for_test());
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    (a, b, qp)
}

fn path(packet: &Packet) -> u16 {
    packet.entropy % 4
}

/// Each acknowledgement lets a packet follow on its own path, whatever the others wait for.
#[test]
fn a_path_sends_what_its_own_window_permits() {
    let least = Fraction::new(1, 1_000).unwrap();
    let mrc = Recovery::Mrc(mrc::Config::by_round_trip());
    for recovery in [Recovery::PER_PACKET, mrc] {
        let (mut a, mut b, qp) = four_paths(recovery, least);
        a.post(qp, Bytes::new(100_000), 1, 0);
        let first = drain(&mut a, at(0));
        let mut paths: Vec<u16> = first.iter().map(path).collect();
        paths.sort_unstable();
        assert_eq!(paths, [0, 1, 2, 3], "one packet each");
        let mut packet = first[2];
        for turn in 1..20 {
            b.handle_packet(at(turn * 5), &packet);
            drain(&mut b, at(turn * 5))
                .iter()
                .for_each(|reply| a.handle_packet(at(turn * 5), reply));
            let next = drain(&mut a, at(turn * 5));
            assert_eq!(next.iter().map(path).collect::<Vec<_>>(), [path(&packet)], "turn {turn}");
            packet = next[0];
        }
    }
}

#[test]
fn windows_are_equal_shares_and_only_a_marked_path_is_cut() {
    let (mut a, mut b, qp) = four_paths(Recovery::PER_PACKET, Fraction::ONE);
    let whole = a.sending_state(at(0), qp).window_bytes;
    assert_eq!(whole, 500_000, "400 Gbps for 10 us");
    a.post(qp, Bytes::new(10_000_000), 1, 0);
    let mut of_path = [0; 4];
    let sent = drain(&mut a, at(0));
    sent.iter().for_each(|packet| of_path[usize::from(path(packet))] += 1);
    let packets = whole / 4 / u64::from(sent[0].wire_bytes);
    assert_eq!(of_path, [packets; 4]);
    // The packets of path 3 return late and marked: the next ones avoid it.
    for packet in &sent {
        let (us, mark) = if path(packet) == 3 { (60, Flags::MARKED) } else { (10, Flags::NONE) };
        b.handle_packet(at(us * 1_000), &Packet { flags: packet.flags.with(mark), ..*packet });
    }
    let replies = drain(&mut b, at(60_000));
    replies.iter().for_each(|reply| a.handle_packet(at(60_000), reply));
    let next = drain(&mut a, at(60_000));
    let of_path = [0, 1, 2, 3].map(|it| next.iter().filter(|packet| path(packet) == it).count());
    assert_eq!(of_path.map(|count| count as u64), [packets, packets, packets, packets / 2]);
}

/// Eight paths of two planes: a busy port leaves those of the other one.
#[test]
fn paths_of_a_busy_port_wait() {
    let (mut a, _, _) = four_paths(Recovery::PER_PACKET, Fraction::ONE);
    a.set_planes(2, ControlPaths::Echo, 1);
    let eight = spray_rr::Config { entropies: 8.try_into().unwrap() };
    let policy = SenderConfig::SprayRr(eight).build(&QpContext::for_test());
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 8, cookie: 1, extra: false, policy });
    a.connect(qp, QpId(1));
    a.post(qp, Bytes::new(100_000), 1, 0);
    for plane in [1, 0, 1] {
        let free = PlaneMask::NONE.with(plane);
        let mut paths: Vec<u16> = (0..4)
            .map(|_| a.poll_transmit_on(at(0), FreePorts { data: free, control: free }).unwrap())
            .map(|(packet, port)| {
                assert_eq!(port, plane);
                packet.entropy % 8
            })
            .collect();
        paths.sort_unstable();
        paths.dedup();
        assert!(paths.iter().all(|path| u32::from(path % 2) == plane), "{plane}: {paths:?}");
        assert!(paths.len() >= 3, "{plane}: {paths:?}");
    }
}
