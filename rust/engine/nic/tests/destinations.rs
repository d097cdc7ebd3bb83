//! Windows that queue pairs to the same host share.

use std::collections::VecDeque;

use super::*;
use crate::balance::sender::{NetworkParameters, plane_jsq};
use crate::nic::congestion::{Scope, nscc};
use crate::nic::{ControlPaths, FreePorts};
use crate::packet::PlaneMask;
use crate::units::Fraction;

/// Two NICs with a message on each queue pair from the first to the second. A packet takes 1 us,
/// the pipe 5 us each way.
struct Wire {
    a: Nic,
    b: Nic,
}

fn nscc_of(config_of: nscc::Config) -> Arc<NicConfig> {
    let common = config(Recovery::PER_PACKET, 1);
    Arc::new(NicConfig { congestion: config_of.into(), ..(*common).clone() })
}

fn of_scope(scope: Scope) -> nscc::Config {
    nscc::Config { scope, ..nscc::Config::default() }
}

fn sender(nic: &mut Nic, peer: u32, cookie: u32) -> QpId {
    let policy = SenderConfig::Spray(spray::Config::default()).build(&QpContext::for_test());
    nic.open_sender(SendHalf { peer: HostId(peer), label: cookie, cookie, extra: false, policy })
}

impl Wire {
    /// `messages` has the number of packets of each.
    fn new(congestion: nscc::Config, messages: &[u64]) -> Self {
        let config = nscc_of(congestion);
        let mut a = Nic::new(HostId(0), PORT, Arc::clone(&config));
        let mut b = Nic::new(HostId(1), PORT, config);
        for (cookie, &packets) in (0..).zip(messages) {
            let qp = sender(&mut a, 1, cookie);
            let receiver = b.open_receiver(HostId(0), qp, cookie, cookie);
            a.connect(qp, receiver);
            a.post(qp, Bytes::new(packets * 1_000), u64::from(cookie), 0);
        }
        Self { a, b }
    }

    /// Returns the data that is sent within `us` microseconds, with the times. Packets for which
    /// `loses` is true are lost.
    fn run(&mut self, us: u64, mut loses: impl FnMut(&Packet) -> bool) -> Vec<(u64, Packet)> {
        let mut sent = Vec::new();
        let mut pipes: [VecDeque<(u64, Packet)>; 2] = Default::default();
        for now in 0..us {
            let time = at(now * 1_000);
            for (pipe, nic) in pipes.iter_mut().zip([&mut self.b, &mut self.a]) {
                while pipe.front().is_some_and(|&(arrives, _)| arrives <= now) {
                    let (_, packet) = pipe.pop_front().unwrap();
                    nic.handle_packet(time, &packet);
                }
                nic.handle_timeout(time);
            }
            let replies = drain(&mut self.b, time);
            pipes[1].extend(replies.into_iter().map(|packet| (now + 5, packet)));
            if let Some(packet) = self.a.poll_transmit(time) {
                sent.push((now, packet));
                if !loses(&packet) {
                    pipes[0].push_back((now + 5, packet));
                }
            }
        }
        sent
    }
}

#[test]
fn a_single_queue_pair_to_a_host_is_unaffected_by_the_scope() {
    let packets = |scope| {
        let mut wire = Wire::new(of_scope(scope), &[3_000]);
        let mut data = 0;
        let sent = wire.run(6_000, |_| {
            data += 1;
            data % 97 == 0
        });
        assert_eq!(events(&mut wire.a).len(), 1, "complete");
        sent
    };
    let of_qp = packets(Scope::Qp);
    assert!(of_qp.len() > 3_000, "some are retransmitted");
    assert_eq!(packets(Scope::Destination), of_qp);
    assert_eq!(packets(Scope::DestinationPlane), of_qp);
}

#[test]
fn queue_pairs_to_the_same_host_share_one_window() {
    let in_flight = |scope| {
        let mut a = Nic::new(HostId(0), PORT, nscc_of(of_scope(scope)));
        let qps = [(1, 0), (1, 1), (1, 2), (2, 3)].map(|(peer, cookie)| {
            let qp = sender(&mut a, peer, cookie);
            a.connect(qp, QpId(cookie));
            a.post(qp, Bytes::new(10_000_000), 0, 0);
            qp
        });
        drain(&mut a, at(0));
        let states = qps.map(|qp| a.sending_state(at(0), qp));
        (states.map(|it| it.in_flight_packets), states[0].window_bytes / 1_062)
    };
    let (of_each, window) = in_flight(Scope::Qp);
    assert_eq!(of_each, [window; 4]);
    let (shared, same) = in_flight(Scope::Destination);
    assert_eq!((same, shared[3]), (window, window), "a host with a single queue pair");
    assert_eq!(shared[..3].iter().sum::<u64>(), window);
    assert!(shared[..3].iter().all(|&own| own.abs_diff(window / 3) <= 1), "{shared:?}");
}

#[test]
fn queue_pairs_alternate_in_a_window_of_one_packet() {
    let tiny = Fraction::new(1, 1_000).unwrap();
    let congestion =
        nscc::Config { start_window: tiny, max_window: tiny, ..of_scope(Scope::Destination) };
    let mut wire = Wire::new(congestion, &[50, 50, 50]);
    let sent = wire.run(2_000, |_| false);
    let labels: Vec<u32> = sent.iter().map(|(_, packet)| packet.label).collect();
    assert_eq!(labels, [0, 1, 2].repeat(50));
    assert!(sent.windows(2).all(|pair| pair[1].0 == pair[0].0 + 10), "one in each round trip");
    assert_eq!(events(&mut wire.a).len(), 3, "complete");
}

#[test]
fn a_reset_frees_the_shared_window() {
    let mut a = Nic::new(HostId(0), PORT, nscc_of(of_scope(Scope::Destination)));
    let [first, second] = [0, 1].map(|cookie| {
        let qp = sender(&mut a, 1, cookie);
        a.connect(qp, QpId(cookie));
        qp
    });
    a.post(first, Bytes::new(10_000_000), 0, 0);
    let window = drain(&mut a, at(0)).len();
    a.post(second, Bytes::new(10_000_000), 0, 0);
    assert!(drain(&mut a, at(0)).is_empty(), "the first one has all of it in flight");
    a.modify_qp(first, QpState::Reset).unwrap();
    let sent = drain(&mut a, at(0));
    assert_eq!(sent.len(), window);
    assert!(sent.iter().all(|packet| packet.label == 1));
}

/// The last packet that each sends before the shared window is full requests an acknowledgement, so
/// that no arrivals stay unreported.
#[test]
fn each_sharer_requests_an_acknowledgement_before_the_window_is_full() {
    let of = nscc_of(of_scope(Scope::Destination));
    let ack = AckConfig { every: 1_000, ..of.ack };
    let mut a = Nic::new(HostId(0), PORT, Arc::new(NicConfig { ack, ..(*of).clone() }));
    for cookie in 0..8 {
        let qp = sender(&mut a, 1, cookie);
        a.connect(qp, QpId(cookie));
        a.post(qp, Bytes::new(10_000_000), 0, 0);
    }
    let sent = drain(&mut a, at(0));
    for label in 0..8 {
        let last = sent.iter().rev().find(|packet| packet.label == label).unwrap();
        assert!(last.flags.has(Flags::ACK_REQUEST), "{label}");
    }
    let asking = sent.iter().filter(|packet| packet.flags.has(Flags::ACK_REQUEST)).count();
    assert_eq!(asking, 8, "at most one each");
}

#[test]
fn sharers_continue_round_robin_after_one_is_destroyed() {
    let tiny = Fraction::new(1, 1_000).unwrap();
    let congestion =
        nscc::Config { start_window: tiny, max_window: tiny, ..of_scope(Scope::Destination) };
    let mut wire = Wire::new(congestion, &[50; 3]);
    wire.a.destroy_qp(QpId(0)).unwrap();
    let sent = wire.run(2_000, |_| false);
    let labels: Vec<u32> = sent.iter().map(|(_, packet)| packet.label).collect();
    assert_eq!(labels, [1, 2].repeat(50));
    assert_eq!(events(&mut wire.a).len(), 2, "complete");
}

#[test]
fn a_destroyed_queue_pair_leaves_its_shared_window() {
    let of = nscc_of(of_scope(Scope::Destination));
    let ack = AckConfig { every: 1_000, ..of.ack };
    let mut a = Nic::new(HostId(0), PORT, Arc::new(NicConfig { ack, ..(*of).clone() }));
    let [first, second] = [0, 1].map(|cookie| {
        let qp = sender(&mut a, 1, cookie);
        a.connect(qp, QpId(cookie));
        qp
    });
    a.destroy_qp(first).unwrap();
    a.post(second, Bytes::new(10_000_000), 0, 0);
    let asks: Vec<bool> =
        drain(&mut a, at(0)).iter().map(|packet| packet.flags.has(Flags::ACK_REQUEST)).collect();
    assert_eq!(asks.iter().position(|&it| it), Some(asks.len() - 1), "only the last packet");
}

#[test]
fn queue_pairs_share_a_window_whatever_their_recovery_is() {
    let of = nscc_of(of_scope(Scope::Destination));
    let mut a = Nic::new(
        HostId(0),
        PORT,
        Arc::new(NicConfig { recovery: Recovery::GO_BACK_N, ..(*of).clone() }),
    );
    for cookie in 0..2 {
        let qp = sender(&mut a, 1, cookie);
        a.connect(qp, QpId(cookie));
        a.post(qp, Bytes::new(10_000_000), 0, 0);
    }
    let window = a.sending_state(at(0), QpId(0)).window_bytes;
    assert_eq!(drain(&mut a, at(0)).len() as u64, window / 1_062);
}

#[test]
fn queue_pairs_to_a_host_share_a_window_in_each_plane() {
    let mut a = Nic::new(HostId(0), PORT, nscc_of(of_scope(Scope::DestinationPlane)));
    a.set_planes(2, ControlPaths::Echo, 1);
    let network = NetworkParameters { planes: 2, ..NetworkParameters::default() };
    for cookie in 0..3 {
        let context = QpContext { network, ..QpContext::for_test() };
        let policy = SenderConfig::PlaneJsq(plane_jsq::Config {}).build(&context);
        let half = SendHalf { peer: HostId(1), label: cookie, cookie, extra: false, policy };
        let qp = a.open_sender(half);
        a.connect(qp, QpId(cookie));
        a.post(qp, Bytes::new(10_000_000), 0, 0);
    }
    // Each has 1.5 bandwidth-delay products of half of the rate.
    let window = a.sending_state(at(0), QpId(0)).window_bytes;
    assert_eq!(window, 2 * 375_000);
    let free = FreePorts { data: PlaneMask::all(2), control: PlaneMask::all(2) };
    let mut sent = [0; 2];
    while let Some((_, plane)) = a.poll_transmit_on(at(0), free) {
        sent[plane as usize] += 1;
    }
    assert_eq!(sent, [375_000 / 1_062; 2]);
}
