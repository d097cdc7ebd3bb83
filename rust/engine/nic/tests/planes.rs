//! NICs with a port in each of several planes: the plane of each packet, and the window of each
//! plane.

use super::policies::{LoggingPolicy, joined, nics};
use super::*;
use crate::nic::congestion::{Scope, nscc};
use crate::nic::{ControlPaths, FreePorts};
use crate::packet::{PlaneMask, View};
use crate::units::Fraction;

/// Returns `planes` ports that are all free.
fn free(planes: u32) -> FreePorts {
    FreePorts { data: PlaneMask::all(planes), control: PlaneMask::all(planes) }
}

fn drain_on(nic: &mut Nic, now: Time, free: FreePorts) -> Vec<(Packet, u32)> {
    std::iter::from_fn(|| nic.poll_transmit_on(now, free)).collect()
}

/// A receiver with four ports and the acknowledgements of packets with entropy values 0, 5, 2, 7,
/// 9.
fn with_planes(answers: ControlPaths) -> Nic {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    b.set_planes(4, answers, 1);
    let qp = joined(&mut a, &mut b, LoggingPolicy::default().policy());
    a.post(qp, Bytes::new(10_000), 1, 0);
    let packets = drain(&mut a, at(0));
    [0, 5, 2, 7, 9].into_iter().for_each(|index: usize| b.handle_packet(at(1), &packets[index]));
    b
}

#[test]
fn control_packets_leave_by_the_packets_plane_or_round_robin() {
    let planes = |answers| -> Vec<u32> {
        let sent = drain_on(&mut with_planes(answers), at(1), free(4));
        assert_eq!(sent.iter().map(|it| it.0.entropy).collect::<Vec<_>>(), [0, 5, 2, 7, 9]);
        assert!(sent.iter().all(|(packet, _)| packet.route == packet.entropy / 4));
        sent.into_iter().map(|(_, plane)| plane).collect()
    };
    assert_eq!(planes(ControlPaths::Echo), [0, 1, 2, 3, 1]);
    assert_eq!(planes(ControlPaths::Rotate), [0, 1, 2, 3, 0]);
}

#[test]
fn a_control_packet_with_a_busy_port_does_not_block_others() {
    let mut b = with_planes(ControlPaths::Echo);
    let some = FreePorts { data: PlaneMask::NONE, control: PlaneMask::from_bits(0b0110) };
    let entropies = |sent: Vec<(Packet, u32)>| -> Vec<u16> {
        sent.into_iter().map(|(packet, _)| packet.entropy).collect()
    };
    assert_eq!(entropies(drain_on(&mut b, at(1), some)), [5, 2, 9]);
    assert_eq!(entropies(drain_on(&mut b, at(1), free(4))), [0, 7]);
    assert_eq!(b.counters().control_sent, 5);
}

#[test]
fn a_mark_cuts_the_window_of_its_packets_plane() {
    // Each plane has 200 Gbps, and a window of 1.5 times 250,000 B.
    let start = 375_000;
    let congestion =
        nscc::Config { scope: Scope::Plane, delay_gain: Fraction::ONE, ..nscc::Config::default() };
    for every in [1, 2] {
        let common = (*config(Recovery::PER_PACKET, every)).clone();
        let [mut a, mut b] = nics(NicConfig { congestion: congestion.into(), ..common });
        a.set_planes(2, ControlPaths::Echo, 1);
        let qp = joined(&mut a, &mut b, LoggingPolicy::default().policy());
        assert_eq!(a.sending_state(at(0), qp).window_bytes, 2 * start);
        a.post(qp, Bytes::new(10_000), 1, 0);
        let mut packets: Vec<_> = drain_on(&mut a, at(0), free(2)).into_iter().take(2).collect();
        assert_eq!(packets.iter().map(|it| it.1).collect::<Vec<_>>(), [0, 1]);
        packets[1].0.flags = packets[1].0.flags.with(Flags::MARKED);
        packets.iter().for_each(|(packet, _)| b.handle_packet(at(15_000), packet));
        let replies = drain(&mut b, at(15_000));
        assert_eq!(replies.len(), 2 / every as usize);
        replies.iter().for_each(|reply| a.handle_packet(at(30_000), reply));
        // A delay of two targets cuts 4/5 of a half; an adjustment adds 0.15 MTU · a, where a is
        // 250,000 B / 150,000 B. The other plane's window is already the largest.
        let cut = 375_000.0 * 0.6 + 0.15 * 1_062.0 * 250.0 / 150.0;
        let window = a.sending_state(at(30_000), qp).window_bytes;
        assert_eq!(window, start + cut as u64, "an acknowledgement for each {every}");
    }
}

/// A sender with four ports and a queue pair to each of these hosts, with a packet for each plane.
fn senders(peers: &[u32], policies: &[LoggingPolicy]) -> Nic {
    let [mut a, _] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    a.set_planes(4, ControlPaths::Echo, 1);
    for (&peer, logger) in peers.iter().zip(policies) {
        let (peer, policy) = (HostId(peer), logger.policy());
        let qp = a.open_sender(SendHalf { peer, label: 7, cookie: 0, extra: false, policy });
        a.connect(qp, QpId(0));
        a.post(qp, Bytes::new(4_000), 1, 0);
    }
    a
}

/// Returns the host, the entropy value and the plane of each data packet that leaves now.
fn data(a: &mut Nic, free: FreePorts) -> Vec<(u32, u16, u32)> {
    let sent = drain_on(a, at(0), free).into_iter();
    let data = sent.filter(|(packet, _)| !packet.is_control());
    data.map(|(packet, plane)| (packet.dst.0, packet.entropy, plane)).collect()
}

/// Returns the host and the planes of each port status.
fn statuses(a: &mut Nic) -> Vec<(u32, u32)> {
    let none = FreePorts { data: PlaneMask::NONE, control: PlaneMask::all(4) };
    let status = |(packet, _): (Packet, u32)| match packet.view() {
        View::Endpoint(status) => (packet.dst.0, status.usable().bits()),
        _ => panic!("{packet:?}"),
    };
    drain_on(a, at(0), none).into_iter().map(status).collect()
}

#[test]
fn working_planes_share_the_entropy_values_of_a_failed_one() {
    let mut a = senders(&[1; 4], &[0, 4, 8, 12].map(LoggingPolicy::from));
    a.handle_plane(at(0), 2, false);
    let mut sent = data(&mut a, free(4));
    sent.sort_unstable();
    let planes: Vec<u32> = sent.iter().map(|it| it.2).collect();
    // The quotients of 2, 6, 10 and 14 by 4 are 0 to 3: the first, second, third and first plane.
    assert_eq!(planes, [0, 1, 0, 3, 0, 1, 1, 3, 0, 1, 3, 3, 0, 1, 0, 3]);
}

#[test]
fn a_packet_waits_for_its_port_without_blocking_other_queue_pairs() {
    let mut a = senders(&[1, 2], &[0, 5].map(LoggingPolicy::from));
    let second = FreePorts { data: PlaneMask::from_bits(0b10), control: PlaneMask::NONE };
    assert_eq!(data(&mut a, second), [(2, 5, 1)]);
    let mut rest = data(&mut a, free(4));
    rest.sort_unstable();
    let of_first = [(1, 0, 0), (1, 1, 1), (1, 2, 2), (1, 3, 3)];
    assert_eq!(rest, [&of_first[..], &[(2, 6, 2), (2, 7, 3), (2, 8, 0)]].concat());
}

#[test]
fn each_peer_is_notified_once_of_a_port_failure_and_recovery() {
    let mut a = senders(&[1, 1, 2], &[(); 3].map(|()| LoggingPolicy::default()));
    for (is_up, usable) in [(false, 0b0111), (true, 0b1111)] {
        a.handle_plane(at(0), 3, is_up);
        assert_eq!(statuses(&mut a), [(1, usable), (2, usable)]);
        a.handle_plane(at(0), 3, is_up);
        assert_eq!(statuses(&mut a), [], "an unchanged state is not reported");
    }
    let [mut single, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    single.set_planes(1, ControlPaths::Echo, 1);
    joined(&mut single, &mut b, LoggingPolicy::default().policy());
    single.handle_plane(at(0), 0, false);
    assert!(!single.has_packets(), "a single port has no plane");
}

#[test]
fn a_port_that_a_peer_reports_dead_is_avoided_only_for_that_peer() {
    let logger = [(); 2].map(|()| LoggingPolicy::default());
    let mut a = senders(&[1, 2], &logger);
    let status = |usable| Packet { src: HostId(1), ..Packet::port_status(usable) };
    a.handle_packet(at(0), &status(PlaneMask::all(4).without(2)));
    assert_eq!(
        logger.each_ref().map(LoggingPolicy::take),
        [vec!["planes 1011".to_owned()], vec![]]
    );
    let mut sent = data(&mut a, free(4));
    sent.sort_unstable();
    let planes: Vec<u32> = sent.iter().map(|it| it.2).collect();
    assert_eq!(planes, [[0, 1, 0, 3], [0, 1, 2, 3]].concat());
    a.handle_packet(at(1), &status(PlaneMask::all(4)));
    assert_eq!(
        logger.each_ref().map(LoggingPolicy::take),
        [vec!["planes 1111".to_owned()], vec![]]
    );
    assert_eq!(a.counters().control_received, 2);
}

#[test]
fn control_packets_use_the_path_of_an_answered_probe() {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    [&mut a, &mut b].into_iter().for_each(|nic| nic.set_planes(4, ControlPaths::ProbedHash, 1));
    let logger = LoggingPolicy::default();
    let qp = joined(&mut a, &mut b, logger.policy());
    a.post(qp, Bytes::new(6_000), 1, 0);
    let packets: Vec<_> = drain_on(&mut a, at(0), free(4)).iter().map(|it| it.0).collect();
    b.handle_packet(at(1_000), &packets[0]);
    let sent = drain_on(&mut b, at(1_000), free(4));
    let [(ack, 0), (probe, of_probe)] = sent[..] else { panic!("{sent:?}") };
    assert_eq!((ack.kind, ack.entropy, ack.route), (PacketKind::Ack, 0, 0));
    let found = probe.entropy;
    assert_eq!((probe.kind, u32::from(found) % 4), (PacketKind::Probe, of_probe));
    a.handle_packet(at(2_000), &probe);
    let replies = drain_on(&mut a, at(2_000), free(4));
    let [(reply, of_reply)] = replies[..] else { panic!("{replies:?}") };
    assert_eq!((reply.kind, of_reply), (PacketKind::ProbeReply, of_probe));
    assert_eq!([probe.route, reply.route], [found / 4; 2]);
    b.handle_packet(at(3_000), &reply);
    packets[1..5].iter().for_each(|packet| b.handle_packet(at(4_000), packet));
    let sent = drain_on(&mut b, at(4_000), free(4));
    assert_eq!(sent.len(), 4, "the next probe goes a round trip after the first");
    for (value, &(ack, plane)) in (1..).zip(&sent) {
        let way = if plane == of_probe { found } else { value };
        assert_eq!((ack.entropy, ack.route), (way, value), "plane {plane}");
    }
    sent.iter().for_each(|(ack, _)| a.handle_packet(at(5_000), ack));
    assert_eq!(logger.take(), [1, 2, 3, 4].map(|value| format!("{value} Good 1 0")));
    b.handle_packet(at(11_000), &packets[5]);
    let kinds: Vec<_> =
        drain_on(&mut b, at(11_000), free(4)).iter().map(|(packet, _)| packet.kind).collect();
    assert_eq!(kinds, [PacketKind::Ack, PacketKind::Probe]);
}
